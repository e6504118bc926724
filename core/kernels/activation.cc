// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations: functions of one number with arguments, their gradients, PRelu and Softmax.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Y = f(X); `f` is made from the operator's arguments.
template <typename F>
Result<void> Apply(KernelContext& c, F f) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const Tensor& in = c.In(0);
    const T* x = in.data<T>();
    const int64_t n = in.numel();
    WEFT_TRY(T * y, c.Out<T>(0, in.dims()));
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(f(double{x[i]}));
    return {};
  });
}

// dX = dY * slope(inputs 0..): `at` are the inputs that the slope depends on, `grad` is the place of dY.
template <typename F>
Result<void> ApplyGradient(KernelContext& c, size_t at, size_t grad, F slope) {
  WEFT_ENSURE(c, c.In(at).numel() == c.In(grad).numel() && c.In(at).type() == c.In(grad).type(),
              "inputs differ: ", DimsToString(c.In(at).dims()), " and ", DimsToString(c.In(grad).dims()));
  return SwitchFloat(c, c.In(at).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* x = c.In<T>(at);
    const T* g = c.In<T>(grad);
    const int64_t n = c.In(at).numel();
    WEFT_TRY(T * dx, c.Out<T>(0, Dims(c.In(at).dims())));
    for (int64_t i = 0; i < n; ++i) dx[i] = static_cast<T>(g[i] * slope(double{x[i]}));
    return {};
  });
}

double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

