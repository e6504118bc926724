// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Images: storage orders, channel shuffling, padding, resizing, blocks and integrals.
#include <algorithm>
#include <cmath>

#include "core/kernels/channels.h"
#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"
#include "core/kernels/window.h"

namespace weft {

namespace kernels {
namespace {

template <bool to_last>
Result<void> SwapOrder(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() >= 2, "needs images with channels, found ", DimsToString(in.dims()));
  const int64_t batch = in.dim(0), channels = in.dim(to_last ? 1 : in.ndim() - 1);
  Dims dims(in.dims());
  if (to_last) {
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  } else {
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  }
  const int64_t size = in.numel() / std::max<int64_t>(batch * channels, 1);
  WEFT_TRY_VOID(c.Allocate(0, in.type(), dims));
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t ch = 0; ch < channels; ++ch)
      for (int64_t i = 0; i < size; ++i) {
        const int64_t first = (n * channels + ch) * size + i, last = (n * size + i) * channels + ch;
        CopyElements(in, to_last ? first : last, c.Out(0), to_last ? last : first, 1);
      }
  return {};
}

// Channel g * K + k goes to k * G + g, and back for the gradient.
template <bool back>
Result<void> ChannelShuffle(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(0)));
  const int64_t groups = c.ArgI("group", 1);
  WEFT_ENSURE(c, groups > 0 && s.channels % groups == 0, "group ", groups, " does not divide ", s.channels,
              " channels");
  const int64_t width = s.channels / groups;
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t k = 0; k < width; ++k)
        for (int64_t i = 0; i < s.size; ++i) {
          const int64_t grouped = s.At(n, g * width + k, i), shuffled = s.At(n, k * groups + g, i);
          y[back ? grouped : shuffled] = x[back ? shuffled : grouped];
        }
  return {};
}

// An image of height and width, its padding and where a padded pixel comes from.
struct Padded {
  Channels s;
  int64_t height, width, out_height, out_width;
  int64_t top, left;
  std::string mode;

  Dims dims(int64_t h, int64_t w) const {
    return s.last ? Dims{s.batch, h, w, s.channels} : Dims{s.batch, s.channels, h, w};
  }
  // The source of coordinate `i` of `size`; -1 for none.
  int64_t Source(int64_t i, int64_t size) const {
    if (i >= 0 && i < size) return i;
    if (mode == "constant") return -1;
    if (mode == "edge") return i < 0 ? 0 : size - 1;
    return i < 0 ? -i : 2 * size - i - 2;
  }
};
// `grown`: the tensor given has the padding already.
Result<Padded> FindPadded(const KernelContext& c, const Tensor& x, bool grown) {
  Padded p;
  WEFT_TRY(p.s, FindChannels(c, x));
  if (x.ndim() != 4) return c.Fail("needs 4 dimensions, found ", DimsToString(x.dims()));
  p.mode = c.ArgS("mode", "constant");
  if (p.mode != "constant" && p.mode != "edge" && p.mode != "reflect")
    return c.Fail("Unknown padding mode ", p.mode);
  WindowArgs w;
  if (const auto wrong = ReadWindowArgs(*c.net().symbols, c.op().args, 2, false, w))
    return c.Fail("expected ", wrong->expected, ", given ", wrong->given);
  p.top = w.pad_head[0];
  p.left = w.pad_head[1];
  const int64_t h = x.dim(p.s.last ? 1 : 2), wd = x.dim(p.s.last ? 2 : 3);
  const int64_t more_h = w.pad_head[0] + w.pad_tail[0], more_w = w.pad_head[1] + w.pad_tail[1];
  p.height = grown ? h - more_h : h;
  p.width = grown ? wd - more_w : wd;
  p.out_height = p.height + more_h;
  p.out_width = p.width + more_w;
  if (p.height < 0 || p.width < 0 || p.out_height < 0 || p.out_width < 0)
    return c.Fail("the padding is too large");
  for (int i = 0; i < 2; ++i) {
    const int64_t size = i ? p.width : p.height, most = std::max(w.pad_head[i], w.pad_tail[i]);
    if (p.mode == "reflect" && most > 0 && most >= size)
      return c.Fail("a reflected padding must be smaller than the image");
    if (p.mode == "edge" && most > 0 && size == 0) return c.Fail("an empty image has no edge");
  }
  p.s.size = p.height * p.width;
  return p;
}

