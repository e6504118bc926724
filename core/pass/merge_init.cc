// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/merge_init.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/check/effects.h"
#include "core/ssa/clone.h"

namespace weft {

Result<Net> MergeInit(const Net& given_init, const Net& net, const MergeInitOptions& options) {
  const Net init = Rehome(given_init, net.symbols);
  Net out = WithoutOps(net);
  SymbolMap<uint8_t> filled(*net.symbols, init.ops.size(), 0);
  const auto is_fed = [&](Symbol blob) {
    return std::find(options.fed.begin(), options.fed.end(), blob) != options.fed.end();
  };
  for (size_t i = 0; i < init.ops.size(); ++i) {
    Op op = init.ops[i];
    if (!op.outputs.empty() && std::all_of(op.outputs.begin(), op.outputs.end(), is_fed)) continue;
    for (Symbol blob : op.inputs)
      if (is_fed(blob))
        return Error{ErrorCode::kInvalidArgument,
                     StrCat("the init net reads ", net.Str(blob), ", which is to be fed"),
                     static_cast<int64_t>(i), std::string(net.Str(blob))};
    if (!op.device && !SameDevice(init.device, net.device))
      op.device = init.device ? init.device : std::make_shared<const DeviceOption>();
    for (Symbol blob : op.outputs) filled[blob] = 1;
    out.ops.push_back(std::move(op));
  }
  for (const Effect& write : EffectsOf(net).writes)
    if (filled.Get(write.blob))
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("operator ", write.op, " (", net.Str(net.ops[static_cast<size_t>(write.op)].type),
                          ") of ", net.Str(net.name), " writes ", net.Str(write.blob),
                          ", which the init net fills: merged, each run would start it anew"),
                   write.op, std::string(net.Str(write.blob))};
  std::vector<Symbol> inputs;
  SymbolMap<uint8_t> listed(*net.symbols, 0, 0);
  for (const auto* names : {&net.external_inputs, &init.external_inputs})
    for (Symbol blob : *names) {
      if (filled.Get(blob) || listed.Get(blob)) continue;
      listed[blob] = 1;
      inputs.push_back(blob);
    }
  out.external_inputs = std::move(inputs);
  out.ops.insert(out.ops.end(), net.ops.begin(), net.ops.end());
  return out;
}

}  // namespace weft
