// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/cut.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ssa/path.h"
#include "core/ssa/versions.h"

namespace weft {

namespace {

Result<std::vector<ValueId>> FindValues(const Net& net, const Ssa& ssa, std::span<const BlobAt> blobs,
                                        std::string_view what) {
  std::vector<ValueId> values;
  for (const BlobAt& at : blobs) {
    WEFT_TRY(const std::vector<ValueId> latest, LatestValues(net, ssa, {&at.blob, 1}, what));
    ValueId value = latest[0];
    if (at.version) value = FindValue(ssa, at.blob, *at.version);
    if (value == kNoValue)
      return Error{ErrorCode::kNotFound,
                   StrCat(what, " ", net.Str(at.blob), " has no version ", *at.version, " in net ",
                          net.Str(net.name), "; the latest is ", ssa.values()[latest[0]].version),
                   -1, std::string(net.Str(at.blob))};
    values.push_back(value);
  }
  return values;
}

// Which values depend on `from`; all when it is empty.
std::vector<bool> Reachable(const Ssa& ssa, std::span<const ValueId> from) {
  std::vector<bool> reached(ssa.values().size(), from.empty());
  for (ValueId value : from) reached[value] = true;
  for (OpId op = 0; op < static_cast<OpId>(ssa.num_ops()); ++op) {
    const auto inputs = ssa.inputs(op);
    if (std::none_of(inputs.begin(), inputs.end(), [&](ValueId v) { return reached[v]; })) continue;
    for (ValueId value : ssa.outputs(op)) reached[value] = true;
  }
  return reached;
}

}  // namespace

Result<CutNet> Cut(const Net& net, const CutOptions& options) {
  const Ssa ssa(net, {.nested = NestedNets::kReads});
  WEFT_TRY(const std::vector<ValueId> given, FindValues(net, ssa, options.inputs, "input"));
  WEFT_TRY(const std::vector<ValueId> wanted, FindValues(net, ssa, options.outputs, "output"));

  const std::vector<bool> reached = Reachable(ssa, given);
  for (ValueId value : wanted) {
    if (reached[value]) continue;
    const Symbol blob = ssa.blobs()[ssa.values()[value].blob];
    return Error{ErrorCode::kNotFound,
                 StrCat("output ", ValueName(net, ssa, value), " of net ", net.Str(net.name),
                        " does not depend on any of the given inputs"),
                 -1, std::string(net.Str(blob))};
  }

  CutNet out;
  const bool all = given.empty();
  for (OpId op : OpsBetween(ssa, given, wanted)) {
    const auto outputs = ssa.outputs(op);
    if (all || std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return reached[v]; }))
      out.ops.push_back(op);
  }

  // What the piece reads from outside, each blob at one version.
  std::vector<bool> made(ssa.values().size(), false);
  std::vector<ValueId> outside(ssa.blobs().size(), kNoValue);
  std::vector<Symbol> external_inputs;
  for (ValueId value : given) {
    ValueId& known = outside[ssa.values()[value].blob];
    if (known == kNoValue) external_inputs.push_back(ssa.blobs()[ssa.values()[value].blob]);
    known = value;
  }
  for (OpId op : out.ops) {
    for (ValueId value : ssa.inputs(op)) {
      const Value& v = ssa.values()[value];
      if (made[value] || outside[v.blob] == value) continue;
      const Symbol blob = ssa.blobs()[v.blob];
      if (outside[v.blob] != kNoValue)
        return Error{ErrorCode::kVersionConflict,
                     StrCat("cutting net ", net.Str(net.name), ": op ", op, " (", net.Str(net.ops[op].type),
                            ") reads ", ValueName(net, ssa, value), ", but ",
                            ValueName(net, ssa, outside[v.blob]), " is to come from outside too"),
                     op, std::string(net.Str(blob))};
      outside[v.blob] = value;
      external_inputs.push_back(blob);
      if (v.def != kNoOp) out.added.push_back(blob);
    }
    for (ValueId value : ssa.outputs(op)) made[value] = true;
  }

  out.net = WithoutOps(net);
  if (!options.name.empty()) out.net.name = out.net.Intern(options.name);
  out.net.ops.reserve(out.ops.size());
  for (OpId op : out.ops) out.net.ops.push_back(net.ops[op]);
  out.net.external_inputs = std::move(external_inputs);
  out.net.external_outputs.clear();
  for (const BlobAt& output : options.outputs) out.net.external_outputs.push_back(output.blob);
  return out;
}

Result<Net> TrimInit(const Net& init, const Net& net) {
  const Net fed = Rehome(net, init.symbols);
  const Ssa ssa(init);
  CutOptions options;
  for (Symbol blob : fed.external_inputs) {
    const BlobId id = ssa.FindBlob(blob);
    if (id != kNoBlob && ssa.written(id)) options.outputs.push_back(blob);
  }
  WEFT_TRY(CutNet cut, Cut(init, options));
  return std::move(cut.net);
}

}  // namespace weft
