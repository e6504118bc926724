// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Repair: where a gradient needs a version of a blob that a later operator overwrites, the forward net is
// rewritten so that the version survives. Its writer and readers get a new name for it, or, where the name
// must stay (an external blob, an operator that has to work in place), the reader gets a copy. The blob's
// last version keeps its name, so what the net computes does not change.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/grad/gradient.h"

namespace weft {

struct RepairedPlan {
  Backward backward;  // fits `forward` when `changed`, else the net as it was
  bool changed = false;
  Net forward;                       // only when `changed`
  std::vector<std::string> changes;  // what was done, a line each, in order
};

/// Plans; with options.repair, repairs first what stands in the way. Errors: as GradientPlanner.
Result<RepairedPlan> PlanWithRepair(const Net& net, const OpSet& ops, const GradientOptions& options);

}  // namespace weft
