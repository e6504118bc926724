// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices: FC, FCTransposed, MatMul, BatchMatMul.
#include "core/kernels/broadcast.h"
#include "core/kernels/families.h"
#include "core/kernels/matrix.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// How an FC sees its inputs: X is [m, k], W is [n, k] (or [k, n] when transposed).
struct FCShape {
  int64_t m, n, k;
  int64_t axis;
};

Result<FCShape> FindFCShape(const KernelContext& c, const Tensor& x, const Tensor& w, bool transposed) {
  FCShape s;
  WEFT_TRY(s.axis, Axis(c, c.ArgI("axis", 1), x.ndim()));
  WEFT_TRY(const int64_t axis_w, Axis(c, c.ArgI("axis_w", 1), w.ndim()));
  s.m = x.SizeTo(s.axis);
  s.k = x.SizeFrom(s.axis);
  s.n = transposed ? w.SizeFrom(axis_w) : w.SizeTo(axis_w);
  const int64_t k = transposed ? w.SizeTo(axis_w) : w.SizeFrom(axis_w);
  if (k != s.k)
    return c.Fail("X ", DimsToString(x.dims()), " has ", s.k, " columns from axis ", s.axis, ", W ",
                  DimsToString(w.dims()), " has ", k);
  return s;
}

template <bool transposed>
Result<void> FC(KernelContext& c) {
  const Tensor& x = c.In(0);
  const Tensor& w = c.In(1);
  WEFT_TRY(const FCShape s, FindFCShape(c, x, w, transposed));
  WEFT_ENSURE(c, c.In(2).numel() == s.n, "b has ", c.In(2).numel(), " elements, expected ", s.n);
  const float* b = c.In<float>(2);
  Dims dims;
  dims.Append(x.dims().begin(), x.dims().begin() + s.axis);
  dims.push_back(s.n);
  WEFT_TRY(float* y, c.Out<float>(0, dims));
  const Matrix<float> xs{x.data<float>(), s.m, s.k, s.k, 1};
  const Matrix<float> ws = transposed ? Matrix<float>{w.data<float>(), s.k, s.n, s.n, 1}
                                      : Matrix<float>{w.data<float>(), s.k, s.n, 1, s.k};
  MatrixProduct(xs, ws, y, [&](int64_t, int64_t j) { return double{b[j]}; });
  return {};
}

// Inputs X, W, dY; outputs dW, db, dX.
template <bool transposed>
Result<void> FCGradient(KernelContext& c) {
  const Tensor& x = c.In(0);
  const Tensor& w = c.In(1);
  WEFT_TRY(const FCShape s, FindFCShape(c, x, w, transposed));
  WEFT_ENSURE(c, c.In(2).numel() == s.m * s.n, "dY ", DimsToString(c.In(2).dims()), " does not fit [", s.m,
              ", ", s.n, "]");
  const float* g = c.In<float>(2);
  const float* xd = x.data<float>();
  const float* wd = w.data<float>();
  const auto zero = [](int64_t, int64_t) { return 0.0; };
  WEFT_TRY(float* dw, c.Out<float>(0, w.dims()));
  if (transposed) {
    MatrixProduct(Matrix<float>{xd, s.k, s.m, 1, s.k}, Matrix<float>{g, s.m, s.n, s.n, 1}, dw, zero);
  } else {
    MatrixProduct(Matrix<float>{g, s.n, s.m, 1, s.n}, Matrix<float>{xd, s.m, s.k, s.k, 1}, dw, zero);
  }
  WEFT_TRY(float* db, c.Out<float>(1, {s.n}));
  for (int64_t j = 0; j < s.n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < s.m; ++i) sum += g[i * s.n + j];
    db[j] = static_cast<float>(sum);
  }
  if (!c.has_output(2)) return {};
  WEFT_TRY(float* dx, c.Out<float>(2, x.dims()));
  const Matrix<float> ws =
      transposed ? Matrix<float>{wd, s.n, s.k, 1, s.n} : Matrix<float>{wd, s.n, s.k, s.k, 1};
  MatrixProduct(Matrix<float>{g, s.m, s.n, s.n, 1}, ws, dx, zero);
  return {};
}

