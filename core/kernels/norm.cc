// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Normalization by channels of images: SpatialBN, GroupNorm, InstanceNorm, LRN, their statistics; dropout.
// Normalization of rows is in norm_rows.cc.
#include <algorithm>
#include <cmath>

#include "core/kernels/channels.h"
#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

Result<void> PerChannel(const KernelContext& c, int64_t channels, std::initializer_list<size_t> inputs) {
  for (size_t i : inputs)
    WEFT_ENSURE(c, c.In(i).numel() == channels, c.InName(i), " has ", c.In(i).numel(), " elements, expected ",
                channels, " channels");
  return {};
}

// Inputs X, scale, bias, running mean, running variance, and with several batches sums over all of them.
// Outputs Y, and in training running mean and variance, mean and inverse deviation of this batch.
Result<void> SpatialBN(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(0)));
  WEFT_TRY_VOID(PerChannel(c, s.channels, {1, 2, 3, 4}));
  const double eps = c.ArgF("epsilon", 1e-5f), momentum = c.ArgF("momentum", 0.9f);
  const float* x = c.In<float>(0);
  const float* scale = c.In<float>(1);
  const float* bias = c.In<float>(2);
  const bool test = c.ArgB("is_test", false);
  const int64_t batches = c.ArgI("num_batches", 1), n = s.per_channel();
  std::vector<double> mean(s.channels, 0), inverse(s.channels, 0);
  if (test) {
    for (int64_t ch = 0; ch < s.channels; ++ch) {
      mean[ch] = c.In<float>(3)[ch];
      inverse[ch] = 1 / std::sqrt(c.In<float>(4)[ch] + eps);
    }
  } else {
    WEFT_ENSURE(c, c.num_outputs() >= 5, "training needs 5 outputs, found ", c.num_outputs());
    if (batches > 1) {
      WEFT_ENSURE(c, c.num_inputs() >= 7, "several batches need their sums");
      WEFT_TRY_VOID(PerChannel(c, s.channels, {5, 6}));
    }
    WEFT_TRY(float* running_mean, c.Out<float>(1, {s.channels}));
    if (!c.IsInPlace(3, 1)) std::copy_n(c.In<float>(3), s.channels, running_mean);
    WEFT_TRY(float* running_variance, c.Out<float>(2, {s.channels}));
    if (!c.IsInPlace(4, 2)) std::copy_n(c.In<float>(4), s.channels, running_variance);
    WEFT_TRY(float* saved_mean, c.Out<float>(3, {s.channels}));
    WEFT_TRY(float* saved_inverse, c.Out<float>(4, {s.channels}));
    for (int64_t ch = 0; ch < s.channels; ++ch) {
      double variance = 0;
      if (n > 0 && batches > 1) {
        const double all = static_cast<double>(n * batches);
        mean[ch] = c.In<float>(5)[ch] / all;
        variance = c.In<float>(6)[ch] / all - mean[ch] * mean[ch];
      } else if (n > 0) {
        double sum = 0, square = 0;
        s.ForEach(ch, [&](int64_t i) { sum += x[i]; });
        mean[ch] = sum / static_cast<double>(n);
        s.ForEach(ch, [&](int64_t i) { square += (x[i] - mean[ch]) * (x[i] - mean[ch]); });
        variance = square / static_cast<double>(n);
      }
      if (n > 0) {
        inverse[ch] = 1 / std::sqrt(variance + eps);
        const double all = static_cast<double>(n * std::max<int64_t>(batches, 1));
        const double unbiased = all > 1 ? variance * all / (all - 1) : variance;
        running_mean[ch] = static_cast<float>(momentum * running_mean[ch] + (1 - momentum) * mean[ch]);
        running_variance[ch] =
            static_cast<float>(momentum * running_variance[ch] + (1 - momentum) * unbiased);
      }
      saved_mean[ch] = static_cast<float>(mean[ch]);
      saved_inverse[ch] = static_cast<float>(inverse[ch]);
    }
  }
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (int64_t ch = 0; ch < s.channels; ++ch)
    s.ForEach(ch, [&](int64_t i) {
      y[i] = static_cast<float>((x[i] - mean[ch]) * inverse[ch] * scale[ch] + bias[ch]);
    });
  return {};
}

