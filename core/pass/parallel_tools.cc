// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/parallel_tools.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/pass/collectives.h"
#include "core/pass/memory_sizes.h"
#include "core/pass/predictor.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

using internal::BlobDevices;
using internal::Collectives;
using internal::ReplicaScopes;

Result<void> Rename(Net& net, const BlobMap& map) {
  const NestingTypes nesting(*net.symbols);
  return RenameInNet({net.symbols, map, nesting, nullptr, false}, net);
}

}  // namespace

Result<Net> ExtractReplicaPredictor(const ParallelNets& nets, const ParallelOptions& options,
                                    const OpSet& ops, const ReplicaPredictorOptions& wanted) {
  const ReplicaScopes scopes(options);
  const SymbolTablePtr& table = nets.net.symbols;
  // A Free writes its blob, but makes nothing.
  Net net = nets.net;
  const Symbol free = table->Find("Free");
  std::erase_if(net.ops, [&](const Op& op) { return free && op.type == free; });
  PredictorOptions predictor;
  BlobMap map(*table, wanted.inputs.size() + wanted.outputs.size());
  const auto enter = [&](const std::vector<std::string>& names, std::vector<Symbol>& blobs) {
    for (const std::string& name : names) {
      blobs.push_back(table->Intern(scopes.of[0].name.Scoped(name)));
      map.Set(blobs.back(), table->Intern(name));
    }
  };
  enter(wanted.inputs, predictor.inputs);
  enter(wanted.outputs, predictor.outputs);
  WEFT_TRY(Predictor made, ExtractPredictor(net, nullptr, ops, predictor));
  WEFT_TRY_VOID(Rename(made.net, map));
  if (wanted.device)
    for (Op& op : made.net.ops) op.device = wanted.device;
  made.net.name = table->Intern(StrCat(nets.net.Str(nets.net.name), "_predict"));
  made.net.external_outputs.clear();
  for (const std::string& name : wanted.outputs) made.net.external_outputs.push_back(table->Intern(name));
  // Nothing of how the training net is run.
  made.net.type = Symbol();
  made.net.num_workers = {};
  made.net.args = ArgList();
  return std::move(made.net);
}

Result<Net> OptimizeGradientMemory(const ParallelNets& nets, const ParallelOptions& options, const OpSet& ops,
                                   const ReplicaMemoryOptions& wanted) {
  const ReplicaScopes scopes(options);
  SymbolTable& table = *nets.net.symbols;
  MemoryOptions memory{.recycle = wanted.recycle_activations ? Recycle::kGradientsAndActivations
                                                             : Recycle::kGradients};
  memory.keep = nets.losses;
  memory.keep_unread = false;  // such as the gradient of the data
  for (const auto& [param, gradient] : nets.gradients)
    for (Symbol blob : {gradient.dense, gradient.indices, gradient.values})
      if (blob) memory.keep.push_back(blob);
  std::vector<GivenBlob> given;
  for (const Scope& scope : scopes.of) {
    for (const std::string& name : wanted.excluded)
      memory.keep.push_back(table.Intern(scope.name.Scoped(name)));
    if (wanted.input_shapes)
      for (const GivenBlob& input : *wanted.input_shapes)
        given.push_back({table.Intern(scope.name.Scoped(table.Str(input.blob))), input.info});
  }
  if (wanted.input_shapes) {
    memory.sizes = InferSizes(nets.net, &nets.init, given, ops);
  } else {
    const Ssa ssa(nets.net);
    for (Symbol blob : ssa.blobs()) memory.sizes.push_back({blob, 1});
  }
  WEFT_TRY(MemoryPlan plan, ReuseMemory(nets.net, ops, memory));
  return std::move(plan.net);
}

Result<Net> ConvertNetForDevice(Net net, const Scope& scope) {
  const NestingTypes nesting(*net.symbols);
  BlobMap map(*net.symbols, 2 * net.ops.size());
  const auto enter = [&](Symbol blob) {
    if (!map.has(blob)) map.Set(blob, net.symbols->Intern(scope.name.Scoped(net.Str(blob))));
  };
  for (const std::vector<Symbol>* list : {&net.external_inputs, &net.external_outputs})
    for (Symbol blob : *list) enter(blob);
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    if (nesting.Of(op.type) == Nesting::kRecurrent)
      return Error{ErrorCode::kUnsupported,
                   StrCat("op ", i, " ", net.Str(op.type), ": its text arguments name blobs"),
                   static_cast<int64_t>(i)};
    for (Symbol blob : op.inputs) enter(blob);
    for (Symbol blob : op.outputs) enter(blob);
    for (Symbol blob : op.control_inputs) enter(blob);
    const NestedUses uses = UsesOfNestedNets(net, op, nesting);
    for (Symbol blob : uses.reads) enter(blob);
    for (Symbol blob : uses.writes) enter(blob);
  }
  WEFT_TRY_VOID(Rename(net, map));
  for (Op& op : net.ops) op.device = scope.device.device;
  return net;
}

}  // namespace weft
