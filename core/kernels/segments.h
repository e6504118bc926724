// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Segments: which elements of a list are reduced together, said by lengths or by segment ids, and the one
// loop that reduces rows by them. Rows come straight from a tensor, or through indices, or out of a quantized
// table: the loop sees a function from (row, column) to a number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernels/util.h"

namespace weft::kernels {

struct Segments {
  int64_t count = 0;           // segments
  std::vector<int64_t> of;     // the segment of each element
  std::vector<int64_t> sizes;  // elements of each segment

  int64_t elements() const { return static_cast<int64_t>(of.size()); }
};

/// From int32 (or int64) lengths: segments follow one another.
inline Result<Segments> SegmentsFromLengths(const KernelContext& c, size_t input) {
  Segments s;
  auto read = SwitchIndex(c, c.In(input).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    int64_t segment = 0, total = 0;
    for (I length : c.In(input).values<I>()) {
      WEFT_ENSURE(c, length >= 0, "negative length ", length, " of segment ", segment);
      WEFT_TRY_VOID(c.CheckRoom({length}));
      WEFT_TRY_VOID(c.CheckRoom({total += length}));
      ++segment;
    }
    s.of.reserve(static_cast<size_t>(total));
    s.sizes.reserve(static_cast<size_t>(segment));
    for (I length : c.In(input).values<I>()) {
      s.of.insert(s.of.end(), static_cast<size_t>(length), s.count++);
      s.sizes.push_back(length);
    }
    return {};
  });
  if (!read) return std::move(read).error();
  return s;
}

/// From ids, one per element. Sorted ones start at 0 and grow by steps of one; others may be anything from 0
/// to the argument num_segments, or to the largest.
inline Result<Segments> SegmentsFromIds(const KernelContext& c, size_t input, bool sorted) {
  Segments s;
  auto read = SwitchIndex(c, c.In(input).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    const int64_t fixed = sorted ? -1 : c.ArgI("num_segments", -1);
    int64_t last = 0;
    for (I id : c.In(input).values<I>()) {
      if (sorted) {
        WEFT_ENSURE(c, s.of.empty() ? id == 0 : (id == last || id == last + 1),
                    "Segment ids must be sorted and without gaps, starting at 0: ", id, " after ", last);
      } else {
        WEFT_ENSURE(c, id >= 0 && (fixed < 0 || id < fixed), "Segment id ", id, " is out of range");
        WEFT_ENSURE(c, static_cast<int64_t>(id) < (int64_t{1} << 32), "Segment id ", id, " is too large");
      }
      last = id;
      s.of.push_back(id);
      s.count = std::max<int64_t>(s.count, static_cast<int64_t>(id) + 1);
    }
    if (fixed >= 0) s.count = fixed;
    return {};
  });
  if (!read) return std::move(read).error();
  WEFT_TRY_VOID(c.CheckRoom({s.count}));
  s.sizes.assign(static_cast<size_t>(s.count), 0);
  for (int64_t id : s.of) ++s.sizes[id];
  return s;
}

/// Row numbers from an input, each in [0, rows).
inline Result<std::vector<int64_t>> RowIndices(const KernelContext& c, size_t input, int64_t rows) {
  std::vector<int64_t> out;
  auto read = SwitchIndex(c, c.In(input).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    out.reserve(static_cast<size_t>(c.In(input).numel()));
    for (I i : c.In(input).values<I>()) {
      WEFT_ENSURE(c, i >= 0 && i < rows, "Index ", out.size(), " is out of bounds: ", i, ", range 0 to ",
                  rows);
      out.push_back(i);
    }
    return {};
  });
  if (!read) return std::move(read).error();
  return out;
}

enum class Reduce { kSum, kMean, kMax, kLogSumExp, kLogMeanExp };

/// out[segment, k] = the reduction of weight(i) * row(i, k) over the elements i of the segment, in order.
/// Empty segments give 0. `out` has segments.count * width elements.
template <typename Row, typename Weight>
void ReduceSegments(const Segments& s, int64_t width, Reduce reduce, Row row, Weight weight, float* out) {
  const bool exponents = reduce == Reduce::kLogSumExp || reduce == Reduce::kLogMeanExp;
  const bool max = reduce == Reduce::kMax || exponents;
  const size_t size = static_cast<size_t>(s.count * width);
  std::vector<double> acc(size, max ? -std::numeric_limits<double>::infinity() : 0);
  for (int64_t i = 0; i < s.elements(); ++i) {
    const double w = weight(i);
    for (int64_t k = 0; k < width; ++k) {
      double& a = acc[s.of[i] * width + k];
      const double x = w * row(i, k);
      a = max ? std::max(a, x) : a + x;
    }
  }
  if (exponents) {  // relative to the largest
    std::vector<double> sum(size, 0);
    for (int64_t i = 0; i < s.elements(); ++i)
      for (int64_t k = 0; k < width; ++k) {
        const int64_t at = s.of[i] * width + k;
        sum[at] += std::exp(weight(i) * row(i, k) - acc[at]);
      }
    for (size_t i = 0; i < size; ++i) acc[i] += std::log(sum[i]);
  }
  for (int64_t segment = 0; segment < s.count; ++segment) {
    const double n = static_cast<double>(s.sizes[segment]);
    for (int64_t k = 0; k < width; ++k) {
      double a = acc[segment * width + k];
      if (reduce == Reduce::kMean && n > 0) a /= n;
      if (reduce == Reduce::kLogMeanExp) a -= std::log(n);
      out[segment * width + k] = s.sizes[segment] ? static_cast<float>(a) : 0;
    }
  }
}

/// [segments, the other dimensions of the data].
inline Dims ReducedDims(const Segments& s, const Tensor& data) {
  Dims dims{s.count};
  if (data.ndim() > 1) dims.Append(data.dims().begin() + 1, data.dims().end());
  return dims;
}

}  // namespace weft::kernels