// Inputs X, scale, dY, saved mean, saved inverse deviation, and with several batches sums of dscale and
// dbias.
Result<void> SpatialBNGradient(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(0)));
  WEFT_TRY_VOID(PerChannel(c, s.channels, {1, 3, 4}));
  WEFT_ENSURE(c, c.In(2).numel() == c.In(0).numel(), "X and dY differ in size");
  const int64_t batches = c.ArgI("num_batches", 1), n = s.per_channel();
  if (batches > 1) {
    WEFT_ENSURE(c, c.num_inputs() >= 7, "several batches need their sums");
    WEFT_TRY_VOID(PerChannel(c, s.channels, {5, 6}));
  }
  const float* x = c.In<float>(0);
  const float* dy = c.In<float>(2);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  WEFT_TRY(float* dscale, c.Out<float>(1, {s.channels}));
  WEFT_TRY(float* dbias, c.Out<float>(2, {s.channels}));
  for (int64_t ch = 0; ch < s.channels; ++ch) {
    const double mean = c.In<float>(3)[ch], inverse = c.In<float>(4)[ch];
    double by_scale = 0, by_bias = 0;
    if (batches > 1 && n > 0) {
      by_scale = c.In<float>(5)[ch] / static_cast<double>(batches);
      by_bias = c.In<float>(6)[ch] / static_cast<double>(batches);
    } else {
      s.ForEach(ch, [&](int64_t i) {
        by_scale += dy[i] * (x[i] - mean) * inverse;
        by_bias += dy[i];
      });
    }
    const double factor = c.In<float>(1)[ch] * inverse;
    s.ForEach(ch, [&](int64_t i) {
      const double normal = (x[i] - mean) * inverse;
      dx[i] = static_cast<float>(factor * (dy[i] - (by_bias + normal * by_scale) / static_cast<double>(n)));
    });
    dscale[ch] = static_cast<float>(by_scale);
    dbias[ch] = static_cast<float>(by_bias);
  }
  return {};
}

Result<void> ChannelStats(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(0)));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* sum, c.Out<float>(0, {s.channels}));
  WEFT_TRY(float* square, c.Out<float>(1, {s.channels}));
  for (int64_t ch = 0; ch < s.channels; ++ch) {
    double a = 0, b = 0;
    s.ForEach(ch, [&](int64_t i) {
      a += x[i];
      b += double{x[i]} * x[i];
    });
    sum[ch] = static_cast<float>(a);
    square[ch] = static_cast<float>(b);
  }
  return {};
}

// Inputs X, mean, inverse deviation, dY.
Result<void> ChannelBackpropStats(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(0)));
  WEFT_TRY_VOID(PerChannel(c, s.channels, {1, 2}));
  WEFT_ENSURE(c, c.In(3).numel() == c.In(0).numel(), "X and dY differ in size");
  const float* x = c.In<float>(0);
  const float* dy = c.In<float>(3);
  WEFT_TRY(float* scale, c.Out<float>(0, {s.channels}));
  WEFT_TRY(float* bias, c.Out<float>(1, {s.channels}));
  for (int64_t ch = 0; ch < s.channels; ++ch) {
    double a = 0, b = 0;
    s.ForEach(ch, [&](int64_t i) {
      a += (x[i] - double{c.In<float>(1)[ch]}) * c.In<float>(2)[ch] * dy[i];
      b += dy[i];
    });
    scale[ch] = static_cast<float>(a);
    bias[ch] = static_cast<float>(b);
  }
  return {};
}

// Mean and mean square per channel.
Result<void> BatchMoments(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(0)));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* mean, c.Out<float>(0, {s.channels}));
  WEFT_TRY(float* square, c.Out<float>(1, {s.channels}));
  const double n = static_cast<double>(std::max<int64_t>(s.per_channel(), 1));
  for (int64_t ch = 0; ch < s.channels; ++ch) {
    double a = 0, b = 0;
    s.ForEach(ch, [&](int64_t i) {
      a += x[i];
      b += double{x[i]} * x[i];
    });
    mean[ch] = static_cast<float>(a / n);
    square[ch] = static_cast<float>(b / n);
  }
  return {};
}

// Inputs dmean, dsquare, X.
Result<void> BatchMomentsGradient(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(2)));
  WEFT_TRY_VOID(PerChannel(c, s.channels, {0, 1}));
  const float* x = c.In<float>(2);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(2).dims()));
  const double n = static_cast<double>(s.per_channel());
  for (int64_t ch = 0; ch < s.channels; ++ch)
    s.ForEach(ch, [&](int64_t i) {
      dx[i] = static_cast<float>((c.In<float>(0)[ch] + 2.0 * x[i] * c.In<float>(1)[ch]) / n);
    });
  return {};
}

