// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Regions of images as grids of one size: RoIAlign (samples between pixels, upright or rotated) and RoIPool
// (maxima over whole pixels), with their gradients.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

struct Images {
  int64_t batch, channels, height, width;
  bool last;  // channels last

  int64_t At(int64_t n, int64_t ch, int64_t y, int64_t x) const {
    return last ? ((n * height + y) * width + x) * channels + ch
                : ((n * channels + ch) * height + y) * width + x;
  }
};

struct Grid {
  Images in, out;
  int64_t columns;  // of a region, without the image's number
  bool has_image;
  double scale;

  const float* Region(const KernelContext& c, int64_t r) const {
    return c.In<float>(1) + r * (columns + has_image) + has_image;
  }
  Result<int64_t> Image(const KernelContext& c, int64_t r) const {
    if (!has_image) return int64_t{0};
    const float image = c.In<float>(1)[r * (columns + 1)];
    if (!(image >= 0 && image < static_cast<float>(in.batch)))
      return c.Fail("region ", r, " names image ", image, ", there are ", in.batch);
    return static_cast<int64_t>(image);
  }
  Dims out_dims() const {
    return out.last ? Dims{out.batch, out.height, out.width, out.channels}
                    : Dims{out.batch, out.channels, out.height, out.width};
  }
};

Result<Grid> FindGrid(const KernelContext& c, int64_t columns) {
  WEFT_TRY_VOID(c.CheckInputs(0, 1));
  const Tensor& x = c.In(0);
  const Tensor& rois = c.In(1);
  const std::string order = c.ArgS("order", "NCHW");
  WEFT_ENSURE(c, order == "NCHW" || order == "NHWC", "Unknown storage order ", order);
  WEFT_ENSURE(c, x.ndim() == 4, "expected images of four dimensions, found ", DimsToString(x.dims()));
  WEFT_ENSURE(c, rois.ndim() == 2 && (rois.dim(1) == columns || rois.dim(1) == columns + 1),
              "expected regions [R, ", columns + 1, "], found ", DimsToString(rois.dims()));
  const bool has_image = rois.dim(1) == columns + 1;
  WEFT_ENSURE(c, has_image || x.dim(0) == 1, "regions without an image's number need one image, found ",
              x.dim(0));
  const int64_t h = c.ArgI("pooled_h", 1), w = c.ArgI("pooled_w", 1);
  WEFT_ENSURE(c, h > 0 && w > 0, "pooled_h and pooled_w must be positive, found ", h, " and ", w);
  const float scale = c.ArgF("spatial_scale", 1);
  WEFT_ENSURE(c, std::isfinite(scale), "spatial_scale is ", scale);
  const bool last = order == "NHWC";
  WEFT_TRY_VOID(c.CheckRoom({rois.dim(0), x.dim(last ? 3 : 1), h, w}));
  const Images in{x.dim(0), x.dim(last ? 3 : 1), x.dim(last ? 1 : 2), x.dim(last ? 2 : 3), last};
  return Grid{in, Images{rois.dim(0), in.channels, h, w, last}, columns, has_image, scale};
}

// One of the four pixels that a sample lies between.
struct Corner {
  int64_t y, x;
  double weight;
};

// Adds the pixels around (y, x); none when it is more than a pixel outside.
void AddCorners(const Images& in, double y, double x, std::vector<Corner>& out) {
  if (y < -1 || y > static_cast<double>(in.height) || x < -1 || x > static_cast<double>(in.width)) return;
  y = std::max(y, 0.0);
  x = std::max(x, 0.0);
  const int64_t y0 = std::min(static_cast<int64_t>(y), in.height - 1),
                x0 = std::min(static_cast<int64_t>(x), in.width - 1);
  const int64_t y1 = std::min(y0 + 1, in.height - 1), x1 = std::min(x0 + 1, in.width - 1);
  const double down = y0 == y1 ? 0 : y - static_cast<double>(y0),
               right = x0 == x1 ? 0 : x - static_cast<double>(x0);
  out.push_back({y0, x0, (1 - down) * (1 - right)});
  out.push_back({y0, x1, (1 - down) * right});
  out.push_back({y1, x0, down * (1 - right)});
  out.push_back({y1, x1, down * right});
}

