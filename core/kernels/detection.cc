// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Object detection: proposals made from anchors, spread over the levels of a pyramid, moved by deltas, and
// thinned out. Boxes are upright or rotated.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/kernels/boxes.h"
#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

double One(const KernelContext& c) { return c.ArgB("legacy_plus_one", true) ? 1 : 0; }

Result<BoxRules> FindRules(const KernelContext& c) {
  BoxRules rules;
  rules.one = One(c);
  rules.bound = c.ArgB("angle_bound_on", true);
  rules.lowest = static_cast<double>(c.ArgI("angle_bound_lo", -90));
  rules.highest = static_cast<double>(c.ArgI("angle_bound_hi", 90));
  rules.clip_angle = c.ArgF("clip_angle_thresh", 1);
  const double period = rules.highest - rules.lowest;
  WEFT_ENSURE(c, period > 0 && std::fmod(period, 180) == 0, "angles from ", rules.lowest, " to ",
              rules.highest, " are no half turns");
  return rules;
}

// f(Tag<Box>()) or f(Tag<RotatedBox>()), by the argument.
template <typename F>
Result<void> SwitchBox(bool rotated, F&& f) {
  return rotated ? f(Tag<RotatedBox>()) : f(Tag<Box>());
}

// Indices by descending score; equal ones in order.
std::vector<int64_t> ByScore(const std::vector<float>& scores) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  return order;
}

// Inputs regions [R, box or image's number and box], deltas [R, boxes], im_info [images, height width scale].
template <typename B>
Result<void> TransformBoxes(KernelContext& c) {
  constexpr int64_t kSize = B::kSize;
  const Tensor& rois = c.In(0);
  const Tensor& deltas = c.In(1);
  const Tensor& info = c.In(2);
  WEFT_ENSURE(c, rois.ndim() == 2 && (rois.dim(1) == kSize || rois.dim(1) == kSize + 1),
              "expected regions [R, ", kSize, " or ", kSize + 1, "], found ", DimsToString(rois.dims()));
  WEFT_ENSURE(c, deltas.ndim() == 2 && deltas.dim(0) == rois.dim(0) && deltas.dim(1) % kSize == 0,
              "expected deltas [", rois.dim(0), ", ", kSize, " * classes], found ",
              DimsToString(deltas.dims()));
  WEFT_ENSURE(c, info.ndim() == 2 && info.dim(1) == 3, "expected im_info [images, 3], found ",
              DimsToString(info.dims()));
  const bool numbered = rois.dim(1) == kSize + 1;
  WEFT_ENSURE(c, numbered || info.dim(0) == 1, "regions without an image's number need one image, found ",
              info.dim(0));
  std::vector<float> weights = c.ArgFs("weights");
  if (weights.empty()) weights.assign(4, 1);
  WEFT_ENSURE(c, weights.size() == 4, "expected 4 weights, found ", weights.size());
  const bool apply_scale = c.ArgB("apply_scale", true);
  WEFT_TRY(const BoxRules rules, FindRules(c));
  const int64_t n = rois.dim(0), classes = deltas.dim(1) / kSize;
  std::vector<float> splits(info.dim(0));
  WEFT_TRY(float* out, c.Out<float>(0, deltas.dims()));
  int64_t last = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float* roi = rois.data<float>() + i * rois.dim(1);
    const float number = numbered ? *roi++ : 0;
    WEFT_ENSURE(c, number >= static_cast<float>(last) && number < static_cast<float>(info.dim(0)), "region ",
                i, " names image ", number, " after ", last, " of ", info.dim(0));
    last = static_cast<int64_t>(number);
    ++splits[last];
    const float* image = info.data<float>() + last * 3;
    const double scale = image[2];
    WEFT_ENSURE(c, scale > 0, "the scale of image ", last, " is ", image[2]);
    const double height = std::floor(image[0] / scale + 0.5), width = std::floor(image[1] / scale + 0.5);
    const B box = B::Of(roi).Shrunk(scale);
    for (int64_t k = 0; k < classes; ++k) {
      const float* from = deltas.data<float>() + (i * classes + k) * kSize;
      double delta[kSize];
      for (int64_t d = 0; d < kSize; ++d) delta[d] = d < 4 ? double{from[d]} / weights[d] : from[d];
      box.Moved(delta, rules)
          .Clipped(height, width, rules)
          .Write(out + (i * classes + k) * kSize, apply_scale ? scale : 1);
    }
  }
  if (c.has_output(1)) {
    WEFT_TRY(float* counts, c.Out<float>(1, {info.dim(0)}));
    std::copy(splits.begin(), splits.end(), counts);
  }
  return {};
}

