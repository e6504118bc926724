// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/render/painter.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "inspector/font_metrics.h"
#include "inspector/render/text.h"

namespace weft::render {
namespace {

constexpr uint32_t kVeil = 1u << 31;  // of a tint
/// Below this many device pixels a stroke or a gap is left out.
constexpr float kSeen = 0.35f;
/// Edges fade out towards this scale, where they would be a grey mass.
constexpr double kEdgesGone = 0.025, kEdgesFull = 0.12;
/// Down to here a box shows its title where the title, set smaller, can still be read.
constexpr double kSmallTitleScale = 0.2;
constexpr float kGroupFill = 0.8f;  // how much of a frame's colour covers what is below it

Color Tinted(Color color, uint32_t tint) {
  return Mix(color, Rgba(tint & 0xffffff), static_cast<float>((tint & ~kVeil) >> 24) / 127);
}

/// The middle of a device pixel, so that thin upright lines are sharp.
float Snap(float v) { return std::floor(v) + 0.5f; }

}  // namespace

Color Mix(Color a, Color b, float t) {
  Color out = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const float x = static_cast<float>(a >> shift & 255), y = static_cast<float>(b >> shift & 255);
    out |= static_cast<uint32_t>(x + (y - x) * t + 0.5f) << shift;
  }
  return out;
}

bool Painter::SetScene(std::vector<uint32_t> words) {
  view_.reset();
  words_ = std::move(words);
  view_ = SceneView::Open(words_);
  for (std::vector<uint8_t>* marks : {&node_marks_, &group_marks_, &edge_marks_, &chip_marks_})
    marks->clear();
  match_nodes_.clear();
  tints_.clear();
  cell_tints_.clear();
  PlaceMinimap();
  return view_.has_value();
}

void Painter::SetSize(int width, int height, float ratio) {
  width_ = std::max(width, 1);
  height_ = std::max(height, 1);
  ratio_ = ratio > 0 ? ratio : 1;
  half_w_ = std::floor(static_cast<float>(width_) / 2);
  half_h_ = std::floor(static_cast<float>(height_) / 2);
  PlaceMinimap();
}

void Painter::SetMark(Mark mark, std::span<const uint32_t> ops, std::span<const uint32_t> scopes,
                      std::span<const uint32_t> values) {
  if (!view_) return;
  const uint8_t bit = static_cast<uint8_t>(1u << static_cast<uint32_t>(mark));
  const auto clear = [&](std::vector<uint8_t>& marks, size_t size) {
    marks.resize(size, 0);
    for (uint8_t& m : marks) m &= static_cast<uint8_t>(~bit);
  };
  const auto nodes = view_->nodes();
  const auto groups = view_->groups();
  clear(node_marks_, nodes.size());
  clear(group_marks_, groups.size());
  for (uint32_t op : ops) {
    if (op >= view_->op_nodes().size()) continue;
    const uint32_t node = view_->op_nodes()[op];
    if (node < nodes.size()) node_marks_[node] |= bit;
  }
  if (!scopes.empty()) {
    const auto has = [&](uint32_t id) { return std::find(scopes.begin(), scopes.end(), id) != scopes.end(); };
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind() == NodeKind::kScope && has(nodes[i].id)) node_marks_[i] |= bit;
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      if (has(groups[i].id)) group_marks_[i] |= bit;
    }
  }
  if (!values.empty() || !edge_marks_.empty()) {
    std::vector<uint32_t> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const auto has = [&](uint32_t value) { return std::binary_search(sorted.begin(), sorted.end(), value); };
    const auto edges = view_->edges();
    const auto chips = view_->chips();
    clear(edge_marks_, edges.size());
    clear(chip_marks_, chips.size());
    if (!sorted.empty()) {
      for (size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].kind() == NodeKind::kPort && has(nodes[i].id)) node_marks_[i] |= bit;
      for (size_t i = 0; i < edges.size(); ++i) {
        const auto ids = view_->edge_values(edges[i]);
        if (std::any_of(ids.begin(), ids.end(), has)) edge_marks_[i] |= bit;
      }
      for (size_t i = 0; i < chips.size(); ++i) {
        if (has(chips[i].value)) chip_marks_[i] |= bit;
      }
    }
  }
  if (mark == Mark::kMatch) {
    match_nodes_.clear();
    for (size_t i = 0; i < node_marks_.size(); ++i) {
      if (node_marks_[i] & bit) match_nodes_.push_back(static_cast<uint32_t>(i));
    }
    minimap_changed_ = true;
  }
}

