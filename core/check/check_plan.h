// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings about a plan: its steps, the order in which its nets run, and each of its nets. A pure function,
// linear in the plan.
#pragma once

#include <vector>

#include "core/check/check_net.h"
#include "core/ir/plan.h"

namespace weft {

/// Findings about the steps of `plan` first (`path` is "step outer/inner"), then about each net (`path`
/// starts with the net's name).
std::vector<Diagnostic> CheckPlan(const Plan& plan, const CheckOptions& options);

}  // namespace weft
