// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation over the batches of all replicas: the sums of each SpatialBN, and of its gradient, are
// added over the devices before the operator uses them (semantics.md 6.5). Linear in the net.
#pragma once

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/pass/collectives.h"

namespace weft::internal {

/// The net with the operators of its replicas side by side and its batch norms combined. Devices are told
/// apart by their place in the options (B48). Errors: kInvalidArgument when the replicas do not have the
/// same operators in the same order.
Result<Net> CombineSpatialBn(Net net, const ParallelOptions& options, const ReplicaScopes& scopes);

}  // namespace weft::internal
