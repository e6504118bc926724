// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Boxes of object detectors: their size, overlap, moving by predicted deltas, and picking the best of those
// that overlap. Upright boxes are corners x1, y1, x2, y2; in the legacy measure a box with x1 == x2 is one
// pixel wide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::kernels {

struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  static Box Of(const float* at) { return {at[0], at[1], at[2], at[3]}; }
  double Area(double one) const { return (x2 - x1 + one) * (y2 - y1 + one); }
  /// Deltas: of the centre in sizes, and of the logarithm of the size (at most a factor 1000 / 16).
  Box Moved(const double delta[4], double one) const {
    const double limit = std::log(1000.0 / 16.0);
    const double w = x2 - x1 + one, h = y2 - y1 + one;
    const double x = x1 + w / 2 + delta[0] * w, y = y1 + h / 2 + delta[1] * h;
    const double half_w = w * std::exp(std::min(delta[2], limit)) / 2,
                 half_h = h * std::exp(std::min(delta[3], limit)) / 2;
    return {x - half_w, y - half_h, x + half_w - one, y + half_h - one};
  }
  Box Clipped(double height, double width, double one) const {
    const auto cut = [&](double v, double size) { return std::max(std::min(v, size - one), 0.0); };
    return {cut(x1, width), cut(y1, height), cut(x2, width), cut(y2, height)};
  }
};

/// Intersection over union.
inline double Overlap(const Box& a, const Box& b, double one) {
  const double w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1) + one,
               h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1) + one;
  const double both = std::max(w, 0.0) * std::max(h, 0.0);
  return both / (a.Area(one) + b.Area(one) - both);
}

/// Of `order` (best first) those that overlap no better kept one by more than `threshold`; at most `limit`
/// when positive.
inline std::vector<int64_t> KeepBest(const std::vector<Box>& boxes, const std::vector<int64_t>& order,
                                     double threshold, double one, int64_t limit) {
  std::vector<int64_t> kept;
  for (int64_t i : order) {
    if (limit > 0 && static_cast<int64_t>(kept.size()) >= limit) break;
    const bool hidden = std::any_of(kept.begin(), kept.end(), [&](int64_t k) {
      return !(Overlap(boxes[k], boxes[i], one) <= threshold);
    });
    if (!hidden) kept.push_back(i);
  }
  return kept;
}

}  // namespace weft::kernels
