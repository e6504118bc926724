// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a net needs only while it learns, taken out: for a part that ClonePartial or Cut took from a training
// net. Linear in the net.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"
#include "core/ssa/ssa.h"

namespace weft {

struct InferenceNet {
  Net net;
  std::vector<OpId> removed;    // ops of the original that are gone
  std::vector<OpId> test_mode;  // ops of the original that got is_test=1
  std::vector<OpId> kept;       // ops that could have gone or changed, but somebody needs what they write
};

/// Dropout, SpatialBN and RoIPool work in test mode and write their first output only, so no statistics of a
/// training net are touched. Dropout, StopGradient and Copy (on one device) are removed where their readers
/// can read the input instead: not where the output is an external output, is read by a nested net or by a
/// control input, is updated in place by an op that must, or where the input is overwritten before the last
/// reader.
InferenceNet StripForInference(const Net& net, const OpSet& ops);

}  // namespace weft
