// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/messages.h"

#include <algorithm>
#include <vector>

#include "core/base/str.h"
#include "core/ssa/versions.h"

namespace weft::internal {

namespace {

constexpr size_t kMostNames = 6;    // blobs shown of one list
constexpr size_t kMostHistory = 8;  // versions shown of one blob, around the one that matters

void AppendNames(std::string& out, const Net& net, const BlobList& names) {
  out += '(';
  for (uint32_t i = 0; i < names.size(); ++i) {
    if (i == kMostNames) {
      StrAppend(out, ", ... ", names.size() - i, " more");
      break;
    }
    StrAppend(out, i == 0 ? "" : ", ", net.Str(names[i]));
  }
  out += ')';
}

// Caffe2's numbers start at 0 with whatever happens first: a read, or a write.
uint32_t Caffe2Version(const Ssa& ssa, ValueId value) {
  const Value& v = ssa.values()[value];
  const ValueId first = FirstValue(ssa, v.blob);
  const bool read_first = ssa.values()[first].def == kNoOp && !ssa.uses(first).empty();
  return read_first || v.version == 0 ? v.version : v.version - 1;
}

std::vector<ValueId> History(const Ssa& ssa, BlobId blob) {
  std::vector<ValueId> history;
  for (ValueId v = ssa.latest(blob); v != kNoValue; v = ssa.values()[v].previous) history.push_back(v);
  return {history.rbegin(), history.rend()};
}

}  // namespace

std::string DescribeOp(const Net& net, size_t index) {
  const Op& op = net.ops[index];
  std::string out = StrCat("op ", index, " ", net.Str(op.type));
  AppendNames(out, net, op.inputs);
  out += " -> ";
  AppendNames(out, net, op.outputs);
  return out;
}

Error VersionConflictError(const Net& net, const Ssa& ssa, size_t op_offset,
                           const VersionConflict& conflict) {
  const Value& needed = ssa.values()[conflict.needed];
  const std::string blob(net.Str(ssa.blobs()[needed.blob]));
  const size_t reader = static_cast<size_t>(conflict.reader);
  const size_t overwriter = static_cast<size_t>(conflict.overwriter);
  const std::vector<ValueId> history = History(ssa, needed.blob);

  std::string text = StrCat("The gradient of ", DescribeOp(net, reader), " needs its ",
                            conflict.is_output ? "output " : "input ", ValueName(net, ssa, conflict.needed),
                            ", but ", DescribeOp(net, overwriter), " overwrites it with ", blob, "@",
                            needed.version + 1, ".\n", "History of ", blob, ":\n");
  const auto at =
      static_cast<size_t>(std::find(history.begin(), history.end(), conflict.needed) - history.begin());
  const size_t first = std::min(at > 2 ? at - 2 : 0, history.size() - std::min(kMostHistory, history.size()));
  const size_t last = std::min(first + kMostHistory, history.size());
  if (first > 0) StrAppend(text, "  ... ", first, " before\n");
  for (size_t i = first; i < last; ++i) {
    const Value& v = ssa.values()[history[i]];
    StrAppend(text, "  ", ValueName(net, ssa, history[i]), "  ");
    if (v.def == kNoOp) {
      text += "from outside the net";
    } else {
      StrAppend(text, "written by ", DescribeOp(net, static_cast<size_t>(v.def) + op_offset));
    }
    if (history[i] == conflict.needed) text += "   <- needed";
    text += '\n';
  }
  if (last < history.size()) StrAppend(text, "  ... ", history.size() - last, " after\n");
  StrAppend(text, "Remedy: let op ", overwriter, " write another blob, and what reads ", blob, "@",
            needed.version + 1, " read that; or plan with repair (--repair), which renames or copies ", blob,
            "@", needed.version, ".");
  return {ErrorCode::kVersionConflict, std::move(text), conflict.reader, blob};
}

std::string NearestBlob(const Net& net, const Ssa& ssa, std::string_view name) {
  std::vector<std::string_view> names;
  for (Symbol blob : ssa.blobs()) names.push_back(net.Str(blob));
  const auto nearest = NearestNames(name, names, 1);
  return nearest.empty() ? std::string() : StrCat("; did you mean ", nearest[0], "?");
}

std::string MissingGradientRemedy(std::string_view complaint) {
  constexpr std::string_view kBefore = "Gradient of output ";
  if (!complaint.starts_with(kBefore)) return "";
  std::string_view blob = complaint.substr(kBefore.size());
  blob = blob.substr(0, blob.find(' '));
  if (complaint.find("is sparse") != std::string_view::npos)
    return StrCat(" Remedy: let an EnsureDense read ", blob,
                  ", and let whatever reads rows of it (Gather and the like) read what that makes.");
  if (complaint.find("is dense") != std::string_view::npos)
    return StrCat(" Remedy: give the loss a sparse gradient, or let only operators read ", blob,
                  " that read rows of it.");
  return StrCat(" No loss depends on ", blob, ". Remedy: give it one, zeros for example (--loss ", blob,
                "=G).");
}

Error Caffe2VersionError(const Net& net, const Ssa& ssa, size_t op_offset, OpId op, ValueId needed,
                         ValueId current, std::string_view what, Symbol gradient) {
  const std::string blob(net.Str(ssa.blobs()[ssa.values()[needed].blob]));
  const uint32_t need = Caffe2Version(ssa, needed);
  const uint32_t have = Caffe2Version(ssa, current);
  std::string text;
  if (what.empty()) {
    text = StrCat("Gradient name \"", net.Str(gradient), "\" is expected to correspond to version ", need,
                  " of \"", blob, "\", but currently we have version ", have, ".");
  } else {
    text = StrCat("Gradient operator needs ", what, " \"", blob, "\" at version ", need,
                  ", but currently we have version ", have, ".");
  }
  StrAppend(text, "\n\nDEBUG HELP:\n",
            what == "input" ? "Maybe the blob was overwritten by another op?\n"
                            : "Maybe you use same output blob twice for different ops?\n",
            "== Version history of blob [", blob, "]");
  for (ValueId v : History(ssa, ssa.values()[needed].blob)) {
    const Value& value = ssa.values()[v];
    if (value.def == kNoOp) continue;
    StrAppend(text, "\nVersion (out) ", Caffe2Version(ssa, v), " <-- ",
              DescribeOp(net, static_cast<size_t>(value.def) + op_offset));
  }
  return {ErrorCode::kVersionConflict, std::move(text), op, blob};
}

}  // namespace weft::internal
