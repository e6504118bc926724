// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows: longest-path layering of a scope's children in their given order, no wider than a limit. Edges go
// from lower to higher index. Near-linear.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

struct RowEdge {
  uint32_t from, to;  // from < to
};

/// The row of each of `count` children. `edges` in rising order of `to`. Children that nothing precedes are
/// pulled down to just above their first reader; `pinned` children (data enters them from outside) are not.
std::vector<uint32_t> AssignRows(uint32_t count, const std::vector<RowEdge>& edges,
                                 const std::vector<uint8_t>& pinned, uint32_t* num_rows);

}  // namespace weft
