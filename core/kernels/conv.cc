// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of any number of spatial dimensions, with groups, in both storage orders. Three operations on
// a window do all of it: Forward, its gradient by the image, its gradient by the filter; a transposed
// convolution is the gradient by the image, and its gradients are the other two. An image is unrolled into a
// matrix with a row for each element under the window (channel and kernel position, in the order of the
// filter) and a column for each place of the window, so that each is a product of matrices.
#include "core/kernels/families.h"
#include "core/kernels/util.h"
#include "core/kernels/window.h"

namespace weft {

namespace kernels {
namespace {

struct Conv {
  Window window;
  int64_t group = 1;
  int64_t m = 0;  // channels after
  std::vector<int64_t> offsets;

  int64_t group_channels() const { return window.channels / group; }
  int64_t group_m() const { return m / group; }
  int64_t rows() const { return group_channels() * window.kernel_size; }

  // f(row, place, image index or -1) over the unrolled image `n`, group `g`.
  template <typename F>
  void Unroll(int64_t n, int64_t g, F f) const {
    const int64_t channels = group_channels(), ks = window.kernel_size, places = window.out_size;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t k = 0; k < ks; ++k) {
        const int64_t row = window.channels_last ? k * channels + c : c * ks + k;
        for (int64_t p = 0; p < places; ++p) {
          const int64_t spatial = offsets[k * places + p];
          f(row, p,
            spatial < 0 ? -1 : window.At(n, g * channels + c, spatial, window.in_size, window.channels));
        }
      }
    }
  }
  // Rows: channels of the group after; columns: places.
  Matrix<float> After(const float* y, int64_t n, int64_t g) const {
    const float* first = y + window.At(n, g * group_m(), 0, window.out_size, m);
    if (window.channels_last) return {first, group_m(), window.out_size, 1, m};
    return {first, group_m(), window.out_size, window.out_size, 1};
  }
  Matrix<float> Filter(const float* w, int64_t g) const {
    return {w + g * group_m() * rows(), group_m(), rows(), rows(), 1};
  }
};

Matrix<float> Transposed(const Matrix<float>& a) {
  return {a.data, a.columns, a.rows, a.column_step, a.row_step};
}

constexpr auto kZero = [](int64_t, int64_t) { return 0.0; };

void Forward(const Conv& conv, const float* x, const float* w, const float* bias, float* y) {
  const Window& win = conv.window;
  std::vector<float> unrolled(conv.rows() * win.out_size);
  for (int64_t n = 0; n < win.batch; ++n) {
    for (int64_t g = 0; g < conv.group; ++g) {
      conv.Unroll(n, g, [&](int64_t row, int64_t p, int64_t at) {
        unrolled[row * win.out_size + p] = at < 0 ? 0 : x[at];
      });
      const Matrix<float> columns{unrolled.data(), conv.rows(), win.out_size, win.out_size, 1};
      MatrixProductTo(
          conv.Filter(w, g), columns,
          [&](int64_t i, int64_t) { return bias ? double{bias[g * conv.group_m() + i]} : 0.0; },
          [&](int64_t i, int64_t p, double value) {
            y[win.At(n, g * conv.group_m() + i, p, win.out_size, conv.m)] = static_cast<float>(value);
          });
    }
  }
}

void ByImage(const Conv& conv, const float* w, const float* dy, float* dx) {
  const Window& win = conv.window;
  std::vector<float> unrolled(conv.rows() * win.out_size);
  std::vector<double> sum(win.batch * win.channels * win.in_size, 0);
  for (int64_t n = 0; n < win.batch; ++n) {
    for (int64_t g = 0; g < conv.group; ++g) {
      MatrixProduct(Transposed(conv.Filter(w, g)), conv.After(dy, n, g), unrolled.data(), kZero);
      conv.Unroll(n, g, [&](int64_t row, int64_t p, int64_t at) {
        if (at >= 0) sum[at] += unrolled[row * win.out_size + p];
      });
    }
  }
  for (size_t i = 0; i < sum.size(); ++i) dx[i] = static_cast<float>(sum[i]);
}

void ByFilter(const Conv& conv, const float* x, const float* dy, float* dw) {
  const Window& win = conv.window;
  std::vector<float> unrolled(conv.rows() * win.out_size);
  std::vector<double> sum(conv.m * conv.rows(), 0);
  for (int64_t n = 0; n < win.batch; ++n) {
    for (int64_t g = 0; g < conv.group; ++g) {
      conv.Unroll(n, g, [&](int64_t row, int64_t p, int64_t at) {
        unrolled[row * win.out_size + p] = at < 0 ? 0 : x[at];
      });
      const Matrix<float> places{unrolled.data(), win.out_size, conv.rows(), 1, win.out_size};
      double* into = sum.data() + g * conv.group_m() * conv.rows();
      MatrixProductTo(conv.After(dy, n, g), places, kZero,
                      [&](int64_t i, int64_t j, double value) { into[i * conv.rows() + j] += value; });
    }
  }
  for (size_t i = 0; i < sum.size(); ++i) dw[i] = static_cast<float>(sum[i]);
}

// The sum of `y` over images and places, for each of `channels`.
void ByBias(const Window& win, const float* y, int64_t channels, int64_t size, float* db) {
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (int64_t n = 0; n < win.batch; ++n)
      for (int64_t p = 0; p < size; ++p) sum += y[win.At(n, c, p, size, channels)];
    db[c] = static_cast<float>(sum);
  }
}

