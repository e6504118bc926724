// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Replicas: are the device columns of a data-parallel net the same? Two columns are when their ops have the
// same types, arguments, and versions of the same blobs once the device is taken out of their names, in
// whatever order they are written. Where they are not, the ops without an equal are named. n log n.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/net.h"
#include "core/roles/columns.h"
#include "core/ssa/ssa.h"

namespace weft {

struct ReplicaComparison {
  std::vector<uint8_t> same_as;  // column -> the first column that equals it (itself if none before)
  std::vector<uint8_t> differs;  // OpId -> 1: the op has no equal in some other column
  std::vector<OpId> drawn_op;    // OpId -> its equal in the column `same_as`; the op itself elsewhere
};

ReplicaComparison CompareReplicas(const Net& net, const Ssa& ssa, const Columns& columns);

}  // namespace weft
