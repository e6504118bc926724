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
#include "core/pass/shapes.h"

namespace weft::cli {

/// What is known of blobs from outside, to tell the bytes of what is kept.
struct KnownShapes {
  ShapeTable table;
  std::vector<GivenBlob> given;
};

/// `net` is the forward net that the plan fits, `before` the one that a repair began with. With `known`,
/// values that are kept have "bytes", and "kept" sums them.
std::string PlanJson(const Net& before, const Net& net, const RepairedPlan& plan, KnownShapes* known);

/// {"error":{...}} with all "conflicts" that the options lead to, for an error kVersionConflict.
std::string ConflictsJson(const Net& net, GradientOptions options, const Error& error);

}  // namespace weft::cli
