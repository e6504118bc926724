// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/scene.h"

#include <algorithm>
#include <cstdlib>

namespace weft {

namespace {

constexpr uint32_t kHeaderWords = sizeof(SceneHeader) / 4;
// Words per record; kText counts bytes.
constexpr std::array<uint32_t, kNumSceneSections> kRecordWords = {8, 12, 12, 8, 8, 1, 1, 8, 1, 1, 2, 0};

bool NodesAreSound(std::span<const SceneNode> nodes, size_t groups, size_t chips, size_t strings) {
  for (const SceneNode& node : nodes) {
    if (node.title >= strings || node.subtitle >= strings) return false;
    if (node.group != kNone && node.group >= groups) return false;
    if (uint64_t{node.first_chip} + node.num_chips > chips) return false;
  }
  return true;
}

bool GridsAreSound(const SceneView& view) {
  const std::span<const uint32_t> cells = view.grid_cells();
  for (const SceneGrid& grid : view.grids()) {
    const bool is_nodes = grid.section == static_cast<uint32_t>(SceneSection::kNodes);
    if (!is_nodes && grid.section != static_cast<uint32_t>(SceneSection::kEdges)) return false;
    const size_t elements = is_nodes ? view.nodes().size() : view.edges().size();
    const uint64_t tiles = uint64_t{grid.cols} * grid.rows;
    if (grid.log2_tile > 31 || tiles == 0 || grid.first_cell + tiles + 1 > cells.size()) return false;
    for (uint64_t i = 0; i <= tiles; ++i) {
      const uint32_t first = cells[grid.first_cell + i];
      if (first > elements || (i > 0 && first < cells[grid.first_cell + i - 1])) return false;
    }
  }
  return true;
}

bool NearSegment(int64_t x, int64_t y, int64_t x0, int64_t y0, int64_t x1, int64_t y1, int64_t slack) {
  return x >= std::min(x0, x1) - slack && x <= std::max(x0, x1) + slack && y >= std::min(y0, y1) - slack &&
         y <= std::max(y0, y1) + slack;
}

bool NearEdge(const SceneEdge& e, int32_t x, int32_t y, int32_t slack) {
  if (e.flags() & kEdgeHvh) {
    return NearSegment(x, y, e.x0, e.y0, e.mid, e.y0, slack) ||
           NearSegment(x, y, e.mid, e.y0, e.mid, e.y1, slack) ||
           NearSegment(x, y, e.mid, e.y1, e.x1, e.y1, slack);
  }
  return NearSegment(x, y, e.x0, e.y0, e.x0, e.mid, slack) ||
         NearSegment(x, y, e.x0, e.mid, e.x1, e.mid, slack) ||
         NearSegment(x, y, e.x1, e.mid, e.x1, e.y1, slack);
}

SceneRect RectOf(const SceneNode& node) { return {node.x, node.y, node.w, node.h}; }

}  // namespace

std::optional<SceneView> SceneView::Open(std::span<const uint32_t> words) {
  if (words.size() < kHeaderWords) return std::nullopt;
  const SceneView view(words);
  const SceneHeader& header = view.header();
  if (header.magic != kSceneMagic || header.version != 1 || header.num_words != words.size())
    return std::nullopt;
  for (uint32_t s = 0; s < kNumSceneSections; ++s) {
    const SceneSectionRange& range = header.sections[s];
    const uint64_t size =
        kRecordWords[s] > 0 ? uint64_t{range.count} * kRecordWords[s] : (uint64_t{range.count} + 3) / 4;
    if (range.offset % 4 != 0 || range.offset < kHeaderWords || range.offset + size > words.size())
      return std::nullopt;
  }
  const size_t strings = view.num_strings();
  const uint64_t bytes = view.Range(SceneSection::kText).count;
  for (uint32_t i = 0; i < strings; ++i) {
    const uint32_t* entry = words.data() + view.Range(SceneSection::kStrings).offset + size_t{i} * 2;
    if (uint64_t{entry[0]} + entry[1] > bytes) return std::nullopt;
  }
  for (const SceneBand& band : view.bands())
    if (band.title >= strings) return std::nullopt;
  if (!NodesAreSound(view.groups(), view.groups().size(), 0, strings)) return std::nullopt;
  if (!NodesAreSound(view.nodes(), view.groups().size(), view.chips().size(), strings)) return std::nullopt;
  for (const SceneChip& chip : view.chips())
    if (chip.text >= strings || chip.node >= view.nodes().size()) return std::nullopt;
  for (const SceneEdge& edge : view.edges())
    if ((edge.flags() & kEdgeBundle) && uint64_t{edge.value} + edge.count > view.values().size())
      return std::nullopt;
  for (uint32_t node : view.op_nodes())
    if (node != kNone && node >= view.nodes().size()) return std::nullopt;
  if (uint64_t{header.overview_cols} * header.overview_rows != view.overview().size()) return std::nullopt;
  if (!GridsAreSound(view)) return std::nullopt;
  return view;
}

std::string_view SceneView::text(uint32_t string) const {
  const uint32_t* entry = words_.data() + Range(SceneSection::kStrings).offset + size_t{string} * 2;
  const char* bytes = reinterpret_cast<const char*>(words_.data() + Range(SceneSection::kText).offset);
  return {bytes + entry[0], entry[1]};
}

void FindVisible(const SceneView& scene, SceneSection section, const SceneRect& rect,
                 std::vector<IndexRange>& ranges) {
  ranges.clear();
  if (rect.w <= 0 || rect.h <= 0) return;
  for (const SceneGrid& grid : scene.grids()) {
    if (grid.section != static_cast<uint32_t>(section)) continue;
    const int64_t tile = int64_t{1} << grid.log2_tile;
    // Tile of a coordinate; the arithmetic shift rounds down for what lies before the origin.
    const auto tile_of = [&](int64_t at, int64_t origin) { return (at - origin) >> grid.log2_tile; };
    const int64_t row0 = std::max<int64_t>(0, tile_of(int64_t{rect.y} - tile, grid.y));
    const int64_t row1 = std::min<int64_t>(grid.rows - 1, tile_of(int64_t{rect.y} + rect.h - 1, grid.y));
    const int64_t col0 = std::max<int64_t>(0, tile_of(int64_t{rect.x} - tile, grid.x));
    const int64_t col1 = std::min<int64_t>(grid.cols - 1, tile_of(int64_t{rect.x} + rect.w - 1, grid.x));
    if (col0 > col1) continue;
    const uint32_t* cells = scene.grid_cells().data() + grid.first_cell;
    for (int64_t row = row0; row <= row1; ++row) {
      const uint32_t first = cells[row * grid.cols + col0];
      const uint32_t last = cells[row * grid.cols + col1 + 1];
      if (first == last) continue;
      if (!ranges.empty() && ranges.back().last == first) {
        ranges.back().last = last;
      } else {
        ranges.push_back({first, last});
      }
    }
  }
}

Hit HitTest(const SceneView& scene, int32_t x, int32_t y, int32_t slack) {
  std::vector<IndexRange> ranges;
  FindVisible(scene, SceneSection::kNodes, {x, y, 1, 1}, ranges);
  for (const IndexRange& range : ranges) {
    for (uint32_t i = range.first; i < range.last; ++i) {
      const SceneNode& node = scene.nodes()[i];
      if (!RectOf(node).Contains(x, y)) continue;
      for (uint32_t c = node.first_chip; c < node.first_chip + node.num_chips; ++c) {
        const SceneChip& chip = scene.chips()[c];
        if (SceneRect{chip.x, chip.y, chip.w, chip.h}.Contains(x, y)) return {HitKind::kChip, c};
      }
      return {HitKind::kNode, i};
    }
  }
  FindVisible(scene, SceneSection::kEdges, {x - slack, y - slack, 2 * slack + 1, 2 * slack + 1}, ranges);
  for (const IndexRange& range : ranges)
    for (uint32_t i = range.first; i < range.last; ++i)
      if (NearEdge(scene.edges()[i], x, y, slack)) return {HitKind::kEdge, i};
  for (size_t i = scene.groups().size(); i-- > 0;)
    if (RectOf(scene.groups()[i]).Contains(x, y)) return {HitKind::kGroup, static_cast<uint32_t>(i)};
  for (size_t i = 0; i < scene.bands().size(); ++i) {
    const SceneBand& band = scene.bands()[i];
    if (SceneRect{band.x, band.y, band.w, band.h}.Contains(x, y))
      return {HitKind::kBand, static_cast<uint32_t>(i)};
  }
  return {};
}

uint32_t NearestNode(const SceneView& scene, uint32_t from, Direction direction) {
  if (from >= scene.nodes().size()) return kNone;
  const SceneNode& start = scene.nodes()[from];
  const int64_t cx = int64_t{start.x} * 2 + start.w, cy = int64_t{start.y} * 2 + start.h;  // twice the centre
  const bool vertical = direction == Direction::kUp || direction == Direction::kDown;
  const int64_t sign = direction == Direction::kDown || direction == Direction::kRight ? 1 : -1;
  std::vector<IndexRange> ranges;
  for (const int32_t reach : {250, 1000, 4000}) {
    const int32_t x = static_cast<int32_t>(cx / 2), y = static_cast<int32_t>(cy / 2);
    SceneRect rect{x - reach, y - reach, 2 * reach, 2 * reach};
    if (vertical) {
      rect.h = reach;
      if (sign > 0) rect.y = y;
    } else {
      rect.w = reach;
      if (sign > 0) rect.x = x;
    }
    FindVisible(scene, SceneSection::kNodes, rect, ranges);
    uint32_t best = kNone;
    int64_t best_cost = 0;
    for (const IndexRange& range : ranges) {
      for (uint32_t i = range.first; i < range.last; ++i) {
        const SceneNode& node = scene.nodes()[i];
        const int64_t dx = int64_t{node.x} * 2 + node.w - cx, dy = int64_t{node.y} * 2 + node.h - cy;
        const int64_t along = (vertical ? dy : dx) * sign, across = std::abs(vertical ? dx : dy);
        if (along <= 0 || !rect.Overlaps(RectOf(node))) continue;
        const int64_t cost = along + 2 * across;
        if (best == kNone || cost < best_cost) {
          best = i;
          best_cost = cost;
        }
      }
    }
    if (best != kNone) return best;
  }
  return kNone;
}

}  // namespace weft
