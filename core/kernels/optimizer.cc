// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizers, dense and sparse, learning-rate adaption and counters of iterations. LearningRate's policies
// are in optimizer_lr.cc. A sparse optimizer updates the rows that `indices` names, in order, so that a row
// named twice is updated twice; every row is read after it was last written.
#include <cmath>
#include <limits>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

Result<double> OneFloat(const KernelContext& c, size_t input) {
  if (c.In(input).numel() != 1 || c.In(input).type() != DataType::kFloat)
    return c.Fail(c.InName(input), " must be one float, found ", DataTypeName(c.In(input).type()), " ",
                  DimsToString(c.In(input).dims()));
  return double{c.In<float>(input)[0]};
}

Result<int64_t> OneInt64(const KernelContext& c, size_t input) {
  if (c.In(input).numel() != 1 || c.In(input).type() != DataType::kInt64)
    return c.Fail(c.InName(input), " must be one int64");
  return c.In<int64_t>(input)[0];
}

// Inputs that must have as many elements as input 0.
Result<void> SameSizes(const KernelContext& c, std::initializer_list<size_t> inputs) {
  for (size_t i : inputs)
    WEFT_ENSURE(c, c.In(i).numel() == c.In(0).numel(), c.InName(i), " has ", c.In(i).numel(), " elements, ",
                c.InName(0), " has ", c.In(0).numel());
  return {};
}

// A sparse update: rows of `param` named by `indices`, with one row of `grad` each.
struct SparseRows {
  int64_t count = 0, block = 0, rows = 0;
  std::vector<int64_t> index;
};
Result<SparseRows> FindSparseRows(const KernelContext& c, size_t param, size_t indices, size_t grad) {
  SparseRows out;
  const Tensor& p = c.In(param);
  out.rows = p.ndim() ? p.dim(0) : 1;
  out.block = p.SizeFrom(1);
  out.count = c.In(indices).numel();
  if (c.In(grad).numel() != out.count * out.block)
    return c.Fail("gradient ", DimsToString(c.In(grad).dims()), " does not hold ", out.count, " rows of ",
                  out.block);
  auto read = SwitchIndex(c, c.In(indices).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    for (I i : c.In(indices).values<I>()) {
      WEFT_ENSURE(c, i >= 0 && i < out.rows, "index ", i, " is out of bounds [0, ", out.rows, ")");
      out.index.push_back(i);
    }
    return {};
  });
  if (!read) return std::move(read).error();
  return out;
}

// Calls f(element of the parameter, element of the gradient, row) for every element of every named row.
template <typename F>
void ForEachElement(const SparseRows& rows, F f) {
  for (int64_t i = 0; i < rows.count; ++i)
    for (int64_t k = 0; k < rows.block; ++k) f(rows.index[i] * rows.block + k, i * rows.block + k);
}

// Output i as a copy of input `in`, as floats to update.
Result<float*> Updated(KernelContext& c, size_t i, size_t in) {
  if (c.In(in).type() != DataType::kFloat) return c.Fail(c.InName(in), " must hold floats");
  WEFT_TRY_VOID(c.CopyOut(i, c.In(in)));
  return c.Out(i).mutable_data<float>();
}

struct AdagradStep {
  double eps, decay, weight_decay, lr;
  // Updates one parameter; returns the effective learning rate.
  double operator()(float& w, float& h, double g) const {
    g += weight_decay * w;
    const double moment = decay * h + g * g;
    const double rate = lr / (std::sqrt(moment) + eps);
    h = static_cast<float>(moment);
    w = static_cast<float>(w + rate * g);
    return rate;
  }
};
Result<AdagradStep> FindAdagrad(const KernelContext& c, size_t lr) {
  WEFT_TRY(const double rate, OneFloat(c, lr));
  return AdagradStep{c.ArgF("epsilon", 1e-5f), c.ArgF("decay", 1), c.ArgF("weight_decay", 0), rate};
}

