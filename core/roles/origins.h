// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which forward op each gradient op of a net came from, told by planning again: the generated ops are taken
// away, the backward pass is planned anew, and what comes back under the same type and names is the same op.
// What does not come back is left to whoever reads names.
#pragma once

#include <vector>

#include "core/ir/net.h"
#include "core/ops/op_set.h"
#include "core/ssa/ssa.h"

namespace weft {

/// Per op the forward op whose rule makes it, kNoOp for all others. Empty when the net has no backward pass
/// that begins with the gradient of a loss, or when it cannot be planned. The net's SymbolTable grows.
std::vector<OpId> FindOrigins(const Net& net, const OpSet& ops);

}  // namespace weft
