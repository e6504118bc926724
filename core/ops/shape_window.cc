// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of operators that slide a window over images, or resize them.
#include <algorithm>
#include <cmath>

#include "core/base/str.h"
#include "core/ops/shape_functions.h"
#include "core/ops/window_args.h"

namespace weft::shapes {

namespace {

struct Window : WindowArgs {
  bool columns = false;  // as Im2Col reads its arguments
  bool channels_last = false;
  bool global = false;
  int64_t legacy_pad = 0;  // 0 as given, 1 valid, 2 same, 3 Caffe's pooling
  size_t n = 0;            // spatial dimensions
  Dim batch, channels;
  DimList in;

  TensorInfo Image(DataType type, Dim of_channels, const DimList& spatial) const {
    DimList dims{batch};
    if (!channels_last) dims.push_back(of_channels);
    dims.Append(spatial.begin(), spatial.end());
    if (channels_last) dims.push_back(of_channels);
    return TensorInfo::Of(type, std::move(dims));
  }
};

// Reads the window over input 0. False when nothing can be said.
bool ReadWindow(ShapeContext& c, Window& w) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return false;
  if (x.rank() < 3) {
    c.Mismatch(0, "a batch of images with channels", c.table.Text(std::span<const Dim>(x.dims)));
    return false;
  }
  w.channels_last = c.channels_last();
  w.n = x.rank() - 2;
  w.batch = x.dims[0];
  w.channels = x.dims[w.channels_last ? x.rank() - 1 : 1];
  const Dim* first = x.dims.begin() + (w.channels_last ? 1 : 2);
  w.in = DimList(first, first + w.n);
  w.global = c.Int("global_pooling", 0) != 0;
  w.legacy_pad = c.Int("legacy_pad", 0);
  if (const auto wrong = ReadWindowArgs(*c.net().symbols, c.op().args, w.n, w.columns, w)) {
    c.Mismatch(-1, wrong->expected, wrong->given);
    return false;
  }
  for (size_t i = 0; i < w.n; ++i) {
    if (w.stride[i] <= 0 || w.dilation[i] <= 0) {
      c.Mismatch(-1, "a positive stride and dilation", StrCat(w.stride[i], " and ", w.dilation[i]));
      return false;
    }
    if (w.legacy_pad == 1) w.pad_head[i] = w.pad_tail[i] = 0;
  }
  return true;
}

// The size after the window has slid over spatial dimension i.
Dim Slid(ShapeContext& c, const Window& w, size_t i) {
  if (w.global) return 1;
  DimTable& t = c.table;
  const Dim in = w.in[i];
  const int64_t stride = w.stride[i], covered = w.dilation[i] * (w.kernel[i] - 1) + 1;
  // Sums with numbers that may be negative.
  const auto plus = [&](Dim a, int64_t b) { return b < 0 ? t.Subtract(a, -b) : t.Add(a, b); };
  if (w.legacy_pad == 2) {
    if (w.dilation[i] == 1) return t.Divide(plus(in, stride - 1), stride);
    if (!in.known()) return {};
    const int64_t target = (in.code + stride - 1) / stride;
    const int64_t needed = std::max<int64_t>(0, (target - 1) * stride + w.kernel[i] - in.code);
    return std::max<int64_t>(0, (in.code + needed - covered) / stride + 1);
  }
  if (w.legacy_pad == 3) {
    const int64_t pad = w.pad_head[i];
    if (!in.known()) return pad == 0 ? plus(t.Divide(plus(in, stride - 1 - w.kernel[i]), stride), 1) : Dim();
    const double windows =
        std::ceil(static_cast<double>(in.code + 2 * pad - w.kernel[i]) / static_cast<double>(stride));
    int64_t out = static_cast<int64_t>(windows) + 1;
    if (pad > 0 && (out - 1) * stride >= in.code + pad) --out;
    return std::max<int64_t>(0, out);
  }
  const int64_t pads = w.pad_head[i] + w.pad_tail[i];
  if (in.known() && in.code + pads < covered) {
    c.Mismatch(0, StrCat("at least ", covered - pads, " along spatial dimension ", i, " under the kernel"),
               std::to_string(in.code));
    return {};
  }
  return plus(t.Divide(plus(in, pads - covered), stride), 1);
}

DimList SlidAll(ShapeContext& c, const Window& w) {
  DimList out;
  for (size_t i = 0; i < w.n; ++i) out.push_back(Slid(c, w, i));
  return out;
}

bool HasKernel(ShapeContext& c, const Window& w) {
  if (w.global) return true;
  for (const int64_t k : w.kernel)
    if (k <= 0) {
      c.Mismatch(-1, "a kernel size for each spatial dimension", "none");
      return false;
    }
  return true;
}

}  // namespace