// A third input gives the shape of the result.
Result<void> MatMul(KernelContext& c) {
  const Tensor& a = c.In(0);
  const Tensor& b = c.In(1);
  const bool trans_a = c.ArgB("trans_a", false), trans_b = c.ArgB("trans_b", false);
  WEFT_TRY(const int64_t axis_a, Axis(c, c.ArgI("axis_a", 1), a.ndim()));
  WEFT_TRY(const int64_t axis_b, Axis(c, c.ArgI("axis_b", 1), b.ndim()));
  const Matrix<float> x = Matrix<float>::Of(a.data<float>(), a.SizeTo(axis_a), a.SizeFrom(axis_a), trans_a);
  const Matrix<float> y = Matrix<float>::Of(b.data<float>(), b.SizeTo(axis_b), b.SizeFrom(axis_b), trans_b);
  WEFT_ENSURE(c, x.columns == y.rows, "dimension mismatch: ", DimsToString(a.dims()),
              trans_a ? " (trans)" : "", " and ", DimsToString(b.dims()), trans_b ? " (trans)" : "");
  Dims dims{x.rows, y.columns};
  if (c.num_inputs() == 3) {
    WEFT_ENSURE(c, c.In(2).numel() == x.rows * y.columns, "the shape given, ", DimsToString(c.In(2).dims()),
                ", does not hold ", x.rows, " x ", y.columns, " elements");
    dims = Dims(c.In(2).dims());
  }
  WEFT_TRY(float* out, c.Out<float>(0, dims));
  MatrixProduct(x, y, out, [](int64_t, int64_t) { return 0.0; });
  return {};
}

// numpy.matmul: matrices in the last two dimensions, the others broadcast; a vector is a row on the left and
// a column on the right, and that dimension is dropped from the result.
Result<void> BatchMatMul(KernelContext& c) {
  const Tensor& a = c.In(0);
  const Tensor& b = c.In(1);
  const bool trans_a = c.ArgB("trans_a", false), trans_b = c.ArgB("trans_b", false);
  WEFT_ENSURE(c, a.ndim() > 0 && b.ndim() > 0, "inputs must have dimensions");
  Dims da(a.dims()), db(b.dims());
  if (a.ndim() == 1) da = Dims{1, a.dim(0)};
  if (b.ndim() == 1) db = Dims{b.dim(0), 1};
  const size_t na = da.size(), nb = db.size();
  const std::span<const int64_t> batch_a(da.data(), na - 2), batch_b(db.data(), nb - 2);
  WEFT_TRY(const Broadcast batch, MakeBroadcast(c, batch_a, batch_b));
  const int64_t size_a = da[na - 2] * da[na - 1], size_b = db[nb - 2] * db[nb - 1];
  const float* pa = a.data<float>();
  const float* pb = b.data<float>();
  const auto left = [&](int64_t i) {
    return Matrix<float>::Of(pa + i * size_a, da[na - 2], da[na - 1], trans_a && a.ndim() > 1);
  };
  const auto right = [&](int64_t i) {
    return Matrix<float>::Of(pb + i * size_b, db[nb - 2], db[nb - 1], trans_b && b.ndim() > 1);
  };
  const int64_t rows = left(0).rows, columns = right(0).columns;
  WEFT_ENSURE(c, left(0).columns == right(0).rows, "dimension mismatch: ", DimsToString(a.dims()),
              trans_a ? " (trans)" : "", " and ", DimsToString(b.dims()), trans_b ? " (trans)" : "");
  Dims dims = batch.dims;
  if (a.ndim() > 1) dims.push_back(rows);
  if (b.ndim() > 1) dims.push_back(columns);
  if (a.ndim() == 1 && b.ndim() == 1) dims.push_back(1);
  WEFT_TRY(float* out, c.Out<float>(0, dims));
  batch.ForEach([&](int64_t i, int64_t j, int64_t k) {
    MatrixProduct(left(j), right(k), out + i * rows * columns, [](int64_t, int64_t) { return 0.0; });
  });
  return {};
}

constexpr KernelRow kRows[] = {
    {"FC", FC<false>, "f"},
    {"FCTransposed", FC<true>, "f"},
    {"FCGradient", FCGradient<false>, "f"},
    {"FCTransposedGradient", FCGradient<true>, "f"},
    {"MatMul", MatMul, "ff?"},
    {"BatchMatMul", BatchMatMul, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily LinearKernels() { return kernels::kRows; }

}  // namespace weft
