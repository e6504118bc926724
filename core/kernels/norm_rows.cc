// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Normalization of rows: LayerNorm, RMSNorm, by norms along an axis, and moments over axes.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/reducer.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

struct RowsOf {
  int64_t axis, rows, width;
};
Result<RowsOf> FindRowsFrom(const KernelContext& c, const Tensor& x) {
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", 1), x.ndim()));
  return RowsOf{axis, x.SizeTo(axis), x.SizeFrom(axis)};
}

// Inputs X, and with elementwise_affine gamma and beta; outputs Y, mean, deviation.
Result<void> LayerNorm(KernelContext& c) {
  WEFT_ENSURE(c, c.num_inputs() >= 1 && c.num_outputs() == 3, "expected 1 or 3 inputs and 3 outputs, found ",
              c.num_inputs(), " and ", c.num_outputs());
  const Tensor& in = c.In(0);
  WEFT_TRY(const RowsOf r, FindRowsFrom(c, in));
  const double eps = c.ArgF("epsilon", 1e-5f);
  const bool affine = c.ArgB("elementwise_affine", false) && c.num_inputs() == 3;
  if (affine)
    WEFT_ENSURE(c, c.In(1).numel() == r.width && c.In(2).numel() == r.width, "gamma and beta must have ",
                r.width, " elements");
  Dims stat(in.dims().begin(), in.dims().begin() + r.axis);
  stat.push_back(1);
  const float* x = in.data<float>();
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  WEFT_TRY(float* means, c.Out<float>(1, stat));
  WEFT_TRY(float* deviations, c.Out<float>(2, stat));
  const double n = static_cast<double>(std::max<int64_t>(r.width, 1));
  for (int64_t i = 0; i < r.rows; ++i) {
    const float* row = x + i * r.width;
    double sum = 0, square = 0;
    for (int64_t k = 0; k < r.width; ++k) sum += row[k];
    const double mean = sum / n;
    for (int64_t k = 0; k < r.width; ++k) square += (row[k] - mean) * (row[k] - mean);
    const double deviation = std::sqrt(square / n + eps);
    for (int64_t k = 0; k < r.width; ++k) {
      const double normal = (row[k] - mean) / deviation;
      y[i * r.width + k] =
          static_cast<float>(affine ? normal * c.In<float>(1)[k] + c.In<float>(2)[k] : normal);
    }
    means[i] = static_cast<float>(mean);
    deviations[i] = static_cast<float>(deviation);
  }
  return {};
}

// Inputs dY, Y, mean, deviation, X, and with elementwise_affine gamma; outputs dX, then dgamma and dbeta.
Result<void> LayerNormGradient(KernelContext& c) {
  WEFT_ENSURE(c, c.num_inputs() >= 5, "expected at least 5 inputs");
  const Tensor& in = c.In(4);
  WEFT_TRY(const RowsOf r, FindRowsFrom(c, in));
  const bool affine = c.ArgB("elementwise_affine", false) && c.num_inputs() == 6;
  WEFT_ENSURE(c, c.In(0).numel() == in.numel() && c.In(2).numel() == r.rows && c.In(3).numel() == r.rows,
              "inputs differ in size");
  if (affine) WEFT_ENSURE(c, c.In(5).numel() == r.width, "gamma must have ", r.width, " elements");
  const float* x = in.data<float>();
  const float* dy = c.In<float>(0);
  std::vector<double> dgamma(r.width, 0), dbeta(r.width, 0);
  WEFT_TRY(float* dx, c.Out<float>(0, in.dims()));
  for (int64_t i = 0; i < r.rows; ++i) {
    const double mean = c.In<float>(2)[i], deviation = c.In<float>(3)[i];
    double by_mean = 0, by_normal = 0;
    for (int64_t k = 0; k < r.width; ++k) {
      const double normal = (x[i * r.width + k] - mean) / deviation, g = dy[i * r.width + k];
      const double scaled = affine ? g * c.In<float>(5)[k] : g;
      by_mean += scaled;
      by_normal += scaled * normal;
      dgamma[k] += g * normal;
      dbeta[k] += g;
    }
    for (int64_t k = 0; k < r.width; ++k) {
      const double normal = (x[i * r.width + k] - mean) / deviation, g = dy[i * r.width + k];
      const double scaled = affine ? g * c.In<float>(5)[k] : g;
      dx[i * r.width + k] = static_cast<float>(
          (scaled - (by_mean + normal * by_normal) / static_cast<double>(r.width)) / deviation);
    }
  }
  if (!affine) return {};
  const Dims dims(in.dims().begin() + r.axis, in.dims().end());
  WEFT_TRY(float* out_gamma, c.Out<float>(1, dims));
  WEFT_TRY(float* out_beta, c.Out<float>(2, dims));
  for (int64_t k = 0; k < r.width; ++k) {
    out_gamma[k] = static_cast<float>(dgamma[k]);
    out_beta[k] = static_cast<float>(dbeta[k]);
  }
  return {};
}

