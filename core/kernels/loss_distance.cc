// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Distances and products between the rows of two tensors, and their gradients.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

struct RowPairs {
  int64_t n, d;
};
Result<RowPairs> FindRows(const KernelContext& c) {
  const Tensor& x = c.In(0);
  if (!SameDims(x, c.In(1)))
    return c.Fail("inputs differ in shape: ", DimsToString(x.dims()), " and ", DimsToString(c.In(1).dims()));
  const int64_t n = x.ndim() ? x.dim(0) : 1;
  return RowPairs{n, n ? x.numel() / n : 0};
}

// out[i] = f(row i of X, row i of Y, width).
template <double (*f)(const float*, const float*, int64_t)>
Result<void> RowFunction(KernelContext& c) {
  WEFT_TRY(const RowPairs r, FindRows(c));
  const float* x = c.In<float>(0);
  const float* y = c.In<float>(1);
  WEFT_TRY(float* out, c.Out<float>(0, {r.n}));
  for (int64_t i = 0; i < r.n; ++i) out[i] = static_cast<float>(f(x + i * r.d, y + i * r.d, r.d));
  return {};
}

// Inputs X, Y, gradient; f(x row, y row, width, gradient, dx row, dy row).
using RowGradientFn = void (*)(const float*, const float*, int64_t, double, float*, float*);
template <RowGradientFn f>
Result<void> RowGradient(KernelContext& c) {
  WEFT_TRY(const RowPairs r, FindRows(c));
  WEFT_ENSURE(c, c.In(2).numel() == r.n, "expected ", r.n, " gradients, found ", c.In(2).numel());
  const float* x = c.In<float>(0);
  const float* y = c.In<float>(1);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  WEFT_TRY(float* dy, c.Out<float>(1, c.In(1).dims()));
  for (int64_t i = 0; i < r.n; ++i)
    f(x + i * r.d, y + i * r.d, r.d, c.In<float>(2)[i], dx + i * r.d, dy + i * r.d);
  return {};
}

double Dot(const float* x, const float* y, int64_t d) {
  double sum = 0;
  for (int64_t i = 0; i < d; ++i) sum += double{x[i]} * y[i];
  return sum;
}
void DotGradient(const float* x, const float* y, int64_t d, double g, float* dx, float* dy) {
  for (int64_t i = 0; i < d; ++i) {
    dx[i] = static_cast<float>(g * y[i]);
    dy[i] = static_cast<float>(g * x[i]);
  }
}

double HalfSquare(const float* x, const float* y, int64_t d) {
  double sum = 0;
  for (int64_t i = 0; i < d; ++i) sum += (double{x[i]} - y[i]) * (double{x[i]} - y[i]);
  return sum / 2;
}
void HalfSquareGradient(const float* x, const float* y, int64_t d, double g, float* dx, float* dy) {
  for (int64_t i = 0; i < d; ++i) {
    dx[i] = static_cast<float>(g * (double{x[i]} - y[i]));
    dy[i] = static_cast<float>(g * (double{y[i]} - x[i]));
  }
}

double AbsoluteDifference(const float* x, const float* y, int64_t d) {
  double sum = 0;
  for (int64_t i = 0; i < d; ++i) sum += std::fabs(double{x[i]} - y[i]);
  return sum;
}
void AbsoluteDifferenceGradient(const float* x, const float* y, int64_t d, double g, float* dx, float* dy) {
  constexpr double kSame = 1e-12;
  for (int64_t i = 0; i < d; ++i) {
    const double difference = double{x[i]} - y[i];
    dx[i] = static_cast<float>(difference < -kSame ? -g : difference > kSame ? g : 0);
    dy[i] = -dx[i];
  }
}

constexpr double kSmallestNorm = 1e-12;  // squared

double Cosine(const float* x, const float* y, int64_t d) {
  const double xx = std::max(Dot(x, x, d), kSmallestNorm), yy = std::max(Dot(y, y, d), kSmallestNorm);
  return Dot(x, y, d) / std::sqrt(xx * yy);
}
void CosineGradient(const float* x, const float* y, int64_t d, double g, float* dx, float* dy) {
  const double xx = std::max(Dot(x, x, d), kSmallestNorm), yy = std::max(Dot(y, y, d), kSmallestNorm);
  const double xy = Dot(x, y, d), scale = g / std::sqrt(xx * yy);
  for (int64_t i = 0; i < d; ++i) {
    dx[i] = static_cast<float>(scale * (y[i] - x[i] * xy / xx));
    dy[i] = static_cast<float>(scale * (x[i] - y[i] * xy / yy));
  }
}

