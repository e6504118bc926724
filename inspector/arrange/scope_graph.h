// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows: longest-path layering of a scope's children in their given order, with a limit to their width. Edges
// go from lower to higher index. Near-linear.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

struct RowEdge {
  uint32_t from, to;  // from < to
};

/// The row of each child. `sizes`: how many items each child holds; a row takes children until they are about
/// as wide as the whole is high. `edges` in rising order of `to`. Children that nothing precedes are pulled
/// down to just above their first reader; `pinned` children (data enters them from outside) are not.
std::vector<uint32_t> AssignRows(const std::vector<uint32_t>& sizes, const std::vector<RowEdge>& edges,
                                 const std::vector<uint8_t>& pinned, uint32_t* num_rows);

}  // namespace weft
