// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the planner says when it can't go on: which gradient needs what, what is in the way, and the remedy.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/grad/gradient.h"
#include "core/ir/net.h"
#include "core/ssa/ssa.h"

namespace weft::internal {

/// "op 3 FC(x, w, b) -> y": long lists are cut.
std::string DescribeOp(const Net& net, size_t index);

/// A version conflict with the blob's history. `op_offset`: what to add to the Ssa's op indices to get the
/// net's.
Error VersionConflictError(const Net& net, const Ssa& ssa, size_t op_offset, const VersionConflict& conflict);

/// "; did you mean loss?", or "" when no blob of the net has a name like this.
std::string NearestBlob(const Net& net, const Ssa& ssa, std::string_view name);

/// What to do when a rule complains: "Gradient of output h is not provided!", or is sparse, or dense.
std::string MissingGradientRemedy(std::string_view complaint);

/// Caffe2's own words, with its version numbers (which start at 0 also for a blob that is written first).
/// `what` is "output" or "input", or "" for the gradient of an output, whose name is then `gradient`.
Error Caffe2VersionError(const Net& net, const Ssa& ssa, size_t op_offset, OpId op, ValueId needed,
                         ValueId current, std::string_view what, Symbol gradient);

}  // namespace weft::internal
