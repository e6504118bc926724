// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over axes and their gradients, sums of everything, norms, arg max and top k. Reductions of the
// front or back dimensions, with lengths, are in reduce_ends.cc.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/kernels/families.h"
#include "core/kernels/reducer.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Y = finish(fold of the elements); `step` folds one in.
template <typename T, typename Step, typename Finish>
Result<void> Fold(KernelContext& c, Acc<T> start, Step step, Finish finish) {
  WEFT_TRY(const Reducer r, FindReducer(c, c.In(0).dims()));
  const T* x = c.In<T>(0);
  std::vector<Acc<T>> acc(r.out_size(), start);
  r.ForEach([&](int64_t in, int64_t to) { acc[to] = step(acc[to], static_cast<Acc<T>>(x[in])); });
  WEFT_TRY(T * y, c.Out<T>(0, r.out));
  for (size_t i = 0; i < acc.size(); ++i)
    y[i] = static_cast<T>(finish(acc[i], std::max<int64_t>(r.count, 1)));
  return {};
}

constexpr auto kPlus = [](auto a, auto x) { return a + x; };
constexpr auto kItself = [](auto a, int64_t) { return a; };

Result<void> ReduceSum(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(),
                      [&](auto tag) { return Fold<typename decltype(tag)::type>(c, 0, kPlus, kItself); });
}
Result<void> ReduceMean(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    return Fold<typename decltype(tag)::type>(c, 0, kPlus, [](auto a, int64_t n) { return a / n; });
  });
}
Result<void> ReduceMax(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Fold<T>(
        c, std::numeric_limits<T>::lowest(), [](auto a, auto x) { return std::max(a, x); }, kItself);
  });
}
Result<void> ReduceMin(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Fold<T>(
        c, std::numeric_limits<T>::max(), [](auto a, auto x) { return std::min(a, x); }, kItself);
  });
}
Result<void> ReduceL1(KernelContext& c) {
  return Fold<float>(
      c, 0, [](double a, double x) { return a + std::fabs(x); }, kItself);
}
Result<void> ReduceL2(KernelContext& c) {
  return Fold<float>(
      c, 0, [](double a, double x) { return a + x * x; }, [](double a, int64_t) { return std::sqrt(a); });
}

// Inputs dY, X, Y: dX = dY * slope(x, y, elements per result).
template <typename T, typename Slope>
Result<void> FoldGradient(KernelContext& c, Slope slope) {
  WEFT_TRY_VOID(c.CheckInputs(0, 2));
  WEFT_TRY(const Reducer r, FindReducer(c, c.In(1).dims()));
  WEFT_ENSURE(
      c,
      c.In(0).numel() == r.out_size() && c.In(2).numel() == r.out_size() && c.In(1).type() == DataTypeOf<T>,
      "dY is ", DimsToString(c.In(0).dims()), ", expected ", DimsToString(r.out));
  const T* dy = c.In<T>(0);
  const T* x = c.In<T>(1);
  const T* y = c.In<T>(2);
  WEFT_TRY(T * dx, c.Out<T>(0, c.In(1).dims()));
  r.ForEach([&](int64_t in, int64_t to) { dx[in] = static_cast<T>(dy[to] * slope(x[in], y[to], r.count)); });
  return {};
}

Result<void> ReduceSumGradient(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return FoldGradient<T>(c, [](T, T, int64_t) { return T(1); });
  });
}
Result<void> ReduceMeanGradient(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return FoldGradient<T>(c, [](T, T, int64_t n) { return 1.0 / static_cast<double>(n); });
  });
}
Result<void> ReduceSelectGradient(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return FoldGradient<T>(c, [](T x, T y, int64_t) { return x == y ? T(1) : T(0); });
  });
}
Result<void> ReduceL1Gradient(KernelContext& c) {
  return FoldGradient<float>(c, [](float x, float, int64_t) { return x > 0 ? 1 : x < 0 ? -1 : 0; });
}
Result<void> ReduceL2Gradient(KernelContext& c) {
  return FoldGradient<float>(c, [](float x, float y, int64_t) { return y == 0 ? 0 : double{x} / y; });
}

template <typename T, bool square>
Result<void> SumElements(KernelContext& c) {
  Acc<T> sum = 0;
  for (T x : c.In(0).values<T>()) sum += square ? static_cast<Acc<T>>(x) * x : x;
  if (c.ArgB("average", false) && !c.In(0).empty()) sum /= static_cast<Acc<T>>(c.In(0).numel());
  WEFT_TRY(T * out, c.Out<T>(0, {}));
  *out = static_cast<T>(sum);
  return {};
}

// Inputs X, the gradient.
Result<void> SumElementsGradient(KernelContext& c) {
  WEFT_ENSURE(c, c.In(1).numel() == 1, "the gradient must be one number");
  const int64_t n = c.In(0).numel();
  double g = c.In<float>(1)[0];
  if (c.ArgB("average", false)) g /= static_cast<double>(std::max<int64_t>(n, 1));
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  std::fill(dx, dx + n, static_cast<float>(g));
  return {};
}

