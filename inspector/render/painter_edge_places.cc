// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where something may be written beside edges: no box and no title of a frame is to be covered.
#include <algorithm>
#include <cmath>

#include "inspector/font_metrics.h"
#include "inspector/render/painter.h"
#include "inspector/render/text.h"

namespace weft::render {
namespace {

/// As far as a line of text may reach to either side, CSS pixels.
constexpr float kReach = 600;

float Css(int32_t at, double origin, const Sight& sight) {
  return static_cast<float>((at - origin) * sight.scale);
}

/// The world below a rectangle of the sight.
SceneRect World(const Sight& sight, const Box2& box) {
  const auto whole = [](double v) {
    return static_cast<int32_t>(std::clamp(v, -2147483000.0, 2147483000.0));
  };
  return {whole(std::floor(sight.x + box.x / sight.scale)), whole(std::floor(sight.y + box.y / sight.scale)),
          whole(std::ceil(box.w / sight.scale) + 1), whole(std::ceil(box.h / sight.scale) + 1)};
}

/// Boxes and titles of frames around a part of the sight.
std::vector<Box2> Taken(const SceneView& scene, const Sight& sight, const Box2& around) {
  std::vector<Box2> taken;
  std::vector<IndexRange> ranges;
  const SceneRect world = World(sight, around);
  const auto place = [&](const SceneNode& node, float w, float h) {
    taken.push_back({Css(node.x, sight.x, sight), Css(node.y, sight.y, sight), w, h});
  };
  const float scale = static_cast<float>(sight.scale);
  FindVisible(scene, SceneSection::kNodes, world, ranges);
  for (const IndexRange& range : ranges) {
    for (uint32_t i = range.first; i < range.last; ++i) {
      const SceneNode& node = scene.nodes()[i];
      place(node, static_cast<float>(node.w) * scale, static_cast<float>(node.h) * scale);
    }
  }
  for (const SceneNode& group : scene.groups()) {
    if (!world.Overlaps({group.x, group.y, group.w, kGroupHeader})) continue;
    const float title = render::TextWidth(scene.text(group.title), kGroupTitleSize, Weight::kSemiBold);
    place(group, std::min(title + 2 * kTextPad, static_cast<float>(group.w)) * scale,
          (kTitleBaseline + 2) * scale);
  }
  return taken;
}

/// Sets `left` and `right` of a place for a line as high as `line` that ends at `end`.
void FindRoom(const std::vector<Box2>& taken, const Sight& sight, float line, float end, EdgePlace& at) {
  const float top = at.up ? at.y - line : at.y + 1, bottom = at.up ? at.y - 1 : at.y + line;
  at.left = at.right = 0;
  if (bottom > sight.h || at.x > end) return;  // it would be cut
  at.left = std::min(at.x, kReach);
  at.right = std::min(end - at.x, kReach);
  for (const Box2& box : taken) {
    if (box.y >= bottom || box.y + box.h <= top) continue;
    if (box.x + box.w > at.x) at.right = std::min(at.right, std::max(box.x - at.x, 0.0f));
    if (box.x < at.x) at.left = std::min(at.left, std::max(at.x - box.x - box.w, 0.0f));
  }
}

}  // namespace

std::vector<EdgePlace> FindEdgePlaces(const SceneView& scene, const Sight& sight, const Box2& part,
                                      size_t most, float line) {
  std::vector<EdgePlace> out;
  if (sight.scale < kFullScale) return out;
  const SceneRect starts = World(sight, part);
  const std::vector<Box2> taken =
      Taken(scene, sight, {part.x - kReach, part.y - 2 * line, part.w + 2 * kReach, part.h + 4 * line});
  std::vector<IndexRange> ranges;
  FindVisible(scene, SceneSection::kEdges, starts, ranges);
  const auto seen = [&](uint32_t value) {
    return std::any_of(out.begin(), out.end(), [&](const EdgePlace& at) { return at.value == value; });
  };
  for (const IndexRange& range : ranges) {
    for (uint32_t i = range.first; i < range.last && out.size() < most; ++i) {
      const SceneEdge& edge = scene.edges()[i];
      const auto values = scene.edge_values(edge);
      if (edge.kind() != EdgeKind::kData || !starts.Contains(edge.x0, edge.y0) || values.empty() ||
          seen(values[0]))
        continue;
      EdgePlace at{values[0],
                   edge.count,
                   Css(edge.x0, sight.x, sight),
                   Css(edge.y0, sight.y, sight),
                   (edge.flags() & kEdgeUp) != 0,
                   0,
                   0};
      float end = sight.w;
      if (edge.flags() & kEdgeHvh) {  // the next box stands close beside: there is room below the writer
        const auto writer = std::find_if(taken.begin(), taken.end(), [&](const Box2& box) {
          return at.y >= box.y && at.y <= box.y + box.h &&
                 std::min(std::abs(box.x + box.w - at.x), std::abs(box.x - at.x)) < 2;
        });
        if (writer != taken.end()) {
          at.x = writer->x, at.y = writer->y + writer->h, at.up = false;
          end = std::min(end, writer->x + writer->w + 2 * kTextPad * static_cast<float>(sight.scale));
        }
      }
      FindRoom(taken, sight, line, end, at);
      out.push_back(at);
    }
  }
  return out;
}

}  // namespace weft::render
