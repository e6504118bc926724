// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// YellowFin (arXiv:1706.03471): momentum SGD that tunes its rate and its momentum from moving averages of the
// gradient, its square, its curvature and the distance to the optimum.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Moving averages, and how far they lag in the beginning.
struct Averages {
  double beta, factor;

  /// Moves `average` towards `value`; the average without the lag.
  double Move(float& average, double value) const {
    average = static_cast<float>(beta * average + (1 - beta) * value);
    return factor * average;
  }
};

// Inputs and outputs parameter, moment, rate, momentum, window of curvatures, averages of the gradient and of
// its square, five averages of numbers; then gradient, iteration.
Result<void> YellowFin(KernelContext& c) {
  const Tensor& param = c.In(0);
  for (size_t i : {1, 5, 6, 8})
    WEFT_ENSURE(c, SameDims(c.In(i), param), c.InName(i), " is ", DimsToString(c.In(i).dims()), ", expected ",
                DimsToString(param.dims()));
  const int64_t width = c.ArgI("curv_win_width", 20), n = param.numel();
  WEFT_ENSURE(c, c.In(2).numel() == 1 && c.In(3).numel() == 1, "rate and momentum must be one number each");
  WEFT_ENSURE(c, width > 0 && c.In(4).numel() >= width && c.In(7).numel() >= 5, "expected a window of ",
              width, " and 5 numbers, found ", c.In(4).numel(), " and ", c.In(7).numel());
  WEFT_ENSURE(c, c.In(9).numel() == 1 && c.In<int64_t>(9)[0] >= 1, "the iteration must be 1 or more");
  const int64_t iter = c.In<int64_t>(9)[0];
  for (size_t i = 0; i < 8; ++i)
    for (size_t k = 0; k < i; ++k)
      WEFT_ENSURE(c, &c.OutBlob(i) != &c.OutBlob(k), "output ", c.OutName(i), " is there twice");
  const double beta = c.ArgF("beta", 0.999f), epsilon = c.ArgF("epsilon", 1e-6f);
  const Averages averages{
      beta, c.ArgB("zero_debias", true) ? 1 / (1 - std::pow(beta, static_cast<double>(iter))) : 1};
  float* out[8];
  for (size_t i = 0; i < 8; ++i) WEFT_TRY_VOID(c.CopyOut(i, c.In(i)));
  for (size_t i = 0; i < 8; ++i) out[i] = c.Out(i).mutable_data<float>();
  const float* g = c.In<float>(8);

  const double rate = out[2][0], momentum = out[3][0];
  for (int64_t i = 0; i < n; ++i) {
    const double before = out[1][i], moved = momentum * before + rate * g[i];
    out[1][i] = static_cast<float>(moved);
    out[0][i] =
        static_cast<float>(c.ArgB("nesterov", false) ? out[0][i] - (1 + momentum) * moved + momentum * before
                                                     : out[0][i] - moved);
  }

  double square = 0, mean_square = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double mean = averages.Move(out[5][i], g[i]);
    averages.Move(out[6][i], double{g[i]} * g[i]);
    mean_square += mean * mean;
    square += double{g[i]} * g[i];
  }
  square = std::max(square, epsilon);
  float* norm = &out[7][0];
  float* norm_square = &out[7][1];
  const double mean_norm_square = averages.Move(*norm_square, square);
  averages.Move(*norm, std::sqrt(square));
  out[4][(iter - 1) % width] = static_cast<float>(std::log(square));
  const int64_t seen = std::min(width, iter);
  const double lowest = averages.Move(out[7][2], *std::min_element(out[4], out[4] + seen)),
               highest = averages.Move(out[7][3], *std::max_element(out[4], out[4] + seen));
  const double least = std::max(std::exp(lowest), epsilon), most = std::max(std::exp(highest), epsilon);
  const double variance = std::max(mean_norm_square - mean_square, epsilon);
  const double distance = averages.Move(out[7][4], double{*norm} / *norm_square);
  if (iter <= 1) return {};

  // The root of a cubic gives the momentum.
  const double ratio = std::sqrt(most / least), limit = (ratio - 1) / (ratio + 1);
  const double p = std::pow(distance * least, 2) / (2 * variance);
  const double w3 = (-std::sqrt(p * p + 4.0 / 27 * p * p * p) - p) / 2;
  const double w = std::cbrt(w3), root = w - p / 3 / w + 1;
  const double tuned = std::max(root * root, limit * limit);
  averages.Move(out[3][0], tuned);
  averages.Move(out[2][0], std::pow(1 - std::sqrt(tuned), 2) / least);
  return {};
}

constexpr KernelRow kRows[] = {
    {"YellowFin", YellowFin, "fffffffffl", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily OptimizerYellowfinKernels() { return kernels::kRows; }

}  // namespace weft
