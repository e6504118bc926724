// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The minimap: where it stands, its picture, the frame of what is in sight.
#include <algorithm>
#include <cmath>

#include "inspector/render/painter.h"

namespace weft::render {

namespace {

constexpr float kMapMargin = 12, kMapPad = 5, kMapScale = 0.6f;

}  // namespace

// In a margin of its own, where it covers nothing: at the right edge for tall graphs, at the bottom for wide
// ones. Each way has its own scale, so that a graph of a million rows is still a strip that can be pointed
// at.
void Painter::PlaceMinimap() {
  const Box2 before = minimap_;
  minimap_ = margin_ = {};
  minimap_changed_ = true;
  if (!view_ || !minimap_shown_) return;
  const SceneRect bounds = view_->bounds();
  if (bounds.w <= 0 || bounds.h <= 0) return;
  const float width = static_cast<float>(width_) / ratio_, height = static_cast<float>(height_) / ratio_;
  if (width < 420 || height < 240) return;
  // What can be read all at once needs no map.
  if (static_cast<float>(bounds.w) * kMapScale < width && static_cast<float>(bounds.h) * kMapScale < height)
    return;
  const float aspect = static_cast<float>(bounds.w) / static_cast<float>(bounds.h);
  const bool wide = aspect > 1.2f * width / height;
  const float most_w = wide ? width - 2 * kMapMargin : std::clamp(width * 0.12f, 48.0f, 76.0f);
  const float most_h = wide ? std::clamp(height * 0.12f, 48.0f, 84.0f) : height - 2 * kMapMargin;
  float w = most_w, h = w / aspect;
  if (h > most_h) h = most_h, w = h * aspect;
  w = std::clamp(w, 48.0f, most_w);
  h = std::clamp(h, 48.0f, most_h);
  minimap_ = {width - w - kMapMargin, height - h - kMapMargin, w, h};
  if (wide) {
    minimap_.x = (width - w) / 2;
    margin_ = {0, minimap_.y - kMapMargin, width, h + 2 * kMapMargin};
  } else {
    minimap_.y = kMapMargin;
    margin_ = {minimap_.x - kMapMargin, 0, w + 2 * kMapMargin, height};
  }
  minimap_changed_ = minimap_.w != before.w || minimap_.h != before.h || minimap_changed_;
}

const QuadList& Painter::PaintMinimap() {
  minimap_changed_ = false;
  minimap_quads_.Clear();
  if (!view_ || minimap_.w <= 0) return minimap_quads_;
  const SceneHeader& header = view_->header();
  const float pad = kMapPad * ratio_;
  const float w = minimap_.w * ratio_ - 2 * pad, h = minimap_.h * ratio_ - 2 * pad;
  const float sx = w / static_cast<float>(header.w), sy = h / static_cast<float>(header.h);
  for (const SceneBand& band : view_->bands()) {
    minimap_quads_.Fill(pad + static_cast<float>(band.x - header.x) * sx,
                        pad + static_cast<float>(band.y - header.y) * sy, static_cast<float>(band.w) * sx,
                        static_cast<float>(band.h) * sy,
                        WithAlpha(RoleColor(static_cast<Role>(band.role)), 0.08f));
  }
  const auto cells = view_->overview();
  const float cell_w = static_cast<float>(header.overview_cell_w) * sx;
  const float cell_h = static_cast<float>(header.overview_cell_h) * sy;
  for (uint32_t r = 0; r < header.overview_rows; ++r) {
    for (uint32_t c = 0; c < header.overview_cols; ++c) {
      const uint32_t cell = cells[r * header.overview_cols + c];
      if (cell == 0) continue;
      uint32_t most = 0, total = 0;
      for (uint32_t role = 0; role < 4; ++role) {
        total += cell >> (8 * role) & 255;
        if ((cell >> (8 * role) & 255) > (cell >> (8 * most) & 255)) most = role;
      }
      // Whole pixels, or the seams between cells make a pattern.
      const float x = std::floor(pad + static_cast<float>(c) * cell_w),
                  y = std::floor(pad + static_cast<float>(r) * cell_h);
      const float right = std::floor(pad + static_cast<float>(c + 1) * cell_w);
      const float bottom = std::floor(pad + static_cast<float>(r + 1) * cell_h);
      minimap_quads_.Fill(x, y, std::max(right - x, 1.0f), std::max(bottom - y, 1.0f),
                          WithAlpha(RoleColor(static_cast<Role>(most)),
                                    std::min(0.3f + static_cast<float>(total) / 255.0f * 0.6f, 0.85f)));
    }
  }
  const auto nodes = view_->nodes();
  const size_t step = match_nodes_.size() / 4000 + 1;
  for (size_t i = 0; i < match_nodes_.size(); i += step) {
    const SceneNode& node = nodes[match_nodes_[i]];
    const float x = pad + static_cast<float>(node.x - header.x) * sx,
                y = pad + static_cast<float>(node.y - header.y) * sy;
    minimap_quads_.Box(x - ratio_, y - ratio_,
                       std::max(static_cast<float>(node.w) * sx, 3 * ratio_) + 2 * ratio_,
                       std::max(static_cast<float>(node.h) * sy, 2 * ratio_) + ratio_, T(ThemeColor::kMatch),
                       T(ThemeColor::kInk), 0, 0.5f * ratio_);
  }
  minimap_quads_.EndLayer();
  return minimap_quads_;
}

void Painter::PaintMinimapFrame() {
  const SceneHeader& header = view_->header();
  const float x = minimap_.x * ratio_, y = minimap_.y * ratio_, w = minimap_.w * ratio_,
              h = minimap_.h * ratio_;
  const Box2 margin{margin_.x * ratio_, margin_.y * ratio_, margin_.w * ratio_, margin_.h * ratio_};
  quads_.Fill(margin.x, margin.y, margin.w, margin.h, T(ThemeColor::kPaper));
  if (margin.x > 0) {
    quads_.Fill(margin.x, 0, ratio_, margin.h, T(ThemeColor::kRule));
  } else {
    quads_.Fill(0, margin.y, margin.w, ratio_, T(ThemeColor::kRule));
  }
  quads_.EndLayer();
  quads_.Image(x, y, w, h);
  quads_.EndLayer();
  const float pad = kMapPad * ratio_;
  const double sx = (w - 2 * pad) / header.w, sy = (h - 2 * pad) / header.h;
  const double view_w = width_ / px_, view_h = height_ / px_;
  const auto clamp = [](double v, float low, float high) {
    return std::clamp(static_cast<float>(v), low, high);
  };
  const float x0 = clamp(x + pad + (camera_.x - view_w / 2 - header.x) * sx, x, x + w);
  const float x1 = clamp(x + pad + (camera_.x + view_w / 2 - header.x) * sx, x, x + w);
  const float y0 = clamp(y + pad + (camera_.y - view_h / 2 - header.y) * sy, y, y + h);
  const float y1 = clamp(y + pad + (camera_.y + view_h / 2 - header.y) * sy, y, y + h);
  const float least = 4 * ratio_;
  const float left = std::min(x0, x + w - least), top = std::min(y0, y + h - least);
  const float wide = std::max(x1 - x0, least), high = std::max(y1 - y0, least);
  quads_.Fill(left, top, wide, high, WithAlpha(T(ThemeColor::kInk), 0.07f));
  quads_.Frame(left, top, wide, high, T(ThemeColor::kInk2), ratio_);
  quads_.EndLayer();
}

void Painter::MinimapToWorld(float x, float y, double& world_x, double& world_y) const {
  const SceneRect bounds = view_ ? view_->bounds() : SceneRect{0, 0, 1, 1};
  const double u = (x - minimap_.x - kMapPad) / std::max(minimap_.w - 2 * kMapPad, 1.0f);
  const double v = (y - minimap_.y - kMapPad) / std::max(minimap_.h - 2 * kMapPad, 1.0f);
  world_x = bounds.x + std::clamp(u, 0.0, 1.0) * bounds.w;
  world_y = bounds.y + std::clamp(v, 0.0, 1.0) * bounds.h;
}

}  // namespace weft::render
