// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A net that computes in double what another computes in float: fed doubles, most kernels keep to them, and
// this tells the operators that choose a type themselves. Where a kernel knows float only, running such a net
// fails with a type error. For checks that float's rounding would drown. Pure functions.
#pragma once

#include "core/ir/net.h"
#include "core/run/tensor.h"

namespace weft {

/// `net` with the floats of ConstantFill and Cast made doubles, in nested nets too.
Net DoubleNet(const Net& net);
/// A copy, doubles in place of floats; other types as they are.
Tensor DoubleTensor(const Tensor& tensor);

}  // namespace weft
