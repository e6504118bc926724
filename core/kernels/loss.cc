// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses over examples: averages, cross entropies, softmax with loss, ranking and margin criteria. Distances
// between rows are in loss_distance.cc.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Probabilities below this count as this much in a logarithm.
constexpr double kLogThreshold = 1e-20;

double SafeLog(double p) { return std::log(std::max(p, kLogThreshold)); }

Result<void> AveragedLoss(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    double sum = 0;
    for (T x : c.In(0).values<T>()) sum += x;
    WEFT_TRY(T * out, c.Out<T>(0, {}));
    *out = c.In(0).empty() ? T(0) : static_cast<T>(sum / static_cast<double>(c.In(0).numel()));
    return {};
  });
}

Result<void> AveragedLossGradient(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_ENSURE(c, c.In(1).numel() == 1 && c.In(1).type() == DataTypeOf<T>,
                "the gradient must be one number");
    const int64_t n = c.In(0).numel();
    const T g = c.In<T>(1)[0] / static_cast<T>(std::max<int64_t>(n, 1));
    WEFT_TRY(T * out, c.Out<T>(0, c.In(0).dims()));
    std::fill(out, out + n, g);
    return {};
  });
}

// Softmax with loss: examples of `classes` numbers that are `step` apart; SpatialSoftmaxWithLoss has one
// example per pixel.
struct Examples {
  int64_t outer, classes, step;
  int64_t count() const { return outer * step; }
  int64_t first(int64_t example) const { return example / step * classes * step + example % step; }
};

Result<Examples> FindExamples(const KernelContext& c, bool spatial) {
  const Tensor& x = c.In(0);
  if (spatial) {
    if (x.ndim() != 4) return c.Fail("Spatial softmax requires 4-D input, found ", DimsToString(x.dims()));
    return Examples{x.dim(0), x.dim(1), x.dim(2) * x.dim(3)};
  }
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", 1), x.ndim()));
  return Examples{x.SizeTo(axis), x.SizeFrom(axis), 1};
}

// Labels and weights of either operator. A label of -1 means "do not count" in the spatial one.
struct Labels {
  const int32_t* label = nullptr;
  const float* probability = nullptr;  // with label_prob: one per class
  const float* weight = nullptr;
  bool skips = false;

  double Weight(int64_t example) const { return weight ? weight[example] : 1; }
  bool Skipped(int64_t example) const { return skips && label[example] == -1; }
};

// What the sum of losses is divided by: the weights, or with average_by_batch_size the number of examples.
double Divisor(const KernelContext& c, const Examples& e, const Labels& labels) {
  if (!labels.skips && c.ArgB("average_by_batch_size", false)) return static_cast<double>(e.count());
  double total = 0;
  for (int64_t i = 0; i < e.count(); ++i)
    if (!labels.Skipped(i)) total += labels.Weight(i);
  return total;
}

Result<Labels> FindLabels(const KernelContext& c, const Examples& e, bool spatial, bool weighted) {
  Labels out;
  out.skips = spatial;
  const Tensor& labels = c.In(1);
  if (!spatial && c.ArgB("label_prob", false)) {
    if (labels.type() != DataType::kFloat || labels.numel() != e.count() * e.classes)
      return c.Fail("label probabilities must be floats, ", e.count(), " x ", e.classes);
    out.probability = labels.data<float>();
    for (int64_t i = 0; i < e.count(); ++i) {
      double sum = 0;
      for (int64_t d = 0; d < e.classes; ++d) sum += out.probability[i * e.classes + d];
      if (std::fabs(sum - 1) > 5e-2) return c.Fail("Sum of label probabilities of example ", i, " is ", sum);
    }
  } else {
    if (labels.type() != DataType::kInt32 || labels.numel() != e.count())
      return c.Fail("labels must be ", e.count(), " int32, found ", DataTypeName(labels.type()), " ",
                    DimsToString(labels.dims()),
                    spatial ? "" : "; for a distribution over the classes give floats and set label_prob");
    out.label = labels.data<int32_t>();
    for (int64_t i = 0; i < e.count(); ++i)
      if (!(out.label[i] >= 0 && out.label[i] < e.classes) && !(spatial && out.label[i] == -1))
        return c.Fail("Label prob seems incorrect: label value ", out.label[i], " of example ", i,
                      " is not in [0, ", e.classes, ")");
  }
  if (weighted) {
    if (c.In(2).type() != DataType::kFloat || c.In(2).numel() != e.count())
      return c.Fail("weights must be ", e.count(), " floats");
    out.weight = c.In<float>(2);
  }
  return out;
}

