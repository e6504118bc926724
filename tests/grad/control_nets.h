// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nets with control flow in a few lines, and whether their planned gradients are right: what tests of If,
// While and Do share.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/grad/after.h"
#include "core/grad/repair.h"
#include "core/run/tensor.h"

namespace weft::test {

using TensorFeeds = std::vector<std::pair<std::string, Tensor>>;

/// One-dimensional floats; rows of `columns` floats; int32 indices.
Tensor Floats(const std::vector<float>& values);
Tensor Rows(const std::vector<float>& values, int64_t columns);
Tensor Indices(const std::vector<int32_t>& values);

/// Appends operators as in support/compact_net.h. Scale scales by 0.5.
void AddOps(Net& net, std::string_view text);
/// Appends `ConstantFill() -> name`, one bool.
void AddFlag(Net& net, std::string_view name, bool value);
/// A body of operators over the net's symbols.
Net Body(const Net& net, std::string_view text);
/// Appends an If. Blobs of `net` and of the nets around it are those that its branches share with it.
void AddIf(Net& net, std::string_view cond, const Net& then_body, const Net* else_body = nullptr,
           const std::vector<const Net*>& around = {});
/// Appends a While that runs its body `times` times.
void AddLoop(Net& net, int times, const Net& body, const std::vector<const Net*>& around = {});

/// Plans (with repair and all else that the options say), runs, and compares the gradient of every fed float
/// blob with central differences of the losses ("y z=g"), in double where all kernels can: to 1e-6 there, to
/// a part in a thousand in float. A blob without a gradient must have no influence. Runs twice, since a
/// workspace is used again and again. Returns the plan, empty on failure.
RepairedPlan ExpectRightGradients(Net& net, std::string_view losses, const TensorFeeds& feeds,
                                  GradientOptions options = {});

}  // namespace weft::test