Result<void> BBoxTransform(KernelContext& c) {
  return SwitchBox(c.ArgB("rotated", false),
                   [&](auto tag) { return TransformBoxes<typename decltype(tag)::type>(c); });
}

// Lowers the scores of boxes by how much better ones cover them, instead of dropping them. Best first.
template <typename B>
Result<std::vector<int64_t>> KeepSoftly(const KernelContext& c, const std::vector<B>& boxes,
                                        std::vector<int64_t> pending, std::vector<float>& scores,
                                        const BoxRules& rules) {
  const std::string method = c.ArgS("soft_nms_method", "linear");
  WEFT_ENSURE(c, method == "linear" || method == "gaussian", "Unexpected soft_nms_method ", method);
  const double sigma = c.ArgF("soft_nms_sigma", 0.5f), threshold = c.ArgF("nms", 0.3f),
               least = c.ArgF("soft_nms_min_score_thres", 0.001f);
  std::vector<int64_t> kept;
  while (!pending.empty()) {
    const auto best = std::max_element(pending.begin(), pending.end(),
                                       [&](int64_t a, int64_t b) { return scores[a] < scores[b]; });
    const int64_t chosen = *best;
    pending.erase(best);
    kept.push_back(chosen);
    std::vector<int64_t> rest;
    for (int64_t i : pending) {
      const double overlap = Overlap(boxes[chosen], boxes[i], rules);
      const double factor = method == "gaussian"   ? std::exp(-overlap * overlap / sigma)
                            : overlap <= threshold ? 1
                                                   : 1 - overlap;
      scores[i] = static_cast<float>(scores[i] * factor);
      if (scores[i] >= least) rest.push_back(i);
    }
    pending = std::move(rest);
  }
  return kept;
}