template <bool spatial>
Result<void> SoftmaxWithLoss(KernelContext& c) {
  const float scale = c.ArgF("scale", 1);
  WEFT_ENSURE(c, scale >= 0, "scale must not be negative, found ", scale);
  WEFT_ENSURE(c, c.ArgS("order", "NCHW") == "NCHW", "Only NCHW order is supported right now.");
  WEFT_TRY(const Examples e, FindExamples(c, spatial));
  WEFT_TRY(const Labels labels, FindLabels(c, e, spatial, c.num_inputs() > 2));
  const float* x = c.In<float>(0);
  WEFT_TRY(float* p, c.Out<float>(0, c.In(0).dims()));
  double loss = 0;
  std::vector<double> row(e.classes);
  for (int64_t i = 0; i < e.count(); ++i) {
    const int64_t at = e.first(i);
    double top = -INFINITY, sum = 0;
    for (int64_t d = 0; d < e.classes; ++d) top = std::max<double>(top, x[at + d * e.step]);
    for (int64_t d = 0; d < e.classes; ++d) sum += row[d] = std::exp(x[at + d * e.step] - top);
    for (int64_t d = 0; d < e.classes; ++d) p[at + d * e.step] = static_cast<float>(row[d] / sum);
    if (labels.Skipped(i)) continue;
    if (labels.label) {
      const int32_t label = labels.label[i];
      loss -= (x[at + label * e.step] - top - std::log(sum)) * labels.Weight(i);
    } else {
      for (int64_t d = 0; d < e.classes; ++d)
        loss -= SafeLog(row[d] / sum) * labels.probability[i * e.classes + d] * labels.Weight(i);
    }
  }
  const double total = Divisor(c, e, labels);
  WEFT_TRY(float* out, c.Out<float>(1, {}));
  *out = total != 0 ? static_cast<float>(loss * scale / total) : 0;
  return {};
}

// Inputs X, labels, weights when given, probabilities, gradient of the loss.
template <bool spatial>
Result<void> SoftmaxWithLossGradient(KernelContext& c) {
  const double scale = c.ArgF("scale", 1);
  const size_t n = c.num_inputs();
  WEFT_ENSURE(c, n >= 4, "expected at least 4 inputs");
  WEFT_TRY(const Examples e, FindExamples(c, spatial));
  WEFT_TRY(const Labels labels, FindLabels(c, e, spatial, n > 4));
  const Tensor& probabilities = c.In(n - 2);
  WEFT_ENSURE(c, probabilities.numel() == c.In(0).numel() && probabilities.type() == DataType::kFloat,
              "probabilities have shape ", DimsToString(probabilities.dims()));
  WEFT_ENSURE(c, c.In(n - 1).numel() == 1 && c.In(n - 1).type() == DataType::kFloat,
              "the gradient of the loss must be one float");
  const float* p = probabilities.data<float>();
  const double total = Divisor(c, e, labels);
  const double factor = (total > 0 ? scale / total : 1) * c.In<float>(n - 1)[0];
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < e.count(); ++i) {
    const int64_t at = e.first(i);
    const bool skip = labels.Skipped(i);
    for (int64_t d = 0; d < e.classes; ++d) {
      const double target = labels.label ? labels.label[i] == d : labels.probability[i * e.classes + d];
      const int64_t k = at + d * e.step;
      dx[k] = skip ? 0 : static_cast<float>((p[k] - target) * labels.Weight(i) * factor);
    }
  }
  return {};
}

// X [N, D], int32 labels [N].
Result<void> LabelCrossEntropy(KernelContext& c) {
  const Tensor& x = c.In(0);
  const int64_t n = x.ndim() ? x.dim(0) : 1, d = x.SizeFrom(1);
  WEFT_ENSURE(c, c.In(1).numel() == n, "expected ", n, " labels, found ", c.In(1).numel());
  const int32_t* label = c.In<int32_t>(1);
  WEFT_TRY(float* y, c.Out<float>(0, {n}));
  for (int64_t i = 0; i < n; ++i) {
    WEFT_ENSURE(c, label[i] >= 0 && label[i] < d, "label ", label[i], " is not in [0, ", d, ")");
    y[i] = static_cast<float>(-SafeLog(x.data<float>()[i * d + label[i]]));
  }
  return {};
}