void Painter::SetTint(std::span<const uint32_t> by_op) {
  tints_.clear();
  cell_tints_.clear();
  if (!view_ || by_op.empty()) return;
  const SceneHeader& header = view_->header();
  const auto nodes = view_->nodes();
  const auto op_nodes = view_->op_nodes();
  constexpr uint32_t kNotYet = ~0u;
  const auto put = [](uint32_t& have, uint32_t tint) {
    if (have == kNotYet) {
      have = tint;
      return;
    }
    const uint32_t most = (tint & ~kVeil) >> 24 > (have & ~kVeil) >> 24 ? tint : have;
    have = (most & ~kVeil) | (have & tint & kVeil);
  };
  tints_.assign(nodes.size(), kNotYet);
  cell_tints_.assign(view_->overview().size(), kNotYet);
  for (size_t op = 0; op < std::min(by_op.size(), op_nodes.size()); ++op) {
    if (op_nodes[op] >= nodes.size()) continue;
    const SceneNode& node = nodes[op_nodes[op]];
    put(tints_[op_nodes[op]], by_op[op]);
    const int64_t column = (int64_t{node.x} + node.w / 2 - header.x) / std::max(header.overview_cell_w, 1u);
    const int64_t row = (int64_t{node.y} + node.h / 2 - header.y) / std::max(header.overview_cell_h, 1u);
    const size_t cell = static_cast<size_t>(row * header.overview_cols + column);
    if (cell < cell_tints_.size()) put(cell_tints_[cell], by_op[op]);
  }
  for (std::vector<uint32_t>* tints : {&tints_, &cell_tints_})
    std::replace(tints->begin(), tints->end(), kNotYet, 0u);
}

Color Painter::RoleColor(Role role) const {
  switch (role) {
    case Role::kForward:
      return T(ThemeColor::kForward);
    case Role::kBackward:
      return T(ThemeColor::kBackward);
    case Role::kUpdate:
      return T(ThemeColor::kUpdate);
    case Role::kCollective:
      return T(ThemeColor::kCollective);
  }
  return T(ThemeColor::kCollective);
}

const QuadList& Painter::Paint(const Camera& camera) {
  camera_ = camera;
  px_ = camera.scale * ratio_;
  quads_.Clear();
  if (!view_) return quads_;
  const double w = width_ / px_, h = height_ / px_;
  const int32_t x0 = ClampToInt(std::floor(camera.x - w / 2) - 2),
                y0 = ClampToInt(std::floor(camera.y - h / 2) - 2);
  const SceneRect visible{x0, y0, ClampToInt(std::ceil(w) + 5), ClampToInt(std::ceil(h) + 5)};
  PaintBands();
  if (camera.scale < kOverviewScale) {
    PaintOverview();
  } else {
    PaintGroups();
    PaintEdges(visible);
    quads_.EndLayer();
    PaintGroupTitles();
    PaintNodes(visible);
  }
  quads_.EndLayer();
  PaintHeadings();
  quads_.EndLayer();
  if (minimap_.w > 0) PaintMinimapFrame();
  if (band_.w != 0) {
    const float x = std::min(band_.x, band_.x + band_.w) * ratio_, w = std::fabs(band_.w) * ratio_;
    const float y = std::min(band_.y, band_.y + band_.h) * ratio_, h = std::fabs(band_.h) * ratio_;
    quads_.Fill(x, y, w, h, WithAlpha(T(ThemeColor::kInk), 0.06f));
    quads_.Frame(x, y, w, h, T(ThemeColor::kInk), ratio_);
    quads_.EndLayer();
  }
  return quads_;
}