// Inputs param, moment, grad, lr.
Result<void> Adagrad(KernelContext& c) {
  WEFT_TRY_VOID(SameSizes(c, {1, 2}));
  WEFT_TRY(const AdagradStep step, FindAdagrad(c, 3));
  const float* g = c.In<float>(2);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* h, Updated(c, 1, 1));
  float* rates = nullptr;
  float* updates = nullptr;
  if (c.has_output(2)) {
    WEFT_TRY(rates, c.Out<float>(2, c.In(0).dims()));
  }
  if (c.has_output(3)) {
    WEFT_TRY(updates, c.Out<float>(3, c.In(0).dims()));
  }
  for (int64_t i = 0; i < n; ++i) {
    const double gradient = g[i] + step.weight_decay * w[i];
    const double rate = step(w[i], h[i], g[i]);
    if (rates) rates[i] = static_cast<float>(rate);
    if (updates) updates[i] = static_cast<float>(rate * gradient);
  }
  return {};
}

// Inputs param, moment, indices, grad, lr.
Result<void> SparseAdagrad(KernelContext& c) {
  WEFT_TRY_VOID(SameSizes(c, {1}));
  WEFT_TRY(const SparseRows rows, FindSparseRows(c, 0, 2, 3));
  WEFT_TRY(const AdagradStep step, FindAdagrad(c, 4));
  const float* g = c.In<float>(3);
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* h, Updated(c, 1, 1));
  ForEachElement(rows, [&](int64_t at, int64_t from) { step(w[at], h[at], g[from]); });
  return {};
}

// One moment per row: the mean square of the row's gradients.
Result<void> RowWiseSparseAdagrad(KernelContext& c) {
  WEFT_TRY(const SparseRows rows, FindSparseRows(c, 0, 2, 3));
  WEFT_ENSURE(c, c.In(1).numel() == rows.rows, "expected one moment per row");
  WEFT_TRY(const AdagradStep step, FindAdagrad(c, 4));
  const float* g = c.In<float>(3);
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* h, Updated(c, 1, 1));
  for (int64_t i = 0; i < rows.count; ++i) {
    float* row = w + rows.index[i] * rows.block;
    const float* grad = g + i * rows.block;
    double sum = 0;
    for (int64_t k = 0; k < rows.block; ++k) {
      const double gradient = grad[k] + step.weight_decay * row[k];
      sum += gradient * gradient;
    }
    float& moment = h[rows.index[i]];
    const double updated = step.decay * moment + sum / static_cast<double>(std::max<int64_t>(rows.block, 1));
    moment = static_cast<float>(updated);
    const double rate = step.lr / (std::sqrt(updated) + step.eps);
    for (int64_t k = 0; k < rows.block; ++k)
      row[k] = static_cast<float>(row[k] + rate * (grad[k] + step.weight_decay * row[k]));
  }
  return {};
}

// Adam's scalars at one iteration. With enableRAdam the step of SparseAdam (the others let it be) is
// rectified, and plain momentum while the variance of the adaptive rate is unknown.
struct AdamStep {
  double beta1, beta2, eps, lr, correction;
  bool adaptive = true;

  double Direction(double m, double v) const { return correction * m / (adaptive ? std::sqrt(v) + eps : 1); }
};
Result<AdamStep> FindAdam(const KernelContext& c, size_t lr_input, size_t iter_input, bool rectifies) {
  WEFT_TRY(const double lr, OneFloat(c, lr_input));
  WEFT_TRY(const int64_t iter, OneInt64(c, iter_input));
  AdamStep s{c.ArgF("beta1", 0.9f), c.ArgF("beta2", 0.999f), c.ArgF("epsilon", 1e-5f), lr, 1};
  const double t = static_cast<double>(iter) + 1;
  const double beta2_t = std::pow(s.beta2, t), unbias1 = 1 - std::pow(s.beta1, t);
  s.correction = std::sqrt(1 - beta2_t) / unbias1;
  if (rectifies && c.ArgB("enableRAdam", false)) {
    const double longest = 2 / (1 - s.beta2) - 1;
    const double length = longest - 2 * t * beta2_t / (1 - beta2_t);
    s.adaptive = length >= 5;
    if (s.adaptive) {
      s.correction *=
          std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
    } else {
      s.correction = 1 / unbias1;
    }
  }
  return s;
}

