// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The net that answers, taken out of the net that learns: Caffe2's predictor extraction. All names are kept,
// so it finds its parameters where training left them. Pure, linear in the nets.
#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"
#include "core/ssa/ssa.h"

namespace weft {

struct PredictorOptions {
  std::vector<Symbol> inputs{};   // blobs that will be fed; empty: the external inputs that are needed
  std::vector<Symbol> outputs{};  // blobs wanted; empty: the net's external outputs
};

struct Predictor {
  Net net;
  std::optional<Net> init;  // what of the init net it needs, when one was given
  std::vector<Symbol>
      missing;           // inputs that nobody feeds or fills: neither asked for, nor made by the init net
  size_t removed = 0;    // operators that only mattered while learning (Dropout, copies on one device)
  size_t test_mode = 0;  // operators that got is_test=1
};

/// The operators between the inputs and the outputs, without what only learning needs (StripForInference),
/// and of `init` (may be null) those that fill its parameters. Without an init net nothing counts as missing.
/// Errors: those of Cut; kInvalidArgument when there is no output.
Result<Predictor> ExtractPredictor(const Net& net, const Net* init, const OpSet& ops,
                                   const PredictorOptions& options = {});

}  // namespace weft