void Painter::PaintOverview() {
  const SceneHeader& header = view_->header();
  const auto cells = view_->overview();
  const double cell_w = header.overview_cell_w * px_, cell_h = header.overview_cell_h * px_;
  const auto first = [](double at, double size) { return static_cast<int64_t>(std::floor(at / size)); };
  // Only the cells on the screen; several cells that share a pixel are drawn as one.
  const double left = (static_cast<double>(header.x) - camera_.x) * px_ + half_w_;
  const double top = (static_cast<double>(header.y) - camera_.y) * px_ + half_h_;
  const int64_t c0 = std::clamp<int64_t>(first(-left, cell_w), 0, header.overview_cols);
  const int64_t c1 = std::clamp<int64_t>(first(width_ - left, cell_w) + 1, 0, header.overview_cols);
  const int64_t r0 = std::clamp<int64_t>(first(-top, cell_h), 0, header.overview_rows);
  const int64_t r1 = std::clamp<int64_t>(first(height_ - top, cell_h) + 1, 0, header.overview_rows);
  const int64_t dc = std::max<int64_t>(1, static_cast<int64_t>(std::floor(1.5 / cell_w)));
  const int64_t dr = std::max<int64_t>(1, static_cast<int64_t>(std::floor(1.5 / cell_h)));
  for (int64_t r = r0; r < r1; r += dr) {
    for (int64_t c = c0; c < c1; c += dc) {
      uint32_t sum[4] = {0, 0, 0, 0}, looked = 0;
      for (int64_t i = r; i < std::min(r + dr, r1); ++i) {
        for (int64_t j = c; j < std::min(c + dc, c1); ++j) {
          const uint32_t cell = cells[static_cast<size_t>(i * header.overview_cols + j)];
          for (int role = 0; role < 4; ++role) sum[role] += cell >> (8 * role) & 255;
          ++looked;
        }
      }
      const uint32_t total = sum[0] + sum[1] + sum[2] + sum[3];
      if (total == 0) continue;
      Role most = Role::kForward;
      for (uint32_t role = 1; role < 4; ++role) {
        if (sum[role] > sum[static_cast<uint32_t>(most)]) most = static_cast<Role>(role);
      }
      const float cover = static_cast<float>(total) / (255.0f * static_cast<float>(looked));
      uint32_t tint = 0;
      for (int64_t i = r; i < std::min(r + dr, r1) && !cell_tints_.empty(); ++i) {
        for (int64_t j = c; j < std::min(c + dc, c1); ++j) {
          const uint32_t one = cell_tints_[static_cast<size_t>(i * header.overview_cols + j)];
          if ((one & ~kVeil) >> 24 >= (tint & ~kVeil) >> 24) tint = one;
        }
      }
      veiled_ = tint & kVeil;
      const Color color = Tinted(RoleColor(most), tint);
      veiled_ = false;
      quads_.Fill(static_cast<float>(left + c * cell_w), static_cast<float>(top + r * cell_h),
                  std::max(static_cast<float>(cell_w * dc), ratio_),
                  std::max(static_cast<float>(cell_h * dr), ratio_),
                  WithAlpha(color, std::clamp(0.25f + cover, 0.25f, 0.9f)));
    }
  }
}

void Painter::PaintBands() {
  for (const SceneBand& band : view_->bands()) {
    const float x = X(band.x), y = Y(band.y), w = L(static_cast<float>(band.w)),
                h = L(static_cast<float>(band.h));
    if (x > width_ || y > height_ || x + w < 0 || y + h < 0) continue;
    const Role role = static_cast<Role>(band.role);
    const float top = std::max(y, -8.0f), bottom = std::min(y + h, static_cast<float>(height_) + 8);
    quads_.Fill(x, top, w, bottom - top, WithAlpha(RoleColor(role), 0.035f));
  }
}

void Painter::PaintGroups() {
  const auto groups = view_->groups();
  for (uint32_t i = 0; i < groups.size(); ++i) {
    const SceneNode& group = groups[i];
    const float x = X(group.x), y = Y(group.y), w = L(static_cast<float>(group.w)),
                h = L(static_cast<float>(group.h));
    if (x > width_ || y > height_ || x + w < 0 || y + h < 0) continue;
    const bool selected = Has(group_marks_, i, Mark::kSelected), hover = Has(group_marks_, i, Mark::kHover);
    const Color border = selected ? T(ThemeColor::kSelect)
                         : hover  ? T(ThemeColor::kInk3)
                                  : T(ThemeColor::kGroupBorder);
    quads_.Fill(x, y, w, h, WithAlpha(T(ThemeColor::kGroup), kGroupFill));
    quads_.Frame(x, y, w, h, border, (selected ? 2 : 1) * ratio_);
  }
}