// Inputs param, moment1, moment2, grad, lr, iter.
Result<void> Adam(KernelContext& c) {
  WEFT_TRY_VOID(SameSizes(c, {1, 2, 3}));
  WEFT_TRY(const AdamStep s, FindAdam(c, 4, 5, false));
  const float* g = c.In<float>(3);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* m1, Updated(c, 1, 1));
  WEFT_TRY(float* m2, Updated(c, 2, 2));
  float* out = nullptr;
  if (c.has_output(3)) {
    WEFT_TRY(out, c.Out<float>(3, c.In(3).dims()));
  }
  for (int64_t i = 0; i < n; ++i) {
    const double m = m1[i] * s.beta1 + g[i] * (1 - s.beta1);
    const double v = m2[i] * s.beta2 + double{g[i]} * g[i] * (1 - s.beta2);
    m1[i] = static_cast<float>(m);
    m2[i] = static_cast<float>(v);
    const double direction = s.Direction(m, v);
    w[i] = static_cast<float>(w[i] + s.lr * direction);
    if (out) out[i] = static_cast<float>(direction);
  }
  return {};
}

// Inputs param, moment1, moment2 (one per row when `row_wise`), indices, grad, lr, iter.
template <bool row_wise>
Result<void> SparseAdam(KernelContext& c) {
  WEFT_TRY(const SparseRows rows, FindSparseRows(c, 0, 3, 4));
  WEFT_TRY_VOID(SameSizes(c, {1}));
  WEFT_ENSURE(c, c.In(2).numel() == (row_wise ? rows.rows : c.In(0).numel()), "moment 2 has ",
              c.In(2).numel(), " elements");
  WEFT_TRY(const AdamStep s, FindAdam(c, 5, 6, !row_wise));
  const float* g = c.In<float>(4);
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* m1, Updated(c, 1, 1));
  WEFT_TRY(float* m2, Updated(c, 2, 2));
  float* out = nullptr;
  if (c.has_output(3)) {
    WEFT_TRY(out, c.Out<float>(3, c.In(4).dims()));
  }
  for (int64_t i = 0; i < rows.count; ++i) {
    double v = 0;
    if (row_wise) {
      double sum = 0;
      for (int64_t k = 0; k < rows.block; ++k) sum += double{g[i * rows.block + k]} * g[i * rows.block + k];
      float& moment = m2[rows.index[i]];
      v = moment * s.beta2 + sum / static_cast<double>(std::max<int64_t>(rows.block, 1)) * (1 - s.beta2);
      moment = static_cast<float>(v);
    }
    for (int64_t k = 0; k < rows.block; ++k) {
      const int64_t at = rows.index[i] * rows.block + k, from = i * rows.block + k;
      const double m = m1[at] * s.beta1 + g[from] * (1 - s.beta1);
      m1[at] = static_cast<float>(m);
      if (!row_wise) {
        v = m2[at] * s.beta2 + double{g[from]} * g[from] * (1 - s.beta2);
        m2[at] = static_cast<float>(v);
      }
      const double direction = s.Direction(m, v);
      w[at] = static_cast<float>(w[at] + s.lr * direction);
      if (out) out[from] = static_cast<float>(direction);
    }
  }
  return {};
}

// Inputs grad, mean squares, momentum, lr.
Result<void> RmsProp(KernelContext& c) {
  WEFT_TRY_VOID(SameSizes(c, {1, 2}));
  WEFT_TRY(const double lr, OneFloat(c, 3));
  const double decay = c.ArgF("decay", 0.9f), momentum = c.ArgF("momentum", 0),
               eps = c.ArgF("epsilon", 1e-5f);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* g, Updated(c, 0, 0));
  WEFT_TRY(float* ms, Updated(c, 1, 1));
  WEFT_TRY(float* mom, Updated(c, 2, 2));
  for (int64_t i = 0; i < n; ++i) {
    const double mean = ms[i] + (1 - decay) * (double{g[i]} * g[i] - ms[i]);
    const double step = mom[i] * momentum + lr * g[i] / std::sqrt(eps + mean);
    ms[i] = static_cast<float>(mean);
    mom[i] = g[i] = static_cast<float>(step);
  }
  return {};
}

struct MomentumStep {
  double lr, momentum;
  bool nesterov;
  // Updates one momentum; returns the adjusted gradient.
  float operator()(float& m, double g) const {
    const double updated = momentum * m + lr * g;
    const double adjusted = nesterov ? (1 + momentum) * updated - momentum * m : updated;
    m = static_cast<float>(updated);
    return static_cast<float>(adjusted);
  }
};
Result<MomentumStep> FindMomentum(const KernelContext& c) {
  WEFT_TRY(const double lr, OneFloat(c, 2));
  return MomentumStep{lr, c.ArgF("momentum", 0), c.ArgB("nesterov", false)};
}

