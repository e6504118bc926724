// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Data parallelism as a plan: one model is built again for each device under a name scope of its own
// ("gpu_0/"), gradients are summed over devices and machines, parameters start equal everywhere. What comes
// out is nets; native/comm only executes their collectives. Names and order are those of Caffe2's
// data_parallel_model (semantics.md section 6); its faults B39-B50 are mended. Linear in the replicated nets.
// Values; a ModelBuilder belongs to whoever builds.
//
// Caffe2's arguments and calls, here and in `weft parallel`:
//   model_helper_obj                  ModelBuilder; its params of before   --init --net --param --common
//   input_builder_fun                 ParallelCallbacks::input             part of --net
//   forward_pass_builder_fun          forward                              --net --loss --loss-scale-op
//   param_update_builder_fun          param_update                         --update
//   optimizer_builder_fun             optimizer                            --optimizer
//   post_sync_builder_fun             post_sync                            --post-sync
//   pre_grad_net_transformer_fun      before_gradients                     weft pass on --net
//   net_transformer_fun               net_transformer                      weft pass on the result
//   devices, cpu_device, ideep        devices, device_type                 --devices
//   rendezvous: kv_handler            Rendezvous::kv_handler               --store
//     num_shards, shard_id, engine    the same                             --shards --shard-id --engine
//     transport, interface            the same                             --transport --interface
//     mpi_rendezvous                  the same                             set by --engine MPI
//   net_type                          net_type                             --net-type
//   broadcast_computed_params         the same                             --no-broadcast-computed
//   optimize_gradient_memory          the same                             --share-gradients
//   dynamic_memory_management         the same                             --free
//   blobs_to_keep                     the same                             --keep
//   use_nccl                          the same                             --nccl
//   max_concurrent_distributed_ops    the same                             --max-concurrent
//   num_threads_per_device            threads_per_device                   --threads
//   shared_model                      the same                             --shared-model
//   combine_spatial_bn                the same                             --combine-bn
//   barrier_net_timeout_sec           barrier_timeout_ms                   --barrier-timeout
//   Parallelize_BMUF                  ParallelizeBmuf (bmuf.h)             --bmuf
//   AddBlobSync                       AddBlobSync (parallel_sync.h)        --sync
//   AddDistributedBlobSync            AddDistributedBlobSync               --sum
//   Synchronize, _RunComparison       Synchronize, AllCompare
//   FinalizeAfterCheckpoint           SyncAfterCheckpoint
//   ExtractPredictorNet               ExtractReplicaPredictor (parallel_tools.h)
//   ConvertNetForDevice               ConvertNetForDevice
//   OptimizeGradientMemory            OptimizeGradientMemory               weft pass memory on the result
//   GetCheckpointParams               ParallelNets::checkpoint             --json
//   GetLearningRateBlobNames          ParallelNets::learning_rates         --json
//   RunInitNet, RunNet, RunWarmup     PlanOf (parallel_plan.h)             plan.pbtxt
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net_builder.h"
#include "core/ops/gradient_context.h"
#include "core/ops/op_set.h"

namespace weft {

struct ParamGradient {
  Symbol param;
  Gradient gradient;
};

/// A model being built: what the callbacks add to. Both nets share one symbol table.
struct ModelBuilder {
  NameRegistry& registry;
  NetBuilder net, init;
  std::vector<Symbol> params{};            // trained, in the order of their making
  std::vector<Symbol> computed_params{};   // filled by the net itself (running means), not trained
  std::vector<ParamGradient> gradients{};  // once there is a backward pass, in the order of params
  std::vector<Symbol> unneeded{};  // made by init for updates that are done elsewhere: taken out behind
                                   // the updates

  Gradient GradientOf(Symbol param) const;
  /// Takes the net (the init net) out, edits it and puts it back under its name.
  void EditNet(const std::function<Net(Net)>& edit);
  void EditInit(const std::function<Net(Net)>& edit);

  mutable size_t last_found = 0;  // by GradientOf
};

/// How many machines, and how they meet.
struct Rendezvous {
  std::string kv_handler = "store_handler";  // the blob of the key-value store; empty: none (MPI)
  int num_shards = 1;
  int shard_id = 0;
  std::string engine = "GLOO";  // GLOO, NCCL or MPI
  std::optional<std::string> transport{};
  std::optional<std::string> interface {};
  bool mpi_rendezvous = false;
};

struct ParallelOptions {
  std::vector<int> devices{};   // at least one, each once
  int32_t device_type = kCuda;  // kCpu, kCuda, kHip or kIdeep
  std::optional<Rendezvous> rendezvous{};
  bool use_nccl = false;
  bool shared_model = false;  // CPU or IDEEP, one machine: all replicas read the first one's parameters
  bool combine_spatial_bn = false;
  bool broadcast_computed_params = true;
  bool optimize_gradient_memory = false;
  bool dynamic_memory_management = false;
  std::vector<std::string> blobs_to_keep{};  // dynamic_memory_management keeps these, named without scope
  int64_t bucket_bytes = 0;  // gradients are summed in buckets of at most so many bytes and gradients, while
  int bucket_count = 0;      // the backward pass still runs; both 0: one by one behind it, as Caffe2 does
  int accumulate = 1;        // iterations whose gradients are added up for one update, in a net of its own
  bool shard_optimizer = false;  // each parameter is updated by one replica, which alone has its state, and
                                 // sent to the others: see shard_optimizer.h
  std::string net_type = "dag";
  int threads_per_device = 4;
  int max_concurrent_distributed_ops = 16;
  int barrier_timeout_ms = 300000;
  uint32_t gradient_faults = 0;  // GradientFault bits: faults of Caffe2's planner to repeat
  std::function<bool(int to, int from)> peer_access{};  // between GPUs; unset: everywhere

