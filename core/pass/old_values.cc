// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/old_values.h"

#include <algorithm>

#include "core/base/symbol_map.h"
#include "core/ssa/nested.h"

namespace weft {

Net ListOldValues(Net net) {
  const NestingTypes nesting(*net.symbols);
  if (!nesting.any()) return net;
  SymbolMap<uint8_t> there(*net.symbols, net.ops.size(), 0);
  for (Symbol blob : net.external_inputs) there[blob] = 1;
  for (Op& op : net.ops) {
    if (nesting.Of(op.type) == Nesting::kSameWorkspace)
      for (Symbol blob : op.outputs)
        if (there.Get(blob) && std::find(op.inputs.begin(), op.inputs.end(), blob) == op.inputs.end())
          op.inputs.push_back(blob);
    for (Symbol blob : op.outputs) there[blob] = 1;
  }
  return net;
}

}  // namespace weft
