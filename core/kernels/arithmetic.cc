// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic, comparisons and logic of two tensors with broadcasting, and their gradients.
#include <cmath>
#include <cstdint>

#include "core/kernels/broadcast.h"
#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSub = [](auto a, auto b) { return a - b; };
constexpr auto kMul = [](auto a, auto b) { return a * b; };
constexpr auto kEq = [](const auto& a, const auto& b) { return a == b; };
constexpr auto kNe = [](const auto& a, const auto& b) { return a != b; };
constexpr auto kLt = [](auto a, auto b) { return a < b; };
constexpr auto kLe = [](auto a, auto b) { return a <= b; };
constexpr auto kGt = [](auto a, auto b) { return a > b; };
constexpr auto kGe = [](auto a, auto b) { return a >= b; };
constexpr auto kAnd = [](auto a, auto b) -> decltype(a) { return a & b; };
constexpr auto kOr = [](auto a, auto b) -> decltype(a) { return a | b; };
constexpr auto kXor = [](auto a, auto b) -> decltype(a) { return a ^ b; };

// Integer arithmetic wraps around, as Caffe2's does in practice; unsigned, so that it is defined.
template <typename T, typename F>
T Wrapped(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <typename In, typename Out, typename F>
Result<void> Binary(KernelContext& c, F f) {
  const Tensor& a = c.In(0);
  const Tensor& b = c.In(1);
  WEFT_ENSURE(c, a.type() == b.type(), "inputs have types ", DataTypeName(a.type()), " and ",
              DataTypeName(b.type()), ", expected the same");
  WEFT_TRY(const Broadcast broadcast, MakeBroadcastFromArgs(c, a.dims(), b.dims()));
  WEFT_ENSURE(c,
              !(c.IsInPlace(0, 0) && NumElements(broadcast.dims) != a.numel()) &&
                  !(c.IsInPlace(1, 0) && NumElements(broadcast.dims) != b.numel()),
              "the result ", DimsToString(broadcast.dims), " does not fit in place");
  const In* x = a.data<In>();
  const In* z = b.data<In>();
  WEFT_TRY(Out * y, c.Out<Out>(0, broadcast.dims));
  broadcast.ForEach([&](int64_t i, int64_t j, int64_t k) { y[i] = f(x[j], z[k]); });
  return {};
}

template <auto f>
Result<void> Arithmetic(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Binary<T, T>(c, [](T a, T b) { return Wrapped(a, b, f); });
  });
}

Result<void> Div(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    bool divided_by_zero = false;
    WEFT_TRY_VOID((Binary<T, T>(c, [&](T a, T b) -> T {
      if constexpr (std::is_integral_v<T>) {
        if (b == 0) {
          divided_by_zero = true;
          return 0;
        }
        if (b == T(-1)) return Wrapped(T(0), a, kSub);  // the smallest number has no opposite
      }
      return a / b;
    })));
    WEFT_ENSURE(c, !divided_by_zero, "division by zero");
    return {};
  });
}

template <auto f>
Result<void> Compare(KernelContext& c) {
  return Switch<float, double, int32_t, int64_t, bool>(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Binary<T, bool>(c, [](T a, T b) { return f(a, b); });
  });
}

template <auto f>
Result<void> Bits(KernelContext& c) {
  return Switch<bool, int32_t, int64_t>(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Binary<T, T>(c, [](T a, T b) -> T { return f(a, b); });
  });
}

Result<void> Not(KernelContext& c) {
  return Map1<bool, [](bool x) { return !x; }>(c);
}

Result<void> Sign(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Map1<T, [](T x) { return (x > T(0)) - (x < T(0)); }>(c);
  });
}

Result<void> Pow(KernelContext& c) {
  const Tensor& a = c.In(0);
  return SwitchNumber(c, a.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    if (c.num_inputs() == 1) {
      const double exponent = c.ArgF("exponent", 0);
      const T* x = a.data<T>();
      const int64_t n = a.numel();
      WEFT_TRY(T * y, c.Out<T>(0, a.dims()));
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(std::pow(static_cast<double>(x[i]), exponent));
      return {};
    }
    const Tensor& b = c.In(1);
    WEFT_TRY(const Broadcast broadcast, MakeBroadcastFromArgs(c, a.dims(), b.dims()));
    return SwitchNumber(c, b.type(), [&](auto tag2) -> Result<void> {
      using U = typename decltype(tag2)::type;
      const T* x = a.data<T>();
      const U* e = b.data<U>();
      WEFT_TRY(T * y, c.Out<T>(0, broadcast.dims));
      broadcast.ForEach([&](int64_t i, int64_t j, int64_t k) {
        y[i] = static_cast<T>(std::pow(static_cast<double>(x[j]), static_cast<double>(e[k])));
      });
      return {};
    });
  });
}

