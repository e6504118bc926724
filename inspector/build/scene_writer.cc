// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/scene_writer.h"

#include <algorithm>
#include <cstring>

namespace weft {

namespace {

constexpr size_t kMostKnown = 4096;  // strings looked up for reuse; most of the rest occur once
constexpr uint32_t kBaseTile = 9;    // log2 of the smallest tile's side
constexpr uint32_t kMaxOverviewCells = 1 << 16;

int64_t Tile(int64_t at, int64_t origin, uint32_t log2) { return (at - origin) >> log2; }

}  // namespace

uint32_t SceneWriter::Text(std::string_view text) {
  if (text.empty() && !strings_.empty()) return 0;
  const auto found = known_.find(std::string(text));
  if (found != known_.end()) return found->second;
  const uint32_t index = static_cast<uint32_t>(strings_.size() / 2);
  strings_.push_back(static_cast<uint32_t>(text_.size()));
  strings_.push_back(static_cast<uint32_t>(text.size()));
  text_.append(text);
  if (known_.size() < kMostKnown) known_.emplace(text, index);
  return index;
}

SceneWriter::Box SceneWriter::BoxOf(const SceneEdge& e) {
  int32_t left = std::min(e.x0, e.x1), right = std::max(e.x0, e.x1);
  int32_t top = std::min(e.y0, e.y1), bottom = std::max(e.y0, e.y1);
  if (e.flags() & kEdgeHvh) {
    left = std::min(left, e.mid);
    right = std::max(right, e.mid);
  } else {
    top = std::min(top, e.mid);
    bottom = std::max(bottom, e.mid);
  }
  return {left, top, right - left, bottom - top};
}

void SceneWriter::SetBounds() {
  int64_t left = INT32_MAX, top = INT32_MAX, right = INT32_MIN, bottom = INT32_MIN;
  const auto add = [&](int64_t x, int64_t y, int64_t w, int64_t h) {
    left = std::min(left, x);
    top = std::min(top, y);
    right = std::max(right, x + w);
    bottom = std::max(bottom, y + h);
  };
  for (const SceneBand& b : bands) add(b.x, b.y, b.w, b.h);
  for (const SceneNode& n : groups) add(n.x, n.y, n.w, n.h);
  for (const SceneNode& n : nodes) add(n.x, n.y, n.w, n.h);
  for (const SceneEdge& e : edges) {
    const Box box = BoxOf(e);
    add(box.x, box.y, box.w, box.h);
  }
  if (left > right) left = top = right = bottom = 0;
  header.x = static_cast<int32_t>(left);
  header.y = static_cast<int32_t>(top);
  header.w = static_cast<int32_t>(right - left);
  header.h = static_cast<int32_t>(bottom - top);
}

// The new order of the elements: by level, tile row, tile column, old index. Appends the section's grids.
std::vector<uint32_t> SceneWriter::SortIntoGrid(SceneSection section, const std::vector<Box>& boxes) {
  // Levels by size, from the base tile in steps of eight; the base grows until the tiles of its level are
  // in proportion to the elements.
  uint32_t base = kBaseTile;
  const uint64_t most_tiles = 2 * boxes.size() + 1024;
  const auto tiles_at = [&](uint32_t log2) {
    return (static_cast<uint64_t>(header.w >> log2) + 1) * (static_cast<uint64_t>(header.h >> log2) + 1);
  };
  while (tiles_at(base) > most_tiles) ++base;
  const auto level_of = [&](const Box& box) {
    uint32_t level = 0;
    const int64_t size = std::max(box.w, box.h);
    while ((int64_t{1} << (base + 3 * level)) < size) ++level;
    return level;
  };
  std::vector<uint32_t> counts;
  std::vector<uint8_t> levels(boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    levels[i] = static_cast<uint8_t>(level_of(boxes[i]));
    if (counts.size() <= levels[i]) counts.resize(levels[i] + 1u, 0);
    ++counts[levels[i]];
  }
  std::vector<uint32_t> order(boxes.size()), grid_of_level(counts.size(), UINT32_MAX);
  uint32_t done = 0;
  for (uint32_t level = 0; level < counts.size(); ++level) {
    if (counts[level] == 0) continue;
    const uint32_t log2 = base + 3 * level;
    SceneGrid grid{static_cast<uint32_t>(section), log2, header.x, header.y, 0, 0, 0, 0};
    grid.cols = static_cast<uint32_t>(header.w >> log2) + 1;
    grid.rows = static_cast<uint32_t>(header.h >> log2) + 1;
    grid.first_cell = static_cast<uint32_t>(grid_cells_.size());
    grid_cells_.resize(grid_cells_.size() + size_t{grid.cols} * grid.rows + 1, 0);
    uint32_t* cells = grid_cells_.data() + grid.first_cell;
    const auto tile_of = [&](const Box& box) {
      return static_cast<size_t>(Tile(box.y, grid.y, log2)) * grid.cols +
             static_cast<size_t>(Tile(box.x, grid.x, log2));
    };
    for (size_t i = 0; i < boxes.size(); ++i)
      if (levels[i] == level) ++cells[tile_of(boxes[i]) + 1];
    cells[0] = done;
    const size_t tiles = size_t{grid.cols} * grid.rows;
    for (size_t t = 0; t < tiles; ++t) cells[t + 1] += cells[t];
    std::vector<uint32_t> next(cells, cells + tiles);
    for (size_t i = 0; i < boxes.size(); ++i)
      if (levels[i] == level) order[next[tile_of(boxes[i])]++] = static_cast<uint32_t>(i);
    done += counts[level];
    grids_.push_back(grid);
  }
  return order;
}

void SceneWriter::SortNodes() {
  std::vector<Box> boxes;
  boxes.reserve(nodes.size());
  for (const SceneNode& n : nodes) boxes.push_back({n.x, n.y, n.w, n.h});
  const std::vector<uint32_t> order = SortIntoGrid(SceneSection::kNodes, boxes);
  std::vector<SceneNode> sorted;
  std::vector<SceneChip> sorted_chips;
  std::vector<uint32_t> place(nodes.size());
  sorted.reserve(nodes.size());
  sorted_chips.reserve(chips.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    SceneNode node = nodes[order[i]];
    place[order[i]] = i;
    const uint32_t first = static_cast<uint32_t>(sorted_chips.size());
    for (uint32_t c = 0; c < node.num_chips; ++c) {
      sorted_chips.push_back(chips[node.first_chip + c]);
      sorted_chips.back().node = i;
    }
    node.first_chip = first;
    sorted.push_back(node);
  }
  nodes = std::move(sorted);
  chips = std::move(sorted_chips);
  header.num_hidden = 0;
  for (uint32_t& node : op_nodes) {
    if (node == kNone) {
      ++header.num_hidden;
    } else {
      node = place[node];
    }
  }
}

void SceneWriter::SortEdges() {
  std::vector<Box> boxes;
  boxes.reserve(edges.size());
  for (const SceneEdge& e : edges) boxes.push_back(BoxOf(e));
  const std::vector<uint32_t> order = SortIntoGrid(SceneSection::kEdges, boxes);
  std::vector<SceneEdge> sorted;
  sorted.reserve(edges.size());
  for (uint32_t i : order) sorted.push_back(edges[i]);
  edges = std::move(sorted);
}

// Cells are squares where that gives few enough of them, and each holds how much of it boxes of each role
// cover.
void SceneWriter::DrawOverview() {
  uint64_t cell_w = 8, cell_h = 8;
  const auto cols = [&] { return (static_cast<uint64_t>(header.w) + cell_w) / cell_w; };
  const auto rows = [&] { return (static_cast<uint64_t>(header.h) + cell_h) / cell_h; };
  while (cols() * rows() > kMaxOverviewCells) {
    // Very long and narrow scenes keep some columns.
    if (cols() > 64 || cols() >= rows()) cell_w *= 2;
    if (rows() > 64 || rows() >= cols()) cell_h *= 2;
  }
  header.overview_cols = static_cast<uint32_t>(cols());
  header.overview_rows = static_cast<uint32_t>(rows());
  header.overview_cell_w = static_cast<uint32_t>(cell_w);
  header.overview_cell_h = static_cast<uint32_t>(cell_h);
  const uint64_t area = cell_w * cell_h;
  std::vector<uint64_t> covered(static_cast<size_t>(cols() * rows()) * kNumRoles, 0);
  for (const SceneNode& n : nodes) {
    const uint64_t x0 = static_cast<uint64_t>(int64_t{n.x} - header.x), x1 = x0 + static_cast<uint64_t>(n.w);
    const uint64_t y0 = static_cast<uint64_t>(int64_t{n.y} - header.y), y1 = y0 + static_cast<uint64_t>(n.h);
    for (uint64_t row = y0 / cell_h; row * cell_h < y1; ++row) {
      const uint64_t high = std::min(y1, (row + 1) * cell_h) - std::max(y0, row * cell_h);
      for (uint64_t col = x0 / cell_w; col * cell_w < x1; ++col) {
        const uint64_t wide = std::min(x1, (col + 1) * cell_w) - std::max(x0, col * cell_w);
        covered[(row * cols() + col) * kNumRoles + static_cast<uint32_t>(n.role())] += wide * high;
      }
    }
  }
  overview_.resize(covered.size() / kNumRoles);
  for (size_t i = 0; i < overview_.size(); ++i) {
    uint32_t word = 0;
    for (uint32_t r = 0; r < kNumRoles; ++r) {
      const uint64_t share = covered[i * kNumRoles + r] * 255;
      // Whatever is there shows: a cell with a box in it is never empty.
      const uint64_t level = std::min<uint64_t>(255, share / area + (share > 0 && share < area));
      word |= static_cast<uint32_t>(level) << (8 * r);
    }
    overview_[i] = word;
  }
}

void SceneWriter::SetFocus(bool horizontal) {
  if (bands.empty()) return;
  SceneBand strip = bands[0];
  if (bands.size() > 1 && bands[1].role == static_cast<uint32_t>(Role::kBackward)) {
    strip.w = std::max(strip.w, bands[1].x + bands[1].w - strip.x);
    strip.h = std::max(strip.h, bands[1].y + bands[1].h - strip.y);
  }
  header.focus_x = strip.x;
  header.focus_y = strip.y;
  header.focus_w = horizontal ? std::min(strip.w, std::max(1200, strip.h)) : strip.w;
  header.focus_h = horizontal ? strip.h : std::min(strip.h, std::max(800, strip.w));
}

std::vector<uint32_t> SceneWriter::Finish() {
  SetBounds();
  SortNodes();
  SortEdges();
  DrawOverview();
  header.magic = kSceneMagic;
  header.version = 1;
  std::vector<uint32_t> words(sizeof(SceneHeader) / 4, 0);
  const auto write = [&](SceneSection section, const auto& records, uint32_t per_record) {
    using Record = typename std::decay_t<decltype(records)>::value_type;
    header.sections[static_cast<uint32_t>(section)] = {static_cast<uint32_t>(words.size()),
                                                       static_cast<uint32_t>(records.size() / per_record)};
    const size_t at = words.size(), size = (records.size() * sizeof(Record) + 15) / 16 * 4;
    words.resize(at + size, 0);
    if (!records.empty()) std::memcpy(words.data() + at, records.data(), records.size() * sizeof(Record));
  };
  size_t total = words.size() + (bands.size() + grids_.size() + chips.size() + edges.size()) * 8 +
                 (groups.size() + nodes.size()) * 12 + values.size() + op_nodes.size() + grid_cells_.size() +
                 overview_.size() + strings_.size() + text_.size() / 4 + 64;
  words.reserve(total);
  write(SceneSection::kBands, bands, 1);
  write(SceneSection::kGroups, groups, 1);
  write(SceneSection::kNodes, nodes, 1);
  write(SceneSection::kChips, chips, 1);
  write(SceneSection::kEdges, edges, 1);
  write(SceneSection::kValues, values, 1);
  write(SceneSection::kOpNodes, op_nodes, 1);
  write(SceneSection::kGrids, grids_, 1);
  write(SceneSection::kGridCells, grid_cells_, 1);
  write(SceneSection::kOverview, overview_, 1);
  write(SceneSection::kStrings, strings_, 2);
  write(SceneSection::kText, text_, 1);
  header.num_words = static_cast<uint32_t>(words.size());
  std::memcpy(words.data(), &header, sizeof header);
  return words;
}

}  // namespace weft
