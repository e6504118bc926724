// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The session's answers about single ops, blobs and lines, worked out from a NetModel. Stateless.
#pragma once

#include <vector>

#include "inspector/build/net_model.h"
#include "inspector/session.h"

namespace weft {

/// All but the nets of arguments, which the session numbers.
OpDetails DescribeOp(NetModel& model, OpId op, LayoutMode mode);
BlobDetails DescribeBlob(NetModel& model, BlobId blob, uint32_t first, uint32_t count);
std::vector<OpId> NeighboursOf(NetModel& model, OpId op, Direction direction);
std::vector<OpId> ConeOf(NetModel& model, OpId op, Direction direction, uint32_t depth);
ScopeInfo DescribeScope(Arrangement& arrangement, ScopeId scope);
ListingLine ListOp(NetModel& model, OpId op);
/// "net resnet50 (567 ops)" and the like: the lines before the ops.
std::vector<ListingLine> ListHead(NetModel& model);

}  // namespace weft