void Conv(ShapeContext& c) {
  Window w;
  const TensorInfo& filter = c.In(1);
  if (!ReadWindow(c, w) || !HasKernel(c, w)) return;
  Dim channels;
  if (filter.tensor()) {
    if (filter.rank() != w.n + 2) {
      c.Mismatch(1, StrCat("a filter of ", w.n + 2, " dimensions"),
                 c.table.Text(std::span<const Dim>(filter.dims)));
      return;
    }
    channels = filter.dims[0];
    const int64_t group = c.Int("group", 1);
    const Dim per_group = filter.dims[w.channels_last ? w.n + 1 : 1];
    c.Same(w.channels, c.table.Multiply(per_group, group), 1, "input channels of the filter times group:");
    for (size_t i = 0; i < w.n; ++i)
      c.Same(w.kernel[i], filter.dims[i + (w.channels_last ? 1 : 2)], 1, StrCat("kernel size ", i, " of"));
    if (c.num_inputs() > 2 && c.In(2).tensor())
      c.Same(channels, c.table.Product(c.In(2).dims), 2, "a bias of");
  }
  c.Set(0, w.Image(c.In(0).type, channels, SlidAll(c, w)));
}

void ConvGradient(ShapeContext& c) {
  // dW, then db unless no_bias, then dX unless no_gradient_to_input.
  const TensorInfo& filter = c.In(1);
  size_t next = 0;
  c.Set(next++, filter);
  if (c.Int("no_bias", 0) == 0) {
    Dim channels;
    // A transposed convolution's filter has the channels that come out second, or last.
    const bool transposed = c.net().Str(c.op().type).starts_with("ConvTranspose");
    if (filter.tensor() && filter.rank() > 1)
      channels = !transposed ? filter.dims[0]
                             : c.table.Multiply(filter.dims[c.channels_last() ? filter.rank() - 1 : 1],
                                                c.Int("group", 1));
    c.Set(next++, filter.type, {channels});
  }
  c.Set(next, c.In(0));
}

void ConvTranspose(ShapeContext& c) {
  Window w;
  const TensorInfo& filter = c.In(1);
  if (!ReadWindow(c, w) || !HasKernel(c, w)) return;
  Dim channels;
  if (filter.tensor() && filter.rank() == w.n + 2) {
    channels = c.table.Multiply(filter.dims[w.channels_last ? w.n + 1 : 1], c.Int("group", 1));
    c.Same(w.channels, filter.dims[0], 1, "as many filters as channels of the image:");
  }
  DimList out;
  for (size_t i = 0; i < w.n; ++i) {
    if (w.legacy_pad == 2) {
      out.push_back(c.table.Multiply(w.in[i], w.stride[i]));
      continue;
    }
    const int64_t more = w.kernel[i] + w.adjust[i] - w.stride[i] - w.pad_head[i] - w.pad_tail[i];
    const Dim spread = c.table.Multiply(w.in[i], w.stride[i]);
    out.push_back(more < 0 ? c.table.Subtract(spread, -more) : c.table.Add(spread, more));
  }
  c.Set(0, w.Image(c.In(0).type, channels, out));
}

void LocallyConnected(ShapeContext& c) {
  Window w;
  if (!ReadWindow(c, w) || !HasKernel(c, w)) return;
  const TensorInfo& filter = c.In(1);
  const Dim channels = filter.tensor() && filter.rank() > w.n ? filter.dims[w.n] : Dim();
  c.Set(0, w.Image(c.In(0).type, channels, SlidAll(c, w)));
}

void LocallyConnectedGradient(ShapeContext& c) {
  // As ConvGradient; the bias has the places of the window and the channels in front of the filter's.
  const TensorInfo& filter = c.In(1);
  size_t next = 0;
  c.Set(next++, filter);
  if (c.Int("no_bias", 0) == 0) {
    TensorInfo bias;
    bias.type = filter.type;
    if (filter.tensor() && c.In(0).tensor() && filter.rank() + 1 >= c.In(0).rank())
      bias = TensorInfo::Of(filter.type,
                            DimList(filter.dims.begin(), filter.dims.begin() + (c.In(0).rank() - 1)));
    c.Set(next++, std::move(bias));
  }
  c.Set(next, c.In(0));
}

void Pool(ShapeContext& c) {
  Window w;
  if (!ReadWindow(c, w) || !HasKernel(c, w)) return;
  c.Set(0, w.Image(c.In(0).type, w.channels, SlidAll(c, w)));
}

TensorInfo PoolWindow(ShapeContext& c, std::span<const ShapeOperand>) {
  Window w;
  if (!ReadWindow(c, w)) return {};
  DimList dims;
  for (size_t i = 0; i < w.n; ++i) dims.push_back(w.global ? w.in[i] : Dim(w.kernel[i]));
  return TensorInfo::Of(c.In(0).type, std::move(dims));
}