Result<void> LabelCrossEntropyGradient(KernelContext& c) {
  const Tensor& x = c.In(0);
  const int64_t n = x.ndim() ? x.dim(0) : 1, d = x.SizeFrom(1);
  WEFT_ENSURE(c, c.In(1).numel() == n && c.In(2).numel() == n, "expected ", n, " labels and gradients");
  const int32_t* label = c.In<int32_t>(1);
  const float* g = c.In<float>(2);
  WEFT_TRY(float* dx, c.Out<float>(0, x.dims()));
  std::fill(dx, dx + x.numel(), 0.0f);
  for (int64_t i = 0; i < n; ++i) {
    WEFT_ENSURE(c, label[i] >= 0 && label[i] < d, "label ", label[i], " is not in [0, ", d, ")");
    const int64_t k = i * d + label[i];
    dx[k] = static_cast<float>(-g[i] / std::max<double>(x.data<float>()[k], kLogThreshold));
  }
  return {};
}

// X and labels [N, D].
Result<void> CrossEntropy(KernelContext& c) {
  const Tensor& x = c.In(0);
  const int64_t n = x.ndim() ? x.dim(0) : 1, d = x.SizeFrom(1);
  WEFT_ENSURE(c, c.In(1).numel() == x.numel(), "inputs differ in shape");
  const float* label = c.In<float>(1);
  WEFT_TRY(float* y, c.Out<float>(0, {n}));
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t k = i * d; k < (i + 1) * d; ++k) sum -= label[k] * SafeLog(x.data<float>()[k]);
    y[i] = static_cast<float>(sum);
  }
  return {};
}

Result<void> CrossEntropyGradient(KernelContext& c) {
  const Tensor& x = c.In(0);
  const int64_t n = x.ndim() ? x.dim(0) : 1, d = x.SizeFrom(1);
  WEFT_ENSURE(c, c.In(1).numel() == x.numel() && c.In(2).numel() == n, "inputs differ in shape");
  const float* label = c.In<float>(1);
  const float* g = c.In<float>(2);
  WEFT_TRY(float* dx, c.Out<float>(0, x.dims()));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = i * d; k < (i + 1) * d; ++k)
      dx[k] = static_cast<float>(-g[i] * label[k] / std::max<double>(x.data<float>()[k], kLogThreshold));
  return {};
}

Result<void> MakeTwoClass(KernelContext& c) {
  const Tensor& x = c.In(0);
  Dims dims(x.dims());
  dims.push_back(2);
  WEFT_TRY(float* y, c.Out<float>(0, dims));
  for (int64_t i = 0; i < x.numel(); ++i) {
    y[2 * i] = 1 - x.data<float>()[i];
    y[2 * i + 1] = x.data<float>()[i];
  }
  return {};
}

Result<void> MakeTwoClassGradient(KernelContext& c) {
  const Tensor& g = c.In(0);
  WEFT_ENSURE(c, g.ndim() > 0 && g.dim(g.ndim() - 1) == 2, "expected a last dimension of 2");
  Dims dims(g.dims());
  dims.erase(dims.end() - 1);
  WEFT_TRY(float* dx, c.Out<float>(0, dims));
  for (int64_t i = 0; i < g.numel() / 2; ++i) dx[i] = g.data<float>()[2 * i + 1] - g.data<float>()[2 * i];
  return {};
}

// log(1 + exp(x)) without overflow.
double LogOnePlusExp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// The logarithm of the likelihood of `target` under sigmoid(`logit`), and its slope by the logit.
enum SigmoidLoss { kPlain, kLogD, kUnjoined };
double LogLikelihood(SigmoidLoss kind, double logit, double target) {
  switch (kind) {
    case kLogD:
      return (2 * target - 1) * (logit - LogOnePlusExp(logit));
    case kUnjoined:
      return logit * target - (1 - target) * LogOnePlusExp(logit);
    default:
      return logit * target - LogOnePlusExp(logit);
  }
}
double LogLikelihoodSlope(SigmoidLoss kind, double logit, double target) {
  const double sigmoid = 1 / (1 + std::exp(-logit));
  switch (kind) {
    case kLogD:
      return (2 * target - 1) / (1 + std::exp(logit));
    case kUnjoined:
      return target - (1 - target) * sigmoid;
    default:
      return target - sigmoid;
  }
}

