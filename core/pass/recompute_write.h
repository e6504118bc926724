// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A net with operators of its forward pass once more in its backward pass, as recompute.h says. Pure, linear
// but for one sort.
#pragma once

#include "core/pass/recompute_model.h"

namespace weft::internal {

/// What `trial` runs again, in front of what needs it. `ssa` is that of the shapes that the model is made of.
Net WithRecomputed(const Net& net, const Ssa& ssa, const RecomputeModel& model,
                   const RecomputeModel::Trial& trial);

}  // namespace weft::internal
