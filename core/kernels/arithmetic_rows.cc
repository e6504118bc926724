// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic between a matrix and a number per row or column, choices between tensors, and sums over what was
// repeated.
#include <cmath>

#include "core/kernels/broadcast.h"
#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// X seen from an axis on as [n, d].
struct Matrixed {
  int64_t n, d;
};
Result<Matrixed> FindMatrix(const KernelContext& c, const Tensor& x) {
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", 1), x.ndim()));
  return Matrixed{x.SizeTo(axis), x.SizeFrom(axis)};
}

// Inputs X, a, b: X * a + b, with a number per column.
Result<void> ElementwiseLinear(KernelContext& c) {
  WEFT_TRY(const Matrixed m, FindMatrix(c, c.In(0)));
  WEFT_ENSURE(c, c.In(1).numel() == m.d && c.In(2).numel() == m.d, "a and b must have ", m.d, " elements");
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < m.n * m.d; ++i) y[i] = x[i] * c.In<float>(1)[i % m.d] + c.In<float>(2)[i % m.d];
  return {};
}

// Inputs dY, X, a; outputs dX, da, db.
Result<void> ElementwiseLinearGradient(KernelContext& c) {
  WEFT_TRY(const Matrixed m, FindMatrix(c, c.In(1)));
  WEFT_ENSURE(c, c.In(0).numel() == m.n * m.d && c.In(2).numel() == m.d, "inputs differ in shape");
  const float* dy = c.In<float>(0);
  const float* x = c.In<float>(1);
  std::vector<double> da(m.d, 0), db(m.d, 0);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(1).dims()));
  for (int64_t i = 0; i < m.n * m.d; ++i) {
    da[i % m.d] += double{dy[i]} * x[i];
    db[i % m.d] += dy[i];
    dx[i] = dy[i] * c.In<float>(2)[i % m.d];
  }
  for (size_t output : {1, 2}) {
    WEFT_TRY(float* out, c.Out<float>(output, {m.d}));
    for (int64_t k = 0; k < m.d; ++k) out[k] = static_cast<float>((output == 1 ? da : db)[k]);
  }
  return {};
}

Result<void> RowMul(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() >= 1 && c.In(1).numel() == x.dim(0), "expected a number per row");
  const int64_t width = x.SizeFrom(1);
  WEFT_TRY(float* y, c.Out<float>(0, x.dims()));
  for (int64_t i = 0; i < x.numel(); ++i) y[i] = x.data<float>()[i] * c.In<float>(1)[i / width];
  return {};
}

Result<void> ReduceTailSum(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() >= 1, "needs rows");
  const int64_t width = x.SizeFrom(1);
  WEFT_TRY(float* y, c.Out<float>(0, {x.dim(0)}));
  for (int64_t i = 0; i < x.dim(0); ++i) {
    double sum = 0;
    for (int64_t k = i * width; k < (i + 1) * width; ++k) sum += x.data<float>()[k];
    y[i] = static_cast<float>(sum);
  }
  return {};
}

// Rows divided by the root of their number; 0 leaves the row as it is.
Result<void> SquareRootDivide(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() >= 1 && c.In(1).numel() == x.dim(0), "expected a number per row");
  const int64_t width = x.SizeFrom(1);
  return SwitchNumber(c, c.In(1).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    for (T scale : c.In(1).values<T>()) WEFT_ENSURE(c, !(scale < T(0)), "scale must not be negative");
    const float* in = x.data<float>();
    const int64_t n = x.numel();
    WEFT_TRY(float* y, c.Out<float>(0, x.dims()));
    for (int64_t i = 0; i < n; ++i) {
      const double scale = static_cast<double>(c.In<T>(1)[i / width]);
      y[i] = scale == 0 ? in[i] : static_cast<float>(in[i] / std::sqrt(scale));
    }
    return {};
  });
}

// A summed over all that B would be repeated for.
Result<void> SumReduceLike(KernelContext& c) {
  const Tensor& a = c.In(0);
  const Tensor& b = c.In(1);
  WEFT_TRY(const Broadcast map, MakeBroadcastFromArgs(c, a.dims(), b.dims(), /*older=*/c.HasArg("axis")));
  WEFT_ENSURE(c, NumElements(map.dims) == a.numel(), "A is smaller than B: ", DimsToString(a.dims()), " and ",
              DimsToString(b.dims()));
  return SwitchFloat(c, a.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    std::vector<double> sum(b.numel(), 0);
    map.ForEach([&](int64_t, int64_t from, int64_t to) { sum[to] += a.data<T>()[from]; });
    WEFT_TRY(T * out, c.Out<T>(0, b.dims()));
    for (size_t i = 0; i < sum.size(); ++i) out[i] = static_cast<T>(sum[i]);
    return {};
  });
}

// Inputs condition, X, Y: element by element, or row by row with broadcast_on_rows.
Result<void> Where(KernelContext& c) {
  const Tensor& condition = c.In(0);
  const Tensor& x = c.In(1);
  const Tensor& y = c.In(2);
  WEFT_ENSURE(c, SameDims(x, y) && x.type() == y.type(), "X and Y differ: ", DimsToString(x.dims()), " and ",
              DimsToString(y.dims()));
  int64_t block = 1;
  if (c.ArgB("broadcast_on_rows", false)) {
    WEFT_ENSURE(c, condition.ndim() == 1 && x.ndim() >= 1 && condition.dim(0) == x.dim(0),
                "expected a condition per row");
    block = x.SizeFrom(1);
  } else {
    WEFT_ENSURE(c, condition.numel() == x.numel(), "expected a condition per element");
  }
  WEFT_TRY_VOID(c.Allocate(0, x.type(), x.dims()));
  for (int64_t i = 0; i < condition.numel(); ++i)
    CopyElements(condition.data<bool>()[i] ? x : y, i * block, c.Out(0), i * block, block);
  return {};
}

constexpr KernelRow kRows[] = {
    {"ElementwiseLinear", ElementwiseLinear, "f"},
    {"ElementwiseLinearGradient", ElementwiseLinearGradient, "f"},
    {"RowMul", RowMul, "f"},
    {"ReduceTailSum", ReduceTailSum, "f"},
    {"SquareRootDivide", SquareRootDivide, "fN", kInPlace},
    {"SumReduceLike", SumReduceLike, "F"},
    {"Where", Where, "b*"},
};

}  // namespace
}  // namespace kernels

KernelFamily ArithmeticRowsKernels() { return kernels::kRows; }

}  // namespace weft
