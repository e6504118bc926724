// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/tensor_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/run/tensor_text.h"

namespace weft {

namespace {

bool HasNumbers(const Tensor& tensor) { return tensor.has_type() && tensor.type() != DataType::kString; }

template <typename Fn>
void ForFinite(const Tensor& tensor, Fn fn) {
  for (int64_t i = 0; i < tensor.numel(); ++i)
    if (const double value = NumberAt(tensor, i); std::isfinite(value)) fn(value);
}

}  // namespace

TensorStats StatsOf(const Tensor& tensor) {
  TensorStats stats;
  stats.elements = tensor.numel();
  stats.min = stats.max = stats.mean = stats.std = std::numeric_limits<double>::quiet_NaN();
  if (!HasNumbers(tensor)) return stats;
  double least = std::numeric_limits<double>::infinity(), largest = -least, sum = 0, squares = 0;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const double value = NumberAt(tensor, i);
    if (std::isnan(value)) {
      ++stats.nans;
    } else if (std::isinf(value)) {
      ++stats.infinities;
    } else {
      stats.zeros += value == 0;
      sum += value;
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
  }
  const int64_t count = stats.elements - stats.nans - stats.infinities;
  if (count == 0) return stats;
  stats.min = least;
  stats.max = largest;
  stats.mean = sum / static_cast<double>(count);
  ForFinite(tensor, [&](double value) { squares += (value - stats.mean) * (value - stats.mean); });
  stats.std = std::sqrt(squares / static_cast<double>(count));
  return stats;
}

bool AllFinite(const Tensor& tensor) {
  const auto finite = [](auto value) { return std::isfinite(value); };
  if (tensor.type() == DataType::kFloat)
    return std::all_of(tensor.values<float>().begin(), tensor.values<float>().end(), finite);
  if (tensor.type() == DataType::kDouble)
    return std::all_of(tensor.values<double>().begin(), tensor.values<double>().end(), finite);
  const auto half = [](Half value) { return std::isfinite(HalfToFloat(value)); };
  return tensor.type() != DataType::kFloat16 ||
         std::all_of(tensor.values<Half>().begin(), tensor.values<Half>().end(), half);
}

Histogram HistogramOf(const Tensor& tensor, const TensorStats& stats, size_t bins) {
  Histogram histogram;
  if (!HasNumbers(tensor) || std::isnan(stats.min) || bins == 0) return histogram;
  histogram.low = stats.min;
  histogram.high = stats.max;
  histogram.counts.resize(bins);
  const double range = stats.max - stats.min, last = static_cast<double>(bins - 1);
  ForFinite(tensor, [&](double value) {
    // The range of the largest doubles overflows, and of the smallest vanishes.
    const double at = range > 0 && std::isfinite(range) ? (value - stats.min) / range : 0;
    ++histogram.counts[static_cast<size_t>(std::min(at * static_cast<double>(bins), last))];
  });
  return histogram;
}

}  // namespace weft
