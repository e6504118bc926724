// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/parallel_sync.h"

#include <utility>

#include "core/base/str.h"
#include "core/pass/collectives.h"

namespace weft {

namespace {

using internal::BlobDevices;
using internal::Collectives;
using internal::Emit;
using internal::ReplicaScopes;

constexpr int kConcurrent = 4;  // collectives at a time, where no earlier ones say

// What operators make and what comes from outside.
class KnownBlobs {
 public:
  explicit KnownBlobs(const ParallelNets& nets)
      : table_(*nets.net.symbols), known_(table_, nets.net.ops.size() + nets.init.ops.size(), 0) {
    for (const Net* net : {&nets.init, &nets.net}) {
      for (Symbol blob : net->external_inputs) known_[blob] = 1;
      for (const Op& op : net->ops)
        for (Symbol blob : op.outputs) known_[blob] = 1;
    }
  }
  Result<Symbol> Find(std::string_view name) const {
    const Symbol blob = table_.Find(name);
    if (blob && known_.Get(blob)) return blob;
    return Error{ErrorCode::kNotFound, StrCat("there is no blob ", name), -1, std::string(name)};
  }

 private:
  const SymbolTable& table_;
  SymbolMap<uint8_t> known_;
};

Result<std::vector<BlobGroup>> GroupsNamed(const ParallelNets& nets, const ReplicaScopes& scopes,
                                           std::span<const std::string> names) {
  const KnownBlobs known(nets);
  SymbolMap<uint8_t> taken(*nets.net.symbols, names.size(), 0);
  std::vector<BlobGroup> groups;
  for (const std::string& name : names) {
    if (scopes.ReplicaOf(name) >= 0)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("blobs to sync are named without the device's scope, found ", name), -1, name};
    BlobGroup group{name, {}};
    for (const Scope& scope : scopes.of) {
      WEFT_TRY(const Symbol blob, known.Find(scope.name.Scoped(name)));
      group.blobs.push_back(Gradient::Dense(blob));
    }
    if (!std::exchange(taken[group.blobs[0].dense], 1)) groups.push_back(std::move(group));
  }
  return groups;
}

// Both nets as builders, and back.
template <typename F>
void Append(ParallelNets& nets, Net& to, F&& append) {
  NameRegistry registry;
  NetBuilder init(registry, std::move(nets.init));
  if (&to == &nets.init) {
    append(init, init);
  } else {
    NetBuilder net(registry, std::move(to));
    append(net, init);
    to = std::move(net).Finish();
  }
  nets.init = std::move(init).Finish();
}

std::vector<const BlobGroup*> Pointers(const std::vector<BlobGroup>& groups) {
  std::vector<const BlobGroup*> all;
  for (const BlobGroup& group : groups) all.push_back(&group);
  return all;
}

}  // namespace

Result<void> AddBlobSync(ParallelNets& nets, Net& to, const ParallelOptions& options,
                         std::span<const std::string> blobs) {
  const ReplicaScopes scopes(options);
  WEFT_TRY(const std::vector<BlobGroup> groups, GroupsNamed(nets, scopes, blobs));
  const BlobDevices devices(nets.init, nets.net);
  Append(nets, to, [&](NetBuilder& net, NetBuilder& init) {
    Collectives collectives(options, scopes);
    collectives.Resume(init.net(), net.net());
    collectives.Sync(net, init, devices, Pointers(groups), kConcurrent);
  });
  return {};
}

Result<void> AddDistributedBlobSync(ParallelNets& nets, Net& to, const ParallelOptions& options,
                                    std::span<const std::string> blobs) {
  if (!options.rendezvous || blobs.empty()) return {};
  const KnownBlobs known(nets);
  std::vector<Symbol> symbols;
  for (const std::string& name : blobs) {
    WEFT_TRY(const Symbol blob, known.Find(name));
    symbols.push_back(blob);
  }
  const ReplicaScopes scopes(options);
  const std::string world =
      StrCat("blob_sync_cw_", StrJoin(std::vector<std::string>(blobs.begin(), blobs.end()), "_"));
  Append(nets, to, [&](NetBuilder& net, NetBuilder& init) {
    Collectives collectives(options, scopes);
    collectives.Resume(init.net(), net.net());
    collectives.SumOverMachines(net, init, world, symbols);
  });
  return {};
}

