// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is done with a data parallel model besides training it: the net that predicts, replicas made equal
// again after a checkpoint was read, a net brought into one replica's scope. Pure; linear in the nets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ops/op_set.h"
#include "core/pass/data_parallel.h"

namespace weft {

struct ReplicaPredictorOptions {
  std::vector<std::string> inputs{}, outputs{};  // named without scope, and so called in the predictor
  DevicePtr device{};                            // where it runs; null: where it was trained
};

/// The first device's net from the inputs to the outputs, called "<net>_predict"; its parameters keep their
/// names. In test mode, unlike Caffe2's, which refuses a net that learns. Errors: those of ExtractPredictor.
Result<Net> ExtractReplicaPredictor(const ParallelNets& nets, const ParallelOptions& options,
                                    const OpSet& ops, const ReplicaPredictorOptions& wanted);

struct CheckpointSync {
  std::optional<Net> init{};  // common worlds, if the model's own init makes none to use again; run once
  Net sync;                   // the first device's values go to all others, here and on other machines
};
/// Caffe2's FinalizeAfterCheckpoint. `blobs`: names without scope; all of nets.checkpoint when empty. Errors:
/// kNotFound for a name that is not on all devices. `cpu_mode`: operators without a device run on the CPU.
Result<CheckpointSync> SyncAfterCheckpoint(const ParallelNets& nets, const ParallelOptions& options,
                                           const std::vector<std::string>& blobs = {}, bool cpu_mode = false);

/// Caffe2's ConvertNetForDevice: blobs, external lists and control inputs get the prefix of `scope`,
/// operators its device. Errors: kUnsupported for a RecurrentNetwork, whose text arguments name blobs.
Result<Net> ConvertNetForDevice(Net net, const Scope& scope);

}  // namespace weft
