// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/collectives.h"

#include <algorithm>
#include <charconv>

#include "core/base/str.h"
#include "core/ssa/nested.h"

namespace weft::internal {

namespace {

constexpr int kTimeoutMs = 30000;
constexpr int kMostNesting = 100;

std::vector<Symbol> DenseBlobs(const BlobGroup& group) {
  std::vector<Symbol> blobs;
  for (const Gradient& of : group.blobs)
    if (of.dense) blobs.push_back(of.dense);
  return blobs;
}

}  // namespace

BlobDevices::BlobDevices(const Net& init, const Net& net)
    : of_(*net.symbols, 2 * (init.ops.size() + net.ops.size()), -1) {
  const NestingTypes nesting(*net.symbols);
  Note(init, nesting, 0);
  Note(net, nesting, 0);
}

void BlobDevices::Note(const Net& net, const NestingTypes& nesting, int depth) {
  const Symbol iter = net.symbols->Find("Iter");
  for (const Op& op : net.ops) {
    const int32_t type = op.device && op.type != iter ? op.device->type() : kCpu;
    const auto note = [&](Symbol blob) {
      if (of_.Get(blob) < 0) of_[blob] = type;
    };
    for (Symbol blob : op.inputs) note(blob);
    for (Symbol blob : op.outputs) note(blob);
    if (nesting.Of(op.type) == Nesting::kNone || depth == kMostNesting) continue;
    for (const Arg& arg : op.args)
      if (IsNestedNetArg(nesting.Of(op.type), net.Str(arg.name)))
        if (const NetPtr inner = FindNetArg(net, op, net.Str(arg.name))) Note(*inner, nesting, depth + 1);
  }
}

ReplicaScopes::ReplicaScopes(const ParallelOptions& options) {
  const auto typed = [](int32_t type) {
    DeviceOption option;
    option.device_type = type;
    return option;
  };
  for (int id : options.devices) {
    DeviceOption option = typed(options.device_type);
    option.device_id = id;
    of.push_back({NameScope().Enter(StrCat(options.prefix(), "_", id)), DeviceScope().Enter(option)});
    by_id_.emplace(id, static_cast<int>(of.size()) - 1);
  }
  kind_ = StrCat(options.prefix(), "_");
  DeviceOption host = typed(kCpu), ideep_option = typed(kIdeep);
  host.device_id = 0;
  ideep_option.device_id = 0;
  cpu = std::make_shared<const DeviceOption>(host);
  ideep = std::make_shared<const DeviceOption>(ideep_option);
}

int ReplicaScopes::ReplicaOf(std::string_view blob) const {
  if (blob.starts_with('_')) blob.remove_prefix(1);
  if (!blob.starts_with(kind_)) return -1;
  int id = 0;
  const char* const end = blob.data() + blob.size();
  const char* const digits = blob.data() + kind_.size();
  const auto [rest, error] = std::from_chars(digits, end, id);
  const bool plain = digits != end && *digits != '-' && (*digits != '0' || rest == digits + 1);
  if (error != std::errc() || !plain || rest == end || *rest != '/') return -1;
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? -1 : found->second;
}

void Emit(NetBuilder& net, const Emission& emission) {
  OpSpec spec{.type = emission.type, .args = emission.args, .name = emission.name};
  spec.inputs.assign(emission.inputs.begin(), emission.inputs.end());
  spec.outputs = std::vector<BlobRef>(emission.outputs.begin(), emission.outputs.end());
  spec.engine = emission.engine;
  spec.control_inputs.assign(emission.control.begin(), emission.control.end());
  spec.device = emission.device;
  net.Add(spec);
}

bool Collectives::OnGpu(const BlobDevices& devices, const BlobGroup& group) const {
  const Gradient& first = group.blobs[0];
  const int32_t type = devices.TypeOf(first.dense ? first.dense : first.values);
  return type == kCuda || type == kHip;
}

// Where an operator on the whole group runs.
DevicePtr Collectives::PlaceOf(const BlobDevices& devices, const BlobGroup& group) const {
  if (OnGpu(devices, group)) return scopes_.device(0);
  const Gradient& first = group.blobs[0];
  return devices.TypeOf(first.dense ? first.dense : first.values) == kIdeep ? scopes_.ideep : scopes_.cpu;
}

Symbol Collectives::CommonWorld(NetBuilder& init, std::string_view name, const DevicePtr& device,
                                int timeout_ms, Symbol clone_of) {
  const Rendezvous& meet = *o_.rendezvous;
  const Symbol world = init.Intern(name);
  const std::string op_name = StrCat(name, "_op");
  if (clone_of) {
    Emit(init, {.type = "CloneCommonWorld",
                .inputs = {clone_of},
                .outputs = {world},
                .device = device,
                .name = op_name,
                .engine = meet.engine});
    return world;
  }
  Emission create{.type = "CreateCommonWorld",
                  .outputs = {world},
                  .device = device,
                  .args = {{"size", meet.num_shards}, {"rank", meet.shard_id}, {"timeout_ms", timeout_ms}},
                  .name = op_name,
                  .engine = meet.engine};
  if (!meet.kv_handler.empty()) create.inputs = {init.Intern(meet.kv_handler)};
  if (meet.transport) create.args.list.push_back({"transport", *meet.transport});
  if (meet.interface) create.args.list.push_back({"interface", *meet.interface});
  if (meet.mpi_rendezvous) create.args.list.push_back({"mpi_rendezvous", true});
  Emit(init, create);
  return world;
}

Collectives::Turn Collectives::Next(Context& context, NetBuilder& init, const DevicePtr& device,
                                    std::vector<Symbol> writes) {
  const size_t slot = context.uses++ % context.most;
  if (slot < context.worlds.size()) {
    Turn turn{context.worlds[slot], std::move(context.last[slot])};
    context.last[slot] = std::move(writes);
    return turn;
  }
  const std::string name = StrCat(context.name, "_", slot, "_cw");
  const Symbol world = CommonWorld(init, name, device, kTimeoutMs, first_world_);
  if (!first_world_) first_world_ = world;
  context.worlds.push_back(world);
  context.last.push_back(std::move(writes));
  return {world, {}};
}

std::vector<Symbol> Collectives::RootFirst(const BlobGroup& group) const {
  std::vector<Symbol> blobs{group.blobs[RootOf(group)].dense};
  for (const Gradient& of : group.blobs)
    if (of.dense && of.dense != blobs[0]) blobs.push_back(of.dense);
  return blobs;
}

void Collectives::Broadcast(NetBuilder& net, const BlobDevices& devices, const BlobGroup& group, bool nccl,
                            size_t from) {
  const bool gpu = OnGpu(devices, group);
  const Symbol root = group.blobs[from].dense;
  if (nccl && gpu && group.blobs.size() > 1) {
    const std::vector<Symbol> blobs = DenseBlobs(group);
    Emit(net, {.type = "NCCLBroadcast",
               .inputs = blobs,
               .outputs = blobs,
               .device = scopes_.device(0),
               .args = {{"root", from}}});
    return;
  }
  for (size_t i = 0; i < group.blobs.size(); ++i)
    if (const Symbol blob = group.blobs[i].dense; blob && blob != root)
      Emit(net, {.type = "Copy",
                 .inputs = {root},
                 .outputs = {blob},
                 .device = gpu ? scopes_.device(i) : PlaceOf(devices, group)});
}

// Sums the members' blobs into the first member's.
void Collectives::SumPeers(NetBuilder& net, const BlobGroup& group, std::span<const size_t> members) {
  const size_t to = members[0];
  std::vector<Symbol> blobs;
  for (size_t member : members) {
    Symbol blob = group.blobs[member].dense;
    if (member != to && o_.peer_access && !o_.peer_access(o_.devices[to], o_.devices[member])) {
      const Symbol copy = net.Intern(
          StrCat(scopes_.of[to].name.prefix, group.name, "_", o_.prefix(), o_.devices[member], "_copy"));
      Emit(net, {.type = "Copy", .inputs = {blob}, .outputs = {copy}, .device = scopes_.device(to)});
      blob = copy;
    }
    blobs.push_back(blob);
  }
  Emit(net,
       {.type = "Sum", .inputs = blobs, .outputs = {blobs[0]}, .device = scopes_.device(to), .name = "dpm"});
}

void Collectives::SumTree(NetBuilder& net, const BlobGroup& group, size_t to) {
  const size_t n = group.blobs.size();
  const auto member = [&](size_t i) { return (to + i) % n; };
  if (n != 4 && n != 8 && n != 16) {
    std::vector<size_t> all(n);
    for (size_t i = 0; i < n; ++i) all[i] = member(i);
    SumPeers(net, group, all);
    return;
  }
  for (size_t step = 1; step < n; step *= 2)
    for (size_t i = 0; i < n; i += 2 * step) {
      const size_t pair[] = {member(i), member(i + step)};
      SumPeers(net, group, pair);
    }
}

// The devices' sum, on one of them.
void Collectives::ReduceTo(NetBuilder& net, const BlobDevices& devices, const BlobGroup& group, size_t to) {
  std::vector<Symbol> blobs = DenseBlobs(group);
  if (blobs.size() < 2) return;
  const Symbol own = blobs[to];
  if (!OnGpu(devices, group)) {
    std::rotate(blobs.begin(), blobs.begin() + static_cast<ptrdiff_t>(to), blobs.end());
    Emit(net, {.type = "Sum", .inputs = blobs, .outputs = {own}, .device = PlaceOf(devices, group)});
  } else if (!o_.use_nccl || o_.device_type != kCuda) {
    SumTree(net, group, to);
  } else {
    // The schema allows no sum in place but on the first device, and another order of the devices would be
    // another communicator.
    const Symbol sum = net.Suffixed(own, "_sum");
    Emit(net, {.type = "NCCLReduce",
               .inputs = blobs,
               .outputs = {sum},
               .device = scopes_.device(to),
               .args = {{"root", to}},
               .control = nccl_after_});
    Emit(net, {.type = "Copy", .inputs = {sum}, .outputs = {own}, .device = scopes_.device(to)});
    nccl_after_ = {sum};
  }
}

void Collectives::ReduceOnHost(NetBuilder& net, const BlobDevices& devices, const BlobGroup& group) {
  if (group.owner) {
    ReduceTo(net, devices, group, group.owner->device);
    return;
  }
  const std::vector<Symbol> blobs = DenseBlobs(group);
  if (OnGpu(devices, group)) {
    if (o_.use_nccl && o_.device_type == kCuda) {
      Emit(net, {.type = "NCCLAllreduce",
                 .inputs = blobs,
                 .outputs = blobs,
                 .device = scopes_.device(0),
                 .control = nccl_after_});
    } else {
      SumTree(net, group, 0);
      Broadcast(net, devices, group, false);
    }
    nccl_after_ = {blobs[0]};
    return;
  }
  Emit(net, {.type = "Sum", .inputs = blobs, .outputs = {blobs[0]}, .device = PlaceOf(devices, group)});
  if (!o_.shared_model) Broadcast(net, devices, group, false);
}

void Collectives::AcrossMachines(NetBuilder& net, NetBuilder& init, const BlobDevices& devices,
                                 const BlobGroup& group, Context& context) {
  const std::vector<Symbol> blobs = DenseBlobs(group);
  const std::string& engine = o_.rendezvous->engine;
  const DevicePtr& master = scopes_.device(0);
  const auto all_reduce = [&](const std::vector<Symbol>& of, OpArgs args) {
    const Turn turn = Next(context, init, master, {of[0]});
    Emission reduce{.type = "Allreduce",
                    .inputs = {turn.world},
                    .outputs = of,
                    .device = master,
                    .args = std::move(args),
                    .name = group.name,
                    .engine = engine,
                    .control = turn.control};
    reduce.inputs.insert(reduce.inputs.end(), of.begin(), of.end());
    Emit(net, reduce);
  };
  if (engine == "GLOO") {
    all_reduce(blobs, {{"gpu_direct", o_.rendezvous->transport == "ibverbs"}});
    return;
  }
  if (group.owner) {
    const auto [shard, device] = *group.owner;
    ReduceTo(net, devices, group, device);
    const Symbol own = blobs[device], reduced = net.Suffixed(own, "_red");
    const DevicePtr place = OnGpu(devices, group) ? scopes_.device(device) : PlaceOf(devices, group);
    const Turn turn = Next(context, init, master, {reduced});
    Emit(net, {.type = "Reduce",
               .inputs = {turn.world, own},
               .outputs = {reduced},
               .device = place,
               .args = {{"root", shard}},
               .name = group.name,
               .engine = engine,
               .control = turn.control});
    if (shard == o_.rendezvous->shard_id)
      Emit(net, {.type = "Copy", .inputs = {reduced}, .outputs = {own}, .device = place});
    return;
  }
  const Symbol reduced = net.Suffixed(blobs[0], "_red");
  Emit(net, {.type = "ConstantFill",
             .inputs = {blobs[0]},
             .outputs = {reduced},
             .device = master,
             .args = {{"value", 0.0f}}});
  if (OnGpu(devices, group)) {
    Emit(net, {.type = "NCCLAllreduce",
               .inputs = blobs,
               .outputs = blobs,
               .device = master,
               .control = nccl_after_});
    nccl_after_ = {blobs[0]};
  } else if (blobs.size() > 1) {
    Emit(net, {.type = "Sum", .inputs = blobs, .outputs = {blobs[0]}, .device = PlaceOf(devices, group)});
  }
  Emit(net, {.type = "Copy", .inputs = {blobs[0]}, .outputs = {reduced}, .device = master});
  all_reduce({reduced}, {});
  Emit(net, {.type = "Copy", .inputs = {reduced}, .outputs = {blobs[0]}, .device = master});
  Broadcast(net, devices, group, false);
}

// Every replica gets the rows of all (B46: on CPUs and across machines, too).
void Collectives::Gather(NetBuilder& net, NetBuilder& init, const BlobDevices& devices,
                         const BlobGroup& group, Context* context) {
  const bool gpu = OnGpu(devices, group);
  const DevicePtr place = PlaceOf(devices, group);
  const std::string base = StrCat(scopes_.of[0].name.prefix, group.name);
  const auto gather = [&](Symbol Gradient::*part, std::string_view what) {
    std::vector<Symbol> blobs;
    for (const Gradient& of : group.blobs) blobs.push_back(of.*part);
    Symbol all = net.Intern(StrCat(base, "_", what, "_concat"));
    Emit(net, {.type = "Concat",
               .inputs = blobs,
               .outputs = {all, net.Intern(StrCat(base, "_", what, "_splitinfo"))},
               .device = place,
               .args = {{"axis", 0}},
               .name = "note:data_parallel_model"});
    if (context) {
      const Symbol everywhere = net.Intern(StrCat(base, "_", what, "_gather"));
      const Turn turn = Next(*context, init, scopes_.device(0), {everywhere});
      Emit(net, {.type = "Allgather",
                 .inputs = {turn.world, all},
                 .outputs = {everywhere},
                 .device = scopes_.device(0),
                 .name = StrCat(group.name, "_", what),
                 .engine = o_.rendezvous->engine,
                 .control = turn.control});
      all = everywhere;
    }
    for (size_t i = 0; i < blobs.size(); ++i)
      Emit(net, {.type = "Copy",
                 .inputs = {all},
                 .outputs = {blobs[i]},
                 .device = gpu ? scopes_.device(i) : place});
  };
  // Several tables may be read at the same indices; these are gathered once.
  bool done = false;
  for (const Gradient& of : group.blobs) done = done || gathered_.contains(of.indices.id);
  if (!done) {
    gather(&Gradient::indices, "index");
    for (const Gradient& of : group.blobs) gathered_.insert(of.indices.id);
  }
  gather(&Gradient::values, "val");
}

void Collectives::AllReduce(NetBuilder& net, NetBuilder& init, const BlobDevices& devices,
                            std::span<const BlobGroup* const> groups, int max_concurrent) {
  Context context{"allreduce", static_cast<size_t>(std::max(max_concurrent, 1))};
  nccl_after_.clear();
  gathered_.clear();
  for (const BlobGroup* group : groups) {
    const bool sparse = group->blobs[0].is_sparse();
    if (many_machines()) {
      if (sparse) {
        Gather(net, init, devices, *group, &context);
      } else {
        AcrossMachines(net, init, devices, *group, context);
      }
    } else if (group->blobs.size() > 1) {
      if (sparse) {
        Gather(net, init, devices, *group, nullptr);
      } else {
        ReduceOnHost(net, devices, *group);
      }
    }
  }
}

void Collectives::Sync(NetBuilder& net, NetBuilder& init, const BlobDevices& devices,
                       std::vector<const BlobGroup*> groups, int max_concurrent) {
  if (!many_machines()) {
    for (const BlobGroup* group : groups)
      Broadcast(net, devices, *group, group->owner && o_.use_nccl, RootOf(*group));
    return;
  }
  if (broadcast_.most == 0) broadcast_.most = static_cast<size_t>(std::max(max_concurrent, 1));
  std::sort(groups.begin(), groups.end(),
            [](const BlobGroup* a, const BlobGroup* b) { return a->name < b->name; });
  const std::string& engine = o_.rendezvous->engine;
  if (broadcast_.net != net.net().name) {  // operators of another net are no control inputs
    for (std::vector<Symbol>& last : broadcast_.last) last.clear();
    broadcast_.net = net.net().name;
  }
  const auto broadcast = [&](const BlobGroup& group, std::vector<Symbol> blobs, const DevicePtr& device) {
    const Turn turn = Next(broadcast_, init, device, blobs);
    Emission send{.type = "Broadcast",
                  .inputs = {turn.world},
                  .outputs = blobs,
                  .device = device,
                  .name = group.name,
                  .engine = engine,
                  .control = turn.control};
    send.inputs.insert(send.inputs.end(), blobs.begin(), blobs.end());
    if (group.owner) send.args = {{"root", group.owner->shard}};
    Emit(net, send);
  };
  for (const BlobGroup* group : groups) {
    const std::vector<Symbol> blobs = RootFirst(*group);
    if (engine == "GLOO") {
      broadcast(*group, blobs, PlaceOf(devices, *group));
      continue;
    }
    if (OnGpu(devices, *group)) {
      const DevicePtr& place = scopes_.device(RootOf(*group));
      const Symbol host = net.Suffixed(blobs[0], "cpu");
      Emit(net, {.type = "CopyGPUToCPU", .inputs = {blobs[0]}, .outputs = {host}, .device = place});
      broadcast(*group, {host}, scopes_.cpu);
      Emit(net, {.type = "CopyCPUToGPU", .inputs = {host}, .outputs = {blobs[0]}, .device = place});
    } else {  // B47: what is on the CPU already is sent from there
      broadcast(*group, {blobs[0]}, scopes_.cpu);
    }
    Broadcast(net, devices, *group, false, RootOf(*group));
  }
}

void Collectives::Resume(const Net& init, const Net& net) {
  SymbolMap<int64_t> slots(*init.symbols, 8, -1);  // of the worlds for broadcasts
  for (const Op& op : init.ops) {
    const std::string_view type = init.Str(op.type);
    if (type.find("CommonWorld") == std::string_view::npos || op.outputs.size() != 1) continue;
    if (!first_world_ && type == "CreateCommonWorld" &&
        ArgInt(*init.symbols, op.args, "timeout_ms", -1) == kTimeoutMs)
      first_world_ = op.outputs[0];
    if (init.Str(op.outputs[0]) != StrCat(broadcast_.name, "_", broadcast_.worlds.size(), "_cw")) continue;
    slots[op.outputs[0]] = static_cast<int64_t>(broadcast_.worlds.size());
    broadcast_.worlds.push_back(op.outputs[0]);
  }
  broadcast_.most = broadcast_.uses = broadcast_.worlds.size();
  broadcast_.last.resize(broadcast_.most);
  broadcast_.net = net.name;
  for (const Op& op : net.ops) {
    const int64_t slot = op.inputs.empty() ? -1 : slots.Get(op.inputs[0]);
    if (slot < 0) continue;
    broadcast_.last[static_cast<size_t>(slot)].assign(op.outputs.begin(), op.outputs.end());
    broadcast_.uses = static_cast<size_t>(slot) + 1;
  }
}

void Collectives::SumOverMachines(NetBuilder& net, NetBuilder& init, std::string_view world,
                                  const std::vector<Symbol>& blobs) {
  const Symbol made = init.Intern(world);
  if (!init.BlobIsDefined(made)) CommonWorld(init, world, nullptr, kTimeoutMs, first_world_);
  Emission sum{.type = "Allreduce", .inputs = {made}, .outputs = blobs, .engine = o_.rendezvous->engine};
  sum.inputs.insert(sum.inputs.end(), blobs.begin(), blobs.end());
  Emit(net, sum);
}

void Collectives::AddBarrier(NetBuilder& barrier, NetBuilder& init, std::string_view world, int timeout_ms) {
  const Symbol made = CommonWorld(init, world, nullptr, timeout_ms, Symbol());
  Emit(barrier, {.type = "Barrier", .inputs = {made}, .engine = o_.rendezvous->engine});
}

void Collectives::AddBarrier(NameRegistry& registry, const SymbolTablePtr& symbols, ParallelNets& nets) {
  NetBuilder init(registry, "barrier_init_net", symbols);
  NetBuilder barrier(registry, "pre_training_barrier_net", symbols);
  AddBarrier(barrier, init, "pre_training_barrier_cw", o_.barrier_timeout_ms);
  nets.barrier_init = std::move(init).Finish();
  nets.barrier = std::move(barrier).Finish();
}

}  // namespace weft::internal