Result<void> Relu(KernelContext& c) {
  return Apply(c, [](double x) { return x < 0 ? 0 : x; });
}
Result<void> ReluGradient(KernelContext& c) {
  return ApplyGradient(c, 0, 1, [](double y) { return y > 0 ? 1 : 0; });
}
Result<void> ReluN(KernelContext& c) {
  const double n = c.ArgF("n", 6);
  WEFT_ENSURE(c, n > 0, "n should be greater than 0, found ", n);
  return Apply(c, [=](double x) { return std::min(std::max(x, 0.0), n); });
}
Result<void> ReluNGradient(KernelContext& c) {
  const double n = c.ArgF("n", 6);
  return ApplyGradient(c, 0, 1, [=](double y) { return y > 0 && y < n ? 1 : 0; });
}
Result<void> Sigmoid(KernelContext& c) { return Apply(c, SigmoidOf); }
Result<void> SigmoidGradient(KernelContext& c) {
  return ApplyGradient(c, 0, 1, [](double y) { return y * (1 - y); });
}
Result<void> Tanh(KernelContext& c) {
  return Apply(c, [](double x) { return std::tanh(x); });
}
Result<void> TanhGradient(KernelContext& c) {
  return ApplyGradient(c, 0, 1, [](double y) { return 1 - y * y; });
}
Result<void> LeakyRelu(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 0.01f);
  return Apply(c, [=](double x) { return x > 0 ? x : alpha * x; });
}
Result<void> LeakyReluGradient(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 0.01f);
  return ApplyGradient(c, 0, 1, [=](double y) { return y > 0 ? 1 : alpha; });
}
Result<void> ThresholdedRelu(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 1);
  return Apply(c, [=](double x) { return x > alpha ? x : 0; });
}
Result<void> ThresholdedReluGradient(KernelContext& c) {
  return ApplyGradient(c, 0, 1, [](double y) { return y > 0 ? 1 : 0; });
}
Result<void> Elu(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 1);
  return Apply(c, [=](double x) { return x > 0 ? x : alpha * std::expm1(x); });
}
Result<void> EluGradient(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 1);
  return ApplyGradient(c, 0, 1, [=](double y) { return y < 0 ? y + alpha : 1; });
}
Result<void> Selu(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 1.6732632423543772848170429916717f);
  const double scale = c.ArgF("scale", 1.0507009873554804934193349852946f);
  return Apply(c, [=](double x) { return scale * (x > 0 ? x : alpha * std::expm1(x)); });
}
Result<void> SeluGradient(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 1.6732632423543772848170429916717f);
  const double scale = c.ArgF("scale", 1.0507009873554804934193349852946f);
  return ApplyGradient(c, 0, 1, [=](double y) { return y > 0 ? scale : y + alpha * scale; });
}
Result<void> Softplus(KernelContext& c) {
  return Apply(c, [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
}
Result<void> SoftplusGradient(KernelContext& c) {
  return ApplyGradient(c, 0, 1, [](double y) { return -std::expm1(-y); });
}
Result<void> Softsign(KernelContext& c) {
  return Apply(c, [](double x) { return x / (1 + std::fabs(x)); });
}
Result<void> SoftsignGradient(KernelContext& c) {
  return ApplyGradient(c, 0, 1, [](double x) { return 1 / ((1 + std::fabs(x)) * (1 + std::fabs(x))); });
}
Result<void> HardSigmoid(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 0.2f), beta = c.ArgF("beta", 0.5f);
  return Apply(c, [=](double x) { return std::max(0.0, std::min(1.0, alpha * x + beta)); });
}
Result<void> HardSigmoidGradient(KernelContext& c) {
  const double alpha = c.ArgF("alpha", 0.2f);
  return ApplyGradient(c, 0, 1, [=](double y) { return y > 0 && y < 1 ? alpha : 0; });
}
Result<void> Swish(KernelContext& c) {
  return Apply(c, [](double x) { return x * SigmoidOf(x); });
}
// Inputs X, Y, dY.
Result<void> SwishGradient(KernelContext& c) {
  return ApplyGradient(c, 0, 2, [](double x) {
    const double s = SigmoidOf(x);
    return s + x * s * (1 - s);
  });
}
Result<void> Mish(KernelContext& c) {
  return Apply(c, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
}
Result<void> MishGradient(KernelContext& c) {
  return ApplyGradient(c, 0, 2, [](double x) {
    const double t = std::tanh(std::log1p(std::exp(x)));
    return t + x * (1 - t * t) * SigmoidOf(x);
  });
}

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kFastGelu = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kFastGeluCube = 0.044715;

Result<void> Gelu(KernelContext& c) {
  if (c.ArgB("fast_gelu", false)) {
    return Apply(
        c, [](double x) { return 0.5 * x * (1 + std::tanh(kFastGelu * (x + kFastGeluCube * x * x * x))); });
  }
  return Apply(c, [](double x) { return 0.5 * x * (1 + std::erf(x * kSqrtHalf)); });
}
// Inputs dY, X.
Result<void> GeluGradient(KernelContext& c) {
  if (c.ArgB("fast_gelu", false)) {
    return ApplyGradient(c, 1, 0, [](double x) {
      const double t = std::tanh(kFastGelu * (x + kFastGeluCube * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kFastGelu * (1 + 3 * kFastGeluCube * x * x);
    });
  }
  return ApplyGradient(c, 1, 0, [](double x) {
    const double normal = std::exp(-0.5 * x * x) * 0.39894228040143267794;
    return 0.5 * (1 + std::erf(x * kSqrtHalf)) + x * normal;
  });
}

// The slope of element i: one for all, or one per channel.
struct Slopes {
  int64_t channels = 1, inner = 1;
  int64_t operator()(int64_t i) const { return i / inner % channels; }
};
Result<Slopes> FindSlopes(const KernelContext& c, const Tensor& x, const Tensor& slope) {
  if (slope.numel() == 1) return Slopes();
  Slopes out;
  const bool last = c.ArgS("order", "NCHW") == "NHWC";
  if (x.ndim() < 2 || slope.ndim() != 1 || slope.dim(0) != x.dim(last ? x.ndim() - 1 : 1))
    return c.Fail("slope ", DimsToString(slope.dims()), " does not fit the channels of ",
                  DimsToString(x.dims()));
  out.channels = std::max<int64_t>(slope.dim(0), 1);
  out.inner = last ? 1 : std::max<int64_t>(x.SizeFrom(2), 1);
  return out;
}

Result<void> PRelu(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_TRY(const Slopes slopes, FindSlopes(c, in, c.In(1)));
  const float* x = in.data<float>();
  const float* w = c.In<float>(1);
  const int64_t n = in.numel();
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : x[i] * w[slopes(i)];
  return {};
}

// Inputs Y, dY, X, W.
Result<void> PReluGradient(KernelContext& c) {
  const Tensor& in = c.In(2);
  WEFT_TRY(const Slopes slopes, FindSlopes(c, in, c.In(3)));
  WEFT_ENSURE(c, c.In(0).numel() == in.numel() && c.In(1).numel() == in.numel(), "inputs differ in size");
  const float* y = c.In<float>(0);
  const float* g = c.In<float>(1);
  const float* x = c.In<float>(2);
  const float* w = c.In<float>(3);
  const int64_t n = in.numel();
  std::vector<double> sums(c.In(3).numel(), 0);
  WEFT_TRY(float* dx, c.Out<float>(0, Dims(in.dims())));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t k = slopes(i);
    if (x[i] <= 0) sums[k] += double{g[i]} * x[i];
    dx[i] = y[i] > 0 ? g[i] : g[i] * w[k];
  }
  WEFT_TRY(float* dw, c.Out<float>(1, c.In(3).dims()));
  for (size_t k = 0; k < sums.size(); ++k) dw[k] = static_cast<float>(sums[k]);
  return {};
}

Result<void> Softmax(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", 1), in.ndim()));
  const int64_t rows = in.SizeTo(axis), width = in.SizeFrom(axis);
  const float* x = in.data<float>();
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  std::vector<double> row(width);
  for (int64_t r = 0; r < rows && width > 0; ++r) {
    double top = x[r * width], sum = 0;
    for (int64_t i = 0; i < width; ++i) top = std::max(top, double{x[r * width + i]});
    for (int64_t i = 0; i < width; ++i) sum += row[i] = std::exp(x[r * width + i] - top);
    for (int64_t i = 0; i < width; ++i) y[r * width + i] = static_cast<float>(row[i] / sum);
  }
  return {};
}

// Inputs Y, dY.
Result<void> SoftmaxGradient(KernelContext& c) {
  const Tensor& out = c.In(0);
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", 1), out.ndim()));
  WEFT_ENSURE(c, c.In(1).numel() == out.numel(), "inputs differ in size");
  const int64_t rows = out.SizeTo(axis), width = out.SizeFrom(axis);
  const float* y = out.data<float>();
  const float* g = c.In<float>(1);
  WEFT_TRY(float* dx, c.Out<float>(0, Dims(out.dims())));
  for (int64_t r = 0; r < rows; ++r) {
    double dot = 0;
    for (int64_t i = r * width; i < (r + 1) * width; ++i) dot += double{y[i]} * g[i];
    for (int64_t i = r * width; i < (r + 1) * width; ++i) dx[i] = static_cast<float>((g[i] - dot) * y[i]);
  }
  return {};
}

// Two halves along `dim`: the first times the sigmoid of the second.
Result<void> Glu(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("dim", -1), in.ndim()));
  WEFT_ENSURE(c, in.dim(axis) % 2 == 0, "Split dimension ", in.dim(axis), " should be divided by two");
  Dims dims(in.dims());
  dims[axis] /= 2;
  const int64_t outer = in.SizeTo(axis), half = in.SizeFrom(axis) / 2;
  const float* x = in.data<float>();
  WEFT_TRY(float* y, c.Out<float>(0, dims));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < half; ++i)
      y[o * half + i] = static_cast<float>(x[o * 2 * half + i] * SigmoidOf(x[o * 2 * half + half + i]));
  return {};
}