Result<int64_t> FindP(const KernelContext& c) {
  const int64_t p = c.ArgI("p", 2);
  if (p != 1 && p != 2) return c.Fail("p should be either 1 or 2, found ", p);
  return p;
}

// The sum of |x|, or of x * x (without a root).
Result<void> LpNorm(KernelContext& c) {
  WEFT_TRY(const int64_t p, FindP(c));
  double sum = 0;
  for (float x : c.In(0).values<float>()) sum += p == 1 ? std::fabs(double{x}) : double{x} * x;
  if (c.ArgB("average", false) && !c.In(0).empty()) sum /= static_cast<double>(c.In(0).numel());
  WEFT_TRY(float* out, c.Out<float>(0, {1}));
  *out = static_cast<float>(sum);
  return {};
}

Result<void> LpNormGradient(KernelContext& c) {
  WEFT_TRY(const int64_t p, FindP(c));
  WEFT_ENSURE(c, c.In(1).numel() == 1, "the gradient must be one number");
  const float* x = c.In<float>(0);
  const int64_t n = c.In(0).numel();
  double g = c.In<float>(1)[0];
  if (c.ArgB("average", false)) g /= static_cast<double>(std::max<int64_t>(n, 1));
  constexpr float kZero = 1e-12f;
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < n; ++i)
    dx[i] = static_cast<float>(p == 2 ? 2 * g * x[i] : x[i] < -kZero ? -g : x[i] > kZero ? g : 0);
  return {};
}

// Lines along `axis`: f(index of the first element, line number).
struct Lines {
  int64_t outer, length, step;
  Dims dims;
  int64_t axis;
  template <typename F>
  void ForEach(F f) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t s = 0; s < step; ++s) f(o, s);
  }
};
Result<Lines> FindLines(const KernelContext& c, const Tensor& x) {
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", -1), x.ndim()));
  return Lines{x.SizeTo(axis), x.dim(axis), x.SizeFrom(axis + 1), Dims(x.dims()), axis};
}

template <bool max>
Result<void> ArgBest(KernelContext& c) {
  WEFT_TRY(const Lines lines, FindLines(c, c.In(0)));
  WEFT_ENSURE(c, lines.length > 0, "the axis is empty");
  Dims dims = lines.dims;
  if (c.ArgB("keepdims", true)) {
    dims[lines.axis] = 1;
  } else {
    dims.erase(dims.begin() + lines.axis);
  }
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* x = c.In<T>(0);
    WEFT_TRY(int64_t * out, c.Out<int64_t>(0, dims));
    lines.ForEach([&](int64_t o, int64_t s) {
      const T* first = x + o * lines.length * lines.step + s;
      int64_t best = 0;
      for (int64_t i = 1; i < lines.length; ++i)
        if (max ? first[i * lines.step] > first[best * lines.step]
                : first[i * lines.step] < first[best * lines.step])
          best = i;
      out[o * lines.step + s] = best;
    });
    return {};
  });
}

// The first k of `order` by value, largest first, smaller index first among equals.
template <typename T>
void SortTop(std::vector<int64_t>& order, int64_t k, const T* first, int64_t step) {
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
    const T x = first[a * step], y = first[b * step];
    return x != y ? x > y : a < b;
  });
}

// Outputs values, indices along the axis, and when asked indices into the whole tensor.
Result<void> TopK(KernelContext& c) {
  WEFT_TRY(const Lines lines, FindLines(c, c.In(0)));
  int64_t k = c.ArgI("k", 0);
  if (c.has_input(1)) {
    WEFT_ENSURE(c, c.In(1).type() == DataType::kInt64 && c.In(1).numel() == 1, "k must be one int64");
    k = c.In<int64_t>(1)[0];
  }
  WEFT_ENSURE(c, k >= 1, "k argument must be >= 1, found ", k);
  const int64_t there = std::min(k, lines.length);  // then come 0 at -1
  Dims dims = lines.dims;
  dims[lines.axis] = k;
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* x = c.In<T>(0);
    WEFT_TRY(T * values, c.Out<T>(0, dims));
    WEFT_TRY(int64_t * indices, c.Out<int64_t>(1, dims));
    int64_t* flat = nullptr;
    if (c.has_output(2)) {
      WEFT_TRY(flat, c.Out<int64_t>(2, {NumElements(dims)}));
    }
    std::vector<int64_t> order(lines.length);
    lines.ForEach([&](int64_t o, int64_t s) {
      const int64_t first = o * lines.length * lines.step + s;
      SortTop(order, there, x + first, lines.step);
      for (int64_t i = 0; i < k; ++i) {
        const int64_t to = (o * k + i) * lines.step + s,
                      from = i < there ? first + order[i] * lines.step : -1;
        values[to] = from < 0 ? T() : x[from];
        indices[to] = from < 0 ? -1 : order[i];
        if (flat) flat[to] = from;
      }
    });
    return {};
  });
}

