// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Boxes of object detectors: their size, overlap, moving by predicted deltas, and picking the best of those
// that overlap. Upright boxes are corners x1, y1, x2, y2; in the legacy measure a box with x1 == x2 is one
// pixel wide. Rotated boxes are center x, y, width, height and degrees against the clock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::kernels {

/// How boxes are measured; the angles are for rotated ones.
struct BoxRules {
  double one = 1;     // pixels between equal corners
  bool bound = true;  // angles are kept between lowest and highest
  double lowest = -90, highest = 90;
  double clip_angle = 1;  // boxes tilted by more are not clipped
};

/// The largest factor of growth, as a logarithm.
inline double GrowthLimit() { return std::log(1000.0 / 16.0); }

struct Box {
  static constexpr int64_t kSize = 4;
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  static Box Of(const float* at) { return {at[0], at[1], at[2], at[3]}; }
  void Write(float* out, double scale = 1) const {
    out[0] = static_cast<float>(x1 * scale);
    out[1] = static_cast<float>(y1 * scale);
    out[2] = static_cast<float>(x2 * scale);
    out[3] = static_cast<float>(y2 * scale);
  }
  double Width(const BoxRules& rules) const { return x2 - x1 + rules.one; }
  double Height(const BoxRules& rules) const { return y2 - y1 + rules.one; }
  double CenterX(const BoxRules& rules) const { return x1 + Width(rules) / 2; }
  double CenterY(const BoxRules& rules) const { return y1 + Height(rules) / 2; }
  double Area(const BoxRules& rules) const { return Width(rules) * Height(rules); }
  Box Shrunk(double scale) const { return {x1 / scale, y1 / scale, x2 / scale, y2 / scale}; }
  Box Shifted(double x, double y) const { return {x1 + x, y1 + y, x2 + x, y2 + y}; }
  /// Deltas: of the centre in sizes, and of the logarithm of the size.
  Box Moved(const double* delta, const BoxRules& rules) const {
    const double limit = GrowthLimit();
    const double w = Width(rules), h = Height(rules);
    const double x = x1 + w / 2 + delta[0] * w, y = y1 + h / 2 + delta[1] * h;
    const double half_w = w * std::exp(std::min(delta[2], limit)) / 2,
                 half_h = h * std::exp(std::min(delta[3], limit)) / 2;
    return {x - half_w, y - half_h, x + half_w - rules.one, y + half_h - rules.one};
  }
  Box Clipped(double height, double width, const BoxRules& rules) const {
    const auto cut = [&](double v, double size) { return std::max(std::min(v, size - rules.one), 0.0); };
    return {cut(x1, width), cut(y1, height), cut(x2, width), cut(y2, height)};
  }
};

/// The area that two upright boxes share.
inline double Shared(const Box& a, const Box& b, const BoxRules& rules) {
  const double w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1) + rules.one,
               h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1) + rules.one;
  return std::max(w, 0.0) * std::max(h, 0.0);
}

struct RotatedBox {
  static constexpr int64_t kSize = 5;
  double x = 0, y = 0, w = 0, h = 0, angle = 0;