// f(region, image, row, column, corners, samples) for every cell of every region. An upright one of no size
// has no samples, and its means are no numbers, as in Caffe2.
template <typename F>
Result<void> ForEachCell(const KernelContext& c, const Grid& g, bool rotated, F f) {
  const bool aligned = c.ArgB("aligned", false);
  const int64_t ratio = c.ArgI("sampling_ratio", -1);
  const double offset = aligned ? 0.5 : 0;
  std::vector<Corner> corners;
  for (int64_t r = 0; r < g.out.batch; ++r) {
    WEFT_TRY(const int64_t image, g.Image(c, r));
    const float* roi = g.Region(c, r);
    for (int64_t i = 0; i < g.columns; ++i)
      WEFT_ENSURE(c, std::fabs(roi[i]) < 1e7f, "region ", r, " has the coordinate ", roi[i]);
    double height, width, top, left, center_y = 0, center_x = 0, cosine = 1, sine = 0;
    if (rotated) {
      center_x = roi[0] * g.scale - offset;
      center_y = roi[1] * g.scale - offset;
      width = roi[2] * g.scale;
      height = roi[3] * g.scale;
      const double angle = roi[4] * std::numbers::pi / 180;
      cosine = std::cos(angle);
      sine = std::sin(angle);
    } else {
      left = roi[0] * g.scale - offset;
      top = roi[1] * g.scale - offset;
      width = roi[2] * g.scale - offset - left;
      height = roi[3] * g.scale - offset - top;
    }
    WEFT_ENSURE(c, !aligned || (width >= 0 && height >= 0),
                "ROIs in ROIAlign do not have non-negative size!");
    if (!aligned) {
      width = std::max(width, 1.0);
      height = std::max(height, 1.0);
    }
    if (rotated) {
      left = -width / 2;
      top = -height / 2;
    }
    const double cell_h = height / static_cast<double>(g.out.height),
                 cell_w = width / static_cast<double>(g.out.width);
    constexpr int kMostSamples = 4096;  // on a side of a cell
    WEFT_ENSURE(c, ratio <= kMostSamples && cell_h <= kMostSamples && cell_w <= kMostSamples, "region ", r,
                " needs more than ", kMostSamples, " samples on a side of a cell");
    const int64_t ny = ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(cell_h)),
                  nx = ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(cell_w));
    for (int64_t i = 0; i < g.out.height; ++i)
      for (int64_t j = 0; j < g.out.width; ++j) {
        corners.clear();
        for (int64_t a = 0; a < ny; ++a)
          for (int64_t b = 0; b < nx; ++b) {
            const double y = top + static_cast<double>(i) * cell_h +
                             (static_cast<double>(a) + 0.5) * cell_h / static_cast<double>(ny);
            const double x = left + static_cast<double>(j) * cell_w +
                             (static_cast<double>(b) + 0.5) * cell_w / static_cast<double>(nx);
            AddCorners(g.in, y * cosine - x * sine + center_y, y * sine + x * cosine + center_x, corners);
          }
        f(r, image, i, j, corners, static_cast<double>(std::max<int64_t>(ny * nx, rotated ? 1 : 0)));
      }
  }
  return {};
}

// Inputs X, regions [image, x1, y1, x2, y2] or, rotated, [image, center x, y, width, height, degrees].
template <bool kRotated>
Result<void> RoIAlign(KernelContext& c) {
  WEFT_TRY(const Grid g, FindGrid(c, kRotated ? 5 : 4));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, g.out_dims()));
  return ForEachCell(c, g, kRotated,
                     [&](int64_t r, int64_t image, int64_t i, int64_t j, const std::vector<Corner>& corners,
                         double samples) {
                       for (int64_t ch = 0; ch < g.in.channels; ++ch) {
                         double sum = 0;
                         for (const Corner& k : corners) sum += k.weight * x[g.in.At(image, ch, k.y, k.x)];
                         y[g.out.At(r, ch, i, j)] = static_cast<float>(sum / samples);
                       }
                     });
}

Result<void> CheckGradientDims(const KernelContext& c, const Grid& g, size_t input) {
  const Dims dims = g.out_dims();
  WEFT_ENSURE(c, input < c.num_inputs(), "expected ", input + 1, " inputs, found ", c.num_inputs());
  WEFT_ENSURE(c, ToDims(c.In(input).dims()) == dims, "the gradient is ", DimsToString(c.In(input).dims()),
              ", expected ", DimsToString(dims));
  return {};
}

template <bool kRotated>
Result<void> RoIAlignGradient(KernelContext& c) {
  WEFT_TRY(const Grid g, FindGrid(c, kRotated ? 5 : 4));
  WEFT_TRY_VOID(CheckGradientDims(c, g, 2));
  const float* dy = c.In<float>(2);
  std::vector<double> sums(static_cast<size_t>(c.In(0).numel()));
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  WEFT_TRY_VOID(ForEachCell(c, g, kRotated,
                            [&](int64_t r, int64_t image, int64_t i, int64_t j,
                                const std::vector<Corner>& corners, double samples) {
                              for (int64_t ch = 0; ch < g.in.channels; ++ch)
                                for (const Corner& k : corners)
                                  sums[g.in.At(image, ch, k.y, k.x)] +=
                                      dy[g.out.At(r, ch, i, j)] * k.weight / samples;
                            }));
  for (size_t i = 0; i < sums.size(); ++i) dx[i] = static_cast<float>(sums[i]);
  return {};
}