Result<std::optional<BarrierNets>> Synchronize(const ParallelNets& nets, const ParallelOptions& options,
                                               int timeout_ms) {
  if (options.num_shards() <= 1) return std::optional<BarrierNets>();
  if (options.rendezvous->engine != "GLOO")
    return Error{ErrorCode::kUnsupported,
                 StrCat("a barrier needs the engine GLOO, found ", options.rendezvous->engine)};
  const ReplicaScopes scopes(options);
  Collectives collectives(options, scopes);
  NameRegistry registry;
  NetBuilder init(registry, "sync_barrier_init_net", nets.net.symbols),
      barrier(registry, "sync_barrier_net", nets.net.symbols);
  collectives.AddBarrier(barrier, init, "sync_barrier_cw", timeout_ms);
  return std::optional(BarrierNets{std::move(init).Finish(), std::move(barrier).Finish()});
}

Result<std::optional<Net>> AllCompare(const ParallelNets& nets, const ParallelOptions& options,
                                      const std::string& blob) {
  WEFT_TRY(const Symbol compared, KnownBlobs(nets).Find(blob));
  if (options.num_shards() <= 1) return std::optional<Net>();
  const ReplicaScopes scopes(options);
  const int replica = scopes.ReplicaOf(blob);
  const bool here = replica >= 0 && BlobDevices(nets.init, nets.net).TypeOf(compared) == options.device_type;
  const DevicePtr device = here ? scopes.device(static_cast<size_t>(replica)) : scopes.cpu;
  const Rendezvous& meet = *options.rendezvous;
  NameRegistry registry;
  NetBuilder net(registry, "allcompare_net", nets.net.symbols);
  // Caffe2 feeds this from outside: zeros, and a one at this machine's place.
  std::vector<float> place(static_cast<size_t>(meet.num_shards), 0.0f);
  place[static_cast<size_t>(meet.shard_id)] = 1;
  const Symbol mine = net.Intern("compare_arr"), world = net.Intern("initial_sync"),
               sum = net.Suffixed(compared, "_checksum"), all = net.Suffixed(compared, "_gather");
  Emit(net, {.type = "GivenTensorFill",
             .outputs = {mine},
             .device = device,
             .args = {{"shape", std::vector<int64_t>{meet.num_shards}}, {"values", std::move(place)}}});
  internal::Emission create{.type = "CreateCommonWorld",
                            .outputs = {world},
                            .device = device,
                            .args = {{"size", meet.num_shards}, {"rank", meet.shard_id}},
                            .engine = meet.engine};
  const std::string name = StrCat(nets.net.Str(nets.net.name), ".cw_master_select");
  create.name = name;
  if (!meet.kv_handler.empty()) create.inputs = {net.Intern(meet.kv_handler)};
  if (meet.mpi_rendezvous) create.args.list.push_back({"mpi_rendezvous", true});
  Emit(net, create);
  Emit(net, {.type = "SumSqrElements",
             .inputs = {compared},
             .outputs = {sum},
             .device = device,
             .args = {{"average", 0}}});
  Emit(
      net,
      {.type = "Mul", .inputs = {mine, sum}, .outputs = {all}, .device = device, .args = {{"broadcast", 1}}});
  Emit(net, {.type = "Allreduce",
             .inputs = {world, all},
             .outputs = {all},
             .device = device,
             .engine = meet.engine});
  return std::optional(std::move(net).Finish());
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
  WEFT_TRY(const std::vector<BlobGroup> groups, GroupsNamed(nets, scopes, names));
  NameRegistry registry;
  NetBuilder init(registry, "checkpoint_init_net", table), sync(registry, "checkpoint_sync_net", table);
  Collectives collectives(options, scopes);
  collectives.Resume(nets.init, sync.net());
  collectives.Sync(sync, init, BlobDevices(nets.init, nets.net), Pointers(groups), 1);
  CheckpointSync out{{}, std::move(sync).Finish()};
  if (!init.net().ops.empty()) out.init = std::move(init).Finish();
  if (options.is_gpu() && !cpu_mode) {
    DeviceOption device;
    device.device_type = options.device_type;
    device.device_id = 0;
    const auto shared = std::make_shared<const DeviceOption>(device);
    out.sync.device = shared;
    if (out.init) out.init->device = shared;
  }
  return out;
}

}  // namespace weft
