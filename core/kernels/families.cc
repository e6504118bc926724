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
                                     FeatureKernels(),
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
                                     LossRankKernels(),
                                     MemoryKernels(),
                                     MetricKernels(),
                                     NormKernels(),
                                     NormRowsKernels(),
                                     OptimizerKernels(),
                                     OptimizerLrKernels(),
                                     OptimizerYellowfinKernels(),
                                     PoolKernels(),
                                     QuantizeKernels(),
                                     ReduceEndsKernels(),
                                     ReduceKernels(),
                                     RegionKernels(),
                                     RnnInferenceKernels(),
                                     RnnKernels(),
                                     RnnNetworkKernels(),
                                     SegmentKernels(),
                                     SegmentLengthsKernels(),
                                     SequenceDecodeKernels(),
                                     SequenceKernels(),
                                     ShapeKernels(),
                                     SoftmaxTreeKernels(),
                                     SparseLengthsKernels(),
                                     TensorTrainKernels(),
                                     TextKernels()};
    return KernelSet(families);
  }();
  return set;
}

}  // namespace weft
