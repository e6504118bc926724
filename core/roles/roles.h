// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Roles: what each op of a training net is for, and which forward op it serves. The mirror layout puts an op
// on the row of its anchor: a gradient op on that of its forward op, an accumulation Sum on that of the
// blob's producer, an update on that of the parameter's first reader. Worked out from the net alone
// (is_gradient_op, operator types, "_grad" names), or from the planner's own account where there is one.
// Linear in the net.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ir/net.h"
#include "core/ops/op_set.h"
#include "core/roles/columns.h"
#include "core/roles/role.h"
#include "core/ssa/ssa.h"

namespace weft {

struct Roles {
  bool has_gradients = false;  // otherwise every op is forward, its own anchor
  std::vector<Role> role;
  std::vector<OpId> anchor;             // the op itself for forward ops, and for ops that serve none
  std::vector<uint8_t> is_gradient_of;  // 1: the op is one of its anchor's gradient ops, not an accumulation
  std::vector<BlobId> trains;           // the parameter that an update op writes, kNoBlob for others
};

/// `origins`: per op, the forward op that it was generated for, kNoOp where unknown; empty when nobody knows.
Roles FindRoles(const Net& net, const Ssa& ssa, const OpSet& ops, const Columns& columns,
                std::span<const OpId> origins);

/// What an operator's type alone tells: kCollective, kBackward for a gradient operator, kForward for all
/// else. `def` is its row, null when there is none.
Role RoleOfType(std::string_view type, const OpDef* def);

/// True when some op is marked as, or named like, a gradient operator. Quick.
bool HasGradients(const Net& net);

}  // namespace weft
