// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over any set of axes: which element of the result each element of the input belongs to.
#pragma once

#include "core/kernels/broadcast.h"
#include "core/run/kernel.h"

namespace weft::kernels {

struct Reducer {
  Dims out;           // dimensions of the result
  int64_t count = 1;  // elements that make one element of the result
  Broadcast map;      // over the input: a is the input index, b the result index

  int64_t out_size() const { return NumElements(out); }
  /// f(input index, result index), in the order of the input.
  template <typename F>
  void ForEach(F f) const {
    map.ForEach([&](int64_t, int64_t in, int64_t to) { f(in, to); });
  }
};

/// Over `axes` (all when empty; negative ones count from the end). Errors: out of range, named twice.
inline Result<Reducer> MakeReducer(const KernelContext& c, std::span<const int64_t> dims,
                                   std::vector<int64_t> axes, bool keep_dims) {
  const int64_t n = static_cast<int64_t>(dims.size());
  std::vector<bool> reduced(dims.size(), axes.empty());
  for (int64_t axis : axes) {
    if (axis < -n || axis >= n) return c.Fail("axis ", axis, " is out of range for ", DimsToString(dims));
    if (axis < 0) axis += n;
    if (reduced[axis]) return c.Fail("axis ", axis, " is named twice");
    reduced[axis] = true;
  }
  Reducer r;
  Dims kept;
  for (size_t i = 0; i < dims.size(); ++i) {
    kept.push_back(reduced[i] ? 1 : dims[i]);
    if (reduced[i]) r.count *= dims[i];
    if (!reduced[i] || keep_dims) r.out.push_back(kept[i]);
  }
  r.map.dims = Dims(dims.begin(), dims.end());
  r.map.a_stride = RepeatStrides(dims, dims);
  r.map.b_stride = RepeatStrides(kept, dims);
  return r;
}

/// By the arguments `axes` (or `axis`) and `keepdims`.
inline Result<Reducer> FindReducer(const KernelContext& c, std::span<const int64_t> dims) {
  std::vector<int64_t> axes = c.ArgIs("axes");
  if (axes.empty() && c.HasArg("axis")) axes.push_back(c.ArgI("axis", 0));
  return MakeReducer(c, dims, std::move(axes), c.ArgB("keepdims", true));
}

}  // namespace weft::kernels