// Inputs X, gamma, beta; outputs Y, one over the root of the mean square.
Result<void> RMSNorm(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_TRY(const RowsOf r, FindRowsFrom(c, in));
  WEFT_ENSURE(c, c.In(1).numel() == r.width && c.In(2).numel() == r.width, "gamma and beta must have ",
              r.width, " elements");
  const double eps = c.ArgF("eps", 0);
  const float* x = in.data<float>();
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  WEFT_TRY(float* inverse, c.Out<float>(1, std::span<const int64_t>(in.dims().data(), r.axis)));
  for (int64_t i = 0; i < r.rows; ++i) {
    double square = 0;
    for (int64_t k = i * r.width; k < (i + 1) * r.width; ++k) square += double{x[k]} * x[k];
    const double scale = 1 / std::sqrt(square / static_cast<double>(r.width) + eps);
    for (int64_t k = 0; k < r.width; ++k)
      y[i * r.width + k] =
          static_cast<float>(x[i * r.width + k] * scale * c.In<float>(1)[k] + c.In<float>(2)[k]);
    inverse[i] = static_cast<float>(scale);
  }
  return {};
}

// Inputs dY, X, gamma, the second output.
Result<void> RMSNormGradient(KernelContext& c) {
  const Tensor& in = c.In(1);
  WEFT_TRY(const RowsOf r, FindRowsFrom(c, in));
  WEFT_ENSURE(c, c.In(0).numel() == in.numel() && c.In(2).numel() == r.width && c.In(3).numel() == r.rows,
              "inputs differ in size");
  const float* x = in.data<float>();
  const float* dy = c.In<float>(0);
  const float* gamma = c.In<float>(2);
  std::vector<double> dgamma(r.width, 0), dbeta(r.width, 0);
  WEFT_TRY(float* dx, c.Out<float>(0, in.dims()));
  for (int64_t i = 0; i < r.rows; ++i) {
    const double scale = c.In<float>(3)[i];
    double dot = 0;
    for (int64_t k = 0; k < r.width; ++k) {
      const double g = dy[i * r.width + k], v = x[i * r.width + k];
      dot += g * gamma[k] * v;
      dgamma[k] += g * v * scale;
      dbeta[k] += g;
    }
    for (int64_t k = 0; k < r.width; ++k)
      dx[i * r.width + k] = static_cast<float>(
          scale * (double{dy[i * r.width + k]} * gamma[k] -
                   x[i * r.width + k] * dot * scale * scale / static_cast<double>(r.width)));
  }
  WEFT_TRY(float* out_gamma, c.Out<float>(1, c.In(2).dims()));
  WEFT_TRY(float* out_beta, c.Out<float>(2, c.In(2).dims()));
  for (int64_t k = 0; k < r.width; ++k) {
    out_gamma[k] = static_cast<float>(dgamma[k]);
    out_beta[k] = static_cast<float>(dbeta[k]);
  }
  return {};
}

// Lines along an axis.
struct Lines {
  int64_t outer, length, step;
  template <typename F>
  void ForEach(F f) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t s = 0; s < step; ++s) f(o * length * step + s);
  }
};
Result<Lines> FindLines(const KernelContext& c, const Tensor& x) {
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", -1), x.ndim()));
  return Lines{x.SizeTo(axis), x.dim(axis), x.SizeFrom(axis + 1)};
}

constexpr double kSmallestNorm = 1e-12;