// f(padded index, source index or -1) for every padded pixel.
template <typename F>
void ForEachPadded(const Padded& p, F f) {
  Channels out = p.s;
  out.size = p.out_height * p.out_width;
  for (int64_t n = 0; n < p.s.batch; ++n)
    for (int64_t ch = 0; ch < p.s.channels; ++ch)
      for (int64_t y = 0; y < p.out_height; ++y)
        for (int64_t x = 0; x < p.out_width; ++x) {
          const int64_t from_y = p.Source(y - p.top, p.height), from_x = p.Source(x - p.left, p.width);
          f(out.At(n, ch, y * p.out_width + x),
            from_y < 0 || from_x < 0 ? -1 : p.s.At(n, ch, from_y * p.width + from_x));
        }
}

Result<void> PadImage(KernelContext& c) {
  WEFT_TRY(const Padded p, FindPadded(c, c.In(0), false));
  const float* x = c.In<float>(0);
  const float value = c.ArgF("value", 0);
  WEFT_TRY(float* y, c.Out<float>(0, p.dims(p.out_height, p.out_width)));
  ForEachPadded(p, [&](int64_t to, int64_t from) { y[to] = from < 0 ? value : x[from]; });
  return {};
}

Result<void> PadImageGradient(KernelContext& c) {
  WEFT_TRY(const Padded p, FindPadded(c, c.In(0), true));
  const float* dy = c.In<float>(0);
  const Dims dims = p.dims(p.height, p.width);
  WEFT_TRY_VOID(c.CheckRoom({p.s.batch, p.s.channels, p.height, p.width}));
  std::vector<double> sum(NumElements(dims), 0);
  ForEachPadded(p, [&](int64_t from, int64_t to) {
    if (to >= 0) sum[to] += dy[from];
  });
  WEFT_TRY(float* dx, c.Out<float>(0, dims));
  for (size_t i = 0; i < sum.size(); ++i) dx[i] = static_cast<float>(sum[i]);
  return {};
}

// Scales by the arguments, or by an input of (height, width) or (time, height, width).
Result<std::vector<float>> FindScales(const KernelContext& c, size_t input, bool volume) {
  std::vector<float> scales;
  if (volume) scales.push_back(c.ArgF("temporal_scale", 1));
  scales.push_back(c.ArgF("height_scale", 1));
  scales.push_back(c.ArgF("width_scale", 1));
  if (c.has_input(input)) {
    if (c.In(input).type() != DataType::kFloat || c.In(input).numel() != static_cast<int64_t>(scales.size()))
      return c.Fail("scales must be ", scales.size(), " floats");
    std::copy_n(c.In<float>(input), scales.size(), scales.begin());
  }
  for (float s : scales)
    if (!(s > 0)) return c.Fail("scales must be positive, found ", s);
  return scales;
}

// For every output pixel the input pixel whose value it takes. Sizes and places are computed in float, as
// Caffe2 does: they decide which pixel it is.
struct Nearest {
  Channels in, out;
  Dims dims;
  std::vector<int64_t> source;  // per output pixel
};
Result<Nearest> FindNearest(const KernelContext& c, const Tensor& x, size_t scale_input, bool volume) {
  Nearest n;
  WEFT_TRY(n.in, FindChannels(c, x));
  if (x.ndim() != (volume ? 5u : 4u))
    return c.Fail("needs ", volume ? 5 : 4, " dimensions, found ", DimsToString(x.dims()));
  WEFT_TRY(const std::vector<float> scales, FindScales(c, scale_input, volume));
  Dims sizes;
  const size_t first = n.in.last ? 1 : 2;
  n.dims = Dims(x.dims());
  n.source = {0};
  for (size_t d = 0; d < scales.size(); ++d) {
    const int64_t in = x.dim(first + d);
    const int64_t out = static_cast<int64_t>(static_cast<float>(in) * scales[d]);
    WEFT_TRY_VOID(c.CheckRoom({static_cast<int64_t>(n.source.size()), out}));
    n.dims[first + d] = out;
    std::vector<int64_t> next;
    for (int64_t before : n.source)
      for (int64_t i = 0; i < out; ++i)
        next.push_back(before * in +
                       std::min(static_cast<int64_t>(static_cast<float>(i) / scales[d]), in - 1));
    n.source = std::move(next);
  }
  n.out = n.in;
  n.out.size = static_cast<int64_t>(n.source.size());
  return n;
}

