// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of CheckNet that look at operators one by one: control inputs, and what the operator set says.
#pragma once

#include <string>

#include "core/check/check_net.h"
#include "core/ssa/ssa.h"

namespace weft::internal {

/// Control inputs that name a blob written only later (Caffe2 then orders the two the other way round,
/// without a word), that close a cycle, or that name nothing.
void CheckControlInputs(const Net& net, const Ssa& ssa, const std::string& path, Findings& findings);

/// Unknown operators, schema and in-place breaches, operators that can't run elsewhere.
void CheckOperators(const Net& net, const CheckOptions& options, const std::string& path, Findings& findings);

}  // namespace weft::internal
