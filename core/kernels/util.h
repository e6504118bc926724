// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What reference kernels share: dispatch over element types, the accumulator of a type, axes, and elementwise
// loops.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/run/kernel.h"

namespace weft::kernels {

/// Names a type to a generic lambda: `[&](auto tag) { using T = typename decltype(tag)::type; ... }`.
template <typename T>
struct Tag {
  using type = T;
};

/// Calls `f(Tag<T>())` for the T among Ts that `type` is.
template <typename... Ts, typename F>
Result<void> Switch(const KernelContext& c, DataType type, F&& f) {
  Result<void> result = c.Fail("type ", DataTypeName(type), " is not supported here");
  (void)((DataTypeOf<Ts> == type ? (result = f(Tag<Ts>()), true) : false) || ...);
  return result;
}
/// The types that many operators take.
template <typename F>
Result<void> SwitchIndex(const KernelContext& c, DataType type, F&& f) {
  return Switch<int32_t, int64_t>(c, type, std::forward<F>(f));
}
template <typename F>
Result<void> SwitchFloat(const KernelContext& c, DataType type, F&& f) {
  return Switch<float, double>(c, type, std::forward<F>(f));
}
template <typename F>
Result<void> SwitchNumber(const KernelContext& c, DataType type, F&& f) {
  return Switch<float, double, int32_t, int64_t>(c, type, std::forward<F>(f));
}
template <typename F>
Result<void> SwitchAny(const KernelContext& c, DataType type, F&& f) {
  return Switch<float, int32_t, int64_t, double, bool, uint8_t, int8_t, uint16_t, int16_t, Half, std::string>(
      c, type, std::forward<F>(f));
}

/// Sums of T are formed in this.
template <typename T>
using Acc = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;

/// Counts from the end when negative. Errors: out of range.
inline Result<int64_t> Axis(const KernelContext& c, int64_t axis, size_t ndim) {
  const int64_t n = static_cast<int64_t>(ndim);
  if (axis < -n || axis >= n)
    return c.Fail("axis ", axis, " is out of range for a tensor with ", n, " dimensions");
  return axis < 0 ? axis + n : axis;
}

inline Dims ToDims(std::span<const int64_t> dims) { return Dims(dims.begin(), dims.end()); }

inline bool SameDims(const Tensor& a, const Tensor& b) {
  return a.ndim() == b.ndim() && std::equal(a.dims().begin(), a.dims().end(), b.dims().begin());
}

/// Y = f(X) element by element. Row: kInPlace.
template <typename T, auto f>
Result<void> Map1(KernelContext& c) {
  const Tensor& in = c.In(0);
  const T* x = in.data<T>();
  const int64_t n = in.numel();
  WEFT_TRY(T * y, c.Out<T>(0, in.dims()));
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(f(x[i]));
  return {};
}

/// The output like input 1 in shape: f(input 0, input 1). Both have as many elements. Row: kInPlace.
template <typename T, auto f>
Result<void> Map2(KernelContext& c) {
  const Tensor& a = c.In(0);
  const Tensor& b = c.In(1);
  WEFT_ENSURE(c, a.numel() == b.numel(), "inputs have ", DimsToString(a.dims()), " and ",
              DimsToString(b.dims()), ", expected as many elements");
  const int64_t n = a.numel();
  const T* x = a.data<T>();
  const T* z = b.data<T>();
  WEFT_TRY(T * y, c.Out<T>(0, a.dims()));
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(f(x[i], z[i]));
  return {};
}

}  // namespace weft::kernels
