// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/broadcast.h"

#include <algorithm>

namespace weft::kernels {

Dims RepeatStrides(std::span<const int64_t> from, std::span<const int64_t> to) {
  Dims strides;
  for (size_t i = 0; i < to.size(); ++i) strides.push_back(0);
  int64_t stride = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t dim = from[from.size() - 1 - i];
    strides[to.size() - 1 - i] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
  return strides;
}

Result<Broadcast> MakeBroadcast(const KernelContext& c, std::span<const int64_t> a,
                                std::span<const int64_t> b) {
  Broadcast out;
  const size_t n = std::max(a.size(), b.size());
  for (size_t i = 0; i < n; ++i) {
    const int64_t x = i + a.size() >= n ? a[i + a.size() - n] : 1;
    const int64_t y = i + b.size() >= n ? b[i + b.size() - n] : 1;
    if (x != y && x != 1 && y != 1)
      return c.Fail("cannot broadcast ", DimsToString(a), " and ", DimsToString(b), ": dimension ", i, " is ",
                    x, " and ", y);
    out.dims.push_back(x == 0 || y == 0 ? 0 : std::max(x, y));
  }
  out.a_stride = RepeatStrides(a, out.dims);
  out.b_stride = RepeatStrides(b, out.dims);
  return out;
}

Result<Broadcast> MakeBroadcastFromArgs(const KernelContext& c, std::span<const int64_t> a,
                                        std::span<const int64_t> b, bool older) {
  if (!c.ArgB("broadcast", older)) return MakeBroadcast(c, a, b);
  int64_t axis = c.ArgI("axis", -1);
  const std::string axis_str = c.ArgS("axis_str", "");
  if (!axis_str.empty()) {
    if (axis != -1) return c.Fail("Args axis and axis_str cannot be used simultaneously.");
    const size_t found = c.ArgS("order", "NCHW").find(axis_str);
    if (axis_str.size() != 1 || found == std::string::npos)
      return c.Fail("Unsupported axis string ", axis_str);
    axis = static_cast<int64_t>(found);
  }
  Broadcast out;
  if (NumElements(b) == 1) {
    out.dims = Dims(a.begin(), a.end());
    out.a_stride = RepeatStrides(a, a);
    for (size_t i = 0; i < a.size(); ++i) out.b_stride.push_back(0);
    return out;
  }
  if (a.size() < b.size())
    return c.Fail(
        "If you are doing broadcasting, input1 should have a smaller or equal number of dimensions: ",
        DimsToString(a), " and ", DimsToString(b));
  const int64_t room = static_cast<int64_t>(a.size() - b.size());
  if (axis == -1) axis = room;
  if (axis < 0 || axis > room)
    return c.Fail("Broadcast axis should be in the range of 0 to ", room, ", found ", axis);
  out.dims = Dims(a.begin(), a.end());
  out.a_stride = RepeatStrides(a, a);
  for (size_t i = 0; i < a.size(); ++i) out.b_stride.push_back(0);
  // Ones at either end of B match anything; between them every dimension must be the same.
  size_t first = 0;
  while (first < b.size() && b[first] == 1) ++first;
  size_t end = b.size();
  while (end > first && b[end - 1] == 1) --end;
  int64_t stride = 1;
  for (size_t i = end; i-- > first;) {
    if (a[i + axis] != b[i])
      return c.Fail("Broadcast dimension mismatch: ", DimsToString(a), " and ", DimsToString(b),
                    " from axis ", axis);
    out.b_stride[i + axis] = stride;
    stride *= b[i];
  }
  return out;
}

}  // namespace weft::kernels