// Over the edges, which pass beneath a plate of the frame's own colour.
void Painter::PaintGroupTitles() {
  if (camera_.scale < kTitleScale) return;
  const float size = L(kGroupTitleSize), pad = L(kGroupTitlePad);
  for (const SceneNode& group : view_->groups()) {
    const float x = X(group.x), y = Y(group.y), w = L(static_cast<float>(group.w));
    if (x > width_ || y > height_ || x + w < 0 || y + L(kGroupHeader) < 0) continue;
    const float left = x + L(kTextPad), baseline = y + L(kTitleBaseline - 2);
    const float drawn = DrawText(quads_, view_->text(group.title), left, baseline, size, Weight::kSemiBold,
                                 T(ThemeColor::kInk2), w - L(2 * kTextPad));
    const Color plate =
        Mix(T(ThemeColor::kPaper), T(ThemeColor::kGroup), group.group == kNone ? kGroupFill : 1);
    if (drawn > 0) quads_.Fill(left - pad, baseline - size, drawn + 2 * pad, size * 1.3f, plate);
  }
}

void Painter::PaintEdges(const SceneRect& visible) {
  // The index gives whole tiles; a tile of long edges is large.
  const auto in_sight = [&](const SceneEdge& e) {
    const bool hvh = e.flags() & kEdgeHvh;
    const auto [x0, x1] = hvh ? std::minmax({e.x0, e.x1, e.mid}) : std::minmax({e.x0, e.x1});
    const auto [y0, y1] = hvh ? std::minmax({e.y0, e.y1}) : std::minmax({e.y0, e.y1, e.mid});
    return x1 >= visible.x && x0 <= visible.x + visible.w && y1 >= visible.y && y0 <= visible.y + visible.h;
  };
  const double fade = std::clamp((camera_.scale - kEdgesGone) / (kEdgesFull - kEdgesGone), 0.0, 1.0);
  FindVisible(*view_, SceneSection::kEdges, visible, ranges_);
  const auto edges = view_->edges();
  const uint8_t strong =
      1u << static_cast<uint32_t>(Mark::kSelected) | 1u << static_cast<uint32_t>(Mark::kHover);
  if (fade > 0) {
    for (const IndexRange& range : ranges_) {
      for (uint32_t i = range.first; i < range.last; ++i) {
        if (i < edge_marks_.size() && (edge_marks_[i] & strong)) continue;
        if (in_sight(edges[i])) PaintEdge(edges[i], i);
      }
    }
  }
  // Marked ones last, so that nothing crosses them.
  if (edge_marks_.empty()) return;
  for (const IndexRange& range : ranges_) {
    for (uint32_t i = range.first; i < range.last; ++i) {
      if ((edge_marks_[i] & strong) && in_sight(edges[i])) PaintEdge(edges[i], i);
    }
  }
}