Result<void> AffineChannel(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(0)));
  WEFT_TRY_VOID(PerChannel(c, s.channels, {1, 2}));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (int64_t ch = 0; ch < s.channels; ++ch)
    s.ForEach(ch, [&](int64_t i) { y[i] = x[i] * c.In<float>(1)[ch] + c.In<float>(2)[ch]; });
  return {};
}

// Inputs dY, scale, and when learnable X.
Result<void> AffineChannelGradient(KernelContext& c) {
  WEFT_TRY(const Channels s, FindChannels(c, c.In(0)));
  WEFT_TRY_VOID(PerChannel(c, s.channels, {1}));
  const float* dy = c.In<float>(0);
  if (c.ArgB("is_learnable", false)) {
    WEFT_ENSURE(c, c.has_output(2), "is_learnable needs the gradients of scale and bias as outputs");
    WEFT_ENSURE(c, c.num_inputs() >= 3 && c.In(2).numel() == c.In(0).numel(), "X must be given");
    WEFT_TRY(float* dscale, c.Out<float>(1, {s.channels}));
    WEFT_TRY(float* dbias, c.Out<float>(2, {s.channels}));
    for (int64_t ch = 0; ch < s.channels; ++ch) {
      double a = 0, b = 0;
      s.ForEach(ch, [&](int64_t i) {
        a += double{dy[i]} * c.In<float>(2)[i];
        b += dy[i];
      });
      dscale[ch] = static_cast<float>(a);
      dbias[ch] = static_cast<float>(b);
    }
  }
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (int64_t ch = 0; ch < s.channels; ++ch)
    s.ForEach(ch, [&](int64_t i) { dx[i] = dy[i] * c.In<float>(1)[ch]; });
  return {};
}

// Groups of channels of one image share a mean and a deviation; InstanceNorm has a group per channel.
struct Groups {
  Channels s;
  int64_t groups, width;  // width: channels per group
  double eps;
  double count() const { return static_cast<double>(std::max<int64_t>(width * s.size, 1)); }

  // f(index, channel) for every element of a group of an image.
  template <typename F>
  void ForEach(int64_t n, int64_t g, F f) const {
    for (int64_t ch = g * width; ch < (g + 1) * width; ++ch)
      for (int64_t i = 0; i < s.size; ++i) f(s.At(n, ch, i), ch);
  }
};
template <bool instance>
Result<Groups> FindGroups(const KernelContext& c, const Tensor& x) {
  Groups out;
  WEFT_TRY(out.s, FindChannels(c, x));
  out.groups = instance ? out.s.channels : c.ArgI("group", 32);
  if (!instance && (out.groups <= 0 || out.s.channels % out.groups != 0))
    return c.Fail("group ", out.groups, " does not divide ", out.s.channels, " channels");
  out.width = out.groups ? out.s.channels / out.groups : 0;
  out.eps = c.ArgF("epsilon", 1e-5f);
  return out;
}

// Inputs X, scale, bias; outputs Y, and when asked mean and inverse deviation.
template <bool instance>
Result<void> GroupNorm(KernelContext& c) {
  WEFT_TRY(const Groups gr, FindGroups<instance>(c, c.In(0)));
  WEFT_TRY_VOID(PerChannel(c, gr.s.channels, {1, 2}));
  WEFT_ENSURE(c, gr.eps >= 0, "epsilon must not be negative");
  const float* x = c.In<float>(0);
  std::vector<float> means, inverses;
  const Dims dims(c.In(0).dims());
  std::vector<float> result(c.In(0).numel());
  for (int64_t n = 0; n < gr.s.batch; ++n) {
    for (int64_t g = 0; g < gr.groups; ++g) {
      double sum = 0, square = 0;
      gr.ForEach(n, g, [&](int64_t i, int64_t) { sum += x[i]; });
      const double mean = sum / gr.count();
      gr.ForEach(n, g, [&](int64_t i, int64_t) { square += (x[i] - mean) * (x[i] - mean); });
      const double inverse = 1 / std::sqrt(square / gr.count() + gr.eps);
      gr.ForEach(n, g, [&](int64_t i, int64_t ch) {
        result[i] = static_cast<float>((x[i] - mean) * inverse * c.In<float>(1)[ch] + c.In<float>(2)[ch]);
      });
      means.push_back(static_cast<float>(mean));
      inverses.push_back(static_cast<float>(inverse));
    }
  }
  WEFT_TRY(float* y, c.Out<float>(0, dims));
  std::copy(result.begin(), result.end(), y);
  for (size_t output : {1, 2}) {
    if (!c.has_output(output)) continue;
    WEFT_TRY(float* out, c.Out<float>(output, {gr.s.batch, gr.groups}));
    std::copy_n((output == 1 ? means : inverses).begin(), means.size(), out);
  }
  return {};
}

