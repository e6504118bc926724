// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A control-flow operator that writes a blob only on some paths passes its old value through on the others:
// the old value is an input, whether the operator lists it or not. Builders often don't. The planner lists
// it, on a copy.
#pragma once

#include "core/ir/net.h"
#include "core/ops/op_set.h"

namespace weft::internal {

/// True when the net holds Do, If, AsyncIf or While operators from operator `first` on.
bool HoldsControlFlow(const Net& net, const OpSet& ops, size_t first);

/// Adds to each of those operators the outputs that it does not read, that the net made or was given before,
/// and that may depend on something.
void CompleteControlInputs(Net& net, const OpSet& ops);

/// The Do of a loop body with every blob that it writes among its inputs: from the second iteration on each
/// has a value.
Op CompleteLoopBody(const Net& net, const Op& body);

}  // namespace weft::internal
