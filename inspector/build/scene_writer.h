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
