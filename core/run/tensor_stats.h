// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors in numbers: the range, mean and deviation of the finite elements, how many are not, and how the
// finite ones spread. Pure; two passes over the elements each.
#pragma once

#include <cstdint>
#include <vector>

#include "core/run/tensor.h"

namespace weft {

struct TensorStats {
  int64_t elements = 0;
  int64_t nans = 0, infinities = 0, zeros = 0;
  double min = 0, max = 0, mean = 0, std = 0;  // of finite elements; NaN when there are none

  bool finite() const { return nans == 0 && infinities == 0; }
};

/// Strings and tensors without a type have no numbers: all but `elements` says so.
TensorStats StatsOf(const Tensor& tensor);

/// True when no element is NaN or infinite: quicker than asking for all of it.
bool AllFinite(const Tensor& tensor);

/// Finite elements by value: `counts` of equal ranges from `low` to `high`, both included. Without a range
/// (all elements are equal) they are all in the first; without finite elements there are no counts.
struct Histogram {
  double low = 0, high = 0;
  std::vector<int64_t> counts;
};
Histogram HistogramOf(const Tensor& tensor, const TensorStats& stats, size_t bins);

}  // namespace weft
