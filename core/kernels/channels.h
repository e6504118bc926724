// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor seen as images with channels: where element `i` of channel `c` of image `n` is, in either storage
// order.
#pragma once

#include "core/run/kernel.h"

namespace weft::kernels {

struct Channels {
  int64_t batch = 0, channels = 0, size = 0;  // size: elements per channel of an image
  bool last = false;

  int64_t At(int64_t n, int64_t c, int64_t i) const {
    return last ? (n * size + i) * channels + c : (n * channels + c) * size + i;
  }
  int64_t per_channel() const { return batch * size; }
  /// f(index) for every element of a channel.
  template <typename F>
  void ForEach(int64_t c, F f) const {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t i = 0; i < size; ++i) f(At(n, c, i));
  }
};

/// By the argument `order`. Errors: fewer than two dimensions, an unknown order.
inline Result<Channels> FindChannels(const KernelContext& c, const Tensor& x) {
  const std::string order = c.ArgS("order", "NCHW");
  if (order != "NCHW" && order != "NHWC") return c.Fail("Unknown storage order ", order);
  if (x.ndim() < 2) return c.Fail("needs images with channels, found ", DimsToString(x.dims()));
  Channels out;
  out.last = order == "NHWC";
  out.batch = x.dim(0);
  out.channels = x.dim(out.last ? x.ndim() - 1 : 1);
  out.size = 1;
  for (size_t i = 1; i < x.ndim(); ++i)
    if (i != (out.last ? x.ndim() - 1 : 1)) out.size *= x.dim(i);
  return out;
}

}  // namespace weft::kernels
