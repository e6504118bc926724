// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of one number, element by element, and their gradients; Clip and Cast.
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/str.h"
#include "core/ir/type_arg.h"
#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Values are computed in double and rounded once, so that they do not depend on which float function a
// platform has.
template <double (*f)(double)>
Result<void> Math(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) {
    return Map1<typename decltype(tag)::type, [](double x) { return f(x); }>(c);
  });
}

// dX from (X, dY) or (dY, X) as `slope_input` says: dY * f(X).
template <int slope_input, double (*f)(double)>
Result<void> MathGradient(KernelContext& c) {
  const Tensor& at = c.In(slope_input);
  const Tensor& grad = c.In(1 - slope_input);
  WEFT_ENSURE(c, at.numel() == grad.numel() && at.type() == grad.type(),
              "inputs differ: ", DimsToString(at.dims()), " and ", DimsToString(grad.dims()));
  return SwitchFloat(c, at.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* x = at.data<T>();
    const T* g = grad.data<T>();
    const int64_t n = at.numel();
    WEFT_TRY(T * dx, c.Out<T>(0, Dims(grad.dims())));
    for (int64_t i = 0; i < n; ++i) dx[i] = static_cast<T>(g[i] * f(x[i]));
    return {};
  });
}

double CubeOf(double x) { return x * x * x; }
double Recip(double x) { return 1 / x; }
double RecipSqrt(double x) { return 1 / std::sqrt(x); }
// How fast each function grows, by its X or (named OfY) by its Y.
double AbsSlope(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double AcosSlope(double x) { return -1 / std::sqrt(1 - x * x); }
double AsinSlope(double x) { return 1 / std::sqrt(1 - x * x); }
double AtanSlope(double x) { return 1 / (1 + x * x); }
double CbrtSlopeOfY(double y) { return 1 / (3 * y * y); }
double CosSlope(double x) { return -std::sin(x); }
double CubeSlope(double x) { return 3 * x * x; }
double ErfSlope(double x) { return 2 / std::sqrt(3.14159265358979323846) * std::exp(-x * x); }
double RecipSlopeOfY(double y) { return -y * y; }
double RsqrtSlopeOfY(double y) { return -0.5 * y * y * y; }
double TanSlope(double x) { return 1 / (std::cos(x) * std::cos(x)); }

Result<void> Negative(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map1<T, [](T x) {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
      } else {
        return -x;
      }
    }>(c);
  });
}

Result<void> Sqr(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map1<T, [](T x) { return x * x; }>(c);
  });
}

Result<void> Logit(KernelContext& c) {
  const float eps = c.ArgF("eps", 1e-6f);
  const Tensor& in = c.In(0);
  const float* x = in.data<float>();
  const int64_t n = in.numel();
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  for (int64_t i = 0; i < n; ++i) {
    const double p = std::min(std::max(x[i], eps), 1.0f - eps);
    y[i] = static_cast<float>(std::log(p / (1 - p)));
  }
  return {};
}

Result<void> LogitGradient(KernelContext& c) {
  const float eps = c.ArgF("eps", 1e-6f);
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, c.In(1).numel() == in.numel(), "inputs differ in size");
  const float* x = in.data<float>();
  const float* g = c.In<float>(1);
  const int64_t n = in.numel();
  WEFT_TRY(float* dx, c.Out<float>(0, in.dims()));
  for (int64_t i = 0; i < n; ++i)
    dx[i] = x[i] < eps || x[i] > 1.0f - eps ? 0 : static_cast<float>(g[i] / (double{x[i]} * (1.0 - x[i])));
  return {};
}

Result<void> Clip(KernelContext& c) {
  const float low = c.ArgF("min", std::numeric_limits<float>::lowest());
  const float high = c.ArgF("max", std::numeric_limits<float>::max());
  const Tensor& in = c.In(0);
  const float* x = in.data<float>();
  const int64_t n = in.numel();
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  for (int64_t i = 0; i < n; ++i) {
    const float raised = x[i] < low ? low : x[i];
    y[i] = raised > high ? high : raised;
  }
  return {};
}

Result<void> ClipGradient(KernelContext& c) {
  const float low = c.ArgF("min", std::numeric_limits<float>::lowest());
  const float high = c.ArgF("max", std::numeric_limits<float>::max());
  const Tensor& out = c.In(0);
  WEFT_ENSURE(c, c.In(1).numel() == out.numel(), "inputs differ in size");
  const float* y = out.data<float>();
  const float* g = c.In<float>(1);
  const int64_t n = out.numel();
  WEFT_TRY(float* dx, c.Out<float>(0, out.dims()));
  for (int64_t i = 0; i < n; ++i) dx[i] = y[i] > low && y[i] < high ? g[i] : 0;
  return {};
}

template <typename To, typename From>
To CastTo(const From& from) {
  if constexpr (std::is_same_v<From, Half>) {
    return CastTo<To>(HalfToFloat(from));
  } else if constexpr (std::is_same_v<To, Half>) {
    return FloatToHalf(static_cast<float>(from));
  } else if constexpr (std::is_same_v<To, bool>) {
    return from != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // What does not fit is undefined in C++; x86 gives the smallest number.
    const double value = from;
    constexpr double limit = static_cast<double>(std::numeric_limits<int64_t>::max());
    if (!(value > -limit && value < limit)) return static_cast<To>(std::numeric_limits<int64_t>::min());
    return static_cast<To>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(from);
  }
}

