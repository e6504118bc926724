// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the first or the last dimensions, perhaps of only so many elements as `lengths` says, and
// their gradients.
#include <algorithm>
#include <limits>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// X as a matrix of `lines` that are each reduced to one number: element i of line l is at First(l) + i *
// step.
struct Ends {
  bool front;
  int64_t lines, length;
  Dims out;
  const int32_t* lengths = nullptr;

  int64_t At(int64_t line, int64_t i) const { return front ? i * lines + line : line * length + i; }
  int64_t Length(int64_t line) const { return lengths ? lengths[line] : length; }
};

Result<Ends> FindEnds(const KernelContext& c, bool front, std::span<const int64_t> dims,
                      size_t lengths_input) {
  const int64_t n = c.ArgI("num_reduce_dim", 1);
  if (n < 0 || n > static_cast<int64_t>(dims.size()))
    return c.Fail("For N-dim input tensor, support num_reduce_dims in range [0, N]: ", n, " of ",
                  dims.size());
  Ends e;
  e.front = front;
  const size_t split = front ? n : dims.size() - n;
  const int64_t before = NumElements(dims.first(split)), after = NumElements(dims.subspan(split));
  e.lines = front ? after : before;
  e.length = front ? before : after;
  e.out = front ? Dims(dims.begin() + split, dims.end()) : Dims(dims.begin(), dims.begin() + split);
  if (c.has_input(lengths_input)) {
    const Tensor& lengths = c.In(lengths_input);
    if (n != 1 || lengths.type() != DataType::kInt32 || lengths.numel() != e.lines)
      return c.Fail("lengths must be ", e.lines, " int32, with num_reduce_dim 1");
    e.lengths = lengths.data<int32_t>();
    for (int64_t i = 0; i < e.lines; ++i)
      if (e.lengths[i] < 0 || e.lengths[i] > e.length)
        return c.Fail("length ", e.lengths[i], " is not in [0, ", e.length, "]");
  }
  return e;
}

template <typename T, bool front, bool mean>
Result<void> SumOf(KernelContext& c) {
  WEFT_TRY(const Ends e, FindEnds(c, front, c.In(0).dims(), 1));
  const T* x = c.In<T>(0);
  WEFT_TRY(T * y, c.Out<T>(0, e.out));
  for (int64_t l = 0; l < e.lines; ++l) {
    Acc<T> sum = 0;
    const int64_t n = e.Length(l);
    for (int64_t i = 0; i < n; ++i) sum += x[e.At(l, i)];
    y[l] = static_cast<T>(mean ? sum / static_cast<Acc<T>>(std::max<int64_t>(n, 1)) : sum);
  }
  return {};
}
template <bool front, bool mean>
Result<void> Sum(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(),
                      [&](auto tag) { return SumOf<typename decltype(tag)::type, front, mean>(c); });
}

// Inputs dY, X or its shape, lengths.
template <bool front, bool mean>
Result<void> SumGradient(KernelContext& c) {
  const Tensor& like = c.In(1);
  Dims dims(like.dims());
  // A vector of int64 that fits as the shape is the shape.
  if (like.ndim() == 1 && like.type() == DataType::kInt64 && c.In(0).type() != DataType::kInt64) {
    dims = Dims(like.data<int64_t>(), like.data<int64_t>() + like.numel());
    WEFT_ENSURE(c, NumElements(dims) >= 0, "the shape ", DimsToString(dims), " is wrong");
  }
  WEFT_TRY(const Ends e, FindEnds(c, front, dims, 2));
  WEFT_ENSURE(c, c.In(0).numel() == e.lines, "dY has ", c.In(0).numel(), " elements, expected ", e.lines);
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* dy = c.In<T>(0);
    WEFT_TRY(T * dx, c.Out<T>(0, dims));
    for (int64_t l = 0; l < e.lines; ++l) {
      const int64_t n = e.Length(l);
      const T share = mean ? dy[l] / static_cast<T>(std::max<int64_t>(n, 1)) : dy[l];
      for (int64_t i = 0; i < e.length; ++i) dx[e.At(l, i)] = i < n ? share : T(0);
    }
    return {};
  });
}

template <bool front>
Result<void> Max(KernelContext& c) {
  WEFT_TRY(const Ends e, FindEnds(c, front, c.In(0).dims(), 1));
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* x = c.In<T>(0);
    WEFT_TRY(T * y, c.Out<T>(0, e.out));
    for (int64_t l = 0; l < e.lines; ++l) {
      const int64_t n = e.Length(l);
      T best = n ? x[e.At(l, 0)] : T(0);
      for (int64_t i = 1; i < n; ++i) best = std::max(best, x[e.At(l, i)]);
      y[l] = best;
    }
    return {};
  });
}

// Inputs dY, X, Y, lengths.
template <bool front>
Result<void> MaxGradient(KernelContext& c) {
  WEFT_TRY(const Ends e, FindEnds(c, front, c.In(1).dims(), 3));
  WEFT_ENSURE(c, c.In(0).numel() == e.lines && c.In(2).numel() == e.lines, "expected ", e.lines,
              " gradients");
  const float* dy = c.In<float>(0);
  const float* x = c.In<float>(1);
  const float* y = c.In<float>(2);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(1).dims()));
  for (int64_t l = 0; l < e.lines; ++l) {
    const int64_t n = e.Length(l);
    for (int64_t i = 0; i < e.length; ++i) {
      const int64_t at = e.At(l, i);
      dx[at] = i < n && x[at] == y[l] ? dy[l] : 0;
    }
  }
  return {};
}

