// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators that keep the replicas of one blob equal: sums over devices and machines, copies from the
// first device, common worlds. Each call appends to the net it is given; common worlds go to the init net.
// Order is the order of the calls, so it is the same on every rank. Owned by one Parallelize at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/symbol_map.h"
#include "core/pass/data_parallel.h"
#include "core/ssa/nested.h"

namespace weft::internal {

/// The device type of each blob: that of the first operator that mentions it, in init, then in net; Iter
/// counts as CPU.
class BlobDevices {
 public:
  BlobDevices(const Net& init, const Net& net);
  /// kCpu when nobody mentions the blob.
  int32_t TypeOf(Symbol blob) const { return of_.Get(blob) < 0 ? kCpu : of_.Get(blob); }

 private:
  void Note(const Net& net, const NestingTypes& nesting, int depth);
  SymbolMap<int32_t> of_;
};

/// Devices of the replicas as shared options, and the scopes made of them.
struct ReplicaScopes {
  explicit ReplicaScopes(const ParallelOptions& options);
  std::vector<Scope> of;  // one per device
  DevicePtr cpu, ideep;   // devices without a number of their own
  DevicePtr device(size_t i) const { return of[i].device.device; }
  /// The replica whose scope a blob is in, -1 for none. "_gpu_0/x_grad_autosplit_0" is in that of gpu_0.
  int ReplicaOf(std::string_view blob) const;

 private:
  std::string kind_;                    // "gpu_"
  std::unordered_map<int, int> by_id_;  // looked up, never walked
};

/// An operator of blobs that have their final names.
struct Emission {
  std::string_view type;
  std::vector<Symbol> inputs{}, outputs{};
  DevicePtr device{};
  OpArgs args{};
  std::string_view name{};
  std::optional<std::string> engine{};
  std::vector<Symbol> control{};
};
void Emit(NetBuilder& net, const Emission& emission);

class Collectives {
 public:
  /// `options` and `scopes` must outlive this.
  Collectives(const ParallelOptions& options, const ReplicaScopes& scopes)
      : o_(options), scopes_(scopes), broadcast_{"broadcast", 0} {}

  /// Continues an earlier plan: uses the common worlds that `init` makes, behind what `net` does through
  /// them.
  void Resume(const Net& init, const Net& net);
  /// Sums each group over all devices and machines, in this order; one that has an owner needs to be right on
  /// the owner only. Sparse gradients are gathered. The common worlds go to `init`.
  void AllReduce(NetBuilder& net, NetBuilder& init, const BlobDevices& devices,
                 std::span<const BlobGroup* const> groups, int max_concurrent);
  /// Copies one replica's blob to the others.
  void Broadcast(NetBuilder& net, const BlobDevices& devices, const BlobGroup& group, bool nccl,
                 size_t from = 0);
  /// Makes each group equal to its owner, or else to the root of the first machine.
  void Sync(NetBuilder& net, NetBuilder& init, const BlobDevices& devices,
            std::vector<const BlobGroup*> groups, int max_concurrent);
  /// Sums blobs over all machines, all of them together, through a common world of that name.
  void SumOverMachines(NetBuilder& net, NetBuilder& init, std::string_view world,
                       const std::vector<Symbol>& blobs);
  /// The barrier and the net that makes its common world (semantics 6.4).
  void AddBarrier(NameRegistry& registry, const SymbolTablePtr& symbols, ParallelNets& nets);
  void AddBarrier(NetBuilder& barrier, NetBuilder& init, std::string_view world, int timeout_ms);

  /// Whose values the others get from Sync, of a group without an owner: a number in the devices.
  void set_root(size_t replica) { root_ = replica; }
  bool many_machines() const { return o_.num_shards() > 1; }

 private:
  // Common worlds used in turn, each by one collective at a time.
  struct Context {
    std::string name;
    size_t most = 1;
    std::vector<Symbol> worlds{};
    std::vector<std::vector<Symbol>> last{};  // what the last user of each world wrote
    size_t uses = 0;
    Symbol net{};  // the net of those users
  };
  struct Turn {
    Symbol world;
    std::vector<Symbol> control;
  };

  Turn Next(Context& context, NetBuilder& init, const DevicePtr& device, std::vector<Symbol> writes);
  Symbol CommonWorld(NetBuilder& init, std::string_view name, const DevicePtr& device, int timeout_ms,
                     Symbol clone_of);
  std::vector<Symbol> RootFirst(const BlobGroup& group) const;
  bool OnGpu(const BlobDevices& devices, const BlobGroup& group) const;
  DevicePtr PlaceOf(const BlobDevices& devices, const BlobGroup& group) const;
  size_t RootOf(const BlobGroup& group) const { return group.owner ? group.owner->device : root_; }
  void ReduceOnHost(NetBuilder& net, const BlobDevices& devices, const BlobGroup& group);
  void ReduceTo(NetBuilder& net, const BlobDevices& devices, const BlobGroup& group, size_t to);
  void SumPeers(NetBuilder& net, const BlobGroup& group, std::span<const size_t> members);
  void SumTree(NetBuilder& net, const BlobGroup& group, size_t to);
  void AcrossMachines(NetBuilder& net, NetBuilder& init, const BlobDevices& devices, const BlobGroup& group,
                      Context& context);
  void Gather(NetBuilder& net, NetBuilder& init, const BlobDevices& devices, const BlobGroup& group,
              Context* context);

  const ParallelOptions& o_;
  const ReplicaScopes& scopes_;
  size_t root_ = 0;
  Symbol first_world_;  // cloned by the later ones of the same timeout
  Context broadcast_;
  std::vector<Symbol> nccl_after_{};         // what the last NCCL operator wrote
  std::unordered_set<uint32_t> gathered_{};  // index blobs that hold the indices of all replicas already
};

}  // namespace weft::internal