// Inputs scores [R, classes], boxes [R, classes * box], perhaps boxes of each image. The background is
// class 0; where input_boxes_include_bg_cls is off, the scores have it last and the boxes lack it.
template <typename B>
Result<void> LimitBoxes(KernelContext& c) {
  constexpr int64_t kSize = B::kSize;
  const Tensor& in_scores = c.In(0);
  const Tensor& in_boxes = c.In(1);
  WEFT_ENSURE(c, in_scores.ndim() == 1 || in_scores.ndim() == 2, "expected scores [R, classes], found ",
              DimsToString(in_scores.dims()));
  const int64_t n = in_scores.dim(0), classes = in_scores.ndim() == 2 ? in_scores.dim(1) : 1;
  const bool agnostic = c.ArgB("cls_agnostic_bbox_reg", false);
  const int64_t shift = c.ArgB("input_boxes_include_bg_cls", true) ? 0 : 1;
  const int64_t box_classes = agnostic ? 1 : classes - shift;
  WEFT_ENSURE(c,
              in_boxes.ndim() == 2 && in_boxes.dim(0) == n && in_boxes.dim(1) >= kSize * box_classes &&
                  in_boxes.dim(1) % kSize == 0,
              "expected boxes [", n, ", ", kSize * box_classes, "], found ", DimsToString(in_boxes.dims()));
  std::vector<int64_t> splits{n};
  if (c.has_input(2)) {
    splits.clear();
    for (float count : c.In(2).values<float>()) splits.push_back(static_cast<int64_t>(count));
    WEFT_ENSURE(c,
                std::all_of(splits.begin(), splits.end(), [&](int64_t s) { return s >= 0 && s <= n; }) &&
                    std::accumulate(splits.begin(), splits.end(), int64_t{0}) == n,
                "batch_splits do not add up to the ", n, " boxes");
  }
  const float least = c.ArgF("score_thresh", 0.05f);
  WEFT_TRY(const BoxRules rules, FindRules(c));
  const double threshold = c.ArgF("nms", 0.3f);
  const int64_t limit = c.ArgI("detections_per_im", 100);
  const bool soft = c.ArgB("soft_nms_enabled", false);
  const int64_t class_shift = c.ArgB("output_classes_include_bg_cls", true) ? 0 : 1;

  struct Found {
    int64_t cls, index;
    float score;
  };
  std::vector<Found> all;
  std::vector<float> counts;
  std::vector<int32_t> keeps, keep_sizes;
  int64_t first = 0;
  for (int64_t size : splits) {
    std::vector<Found> found;
    for (int64_t cls = 1; cls < classes; ++cls) {
      std::vector<float> scores;
      std::vector<B> boxes;
      std::vector<int64_t> candidates;
      for (int64_t i = first; i < first + size; ++i) {
        const int64_t box = agnostic ? 0 : cls - shift;
        scores.push_back(in_scores.data<float>()[i * classes + cls - shift]);
        boxes.push_back(B::Of(in_boxes.data<float>() + i * in_boxes.dim(1) + box * kSize));
      }
      for (int64_t i : ByScore(scores))
        if (scores[i] > least) candidates.push_back(i);
      std::vector<int64_t> kept;
      if (soft) {
        WEFT_TRY(kept, KeepSoftly(c, boxes, std::move(candidates), scores, rules));
      } else {
        kept = KeepBest(boxes, candidates, threshold, rules, 0);
      }
      for (int64_t i : kept) found.push_back({cls, i, scores[i]});
    }
    if (limit > 0 && static_cast<int64_t>(found.size()) > limit) {
      std::stable_sort(found.begin(), found.end(),
                       [](const Found& a, const Found& b) { return a.score > b.score; });
      found.resize(static_cast<size_t>(limit));
      std::stable_sort(found.begin(), found.end(),
                       [](const Found& a, const Found& b) { return a.cls < b.cls; });
    }
    std::vector<int32_t> sizes(static_cast<size_t>(classes));
    for (Found& f : found) {
      ++sizes[f.cls];
      keeps.push_back(static_cast<int32_t>(f.index));
      f.index += first;
      all.push_back(f);
    }
    keep_sizes.insert(keep_sizes.end(), sizes.begin(), sizes.end());
    counts.push_back(static_cast<float>(found.size()));
    first += size;
  }
  const int64_t total = static_cast<int64_t>(all.size());
  WEFT_TRY(float* scores, c.Out<float>(0, {total}));
  WEFT_TRY(float* boxes, c.Out<float>(1, {total, kSize}));
  WEFT_TRY(float* names, c.Out<float>(2, {total}));
  for (int64_t i = 0; i < total; ++i) {
    const Found& f = all[i];
    const float* from =
        in_boxes.data<float>() + f.index * in_boxes.dim(1) + (agnostic ? 0 : f.cls - shift) * kSize;
    scores[i] = f.score;
    std::copy_n(from, kSize, boxes + i * kSize);
    names[i] = static_cast<float>(f.cls - class_shift);
  }
  if (c.has_output(3)) {
    WEFT_TRY(float* out, c.Out<float>(3, {static_cast<int64_t>(counts.size())}));
    std::copy(counts.begin(), counts.end(), out);
  }
  if (c.has_output(4)) {
    WEFT_TRY(int32_t * out, c.Out<int32_t>(4, {total}));
    std::copy(keeps.begin(), keeps.end(), out);
  }
  if (c.has_output(5)) {
    WEFT_TRY(int32_t * out, c.Out<int32_t>(5, {static_cast<int64_t>(splits.size()), classes}));
    std::copy(keep_sizes.begin(), keep_sizes.end(), out);
  }
  return {};
}

Result<void> BoxWithNMSLimit(KernelContext& c) {
  return SwitchBox(c.ArgB("rotated", false),
                   [&](auto tag) { return LimitBoxes<typename decltype(tag)::type>(c); });
}

