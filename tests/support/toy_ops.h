// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The toy operators of Caffe2's own planner tests: Direct, UseOutput, UseInput, Nogradient and the gradient
// operators of the first three. They show that the operator set is passed in.
#pragma once

#include "core/ops/op_set.h"

namespace weft::test {

OpFamily ToyFamily();
/// The toys alone.
const OpSet& ToyOps();
/// StandardOps() and the toys: recorded nets mix them.
const OpSet& StandardAndToyOps();

}  // namespace weft::test