Result<SigmoidLoss> FindSigmoidLoss(const KernelContext& c) {
  const bool log_d = c.ArgB("log_D_trick", false), unjoined = c.ArgB("unjoined_lr_loss", false);
  if (log_d && unjoined)
    return c.Fail("log_D_trick_ and unjoined_lr_loss_ cannot be set as True simultaneously");
  return log_d ? kLogD : unjoined ? kUnjoined : kPlain;
}

// Inputs logits, targets and for the weighted one weights; the mean over the last dimension.
template <bool weighted>
Result<void> SigmoidCrossEntropy(KernelContext& c) {
  const Tensor& x = c.In(0);
  SigmoidLoss kind = kPlain;
  if (!weighted) {
    WEFT_TRY(kind, FindSigmoidLoss(c));
  }
  WEFT_ENSURE(c, SameDims(x, c.In(1)) && (!weighted || SameDims(x, c.In(2))), "inputs differ in shape");
  const int64_t inner = x.ndim() ? x.dim(x.ndim() - 1) : 1;
  const int64_t outer = inner ? x.numel() / inner : 0;
  Dims dims;
  if (x.ndim()) dims.Append(x.dims().begin(), x.dims().end() - 1);
  WEFT_TRY(float* y, c.Out<float>(0, dims));
  std::fill(y, y + NumElements(dims), 0.0f);
  for (int64_t i = 0; i < outer; ++i) {
    double sum = 0;
    for (int64_t k = i * inner; k < (i + 1) * inner; ++k)
      sum += LogLikelihood(kind, c.In<float>(0)[k], c.In<float>(1)[k]) * (weighted ? c.In<float>(2)[k] : 1);
    y[i] = static_cast<float>(-sum / static_cast<double>(inner));
  }
  return {};
}

// Inputs gradient, logits, targets and for the weighted one weights.
template <bool weighted>
Result<void> SigmoidCrossEntropyGradient(KernelContext& c) {
  const Tensor& x = c.In(1);
  SigmoidLoss kind = kPlain;
  if (!weighted) {
    WEFT_TRY(kind, FindSigmoidLoss(c));
  }
  WEFT_ENSURE(c, SameDims(x, c.In(2)) && (!weighted || SameDims(x, c.In(3))), "inputs differ in shape");
  const int64_t inner = x.ndim() ? x.dim(x.ndim() - 1) : 1;
  const int64_t outer = inner ? x.numel() / inner : 0;
  WEFT_ENSURE(c, c.In(0).numel() == outer, "expected ", outer, " gradients, found ", c.In(0).numel());
  WEFT_TRY(float* dx, c.Out<float>(0, x.dims()));
  for (int64_t i = 0; i < outer; ++i) {
    const double g = -c.In<float>(0)[i] / static_cast<double>(inner);
    for (int64_t k = i * inner; k < (i + 1) * inner; ++k)
      dx[k] = static_cast<float>(g * LogLikelihoodSlope(kind, x.data<float>()[k], c.In<float>(2)[k]) *
                                 (weighted ? c.In<float>(3)[k] : 1));
  }
  return {};
}

double BernoulliEntropy(double p) {
  if (p < kLogThreshold || 1 - p < kLogThreshold) return 0;
  return -p * std::log(p) - (1 - p) * std::log(1 - p);
}

Result<void> BernoulliJSD(KernelContext& c) {
  WEFT_ENSURE(c, c.In(0).numel() == c.In(1).numel(), "inputs differ in size");
  const int64_t n = c.In(0).numel();
  const float* p = c.In<float>(0);
  const float* q = c.In<float>(1);
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < n; ++i)
    y[i] = static_cast<float>(BernoulliEntropy((double{p[i]} + q[i]) / 2) -
                              (BernoulliEntropy(p[i]) + BernoulliEntropy(q[i])) / 2);
  return {};
}

double SafeLogit(double p) {
  const double x = std::min(std::max(p, kLogThreshold), 1 - kLogThreshold);
  return std::log(x / std::max(1 - x, kLogThreshold));
}

