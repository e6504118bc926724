// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The families of reference kernels, one per file in this folder with the stem of the operators' family. A
// family that is listed here and has no file is a link error.
#pragma once

#include "core/run/kernel.h"

namespace weft {

KernelFamily ActivationKernels();
KernelFamily ArithmeticKernels();
KernelFamily ArithmeticRowsKernels();
KernelFamily ArithmeticSumKernels();
KernelFamily CollectKernels();
KernelFamily ControlChecksKernels();
KernelFamily ControlKernels();
KernelFamily ConvKernels();
KernelFamily DatasetKernels();
KernelFamily DetectionKernels();
KernelFamily ElementwiseKernels();
KernelFamily ElementwiseMoreKernels();
KernelFamily FeatureKernels();
KernelFamily FillKernels();
KernelFamily FillRandomKernels();
KernelFamily HostKernels();
KernelFamily ImageKernels();
KernelFamily IndexKernels();
KernelFamily IndexSparseKernels();
KernelFamily IoKernels();
KernelFamily LinearKernels();
KernelFamily LossDistanceKernels();
KernelFamily LossKernels();
KernelFamily LossRankKernels();
KernelFamily MemoryKernels();
KernelFamily MetricKernels();
KernelFamily NormKernels();
KernelFamily NormRowsKernels();
KernelFamily OptimizerKernels();
KernelFamily OptimizerLrKernels();
KernelFamily OptimizerYellowfinKernels();
KernelFamily PoolKernels();
KernelFamily QuantizeKernels();
KernelFamily ReduceEndsKernels();
KernelFamily ReduceKernels();
KernelFamily RegionKernels();
KernelFamily RnnInferenceKernels();
KernelFamily RnnKernels();
KernelFamily RnnNetworkKernels();
KernelFamily SegmentKernels();
KernelFamily SegmentLengthsKernels();
KernelFamily SequenceDecodeKernels();
KernelFamily SequenceKernels();
KernelFamily ShapeKernels();
KernelFamily SoftmaxTreeKernels();
KernelFamily SparseLengthsKernels();
KernelFamily TensorTrainKernels();
KernelFamily TextKernels();

}  // namespace weft
