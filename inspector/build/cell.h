// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A cell: the ops of one item in one band, stacked in the order of their data, side by side where none needs
// the other. In the backward band data flows up, so the first op is at the bottom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inspector/build/op_box.h"

namespace weft {

struct CellOp {
  uint32_t box;  // into the list of boxes
  int32_t x, y;  // in the cell
};

struct CellEdge {
  int32_t x0, y0, x1, y1, mid;
  ValueId value;
};

struct Cell {
  int32_t w = 0, h = 0;
  int32_t axis = 0;                    // middle of the top line: level with the item's boxes in other bands
  uint32_t first_op = 0, num_ops = 0;  // into CellStore::ops
  uint32_t first_edge = 0, num_edges = 0;  // into CellStore::edges
};

/// All boxes and cells of a scene in the making.
struct CellStore {
  std::vector<OpBox> boxes;
  std::vector<BoxChip> chips;
  std::vector<CellOp> ops;
  std::vector<CellEdge> edges;

  /// The box of `op` in a cell; of the bundle when it is not shown alone.
  const CellOp& Find(const Cell& cell, OpId op) const;
};

/// More ops than this in one cell, and the rest is drawn as one.
inline constexpr size_t kMostInCell = 24;

/// `ops`: in op order, all of one band and item.
Cell StackCell(const Ssa& ssa, std::span<const OpId> ops, ScopeId scope, bool up, OpBoxer& boxer,
               CellStore& store);

}  // namespace weft
