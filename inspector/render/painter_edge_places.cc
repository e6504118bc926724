// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where something may be written beside edges: no box, no title of a frame and not the minimap is to be
// covered.
#include <algorithm>
#include <cmath>

#include "inspector/font_metrics.h"
#include "inspector/render/painter.h"
#include "inspector/render/text.h"

namespace weft::render {

std::vector<Box2> Painter::Taken(const SceneRect& visible) const {
  std::vector<Box2> taken;
  std::vector<IndexRange> ranges;
  const float r = 1 / ratio_;
  FindVisible(*view_, SceneSection::kNodes, visible, ranges);
  for (const IndexRange& range : ranges) {
    for (uint32_t i = range.first; i < range.last; ++i) {
      const SceneNode& node = view_->nodes()[i];
      const float w = L(static_cast<float>(node.w)), h = L(static_cast<float>(node.h));
      taken.push_back({X(node.x) * r, Y(node.y) * r, w * r, h * r});
    }
  }
  for (const SceneNode& group : view_->groups()) {
    const float x = X(group.x), y = Y(group.y), w = L(static_cast<float>(group.w)), h = L(kTitleBaseline + 2);
    if (x > width_ || y > height_ || y + h < 0) continue;
    const float title = render::TextWidth(view_->text(group.title), L(kTitleSize - 1), Weight::kSemiBold);
    taken.push_back({x * r, y * r, std::min(title + L(2 * kTextPad), w) * r, h * r});
  }
  return taken;
}

std::vector<EdgePlace> Painter::EdgePlaces(size_t most, float line) const {
  std::vector<EdgePlace> out;
  if (!view_ || camera_.scale < kFullScale) return out;
  const double w = width_ / px_, h = height_ / px_;
  const SceneRect visible{ClampToInt(camera_.x - w / 2), ClampToInt(camera_.y - h / 2), ClampToInt(w),
                          ClampToInt(h)};
  const std::vector<Box2> taken = Taken(visible);
  std::vector<IndexRange> ranges;
  FindVisible(*view_, SceneSection::kEdges, visible, ranges);
  const auto seen = [&](uint32_t value) {
    return std::any_of(out.begin(), out.end(), [&](const EdgePlace& at) { return at.value == value; });
  };
  for (const IndexRange& range : ranges) {
    for (uint32_t i = range.first; i < range.last && out.size() < most; ++i) {
      const SceneEdge& edge = view_->edges()[i];
      const auto values = view_->edge_values(edge);
      const bool in_sight = edge.x0 >= visible.x && edge.x0 < visible.x + visible.w && edge.y0 >= visible.y &&
                            edge.y0 < visible.y + visible.h;
      if (edge.kind() != EdgeKind::kData || !in_sight || values.empty() || seen(values[0])) continue;
      EdgePlace at{
          values[0], edge.count, X(edge.x0) / ratio_, Y(edge.y0) / ratio_, (edge.flags() & kEdgeUp) != 0,
          0,         0};
      float end = width_ / ratio_;
      if (edge.flags() & kEdgeHvh) {  // the next box stands close beside: there is room below the writer
        const auto writer = std::find_if(taken.begin(), taken.end(), [&](const Box2& box) {
          return at.y >= box.y && at.y <= box.y + box.h &&
                 std::min(std::abs(box.x + box.w - at.x), std::abs(box.x - at.x)) < 2;
        });
        if (writer != taken.end()) {
          at.x = writer->x, at.y = writer->y + writer->h, at.up = false;
          end = std::min(end, writer->x + writer->w + L(2 * kTextPad) / ratio_);
        }
      }
      FindRoom(taken, line, end, at);
      out.push_back(at);
    }
  }
  return out;
}

void Painter::FindRoom(const std::vector<Box2>& taken, float line, float end, EdgePlace& at) const {
  const float top = at.up ? at.y - line : at.y + 1, bottom = at.up ? at.y - 1 : at.y + line;
  if (margin_.w > 0 && (margin_.x > 0 || bottom > margin_.y)) end = std::min(end, margin_.x);
  at.left = at.x;
  at.right = end - at.x;
  if (at.right < 0) at.left = at.right = 0;  // under the minimap
  for (const Box2& box : taken) {
    if (box.y >= bottom || box.y + box.h <= top) continue;
    if (box.x + box.w > at.x) at.right = std::min(at.right, std::max(box.x - at.x, 0.0f));
    if (box.x < at.x) at.left = std::min(at.left, std::max(at.x - box.x - box.w, 0.0f));
  }
}

}  // namespace weft::render
