// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is done with a data parallel model besides training it: the net that predicts, less memory, a net
// brought into one replica's scope. Pure; linear in the nets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ops/op_set.h"
#include "core/pass/data_parallel.h"
#include "core/pass/shapes.h"

namespace weft {

struct ReplicaPredictorOptions {
  std::vector<std::string> inputs{}, outputs{};  // named without scope, and so called in the predictor
  DevicePtr device{};                            // where it runs; null: where it was trained
};

/// The first device's net from the inputs to the outputs, called "<net>_predict"; its parameters keep their
/// names. In test mode, unlike Caffe2's, which refuses a net that learns. Errors: those of ExtractPredictor.
Result<Net> ExtractReplicaPredictor(const ParallelNets& nets, const ParallelOptions& options,
                                    const OpSet& ops, const ReplicaPredictorOptions& wanted);

struct ReplicaMemoryOptions {
  /// Of the model's inputs, named without scope, in numbers. Unset: all blobs count as of one size.
  std::optional<std::vector<GivenBlob>> input_shapes{};
  std::vector<std::string> excluded{};  // named without scope
  bool recycle_activations = false;
};
/// Caffe2's OptimizeGradientMemory: gradients between operators, and activations if asked for, share memory
/// within each replica; losses and gradients of parameters stay. Errors: those of ReuseMemory.
Result<Net> OptimizeGradientMemory(const ParallelNets& nets, const ParallelOptions& options, const OpSet& ops,
                                   const ReplicaMemoryOptions& wanted);

/// Caffe2's ConvertNetForDevice: blobs, external lists and control inputs get the prefix of `scope`,
/// operators its device. Errors: kUnsupported for a RecurrentNetwork, whose text arguments name blobs.
Result<Net> ConvertNetForDevice(Net net, const Scope& scope);

}  // namespace weft