// Inputs scores [N, A, H, W], deltas [N, box * A, H, W], im_info [N, 3], anchors [A, box].
template <typename B>
Result<void> Propose(KernelContext& c) {
  constexpr int64_t kSize = B::kSize;
  const Tensor& scores = c.In(0);
  const Tensor& deltas = c.In(1);
  const Tensor& info = c.In(2);
  const Tensor& anchors = c.In(3);
  WEFT_ENSURE(c, anchors.ndim() == 2 && anchors.dim(1) == kSize, "expected anchors [A, 4 or 5], found ",
              DimsToString(anchors.dims()));
  WEFT_ENSURE(c, scores.ndim() == 4 && scores.dim(1) == anchors.dim(0), "expected scores [N, ",
              anchors.dim(0), ", H, W], found ", DimsToString(scores.dims()));
  const int64_t n = scores.dim(0), a = scores.dim(1), h = scores.dim(2), w = scores.dim(3);
  const Dims expected{n, kSize * a, h, w};
  WEFT_ENSURE(c, ToDims(deltas.dims()) == expected, "expected deltas ", DimsToString(expected), ", found ",
              DimsToString(deltas.dims()));
  WEFT_ENSURE(c, info.ndim() == 2 && info.dim(0) == n && info.dim(1) == 3, "expected im_info [", n,
              ", 3], found ", DimsToString(info.dims()));
  WEFT_TRY(const BoxRules rules, FindRules(c));
  const double stride = 1.0 / c.ArgF("spatial_scale", 1.0f / 16);
  const double threshold = c.ArgF("nms_thresh", 0.7f), smallest = c.ArgF("min_size", 16);
  const int64_t before = c.ArgI("pre_nms_topN", 6000), after = c.ArgI("post_nms_topN", 300);
  std::vector<float> rois, kept_scores;
  for (int64_t image = 0; image < n; ++image) {
    const float* size = info.data<float>() + image * 3;
    std::vector<float> flat;  // rows, columns, anchors
    for (int64_t i = 0; i < h * w; ++i)
      for (int64_t k = 0; k < a; ++k) flat.push_back(scores.data<float>()[(image * a + k) * h * w + i]);
    std::vector<int64_t> order = ByScore(flat);
    if (before > 0 && static_cast<int64_t>(order.size()) > before) order.resize(static_cast<size_t>(before));
    std::vector<B> boxes(flat.size());
    std::vector<int64_t> candidates;
    for (int64_t at : order) {
      const int64_t k = at % a, place = at / a;
      const double x = static_cast<double>(place % w) * stride, y = static_cast<double>(place / w) * stride;
      double delta[kSize];
      for (int64_t d = 0; d < kSize; ++d)
        delta[d] = deltas.data<float>()[((image * a + k) * kSize + d) * h * w + place];
      const B box = B::Of(anchors.data<float>() + k * kSize)
                        .Shifted(x, y)
                        .Moved(delta, rules)
                        .Clipped(size[0], size[1], rules);
      boxes[at] = box;
      const double least = std::max(smallest * size[2], 1.0);
      if (box.Width(rules) >= least && box.Height(rules) >= least && box.CenterX(rules) < size[1] &&
          box.CenterY(rules) < size[0])
        candidates.push_back(at);
    }
    for (int64_t at : KeepBest(boxes, candidates, threshold, rules, after)) {
      rois.push_back(static_cast<float>(image));
      rois.resize(rois.size() + kSize);
      boxes[at].Write(rois.data() + rois.size() - kSize);
      kept_scores.push_back(flat[at]);
    }
  }
  const int64_t total = static_cast<int64_t>(kept_scores.size());
  WEFT_TRY(float* out, c.Out<float>(0, {total, kSize + 1}));
  WEFT_TRY(float* out_scores, c.Out<float>(1, {total}));
  std::copy(rois.begin(), rois.end(), out);
  std::copy(kept_scores.begin(), kept_scores.end(), out_scores);
  return {};
}

Result<void> GenerateProposals(KernelContext& c) {
  const Tensor& anchors = c.In(3);
  return SwitchBox(anchors.ndim() == 2 && anchors.dim(1) == RotatedBox::kSize,
                   [&](auto tag) { return Propose<typename decltype(tag)::type>(c); });
}

using Roi = std::vector<float>;  // the image's number and a box

Result<void> CheckLevels(const KernelContext& c, int64_t lowest, int64_t highest) {
  WEFT_ENSURE(c, 0 <= lowest && lowest <= highest && highest < 100, "levels go from ", lowest, " to ",
              highest);
  return {};
}

