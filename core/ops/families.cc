// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/families.h"

#include "core/ops/op_set.h"

namespace weft {

std::vector<OpFamily> StandardFamilies() {
  return {ActivationOps(), ElementwiseOps(), ArithmeticOps(), LinearOps(),    ConvOps(),
          PoolOps(),       NormOps(),        ImageOps(),      LossOps(),      MetricOps(),
          FillOps(),       ReduceOps(),      ShapeOps(),      IndexOps(),     SparseLengthsOps(),
          SegmentOps(),    SequenceOps(),    RnnOps(),        OptimizerOps(), OptimizerFusedOps(),
          ControlOps(),    MemoryOps(),      CollectiveOps(), DetectionOps(), DetectronOps(),
          QuantizedOps(),  Int8Ops(),        IoOps(),         DatasetOps(),   QueueOps(),
          TextOps(),       FeatureOps(),     HostOps()};
}

const OpSet& StandardOps() {
  static const OpSet ops(StandardFamilies());
  return ops;
}

}  // namespace weft