Result<void> GroupGradient(KernelContext& c, const Groups& gr, size_t in_dy, size_t in_x, size_t in_scale) {
  WEFT_TRY_VOID(PerChannel(c, gr.s.channels, {in_scale}));
  WEFT_ENSURE(c, c.In(in_dy).numel() == c.In(in_x).numel(), "X and dY differ in size");
  const float* x = c.In<float>(in_x);
  const float* dy = c.In<float>(in_dy);
  const float* scale = c.In<float>(in_scale);
  std::vector<double> dscale(gr.s.channels, 0), dbias(gr.s.channels, 0);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(in_x).dims()));
  for (int64_t n = 0; n < gr.s.batch; ++n) {
    for (int64_t g = 0; g < gr.groups; ++g) {
      double sum = 0, square = 0;
      gr.ForEach(n, g, [&](int64_t i, int64_t) { sum += x[i]; });
      const double mean = sum / gr.count();
      gr.ForEach(n, g, [&](int64_t i, int64_t) { square += (x[i] - mean) * (x[i] - mean); });
      const double inverse = 1 / std::sqrt(square / gr.count() + gr.eps);
      double by_mean = 0, by_normal = 0;
      gr.ForEach(n, g, [&](int64_t i, int64_t ch) {
        const double normal = (x[i] - mean) * inverse;
        dscale[ch] += dy[i] * normal;
        dbias[ch] += dy[i];
        by_mean += double{dy[i]} * scale[ch];
        by_normal += double{dy[i]} * scale[ch] * normal;
      });
      gr.ForEach(n, g, [&](int64_t i, int64_t ch) {
        const double normal = (x[i] - mean) * inverse;
        dx[i] = static_cast<float>(inverse *
                                   (double{dy[i]} * scale[ch] - (by_mean + normal * by_normal) / gr.count()));
      });
    }
  }
  for (size_t output : {1, 2}) {
    if (!c.has_output(output)) continue;
    WEFT_TRY(float* out, c.Out<float>(output, {gr.s.channels}));
    for (int64_t ch = 0; ch < gr.s.channels; ++ch)
      out[ch] = static_cast<float>((output == 1 ? dscale : dbias)[ch]);
  }
  return {};
}

// Inputs dY, X, scale, bias, mean, inverse deviation.
Result<void> GroupNormGradient(KernelContext& c) {
  WEFT_TRY(const Groups gr, FindGroups<false>(c, c.In(1)));
  return GroupGradient(c, gr, 0, 1, 2);
}

// Inputs X, scale, bias, dY, and perhaps mean and inverse deviation.
Result<void> InstanceNormGradient(KernelContext& c) {
  WEFT_TRY(const Groups gr, FindGroups<true>(c, c.In(0)));
  return GroupGradient(c, gr, 3, 0, 1);
}

struct Neighbours {
  Channels s;
  int64_t size;
  double alpha, beta, bias;

  // The sum of f(index) over the channels around `c`.
  template <typename F>
  double Around(int64_t n, int64_t c, int64_t i, F f) const {
    double sum = 0;
    const int64_t from = std::max<int64_t>(0, c - (size - 1) / 2);
    const int64_t to = std::min(s.channels, c + (size - 1) / 2 + 1);
    for (int64_t k = from; k < to; ++k) sum += f(s.At(n, k, i));
    return sum;
  }
};
Result<Neighbours> FindNeighbours(const KernelContext& c) {
  Neighbours out;
  WEFT_TRY(out.s, FindChannels(c, c.In(0)));
  out.size = c.ArgI("size", 0);
  out.alpha = c.ArgF("alpha", 0);
  out.beta = c.ArgF("beta", 0);
  out.bias = c.ArgF("bias", 1);
  if (out.size <= 0 || out.size % 2 == 0) return c.Fail("size must be odd and positive, found ", out.size);
  if (!(out.alpha > 0) || !(out.beta > 0)) return c.Fail("alpha and beta must be positive");
  return out;
}

std::vector<double> LrnScale(const Neighbours& nb, const float* x) {
  std::vector<double> scale(nb.s.batch * nb.s.channels * nb.s.size);
  for (int64_t n = 0; n < nb.s.batch; ++n)
    for (int64_t ch = 0; ch < nb.s.channels; ++ch)
      for (int64_t i = 0; i < nb.s.size; ++i)
        scale[nb.s.At(n, ch, i)] =
            nb.bias + nb.alpha / static_cast<double>(nb.size) *
                          nb.Around(n, ch, i, [&](int64_t k) { return double{x[k]} * x[k]; });
  return scale;
}