// Inputs the regions of each level, then their scores.
Result<std::vector<Roi>> CollectBest(const KernelContext& c) {
  const int64_t highest = c.ArgI("rpn_max_level", 6), lowest = c.ArgI("rpn_min_level", 2);
  WEFT_TRY_VOID(CheckLevels(c, lowest, highest));
  const int64_t levels = highest - lowest + 1;
  WEFT_ENSURE(c, levels > 0 && static_cast<int64_t>(c.num_inputs()) == 2 * levels, "expected ", 2 * levels,
              " inputs for ", levels, " levels, found ", c.num_inputs());
  std::vector<Roi> rois;
  std::vector<float> scores;
  for (int64_t level = 0; level < levels; ++level) {
    const Tensor& from = c.In(level);
    const Tensor& values = c.In(level + levels);
    WEFT_ENSURE(c, from.ndim() == 2 && from.dim(1) == 5, "expected regions [R, 5], found ",
                DimsToString(from.dims()));
    WEFT_ENSURE(c, values.numel() == from.dim(0), "expected ", from.dim(0), " scores, found ",
                values.numel());
    for (int64_t i = 0; i < from.dim(0); ++i) {
      rois.emplace_back(from.data<float>() + i * 5, from.data<float>() + i * 5 + 5);
      scores.push_back(values.data<float>()[i]);
    }
  }
  std::vector<Roi> best;
  const int64_t limit = c.ArgI("rpn_post_nms_topN", 2000);
  for (int64_t i : ByScore(scores)) {
    if (static_cast<int64_t>(best.size()) >= limit) break;
    best.push_back(std::move(rois[i]));
  }
  return best;
}

Result<void> WriteRois(KernelContext& c, size_t output, const std::vector<Roi>& rois) {
  WEFT_TRY(float* out, c.Out<float>(output, {static_cast<int64_t>(rois.size()), 5}));
  for (const Roi& roi : rois) out = std::copy(roi.begin(), roi.end(), out);
  return {};
}

// Outputs from `output` on: the regions of each level, then where each region went.
Result<void> Distribute(KernelContext& c, size_t output, const std::vector<Roi>& rois) {
  const int64_t highest = c.ArgI("roi_max_level", 5), lowest = c.ArgI("roi_min_level", 2);
  const double level0 = static_cast<double>(c.ArgI("roi_canonical_level", 4)),
               scale0 = static_cast<double>(c.ArgI("roi_canonical_scale", 224));
  BoxRules rules;
  rules.one = One(c);
  WEFT_TRY_VOID(CheckLevels(c, lowest, highest));
  WEFT_ENSURE(c, static_cast<int64_t>(c.num_outputs() - output) == highest - lowest + 2, "expected ",
              highest - lowest + 2, " outputs for levels ", lowest, " to ", highest);
  std::vector<std::vector<int64_t>> levels(static_cast<size_t>(highest - lowest + 1));
  for (size_t i = 0; i < rois.size(); ++i) {
    const double size = std::sqrt(Box::Of(rois[i].data() + 1).Area(rules));
    const double level = std::floor(level0 + std::log2(size / scale0 + 1e-6));
    WEFT_ENSURE(c, !std::isnan(level), "region ", i, " has a negative size");
    levels[static_cast<size_t>(std::clamp(level, static_cast<double>(lowest), static_cast<double>(highest)) -
                               static_cast<double>(lowest))]
        .push_back(static_cast<int64_t>(i));
  }
  WEFT_TRY(int32_t * restore, c.Out<int32_t>(c.num_outputs() - 1, {static_cast<int64_t>(rois.size())}));
  int32_t next = 0;
  for (size_t level = 0; level < levels.size(); ++level) {
    std::vector<Roi> here;
    for (int64_t i : levels[level]) {
      here.push_back(rois[i]);
      restore[i] = next++;
    }
    WEFT_TRY_VOID(WriteRois(c, output + level, here));
  }
  return {};
}

Result<void> CollectRpnProposals(KernelContext& c) {
  WEFT_TRY(const std::vector<Roi> rois, CollectBest(c));
  return WriteRois(c, 0, rois);
}
Result<void> DistributeFpnProposals(KernelContext& c) {
  const Tensor& from = c.In(0);
  WEFT_ENSURE(c, from.ndim() == 2 && (from.dim(1) == 4 || from.dim(1) == 5),
              "expected regions [R, 5], found ", DimsToString(from.dims()));
  std::vector<Roi> rois;
  for (int64_t i = 0; i < from.dim(0); ++i) {
    const float* at = from.data<float>() + i * from.dim(1);
    rois.emplace_back(at, at + from.dim(1));
    if (from.dim(1) == 4) rois.back().insert(rois.back().begin(), 0);
  }
  return Distribute(c, 0, rois);
}
Result<void> CollectAndDistribute(KernelContext& c) {
  WEFT_TRY(const std::vector<Roi> rois, CollectBest(c));
  WEFT_TRY_VOID(WriteRois(c, 0, rois));
  return Distribute(c, 1, rois);
}