template <bool volume>
Result<void> ResizeNearest(KernelContext& c) {
  WEFT_TRY(const Nearest r, FindNearest(c, c.In(0), 1, volume));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, r.dims));
  for (int64_t n = 0; n < r.in.batch; ++n)
    for (int64_t ch = 0; ch < r.in.channels; ++ch)
      for (int64_t i = 0; i < r.out.size; ++i) y[r.out.At(n, ch, i)] = x[r.in.At(n, ch, r.source[i])];
  return {};
}

// Inputs dY, X, perhaps scales. dY may be of another size than the scales say: places beyond it do not count.
template <bool volume>
Result<void> ResizeNearestGradient(KernelContext& c) {
  WEFT_TRY(const Nearest r, FindNearest(c, c.In(1), 2, volume));
  WEFT_ENSURE(c, c.In(0).numel() == NumElements(r.dims), "dY is ", DimsToString(c.In(0).dims()),
              ", expected ", DimsToString(r.dims));
  const float* dy = c.In<float>(0);
  std::vector<double> sum(c.In(1).numel(), 0);
  for (int64_t n = 0; n < r.in.batch; ++n)
    for (int64_t ch = 0; ch < r.in.channels; ++ch)
      for (int64_t i = 0; i < r.out.size; ++i) sum[r.in.At(n, ch, r.source[i])] += dy[r.out.At(n, ch, i)];
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(1).dims()));
  for (size_t i = 0; i < sum.size(); ++i) dx[i] = static_cast<float>(sum[i]);
  return {};
}

// The four pixels around each output pixel and their weights; corners map to corners.
struct Bilinear {
  int64_t height, width, out_height, out_width, planes;
  Dims dims;

  // f(output index in a plane, input index in a plane, weight)
  template <typename F>
  void ForEach(F f) const {
    const double step_y =
        out_height > 1 ? static_cast<double>(height - 1) / static_cast<double>(out_height - 1) : 0;
    const double step_x =
        out_width > 1 ? static_cast<double>(width - 1) / static_cast<double>(out_width - 1) : 0;
    for (int64_t y = 0; y < out_height; ++y) {
      const double at_y = step_y * static_cast<double>(y);
      const int64_t y0 = static_cast<int64_t>(at_y), y1 = std::min(y0 + 1, height - 1);
      const double wy = at_y - static_cast<double>(y0);
      for (int64_t x = 0; x < out_width; ++x) {
        const double at_x = step_x * static_cast<double>(x);
        const int64_t x0 = static_cast<int64_t>(at_x), x1 = std::min(x0 + 1, width - 1);
        const double wx = at_x - static_cast<double>(x0);
        const int64_t to = y * out_width + x;
        f(to, y0 * width + x0, (1 - wy) * (1 - wx));
        f(to, y0 * width + x1, (1 - wy) * wx);
        f(to, y1 * width + x0, wy * (1 - wx));
        f(to, y1 * width + x1, wy * wx);
      }
    }
  }
};
Result<Bilinear> FindBilinear(const KernelContext& c, const Tensor& x, size_t scale_input) {
  if (x.ndim() != 4) return c.Fail("needs 4 dimensions, found ", DimsToString(x.dims()));
  WEFT_TRY(const std::vector<float> scales, FindScales(c, scale_input, false));
  Bilinear b;
  b.planes = x.dim(0) * x.dim(1);
  b.height = x.dim(2);
  b.width = x.dim(3);
  b.out_height = static_cast<int64_t>(static_cast<float>(b.height) * scales[0]);
  b.out_width = static_cast<int64_t>(static_cast<float>(b.width) * scales[1]);
  b.dims = Dims{x.dim(0), x.dim(1), b.out_height, b.out_width};
  WEFT_TRY_VOID(c.CheckRoom({b.planes, b.height, b.width}));
  WEFT_TRY_VOID(c.CheckRoom({b.planes, b.out_height, b.out_width}));
  return b;
}

Result<void> UpsampleBilinear(KernelContext& c) {
  WEFT_TRY(const Bilinear b, FindBilinear(c, c.In(0), 1));
  const int64_t size = b.out_height * b.out_width;
  std::vector<double> sum(size);
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, b.dims));
  for (int64_t p = 0; p < b.planes; ++p) {
    std::fill(sum.begin(), sum.end(), 0);
    b.ForEach([&](int64_t to, int64_t from, double w) { sum[to] += w * x[p * b.height * b.width + from]; });
    for (int64_t i = 0; i < size; ++i) y[p * size + i] = static_cast<float>(sum[i]);
  }
  return {};
}

