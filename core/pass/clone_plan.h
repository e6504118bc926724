// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A copy of a plan that can live beside the original: nets, steps and blobs under names of their own. Pure,
// linear in the plan.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ir/plan.h"

namespace weft {

struct ClonePlanOptions {
  std::string prefix{};        // before the names of the plan, its nets, steps and blobs; "" is a plain copy
  std::vector<Symbol> keep{};  // blobs that both share: data that others feed, results that are collected
};

/// Steps call the nets of the copy; stop blobs follow. Errors: kNameConflict when a new name is one that the
/// plan has already; those of RenamePrefix.
Result<Plan> ClonePlan(const Plan& plan, const ClonePlanOptions& options);

}  // namespace weft
