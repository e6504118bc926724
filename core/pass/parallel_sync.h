// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeping replicas and machines together beyond what training does: blobs made equal or summed, a barrier, a
// check that a blob is equal everywhere, checkpoints that reach all. Caffe2's AddBlobSync,
// AddDistributedBlobSync, Synchronize, all-compare and FinalizeAfterCheckpoint, but where Caffe2 runs a net
// at once, the net is given back. Every machine must make the same calls in the same order. Pure; linear in
// the nets.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/pass/data_parallel.h"

namespace weft {

/// Appends to `to`, one of the nets or another over their symbols, what makes each blob equal to the first
/// device's of the first machine. `blobs`: names without scope. Common worlds that are missing go to
/// nets.init. Errors: kInvalidArgument for a name with a device's scope, kNotFound for one that is not on all
/// devices.
Result<void> AddBlobSync(ParallelNets& nets, Net& to, const ParallelOptions& options,
                         std::span<const std::string> blobs);

/// Appends to `to`, likewise, what sums the blobs, which have their full names, over the machines, each
/// in place: into all of them goes the sum of all of all machines, as Allreduce has it. Nothing without a
/// rendezvous. Errors: kNotFound.
Result<void> AddDistributedBlobSync(ParallelNets& nets, Net& to, const ParallelOptions& options,
                                    std::span<const std::string> blobs);

struct BarrierNets {
  Net init;     // the common world; run once
  Net barrier;  // waits for all machines
};
/// A barrier beside that of the plan, for whenever the machines should meet. None with one machine. Errors:
/// kUnsupported for an engine without a barrier.
Result<std::optional<BarrierNets>> Synchronize(const ParallelNets& nets, const ParallelOptions& options,
                                               int timeout_ms = 300000);

/// A net that leaves in "<blob>_gather" the sum of squares of `blob`, a full name, on each machine: all
/// elements are equal where the blob is. None with one machine. Errors: kNotFound.
Result<std::optional<Net>> AllCompare(const ParallelNets& nets, const ParallelOptions& options,
                                      const std::string& blob);

struct CheckpointSync {
  std::optional<Net> init{};  // common worlds that nets.init lacks; run once
  Net sync;                   // the first device's values go to all others, here and on other machines
};
/// What runs after a checkpoint was read. `blobs`: names without scope; all of nets.checkpoint but
/// nets.own_state when empty. `cpu_mode`: operators without a device run on the CPU. Errors: as AddBlobSync.
Result<CheckpointSync> SyncAfterCheckpoint(const ParallelNets& nets, const ParallelOptions& options,
                                           const std::vector<std::string>& blobs = {}, bool cpu_mode = false);

}  // namespace weft