// Filter dimensions: channels after, then channels before per group and the kernel, in the order of the
// image.
Dims FilterDims(const Conv& conv) {
  Dims dims{conv.m};
  if (!conv.window.channels_last) dims.push_back(conv.group_channels());
  dims.Append(conv.window.kernel.begin(), conv.window.kernel.end());
  if (conv.window.channels_last) dims.push_back(conv.group_channels());
  return dims;
}

Result<Conv> FinishConv(const KernelContext& c, Conv conv, const Tensor& filter) {
  conv.group = c.ArgI("group", 1);
  if (conv.group <= 0 || conv.window.channels % conv.group != 0 || conv.m % conv.group != 0)
    return c.Fail("group ", conv.group, " does not divide the channels ", conv.window.channels, " and ",
                  conv.m);
  const Dims expected = FilterDims(conv);
  if (!std::equal(expected.begin(), expected.end(), filter.dims().begin(), filter.dims().end()))
    return c.Fail("filter is ", DimsToString(filter.dims()), ", expected ", DimsToString(expected));
  conv.offsets = conv.window.Offsets();
  return conv;
}

Result<Conv> FindConv(const KernelContext& c) {
  Conv conv;
  WEFT_TRY(conv.window, FindWindow(c, c.In(0)));
  if (c.In(1).ndim() == 0) return c.Fail("filter has no dimensions");
  conv.m = c.In(1).dim(0);
  return FinishConv(c, std::move(conv), c.In(1));
}

// The convolution whose gradient by the image the transposed one is: it goes from the output to X.
Result<Conv> FindTransposed(const KernelContext& c) {
  Conv conv;
  const Tensor& filter = c.In(1);
  WEFT_TRY(conv.window, FindTransposedWindow(c, c.In(0)));
  if (filter.ndim() != c.In(0).ndim()) return c.Fail("filter is ", DimsToString(filter.dims()));
  conv.m = conv.window.channels;
  conv.window.channels = filter.dim(conv.window.channels_last ? filter.ndim() - 1 : 1) * c.ArgI("group", 1);
  return FinishConv(c, std::move(conv), filter);
}

Result<void> RunConv(KernelContext& c) {
  WEFT_TRY(const Conv conv, FindConv(c));
  const float* bias = nullptr;
  if (c.has_input(2)) {
    WEFT_ENSURE(c, c.In(2).numel() == conv.m, "bias has ", c.In(2).numel(), " elements, expected ", conv.m);
    bias = c.In<float>(2);
  }
  WEFT_TRY(float* y, c.Out<float>(0, conv.window.TensorDims(conv.m, conv.window.out)));
  Forward(conv, c.In<float>(0), c.In<float>(1), bias, y);
  return {};
}

