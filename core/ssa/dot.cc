// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/base/str.h"
#include "core/ssa/net_json.h"
#include "core/ssa/ssa.h"

namespace weft {

namespace {

constexpr int kMostDepth = 100;

// In quotes. Control bytes and a backslash would mean something to DOT; bytes that are no UTF-8 stay, as they
// are in the file.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

constexpr std::string_view kColors[kNumRoles] = {"#1c5fa8", "#bf4a08", "#0a7757", "#6e727a"};

class Drawer {
 public:
  explicit Drawer(const RolesOf& roles) : roles_(roles) {}

  // `prefix` makes the names of this net's nodes its own.
  void DrawNet(const Net& net, const std::string& prefix, int depth) {
    const std::string pad(static_cast<size_t>(2 * depth + 2), ' ');
    const Ssa ssa(net);
    const std::vector<Role> roles = roles_(net);
    for (size_t i = 0; i < net.ops.size(); ++i) {
      const Op& op = net.ops[i];
      std::string label = Quoted(net.Str(op.type));
      if (!net.Str(op.name).empty()) {
        // The line break is DOT's own, behind the quoting.
        label.pop_back();
        label += "\\n" + Quoted(net.Str(op.name)).substr(1);
      }
      const Role role = roles[i];
      StrAppend(out, pad, prefix, "op", i, " [label=", label, ", color=\"",
                kColors[static_cast<size_t>(role)], "\"", ", class=\"", RoleName(role), "\"", "];\n");
      if (depth < kMostDepth) DrawNested(net, op, i, prefix, pad, depth);
    }
    DrawValues(net, ssa, prefix, pad);
  }

  std::string out;

 private:
  void DrawNested(const Net& net, const Op& op, size_t id, const std::string& prefix, const std::string& pad,
                  int depth) {
    for (const Arg& arg : op.args) {
      if (!(arg.has & Arg::kHasN)) continue;
      const NetPtr inside = arg.Load()->n;
      if (!inside || inside->ops.empty()) continue;
      const std::string own = StrCat(prefix, "op", id, "_", clusters_++, "_");
      StrAppend(out, pad, "subgraph cluster_", own, " {\n", pad, "  label=", Quoted(net.Str(arg.name)),
                ";\n");
      DrawNet(*inside, own, depth + 1);
      StrAppend(out, pad, "}\n", pad, prefix, "op", id, " -> ", own, "op0 [style=dashed, arrowhead=none];\n");
    }
  }

  void DrawValues(const Net& net, const Ssa& ssa, const std::string& prefix, const std::string& pad) {
    const auto word = [&](std::string_view kind, ValueId v) {
      StrAppend(out, pad, prefix, kind, v, " [shape=plaintext, label=", Quoted(ValueName(net, ssa, v)),
                "];\n");
    };
    for (ValueId v = 0; v < ssa.values().size(); ++v) {
      const Value& value = ssa.values()[v];
      if (ssa.uses(v).empty()) continue;
      const bool outside = value.def == kNoOp;
      if (outside) word("in", v);
      OpId before = kNoOp;
      for (OpId reader : ssa.uses(v)) {
        if (reader == std::exchange(before, reader)) continue;  // it reads it twice
        StrAppend(out, pad, prefix, outside ? "in" : "op", outside ? static_cast<int64_t>(v) : value.def,
                  " -> ", prefix, "op", reader);
        if (!outside) StrAppend(out, " [label=", Quoted(ValueName(net, ssa, v)), "]");
        out += ";\n";
      }
    }
    for (Symbol name : net.external_outputs) {
      const BlobId blob = ssa.FindBlob(name);
      if (blob == kNoBlob) continue;
      const ValueId v = ssa.latest(blob);
      if (ssa.values()[v].def == kNoOp) continue;
      word("out", v);
      StrAppend(out, pad, prefix, "op", ssa.values()[v].def, " -> ", prefix, "out", v, ";\n");
    }
    DrawControl(net, ssa, prefix, pad);
  }

  // A control input waits for the blob's writer before the operator.
  void DrawControl(const Net& net, const Ssa& ssa, const std::string& prefix, const std::string& pad) {
    std::vector<OpId> writer(ssa.blobs().size(), kNoOp);
    for (OpId op = 0; op < static_cast<OpId>(net.ops.size()); ++op) {
      for (Symbol name : net.ops[static_cast<size_t>(op)].control_inputs) {
        const BlobId blob = ssa.FindBlob(name);
        if (blob == kNoBlob || writer[blob] == kNoOp) continue;
        StrAppend(out, pad, prefix, "op", writer[blob], " -> ", prefix, "op", op,
                  " [style=dotted, label=", Quoted(net.Str(name)), "];\n");
      }
      for (ValueId v : ssa.outputs(op)) writer[ssa.values()[v].blob] = op;
    }
  }

  const RolesOf& roles_;
  size_t clusters_ = 0;
};

}  // namespace

std::string DotOf(const std::vector<const Net*>& nets, const RolesOf& roles) {
  Drawer drawer(roles);
  const bool one = nets.size() == 1;
  drawer.out =
      StrCat("digraph ", Quoted(one ? nets[0]->Str(nets[0]->name) : std::string_view("nets")),
             " {\n  node [shape=box, style=filled, fillcolor=white, fontname=\"Inter, Helvetica, Arial\", "
             "fontsize=12];\n  edge [color=\"#8a8676\", fontname=\"Inter, Helvetica, Arial\", "
             "fontsize=10];\n");
  for (size_t i = 0; i < nets.size(); ++i) {
    if (one) {
      drawer.DrawNet(*nets[0], "", 0);
      continue;
    }
    StrAppend(drawer.out, "  subgraph cluster_n", i, " {\n    label=", Quoted(nets[i]->Str(nets[i]->name)),
              ";\n");
    drawer.DrawNet(*nets[i], StrCat("n", i, "_"), 1);
    drawer.out += "  }\n";
  }
  return drawer.out + "}\n";
}

}  // namespace weft