Result<void> LRN(KernelContext& c) {
  WEFT_TRY(const Neighbours nb, FindNeighbours(c));
  const float* x = c.In<float>(0);
  const std::vector<double> scale = LrnScale(nb, x);
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (size_t i = 0; i < scale.size(); ++i) y[i] = static_cast<float>(x[i] * std::pow(scale[i], -nb.beta));
  if (!c.has_output(1)) return {};
  WEFT_TRY(float* out, c.Out<float>(1, c.In(0).dims()));
  for (size_t i = 0; i < scale.size(); ++i) out[i] = static_cast<float>(scale[i]);
  return {};
}

// Inputs X, Y, dY.
Result<void> LRNGradient(KernelContext& c) {
  WEFT_TRY(const Neighbours nb, FindNeighbours(c));
  WEFT_ENSURE(c, c.In(1).numel() == c.In(0).numel() && c.In(2).numel() == c.In(0).numel(),
              "inputs differ in size");
  const float* x = c.In<float>(0);
  const float* y = c.In<float>(1);
  const float* dy = c.In<float>(2);
  const std::vector<double> scale = LrnScale(nb, x);
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (int64_t n = 0; n < nb.s.batch; ++n)
    for (int64_t ch = 0; ch < nb.s.channels; ++ch)
      for (int64_t i = 0; i < nb.s.size; ++i) {
        const int64_t at = nb.s.At(n, ch, i);
        const double around = nb.Around(n, ch, i, [&](int64_t k) { return double{dy[k]} * y[k] / scale[k]; });
        dx[at] = static_cast<float>(dy[at] * std::pow(scale[at], -nb.beta) -
                                    2 * nb.alpha * nb.beta / static_cast<double>(nb.size) * x[at] * around);
      }
  return {};
}

Result<void> Dropout(KernelContext& c) {
  const double ratio = c.ArgF("ratio", 0.5f);
  WEFT_ENSURE(c, ratio >= 0 && ratio < 1, "ratio must be in [0, 1), found ", ratio);
  if (c.ArgB("is_test", false)) return c.CopyOut(0, c.In(0));
  const float* x = c.In<float>(0);
  const int64_t n = c.In(0).numel();
  const float scale = static_cast<float>(1 / (1 - ratio));
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  bool* mask = nullptr;
  if (c.has_output(1)) {
    WEFT_TRY(mask, c.Out<bool>(1, c.In(0).dims()));
  }
  for (int64_t i = 0; i < n; ++i) {
    const bool keep = c.random().Bernoulli(1 - ratio);
    y[i] = keep ? x[i] * scale : 0;
    if (mask) mask[i] = keep;
  }
  return {};
}

// Inputs dY, mask.
Result<void> DropoutGrad(KernelContext& c) {
  if (c.ArgB("is_test", false)) return c.CopyOut(0, c.In(0));
  WEFT_ENSURE(c,
              c.num_inputs() == 2 && c.In(1).type() == DataType::kBool && c.In(1).numel() == c.In(0).numel(),
              "the mask must be given");
  const float scale = static_cast<float>(1 / (1 - double{c.ArgF("ratio", 0.5f)}));
  const float* dy = c.In<float>(0);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < n; ++i) dx[i] = c.In<bool>(1)[i] ? dy[i] * scale : 0;
  return {};
}

constexpr KernelRow kRows[] = {
    {"SpatialBN", SpatialBN, "f", kInPlace},
    {"SpatialBNGradient", SpatialBNGradient, "f"},
    {"ChannelStats", ChannelStats, "f"},
    {"ChannelBackpropStats", ChannelBackpropStats, "f"},
    {"BatchMoments", BatchMoments, "f"},
    {"BatchMomentsGradient", BatchMomentsGradient, "f"},
    {"AffineChannel", AffineChannel, "f", kInPlace},
    {"AffineChannelGradient", AffineChannelGradient, "f", kInPlace},
    {"GroupNorm", GroupNorm<false>, "f"},
    {"GroupNormGradient", GroupNormGradient, "f"},
    {"InstanceNorm", GroupNorm<true>, "f"},
    {"InstanceNormGradient", InstanceNormGradient, "f"},
    {"LRN", LRN, "f"},
    {"LRNGradient", LRNGradient, "f"},
    {"Dropout", Dropout, "f", kInPlace},
    {"DropoutGrad", DropoutGrad, "f*", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily NormKernels() { return kernels::kRows; }

}  // namespace weft
