// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Several tensors of one shape into one (Sum, Mean, Max, WeightedSum), and scaling.
#include <algorithm>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

Result<void> SameShapes(const KernelContext& c, size_t first, size_t step) {
  for (size_t i = first; i < c.num_inputs(); i += step)
    WEFT_ENSURE(c, SameDims(c.In(i), c.In(first)) && c.In(i).type() == c.In(first).type(),
                "Check failed: input ", first, " is ", DimsToString(c.In(first).dims()), ", input ", i,
                " is ", DimsToString(c.In(i).dims()));
  return {};
}

// out[i] = finish(start(x0[i]) then step(x1[i])...), element by element, so it is right in place.
template <typename Step, typename Finish>
Result<void> Combine(KernelContext& c, Step step, Finish finish) {
  WEFT_TRY_VOID(SameShapes(c, 0, 1));
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const int64_t n = c.In(0).numel();
    std::vector<const T*> in;
    for (size_t i = 0; i < c.num_inputs(); ++i) in.push_back(c.In<T>(i));
    WEFT_TRY(T * out, c.Out<T>(0, c.In(0).dims()));
    for (int64_t k = 0; k < n; ++k) {
      Acc<T> acc = in[0][k];
      for (size_t i = 1; i < in.size(); ++i) acc = step(acc, Acc<T>(in[i][k]));
      out[k] = static_cast<T>(finish(acc));
    }
    return {};
  });
}

constexpr auto kSame = [](auto x) { return x; };

Result<void> Sum(KernelContext& c) {
  return Combine(
      c, [](auto a, auto b) { return a + b; }, kSame);
}
Result<void> Mean(KernelContext& c) {
  const int64_t n = static_cast<int64_t>(c.num_inputs());
  return Combine(
      c, [](auto a, auto b) { return a + b; }, [n](auto x) { return x / n; });
}
Result<void> Max(KernelContext& c) {
  return Combine(
      c, [](auto a, auto b) { return std::max(a, b); }, kSame);
}
Result<void> Min(KernelContext& c) {
  return Combine(
      c, [](auto a, auto b) { return std::min(a, b); }, kSame);
}

Result<void> MeanGradient(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const int64_t n = c.In(0).numel();
    const T* g = c.In<T>(0);
    for (size_t i = 0; i < c.num_outputs(); ++i) {
      WEFT_TRY(T * out, c.Out<T>(i, c.In(0).dims()));
      for (int64_t k = 0; k < n; ++k) out[k] = g[k] / static_cast<T>(c.num_outputs());
    }
    return {};
  });
}

// Inputs Y, dY, X0, X1, ...: every X that equals Y gets the gradient.
Result<void> SelectGradient(KernelContext& c) {
  WEFT_TRY_VOID(c.CheckInputs(0, 1));
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const int64_t n = c.In(0).numel();
    WEFT_ENSURE(c, c.num_inputs() >= 2 + c.num_outputs(), "expected an input for each output");
    const T* y = c.In<T>(0);
    const T* g = c.In<T>(1);
    for (size_t i = 0; i < c.num_outputs(); ++i) {
      WEFT_ENSURE(c, c.In(i + 2).numel() == n && c.In(1).numel() == n && c.In(i + 2).type() == DataTypeOf<T>,
                  "inputs differ");
      const T* x = c.In<T>(i + 2);
      WEFT_TRY(T * out, c.Out<T>(i, c.In(i + 2).dims()));
      for (int64_t k = 0; k < n; ++k) out[k] = x[k] == y[k] ? g[k] : T(0);
    }
    return {};
  });
}