// Inputs heatmaps [N, K, S, S], boxes [N, 4 or more]; output [N, (x, y, score, probability), K]. Around its
// highest cell a heatmap is taken for a parabola, whose top is the keypoint.
Result<void> HeatmapMaxKeypoint(KernelContext& c) {
  const Tensor& maps = c.In(0);
  const Tensor& boxes = c.In(1);
  WEFT_ENSURE(c, maps.ndim() == 4 && maps.dim(2) == maps.dim(3) && maps.dim(2) >= 2,
              "expected heatmaps [N, K, S, S] with S of at least 2, found ", DimsToString(maps.dims()));
  const int64_t n = maps.dim(0), points = maps.dim(1), size = maps.dim(2), cells = size * size;
  WEFT_ENSURE(c, boxes.ndim() == 2 && boxes.dim(0) == n && boxes.dim(1) >= 4, "expected boxes [", n,
              ", 4], found ", DimsToString(boxes.dims()));
  const bool softmax = c.ArgB("should_output_softmax", false);
  WEFT_TRY(float* out, c.Out<float>(0, {n, 4, points}));
  for (int64_t i = 0; i < n * points; ++i) {
    const float* map = maps.data<float>() + i * cells;
    const float* box = boxes.data<float>() + i / points * boxes.dim(1);
    const int64_t best = std::max_element(map, map + cells) - map, y = best / size, x = best % size;
    // Beyond an edge, the cell on the other side.
    const auto at = [&](int64_t dy, int64_t dx) {
      if (y + dy < 0 || y + dy >= size) dy = -dy;
      if (x + dx < 0 || x + dx >= size) dx = -dx;
      return double{map[(y + dy) * size + x + dx]};
    };
    const double bx = (at(0, -1) - at(0, 1)) / 2, by = (at(-1, 0) - at(1, 0)) / 2, top = at(0, 0);
    const double xx = at(0, -1) - 2 * top + at(0, 1), yy = at(-1, 0) - 2 * top + at(1, 0),
                 xy = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / 4;
    const double det = xx * yy - xy * xy;
    double dx = 0, dy = 0, score = top;
    if (std::fabs(det) >= 1e-4) {
      constexpr double kFarthest = 1.5;
      dx = (bx * yy - by * xy) / det;
      dy = (by * xx - bx * xy) / det;
      if (const double far = std::max(std::fabs(dx), std::fabs(dy)); far > kFarthest) {
        dx = dx / far * kFarthest;
        dy = dy / far * kFarthest;
      }
      score = top - (bx * dx + by * dy) + (xx * dx * dx + 2 * xy * dx * dy + yy * dy * dy) / 2;
    }
    double probability = 0;
    if (softmax) {
      for (int64_t k = 0; k < cells; ++k) probability += std::exp(double{map[k]} - top);
      probability = 1 / probability;
    }
    const double width = std::max(box[2] - box[0], 1.0f), height = std::max(box[3] - box[1], 1.0f);
    const double cell = static_cast<double>(size);
    const double values[] = {box[0] + (0.5 + static_cast<double>(x) + dx) * width / cell,
                             box[1] + (0.5 + static_cast<double>(y) + dy) * height / cell, score,
                             probability};
    for (int64_t v = 0; v < 4; ++v)
      out[(i / points * 4 + v) * points + i % points] = static_cast<float>(values[v]);
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"HeatmapMaxKeypoint", HeatmapMaxKeypoint, "f"},
    {"BBoxTransform", BBoxTransform, "f"},
    {"BoxWithNMSLimit", BoxWithNMSLimit, "f"},
    {"GenerateProposals", GenerateProposals, "f"},
    {"GenerateProposalsCPP", GenerateProposals, "f"},
    {"CollectRpnProposals", CollectRpnProposals, "f"},
    {"DistributeFpnProposals", DistributeFpnProposals, "f"},
    {"CollectAndDistributeFpnRpnProposals", CollectAndDistribute, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily DetectionKernels() { return kernels::kRows; }

}  // namespace weft