// Outputs dW, then dB unless no_bias, then dX; dX alone may be missing.
Result<void> RunConvGradient(KernelContext& c) {
  WEFT_TRY_VOID(c.CheckInputs(0, 2));
  WEFT_TRY(const Conv conv, FindConv(c));
  WEFT_ENSURE(c, c.In(2).numel() == conv.window.batch * conv.m * conv.window.out_size, "gradient is ",
              DimsToString(c.In(2).dims()));
  const float* dy = c.In<float>(2);
  WEFT_TRY(float* dw, c.Out<float>(0, c.In(1).dims()));
  ByFilter(conv, c.In<float>(0), dy, dw);
  const bool has_bias = !c.ArgB("no_bias", false);
  if (has_bias && c.has_output(1)) {
    WEFT_TRY(float* db, c.Out<float>(1, {conv.m}));
    ByBias(conv.window, dy, conv.m, conv.window.out_size, db);
  }
  const size_t image = has_bias ? 2 : 1;
  if (!c.has_output(image)) return {};
  WEFT_TRY(float* dx, c.Out<float>(image, c.In(0).dims()));
  ByImage(conv, c.In<float>(1), dy, dx);
  return {};
}

Result<void> RunConvTranspose(KernelContext& c) {
  WEFT_TRY(const Conv conv, FindTransposed(c));
  const Window& win = conv.window;
  WEFT_TRY(float* y, c.Out<float>(0, win.TensorDims(win.channels, win.in)));
  ByImage(conv, c.In<float>(1), c.In<float>(0), y);
  if (!c.has_input(2)) return {};
  WEFT_ENSURE(c, c.In(2).numel() == win.channels, "bias has ", c.In(2).numel(), " elements, expected ",
              win.channels);
  for (int64_t n = 0; n < win.batch; ++n)
    for (int64_t ch = 0; ch < win.channels; ++ch)
      for (int64_t p = 0; p < win.in_size; ++p)
        y[win.At(n, ch, p, win.in_size, win.channels)] += c.In<float>(2)[ch];
  return {};
}

Result<void> RunConvTransposeGradient(KernelContext& c) {
  WEFT_TRY_VOID(c.CheckInputs(0, 2));
  WEFT_TRY(const Conv conv, FindTransposed(c));
  const Window& win = conv.window;
  WEFT_ENSURE(c, c.In(2).numel() == win.batch * win.channels * win.in_size, "gradient is ",
              DimsToString(c.In(2).dims()));
  const float* dy = c.In<float>(2);
  WEFT_TRY(float* dw, c.Out<float>(0, c.In(1).dims()));
  ByFilter(conv, dy, c.In<float>(0), dw);
  const bool has_bias = !c.ArgB("no_bias", false);
  if (has_bias && c.has_output(1)) {
    WEFT_TRY(float* db, c.Out<float>(1, {win.channels}));
    ByBias(win, dy, win.channels, win.in_size, db);
  }
  const size_t image = has_bias ? 2 : 1;
  if (!c.has_output(image)) return {};
  WEFT_TRY(float* dx, c.Out<float>(image, c.In(0).dims()));
  Forward(conv, dy, c.In<float>(1), nullptr, dx);
  return {};
}

