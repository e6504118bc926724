// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nets of any size, built as IR: what benches and tests measure growth on. The same arguments give the same
// net. Each has one external output, which a gradient may be asked for. A size is in operators, to the
// nearest whole block, at least one.
#pragma once

#include <cstddef>

#include "core/ir/net.h"

namespace weft::testing {

enum class Pass {
  kForward,   // up to the loss
  kTraining,  // and its backward pass, written down without the planner, and an SGD update of each weight
};

/// A residual convolutional net in Caffe2's style: blocks of Conv, SpatialBN, Relu in place, Conv, SpatialBN,
/// Sum with the block's input, Relu in place; then FC and SoftmaxWithLoss. Reads "data", "label" and its
/// parameters; its output is "loss".
Net ResidualNet(size_t ops, Pass pass = Pass::kForward);

/// x_0 -Tanh-> x_1 -Tanh-> x_2 ...
Net ChainNet(size_t ops);
/// Tanh after Tanh on the one blob "x": as many versions as operators.
Net InPlaceChainNet(size_t ops);
/// One blob read by all operators but the last, which sums what they made.
Net StarNet(size_t ops);
/// Diamonds in a row: a_i is read by two operators, and a_i+1 is the sum of what they made.
Net LadderNet(size_t ops);

}  // namespace weft::testing
