// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The blobs of a net that one probably wants to differentiate. Stateless; linear in the net.
#pragma once

#include <string>
#include <vector>

#include "core/ir/net.h"
#include "core/ops/op_set.h"
#include "core/ssa/ssa.h"

namespace weft {

struct LossCandidate {
  Symbol blob;
  OpId writer;
  std::string why;      // "what AveragedLoss calls loss"
  bool likely = false;  // else it is only a result that nobody reads
};

/// Last versions that an operator writes and nobody reads; likely ones first, each kind in the order written.
/// Likely are outputs that their operator calls a loss, and numbers.
std::vector<LossCandidate> SuggestLosses(const Net& net, const OpSet& ops);

}  // namespace weft