std::string NumberText(double value) { return FormatFloat(static_cast<float>(value)); }

Result<void> Cast(KernelContext& c) {
  const DataType type = ArgDataType(*c.net().symbols, c.op().args, "to", DataType::kFloat);
  WEFT_ENSURE(c, type != DataType::kUndefined, "argument to is no element type");
  const Tensor& in = c.In(0);
  const int64_t n = in.numel();
  return SwitchAny(c, in.type(), [&](auto from_tag) -> Result<void> {
    using From = typename decltype(from_tag)::type;
    if constexpr (std::is_same_v<From, std::string>) {
      if (type == DataType::kString) return c.CopyOut(0, in);
      return SwitchNumber(c, type, [&](auto to_tag) -> Result<void> {
        using To = typename decltype(to_tag)::type;
        const std::string* x = in.data<std::string>();
        WEFT_TRY(To * y, c.Out<To>(0, in.dims()));
        for (int64_t i = 0; i < n; ++i) {
          char* end = nullptr;
          const double value = std::strtod(x[i].c_str(), &end);
          WEFT_ENSURE(c, end != x[i].c_str(), "\"", x[i], "\" is not a number");
          y[i] = CastTo<To>(value);
        }
        return {};
      });
    } else {
      const From* x = in.data<From>();
      return SwitchAny(c, type, [&](auto to_tag) -> Result<void> {
        using To = typename decltype(to_tag)::type;
        WEFT_TRY(To * y, c.Out<To>(0, in.dims()));
        for (int64_t i = 0; i < n; ++i) {
          if constexpr (std::is_same_v<To, std::string>) {
            if constexpr (std::is_integral_v<From>) {
              y[i] = std::to_string(x[i]);
            } else {
              y[i] = NumberText(CastTo<double>(x[i]));
            }
          } else {
            y[i] = CastTo<To>(x[i]);
          }
        }
        return {};
      });
    }
  });
}

constexpr KernelRow kRows[] = {
    {"Abs", Math<std::fabs>, "F", kInPlace},
    {"AbsGradient", MathGradient<0, AbsSlope>, "F", kInPlace},
    {"Acos", Math<std::acos>, "F", kInPlace},
    {"AcosGradient", MathGradient<0, AcosSlope>, "F", kInPlace},
    {"Asin", Math<std::asin>, "F", kInPlace},
    {"AsinGradient", MathGradient<0, AsinSlope>, "F", kInPlace},
    {"Atan", Math<std::atan>, "F", kInPlace},
    {"AtanGradient", MathGradient<0, AtanSlope>, "F", kInPlace},
    {"Cbrt", Math<std::cbrt>, "F", kInPlace},
    {"CbrtGradient", MathGradient<1, CbrtSlopeOfY>, "F", kInPlace},
    {"Ceil", Math<std::ceil>, "F", kInPlace},
    {"Cos", Math<std::cos>, "F", kInPlace},
    {"CosGradient", MathGradient<0, CosSlope>, "F", kInPlace},
    {"Cosh", Math<std::cosh>, "F", kInPlace},
    {"CoshGradient", MathGradient<1, std::sinh>, "F", kInPlace},
    {"Cube", Math<CubeOf>, "F", kInPlace},
    {"CubeGradient", MathGradient<1, CubeSlope>, "F", kInPlace},
    {"Erf", Math<std::erf>, "F", kInPlace},
    {"ErfGradient", MathGradient<0, ErfSlope>, "F", kInPlace},
    {"Exp", Math<std::exp>, "F", kInPlace},
    {"Floor", Math<std::floor>, "F", kInPlace},
    {"Log", Math<std::log>, "F", kInPlace},
    {"Logit", Logit, "f", kInPlace},
    {"LogitGradient", LogitGradient, "f", kInPlace},
    {"Negative", Negative, "N", kInPlace},
    {"Reciprocal", Math<Recip>, "F", kInPlace},
    {"ReciprocalGradient", MathGradient<0, RecipSlopeOfY>, "F", kInPlace},
    {"Rsqrt", Math<RecipSqrt>, "F", kInPlace},
    {"RsqrtGradient", MathGradient<1, RsqrtSlopeOfY>, "F", kInPlace},
    {"Sin", Math<std::sin>, "F", kInPlace},
    {"SinGradient", MathGradient<0, std::cos>, "F", kInPlace},
    {"Sinh", Math<std::sinh>, "F", kInPlace},
    {"SinhGradient", MathGradient<1, std::cosh>, "F", kInPlace},
    {"Sqr", Sqr, "F", kInPlace},
    {"Sqrt", Math<std::sqrt>, "F", kInPlace},
    {"Tan", Math<std::tan>, "F", kInPlace},
    {"TanGradient", MathGradient<0, TanSlope>, "F", kInPlace},
    {"Clip", Clip, "f", kInPlace},
    {"ClipGradient", ClipGradient, "f", kInPlace},
    {"Cast", Cast, "*"},
};

}  // namespace
}  // namespace kernels

KernelFamily ElementwiseKernels() { return kernels::kRows; }

}  // namespace weft