// Inputs grad, momentum, lr, and for the update param.
template <bool update>
Result<void> MomentumSGD(KernelContext& c) {
  WEFT_TRY_VOID(SameSizes(c, {1}));
  WEFT_TRY(const MomentumStep step, FindMomentum(c));
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* g, Updated(c, 0, 0));
  WEFT_TRY(float* m, Updated(c, 1, 1));
  float* w = nullptr;
  if (update && c.has_output(2)) {
    WEFT_TRY_VOID(SameSizes(c, {3}));
    WEFT_TRY(w, Updated(c, 2, 3));
  }
  for (int64_t i = 0; i < n; ++i) {
    g[i] = step(m[i], g[i]);
    if (w) w[i] -= g[i];
  }
  return {};
}

// Inputs grad, momentum, lr, param, indices.
Result<void> SparseMomentumSGDUpdate(KernelContext& c) {
  WEFT_TRY(const SparseRows rows, FindSparseRows(c, 3, 4, 0));
  WEFT_ENSURE(c, c.In(1).numel() == c.In(3).numel(), "momentum and param differ in size");
  WEFT_TRY(const MomentumStep step, FindMomentum(c));
  WEFT_TRY(float* g, Updated(c, 0, 0));
  WEFT_TRY(float* m, Updated(c, 1, 1));
  WEFT_TRY(float* w, Updated(c, 2, 3));
  ForEachElement(rows, [&](int64_t at, int64_t from) {
    g[from] = step(m[at], g[from]);
    w[at] -= g[from];
  });
  return {};
}

struct AdadeltaStep {
  double eps, decay, lr;
  void operator()(float& w, float& h, float& d, double g) const {
    const double moment = decay * h + (1 - decay) * g * g;
    const double step = std::sqrt(d + eps) / std::sqrt(moment + eps) * g;
    h = static_cast<float>(moment);
    d = static_cast<float>(decay * d + (1 - decay) * step * step);
    w = static_cast<float>(w + lr * step);
  }
};

// Inputs param, moment, moment of deltas, indices when sparse, grad, lr.
template <bool sparse>
Result<void> Adadelta(KernelContext& c) {
  constexpr size_t kGrad = sparse ? 4 : 3;
  WEFT_TRY_VOID(SameSizes(c, {1, 2}));
  WEFT_TRY(const double lr, OneFloat(c, kGrad + 1));
  const AdadeltaStep step{c.ArgF("epsilon", 1e-5f), c.ArgF("decay", 0.95f), lr};
  SparseRows rows;
  if (sparse) {
    WEFT_TRY(rows, FindSparseRows(c, 0, 3, kGrad));
  } else {
    WEFT_TRY_VOID(SameSizes(c, {kGrad}));
  }
  const float* g = c.In<float>(kGrad);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* h, Updated(c, 1, 1));
  WEFT_TRY(float* d, Updated(c, 2, 2));
  if (sparse) {
    ForEachElement(rows, [&](int64_t at, int64_t from) { step(w[at], h[at], d[at], g[from]); });
  } else {
    for (int64_t i = 0; i < n; ++i) step(w[i], h[i], d[i], g[i]);
  }
  return {};
}

struct FtrlStep {
  double inverse_alpha, beta, lambda1, lambda2;

  // Updates the pair (n, z) of one parameter.
  void Accumulate(float w, float* nz, double g) const {
    const double n = nz[0] + g * g;
    const double sigma = (std::sqrt(n) - std::sqrt(double{nz[0]})) * inverse_alpha;
    nz[0] = static_cast<float>(n);
    nz[1] = static_cast<float>(nz[1] + g - sigma * w);
  }
  // `norm` stands for |z|, `bound` for lambda1: they are those of a group in GFtrl.
  float Weight(const float* nz, double norm, double bound) const {
    if (!(norm > bound)) return 0;
    return static_cast<float>(nz[1] * (bound / norm - 1) /
                              ((beta + std::sqrt(double{nz[0]})) * inverse_alpha + lambda2));
  }
  void operator()(float& w, float* nz, double g) const {
    Accumulate(w, nz, g);
    w = Weight(nz, std::fabs(nz[1]), lambda1);
  }
};
Result<FtrlStep> FindFtrl(const KernelContext& c, size_t alpha_input) {
  double alpha = c.ArgF("alpha", 0.005f);
  if (c.has_input(alpha_input)) {
    WEFT_TRY(alpha, OneFloat(c, alpha_input));
  }
  if (alpha == 0) return c.Fail("alpha must not be 0");
  return FtrlStep{1 / alpha, c.ArgF("beta", 1), c.ArgF("lambda1", 0.001f), c.ArgF("lambda2", 0.001f)};
}