constexpr KernelRow kRows[] = {
    {"Relu", Relu, "F", kInPlace},
    {"ReluGradient", ReluGradient, "F", kInPlace},
    {"ReluN", ReluN, "F", kInPlace},
    {"ReluNGradient", ReluNGradient, "F", kInPlace},
    {"Sigmoid", Sigmoid, "F", kInPlace},
    {"SigmoidGradient", SigmoidGradient, "F", kInPlace},
    {"Tanh", Tanh, "F", kInPlace},
    {"TanhGradient", TanhGradient, "F", kInPlace},
    {"LeakyRelu", LeakyRelu, "F", kInPlace},
    {"LeakyReluGradient", LeakyReluGradient, "F", kInPlace},
    {"ThresholdedRelu", ThresholdedRelu, "F", kInPlace},
    {"ThresholdedReluGradient", ThresholdedReluGradient, "F", kInPlace},
    {"Elu", Elu, "F", kInPlace},
    {"EluGradient", EluGradient, "F", kInPlace},
    {"Selu", Selu, "F", kInPlace},
    {"SeluGradient", SeluGradient, "F", kInPlace},
    {"Softplus", Softplus, "F", kInPlace},
    {"SoftplusGradient", SoftplusGradient, "F", kInPlace},
    {"Softsign", Softsign, "F", kInPlace},
    {"SoftsignGradient", SoftsignGradient, "F", kInPlace},
    {"HardSigmoid", HardSigmoid, "F", kInPlace},
    {"HardSigmoidGradient", HardSigmoidGradient, "F", kInPlace},
    {"Swish", Swish, "F", kInPlace},
    {"SwishGradient", SwishGradient, "F", kInPlace},
    {"Mish", Mish, "F", kInPlace},
    {"MishGradient", MishGradient, "F", kInPlace},
    {"Gelu", Gelu, "F", kInPlace},
    {"GeluGradient", GeluGradient, "F", kInPlace},
    {"PRelu", PRelu, "f", kInPlace},
    {"PReluGradient", PReluGradient, "f"},
    {"Softmax", Softmax, "f", kInPlace},
    {"SoftmaxGradient", SoftmaxGradient, "f", kInPlace},
    {"Glu", Glu, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily ActivationKernels() { return kernels::kRows; }

}  // namespace weft
