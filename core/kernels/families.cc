// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/families.h"

namespace weft {

const KernelSet& ReferenceKernels() {
  static const KernelSet set = [] {
    const KernelFamily families[] = {
        ActivationKernels(), ArithmeticKernels(),  ArithmeticSumKernels(), ControlKernels(),
        ConvKernels(),       ElementwiseKernels(), FillKernels(),          IndexKernels(),
        LinearKernels(),     LossKernels(),        LossDistanceKernels(),  MemoryKernels(),
        NormKernels(),       NormRowsKernels(),    OptimizerKernels(),     OptimizerLrKernels(),
        PoolKernels(),       ReduceKernels(),      ReduceEndsKernels(),    ShapeKernels()};
    return KernelSet(families);
  }();
  return set;
}

}  // namespace weft
