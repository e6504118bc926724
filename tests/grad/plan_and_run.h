// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Small nets in one line (support/compact_net.h), their backward pass, and its values: what tests of the
// planner share.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/grad/gradient.h"
#include "core/ops/op_set.h"

namespace weft::test {

/// "y z=g w=rows,values": losses, with the gradients given for them.
std::vector<Loss> ReadLosses(Net& net, std::string_view losses);
Result<Backward> PlanFor(Net& net, std::string_view losses, GradientOptions options = {});

/// "Relu(x) -> y; ..." of the generated operators.
std::string OpsOf(const Net& net, const Backward& backward);
/// "x_grad", "(rows, values)" or "" for none.
std::string GradientOf(const Net& net, const Backward& backward, std::string_view blob);

using Values = std::map<std::string, std::vector<float>>;  // one-dimensional tensors by name

/// The values of `names` after `net` ran on `feeds`; a failure is a test failure and gives {}.
Values RunFor(const Net& net, const Values& feeds, const std::vector<std::string>& names);

/// Runs the net with its backward pass, and compares the gradient of each blob of `wrt` (fed, dense) with
/// central differences of the losses, each weighed by the gradient given for it (ones when none is). To a
/// part in a hundred.
void ExpectNumericGradients(const Net& net, const Backward& backward, std::string_view losses,
                            const Values& feeds, const std::vector<std::string>& wrt);

}  // namespace weft::test