void Painter::PaintEdge(const SceneEdge& edge, uint32_t index) {
  const bool selected = Has(edge_marks_, index, Mark::kSelected),
             hover = Has(edge_marks_, index, Mark::kHover);
  const bool marked = selected || hover;
  const bool hvh = edge.flags() & kEdgeHvh;
  float width = std::clamp(1.25f * static_cast<float>(camera_.scale), 0.6f, 1.6f) * ratio_;
  const float fade =
      static_cast<float>(std::clamp((camera_.scale - kEdgesGone) / (kEdgesFull - kEdgesGone), 0.0, 1.0));
  Color color = WithAlpha(T(ThemeColor::kEdge), fade);
  uint32_t pattern = kSolid;
  switch (edge.kind()) {
    case EdgeKind::kData:
      if (edge.role() != Role::kForward)
        color = WithAlpha(Mix(T(ThemeColor::kEdge), RoleColor(edge.role()), 0.35f), fade);
      break;
    case EdgeKind::kStash:
      if (!marked && camera_.scale < 0.18) return;
      color = WithAlpha(T(ThemeColor::kStash), fade * 0.75f);
      pattern = kDotted;
      width = std::min(width, ratio_);
      break;
    case EdgeKind::kUpdate:
      color = WithAlpha(Mix(T(ThemeColor::kEdge), T(ThemeColor::kUpdate), 0.4f), fade);
      break;
    case EdgeKind::kControl:
      pattern = kDashed;
      break;
  }
  if (edge.flags() & kEdgeBundle) width *= edge.count > 8 ? 1.9f : 1.4f;
  if (marked) {
    color = selected ? T(ThemeColor::kSelect) : T(ThemeColor::kInk2);
    const float stash = edge.kind() == EdgeKind::kStash ? 0.7f : 1.0f;
    width = std::max(width, (selected ? 2.0f : 1.6f) * stash * ratio_);
  }

  // Three stretches with rounded corners between; degenerate ones drop out.
  const float x0 = Snap(X(edge.x0)), y0 = Snap(Y(edge.y0)), x1 = Snap(X(edge.x1)), y1 = Snap(Y(edge.y1));
  float xs[4], ys[4];
  if (hvh) {
    const float mid = Snap(X(edge.mid));
    xs[0] = x0, xs[1] = mid, xs[2] = mid, xs[3] = x1;
    ys[0] = y0, ys[1] = y0, ys[2] = y1, ys[3] = y1;
  } else {
    const float mid = Snap(Y(edge.mid));
    xs[0] = x0, xs[1] = x0, xs[2] = x1, xs[3] = x1;
    ys[0] = y0, ys[1] = mid, ys[2] = mid, ys[3] = y1;
  }
  const float bend = hvh ? std::fabs(y1 - y0) : std::fabs(x1 - x0);
  const bool arrow = (edge.flags() & kEdgeArrow) && camera_.scale >= kTitleScale * 0.6f;
  const float tip = arrow ? std::min(L(6), 9 * ratio_) : 0;
  const float end_x = xs[3], end_y = ys[3];
  int last = 3;
  if (bend < 0.5f) {
    xs[1] = xs[3], ys[1] = ys[3];
    last = 1;
  }
  const float from_x = xs[last - 1], from_y = ys[last - 1];
  const auto sign = [](float v) { return v > 0 ? 1.0f : v < 0 ? -1.0f : 0.0f; };
  const float dx = sign(end_x - from_x), dy = sign(end_y - from_y);
  if (arrow) xs[last] -= dx * tip * 0.8f, ys[last] -= dy * tip * 0.8f;
  if (last == 1) {
    quads_.Line(xs[0], ys[0], xs[1], ys[1], color, width, pattern);
  } else {
    const auto length = [&](int i) { return std::fabs(xs[i + 1] - xs[i]) + std::fabs(ys[i + 1] - ys[i]); };
    const float radius = std::min({L(6), length(0), length(1) / 2, length(2)});
    if (radius < 1.5f * ratio_) {
      for (int i = 0; i < 3; ++i) {
        if (length(i) >= kSeen) quads_.Line(xs[i], ys[i], xs[i + 1], ys[i + 1], color, width, pattern);
      }
    } else {
      float px = xs[0], py = ys[0];
      for (int i = 1; i <= 2; ++i) {
        const float ax = sign(xs[i] - xs[i - 1]), ay = sign(ys[i] - ys[i - 1]);
        const float bx = sign(xs[i + 1] - xs[i]), by = sign(ys[i + 1] - ys[i]);
        const float qx = xs[i] - ax * radius, qy = ys[i] - ay * radius;
        quads_.Line(px, py, qx, qy, color, width, pattern);
        // The circle's centre lies back along the way in and forward along the way out.
        const float cx = xs[i] - ax * radius + bx * radius, cy = ys[i] - ay * radius + by * radius;
        const float left = std::min(cx, xs[i]), top = std::min(cy, ys[i]);
        quads_.Arc(left, top, radius, (cx > xs[i] ? 1u : 0u) | (cy > ys[i] ? 2u : 0u), color, width);
        px = xs[i] + bx * radius, py = ys[i] + by * radius;
      }
      quads_.Line(px, py, xs[3], ys[3], color, width, pattern);
    }
  }
  if (!arrow) return;
  const float half = tip * 0.42f;
  if (dy > 0)
    quads_.Triangle(end_x - half, end_y - tip, 2 * half, tip, 0, color);
  else if (dy < 0)
    quads_.Triangle(end_x - half, end_y, 2 * half, tip, 2, color);
  else if (dx > 0)
    quads_.Triangle(end_x - tip, end_y - half, tip, 2 * half, 1, color);
  else if (dx < 0)
    quads_.Triangle(end_x, end_y - half, tip, 2 * half, 3, color);
}