  int num_shards() const { return rendezvous ? rendezvous->num_shards : 1; }
  int shard_id() const { return rendezvous ? rendezvous->shard_id : 0; }
  bool is_gpu() const { return device_type == kCuda || device_type == kHip; }
  /// "gpu", "cpu" or "ideep".
  std::string_view prefix() const;
};

/// Parallelize's callbacks. `scope` is the name and device scope of one replica; those without one are called
/// once. Only `forward` is needed; without `param_update` and `optimizer` there is no backward pass.
struct ParallelCallbacks {
  using PerDevice = std::function<Result<void>(ModelBuilder&, const Scope& scope)>;
  using Whole = std::function<Result<void>(ModelBuilder&)>;
  PerDevice input{};
  std::function<Result<std::vector<Symbol>>(ModelBuilder&, const Scope& scope, float loss_scale)> forward{};
  PerDevice param_update{};  // or `optimizer`, not both
  Whole optimizer{};         // for all of model.params, which are on all devices
  PerDevice post_sync{};
  Whole before_gradients{};
  Whole net_transformer{};
};

/// One replica among those of all machines: a machine, and the number of one of its devices in the list.
struct Rank {
  int shard = 0;
  size_t device = 0;
};

/// The same blob on each device, in the order of the devices (none where a shared model dropped it, or where
/// a sharded optimizer has it elsewhere).
struct BlobGroup {
  std::string name;  // without scope; "<indices>:<values>" for a sparse gradient
  std::vector<Gradient> blobs;
  std::optional<Rank> owner{};  // with shard_optimizer, of parameters and gradients: who updates
};

struct ParallelNets {
  Net init, net;
  std::optional<Net> update{};  // with `accumulate`: run after each so many iterations of net
  int accumulate = 1;
  std::optional<Net> global_init{}, global_update{}, warmup{};  // BMUF
  std::optional<Net> barrier_init{}, barrier{};                 // with a GLOO rendezvous; run once
  int warmup_iterations = 0;
  std::vector<Symbol> params{}, computed_params{}, losses{};  // on all devices
  std::vector<ParamGradient> gradients{};
  std::vector<BlobGroup> groups{};  // parameters, computed ones, gradients, then what else is kept equal
  /// What a checkpoint holds: all that init makes on the first device, own_state, and the iteration. Sorted
  /// by name.
  std::vector<Symbol> checkpoint{};
  std::vector<Symbol> own_state{};  // with shard_optimizer: what no other machine and no other device has
  std::vector<Symbol> learning_rates{};  // outputs of the LearningRate operators (B44)
};

/// Errors: kInvalidArgument, naming the option, for a request that makes no sense (no devices, a device
/// twice, shared_model on GPUs or on several machines (B42), combine_spatial_bn without an update (B42), both
/// memory options, both kinds of update, a blob that is a parameter twice (B43)); those of the callbacks and
/// of PlanGradients; kNotFound for a parameter without a gradient or one that init does not make;
/// kDeviceMismatch for an operator that reads another device's blob (B50).
Result<ParallelNets> Parallelize(ModelBuilder model, const OpSet& ops, const ParallelCallbacks& callbacks,
                                 const ParallelOptions& options);

/// A model built once for one device. Both nets share one symbol table.
struct SingleModel {
  Net init, net;
  std::vector<Symbol> losses, params;
  std::vector<Symbol> computed_params{};
  // Parameters that all replicas read under this one name, and init makes once: to be in ModelBuilder::params
  // from the start. Only an optimizer updates them, with the sum of the gradients of this machine's replicas.
  std::vector<Symbol> common_params{};
  // What each device does with its gradients: reads that of a parameter as "<param>_grad", a sparse one as
  // "<param>_grad_indices" and "<param>_grad_values", whatever the backward pass calls them.
  std::optional<Net> update{};
  std::optional<Net> post_sync{};  // what each device does behind the first sync: appended to init
  bool loss_scale_op = false;  // the last operator on each loss is a Scale that carries the loss scale; else
                               // one is appended
};

/// `forward` and, when the model has these nets, `param_update` and `post_sync`: the model's operators with
/// each blob in the replica's name scope and each operator on its device, those that are on the CPU by their
/// own device option excepted. `model` must outlive the callbacks.
ParallelCallbacks CallbacksOf(const SingleModel& model);

}  // namespace weft