// Gradients: dA and dB are sums over the elements that A and B were repeated to. f(g, a, b, y) gives both.
template <typename T, typename F>
Result<void> BinaryGradient(KernelContext& c, const Tensor& grad, const Tensor& a, const Tensor& b, F f) {
  WEFT_TRY(const Broadcast broadcast, MakeBroadcastFromArgs(c, a.dims(), b.dims()));
  WEFT_ENSURE(c, NumElements(broadcast.dims) == grad.numel(), "the gradient has ", DimsToString(grad.dims()),
              ", expected ", DimsToString(broadcast.dims));
  std::vector<Acc<T>> da(a.numel(), 0), db(b.numel(), 0);
  const T* g = grad.data<T>();
  broadcast.ForEach([&](int64_t i, int64_t j, int64_t k) { f(g[i], i, j, k, da[j], db[k]); });
  WEFT_TRY(T * out_a, c.Out<T>(0, Dims(a.dims())));
  for (size_t i = 0; i < da.size(); ++i) out_a[i] = static_cast<T>(da[i]);
  if (!c.has_output(1)) return {};
  WEFT_TRY(T * out_b, c.Out<T>(1, Dims(b.dims())));
  for (size_t i = 0; i < db.size(); ++i) out_b[i] = static_cast<T>(db[i]);
  return {};
}

template <int sign>
Result<void> AddGradient(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return BinaryGradient<T>(c, c.In(0), c.In(1), c.In(2),
                             [](T g, int64_t, int64_t, int64_t, Acc<T>& da, Acc<T>& db) {
                               da += g;
                               db += sign * static_cast<Acc<T>>(g);
                             });
  });
}

Result<void> MulGradient(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_ENSURE(c, c.In(1).type() == c.In(0).type() && c.In(2).type() == c.In(0).type(),
                "inputs differ in type");
    const T* a = c.In<T>(1);
    const T* b = c.In<T>(2);
    return BinaryGradient<T>(c, c.In(0), c.In(1), c.In(2),
                             [=](T g, int64_t, int64_t j, int64_t k, Acc<T>& da, Acc<T>& db) {
                               da += static_cast<Acc<T>>(g) * b[k];
                               db += static_cast<Acc<T>>(g) * a[j];
                             });
  });
}

// Inputs dC, A, B, C; in old nets (B, C, dC), where A has the shape of C.
Result<void> DivGradient(KernelContext& c) {
  const bool old = c.num_inputs() == 3;
  const Tensor& grad = c.In(old ? 2 : 0);
  const Tensor& b = c.In(old ? 0 : 2);
  const Tensor& result = c.In(old ? 1 : 3);
  const Tensor& a = old ? result : c.In(1);
  return SwitchNumber(c, grad.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_ENSURE(c, b.type() == grad.type() && result.type() == grad.type() && result.numel() == grad.numel(),
                "inputs do not belong together");
    const T* divisor = b.data<T>();
    const T* y = result.data<T>();
    if constexpr (std::is_integral_v<T>)
      for (int64_t i = 0; i < b.numel(); ++i) WEFT_ENSURE(c, divisor[i] != 0, "division by zero");
    return BinaryGradient<T>(c, grad, a, b, [=](T g, int64_t i, int64_t, int64_t k, Acc<T>& da, Acc<T>& db) {
      da += static_cast<Acc<T>>(g) / divisor[k];
      db -= static_cast<Acc<T>>(g) * y[i] / divisor[k];
    });
  });
}

constexpr KernelRow kRows[] = {
    {"Add", Arithmetic<kAdd>, "N", kInPlace},
    {"Sub", Arithmetic<kSub>, "N", kInPlace},
    {"Mul", Arithmetic<kMul>, "N", kInPlace},
    {"Div", Div, "N", kInPlace},
    {"AddGradient", AddGradient<1>, "N"},
    {"SubGradient", AddGradient<-1>, "N"},
    {"MulGradient", MulGradient, "N"},
    {"DivGradient", DivGradient, "N"},
    {"EQ", Compare<kEq>},
    {"NE", Compare<kNe>},
    {"LT", Compare<kLt>},
    {"LE", Compare<kLe>},
    {"GT", Compare<kGt>},
    {"GE", Compare<kGe>},
    {"And", Bits<kAnd>, "b", kInPlace},
    {"Or", Bits<kOr>, "b", kInPlace},
    {"Xor", Bits<kXor>, "b", kInPlace},
    {"BitwiseAnd", Bits<kAnd>, "*", kInPlace},
    {"BitwiseOr", Bits<kOr>, "*", kInPlace},
    {"BitwiseXor", Bits<kXor>, "*", kInPlace},
    {"Not", Not, "b", kInPlace},
    {"Pow", Pow, "N", kInPlace},
    {"Sign", Sign, "N", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily ArithmeticKernels() { return kernels::kRows; }

}  // namespace weft