// Inputs data, a weight per row.
Result<void> FrontWeightedSum(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() > 0 && c.In(1).numel() == x.dim(0), "expected a weight per row");
  const int64_t rows = x.dim(0), width = x.SizeFrom(1);
  std::vector<double> sum(width, 0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < width; ++k) sum[k] += double{x.data<float>()[i * width + k]} * c.In<float>(1)[i];
  WEFT_TRY(float* y, c.Out<float>(0, x.dims().subspan(1)));
  for (int64_t k = 0; k < width; ++k) y[k] = static_cast<float>(sum[k]);
  return {};
}

// Inputs weights, dY, the dimensions of the data.
Result<void> FrontWeightedSumGradient(KernelContext& c) {
  const std::span<const int64_t> dims = c.In(2).values<int64_t>();
  WEFT_ENSURE(
      c,
      !dims.empty() && NumElements(dims) == c.In(0).numel() * c.In(1).numel() && dims[0] == c.In(0).numel(),
      "the shape given does not fit");
  const int64_t width = c.In(1).numel();
  WEFT_TRY(float* dx, c.Out<float>(0, dims));
  for (int64_t i = 0; i < dims[0]; ++i)
    for (int64_t k = 0; k < width; ++k) dx[i * width + k] = c.In<float>(0)[i] * c.In<float>(1)[k];
  return {};
}

// X [batch, m, n]: the largest of each row or of each column.
template <bool rows>
struct Sides {
  int64_t batch, m, n;
  int64_t lines() const { return rows ? m : n; }
  int64_t length() const { return rows ? n : m; }
  int64_t At(int64_t b, int64_t line, int64_t i) const {
    return b * m * n + (rows ? line * n + i : i * n + line);
  }
};
template <bool rows>
Result<Sides<rows>> FindSides(const KernelContext& c) {
  if (c.In(0).ndim() != 3) return c.Fail("needs 3 dimensions, found ", DimsToString(c.In(0).dims()));
  return Sides<rows>{c.In(0).dim(0), c.In(0).dim(1), c.In(0).dim(2)};
}

template <bool rows>
Result<void> SideMax(KernelContext& c) {
  WEFT_TRY(const auto s, FindSides<rows>(c));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, {s.batch, s.lines()}));
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t l = 0; l < s.lines(); ++l) {
      float best = std::numeric_limits<float>::lowest();
      for (int64_t i = 0; i < s.length(); ++i) best = std::max(best, x[s.At(b, l, i)]);
      y[b * s.lines() + l] = best;
    }
  return {};
}

// Inputs X, Y, dY.
template <bool rows>
Result<void> SideMaxGradient(KernelContext& c) {
  WEFT_TRY_VOID(c.CheckInputs(0, 2));
  WEFT_TRY(const auto s, FindSides<rows>(c));
  WEFT_ENSURE(c, c.In(1).numel() == s.batch * s.lines() && c.In(2).numel() == s.batch * s.lines(),
              "inputs differ in shape");
  const float* x = c.In<float>(0);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t l = 0; l < s.lines(); ++l)
      for (int64_t i = 0; i < s.length(); ++i) {
        const int64_t at = s.At(b, l, i), line = b * s.lines() + l;
        dx[at] = x[at] == c.In<float>(1)[line] ? c.In<float>(2)[line] : 0;
      }
  return {};
}

constexpr KernelRow kRows[] = {
    {"ReduceFrontSum", Sum<true, false>, "N*"},
    {"ReduceFrontMean", Sum<true, true>, "N*"},
    {"ReduceFrontMax", Max<true>, "N*"},
    {"ReduceBackSum", Sum<false, false>, "N*"},
    {"ReduceBackMean", Sum<false, true>, "N*"},
    {"ReduceBackMax", Max<false>, "N*"},
    {"ReduceFrontSumGradient", SumGradient<true, false>, "N?*"},
    {"ReduceFrontMeanGradient", SumGradient<true, true>, "N?*"},
    {"ReduceFrontMaxGradient", MaxGradient<true>, "fff*"},
    {"ReduceBackSumGradient", SumGradient<false, false>, "N?*"},
    {"ReduceBackMeanGradient", SumGradient<false, true>, "N?*"},
    {"ReduceBackMaxGradient", MaxGradient<false>, "fff*"},
    {"ReduceFrontWeightedSum", FrontWeightedSum, "f"},
    {"ReduceFrontWeightedSumGradient", FrontWeightedSumGradient, "ffl"},
    {"RowwiseMax", SideMax<true>, "f"},
    {"RowwiseMaxGradient", SideMaxGradient<true>, "f"},
    {"ColwiseMax", SideMax<false>, "f"},
    {"ColwiseMaxGradient", SideMaxGradient<false>, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily ReduceEndsKernels() { return kernels::kRows; }

}  // namespace weft
