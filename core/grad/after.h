// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What may be done with a finished plan: repeated rows of sparse gradients added up, the backward pass as a
// net of its own. Pure functions over values; linear in the plan.
#pragma once

#include "core/base/result.h"
#include "core/grad/gradient.h"

namespace weft {

enum class SliceDedup : uint8_t { kSum, kMean };

/// Caffe2's DeduplicateGradientSlices for every sparse gradient of the plan: Unique(indices) gives each row
/// once, UnsortedSegmentSum or ...Mean adds up or averages the values of each. The operators go to the plan's
/// end, under Caffe2's names ("<net>/Unique:0"), on the device of the operator that made the values; the
/// gradients become the new pairs. The net's SymbolTable grows.
void DedupSlices(const Net& net, Backward& backward, SliceDedup how);

/// The planned operators as a net called "<name>_grad": external inputs are what they read from the forward
/// net (and given gradients), external outputs the gradients. To be run after `net`, in its workspace.
Net BackwardNet(const Net& net, const Backward& backward);

}  // namespace weft
