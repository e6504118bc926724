// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/train_models.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/pass/optimizer.h"
#include "tests/support/golden.h"

namespace weft::test {

SingleModel ForwardModel(std::string_view name) {
  SingleModel model;
  model.init = NetFromFile(StrCat("models/", name, "_init.pb"));
  model.net = NetFromFile(StrCat("models/", name, ".pb"), model.init.symbols);
  std::vector<Op>& ops = model.net.ops;
  const auto is_seed = [&](const Op& op) {
    return model.net.Str(op.type) == "ConstantFill" && !op.inputs.empty() &&
           model.net.Str(op.outputs[0]).ends_with("_grad");
  };
  const auto backward = std::find_if(ops.begin(), ops.end(), is_seed);
  for (auto seed = backward; seed != ops.end() && is_seed(*seed); ++seed)
    model.losses.push_back(seed->inputs[0]);
  ops.erase(backward, ops.end());

  enum : uint8_t { kMade = 1, kWritten = 2, kRead = 4 };
  SymbolMap<uint8_t> flags(*model.net.symbols, 4 * ops.size(), 0);
  for (const Op& op : model.init.ops)
    for (Symbol blob : op.outputs) flags[blob] |= kMade;
  for (const Op& op : ops) {
    for (Symbol blob : op.inputs) flags[blob] |= kRead;
    for (Symbol blob : op.outputs) flags[blob] |= kWritten;
  }
  std::erase_if(model.net.external_inputs, [&](Symbol blob) { return (flags.Get(blob) & kRead) == 0; });
  for (Symbol blob : model.net.external_inputs)
    if (flags.Get(blob) & kMade)
      (flags.Get(blob) & kWritten ? model.computed_params : model.params).push_back(blob);
  return model;
}

Result<ParallelNets> Replicate(const SingleModel& model, const ParallelOptions& options) {
  ParallelCallbacks callbacks = CallbacksOf(model);
  callbacks.optimizer = [](ModelBuilder& built) {
    std::vector<TrainedParam> params;
    for (const auto& [param, gradient] : built.gradients) params.push_back({param, gradient, {}});
    return AddOptimizer(built.registry, built.net, built.init, Sgd{}, params);
  };
  NameRegistry registry;
  const SymbolTablePtr& symbols = model.net.symbols;
  ModelBuilder builder{registry, NetBuilder(registry, model.net.Str(model.net.name), symbols),
                       NetBuilder(registry, model.init.Str(model.init.name), symbols)};
  return Parallelize(std::move(builder), StandardOps(), callbacks, options);
}

}  // namespace weft::test
