// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How many bytes of a net are live at once when each value is dropped after its last reader, with what the
// nets inside its operators hold while they run, and what they keep in a workspace for a gradient. Pure,
// linear in the nets but for their nesting depth; Dims of the table that the shapes are over.
#pragma once

#include <algorithm>
#include <vector>

#include "core/pass/shapes.h"

namespace weft {

struct LiveBytes {
  // Symbols count as this when moments are compared; what depends on data counts as nothing.
  static constexpr int64_t kSymbolValue = 64;
  static int64_t Number(const ShapeTable& table, Dim dim) {
    return std::max<int64_t>(0, table.At(dim, kSymbolValue));
  }

  Dim most = 0;        // at the operator where most is live
  OpId op = kNoOp;     // that operator, the first of several; kNoOp in a net without operators
  size_t unsized = 0;  // values left out because nobody knows their size
  struct Life {
    OpId first = 0, last = 0;  // last < first: another value or the net around it counts the bytes
  };
  std::vector<Life> lives;  // by value of the outermost net
  std::vector<int64_t> at;  // by operator: what is live while it runs
};

/// Blobs from outside and external outputs live from beginning to end; an output takes the place of an input
/// that it overwrites. While an operator runs that holds nets, what they alone hold is live as well: of
/// branches, and of a loop's condition and body, the larger. Steps of a RecurrentNetwork and bodies of a Do
/// whose workspaces a later operator reads keep all that they made until then: each step, each trip of a
/// loop.
LiveBytes MostLive(const Net& net, const NetShapes& shapes, ShapeTable& table);

}  // namespace weft