void Im2Col(ShapeContext& c) {
  Window w;
  w.columns = true;
  if (!ReadWindow(c, w) || !HasKernel(c, w)) return;
  Dim rows = w.channels;
  for (const int64_t k : w.kernel) rows = c.table.Multiply(rows, k);
  c.Set(0, w.Image(c.In(0).type, rows, SlidAll(c, w)));
}

namespace {

void Padded(ShapeContext& c, bool forward) {
  Window w;
  if (!ReadWindow(c, w)) return;
  DimList out;
  for (size_t i = 0; i < w.n; ++i) {
    const int64_t pads = forward ? w.pad_head[i] + w.pad_tail[i] : -(w.pad_head[i] + w.pad_tail[i]);
    out.push_back(pads < 0 ? c.table.Subtract(w.in[i], -pads) : c.table.Add(w.in[i], pads));
  }
  c.Set(0, w.Image(c.In(0).type, w.channels, out));
}

// Images cut into blocks, as the kernels in core/kernels/image.cc read the arguments.
void Blocks(ShapeContext& c, bool to_batch) {
  const TensorInfo& x = c.In(0);
  const int64_t block = c.Int("block_size", 2), pad = c.Int("pad", 0), top = c.Int("pad_t", pad);
  if (!x.tensor() || x.rank() != 4 || block <= 0 || block > kMostWindow || pad < 0 || pad > kMostWindow ||
      top < 0 || top > kMostWindow)
    return;
  DimTable& t = c.table;
  const auto side = [&](Dim extent, int64_t more) {
    return to_batch ? t.Divide(t.Add(extent, more), block) : t.Subtract(t.Multiply(extent, block), more);
  };
  const Dim batch = to_batch ? t.Multiply(x.dims[0], block * block) : t.Divide(x.dims[0], block * block);
  c.Set(0, x.type, {batch, x.dims[1], side(x.dims[2], top + pad), side(x.dims[3], 2 * pad)});
}

// `extent` times a scale given as a float, rounded down; symbols take whole scales only.
Dim Scaled(ShapeContext& c, Dim extent, float scale) {
  if (extent.known()) return static_cast<int64_t>(static_cast<float>(extent.code) * scale);
  const int64_t whole = static_cast<int64_t>(scale);
  return static_cast<float>(whole) == scale ? c.table.Multiply(extent, whole) : Dim();
}

}  // namespace

void PadImage(ShapeContext& c) { Padded(c, true); }
void PadImageGradient(ShapeContext& c) { Padded(c, false); }
void SpaceToBatch(ShapeContext& c) { Blocks(c, true); }
void BatchToSpace(ShapeContext& c) { Blocks(c, false); }

void Resize(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor() || x.rank() != 4) return;
  const bool last = c.channels_last();
  TensorInfo y = TensorInfo::Of(x.type, x.dims);
  const std::vector<int64_t> output_dims = c.Ints("output_dims");
  for (size_t i = 0; i < 2; ++i) {
    Dim& extent = y.dims[i + (last ? 1 : 2)];
    if (output_dims.size() == 2) {
      extent = output_dims[i];
    } else if (c.num_inputs() > 1 && !c.HasArg("output_dims")) {
      extent = c.table.FromData();  // the scales are in an input
    } else {
      extent = Scaled(c, extent, c.Float(i == 0 ? "height_scale" : "width_scale", 1));
    }
  }
  c.Set(0, std::move(y));
}

void Resize3D(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor() || x.rank() != 5) return;
  TensorInfo y = TensorInfo::Of(x.type, x.dims);
  constexpr std::string_view kScales[] = {"temporal_scale", "height_scale", "width_scale"};
  for (size_t i = 0; i < 3; ++i) y.dims[i + 2] = Scaled(c, y.dims[i + 2], c.Float(kScales[i], 1));
  c.Set(0, std::move(y));
}

void Roi(ShapeContext& c) {
  const TensorInfo &x = c.In(0), &rois = c.In(1);
  Dim count, channels;
  if (rois.tensor() && rois.rank() > 0) count = rois.dims[0];
  const bool last = c.channels_last();
  if (x.tensor() && x.rank() == 4) channels = x.dims[last ? 3 : 1];
  const int64_t h = c.Int("pooled_h", 1), w = c.Int("pooled_w", 1);
  const DimList dims = last ? DimList{count, h, w, channels} : DimList{count, channels, h, w};
  c.Set(0, x.type, dims);
  c.Set(1, DataType::kInt32, dims);
}

}  // namespace weft::shapes
