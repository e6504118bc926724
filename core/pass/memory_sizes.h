// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How many bytes each blob of a net holds, from inferred shapes: what memory reuse goes by. Pure, linear in
// the nets.
#pragma once

#include <span>
#include <vector>

#include "core/ops/op_set.h"
#include "core/pass/memory_reuse.h"
#include "core/pass/shapes.h"

namespace weft {

/// The bytes of every blob whose type and extents are known; of several values the largest. Extents that are
/// symbols count as `symbol`. `init` (may be null) fills what the net reads; `given` describes its inputs.
std::vector<BlobBytes> InferSizes(const Net& net, const Net* init, std::span<const GivenBlob> given,
                                  const OpSet& ops, int64_t symbol = 1);
/// The same from shapes that are inferred already, over `table`.
std::vector<BlobBytes> SizesOf(const NetShapes& shapes, const ShapeTable& table, int64_t symbol);

}  // namespace weft
