// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps, buckets and other piecewise functions of one number; half floats; Box-Cox.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

Result<void> FloatToHalfs(KernelContext& c) {
  const bool clip = c.ArgB("clip", false);
  const float* x = c.In<float>(0);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(Half * y, c.Out<Half>(0, Dims(c.In(0).dims())));
  for (int64_t i = 0; i < n; ++i) y[i] = FloatToHalf(clip ? std::clamp(x[i], -65504.0f, 65504.0f) : x[i]);
  return {};
}

Result<void> HalfToFloats(KernelContext& c) {
  const Half* x = c.In<Half>(0);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* y, c.Out<float>(0, Dims(c.In(0).dims())));
  for (int64_t i = 0; i < n; ++i) y[i] = HalfToFloat(x[i]);
  return {};
}

Result<void> IsNaN(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(bool* y, c.Out<bool>(0, c.In(0).dims()));
    for (int64_t i = 0; i < c.In(0).numel(); ++i) y[i] = std::isnan(c.In<T>(0)[i]);
    return {};
  });
}

Result<void> ReplaceNaN(KernelContext& c) {
  const float value = c.ArgF("value", 0);
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* x = c.In<T>(0);
    const int64_t n = c.In(0).numel();
    WEFT_TRY(T * y, c.Out<T>(0, c.In(0).dims()));
    for (int64_t i = 0; i < n; ++i) y[i] = std::isnan(x[i]) ? static_cast<T>(value) : x[i];
    return {};
  });
}

Result<void> Mod(KernelContext& c) {
  const int64_t divisor = c.ArgI("divisor", 0);
  const bool follow = c.ArgB("sign_follow_divisor", false);
  WEFT_ENSURE(c, divisor != 0, "divisor must not be 0");
  return SwitchIndex(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    const I* x = c.In<I>(0);
    const int64_t n = c.In(0).numel();
    WEFT_TRY(I * y, c.Out<I>(0, c.In(0).dims()));
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = divisor == -1 ? 0 : static_cast<int64_t>(x[i]) % divisor;
      if (follow && rest != 0 && (rest < 0) != (divisor < 0)) rest += divisor;
      y[i] = static_cast<I>(rest);
    }
    return {};
  });
}

Result<void> StumpFunc(KernelContext& c) {
  const float threshold = c.ArgF("threshold", 0), low = c.ArgF("low_value", 0),
              high = c.ArgF("high_value", 0);
  const float* x = c.In<float>(0);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] <= threshold ? low : high;
  return {};
}

// Places of elements up to the threshold, and of those above.
Result<void> StumpFuncIndex(KernelContext& c) {
  const float threshold = c.ArgF("threshold", 0);
  std::vector<int64_t> places[2];
  for (int64_t i = 0; i < c.In(0).numel(); ++i) places[c.In<float>(0)[i] > threshold].push_back(i);
  for (size_t o = 0; o < 2; ++o) {
    WEFT_TRY(int64_t * out, c.Out<int64_t>(o, {static_cast<int64_t>(places[o].size())}));
    std::copy(places[o].begin(), places[o].end(), out);
  }
  return {};
}

Result<void> Bucketize(KernelContext& c) {
  const std::vector<float> boundaries = c.ArgFs("boundaries");
  WEFT_ENSURE(c, !boundaries.empty() && std::is_sorted(boundaries.begin(), boundaries.end()),
              "We need to have at least one boundary, and boundaries that grow");
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, c.In(0).dims()));
  for (int64_t i = 0; i < c.In(0).numel(); ++i)
    out[i] = static_cast<int32_t>(std::lower_bound(boundaries.begin(), boundaries.end(), c.In<float>(0)[i]) -
                                  boundaries.begin());
  return {};
}

// Inputs param, and perhaps the rows to look at.
Result<void> EnsureClipped(KernelContext& c) {
  const float low = c.HasArg("min") ? c.ArgF("min", 0) : std::numeric_limits<float>::lowest();
  const float high = c.HasArg("max") ? c.ArgF("max", 0) : std::numeric_limits<float>::max();
  const Tensor& x = c.In(0);
  WEFT_TRY_VOID(c.CopyOut(0, x));
  float* y = c.Out(0).mutable_data<float>();
  const auto clip = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const float raised = y[i] < low ? low : y[i];
      y[i] = raised > high ? high : raised;
    }
  };
  if (!c.has_input(1)) {
    clip(0, x.numel());
    return {};
  }
  WEFT_ENSURE(c, x.ndim() >= 1, "param must have rows");
  const int64_t width = x.SizeFrom(1);
  return SwitchIndex(c, c.In(1).type(), [&](auto tag) -> Result<void> {
    for (auto row : c.In(1).values<typename decltype(tag)::type>()) {
      WEFT_ENSURE(c, row >= 0 && row < x.dim(0), "index ", row, " is out of bounds");
      clip(row * width, (row + 1) * width);
    }
    return {};
  });
}

