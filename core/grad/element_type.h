// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The element type of a value where the net itself says it: by the cast, fill or loss that made it, perhaps a
// few operators back. Stateless.
#pragma once

#include "core/ir/data_type.h"
#include "core/ir/net.h"
#include "core/ssa/ssa.h"

namespace weft::internal {

/// The type of `value`, which `ssa` (of net.ops from `op_offset` on) knows; kUndefined when the net does not
/// say. Looks at a bounded number of operators.
DataType ElementType(const Net& net, const Ssa& ssa, size_t op_offset, ValueId value);

}  // namespace weft::internal