void Painter::PaintNodes(const SceneRect& visible) {
  FindVisible(*view_, SceneSection::kNodes, visible, ranges_);
  const auto nodes = view_->nodes();
  for (const IndexRange& range : ranges_) {
    for (uint32_t i = range.first; i < range.last; ++i) {
      veiled_ = i < tints_.size() && (tints_[i] & kVeil);
      PaintNode(nodes[i], i);
    }
  }
  veiled_ = false;
}

void Painter::PaintNode(const SceneNode& node, uint32_t index) {
  const float x = X(node.x), y = Y(node.y), w = L(static_cast<float>(node.w)),
              h = L(static_cast<float>(node.h));
  if (x > width_ || y > height_ || x + w < 0 || y + h < 0) return;
  const uint32_t marks = index < node_marks_.size() ? node_marks_[index] : 0;
  const auto is = [&](Mark mark) { return (marks >> static_cast<uint32_t>(mark) & 1) != 0; };
  const Role role = node.role();
  const Color accent = RoleColor(role);
  const bool error = node.flags() & kNodeError;
  const bool scope = node.kind() == NodeKind::kScope || node.kind() == NodeKind::kBundle;

  Color fill = T(ThemeColor::kBox), border = T(ThemeColor::kBoxBorder);
  if (is(Mark::kMatch)) fill = Mix(fill, T(ThemeColor::kMatch), 0.6f);
  const uint32_t tint = index < tints_.size() ? tints_[index] : 0;
  if (camera_.scale < kTitleScale) {
    // Small boxes say what they are by colour; the tint grows as the type's name goes.
    const float t = std::clamp((kTitleScale - static_cast<float>(camera_.scale)) / 0.2f, 0.0f, 1.0f);
    if (!is(Mark::kMatch)) fill = Mix(fill, accent, tints_.empty() ? 0.5f * t : 0.12f * t);
    border = Mix(border, accent, 0.5f * t);
    if (h < 5 * ratio_) {
      fill = Tinted(fill, tint);
      if (is(Mark::kMatch)) fill = T(ThemeColor::kMatch);
      if (is(Mark::kSelected)) fill = T(ThemeColor::kSelect);
      quads_.Fill(x, y, std::max(w, ratio_), std::max(h, 0.8f * ratio_), fill);
      return;
    }
  }
  fill = Tinted(fill, tint);
  float stroke = ratio_;
  if (error) border = T(ThemeColor::kError), stroke = 1.6f * ratio_;
  if (is(Mark::kRelated)) border = T(ThemeColor::kInk2), stroke = 1.4f * ratio_;
  if (is(Mark::kHover)) border = T(ThemeColor::kInk2);
  if (is(Mark::kSelected)) border = T(ThemeColor::kSelect), stroke = 2.2f * ratio_;

  // Forward: slightly rounded. Backward: cut corners. Update: round ends. Collective: square.
  uint32_t pattern = kSolid;
  float radius = L(4);
  if (role == Role::kBackward) pattern = kCut, radius = L(5);
  if (role == Role::kUpdate) radius = std::min(L(11), h / 2);
  if (role == Role::kCollective) radius = 0;
  if (node.kind() == NodeKind::kPort) {
    quads_.Box(x, y, w, h, Mix(fill, T(ThemeColor::kPaper), 0.6f), border, h / 2, stroke);
    if (camera_.scale < kTitleScale) return;
    const float left = x + L(kTextPad + 2), room = w - L(2 * kTextPad), size = L(kSubtitleSize);
    const std::string_view name = view_->text(node.title);
    DrawText(quads_, name, left, y + L(kPortBaseline), size, Weight::kRegular, T(ThemeColor::kInk), room);
    const float used = render::TextWidth(name, size, Weight::kRegular) + L(7);
    if (node.subtitle != 0 && used < room)
      DrawText(quads_, view_->text(node.subtitle), left + used, y + L(kPortBaseline), L(kChipSize),
               Weight::kRegular, T(ThemeColor::kInk3), room - used);
    return;
  }
  if (scope && camera_.scale >= 0.1) {
    const float step = std::min(L(3), 4 * ratio_);
    for (int i = camera_.scale < kTitleScale ? 1 : 2; i >= 1; --i) {
      quads_.Box(x + step * i, y + step * i, w, h, T(ThemeColor::kBox), border, radius, ratio_, pattern);
    }
  }
  quads_.Box(x, y, w, h, fill, border, radius, stroke, pattern);

  if (camera_.scale >= 0.2) {
    const float bar = L(3), inset = role == Role::kUpdate ? radius * 0.75f : L(5);
    const float bar_x = x + stroke, bar_h = h - 2 * inset;
    if (role == Role::kBackward) {
      quads_.Box(bar_x, y + inset, bar * 0.4f, bar_h, accent);
      quads_.Box(bar_x + bar * 0.75f, y + inset, bar * 0.4f, bar_h, accent);
    } else {
      quads_.Box(bar_x, y + inset, bar, bar_h, accent, 0, 0, 1,
                 role == Role::kUpdate       ? kDotted
                 : role == Role::kCollective ? kDashed
                                             : kSolid);
    }
  }
  if (camera_.scale >= kSmallTitleScale) PaintNodeText(node, x, y, w);
  if (camera_.scale >= kFullScale && node.num_chips > 0) PaintChips(node);
  PaintBadge(node, x, y, w);
}

