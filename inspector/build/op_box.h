// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The box of one op: what is written in it, its chips, its size. Sizes depend on the op and the scope it is
// in, never on where it ends up, so that repeated blocks measure the same.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/build/net_model.h"
#include "inspector/font_metrics.h"

namespace weft {

struct BoxChip {
  ChipKind kind;
  Role role;
  ValueId value;          // kNoValue for kMore,
  uint32_t more = 0;      // which counts what was left out
  std::string_view text;  // into the net's names or the boxer's texts; empty for kMore
  int32_t x = 0, y = 0, w = 0;
};

/// w is across the flow and h along it: a box's width and height where data flows down, the other way round
/// where it flows to the right. Chips are placed in the box as it is drawn.
struct OpBox {
  OpId op;
  int32_t w, h;
  uint32_t first_chip, num_chips;
  uint32_t count = 1;  // more: a bundle of that many ops, `op` the first
  std::string_view subtitle;
  int32_t head = 0;  // > 0: nets are drawn below a head of this height
};

/// A net to be drawn in the box of `op`: its size as drawn, frame included.
struct OpenNet {
  OpId op;
  uint32_t shown;  // which of the scene's nets it is
  int32_t w, h;
  std::string_view label;
};
/// Those of one op. `open` is sorted by op.
std::span<const OpenNet> OpenNetsOf(std::span<const OpenNet> open, OpId op);
/// Where the frames stand in a box with this head, as drawn: side by side. Room for all of them, with the
/// head, in `w` and `h`.
std::vector<SceneRect> PlaceFrames(std::span<const OpenNet> nets, int32_t head, int32_t& w, int32_t& h);

class OpBoxer {
 public:
  /// `open`: the nets that are drawn in their ops' boxes, sorted by op; outlives the boxer.
  OpBoxer(NetModel& model, Arrangement& arrangement, const ViewOptions& options,
          const std::vector<OpenNet>& open);

  /// Measures an op inside `scope` and appends its chips.
  OpBox Measure(OpId op, ScopeId scope, std::vector<BoxChip>& chips);
  /// A box for `count` ops from `op` on that are not shown one by one.
  OpBox MeasureBundle(OpId op, uint32_t count) const;
  /// `name` without what its surroundings say already: device, path, prefix of the scope.
  std::string_view ShortName(std::string_view name, ScopeId scope) const;

 private:
  void AddArguments(OpId op, std::vector<BoxChip>& chips);
  void FindChips(OpId op, ScopeId scope, std::vector<BoxChip>& chips);
  OpBox MeasurePort(OpId op) const;
  OpBox MeasureAsDrawn(OpId op, ScopeId scope, std::vector<BoxChip>& chips);
  std::string_view NameOf(OpId op);
  bool SameRow(OpId a, OpId b);

  NetModel& model_;
  Arrangement& a_;
  const ViewOptions& options_;
  const std::vector<OpId>& drawn_op_;
  std::deque<std::string> texts_;  // of arguments; they stay where they are
  const std::vector<OpenNet>& open_;
  std::vector<int32_t> title_width_;  // by type symbol, 0: not measured yet
};

/// Size of the box of a collapsed scope, across and along the flow.
struct BoxSize {
  int32_t w, h;
};
BoxSize MeasureScope(std::string_view label, std::string_view subtitle, bool horizontal);

}  // namespace weft