template <bool absolute>
Result<void> Normalize(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_TRY(const Lines lines, FindLines(c, in));
  const float* x = in.data<float>();
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  lines.ForEach([&](int64_t first) {
    double norm = 0;
    for (int64_t i = 0; i < lines.length; ++i) {
      const double v = x[first + i * lines.step];
      norm += absolute ? std::fabs(v) : v * v;
    }
    if (!absolute) norm = std::max(std::sqrt(norm), kSmallestNorm);
    for (int64_t i = 0; i < lines.length; ++i) {
      const int64_t at = first + i * lines.step;
      y[at] = norm != 0 ? static_cast<float>(x[at] / norm) : 0;
    }
  });
  return {};
}

// Inputs X, dY.
Result<void> NormalizeGradient(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_TRY(const Lines lines, FindLines(c, in));
  WEFT_ENSURE(c, c.In(1).numel() == in.numel(), "X and dY differ in size");
  const float* x = in.data<float>();
  const float* dy = c.In<float>(1);
  WEFT_TRY(float* dx, c.Out<float>(0, in.dims()));
  lines.ForEach([&](int64_t first) {
    double square = 0, dot = 0;
    for (int64_t i = 0; i < lines.length; ++i) {
      const int64_t at = first + i * lines.step;
      square += double{x[at]} * x[at];
      dot += double{x[at]} * dy[at];
    }
    const double norm = std::max(std::sqrt(square), kSmallestNorm);
    for (int64_t i = 0; i < lines.length; ++i) {
      const int64_t at = first + i * lines.step;
      dx[at] = static_cast<float>(dy[at] / norm - x[at] / (norm * norm * norm) * dot);
    }
  });
  return {};
}

Result<void> Moments(KernelContext& c) {
  WEFT_TRY(const Reducer r, FindReducer(c, c.In(0).dims()));
  const float* x = c.In<float>(0);
  const int64_t n = r.out_size();
  std::vector<double> mean(n, 0), square(n, 0);
  r.ForEach([&](int64_t in, int64_t to) { mean[to] += x[in]; });
  const double count = static_cast<double>(std::max<int64_t>(r.count, 1));
  for (double& m : mean) m /= count;
  r.ForEach([&](int64_t in, int64_t to) { square[to] += (x[in] - mean[to]) * (x[in] - mean[to]); });
  WEFT_TRY(float* out_mean, c.Out<float>(0, r.out));
  WEFT_TRY(float* out_variance, c.Out<float>(1, r.out));
  for (int64_t i = 0; i < n; ++i) {
    out_mean[i] = static_cast<float>(mean[i]);
    out_variance[i] = static_cast<float>(square[i] / count);
  }
  return {};
}

// Inputs dmean, dvariance, X, mean.
Result<void> MomentsGradient(KernelContext& c) {
  WEFT_TRY(const Reducer r, FindReducer(c, c.In(2).dims()));
  for (size_t i : {0, 1, 3})
    WEFT_ENSURE(c, c.In(i).numel() == r.out_size(), c.InName(i), " has ", c.In(i).numel(),
                " elements, expected ", r.out_size());
  const float* x = c.In<float>(2);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(2).dims()));
  const double count = static_cast<double>(r.count);
  r.ForEach([&](int64_t in, int64_t to) {
    dx[in] = static_cast<float>(
        (c.In<float>(0)[to] + 2 * (double{x[in]} - c.In<float>(3)[to]) * c.In<float>(1)[to]) / count);
  });
  return {};
}

constexpr KernelRow kRows[] = {
    {"LayerNorm", LayerNorm, "f"},
    {"C10LayerNorm_DontUseThisOpYet", LayerNorm, "f"},
    {"LayerNormGradient", LayerNormGradient, "f"},
    {"RMSNorm", RMSNorm, "f"},
    {"RMSNormGradient", RMSNormGradient, "f"},
    {"Normalize", Normalize<false>, "f", kInPlace},
    {"NormalizeL1", Normalize<true>, "f", kInPlace},
    {"NormalizeGradient", NormalizeGradient, "f"},
    {"Moments", Moments, "f"},
    {"MomentsGradient", MomentsGradient, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily NormRowsKernels() { return kernels::kRows; }

}  // namespace weft