// A sign on the top right corner: a finding, an unknown type, another replica differs, more inside, in place.
void Painter::PaintBadge(const SceneNode& node, float x, float y, float w) {
  const uint32_t flags = node.flags();
  std::string_view sign;
  Color fill = T(ThemeColor::kBox), ink = T(ThemeColor::kInk2), border = T(ThemeColor::kBoxBorder);
  if (flags & (kNodeError | kNodeFinding | kNodeUnknown | kNodeDiffers)) {
    sign = flags & kNodeUnknown ? "?" : flags & kNodeDiffers ? "\u00d7" : "!";
    fill = border = T(flags & (kNodeError | kNodeUnknown) ? ThemeColor::kError : ThemeColor::kInk2);
    ink = T(ThemeColor::kPaper);
  } else if (camera_.scale < kTitleScale) {
    return;
  } else if (flags & (kNodeNested | kNodeExpandable)) {
    sign = "+";
  } else if ((flags & kNodeInPlace) && camera_.scale >= kFullScale) {
    sign = "=";
  } else {
    return;
  }
  const float radius = std::max(L(6), 4 * ratio_), size = radius * 1.6f;
  const float cx = x + w - L(3), cy = y + L(1);
  quads_.Box(cx - radius, cy - radius, 2 * radius, 2 * radius, fill, border, radius, ratio_);
  const float half = render::TextWidth(sign, size, Weight::kSemiBold) / 2;
  DrawText(quads_, sign, cx - half, cy + size * 0.36f, size, Weight::kSemiBold, ink);
}

void Painter::PaintNodeText(const SceneNode& node, float x, float y, float w) {
  const bool full = camera_.scale >= kFullScale;
  const float left = x + L(kTextPad), room = w - L(2 * kTextPad - 4);
  if (full) {
    DrawText(quads_, view_->text(node.title), left, y + L(kTitleBaseline), L(kTitleSize), Weight::kSemiBold,
             T(ThemeColor::kInk), room);
  } else {
    // From further away the title has the box to itself, as large as fits it, as long as it can be read.
    const std::string_view title = view_->text(node.title);
    const float h = L(static_cast<float>(node.h));
    const float natural = std::max(render::TextWidth(title, 1, Weight::kSemiBold), 0.1f);
    const float size = std::min({room / natural, h * 0.62f, L(kTitleSize) * 2.2f});
    if (size >= 6.5f * ratio_) {
      DrawText(quads_, title, left, y + h / 2 + size * 0.36f, size, Weight::kSemiBold, T(ThemeColor::kInk),
               room + ratio_);
    }
  }
  if (full && node.subtitle != 0) {
    DrawText(quads_, view_->text(node.subtitle), left, y + L(kSubtitleBaseline), L(kSubtitleSize),
             Weight::kRegular, T(ThemeColor::kInk2), w - L(2 * kTextPad - 4));
  }
}