// Inputs dY, X, perhaps scales. The size of dY counts, not the scales.
Result<void> UpsampleBilinearGradient(KernelContext& c) {
  WEFT_TRY(Bilinear b, FindBilinear(c, c.In(1), 2));
  const Tensor& grad = c.In(0);
  WEFT_ENSURE(c, grad.ndim() == 4 && grad.dim(0) * grad.dim(1) == b.planes, "dY is ",
              DimsToString(grad.dims()));
  b.out_height = grad.dim(2);
  b.out_width = grad.dim(3);
  const int64_t size = b.height * b.width;
  WEFT_ENSURE(c, size > 0 || grad.empty(), "dY is ", DimsToString(grad.dims()), " for an empty image");
  std::vector<double> sum(size);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(1).dims()));
  for (int64_t p = 0; p < b.planes; ++p) {
    std::fill(sum.begin(), sum.end(), 0);
    const float* dy = grad.data<float>() + p * b.out_height * b.out_width;
    b.ForEach([&](int64_t from, int64_t to, double w) { sum[to] += w * dy[from]; });
    for (int64_t i = 0; i < size; ++i) dx[p * size + i] = static_cast<float>(sum[i]);
  }
  return {};
}

// Y[i, j]: the sum of X above and left of (i, j).
Result<void> IntegralImage(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() == 4, "Only supports 4D tensors, found ", DimsToString(in.dims()));
  const int64_t planes = in.dim(0) * in.dim(1), h = in.dim(2), w = in.dim(3);
  const float* x = in.data<float>();
  std::vector<double> sum((h + 1) * (w + 1), 0);
  WEFT_TRY(float* y, c.Out<float>(0, {in.dim(0), in.dim(1), h + 1, w + 1}));
  for (int64_t p = 0; p < planes; ++p) {
    for (int64_t i = 0; i < h; ++i)
      for (int64_t j = 0; j < w; ++j)
        sum[(i + 1) * (w + 1) + j + 1] = x[(p * h + i) * w + j] + sum[i * (w + 1) + j + 1] +
                                         sum[(i + 1) * (w + 1) + j] - sum[i * (w + 1) + j];
    for (size_t i = 0; i < sum.size(); ++i) y[p * sum.size() + i] = static_cast<float>(sum[i]);
  }
  return {};
}

// Inputs X, dY. X[i, j] is in every sum below and right of it. (Caffe2 sums from the other corner.)
Result<void> IntegralImageGradient(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() == 4, "Only supports 4D tensors, found ", DimsToString(in.dims()));
  const int64_t planes = in.dim(0) * in.dim(1), h = in.dim(2), w = in.dim(3);
  WEFT_ENSURE(c, c.In(1).numel() == planes * (h + 1) * (w + 1), "dY is ", DimsToString(c.In(1).dims()));
  const float* dy = c.In<float>(1);
  std::vector<double> sum((h + 1) * (w + 1));
  WEFT_TRY(float* dx, c.Out<float>(0, in.dims()));
  for (int64_t p = 0; p < planes; ++p) {
    std::fill(sum.begin(), sum.end(), 0);
    for (int64_t i = h; i-- > 0;)
      for (int64_t j = w; j-- > 0;) {
        const double s = dy[(p * (h + 1) + i + 1) * (w + 1) + j + 1] + sum[(i + 1) * (w + 1) + j] +
                         sum[i * (w + 1) + j + 1] - sum[(i + 1) * (w + 1) + j + 1];
        sum[i * (w + 1) + j] = s;
        dx[(p * h + i) * w + j] = static_cast<float>(s);
      }
  }
  return {};
}

// An image cut into blocks whose pixels of one place make an image of their own, in a batch `block` squared
// times as large. f(image index or -1, batch index).
struct Blocks {
  int64_t block, images, channels, height, width, out_height, out_width, top, left;

