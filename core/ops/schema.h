// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Caffe2's OpSchema::Verify: does an operator keep to its row of the table? The checks in Caffe2's order, in
// its words (semantics section 4). Stateless.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_def.h"

namespace weft {

/// The first thing wrong with `op`, an operator of `net` whose row is `def`. Errors: kSchema with Caffe2's
/// message; `blob` is set for in-place breaches. Cheap for operators that are right.
Result<void> VerifySchema(const OpDef& def, const Net& net, const Op& op);

/// Everything wrong with it, in the same order; empty when nothing is.
std::vector<Error> SchemaErrors(const OpDef& def, const Net& net, const Op& op);

}  // namespace weft
