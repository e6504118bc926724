// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A backward pass as `weft grad --json` tells it: besides the operators and gradients what is added up, what
// of the forward pass is kept for it and how long, and, where there can be no pass, what stands in the way.
#pragma once

#include <string>
#include <vector>

#include "core/grad/gradient.h"
#include "core/grad/repair.h"

namespace weft::cli {

/// `net` is the forward net that the plan fits, `before` the one that a repair began with.
std::string PlanJson(const Net& before, const Net& net, const RepairedPlan& plan);

/// {"error":{...}} with all "conflicts" that the options lead to, for an error kVersionConflict.
std::string ConflictsJson(const Net& net, GradientOptions options, const Error& error);

}  // namespace weft::cli