// Inputs var, n and z in pairs, indices when sparse, grad, alpha when given.
template <bool sparse>
Result<void> Ftrl(KernelContext& c) {
  constexpr size_t kGrad = sparse ? 3 : 2;
  WEFT_TRY(const FtrlStep step, FindFtrl(c, kGrad + 1));
  WEFT_ENSURE(c, c.In(1).numel() == 2 * c.In(0).numel(), "expected two numbers of state per parameter");
  SparseRows rows;
  if (sparse) {
    WEFT_TRY(rows, FindSparseRows(c, 0, 2, kGrad));
  } else {
    WEFT_TRY_VOID(SameSizes(c, {kGrad}));
  }
  const float* g = c.In<float>(kGrad);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* nz, Updated(c, 1, 1));
  if (sparse) {
    ForEachElement(rows, [&](int64_t at, int64_t from) { step(w[at], nz + 2 * at, g[from]); });
  } else {
    for (int64_t i = 0; i < n; ++i) step(w[i], nz + 2 * i, g[i]);
  }
  return {};
}

// The parameters of one input (a column of [outputs, inputs]) are a group that is kept or zeroed together.
Result<void> GFtrl(KernelContext& c) {
  WEFT_TRY(const FtrlStep step, FindFtrl(c, 3));
  WEFT_ENSURE(c, c.In(1).numel() == 2 * c.In(0).numel(), "expected two numbers of state per parameter");
  WEFT_TRY_VOID(SameSizes(c, {2}));
  const float* g = c.In<float>(2);
  const int64_t rows = c.In(0).ndim() ? c.In(0).dim(0) : 1, columns = c.In(0).SizeFrom(1);
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* nz, Updated(c, 1, 1));
  const double bound = step.lambda1 * std::sqrt(static_cast<double>(rows));
  for (int64_t j = 0; j < columns; ++j) {
    double square = 0;
    for (int64_t i = j; i < rows * columns; i += columns) {
      step.Accumulate(w[i], nz + 2 * i, g[i]);
      square += double{nz[2 * i + 1]} * nz[2 * i + 1];
    }
    for (int64_t i = j; i < rows * columns; i += columns)
      w[i] = step.Weight(nz + 2 * i, std::sqrt(square), bound);
  }
  return {};
}

// Inputs param, sequence b, indices when sparse, grad, lr.
template <bool sparse>
Result<void> Wngrad(KernelContext& c) {
  constexpr size_t kGrad = sparse ? 3 : 2;
  WEFT_TRY(const double lr, OneFloat(c, kGrad + 1));
  WEFT_TRY(const double b, OneFloat(c, 1));
  const double divisor = b + c.ArgF("epsilon", 1e-5f), rate = lr / divisor;
  SparseRows rows;
  if (sparse) {
    WEFT_TRY(rows, FindSparseRows(c, 0, 2, kGrad));
  } else {
    WEFT_TRY_VOID(SameSizes(c, {kGrad}));
  }
  const float* g = c.In<float>(kGrad);
  const int64_t n = c.In(kGrad).numel();
  WEFT_TRY(float* w, Updated(c, 0, 0));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += double{g[i]} * g[i];
  const auto step = [&](int64_t at, int64_t from) { w[at] = static_cast<float>(w[at] + rate * g[from]); };
  if (sparse) {
    ForEachElement(rows, step);
  } else {
    for (int64_t i = 0; i < n; ++i) step(i, i);
  }
  if (!sparse && c.has_output(2)) {
    WEFT_TRY(float* out, c.Out<float>(2, c.In(1).dims()));
    *out = static_cast<float>(rate);
  }
  if (!sparse && c.has_output(3)) {
    WEFT_TRY(float* out, c.Out<float>(3, c.In(0).dims()));
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(rate * g[i]);
  }
  WEFT_TRY(float* out_b, Updated(c, 1, 1));
  *out_b = static_cast<float>(b + sum / divisor);
  return {};
}