void Painter::PaintChips(const SceneNode& node) {
  const auto chips = view_->chips();
  for (uint32_t i = node.first_chip; i < node.first_chip + node.num_chips; ++i) {
    const SceneChip& chip = chips[i];
    const float x = X(chip.x), y = Y(chip.y), w = L(static_cast<float>(chip.w)),
                h = L(static_cast<float>(chip.h));
    const bool selected = Has(chip_marks_, i, Mark::kSelected) || Has(chip_marks_, i, Mark::kHover);
    Color fill = T(ThemeColor::kChip), border = 0, ink = T(ThemeColor::kInk2);
    switch (chip.kind()) {
      case ChipKind::kParam:
        border = 0;
        break;
      case ChipKind::kInput:
      case ChipKind::kOutput:
        border = T(ThemeColor::kBoxBorder), fill = T(ThemeColor::kPaper);
        break;
      case ChipKind::kRefIn:
      case ChipKind::kRefOut:
      case ChipKind::kControl:
        fill = 0, border = WithAlpha(T(ThemeColor::kBoxBorder), 0.8f);
        break;
      case ChipKind::kArgument:
        fill = 0;
        break;
      case ChipKind::kMore:
        fill = 0, ink = T(ThemeColor::kInk3);
        break;
    }
    if (selected) border = T(ThemeColor::kSelect), ink = T(ThemeColor::kInk);
    if (fill != 0 || border != 0) {
      quads_.Box(x, y, w, h, fill, border, chip.kind() == ChipKind::kParam ? L(3) : h / 2,
                 (selected ? 1.6f : 1) * ratio_);
    }
    DrawText(quads_, view_->text(chip.text), x + L(kChipPad), y + L(kChipBaseline), L(kChipSize),
             Weight::kRegular, ink, w - L(2 * kChipPad - 3));
  }
}

Hit Painter::Pick(float x, float y) const {
  if (!view_ || camera_.scale < kOverviewScale) return {};
  if (margin_.w > 0 && x >= margin_.x && y >= margin_.y) return {};
  const double world_x = camera_.x + (static_cast<double>(x) * ratio_ - half_w_) / px_;
  const double world_y = camera_.y + (static_cast<double>(y) * ratio_ - half_h_) / px_;
  const int32_t slack = camera_.scale < kEdgesGone ? 0 : ClampToInt(std::ceil(4 / camera_.scale));
  return HitTest(*view_, ClampToInt(std::floor(world_x)), ClampToInt(std::floor(world_y)), slack);
}

std::vector<uint32_t> Painter::OpsIn(const Box2& rect) const {
  std::vector<uint32_t> ops;
  if (!view_) return ops;
  const auto world = [&](float at, float half, double centre) {
    return centre + (double{at} * ratio_ - half) / px_;
  };
  const double x0 = world(rect.x, half_w_, camera_.x), x1 = world(rect.x + rect.w, half_w_, camera_.x);
  const double y0 = world(rect.y, half_h_, camera_.y), y1 = world(rect.y + rect.h, half_h_, camera_.y);
  const auto nodes = view_->nodes();
  for (uint32_t op = 0; op < view_->op_nodes().size(); ++op) {
    const uint32_t at = view_->op_nodes()[op];
    if (at >= nodes.size()) continue;
    const double x = nodes[at].x + nodes[at].w / 2.0, y = nodes[at].y + nodes[at].h / 2.0;
    if (x >= x0 && x < x1 && y >= y0 && y < y1) ops.push_back(op);
  }
  return ops;
}

}  // namespace weft::render
