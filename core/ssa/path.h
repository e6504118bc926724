// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which operators lie between some values and others.
#pragma once

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/ssa/ssa.h"

namespace weft {

/// The operators needed to compute `wanted` when `given` are there, in net order. Linear in the net.
std::vector<OpId> OpsBetween(const Ssa& ssa, std::span<const ValueId> given, std::span<const ValueId> wanted);

/// Caffe2's get_op_ids_in_path: the same for blobs at their latest version. Errors: kNotFound naming the blob
/// that the net does not know.
Result<std::vector<OpId>> OpsInPath(const Net& net, const Ssa& ssa, std::span<const Symbol> inputs,
                                    std::span<const Symbol> outputs);

/// The latest values of `blobs`. `what` ("input") and the nearest names go into the message. Errors:
/// kNotFound.
Result<std::vector<ValueId>> LatestValues(const Net& net, const Ssa& ssa, std::span<const Symbol> blobs,
                                          std::string_view what);

}  // namespace weft