Result<void> BernoulliJSDGradient(KernelContext& c) {
  WEFT_ENSURE(c, c.In(0).numel() == c.In(1).numel() && c.In(0).numel() == c.In(2).numel(),
              "inputs differ in size");
  const int64_t n = c.In(0).numel();
  const float* g = c.In<float>(0);
  const float* p = c.In<float>(1);
  const float* q = c.In<float>(2);
  WEFT_TRY(float* dp, c.Out<float>(0, c.In(1).dims()));
  for (int64_t i = 0; i < n; ++i)
    dp[i] = static_cast<float>(g[i] * (SafeLogit(p[i]) - SafeLogit((double{p[i]} + q[i]) / 2)) / 2);
  return {};
}

Result<void> MarginRankingCriterion(KernelContext& c) {
  const float margin = c.ArgF("margin", 1);
  const int64_t n = c.In(0).numel();
  WEFT_ENSURE(c, c.In(1).numel() == n && c.In(2).numel() == n, "inputs differ in size");
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < n; ++i)
    y[i] = std::max(0.0f, -c.In<int32_t>(2)[i] * (c.In<float>(0)[i] - c.In<float>(1)[i]) + margin);
  return {};
}

Result<void> MarginRankingCriterionGradient(KernelContext& c) {
  const float margin = c.ArgF("margin", 1);
  const int64_t n = c.In(0).numel();
  WEFT_ENSURE(c, c.In(1).numel() == n && c.In(2).numel() == n && c.In(3).numel() == n,
              "inputs differ in size");
  WEFT_TRY(float* d1, c.Out<float>(0, c.In(0).dims()));
  WEFT_TRY(float* d2, c.Out<float>(1, c.In(1).dims()));
  for (int64_t i = 0; i < n; ++i) {
    const float y = static_cast<float>(c.In<int32_t>(2)[i]), g = c.In<float>(3)[i];
    const bool active = -y * (c.In<float>(0)[i] - c.In<float>(1)[i]) + margin >= 0;
    d1[i] = active ? -y * g : 0;
    d2[i] = active ? y * g : 0;
  }
  return {};
}

Result<void> CosineEmbeddingCriterion(KernelContext& c) {
  const float margin = c.ArgF("margin", 0);
  const int64_t n = c.In(0).numel();
  WEFT_ENSURE(c, c.In(1).numel() == n, "inputs differ in size");
  WEFT_TRY(float* y, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < n; ++i) {
    const float s = c.In<float>(0)[i];
    y[i] = c.In<int32_t>(1)[i] == 1 ? 1 - s : std::max(0.0f, s - margin);
  }
  return {};
}

Result<void> CosineEmbeddingCriterionGradient(KernelContext& c) {
  const float margin = c.ArgF("margin", 0);
  const int64_t n = c.In(0).numel();
  WEFT_ENSURE(c, c.In(1).numel() == n && c.In(2).numel() == n, "inputs differ in size");
  WEFT_TRY(float* ds, c.Out<float>(0, c.In(0).dims()));
  for (int64_t i = 0; i < n; ++i) {
    const float s = c.In<float>(0)[i], g = c.In<float>(2)[i];
    ds[i] = c.In<int32_t>(1)[i] == 1 ? -g : s >= margin ? g : 0;
  }
  return {};
}

// Sessions of PairWiseLoss: runs of examples, one run without lengths.
Result<std::vector<int64_t>> Sessions(const KernelContext& c, size_t lengths_input) {
  const int64_t n = c.In(0).numel();
  if (c.In(1).numel() != n) return c.Fail("Label and X must be of same length");
  std::vector<int64_t> out;
  if (!c.has_input(lengths_input)) {
    if (n > 0) out.push_back(n);
    return out;
  }
  int64_t total = 0;
  for (int32_t length : c.In(lengths_input).values<int32_t>()) {
    if (length < 0) return c.Fail("negative length ", length);
    out.push_back(length);
    total += length;
  }
  if (total != n) return c.Fail("the sum of all lengths, ", total, ", must match ", n);
  return out;
}

