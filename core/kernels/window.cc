// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/window.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels {

namespace {

Result<Window> ReadWindow(const KernelContext& c, const Tensor& x, bool columns = false) {
  Window w;
  if (x.ndim() < 3) return c.Fail("needs a batch of images with channels, found ", DimsToString(x.dims()));
  const std::string order = c.ArgS("order", "NCHW");
  w.channels_last = order == "NHWC";
  if (!w.channels_last && order != "NCHW") return c.Fail("Unknown storage order ", order);
  w.batch = x.dim(0);
  w.channels = x.dim(w.channels_last ? x.ndim() - 1 : 1);
  const auto first = x.dims().begin() + (w.channels_last ? 1 : 2);
  w.in = Dims(first, first + (x.ndim() - 2));
  const size_t n = w.in.size();
  for (const int64_t size : w.in)
    if (size > kMostWindow)
      return c.Fail("the image has ", size, " elements along a side, at most ", kMostWindow);
  w.global = c.ArgB("global_pooling", false);
  w.legacy_pad = c.ArgI("legacy_pad", 0);
  if (const auto wrong = ReadWindowArgs(*c.net().symbols, c.op().args, n, columns, w))
    return c.Fail("expected ", wrong->expected, ", given ", wrong->given);
  if (w.global) w.kernel = w.in;
  for (size_t i = 0; i < n; ++i) {
    if (w.kernel[i] <= 0 && !(w.global && w.in[i] == 0))
      return c.Fail("the kernel of spatial dimension ", i, " is ", w.kernel[i]);
    if (w.stride[i] <= 0 || w.dilation[i] <= 0 || w.pad_head[i] < 0 || w.pad_tail[i] < 0)
      return c.Fail("stride and dilation must be positive, padding not negative");
    if (w.legacy_pad == 1) w.pad_head[i] = w.pad_tail[i] = 0;
    if (w.global) {
      w.pad_head[i] = w.pad_tail[i] = 0;
      w.dilation[i] = 1;
    }
  }
  return w;
}

// Of sizes that are known now; and there must be room for the image unrolled, and for both images.
Result<void> FindProducts(const KernelContext& c, Window& w) {
  for (const Dims& sizes : {w.in, w.out, w.kernel})
    if (NumElements(sizes) < 0) return c.Fail("the sizes ", DimsToString(sizes), " are too large");
  w.in_size = NumElements(w.in);
  w.out_size = NumElements(w.out);
  w.kernel_size = NumElements(w.kernel);
  WEFT_TRY_VOID(c.CheckRoom({w.channels, w.kernel_size, w.out_size}));
  WEFT_TRY_VOID(c.CheckRoom({w.batch, w.channels, w.in_size}));
  return c.CheckRoom({w.kernel_size, w.out_size});
}

}  // namespace

Result<Window> FindWindow(const KernelContext& c, const Tensor& x, bool columns) {
  WEFT_TRY(Window w, ReadWindow(c, x, columns));
  for (size_t i = 0; i < w.in.size(); ++i) {
    const int64_t covered = w.dilation[i] * (w.kernel[i] - 1) + 1;
    int64_t out;
    if (w.global) {
      out = 1;
    } else if (w.legacy_pad == 2) {
      const int64_t target = (w.in[i] + w.stride[i] - 1) / w.stride[i];
      const int64_t needed = std::max<int64_t>(0, (target - 1) * w.stride[i] + w.kernel[i] - w.in[i]);
      w.pad_head[i] = needed / 2;
      w.pad_tail[i] = needed - needed / 2;
      out = (w.in[i] + needed - covered) / w.stride[i] + 1;
    } else if (w.legacy_pad == 3) {
      const int64_t pad = w.pad_head[i];
      out = static_cast<int64_t>(std::ceil(static_cast<double>(w.in[i] + 2 * pad - w.kernel[i]) /
                                           static_cast<double>(w.stride[i]))) +
            1;
      if (pad > 0 && (out - 1) * w.stride[i] >= w.in[i] + pad) --out;
      w.pad_tail[i] = std::max(w.pad_tail[i], w.stride[i] * (out - 1) + w.kernel[i] - w.in[i] - pad);
    } else {
      const int64_t padded = w.in[i] + w.pad_head[i] + w.pad_tail[i];
      if (padded < covered)
        return c.Fail("the image with its padding has ", padded, " elements along spatial dimension ", i,
                      ", the kernel covers ", covered);
      out = (padded - covered) / w.stride[i] + 1;
    }
    w.out.push_back(out);
  }
  WEFT_TRY_VOID(FindProducts(c, w));
  return w;
}

Result<Window> FindTransposedWindow(const KernelContext& c, const Tensor& x) {
  WEFT_TRY(Window w, ReadWindow(c, x));
  w.out = w.in;
  for (size_t i = 0; i < w.in.size(); ++i) {
    if (w.adjust[i] < 0 || w.adjust[i] >= w.stride[i])
      return c.Fail("adj ", w.adjust[i], " must be in [0, stride ", w.stride[i], ")");
    const int64_t size = (w.out[i] - 1) * w.stride[i] + w.kernel[i] + w.adjust[i];
    int64_t in = size - w.pad_head[i] - w.pad_tail[i];
    if (w.legacy_pad == 2) {
      in = w.out[i] * w.stride[i];
      const int64_t removed = std::max<int64_t>(0, size - in);
      w.pad_head[i] = removed / 2;
      w.pad_tail[i] = removed - removed / 2;
    }
    if (in < 0) return c.Fail("padding is larger than the image along spatial dimension ", i);
    w.in[i] = in;
  }
  WEFT_TRY_VOID(FindProducts(c, w));
  return w;
}

std::vector<int64_t> Window::Offsets() const {
  const size_t n = in.size();
  std::vector<int64_t> offsets;
  offsets.reserve(kernel_size * out_size);
  Dims k, o;
  for (size_t i = 0; i < n; ++i) {
    k.push_back(0);
    o.push_back(0);
  }
  const auto next = [n](Dims& at, const Dims& size) {
    for (size_t i = n; i-- > 0;) {
      if (++at[i] < size[i]) return;
      at[i] = 0;
    }
  };
  for (int64_t position = 0; position < kernel_size; ++position, next(k, kernel)) {
    for (int64_t place = 0; place < out_size; ++place, next(o, out)) {
      int64_t offset = 0;
      for (size_t i = 0; i < n && offset >= 0; ++i) {
        const int64_t at = o[i] * stride[i] - pad_head[i] + k[i] * dilation[i];
        offset = at >= 0 && at < in[i] ? offset * in[i] + at : -1;
      }
      offsets.push_back(offset);
    }
  }
  return offsets;
}

Dims Window::TensorDims(int64_t of_channels, const Dims& spatial) const {
  Dims dims{batch};
  if (!channels_last) dims.push_back(of_channels);
  dims.Append(spatial.begin(), spatial.end());
  if (channels_last) dims.push_back(of_channels);
  return dims;
}

}  // namespace weft::kernels
