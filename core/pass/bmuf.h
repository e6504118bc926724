// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Blockwise model-update filtering: each device trains its own parameters for a block of iterations; then one
// net averages them over all devices and machines and moves a global model by the filtered difference
// (semantics.md 6.7). Unlike Caffe2's, all start from the same parameters (B40), and whatever belongs to the
// global update is in its own net (B39).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/pass/data_parallel.h"

namespace weft {

struct BmufOptions {
  ParallelOptions parallel{};  // max_concurrent_distributed_ops is 4 by default here; no shared model, no
                               // combined batch norm, no dynamic memory
  std::optional<int> master_device{};  // holds the global model; the first device when unset
  bool nesterov = false;
  std::optional<float> block_momentum{};  // 1 - 1 / number of devices on all machines when unset
  float block_learning_rate = 1;
  std::optional<int> warmup_iterations{};        // trained on the first device alone before the first block
  bool reset_momentum_sgd = false;               // the momenta of MomentumSGDUpdate start each block at zero
  std::vector<std::string> add_blobs_to_sync{};  // made equal after each block; named without scope

  BmufOptions() { parallel.max_concurrent_distributed_ops = 4; }
};

/// The nets: init, global_init; net for each iteration; global_update once after a block; warmup once after
/// the warm-up iterations. Errors: as Parallelize; kInvalidArgument when there is no per-device update, or
/// master_device is no device.
Result<ParallelNets> ParallelizeBmuf(ModelBuilder model, const OpSet& ops, const ParallelCallbacks& callbacks,
                                     const BmufOptions& options);

}  // namespace weft
