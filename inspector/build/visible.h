// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a scene shows: which scopes are expanded, and the expanded ones in order, outer before inner.
#pragma once

#include <cstdint>
#include <vector>

#include "inspector/build/net_model.h"

namespace weft {

/// Scopes to expand, outer first, level by level while everything shown stays within `budget` boxes. The root
/// and the drawn device columns are always among them.
std::vector<ScopeId> DefaultExpansion(Arrangement& arrangement, bool fold_replicas, uint32_t budget);

/// Per scope: 1 when it is expanded and so are all around it; columns drawn by another one are not.
std::vector<uint8_t> ExpandedScopes(Arrangement& arrangement, const ViewOptions& options);

/// The expanded scopes depth first: a parent before its children, in their order.
std::vector<ScopeId> ExpandedInOrder(const ScopeTree& tree, const std::vector<uint8_t>& expanded);

/// True for a device column that a scene with these options does not draw.
bool IsFoldedAway(Arrangement& arrangement, ScopeId scope, bool fold_replicas);

}  // namespace weft