// Inputs X0, w0, X1, w1, ...
Result<void> WeightedSum(KernelContext& c) {
  WEFT_ENSURE(c, c.num_inputs() % 2 == 0 && c.num_inputs() > 0, "expected pairs of inputs");
  WEFT_TRY_VOID(SameShapes(c, 0, 2));
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const int64_t n = c.In(0).numel();
    std::vector<const T*> in;
    std::vector<double> weight;
    for (size_t i = 0; i < c.num_inputs(); i += 2) {
      WEFT_ENSURE(c, c.In(i + 1).numel() == 1 && c.In(i + 1).type() == DataType::kFloat, "weight ",
                  c.InName(i + 1), " must be one float");
      in.push_back(c.In<T>(i));
      weight.push_back(c.In<float>(i + 1)[0]);
    }
    WEFT_TRY(T * out, c.Out<T>(0, c.In(0).dims()));
    for (int64_t k = 0; k < n; ++k) {
      double sum = 0;
      for (size_t i = 0; i < in.size(); ++i) sum += weight[i] * in[i][k];
      out[k] = static_cast<T>(sum);
    }
    return {};
  });
}

// Inputs dY, X0, w0, X1, w1...; outputs dX0, dX1, ... and with grad_on_w dw0, dw1, ...
Result<void> WeightedSumGradient(KernelContext& c) {
  const size_t pairs = c.num_inputs() / 2;
  const bool on_w = c.ArgB("grad_on_w", false);
  WEFT_ENSURE(c, c.num_outputs() >= (on_w ? 2 : 1) * pairs, "expected ", (on_w ? 2 : 1) * pairs, " outputs");
  const Tensor& grad = c.In(0);
  const float* g = grad.data<float>();
  const int64_t n = grad.numel();
  for (size_t p = 0; p < pairs; ++p) {
    const Tensor& x = c.In(1 + 2 * p);
    WEFT_ENSURE(c, x.numel() == n && c.In(2 + 2 * p).numel() == 1, "inputs differ in shape");
    const double w = c.In<float>(2 + 2 * p)[0];
    WEFT_TRY(float* dx, c.Out<float>(p, grad.dims()));
    for (int64_t k = 0; k < n; ++k) dx[k] = static_cast<float>(w * g[k]);
    if (!on_w) continue;
    double sum = 0;
    for (int64_t k = 0; k < n; ++k) sum += double{x.data<float>()[k]} * g[k];
    WEFT_TRY(float* dw, c.Out<float>(pairs + p, {1}));
    *dw = static_cast<float>(sum);
  }
  return {};
}

Result<void> ScaleOne(KernelContext& c, size_t i, double scale) {
  return Switch<float, double, Half>(c, c.In(i).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* x = c.In<T>(i);
    const int64_t n = c.In(i).numel();
    WEFT_TRY(T * y, c.Out<T>(i, c.In(i).dims()));
    for (int64_t k = 0; k < n; ++k) {
      if constexpr (std::is_same_v<T, Half>) {
        y[k] = FloatToHalf(static_cast<float>(HalfToFloat(x[k]) * scale));
      } else {
        y[k] = static_cast<T>(x[k] * scale);
      }
    }
    return {};
  });
}

Result<void> Scale(KernelContext& c) { return ScaleOne(c, 0, c.ArgF("scale", 1)); }
Result<void> ScaleBlobs(KernelContext& c) {
  for (size_t i = 0; i < std::min(c.num_inputs(), c.num_outputs()); ++i)
    WEFT_TRY_VOID(ScaleOne(c, i, c.ArgF("scale", 1)));
  return {};
}

constexpr KernelRow kRows[] = {
    {"Sum", Sum, "N", kInPlace},
    {"SumInt", Sum, "I", kInPlace},
    {"Mean", Mean, "F", kInPlace},
    {"MeanGradient", MeanGradient, "F"},
    {"Max", Max, "N", kInPlace},
    {"MaxGradient", SelectGradient, "N"},
    {"Min", Min, "N", kInPlace},
    {"MinGradient", SelectGradient, "N"},
    {"WeightedSum", WeightedSum, "F", kInPlace},
    {"WeightedSumGradient", WeightedSumGradient, "f"},
    {"Scale", Scale, "R", kInPlace},
    {"ScaleBlobs", ScaleBlobs, "R", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily ArithmeticSumKernels() { return kernels::kRows; }

}  // namespace weft
