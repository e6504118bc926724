// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/complete.h"

#include <algorithm>

#include "core/base/symbol_map.h"
#include "core/grad/control.h"

namespace weft::internal {

namespace {

bool Holds(const BlobList& names, Symbol name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsControl(OpLookup& lookup, const Op& op) {
  const OpDef* def = lookup(op.type);
  return def && (def->flags & kControlFlow) && IsControlFlow(*def);
}

void AddInputs(const Net& net, Op& op, const std::vector<Symbol>& more) {
  if (net.Str(op.type) != "Do") {
    op.inputs.Append(more.begin(), more.end());
    return;
  }
  // A Do's bindings count its inputs, then its outputs; the workspace stays last.
  const int64_t inputs = static_cast<int64_t>(op.inputs.size()) - 1;
  const Symbol workspace = op.inputs.back();
  op.inputs.erase(op.inputs.end() - 1);
  op.inputs.Append(more.begin(), more.end());
  op.inputs.push_back(workspace);
  std::vector<int64_t> index = ArgInts(*net.symbols, op.args, "outer_blobs_idx");
  for (int64_t& at : index)
    if (at >= inputs) at += static_cast<int64_t>(more.size());
  op.args = WithArg(op.args, MakeArg(net.symbols->Intern("outer_blobs_idx"), std::move(index)));
}

}  // namespace

bool HoldsControlFlow(const Net& net, const OpSet& ops, size_t first) {
  const auto is_named = [&](const OpDef* def) {
    return (def->flags & kControlFlow) && net.symbols->Find(def->name);
  };
  if (std::none_of(ops.all().begin(), ops.all().end(), is_named)) return false;
  OpLookup lookup(ops, *net.symbols);
  for (size_t i = first; i < net.ops.size(); ++i)
    if (IsControl(lookup, net.ops[i])) return true;
  return false;
}

Op CompleteLoopBody(const Net& net, const Op& body) {
  Op out = body;
  std::vector<Symbol> more;
  for (Symbol output : body.outputs)
    if (!Holds(body.inputs, output)) more.push_back(output);
  if (!more.empty() && !body.inputs.empty() && body.inputs.back() == body.outputs.back())
    AddInputs(net, out, more);
  return out;
}

void CompleteControlInputs(Net& net, const OpSet& ops) {
  OpLookup lookup(ops, *net.symbols);
  SymbolMap<uint8_t> depends(*net.symbols, net.ops.size() * 2);  // blobs that hold more than a constant
  for (Symbol s : net.external_inputs) depends[s] = 1;
  std::vector<Symbol> more;
  for (Op& op : net.ops) {
    if (IsControl(lookup, op) && !op.outputs.empty()) {
      more.clear();
      for (Symbol output : op.outputs)
        if (depends.Get(output) && !Holds(op.inputs, output)) more.push_back(output);
      const bool is_do = net.Str(op.type) == "Do";
      if (!more.empty() && (!is_do || (!op.inputs.empty() && op.inputs.back() == op.outputs.back())))
        AddInputs(net, op, more);
    }
    for (Symbol output : op.outputs) depends[output] = !op.inputs.empty();
  }
}

}  // namespace weft::internal