  static RotatedBox Of(const float* at) { return {at[0], at[1], at[2], at[3], at[4]}; }
  void Write(float* out, double scale = 1) const {
    out[0] = static_cast<float>(x * scale);
    out[1] = static_cast<float>(y * scale);
    out[2] = static_cast<float>(w * scale);
    out[3] = static_cast<float>(h * scale);
    out[4] = static_cast<float>(angle);
  }
  double Width(const BoxRules&) const { return w; }
  double Height(const BoxRules&) const { return h; }
  double CenterX(const BoxRules&) const { return x; }
  double CenterY(const BoxRules&) const { return y; }
  double Area(const BoxRules&) const { return w * h; }
  RotatedBox Shrunk(double scale) const { return {x / scale, y / scale, w / scale, h / scale, angle}; }
  RotatedBox Shifted(double dx, double dy) const { return {x + dx, y + dy, w, h, angle}; }
  /// Deltas as of upright boxes, and of the angle in radians.
  RotatedBox Moved(const double* delta, const BoxRules& rules) const {
    const double limit = GrowthLimit();
    RotatedBox out{x + delta[0] * w, y + delta[1] * h, w * std::exp(std::min(delta[2], limit)),
                   h * std::exp(std::min(delta[3], limit)), angle + delta[4] * 180 / 3.14159265358979323846};
    const double period = rules.highest - rules.lowest;
    if (rules.bound && out.angle < rules.lowest)
      out.angle += period;
    else if (rules.bound && out.angle > rules.highest)
      out.angle -= period;
    return out;
  }
  RotatedBox Clipped(double height, double width, const BoxRules& rules) const {
    if (!(std::fabs(angle) <= rules.clip_angle)) return *this;
    const double half_w = (w - rules.one) / 2, half_h = (h - rules.one) / 2;
    const Box box = Box{x - half_w, y - half_h, x + half_w, y + half_h}.Clipped(height, width, rules);
    return {(box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2, box.Width(rules), box.Height(rules), angle};
  }
  /// The corners, in order around the box.
  std::vector<std::pair<double, double>> Corners() const {
    const double radians = -angle * 3.14159265358979323846 / 180;
    const double wx = std::cos(radians) * w / 2, wy = std::sin(radians) * w / 2;
    const double hx = -std::sin(radians) * h / 2, hy = std::cos(radians) * h / 2;
    return {{x - wx - hx, y - wy - hy},
            {x + wx - hx, y + wy - hy},
            {x + wx + hx, y + wy + hy},
            {x - wx + hx, y - wy + hy}};
  }
};

/// The area that two rotated boxes share: what is left of one when it is cut along the sides of the other.
inline double Shared(const RotatedBox& a, const RotatedBox& b, const BoxRules&) {
  using Point = std::pair<double, double>;
  std::vector<Point> left = a.Corners();
  const std::vector<Point> sides = b.Corners();
  for (size_t i = 0; i < sides.size(); ++i) {
    const Point from = sides[i], to = sides[(i + 1) % sides.size()];
    const auto inside = [&](const Point& p) {
      return (to.first - from.first) * (p.second - from.second) -
             (to.second - from.second) * (p.first - from.first);
    };
    std::vector<Point> next;
    for (size_t k = 0; k < left.size(); ++k) {
      const Point p = left[k], q = left[(k + 1) % left.size()];
      const double at_p = inside(p), at_q = inside(q);
      if (at_p >= 0) next.push_back(p);
      if ((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0)) {
        const double t = at_p / (at_p - at_q);
        next.emplace_back(p.first + t * (q.first - p.first), p.second + t * (q.second - p.second));
      }
    }
    left = std::move(next);
  }
  double twice = 0;
  for (size_t k = 0; k < left.size(); ++k) {
    const Point p = left[k], q = left[(k + 1) % left.size()];
    twice += p.first * q.second - q.first * p.second;
  }
  return std::fabs(twice) / 2;
}

/// Intersection over union.
template <typename B>
double Overlap(const B& a, const B& b, const BoxRules& rules) {
  const double both = Shared(a, b, rules);
  return both / (a.Area(rules) + b.Area(rules) - both);
}

/// Of `order` (best first) those that overlap no better kept one by more than `threshold`; at most `limit`
/// when positive.
template <typename B>
std::vector<int64_t> KeepBest(const std::vector<B>& boxes, const std::vector<int64_t>& order,
                              double threshold, const BoxRules& rules, int64_t limit) {
  std::vector<int64_t> kept;
  for (int64_t i : order) {
    if (limit > 0 && static_cast<int64_t>(kept.size()) >= limit) break;
    const bool hidden = std::any_of(kept.begin(), kept.end(), [&](int64_t k) {
      return !(Overlap(boxes[k], boxes[i], rules) <= threshold);
    });
    if (!hidden) kept.push_back(i);
  }
  return kept;
}

}  // namespace weft::kernels
