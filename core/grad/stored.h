// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The backward pass that a net holds already, found by the marks that generated operators carry. Pure
// functions over values; linear in the net.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/grad/gradient.h"

namespace weft {

/// ConstantFill(blob) -> blob + suffix: a start gradient.
bool IsSeed(const Net& net, const Op& op, std::string_view suffix);
/// The marks of a generated operator: is_gradient_op, the tag of sums, or a start gradient's name.
bool IsGenerated(const Net& net, const Op& op);

struct StoredPass {
  OpId begin = 0, end = 0;  // the generated operators
  std::vector<Loss> losses;
  DevicePtr device;  // of the start gradients that the pass makes itself
};

/// The pass, nullopt where no operator is marked as generated. Errors: kInvalidArgument when the generated
/// operators do not stand together: then it is not one pass.
Result<std::optional<StoredPass>> FindStoredPass(const Net& net);

/// A net's forward part, its stored pass away; what stands behind the pass goes to `tail`.
Net TakeStoredPassAway(Net net, const StoredPass& pass, std::vector<Op>& tail);

}  // namespace weft
