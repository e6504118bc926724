// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/parallel_tools.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/pass/collectives.h"
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

Result<CheckpointSync> SyncAfterCheckpoint(const ParallelNets& nets, const ParallelOptions& options,
                                           const std::vector<std::string>& blobs, bool cpu_mode) {
  const ReplicaScopes scopes(options);
  const SymbolTablePtr& table = nets.net.symbols;
  std::vector<std::string> names = blobs;
  const std::string& first = scopes.of[0].name.prefix;
  SymbolMap<uint8_t> is_own(*table, nets.own_state.size(), 0);  // nobody else has it
  for (Symbol blob : nets.own_state) is_own[blob] = 1;
  if (names.empty())
    for (Symbol blob : nets.checkpoint)
      if (const std::string_view name = table->Str(blob); name.starts_with(first) && !is_own.Get(blob))
        names.emplace_back(name.substr(first.size()));
  SymbolMap<uint8_t> known(*table, nets.net.ops.size() + nets.init.ops.size(), 0);
  for (const Net* net : {&nets.init, &nets.net})
    for (const Op& op : net->ops)
      for (Symbol blob : op.outputs) known[blob] = 1;
  std::vector<BlobGroup> groups;
  for (const std::string& name : names) {
    BlobGroup group{name, {}};
    for (const Scope& scope : scopes.of) {
      const Symbol blob = table->Intern(scope.name.Scoped(name));
      if (!known.Get(blob))
        return Error{ErrorCode::kNotFound, StrCat("there is no blob ", table->Str(blob)), -1, name};
      group.blobs.push_back(Gradient::Dense(blob));
    }
    groups.push_back(std::move(group));
  }
  NameRegistry registry;
  NetBuilder init(registry, "checkpoint_init_net", table), sync(registry, "checkpoint_sync_net", table);
  Collectives collectives(options, scopes);
  const Symbol world =
      table->Find("broadcast_0_cw");  // made by init, and used by nobody while a checkpoint is read
  const bool has_world = world && known.Get(world);
  if (has_world) collectives.SyncOver(world);
  std::vector<const BlobGroup*> all;
  for (const BlobGroup& group : groups) all.push_back(&group);
  collectives.Sync(sync, init, BlobDevices(nets.init, nets.net), std::move(all), 1);
  CheckpointSync out{{}, std::move(sync).Finish()};
  if (collectives.many_machines() && !has_world) out.init = std::move(init).Finish();
  if (options.is_gpu() && !cpu_mode)
    for (Net* net : {&out.sync, out.init ? &*out.init : nullptr})
      if (net) {
        DeviceOption device;
        device.device_type = options.device_type;
        device.device_id = 0;
        net->device = std::make_shared<const DeviceOption>(device);
      }
  return out;
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
