// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/families.h"

namespace weft {

const KernelSet& ReferenceKernels() {
  static const KernelSet set = [] {
    const KernelFamily families[] = {ActivationKernels(),
                                     ArithmeticKernels(),
                                     ArithmeticRowsKernels(),
                                     ArithmeticSumKernels(),
                                     ControlKernels(),
                                     ControlChecksKernels(),
                                     ConvKernels(),
                                     ElementwiseKernels(),
                                     ElementwiseMoreKernels(),
                                     FillKernels(),
                                     FillRandomKernels(),
                                     HostKernels(),
                                     ImageKernels(),
                                     IndexKernels(),
                                     IndexSparseKernels(),
                                     IoKernels(),
                                     LinearKernels(),
                                     LossKernels(),
                                     LossDistanceKernels(),
                                     MemoryKernels(),
                                     MetricKernels(),
                                     NormKernels(),
                                     NormRowsKernels(),
                                     OptimizerKernels(),
                                     OptimizerLrKernels(),
                                     PoolKernels(),
                                     ReduceKernels(),
                                     ReduceEndsKernels(),
                                     RnnKernels(),
                                     RnnNetworkKernels(),
                                     SegmentKernels(),
                                     SegmentLengthsKernels(),
                                     SequenceKernels(),
                                     ShapeKernels(),
                                     SparseLengthsKernels()};
    return KernelSet(families);
  }();
  return set;
}

}  // namespace weft
