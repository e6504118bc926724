// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collects the records of a scene in any order and writes the block that scene.h describes: sorted into grid
// tiles, strings stored once, overview drawn. Used once per scene.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inspector/scene.h"

namespace weft {

inline constexpr int32_t kStripPad = 20;   // from a strip's edge to what is in it
inline constexpr int32_t kStripHead = 44;  // room for its heading
inline constexpr int32_t kBandGap = 40;    // between strips
inline constexpr std::string_view kBandNames[kNumRoles] = {"Forward", "Backward", "Update", "Collectives"};

inline uint32_t NodeStyle(NodeKind kind, Role role, uint32_t flags) {
  return static_cast<uint32_t>(kind) | (static_cast<uint32_t>(role) << 8) | (flags << 16);
}
inline uint32_t EdgeStyle(EdgeKind kind, Role role, uint32_t flags) {
  return static_cast<uint32_t>(kind) | (static_cast<uint32_t>(role) << 8) | (flags << 16);
}

class SceneWriter {
 public:
  SceneHeader header{};
  std::vector<SceneBand> bands;
  std::vector<SceneNode> groups, nodes;
  std::vector<SceneChip> chips;  // SceneChip::node is the index into `nodes` before sorting
  std::vector<SceneEdge> edges;
  std::vector<uint32_t> values;
  std::vector<uint32_t> op_nodes;  // into `nodes` before sorting

  SceneWriter() { Text(""); }
  /// The index of a string; equal strings in a row and recurring short ones are stored once.
  uint32_t Text(std::string_view text);

  /// Where to look first: at the first strip, and at the backward one when it is next to it.
  void SetFocus(bool horizontal);
  /// The block. Sorts and sets indices, bounds and the grid. Leaves the writer empty.
  std::vector<uint32_t> Finish();

 private:
  struct Box {
    int32_t x, y, w, h;
  };
  void SetBounds();
  std::vector<uint32_t> SortIntoGrid(SceneSection section, const std::vector<Box>& boxes);
  void SortNodes();
  void SortEdges();
  void DrawOverview();
  static Box BoxOf(const SceneEdge& edge);

  std::vector<uint32_t> strings_;  // offset, length pairs
  std::string text_;
  std::unordered_map<std::string, uint32_t> known_;  // only looked up
  std::vector<SceneGrid> grids_;
  std::vector<uint32_t> grid_cells_;
  std::vector<uint32_t> overview_;
};

}  // namespace weft
