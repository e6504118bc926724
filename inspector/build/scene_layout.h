// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The layout of all expanded scopes of a scene: children measured, then each scope laid out inside before the
// scope around it, which sees it as one box per band with fixed ports. Positions are relative to the scope;
// the emitter adds them up. Everything here is laid out as if data flowed down: x is across the flow, y along
// it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "inspector/build/cell.h"
#include "inspector/build/net_model.h"
#include "inspector/layout/layered.h"

namespace weft {

/// Room inside the frame of an expanded scope: its title bar is at the top, whichever way data flows.
struct FrameRoom {
  int32_t along_before, along_after, across_before, across_after;
  static FrameRoom Of(bool horizontal) {
    constexpr int32_t kTop = kGroupHeader + 8, kElse = 12;
    return horizontal ? FrameRoom{kElse, kElse, kTop, kElse} : FrameRoom{kTop, kElse, kElse, kElse};
  }
};

/// A child as its parent sees it.
struct ChildPart {
  enum Kind : uint8_t { kItem, kCollapsed, kExpanded } kind;
  uint32_t index;                            // kItem: into SceneLayout::cells (four); kExpanded: into scopes
  std::array<LayeredCell, kNumBands> cells;  // 0 wide where nothing is shown
};

struct LaidScope {
  ScopeId scope;
  std::vector<ChildPart> parts;                 // by child
  std::shared_ptr<const LayeredResult> result;  // null for a root of columns
  // Per net of `result` the values that it carries: graph(scope).values[first .. first + count).
  struct Values {
    uint32_t first, count;
  };
  std::vector<Values> net_values;
  // Values on the border, sorted, with the x of their ports.
  struct Port {
    ValueId value;
    int32_t x;
  };
  std::vector<Port> enters, leaves;
};

class SceneLayout {
 public:
  /// `open`: the nets that are drawn in the boxes of this one's ops, sorted by op.
  SceneLayout(NetModel& model, Arrangement& arrangement, const ViewOptions& options,
              std::vector<OpenNet> open = {});

  /// Scopes that are shown expanded, outer first.
  const std::vector<ScopeId>& order() const { return order_; }
  /// Measures the items of the next scope or, when all are measured, lays out the next one, from the
  /// innermost on; false when all are done.
  bool Step();
  /// Work units of the next Step.
  uint64_t NextCost() const;

  Arrangement& arrangement() { return a_; }
  const std::vector<LaidScope>& scopes() const { return scopes_; }  // as order()
  const CellStore& store() const { return store_; }
  const std::vector<Cell>& cells() const { return cells_; }  // four per item
  const FrameRoom& room() const { return room_; }
  const std::vector<OpenNet>& open() const { return open_; }
  /// Of a net without device columns, laid out: its size as drawn inside a frame, with the frame's room.
  BoxSize FramedSize(std::string_view label) const;
  bool shows(uint32_t band) const { return (bands_ >> band) & 1; }
  /// Where in a frame's cell the part of the scope begins: in the middle of the room there is.
  int32_t InnerX(const LayeredCell& cell, int32_t width) const {
    return room_.across_before + (cell.w - width - room_.across_before - room_.across_after) / 2;
  }
  /// Ops of a scope in a band.
  uint32_t CountOps(ScopeId scope, uint32_t band) const;
  /// Which labels a collapsed scope carries.
  std::string CountText(uint32_t ops) const;

 private:
  void CountByBand();
  void MeasureItems(LaidScope& laid);
  void MeasureScopes(LaidScope& laid);
  void LayOutScope(LaidScope& laid);
  void AddNets(const LaidScope& laid, const ScopeGraph& graph, LayeredInput& input,
               std::vector<LaidScope::Values>& values);
  LayeredPin PinOf(const LaidScope& laid, uint32_t band, uint32_t child, OpId op, ValueId value, bool source,
                   bool bundled) const;
  void FindPorts(LaidScope& laid, const ScopeGraph& graph);

  NetModel& model_;
  Arrangement& a_;
  uint32_t bands_;
  bool horizontal_;
  FrameRoom room_;
  std::vector<OpenNet> open_;
  OpBoxer boxer_;
  std::vector<uint8_t> expanded_;
  std::vector<ScopeId> order_;
  std::vector<uint32_t> laid_of_;  // ScopeId -> index in scopes_
  std::vector<LaidScope> scopes_;
  size_t measured_ = 0;  // scopes whose items are measured, from the outermost on
  size_t next_;          // scopes before this one are still to be laid out
  CellStore store_;
  std::vector<LayeredCell> least_;  // drawn op -> what its row needs in any column; empty: nothing to level
  std::vector<Cell> cells_;
  std::vector<std::array<uint32_t, kNumBands>> count_before_;  // by position, mirror only
};

}  // namespace weft