// Inputs param, moment, sum of squared gradients, grad, indices when sparse, lr.
template <bool sparse>
Result<void> Storm(KernelContext& c) {
  WEFT_TRY_VOID(SameSizes(c, {1}));
  WEFT_TRY(const double lr, OneFloat(c, sparse ? 5 : 4));
  WEFT_TRY(double total, OneFloat(c, 2));
  const double momentum = c.ArgF("momentum", 10), beta = c.ArgF("beta", 0.1f);
  SparseRows rows;
  if (sparse) {
    WEFT_TRY(rows, FindSparseRows(c, 0, 4, 3));
  } else {
    WEFT_TRY_VOID(SameSizes(c, {3}));
  }
  const float* g = c.In<float>(3);
  const int64_t n = c.In(3).numel();
  for (int64_t i = 0; i < n; ++i) total += double{g[i]} * g[i];
  const double rate = lr * std::pow(beta + total, -1.0 / 3.0), alpha = momentum * rate * rate;
  WEFT_TRY(float* w, Updated(c, 0, 0));
  WEFT_TRY(float* m, Updated(c, 1, 1));
  WEFT_TRY(float* sum, Updated(c, 2, 2));
  *sum = static_cast<float>(total);
  const auto step = [&](int64_t at, int64_t from) {
    const double moment = g[from] + (1 - alpha) * (double{m[at]} - g[from]);
    m[at] = static_cast<float>(moment);
    w[at] = static_cast<float>(w[at] + rate * moment);
  };
  if (sparse) {
    ForEachElement(rows, step);
  } else {
    for (int64_t i = 0; i < n; ++i) step(i, i);
  }
  return {};
}

double Norm(const Tensor& t) {
  double sum = 0;
  for (float x : t.values<float>()) sum += double{x} * x;
  return std::sqrt(sum);
}

// Inputs X, dX, weight decay, trust, largest rate.
Result<void> Lars(KernelContext& c) {
  WEFT_TRY_VOID(SameSizes(c, {1}));
  WEFT_TRY(const double decay, OneFloat(c, 2));
  WEFT_TRY(const double trust, OneFloat(c, 3));
  WEFT_TRY(const double most, OneFloat(c, 4));
  const double x = Norm(c.In(0)), dx = Norm(c.In(1));
  double rate = 1;
  if (x > 0) rate = trust / (dx / x + decay + c.ArgF("offset", 0.5f));
  WEFT_TRY(float* out, c.Out<float>(0, {1}));
  *out = static_cast<float>(std::max<double>(std::min(rate, most), c.ArgF("lr_min", 0.02f)));
  return {};
}

// Inputs lr, grad, effective grad.
Result<void> LearningRateAdaption(KernelContext& c) {
  WEFT_TRY(const double lr, OneFloat(c, 0));
  WEFT_ENSURE(c, c.In(1).numel() == c.In(2).numel(), "grad and effgrad differ in size");
  double dot = 0;
  for (int64_t i = 0; i < c.In(1).numel(); ++i) dot += double{c.In<float>(1)[i]} * c.In<float>(2)[i];
  const double alpha = c.ArgF("lr_alpha", 0.01f);
  constexpr double kSmallest = 1e-12;
  const double updated =
      c.ArgB("normalized_lr_adaption", true)
          ? lr * (1 - alpha * dot / (std::max(Norm(c.In(1)), kSmallest) * std::max(Norm(c.In(2)), kSmallest)))
          : lr - alpha * dot;
  WEFT_TRY(float* out, c.Out<float>(0, c.In(0).dims()));
  *out = static_cast<float>(updated);
  return {};
}

// Inputs w, iter: scaled at every multiple of stepsize below upper_bound_iter.
Result<void> WeightScale(KernelContext& c) {
  WEFT_TRY(const int64_t before, OneInt64(c, 1));
  const int64_t iter = before + 1, never = std::numeric_limits<int64_t>::max();
  const int64_t step = c.ArgI("stepsize", never);
  WEFT_ENSURE(c, step > 0, "stepsize must be positive");
  const float scale = c.ArgF("scale", 1);
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* w, Updated(c, 0, 0));
  if (iter % step == 0 && iter < c.ArgI("upper_bound_iter", never))
    for (int64_t i = 0; i < n; ++i) w[i] *= scale;
  return {};
}

