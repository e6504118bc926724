// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/data_parallel.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/pass/combine_spatial_bn.h"
#include "core/pass/comm_cost.h"
#include "core/pass/gradient_accumulation.h"
#include "core/pass/gradient_buckets.h"
#include "core/pass/release.h"
#include "core/pass/replicas.h"
#include "core/pass/shard_optimizer.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

using internal::BlobDevices;
using internal::Replicas;

// Step 13: only the first replica's parameters are trained.
void KeepMasterParams(Replicas& replicas) {
  ModelBuilder& model = replicas.model;
  const SymbolTable& table = *model.net.net().symbols;
  const auto is_copy = [&](Symbol blob) { return replicas.scopes.ReplicaOf(table.Str(blob)) > 0; };
  std::erase_if(model.params, is_copy);
  std::erase_if(model.gradients, [&](const ParamGradient& of) { return is_copy(of.param); });
}

// Step 19: nobody writes the other replicas' parameters, and everybody reads the first one's.
void ShareParams(Replicas& replicas) {
  ModelBuilder& model = replicas.model;
  const SymbolTable& table = *model.net.net().symbols;
  BlobMap map(table, replicas.params_end * replicas.scopes.of.size());
  for (size_t i = 0; i < replicas.params_end; ++i) {
    const std::vector<Gradient>& blobs = replicas.groups[i].blobs;
    for (size_t k = 1; k < blobs.size(); ++k) map.Set(blobs[k].dense, blobs[0].dense);
  }
  const auto share = [&](Net net) {
    std::erase_if(net.ops, [&](const Op& op) {
      return std::any_of(op.outputs.begin(), op.outputs.end(), [&](Symbol blob) { return map.has(blob); });
    });
    for (Op& op : net.ops) map.Apply(op.inputs);
    return net;
  };
  model.EditNet(share);
  model.EditInit(share);
}

// Step 18. Collectives between machines want gradients at one address for good.
void FreeUnused(Replicas& replicas, const ParallelOptions& options) {
  ModelBuilder& model = replicas.model;
  ReleaseOptions release;
  for (const Scope& scope : replicas.scopes.of)
    for (const std::string& name : options.blobs_to_keep)
      release.keep.push_back(model.net.Intern(scope.name.Scoped(name)));
  if (options.rendezvous)
    for (const auto& [param, gradient] : model.gradients)
      for (Symbol blob : {gradient.dense, gradient.indices, gradient.values})
        if (blob) release.keep.push_back(blob);
  if (options.rendezvous)
    for (const Op& op : model.net.net().ops)
      if (const std::string_view type = model.net.net().Str(op.type);
          type == "Allreduce" || type == "Reduce" || type == "Broadcast")
        release.keep.insert(release.keep.end(), op.outputs.begin(), op.outputs.end());
  model.EditNet([&](Net net) { return ReleaseWhenUsed(net, release); });
}

void Edit(NameRegistry& registry, NetBuilder& net, const std::function<Net(Net)>& edit) {
  Net edited = edit(std::move(net).Finish());
  registry.ReleaseNet(edited.Str(edited.name));
  net = NetBuilder(registry, std::move(edited));
}

// What all replicas have, and the first one gives to the others when training starts.
std::vector<const BlobGroup*> KeptEqual(const Replicas& replicas, const ParallelOptions& options) {
  SymbolMap<uint8_t> is_own(*replicas.model.net.net().symbols, replicas.own_state.size(), 0);
  for (Symbol blob : replicas.own_state) is_own[blob] = 1;
  std::vector<const BlobGroup*> kept;
  for (size_t i = 0; i < replicas.groups.size(); ++i) {
    const BlobGroup& group = replicas.groups[i];
    const bool is_gradient = i >= replicas.computed_end && i < replicas.gradients_end;
    const bool is_computed = i >= replicas.params_end && i < replicas.computed_end;
    const bool made = std::binary_search(replicas.initial.begin(), replicas.initial.end(), group.name);
    const bool own = std::any_of(group.blobs.begin(), group.blobs.end(),
                                 [&](const Gradient& of) { return of.dense && is_own.Get(of.dense); });
    if (options.shared_model ? is_computed : made && !is_gradient && !own) kept.push_back(&group);
  }
  return kept;
}

}  // namespace

std::string_view ParallelOptions::prefix() const {
  return is_gpu() ? "gpu" : device_type == kIdeep ? "ideep" : "cpu";
}

Gradient ModelBuilder::GradientOf(Symbol param) const {
  // Asked in the order of params, as updates do, each is found where the last one was.
  for (size_t k = 0; k < gradients.size(); ++k, ++last_found) {
    if (last_found >= gradients.size()) last_found = 0;
    if (gradients[last_found].param == param) return gradients[last_found].gradient;
  }
  return {};
}