  template <typename F>
  void ForEach(F f) const {
    for (int64_t place = 0; place < block * block; ++place)
      for (int64_t n = 0; n < images; ++n)
        for (int64_t ch = 0; ch < channels; ++ch)
          for (int64_t y = 0; y < out_height; ++y)
            for (int64_t x = 0; x < out_width; ++x) {
              const int64_t in_y = y * block + place / block - top, in_x = x * block + place % block - left;
              const bool inside = in_y >= 0 && in_y < height && in_x >= 0 && in_x < width;
              f(inside ? ((n * channels + ch) * height + in_y) * width + in_x : -1,
                (((place * images + n) * channels + ch) * out_height + y) * out_width + x);
            }
  }
};
Result<Blocks> FindBlocks(const KernelContext& c, bool to_batch) {
  const Tensor& x = c.In(0);
  Blocks b;
  b.block = c.ArgI("block_size", 2);
  if (x.ndim() != 4 || b.block <= 0) return c.Fail("needs 4 dimensions and a positive block_size");
  WEFT_TRY_VOID(c.CheckRoom({b.block, b.block}));
  WEFT_TRY_VOID(c.CheckRoom({b.block, x.dim(2)}));
  WEFT_TRY_VOID(c.CheckRoom({b.block, x.dim(3)}));
  if (c.ArgS("order", "NCHW") != "NCHW") return c.Fail("only NCHW is supported");
  // Of the four sides Caffe2 reads only that of the top.
  const int64_t pad = c.ArgI("pad", 0);
  b.top = c.ArgI("pad_t", pad);
  b.left = pad;
  if (std::min(pad, b.top) < 0 || std::max(pad, b.top) > kMostWindow)
    return c.Fail("padding is ", pad, " and ", b.top, " at the top, expected numbers from 0 to ",
                  kMostWindow);
  const int64_t more_h = b.top + pad, more_w = 2 * pad;
  b.channels = x.dim(1);
  if (to_batch) {
    b.images = x.dim(0);
    b.height = x.dim(2);
    b.width = x.dim(3);
    if ((b.height + more_h) % b.block != 0 || (b.width + more_w) % b.block != 0)
      return c.Fail("the padded image is no multiple of the block size ", b.block);
    b.out_height = (b.height + more_h) / b.block;
    b.out_width = (b.width + more_w) / b.block;
  } else {
    if (x.dim(0) % (b.block * b.block) != 0)
      return c.Fail("the batch ", x.dim(0), " is no multiple of ", b.block * b.block);
    b.images = x.dim(0) / (b.block * b.block);
    b.out_height = x.dim(2);
    b.out_width = x.dim(3);
    b.height = x.dim(2) * b.block - more_h;
    b.width = x.dim(3) * b.block - more_w;
    if (b.height < 0 || b.width < 0) return c.Fail("the padding is too large");
  }
  return b;
}

Result<void> SpaceToBatch(KernelContext& c) {
  WEFT_TRY(const Blocks b, FindBlocks(c, true));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, {b.images * b.block * b.block, b.channels, b.out_height, b.out_width}));
  b.ForEach([&](int64_t image, int64_t batch) { y[batch] = image < 0 ? 0 : x[image]; });
  return {};
}

Result<void> BatchToSpace(KernelContext& c) {
  WEFT_TRY(const Blocks b, FindBlocks(c, false));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, {b.images, b.channels, b.height, b.width}));
  b.ForEach([&](int64_t image, int64_t batch) {
    if (image >= 0) y[image] = x[batch];
  });
  return {};
}

constexpr KernelRow kRows[] = {
    {"NCHW2NHWC", SwapOrder<true>},
    {"NHWC2NCHW", SwapOrder<false>},
    {"ChannelShuffle", ChannelShuffle<false>, "f"},
    {"ChannelShuffleGradient", ChannelShuffle<true>, "f"},
    {"PadImage", PadImage, "f"},
    {"PadImageGradient", PadImageGradient, "f"},
    {"ResizeNearest", ResizeNearest<false>, "f"},
    {"ResizeNearestGradient", ResizeNearestGradient<false>, "f"},
    {"ResizeNearest3D", ResizeNearest<true>, "f"},
    {"ResizeNearest3DGradient", ResizeNearestGradient<true>, "f"},
    {"UpsampleBilinear", UpsampleBilinear, "f"},
    {"UpsampleBilinearGradient", UpsampleBilinearGradient, "f"},
    {"IntegralImage", IntegralImage, "f"},
    {"IntegralImageGradient", IntegralImageGradient, "f"},
    {"SpaceToBatch", SpaceToBatch, "f"},
    {"BatchToSpace", BatchToSpace, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily ImageKernels() { return kernels::kRows; }

}  // namespace weft
