// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/saved_scopes.h"

#include <algorithm>

#include "core/base/symbol_map.h"
#include "core/ssa/nested.h"

namespace weft {

void ForEachHeldBlob(const Net& net, const std::function<void(Symbol blob, int32_t last)>& hold) {
  const Symbol create = net.symbols->Find("CreateScope");
  if (!create) return;
  SymbolMap<int32_t> last(*net.symbols, 0, -1);  // of stacks
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    if (op.type == create)
      for (Symbol stack : op.outputs) last[stack] = static_cast<int32_t>(i);
    for (Symbol name : op.inputs)
      if (last.Get(name) >= 0) last[name] = static_cast<int32_t>(i);
  }
  const NestingTypes nesting(*net.symbols);
  for (const Op& op : net.ops) {
    const Nesting kind = nesting.Of(op.type);
    if (kind != Nesting::kSameWorkspace && kind != Nesting::kPrivate) continue;
    int32_t end = -1;
    for (Symbol name : op.inputs) end = std::max(end, last.Get(name));
    if (end < 0) continue;
    const auto all = [&](const auto& blobs) {
      for (Symbol blob : blobs) hold(blob, end);
    };
    all(op.inputs);
    all(op.outputs);
    if (kind != Nesting::kSameWorkspace) continue;
    const NestedUses nested = UsesOfNestedNets(net, op, nesting);
    all(nested.reads);
    all(nested.writes);
  }
}

}  // namespace weft
