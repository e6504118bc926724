// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The families of operators, one file each under core/ops: the only list of them. A family that is declared
// and not written is a link error.
#pragma once

#include <vector>

#include "core/ops/op_def.h"

namespace weft {

OpFamily ActivationOps();
OpFamily ElementwiseOps();
OpFamily ArithmeticOps();
OpFamily LinearOps();
OpFamily ConvOps();
OpFamily PoolOps();
OpFamily NormOps();
OpFamily ImageOps();
OpFamily LossOps();
OpFamily MetricOps();
OpFamily FillOps();
OpFamily ReduceOps();
OpFamily ShapeOps();
OpFamily IndexOps();
OpFamily SparseLengthsOps();
OpFamily SegmentOps();
OpFamily SequenceOps();
OpFamily RnnOps();
OpFamily OptimizerOps();
OpFamily OptimizerFusedOps();
OpFamily ControlOps();
OpFamily MemoryOps();
OpFamily CollectiveOps();
OpFamily DetectionOps();
OpFamily DetectronOps();
OpFamily QuantizedOps();
OpFamily Int8Ops();
OpFamily IoOps();
OpFamily DatasetOps();
OpFamily QueueOps();
OpFamily TextOps();
OpFamily FeatureOps();
OpFamily HostOps();

/// All of them.
std::vector<OpFamily> StandardFamilies();

}  // namespace weft
