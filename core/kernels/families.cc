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
                                     CollectKernels(),
                                     ControlChecksKernels(),
                                     ControlKernels(),
                                     ConvKernels(),
                                     DatasetKernels(),
                                     DetectionKernels(),
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
                                     LossDistanceKernels(),
                                     LossKernels(),
                                     MemoryKernels(),
                                     MetricKernels(),
                                     NormKernels(),
                                     NormRowsKernels(),
                                     OptimizerKernels(),
                                     OptimizerLrKernels(),
                                     PoolKernels(),
                                     QuantizeKernels(),
                                     ReduceEndsKernels(),
                                     ReduceKernels(),
                                     RegionKernels(),
                                     RnnKernels(),
                                     RnnNetworkKernels(),
                                     SegmentKernels(),
                                     SegmentLengthsKernels(),
                                     SequenceKernels(),
                                     ShapeKernels(),
                                     SparseLengthsKernels(),
                                     TextKernels()};
    return KernelSet(families);
  }();
  return set;
}

}  // namespace weft