// Locally connected: each place of the window has a filter of its own; dimensions of the places come first.
Result<Conv> FindLocal(const KernelContext& c) {
  Conv conv;
  WEFT_TRY(conv.window, FindWindow(c, c.In(0)));
  const Tensor& filter = c.In(1);
  const size_t spatial = conv.window.out.size();
  if (filter.ndim() <= spatial) return c.Fail("filter is ", DimsToString(filter.dims()));
  conv.m = filter.dim(spatial);
  conv.group = c.ArgI("group", 1);
  if (conv.group <= 0 || conv.window.channels % conv.group != 0 || conv.m % conv.group != 0)
    return c.Fail("group ", conv.group, " does not divide the channels");
  Dims expected = conv.window.out;
  const Dims rest = FilterDims(conv);
  expected.Append(rest.begin(), rest.end());
  if (!std::equal(expected.begin(), expected.end(), filter.dims().begin(), filter.dims().end()))
    return c.Fail("filter is ", DimsToString(filter.dims()), ", expected ", DimsToString(expected));
  conv.offsets = conv.window.Offsets();
  return conv;
}

// f(image index or -1, filter index, channel after, place) for everything that is multiplied.
template <typename F>
void ForEachLocal(const Conv& conv, int64_t n, F f) {
  for (int64_t g = 0; g < conv.group; ++g)
    conv.Unroll(n, g, [&](int64_t row, int64_t p, int64_t at) {
      if (at < 0) return;
      for (int64_t i = g * conv.group_m(); i < (g + 1) * conv.group_m(); ++i)
        f(at, (p * conv.m + i) * conv.rows() + row, i, p);
    });
}

Result<void> RunLocal(KernelContext& c) {
  WEFT_TRY(const Conv conv, FindLocal(c));
  const Window& win = conv.window;
  const float* x = c.In<float>(0);
  const float* w = c.In<float>(1);
  if (c.has_input(2))
    WEFT_ENSURE(c, c.In(2).numel() == win.out_size * conv.m, "bias is ", DimsToString(c.In(2).dims()));
  std::vector<double> sum(conv.m * win.out_size);
  WEFT_TRY(float* y, c.Out<float>(0, win.TensorDims(conv.m, win.out)));
  for (int64_t n = 0; n < win.batch; ++n) {
    for (int64_t i = 0; i < conv.m; ++i)
      for (int64_t p = 0; p < win.out_size; ++p)
        sum[i * win.out_size + p] = c.has_input(2) ? c.In<float>(2)[p * conv.m + i] : 0;
    ForEachLocal(conv, n, [&](int64_t at, int64_t filter, int64_t i, int64_t p) {
      sum[i * win.out_size + p] += double{x[at]} * w[filter];
    });
    for (int64_t i = 0; i < conv.m; ++i)
      for (int64_t p = 0; p < win.out_size; ++p)
        y[win.At(n, i, p, win.out_size, conv.m)] = static_cast<float>(sum[i * win.out_size + p]);
  }
  return {};
}

Result<void> RunLocalGradient(KernelContext& c) {
  WEFT_TRY_VOID(c.CheckInputs(0, 2));
  WEFT_TRY(const Conv conv, FindLocal(c));
  const Window& win = conv.window;
  WEFT_ENSURE(c, c.In(2).numel() == win.batch * conv.m * win.out_size, "gradient is ",
              DimsToString(c.In(2).dims()));
  const float* x = c.In<float>(0);
  const float* w = c.In<float>(1);
  const float* dy = c.In<float>(2);
  std::vector<double> dw(c.In(1).numel(), 0), db(win.out_size * conv.m, 0), dx(c.In(0).numel(), 0);
  for (int64_t n = 0; n < win.batch; ++n) {
    ForEachLocal(conv, n, [&](int64_t at, int64_t filter, int64_t i, int64_t p) {
      const double g = dy[win.At(n, i, p, win.out_size, conv.m)];
      dw[filter] += g * x[at];
      dx[at] += g * w[filter];
    });
    for (int64_t p = 0; p < win.out_size; ++p)
      for (int64_t i = 0; i < conv.m; ++i) db[p * conv.m + i] += dy[win.At(n, i, p, win.out_size, conv.m)];
  }
  const auto write = [&](size_t output, const std::vector<double>& from,
                         std::span<const int64_t> dims) -> Result<void> {
    WEFT_TRY(float* out, c.Out<float>(output, dims));
    for (size_t i = 0; i < from.size(); ++i) out[i] = static_cast<float>(from[i]);
    return {};
  };
  WEFT_TRY_VOID(write(0, dw, c.In(1).dims()));
  const bool has_bias = !c.ArgB("no_bias", false);
  if (has_bias && c.has_output(1)) {
    Dims dims = win.out;
    dims.push_back(conv.m);
    WEFT_TRY_VOID(write(1, db, dims));
  }
  const size_t image = has_bias ? 2 : 1;
  if (c.has_output(image)) WEFT_TRY_VOID(write(image, dx, c.In(0).dims()));
  return {};
}