// Inputs last iterations, counters, indices, current iteration.
Result<void> RowWiseCounter(KernelContext& c) {
  WEFT_TRY(const int64_t now, OneInt64(c, 3));
  const int64_t half_life = c.ArgI("counter_halflife", -1);
  WEFT_TRY_VOID(SameSizes(c, {1}));
  WEFT_TRY_VOID(c.CopyOut(0, c.In(0)));
  WEFT_TRY_VOID(c.CopyOut(1, c.In(1)));
  if (half_life <= 0) return {};
  const double rate = std::log(2.0) / static_cast<double>(half_life);
  int64_t* last = c.Out(0).mutable_data<int64_t>();
  double* counter = c.Out(1).mutable_data<double>();
  return SwitchIndex(c, c.In(2).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    for (I i : c.In(2).values<I>()) {
      WEFT_ENSURE(c, i >= 0 && i < c.In(0).numel(), "index ", i, " is out of bounds");
      const int64_t passed = std::max<int64_t>(0, now - last[i]);
      last[i] = now;
      counter[i] = 1 + std::exp(-static_cast<double>(passed) * rate) * counter[i];
    }
    return {};
  });
}

// Inputs tensor, its norm, a factor for the threshold when given.
Result<void> ClipTensorByScaling(KernelContext& c) {
  WEFT_TRY(const double norm, OneFloat(c, 1));
  double threshold = c.ArgF("threshold", 0);
  WEFT_ENSURE(c, threshold > 0, "Threshold must be greater than 0");
  if (c.has_input(2)) {
    WEFT_TRY(const double factor, OneFloat(c, 2));
    threshold *= factor;
  }
  const int64_t n = c.In(0).numel();
  WEFT_TRY(float* y, Updated(c, 0, 0));
  if (norm > threshold)
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(y[i] * threshold / norm);
  return {};
}

// The count of iterations goes up by one; without an input it starts at 0. AtomicIter's first input is a
// mutex.
template <size_t counter>
Result<void> Iter(KernelContext& c) {
  if (!c.has_input(counter)) {
    const Tensor& last = c.Out(0);
    const bool fresh = last.type() != DataType::kInt64 || last.numel() != 1;
    WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {1}));
    *out = fresh ? 0 : *out + 1;
    return {};
  }
  const Tensor* in = c.InBlob(counter).Get<Tensor>();
  WEFT_ENSURE(c, in && in->type() == DataType::kInt64 && in->numel() == 1, c.InName(counter),
              " must be one int64");
  WEFT_TRY_VOID(c.CopyOut(0, *in));
  ++*c.Out(0).mutable_data<int64_t>();
  return {};
}

constexpr KernelRow kRows[] = {
    {"Adagrad", Adagrad, "f", kInPlace},
    {"SparseAdagrad", SparseAdagrad, "ffIff", kInPlace},
    {"RowWiseSparseAdagrad", RowWiseSparseAdagrad, "ffIff", kInPlace},
    {"Adam", Adam, "fffffl", kInPlace},
    {"SparseAdam", SparseAdam<false>, "fffIffl", kInPlace},
    {"RowWiseSparseAdam", SparseAdam<true>, "fffIffl", kInPlace},
    {"RmsProp", RmsProp, "f", kInPlace},
    {"MomentumSGD", MomentumSGD<false>, "f", kInPlace},
    {"MomentumSGDUpdate", MomentumSGD<true>, "f", kInPlace},
    {"SparseMomentumSGDUpdate", SparseMomentumSGDUpdate, "ffffI", kInPlace},
    {"Adadelta", Adadelta<false>, "f", kInPlace},
    {"SparseAdadelta", Adadelta<true>, "fffIff", kInPlace},
    {"Ftrl", Ftrl<false>, "f", kInPlace},
    {"SparseFtrl", Ftrl<true>, "ffIff", kInPlace},
    {"GFtrl", GFtrl, "f", kInPlace},
    {"Wngrad", Wngrad<false>, "f", kInPlace},
    {"SparseWngrad", Wngrad<true>, "ffIff", kInPlace},
    {"Storm", Storm<false>, "f", kInPlace},
    {"SparseStorm", Storm<true>, "ffffIf", kInPlace},
    {"Lars", Lars, "f"},
    {"LearningRateAdaption", LearningRateAdaption, "f", kInPlace},
    {"WeightScale", WeightScale, "fl", kInPlace},
    {"RowWiseCounter", RowWiseCounter, "ldIl", kInPlace},
    {"ClipTensorByScaling", ClipTensorByScaling, "f", kInPlace},
    {"Iter", Iter<0>, "B", kInPlace},
    {"AtomicIter", Iter<1>, "B", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily OptimizerKernels() { return kernels::kRows; }

}  // namespace weft