// Inputs dValues, indices, X.
Result<void> TopKGradient(KernelContext& c) {
  WEFT_TRY(const Lines lines, FindLines(c, c.In(2)));
  WEFT_ENSURE(c, SameDims(c.In(0), c.In(1)) && c.In(0).ndim() == c.In(2).ndim(), "inputs differ in shape");
  const int64_t k = c.In(0).dim(lines.axis);
  WEFT_ENSURE(c, c.In(0).numel() == lines.outer * k * lines.step, "inputs differ in shape");
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(2).dims()));
  std::fill(dx, dx + c.In(2).numel(), 0.0f);
  for (int64_t index : c.In(1).values<int64_t>())
    WEFT_ENSURE(c, index >= -1 && index < lines.length, "index ", index, " is out of bounds");
  lines.ForEach([&](int64_t o, int64_t s) {
    for (int64_t i = 0; i < k; ++i) {
      const int64_t from = (o * k + i) * lines.step + s, index = c.In<int64_t>(1)[from];
      if (index >= 0) dx[(o * lines.length + index) * lines.step + s] = c.In<float>(0)[from];
    }
  });
  return {};
}

// Each row has a k of its own; the results follow one another.
struct Ragged {
  int64_t rows, width, total;
};
Result<Ragged> FindRagged(const KernelContext& c) {
  const Tensor& x = c.In(0);
  if (x.ndim() == 0) return c.Fail("X must have dimensions");
  Ragged out{x.SizeTo(x.ndim() - 1), x.dim(x.ndim() - 1), 0};
  if (c.In(1).numel() != out.rows)
    return c.Fail("expected ", out.rows, " values of k, found ", c.In(1).numel());
  for (int64_t k : c.In(1).values<int64_t>()) {
    if (k < 1 || k > out.width) return c.Fail("k must be in [1, ", out.width, "], found ", k);
    out.total += k;
  }
  return out;
}

Result<void> FlexibleTopK(KernelContext& c) {
  WEFT_TRY(const Ragged r, FindRagged(c));
  WEFT_TRY(float* values, c.Out<float>(0, {r.total}));
  WEFT_TRY(int64_t * indices, c.Out<int64_t>(1, {r.total}));
  std::vector<int64_t> order(r.width);
  for (int64_t i = 0; i < r.rows; ++i) {
    const int64_t k = c.In<int64_t>(1)[i];
    SortTop(order, k, c.In<float>(0) + i * r.width, 1);
    for (int64_t j = 0; j < k; ++j) {
      *values++ = c.In<float>(0)[i * r.width + order[j]];
      *indices++ = order[j];
    }
  }
  return {};
}

// Inputs X, k, dValues, indices.
Result<void> FlexibleTopKGradient(KernelContext& c) {
  WEFT_TRY(const Ragged r, FindRagged(c));
  WEFT_ENSURE(c, c.In(2).numel() == r.total && c.In(3).numel() == r.total, "expected ", r.total,
              " gradients");
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  std::fill(dx, dx + c.In(0).numel(), 0.0f);
  int64_t from = 0;
  for (int64_t i = 0; i < r.rows; ++i) {
    for (int64_t j = 0; j < c.In<int64_t>(1)[i]; ++j, ++from) {
      const int64_t index = c.In<int64_t>(3)[from];
      WEFT_ENSURE(c, index >= 0 && index < r.width, "index ", index, " is out of bounds");
      dx[i * r.width + index] = c.In<float>(2)[from];
    }
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"ReduceSum", ReduceSum, "N"},
    {"ReduceMean", ReduceMean, "N"},
    {"ReduceMax", ReduceMax, "N"},
    {"ReduceMin", ReduceMin, "N"},
    {"ReduceL1", ReduceL1, "f"},
    {"ReduceL2", ReduceL2, "f"},
    {"ReduceSumGradient", ReduceSumGradient, "N"},
    {"ReduceMeanGradient", ReduceMeanGradient, "F"},
    {"ReduceMaxGradient", ReduceSelectGradient, "N"},
    {"ReduceMinGradient", ReduceSelectGradient, "N"},
    {"ReduceL1Gradient", ReduceL1Gradient, "f"},
    {"ReduceL2Gradient", ReduceL2Gradient, "f"},
    {"SumElements", SumElements<float, false>, "f"},
    {"SumElementsInt", SumElements<int32_t, false>, "i"},
    {"SumSqrElements", SumElements<float, true>, "f"},
    {"SumElementsGradient", SumElementsGradient, "f"},
    {"LpNorm", LpNorm, "f"},
    {"LpNormGradient", LpNormGradient, "f"},
    {"ArgMax", ArgBest<true>, "N"},
    {"ArgMin", ArgBest<false>, "N"},
    {"TopK", TopK, "N*"},
    {"TopKGradient", TopKGradient, "flf"},
    {"FlexibleTopK", FlexibleTopK, "fl"},
    {"FlexibleTopKGradient", FlexibleTopKGradient, "flfl"},
};

}  // namespace
}  // namespace kernels

KernelFamily ReduceKernels() { return kernels::kRows; }

}  // namespace weft