// The shorter rows are padded with a value, or repeated.
struct Padded {
  int64_t n, dx, dy;
  bool replicate;
  double value;
};
Result<Padded> FindPadded(const KernelContext& c) {
  const Tensor& x = c.In(0);
  const Tensor& y = c.In(1);
  if (x.ndim() != y.ndim() || (x.ndim() && x.dim(0) != y.dim(0)))
    return c.Fail("inputs differ in rows: ", DimsToString(x.dims()), " and ", DimsToString(y.dims()));
  Padded p{x.ndim() ? x.dim(0) : 1, x.SizeFrom(1), y.SizeFrom(1), c.ArgB("replicate", false),
           c.ArgF("pad_value", 0)};
  const int64_t shorter = std::min(p.dx, p.dy), longer = std::max(p.dx, p.dy);
  if (p.replicate && (shorter == 0 || longer % shorter != 0))
    return c.Fail("rows of ", longer, " are no multiple of rows of ", shorter);
  return p;
}

Result<void> DotProductWithPadding(KernelContext& c) {
  WEFT_TRY(const Padded p, FindPadded(c));
  WEFT_TRY(float* out, c.Out<float>(0, {p.n}));
  const int64_t longer = std::max(p.dx, p.dy);
  for (int64_t i = 0; i < p.n; ++i) {
    const float* x = c.In<float>(0) + i * p.dx;
    const float* y = c.In<float>(1) + i * p.dy;
    double sum = 0;
    for (int64_t k = 0; k < longer; ++k) {
      const double a = k < p.dx ? x[k] : p.replicate ? x[k % p.dx] : p.value;
      const double b = k < p.dy ? y[k] : p.replicate ? y[k % p.dy] : p.value;
      sum += a * b;
    }
    out[i] = static_cast<float>(sum);
  }
  return {};
}

Result<void> DotProductWithPaddingGradient(KernelContext& c) {
  WEFT_TRY(const Padded p, FindPadded(c));
  WEFT_ENSURE(c, c.In(2).numel() == p.n, "expected ", p.n, " gradients");
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  WEFT_TRY(float* dy, c.Out<float>(1, c.In(1).dims()));
  const int64_t longer = std::max(p.dx, p.dy);
  std::vector<double> sx(p.dx), sy(p.dy);
  for (int64_t i = 0; i < p.n; ++i) {
    const float* x = c.In<float>(0) + i * p.dx;
    const float* y = c.In<float>(1) + i * p.dy;
    const double g = c.In<float>(2)[i];
    std::fill(sx.begin(), sx.end(), 0);
    std::fill(sy.begin(), sy.end(), 0);
    for (int64_t k = 0; k < longer; ++k) {
      const double a = k < p.dx ? x[k] : p.replicate ? x[k % p.dx] : p.value;
      const double b = k < p.dy ? y[k] : p.replicate ? y[k % p.dy] : p.value;
      if (k < p.dx || p.replicate) sx[k % p.dx] += g * b;
      if (k < p.dy || p.replicate) sy[k % p.dy] += g * a;
    }
    for (int64_t k = 0; k < p.dx; ++k) dx[i * p.dx + k] = static_cast<float>(sx[k]);
    for (int64_t k = 0; k < p.dy; ++k) dy[i * p.dy + k] = static_cast<float>(sy[k]);
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"DotProduct", RowFunction<Dot>, "f"},
    {"DotProductGradient", RowGradient<DotGradient>, "f"},
    {"SquaredL2Distance", RowFunction<HalfSquare>, "f"},
    {"SquaredL2DistanceGradient", RowGradient<HalfSquareGradient>, "f"},
    {"L1Distance", RowFunction<AbsoluteDifference>, "f"},
    {"L1DistanceGradient", RowGradient<AbsoluteDifferenceGradient>, "f"},
    {"CosineSimilarity", RowFunction<Cosine>, "f"},
    {"CosineSimilarityGradient", RowGradient<CosineGradient>, "f"},
    {"DotProductWithPadding", DotProductWithPadding, "f"},
    {"DotProductWithPaddingGradient", DotProductWithPaddingGradient, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily LossDistanceKernels() { return kernels::kRows; }

}  // namespace weft
