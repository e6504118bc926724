// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/bmuf.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/pass/replicas.h"
#include "core/pass/share_gradients.h"

namespace weft {

namespace {

using internal::BlobDevices;
using internal::Emit;
using internal::Replicas;

Result<size_t> MasterOf(const BmufOptions& options) {
  if (!options.master_device) return size_t{0};
  const std::vector<int>& devices = options.parallel.devices;
  const auto at = std::find(devices.begin(), devices.end(), *options.master_device);
  if (at == devices.end())
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("master_device: ", *options.master_device, " is none of the devices")};
  return static_cast<size_t>(at - devices.begin());
}

Result<void> Check(const ParallelCallbacks& callbacks, const BmufOptions& options) {
  const ParallelOptions& parallel = options.parallel;
  WEFT_TRY_VOID(Replicas::Check(callbacks, parallel));
  const auto refuse = [](std::string_view what) {
    return Error{ErrorCode::kInvalidArgument, StrCat("BMUF: ", what)};
  };
  if (!callbacks.param_update) return refuse("needs an update for each device");
  if (parallel.shared_model) return refuse("shared_model leaves nothing to average");
  if (parallel.combine_spatial_bn) return refuse("combine_spatial_bn needs replicas that step together");
  if (parallel.accumulate > 1) return refuse("accumulates already: each device steps alone within a block");
  if (parallel.bucket_bytes > 0 || parallel.bucket_count > 0)
    return refuse("sums parameters once a block, and no gradients: there is nothing to put into buckets");
  if (parallel.shard_optimizer)
    return refuse("each device steps alone within a block, with an optimizer state of its own: no sharding");
  if (parallel.dynamic_memory_management) return refuse("dynamic_memory_management is not supported");
  if (options.warmup_iterations && *options.warmup_iterations < 1)
    return refuse("warmup_iterations must be at least 1");
  return {};
}

// The global model's blobs on the master device.
struct Filter {
  NetBuilder& net;
  DevicePtr device;

  void Op(std::string_view type, std::vector<Symbol> inputs, Symbol output, OpArgs args = {}) {
    Emit(net, {.type = type,
               .inputs = std::move(inputs),
               .outputs = {output},
               .device = device,
               .args = std::move(args)});
  }
  void Scale(Symbol blob, float by) { Op("Scale", {blob}, blob, {{"scale", by}}); }
};

}  // namespace

Result<ParallelNets> ParallelizeBmuf(ModelBuilder model, const OpSet& ops, const ParallelCallbacks& callbacks,
                                     const BmufOptions& options) {
  WEFT_TRY_VOID(Check(callbacks, options));
  WEFT_TRY(const size_t master, MasterOf(options));
  const ParallelOptions& parallel = options.parallel;
  Replicas replicas(std::move(model), ops, callbacks, parallel);
  ModelBuilder& built = replicas.model;
  NameRegistry& registry = built.registry;
  const SymbolTablePtr symbols = built.net.net().symbols;
  NetBuilder global_init(registry, "global_model_init", symbols), global(registry, "global_model", symbols);
  replicas.Configure(global_init);
  replicas.Configure(global);
  replicas.collectives.set_root(master);

  WEFT_TRY_VOID(replicas.Build());
  if (callbacks.before_gradients) WEFT_TRY_VOID(callbacks.before_gradients(built));
  WEFT_TRY_VOID(replicas.AddGradients());
  if (callbacks.net_transformer) WEFT_TRY_VOID(callbacks.net_transformer(built));
  WEFT_TRY_VOID(replicas.Update());
  WEFT_TRY_VOID(replicas.FindInitialBlobs(/*add_groups=*/false));

  const BlobDevices devices = replicas.Devices();
  const int concurrent = std::min(parallel.max_concurrent_distributed_ops, replicas.num_workers() - 1);
  const std::vector<const BlobGroup*> params = replicas.Groups(0, replicas.params_end);

  std::optional<NetBuilder> warmup;
  const DevicePtr device = replicas.scopes.device(master);
  const auto of = [&](const BlobGroup* group) { return group->blobs[master].dense; };
  if (options.warmup_iterations) {
    warmup.emplace(registry, "warmup-broadcast", symbols);
    replicas.Configure(*warmup);
    replicas.collectives.Sync(*warmup, built.init, devices, params, concurrent);
    Filter filter{*warmup, device};
    for (const BlobGroup* group : params) filter.Op("Copy", {of(group)}, warmup->Suffixed(of(group), "_g"));
  }

  Filter start{global_init, device};
  for (const BlobGroup* group : params) {
    const Symbol p = of(group);
    start.Op("ConstantFill", {p}, global_init.Suffixed(p, "_v"), {{"value", 0.0f}});
    start.Op("Copy", {p}, global_init.Suffixed(p, "_g"));
    if (options.nesterov) start.Op("ConstantFill", {p}, global_init.Suffixed(p, "_prev"), {{"value", 0.0f}});
  }

  replicas.collectives.AllReduce(global, built.init, devices, params, concurrent);
  const double count =
      static_cast<double>(parallel.devices.size()) * static_cast<double>(parallel.num_shards());
  const float momentum = options.block_momentum.value_or(static_cast<float>(1 - 1 / count));
  Filter filter{global, device};
  for (const BlobGroup* group : params) {
    const Symbol p = of(group), v = global.Suffixed(p, "_v"), g = global.Suffixed(p, "_g"),
                 prev = global.Suffixed(p, "_prev");
    filter.Scale(p, static_cast<float>(1 / count));
    filter.Op("Sub", {p, g}, p);
    filter.Scale(p, options.block_learning_rate);
    filter.Scale(v, momentum);
    filter.Op("Add", {v, p}, v);
    filter.Op("Add", {g, v}, g);
    if (options.nesterov) {
      filter.Op("Sub", {v, prev}, prev);
      filter.Scale(prev, momentum);
      filter.Op("Sub", {g, prev}, g);
      filter.Op("Copy", {v}, prev);
    }
    filter.Op("Copy", {g}, p);
  }
  replicas.collectives.Sync(global, built.init, devices, params, concurrent);
  WEFT_TRY(const std::vector<BlobGroup> more, replicas.GroupsNamed(options.add_blobs_to_sync));
  std::vector<const BlobGroup*> groups;
  for (const BlobGroup& group : more) groups.push_back(&group);
  replicas.collectives.Sync(global, built.init, devices, std::move(groups), concurrent);
  if (options.reset_momentum_sgd) {
    const Symbol type = symbols->Find("MomentumSGDUpdate");
    for (const Op& op : built.net.net().ops) {
      if (!type || op.type != type) continue;
      Emit(global, {.type = "ConstantFill",
                    .inputs = {op.inputs[1]},
                    .outputs = {op.inputs[1]},
                    .device = op.device,
                    .args = {{"value", 0.0f}}});
    }
  }
  replicas.collectives.Sync(built.init, built.init, devices, replicas.Groups(0, replicas.computed_end),
                            concurrent);  // B40
  if (parallel.optimize_gradient_memory) replicas.ShareGradientMemory();

  ParallelNets nets = std::move(replicas).Finish();
  nets.groups.insert(nets.groups.end(), more.begin(), more.end());
  nets.global_init = std::move(global_init).Finish();
  nets.global_update = std::move(global).Finish();
  if (warmup) nets.warmup = std::move(*warmup).Finish();
  nets.warmup_iterations = options.warmup_iterations.value_or(0);
  if (parallel.rendezvous && parallel.rendezvous->engine == "GLOO")
    replicas.collectives.AddBarrier(registry, symbols, nets);
  return nets;
}

}  // namespace weft
