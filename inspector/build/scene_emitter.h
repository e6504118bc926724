// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a finished SceneLayout into scene records with absolute positions: strips for bands and device
// columns, frames, boxes, chips, edges, the links along rows, and what shows each op. One emitter per net of
// the scene, all into one writer; `findings` are those of the outermost net.
#pragma once

#include <cstdint>
#include <vector>

#include "inspector/build/inner_net.h"
#include "inspector/build/scene_layout.h"
#include "inspector/build/scene_writer.h"

namespace weft {

class SceneEmitter {
 public:
  /// A net that is drawn in a box: where its frame is, before x and y change places.
  struct Spot {
    uint32_t shown;
    int32_t x, y;
    uint32_t group;
  };

  SceneEmitter(NetModel& model, SceneLayout& layout, const ViewOptions& options,
               const std::vector<Diagnostic>& findings, const ShownNet& shown, SceneWriter& writer);
  /// Of a net in a box.
  void PlaceAt(const Spot& spot);
  /// Of the outermost net.
  void PlaceStrips();

  /// Emits the next scope, outer first; false when all are done.
  bool Step();
  uint64_t NextCost() const;
  /// The links along rows, once all boxes are there.
  void Link();
  /// Of the outermost net, at the very end. `net`: what to put into the header.
  void Finish(NetId net);
  /// Where the nets inside this one's operators are to be emitted.
  const std::vector<Spot>& spots() const { return spots_; }

 private:
  struct Place {
    std::array<int32_t, kNumBands> x = {};  // left edge of the scope's part in each band
    int32_t y = 0;
    std::array<uint32_t, kNumBands> group;  // frame around it, kNone for none
  };
  struct RowLink {
    uint32_t from, to;  // nodes
    EdgeKind kind;
    ValueId value;  // kNone: many
    uint32_t count;
  };

  void PlaceColumn(uint32_t laid, int32_t& x, uint32_t bands);
  void AddStrip(uint32_t laid, uint32_t band, int32_t left);
  std::string StripTitle(ScopeId scope, uint32_t band);
  void EmitScope(uint32_t laid);
  void EmitItem(const LaidScope& laid, const Place& place, uint32_t child);
  void EmitOpenBox(const OpBox& box, SceneNode& node);
  void EmitCollapsed(const LaidScope& laid, const Place& place, uint32_t child);
  void EmitFrames(const LaidScope& laid, const Place& place, uint32_t child);
  void EmitEdges(const LaidScope& laid, const Place& place);
  uint32_t NodeFlagsOf(OpId op);
  /// What shows an op, in the writer.
  uint32_t& NodeOf(OpId op) {
    return shown_.is_port(op) ? port_nodes_[op] : writer_.op_nodes[shown_.NumberOf(op)];
  }
  uint32_t ScopeFlags(ScopeId scope);
  void ShowOpsBy(ScopeId scope, uint32_t band, uint32_t node);
  void LinkRiders(OpId item);
  void LinkControls(OpId op);
  void AddControlLink(uint32_t from, uint32_t to, ValueId value);
  void AddRowLink(const RowLink& link);
  void Transpose();
  std::array<int32_t, 4> CellRect(const LaidScope& laid, const Place& place, uint32_t child,
                                  uint32_t band) const;

  NetModel& model_;
  SceneLayout& layout_;
  const ViewOptions& options_;
  Arrangement& a_;
  const ShownNet& shown_;
  SceneWriter& writer_;
  std::vector<uint32_t> port_nodes_;  // by framed op
  std::vector<Spot> spots_;
  std::vector<Place> places_;  // by laid scope
  size_t next_ = 0;
  std::vector<RowLink> links_;
  std::vector<OpId> linked_items_;         // items whose riders are to be linked once all nodes are there
  std::vector<uint8_t> severity_;          // OpId -> 0 none, 1 warning, 2 error
  std::vector<uint32_t> problems_before_;  // by position: ops with a finding before it
};

}  // namespace weft