// Inputs X, regions; outputs Y and, in training, where in the channel's plane each maximum was (-1: nowhere).
Result<void> RoIPool(KernelContext& c) {
  WEFT_TRY(const Grid g, FindGrid(c, 4));
  WEFT_ENSURE(c, !g.in.last, "expected storage order NCHW");
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, g.out_dims()));
  int32_t* places = nullptr;
  if (c.has_output(1)) {
    WEFT_TRY(places, c.Out<int32_t>(1, g.out_dims()));
  }
  for (int64_t r = 0; r < g.out.batch; ++r) {
    WEFT_TRY(const int64_t image, g.Image(c, r));
    double at[4];
    for (int i = 0; i < 4; ++i) {
      at[i] = std::round(g.Region(c, r)[i] * g.scale);
      WEFT_ENSURE(c, std::fabs(at[i]) < 1e7, "region ", r, " has the coordinate ", g.Region(c, r)[i]);
    }
    const double cell_w = std::max(at[2] - at[0] + 1, 1.0) / static_cast<double>(g.out.width);
    const double cell_h = std::max(at[3] - at[1] + 1, 1.0) / static_cast<double>(g.out.height);
    const auto edge = [](double start, double place, int64_t size) {
      return std::clamp<int64_t>(static_cast<int64_t>(start + place), 0, size);
    };
    for (int64_t ch = 0; ch < g.in.channels; ++ch)
      for (int64_t i = 0; i < g.out.height; ++i)
        for (int64_t j = 0; j < g.out.width; ++j) {
          const double row = static_cast<double>(i), column = static_cast<double>(j);
          const int64_t y0 = edge(at[1], std::floor(row * cell_h), g.in.height),
                        y1 = edge(at[1], std::ceil((row + 1) * cell_h), g.in.height);
          const int64_t x0 = edge(at[0], std::floor(column * cell_w), g.in.width),
                        x1 = edge(at[0], std::ceil((column + 1) * cell_w), g.in.width);
          const bool nothing = y1 <= y0 || x1 <= x0;
          float best = nothing ? 0 : -std::numeric_limits<float>::max();
          int64_t place = -1;
          for (int64_t v = y0; v < y1; ++v)
            for (int64_t u = x0; u < x1; ++u)
              if (const float value = x[g.in.At(image, ch, v, u)]; value > best) {
                best = value;
                place = v * g.in.width + u;
              }
          if (nothing) place = -1;
          y[g.out.At(r, ch, i, j)] = best;
          if (places) places[g.out.At(r, ch, i, j)] = static_cast<int32_t>(place);
        }
  }
  return {};
}

// Inputs X, regions, places, dY.
Result<void> RoIPoolGradient(KernelContext& c) {
  WEFT_TRY(const Grid g, FindGrid(c, 4));
  WEFT_TRY_VOID(CheckGradientDims(c, g, 2));
  WEFT_TRY_VOID(CheckGradientDims(c, g, 3));
  std::vector<double> sums(static_cast<size_t>(c.In(0).numel()));
  const int64_t plane = g.in.height * g.in.width, cells = g.out.height * g.out.width;
  const int32_t* places = c.In<int32_t>(2);
  const float* dy = c.In<float>(3);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (int64_t r = 0; r < g.out.batch; ++r) {
    WEFT_TRY(const int64_t image, g.Image(c, r));
    for (int64_t i = 0; i < g.in.channels * cells; ++i) {
      const int64_t from = r * g.in.channels * cells + i, place = places[from];
      WEFT_ENSURE(c, place >= -1 && place < plane, "place ", place, " is not in the image");
      if (place >= 0) sums[(image * g.in.channels + i / cells) * plane + place] += dy[from];
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) dx[i] = static_cast<float>(sums[i]);
  return {};
}

constexpr KernelRow kRows[] = {
    {"RoIAlign", RoIAlign<false>, "f"},
    {"RoIAlignGradient", RoIAlignGradient<false>, "f"},
    {"RoIAlignRotated", RoIAlign<true>, "f"},
    {"RoIAlignRotatedGradient", RoIAlignGradient<true>, "f"},
    {"RoIPool", RoIPool, "f"},
    {"RoIPoolGradient", RoIPoolGradient, "ffif"},
};

}  // namespace
}  // namespace kernels

KernelFamily RegionKernels() { return kernels::kRows; }

}  // namespace weft
