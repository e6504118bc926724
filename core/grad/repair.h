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
  std::vector<OpId> was;             // per operator of `forward`: its index in the net, kNoOp for a new copy
};

/// A plan made without repair, with its net: `changed` when nets inside operators had to be rewritten.
RepairedPlan WithRepairedOps(const Net& net, Backward backward);

/// What a repair changed in `before`, as a diff: "- 3  Relu(h) -> h", "+ 3  Relu(h_auto_0) -> h", a line for
/// each operator that is another now, before and after, and for each new one. Empty when nothing changed.
std::string RepairListing(const Net& before, const RepairedPlan& plan);

/// Plans; with options.repair, repairs first what stands in the way. Errors: as GradientPlanner.
Result<RepairedPlan> PlanWithRepair(const Net& net, const OpSet& ops, const GradientOptions& options);

}  // namespace weft