// Lines between bounds, for each column of X; in arguments or inputs 1 to 3. With `binary` X holds
// probabilities of two classes: that of the second is transformed and the first is the rest.
Result<void> PiecewiseLinearTransform(KernelContext& c) {
  const Tensor& x = c.In(0);
  const bool binary = c.ArgB("binary", false);
  std::vector<float> lists[3] = {c.ArgFs("bounds"), c.ArgFs("slopes"), c.ArgFs("intercepts")};
  if (c.num_inputs() == 4)
    for (size_t i = 0; i < 3; ++i) {
      WEFT_ENSURE(c, c.In(i + 1).type() == DataType::kFloat, "bounds, slopes and intercepts must be floats");
      lists[i].assign(c.In<float>(i + 1), c.In<float>(i + 1) + c.In(i + 1).numel());
    }
  const std::vector<float>&bounds = lists[0], &slopes = lists[1], &intercepts = lists[2];
  const bool pairs = binary && x.ndim() == 2 && x.dim(1) == 2;
  WEFT_ENSURE(c, x.ndim() == 2 || (binary && x.ndim() == 1), "X is ", DimsToString(x.dims()));
  WEFT_ENSURE(c, !binary || pairs || x.ndim() == 1 || x.dim(1) == 1, "X is ", DimsToString(x.dims()));
  const int64_t columns = binary ? 1 : x.dim(1),
                pieces = columns ? static_cast<int64_t>(slopes.size()) / columns : 0;
  WEFT_ENSURE(c,
              pieces > 0 && static_cast<int64_t>(slopes.size()) == pieces * columns &&
                  intercepts.size() == slopes.size() &&
                  static_cast<int64_t>(bounds.size()) == (pieces + 1) * columns,
              "bounds, slopes and intercepts do not match: ", bounds.size(), ", ", slopes.size(), ", ",
              intercepts.size());
  const auto transform = [&](double v, int64_t column) {
    const float* b = bounds.data() + column * (pieces + 1);
    int64_t piece;
    if (v <= b[0]) {
      v = b[0];
      piece = 0;
    } else if (v >= b[pieces]) {
      v = b[pieces];
      piece = pieces - 1;
    } else {
      piece = std::max<int64_t>(std::lower_bound(b, b + pieces + 1, v) - b - 1, 0);  // 0 for not-a-number
    }
    return slopes[column * pieces + piece] * v + intercepts[column * pieces + piece];
  };
  const float* in = x.data<float>();
  WEFT_TRY(float* y, c.Out<float>(0, x.dims()));
  if (pairs) {
    for (int64_t i = 0; i < x.dim(0); ++i) {
      const double p = transform(in[2 * i + 1], 0);
      y[2 * i + 1] = static_cast<float>(p);
      y[2 * i] = static_cast<float>(1 - p);
    }
    return {};
  }
  for (int64_t i = 0; i < x.numel(); ++i) y[i] = static_cast<float>(transform(in[i], i % columns));
  return {};
}

// Inputs data [N, D], lambda1, lambda2 per column.
Result<void> BatchBoxCox(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() >= 1, "data must have rows");
  WEFT_TRY_VOID(c.CheckInputs(0, 2));
  const int64_t width = x.SizeFrom(1);
  WEFT_ENSURE(c, c.In(1).numel() == width && c.In(2).numel() == width, "lambda1 and lambda2 must have ",
              width, " elements");
  constexpr double kSmallest = 1e-6;
  return SwitchFloat(c, x.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* in = x.data<T>();
    WEFT_TRY(T * y, c.Out<T>(0, x.dims()));
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double l1 = c.In<T>(1)[i % width], v = std::max<double>(in[i] + c.In<T>(2)[i % width], kSmallest);
      y[i] = static_cast<T>(l1 == 0 ? std::log(v) : (std::pow(v, l1) - 1) / l1);
    }
    return {};
  });
}

constexpr KernelRow kRows[] = {
    {"FloatToHalf", FloatToHalfs, "f"},
    {"HalfToFloat", HalfToFloats, "h"},
    {"IsNaN", IsNaN, "F"},
    {"ReplaceNaN", ReplaceNaN, "F", kInPlace},
    {"Mod", Mod, "I", kInPlace},
    {"StumpFunc", StumpFunc, "f", kInPlace},
    {"StumpFuncIndex", StumpFuncIndex, "f"},
    {"Bucketize", Bucketize, "f"},
    {"EnsureClipped", EnsureClipped, "f**", kInPlace},
    {"PiecewiseLinearTransform", PiecewiseLinearTransform, "f*"},
    {"BatchBoxCox", BatchBoxCox, "F"},
};

}  // namespace
}  // namespace kernels

KernelFamily ElementwiseMoreKernels() { return kernels::kRows; }

}  // namespace weft
