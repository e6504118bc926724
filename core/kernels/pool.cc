// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Max, average and Lp pooling of any number of spatial dimensions.
#include <cmath>
#include <limits>

#include "core/kernels/families.h"
#include "core/kernels/util.h"
#include "core/kernels/window.h"

namespace weft {

namespace kernels {
namespace {

struct Pool {
  Window window;
  std::vector<int64_t> offsets;

  // f(output index, channel base of image n) for every output; `covered(p, g)` walks the elements under place
  // p.
  template <typename F>
  void ForEachPlace(F f) const {
    const Window& w = window;
    for (int64_t n = 0; n < w.batch; ++n)
      for (int64_t c = 0; c < w.channels; ++c)
        for (int64_t p = 0; p < w.out_size; ++p) f(n, c, p, w.At(n, c, p, w.out_size, w.channels));
  }
  template <typename G>
  void ForEachCovered(int64_t n, int64_t c, int64_t p, G g) const {
    for (int64_t k = 0; k < window.kernel_size; ++k) {
      const int64_t spatial = offsets[k * window.out_size + p];
      if (spatial >= 0) g(window.At(n, c, spatial, window.in_size, window.channels));
    }
  }
};

Result<Pool> FindPool(const KernelContext& c) {
  Pool pool;
  WEFT_TRY(pool.window, FindWindow(c, c.In(0)));
  pool.offsets = pool.window.Offsets();
  return pool;
}

// Y = finish(elements under the window), each pooling being one struct with Add and Done.
struct MaxOf {
  float value = std::numeric_limits<float>::lowest();
  explicit MaxOf(const KernelContext&, const Pool&) {}
  void Start() { value = std::numeric_limits<float>::lowest(); }
  void Add(float x) { value = x > value || std::isnan(x) ? x : value; }
  float Done() const { return value; }
};
struct AverageOf {
  double sum = 0;
  int64_t count = 0, fixed = 0;  // `fixed` counts the padding too
  AverageOf(const KernelContext& c, const Pool& pool)
      : fixed(c.ArgB("count_include_pad", false) ? pool.window.kernel_size : 0) {}
  void Start() {
    sum = 0;
    count = 0;
  }
  void Add(float x) {
    sum += x;
    ++count;
  }
  float Done() const {
    const int64_t n = fixed ? fixed : count;
    return n ? static_cast<float>(sum / static_cast<double>(n)) : 0;
  }
};
struct LpOf {
  double sum = 0, p;
  LpOf(const KernelContext& c, const Pool&) : p(c.ArgF("p", 2)) {}
  void Start() { sum = 0; }
  void Add(float x) { sum += std::pow(std::fabs(x), p); }
  float Done() const { return static_cast<float>(std::pow(sum, 1 / p)); }
};

template <typename Of>
Result<void> RunPool(KernelContext& c) {
  WEFT_TRY(const Pool pool, FindPool(c));
  const float* x = c.In<float>(0);
  Of of(c, pool);
  WEFT_TRY(float* y, c.Out<float>(0, pool.window.TensorDims(pool.window.channels, pool.window.out)));
  pool.ForEachPlace([&](int64_t n, int64_t ch, int64_t p, int64_t out) {
    of.Start();
    pool.ForEachCovered(n, ch, p, [&](int64_t at) { of.Add(x[at]); });
    y[out] = of.Done();
  });
  return {};
}

// Inputs X, Y, dY. share(x, y, number of elements covered) is what an element gets of dY.
template <typename Share>
Result<void> PoolGradient(KernelContext& c, Share share) {
  WEFT_TRY(const Pool pool, FindPool(c));
  const Window& w = pool.window;
  const int64_t outputs = w.batch * w.channels * w.out_size;
  WEFT_ENSURE(c, c.In(1).numel() == outputs && c.In(2).numel() == outputs, "Y is ",
              DimsToString(c.In(1).dims()), ", dY ", DimsToString(c.In(2).dims()), ", expected ", outputs,
              " elements");
  const float* x = c.In<float>(0);
  const float* y = c.In<float>(1);
  const float* dy = c.In<float>(2);
  std::vector<double> sum(c.In(0).numel(), 0);
  pool.ForEachPlace([&](int64_t n, int64_t ch, int64_t p, int64_t out) {
    int64_t covered = 0;
    pool.ForEachCovered(n, ch, p, [&](int64_t) { ++covered; });
    pool.ForEachCovered(n, ch, p, [&](int64_t at) { sum[at] += dy[out] * share(x[at], y[out], covered, w); });
  });
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (size_t i = 0; i < sum.size(); ++i) dx[i] = static_cast<float>(sum[i]);
  return {};
}

Result<void> MaxPoolGradient(KernelContext& c) {
  return PoolGradient(c, [](float x, float y, int64_t, const Window&) { return x == y ? 1.0 : 0.0; });
}
Result<void> AveragePoolGradient(KernelContext& c) {
  const bool all = c.ArgB("count_include_pad", false);
  return PoolGradient(c, [all](float, float, int64_t covered, const Window& w) {
    return 1 / static_cast<double>(all ? w.kernel_size : covered);
  });
}
Result<void> LpPoolGradient(KernelContext& c) {
  const double p = c.ArgF("p", 2);
  return PoolGradient(c, [p](float x, float y, int64_t, const Window&) {
    if (x == 0 || y == 0) return 0.0;
    return std::pow(std::fabs(x), p) / x / std::pow(double{y}, p - 1);
  });
}

constexpr KernelRow kRows[] = {
    {"MaxPool", RunPool<MaxOf>, "f"},
    {"MaxPool1D", RunPool<MaxOf>, "f"},
    {"MaxPool2D", RunPool<MaxOf>, "f"},
    {"MaxPool3D", RunPool<MaxOf>, "f"},
    {"MaxPoolGradient", MaxPoolGradient, "f"},
    {"MaxPool1DGradient", MaxPoolGradient, "f"},
    {"MaxPool2DGradient", MaxPoolGradient, "f"},
    {"MaxPool3DGradient", MaxPoolGradient, "f"},
    {"AveragePool", RunPool<AverageOf>, "f"},
    {"AveragePool1D", RunPool<AverageOf>, "f"},
    {"AveragePool2D", RunPool<AverageOf>, "f"},
    {"AveragePool3D", RunPool<AverageOf>, "f"},
    {"AveragePoolGradient", AveragePoolGradient, "f"},
    {"AveragePool1DGradient", AveragePoolGradient, "f"},
    {"AveragePool2DGradient", AveragePoolGradient, "f"},
    {"AveragePool3DGradient", AveragePoolGradient, "f"},
    {"LpPool", RunPool<LpOf>, "f"},
    {"LpPoolGradient", LpPoolGradient, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily PoolKernels() { return kernels::kRows; }

}  // namespace weft
