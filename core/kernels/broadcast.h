// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Broadcasting, in one place: numpy's rule, and Caffe2's older one in which B matches a run of A's dimensions
// (arguments broadcast, axis, axis_str, order). A Broadcast says for every element of the result which
// element of A and of B belong to it.
#pragma once

#include <cstdint>
#include <span>

#include "core/run/kernel.h"

namespace weft::kernels {

struct Broadcast {
  Dims dims;                // of the result
  Dims a_stride, b_stride;  // per dimension of the result, 0 where that operand is repeated

  /// f(result index, a index, b index) for every element of the result, in order.
  template <typename F>
  void ForEach(F&& f) const {
    const int64_t count = NumElements(dims);
    if (count == 0) return;
    if (dims.empty()) {
      f(0, 0, 0);
      return;
    }
    const size_t last = dims.size() - 1;
    Dims at;
    for (size_t i = 0; i < dims.size(); ++i) at.push_back(0);
    int64_t a = 0, b = 0, out = 0;
    while (true) {
      for (int64_t i = 0; i < dims[last]; ++i) f(out++, a + i * a_stride[last], b + i * b_stride[last]);
      size_t d = last;
      while (true) {
        if (d == 0) return;
        --d;
        a += a_stride[d];
        b += b_stride[d];
        if (++at[d] < dims[d]) break;
        a -= a_stride[d] * dims[d];
        b -= b_stride[d] * dims[d];
        at[d] = 0;
      }
    }
  }
};

/// numpy's rule. Errors: dimensions that do not fit.
Result<Broadcast> MakeBroadcast(const KernelContext& c, std::span<const int64_t> a,
                                std::span<const int64_t> b);

/// As the operator's arguments say: numpy's rule unless `broadcast` is set, or is not given and `older` is
/// true.
Result<Broadcast> MakeBroadcastFromArgs(const KernelContext& c, std::span<const int64_t> a,
                                        std::span<const int64_t> b, bool older = false);

/// Strides of `from` when it is repeated to `to` (numpy's rule). REQUIRES: it fits.
Dims RepeatStrides(std::span<const int64_t> from, std::span<const int64_t> to);

}  // namespace weft::kernels