void ModelBuilder::EditNet(const std::function<Net(Net)>& edit) { Edit(registry, net, edit); }
void ModelBuilder::EditInit(const std::function<Net(Net)>& edit) { Edit(registry, init, edit); }

Result<ParallelNets> Parallelize(ModelBuilder model, const OpSet& ops, const ParallelCallbacks& callbacks,
                                 const ParallelOptions& options) {
  WEFT_TRY_VOID(Replicas::Check(callbacks, options));
  Replicas replicas(std::move(model), ops, callbacks, options);
  WEFT_TRY_VOID(replicas.Build());
  ModelBuilder& built = replicas.model;
  const auto finish = [&](ParallelNets nets) {
    if (options.rendezvous && options.rendezvous->engine == "GLOO")
      replicas.collectives.AddBarrier(built.registry, nets.net.symbols, nets);
    return nets;
  };

  if (callbacks.before_gradients) WEFT_TRY_VOID(callbacks.before_gradients(built));
  if (replicas.training()) WEFT_TRY_VOID(replicas.AddGradients());
  if (callbacks.net_transformer) WEFT_TRY_VOID(callbacks.net_transformer(built));
  if (!replicas.training()) return std::move(replicas).Finish();

  if (options.combine_spatial_bn) {
    Error failed;
    bool ok = true;
    built.EditNet([&](Net net) {
      Result<Net> combined = internal::CombineSpatialBn(net, options, replicas.scopes);
      if (combined.has_value()) return std::move(combined).value();
      failed = combined.error();
      ok = false;
      return net;
    });
    if (!ok) return failed;
  }
  std::vector<ParamGradient> of_iteration;
  if (options.accumulate > 1) {
    WEFT_TRY(of_iteration, internal::MakeSums(built, replicas.scopes));
  }
  WEFT_TRY_VOID(replicas.GroupGradients());
  if (options.shard_optimizer) WEFT_TRY_VOID(internal::DealGradients(replicas, options));
  const BlobDevices devices = replicas.Devices();
  if (options.broadcast_computed_params)
    for (const BlobGroup* group : replicas.Groups(replicas.params_end, replicas.computed_end))
      replicas.collectives.Broadcast(built.net, devices, *group, options.use_nccl);

  internal::AddToSums(built, replicas.scopes, of_iteration);
  std::vector<const BlobGroup*> gradients = replicas.Groups(replicas.computed_end, replicas.gradients_end);
  std::reverse(gradients.begin(), gradients.end());
  const int concurrent = std::min(options.max_concurrent_distributed_ops, replicas.num_workers() - 1);
  const bool in_buckets = options.bucket_bytes > 0 || options.bucket_count > 0;
  const auto bytes = DenseBytes(built.init.net(), built.net.net(), built.gradients);
  if (in_buckets) {
    internal::ReduceInBuckets(built, replicas.collectives, replicas.scopes, gradients, concurrent, options,
                              bytes);
  } else {
    replicas.collectives.AllReduce(built.net, built.init, devices, gradients, concurrent);
  }

  if (options.shared_model) KeepMasterParams(replicas);
  if (options.shard_optimizer) {
    WEFT_TRY_VOID(internal::UpdateOwn(replicas, options));
    std::vector<const BlobGroup*> sent = replicas.Groups(0, replicas.params_end);
    std::erase_if(sent, [](const BlobGroup* group) { return !group->owner; });
    // Copies between devices cost nothing each, and a bucket would have to be packed.
    if (in_buckets && (options.use_nccl || options.num_shards() > 1)) {
      internal::SendInBuckets(built, replicas.collectives, replicas.scopes, sent, concurrent, options, bytes);
    } else {
      replicas.collectives.Sync(built.net, built.init, devices, std::move(sent), concurrent);
    }
  } else {
    WEFT_TRY_VOID(replicas.Update());
  }
  if (options.shared_model) ShareParams(replicas);
  WEFT_TRY_VOID(replicas.FindInitialBlobs(/*add_groups=*/!options.shared_model));
  if (!options.shared_model) WEFT_TRY_VOID(replicas.CheckForeignBlobs());

  built.net.EditHead([&](Net& net) {
    net.args = WithArg(net.args, MakeArg(net.Intern("first_iter_only_one_worker"), int64_t{1}));
  });
  replicas.collectives.Sync(built.init, built.init, replicas.Devices(), KeptEqual(replicas, options), 1);
  WEFT_TRY_VOID(replicas.PostSync());

  if (options.optimize_gradient_memory) replicas.ShareGradientMemory();
  if (options.dynamic_memory_management) FreeUnused(replicas, options);
  std::optional<Net> update;
  if (options.accumulate > 1) update = internal::TakeUpdateNet(built, replicas.scopes, of_iteration);
  ParallelNets nets = finish(std::move(replicas).Finish());
  nets.update = std::move(update);
  nets.accumulate = options.accumulate;
  return nets;
}

}  // namespace weft
