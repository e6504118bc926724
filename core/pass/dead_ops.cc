// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/dead_ops.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/ssa/nested.h"

namespace weft {

namespace {

bool DoesMore(const OpDef* def, const Op& op) {
  return !def || op.outputs.empty() || (def->flags & (kStateful | kCollective | kHostOnly)) != 0;
}

}  // namespace

Result<Net> RemoveDeadOps(const Net& net, const OpSet& ops, const DeadOpsOptions& options) {
  SymbolMap<uint8_t> wanted(*net.symbols, net.ops.size(), 0), outside(*net.symbols, 0, 0),
      made(*net.symbols, net.ops.size(), 0);
  const NestingTypes nesting(*net.symbols);
  OpLookup lookup(ops, *net.symbols);
  const Symbol free_type = net.symbols->Find("Free");
  bool any = false;
  for (Symbol blob : net.external_inputs) outside[blob] = made[blob] = 1;
  for (const Op& op : net.ops)
    for (Symbol blob : op.outputs) {
      made[blob] = 1;
      any = any || outside.Get(blob);
    }
  for (Symbol blob : options.keep) {
    if (!made.Get(blob)) {
      const std::string name(net.Str(blob));
      return Error{ErrorCode::kNotFound, StrCat("no operator makes ", name, ", and it is no external input"),
                   -1, name};
    }
    wanted[blob] = 1;
  }
  for (Symbol blob : net.external_outputs) wanted[blob] = 1;
  if (!any && options.keep.empty() && net.external_outputs.empty())
    return Error{
        ErrorCode::kInvalidArgument,
        "the net declares no external output and updates no external input: say which blobs to keep"};
  for (Symbol blob : net.external_inputs) wanted[blob] = 1;  // what it writes there lives on

  std::vector<bool> kept(net.ops.size(), false);
  for (size_t i = net.ops.size(); i-- > 0;) {
    const Op& op = net.ops[i];
    if (op.type == free_type) continue;
    const bool holds_net = nesting.Of(op.type) == Nesting::kSameWorkspace;
    const NestedUses inside = holds_net ? UsesOfNestedNets(net, op, nesting) : NestedUses();
    const auto is_wanted = [&](Symbol blob) { return wanted.Get(blob) != 0; };
    if (!DoesMore(lookup(op.type), op) && std::none_of(op.outputs.begin(), op.outputs.end(), is_wanted) &&
        std::none_of(inside.writes.begin(), inside.writes.end(), is_wanted))
      continue;
    kept[i] = true;
    // A branch may leave a blob as it was, or read it after another may have written it: what came before is
    // wanted, too.
    for (Symbol blob : op.outputs) wanted[blob] = holds_net;
    for (Symbol blob : op.inputs) wanted[blob] = 1;
    for (Symbol blob : op.control_inputs) wanted[blob] = 1;
    for (Symbol blob : inside.reads) wanted[blob] = 1;
  }

  Net out = WithoutOps(net);
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const bool frees =
        op.type == free_type &&
        std::any_of(op.inputs.begin(), op.inputs.end(), [&](Symbol blob) { return outside.Get(blob) != 0; });
    if (!kept[i] && !frees) continue;
    out.ops.push_back(op);
    for (Symbol blob : op.outputs) outside[blob] = 1;
  }
  return out;
}

}  // namespace weft