Result<void> PairWiseLoss(KernelContext& c) {
  WEFT_TRY(const std::vector<int64_t> sessions, Sessions(c, 2));
  const float* x = c.In<float>(0);
  const float* label = c.In<float>(1);
  WEFT_TRY(float* y, c.Out<float>(0, {static_cast<int64_t>(sessions.size())}));
  int64_t first = 0;
  for (size_t s = 0; s < sessions.size(); ++s) {
    double sum = 0;
    int64_t pairs = 0;
    for (int64_t i = first; i < first + sessions[s]; ++i) {
      for (int64_t j = first; j < i; ++j) {
        if (std::fabs(label[i] - label[j]) < kLogThreshold) continue;
        ++pairs;
        const double sign = label[i] > label[j] ? 1 : -1;
        sum += LogOnePlusExp(sign * (x[j] - x[i]));
      }
    }
    y[s] = pairs ? static_cast<float>(sum / static_cast<double>(pairs)) : 0;
    first += sessions[s];
  }
  return {};
}

// Inputs X, label, dY, lengths when given.
Result<void> PairWiseLossGradient(KernelContext& c) {
  WEFT_TRY(const std::vector<int64_t> sessions, Sessions(c, 3));
  WEFT_ENSURE(c, c.In(2).numel() == static_cast<int64_t>(sessions.size()), "expected ", sessions.size(),
              " gradients");
  const float* x = c.In<float>(0);
  const float* label = c.In<float>(1);
  std::vector<double> sums(c.In(0).numel(), 0);
  int64_t first = 0;
  for (size_t s = 0; s < sessions.size(); ++s) {
    int64_t pairs = 0;
    for (int64_t i = first; i < first + sessions[s]; ++i) {
      for (int64_t j = first; j < i; ++j) {
        if (std::fabs(label[i] - label[j]) < kLogThreshold) continue;
        ++pairs;
        const double sign = label[i] > label[j] ? 1 : -1;
        const double slope = sign / (1 + std::exp(-sign * (x[j] - x[i])));
        sums[i] -= slope;
        sums[j] += slope;
      }
    }
    for (int64_t i = first; i < first + sessions[s]; ++i)
      sums[i] *= pairs ? c.In<float>(2)[s] / static_cast<double>(pairs) : 0;
    first += sessions[s];
  }
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (size_t i = 0; i < sums.size(); ++i) dx[i] = static_cast<float>(sums[i]);
  return {};
}

constexpr KernelRow kRows[] = {
    {"AveragedLoss", AveragedLoss, "F"},
    {"AveragedLossGradient", AveragedLossGradient, "F"},
    {"SoftmaxWithLoss", SoftmaxWithLoss<false>, "f*f"},
    {"SoftmaxWithLossGradient", SoftmaxWithLossGradient<false>, "f*f"},
    {"SpatialSoftmaxWithLoss", SoftmaxWithLoss<true>, "f*f"},
    {"SpatialSoftmaxWithLossGradient", SoftmaxWithLossGradient<true>, "f*f"},
    {"LabelCrossEntropy", LabelCrossEntropy, "fi"},
    {"LabelCrossEntropyGradient", LabelCrossEntropyGradient, "fif"},
    {"CrossEntropy", CrossEntropy, "f"},
    {"CrossEntropyGradient", CrossEntropyGradient, "f"},
    {"MakeTwoClass", MakeTwoClass, "f"},
    {"MakeTwoClassGradient", MakeTwoClassGradient, "f"},
    {"SigmoidCrossEntropyWithLogits", SigmoidCrossEntropy<false>, "f"},
    {"SigmoidCrossEntropyWithLogitsGradient", SigmoidCrossEntropyGradient<false>, "f"},
    {"WeightedSigmoidCrossEntropyWithLogits", SigmoidCrossEntropy<true>, "f"},
    {"WeightedSigmoidCrossEntropyWithLogitsGradient", SigmoidCrossEntropyGradient<true>, "f"},
    {"BernoulliJSD", BernoulliJSD, "f"},
    {"BernoulliJSDGradient", BernoulliJSDGradient, "f"},
    {"MarginRankingCriterion", MarginRankingCriterion, "ffi"},
    {"MarginRankingCriterionGradient", MarginRankingCriterionGradient, "ffif"},
    {"CosineEmbeddingCriterion", CosineEmbeddingCriterion, "fi"},
    {"CosineEmbeddingCriterionGradient", CosineEmbeddingCriterionGradient, "fif"},
    {"PairWiseLoss", PairWiseLoss, "ffi"},
    {"PairWiseLossGradient", PairWiseLossGradient, "fffi"},
};

}  // namespace
}  // namespace kernels

KernelFamily LossKernels() { return kernels::kRows; }

}  // namespace weft