// Im2Col makes the unrolled image itself.
Dims UnrolledDims(const Window& w) {
  Dims dims{w.batch};
  if (!w.channels_last) dims.push_back(w.channels * w.kernel_size);
  dims.Append(w.out.begin(), w.out.end());
  if (w.channels_last) dims.push_back(w.channels * w.kernel_size);
  return dims;
}

Result<void> Im2Col(KernelContext& c) {
  Conv conv;
  WEFT_TRY(conv.window, FindWindow(c, c.In(0), true));
  conv.offsets = conv.window.Offsets();
  const Window& w = conv.window;
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, UnrolledDims(w)));
  for (int64_t n = 0; n < w.batch; ++n)
    conv.Unroll(n, 0, [&](int64_t row, int64_t p, int64_t at) {
      y[w.At(n, row, p, w.out_size, conv.rows())] = at < 0 ? 0 : x[at];
    });
  return {};
}

// Inputs the unrolled image, and an image that gives the shape.
Result<void> Col2Im(KernelContext& c) {
  Conv conv;
  WEFT_TRY(conv.window, FindWindow(c, c.In(1), true));
  conv.offsets = conv.window.Offsets();
  const Window& w = conv.window;
  WEFT_ENSURE(c, c.In(0).numel() == NumElements(UnrolledDims(w)), "the unrolled image is ",
              DimsToString(c.In(0).dims()), ", expected ", DimsToString(UnrolledDims(w)));
  const float* x = c.In<float>(0);
  std::vector<double> sum(c.In(1).numel(), 0);
  for (int64_t n = 0; n < w.batch; ++n)
    conv.Unroll(n, 0, [&](int64_t row, int64_t p, int64_t at) {
      if (at >= 0) sum[at] += x[w.At(n, row, p, w.out_size, conv.rows())];
    });
  WEFT_TRY(float* y, c.Out<float>(0, c.In(1).dims()));
  for (size_t i = 0; i < sum.size(); ++i) y[i] = static_cast<float>(sum[i]);
  return {};
}

constexpr KernelRow kRows[] = {
    {"Conv", RunConv, "f"},
    {"ConvGradient", RunConvGradient, "f"},
    {"Conv1D", RunConv, "f"},
    {"Conv1DGradient", RunConvGradient, "f"},
    {"Conv2D", RunConv, "f"},
    {"Conv2DGradient", RunConvGradient, "f"},
    {"Conv3D", RunConv, "f"},
    {"Conv3DGradient", RunConvGradient, "f"},
    {"ConvTranspose", RunConvTranspose, "f"},
    {"ConvTransposeGradient", RunConvTransposeGradient, "f"},
    {"LC", RunLocal, "f"},
    {"LCGradient", RunLocalGradient, "f"},
    {"LC1D", RunLocal, "f"},
    {"LC1DGradient", RunLocalGradient, "f"},
    {"LC2D", RunLocal, "f"},
    {"LC2DGradient", RunLocalGradient, "f"},
    {"LC3D", RunLocal, "f"},
    {"LC3DGradient", RunLocalGradient, "f"},
    {"Im2Col", Im2Col, "f"},
    {"Col2Im", Col2Im, "f?"},
};

}  // namespace
}  // namespace kernels

KernelFamily ConvKernels() { return kernels::kRows; }

}  // namespace weft
