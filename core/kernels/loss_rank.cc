// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// LambdaRank: sessions of documents, a loss by the order of their scores against the order of their
// relevance.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/kernels/families.h"
#include "core/kernels/segments.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// What a place in the list counts, for each item, when the list goes by descending `values`.
std::vector<double> Discounts(const float* values, int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return values[a] > values[b]; });
  std::vector<double> out(order.size());
  for (int64_t i = 0; i < n; ++i) out[order[i]] = 1 / std::log2(static_cast<double>(i) + 2);
  return out;
}

double LogSigmoid(double x) { return x > 100 ? 0 : x < -100 ? x : -std::log1p(std::exp(-x)); }

// Inputs scores, relevances, session lengths; outputs the loss of each session, the gradient of each score.
Result<void> LambdaRankNdcg(KernelContext& c) {
  const Tensor& scores = c.In(0);
  WEFT_ENSURE(c, scores.ndim() == 1 && c.In(1).numel() == scores.numel(), "expected scores [N] and ",
              scores.numel(), " relevances");
  WEFT_TRY(const Segments sessions, SegmentsFromLengths(c, 2));
  WEFT_ENSURE(c, sessions.elements() == scores.numel(), "session lengths add up to ", sessions.elements(),
              ", there are ", scores.numel(), " scores");
  const bool ndcg = c.ArgB("use_ndcg_as_loss", false), normalize = c.ArgB("use_idcg_normalization", true),
             exponential = c.ArgB("use_exp_gain", true);
  WEFT_TRY(float* loss, c.Out<float>(0, {sessions.count}));
  WEFT_TRY(float* dy, c.Out<float>(1, {scores.numel()}));
  WEFT_ENSURE(c, &c.OutBlob(0) != &c.OutBlob(1), "the outputs must be two blobs");
  const float* y = c.In<float>(0);
  const float* r = c.In<float>(1);
  for (int64_t s = 0; s < sessions.count; ++s) {
    const int64_t n = sessions.sizes[s];
    std::fill_n(dy, n, 0.0f);
    double relevance = 0;
    for (int64_t i = 0; i < n; ++i) relevance += std::fabs(r[i]);
    double total = 0;
    if (!(relevance < 1e-6)) {
      std::vector<double> gain(r, r + n);
      if (!ndcg || exponential)
        for (double& g : gain) g = std::exp2(g);
      const std::vector<double> ideal = Discounts(r, n), actual = Discounts(y, n);
      const double idcg = std::inner_product(gain.begin(), gain.end(), ideal.begin(), 0.0),
                   dcg = std::inner_product(gain.begin(), gain.end(), actual.begin(), 0.0);
      const double scale = normalize ? std::max(idcg, 1e-5) : 1;
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          const double weight = std::fabs((actual[i] - actual[j]) * (gain[i] - gain[j]));
          const double sign = r[i] > r[j] ? 1 : -1, ahead = sign * (double{y[i]} - y[j]);
          sum += weight * sign / (1 + std::exp(ahead));
          if (!ndcg) total -= weight * LogSigmoid(ahead);
        }
        dy[i] = static_cast<float>(-sum / scale);
      }
      total = (ndcg ? idcg - dcg : total) / scale;
    }
    loss[s] = static_cast<float>(total);
    y += n;
    r += n;
    dy += n;
  }
  return {};
}

// Inputs scores, session lengths, the gradient of each score, dLoss of each session.
Result<void> LambdaRankNdcgGradient(KernelContext& c) {
  const Tensor& cached = c.In(2);
  WEFT_TRY(const Segments sessions, SegmentsFromLengths(c, 1));
  WEFT_ENSURE(c,
              cached.ndim() == 1 && c.In(0).numel() == cached.numel() && c.In(3).numel() == sessions.count &&
                  sessions.elements() == cached.numel(),
              "scores, session lengths and gradients do not fit");
  WEFT_TRY(float* dy, c.Out<float>(0, {cached.numel()}));
  for (int64_t i = 0; i < cached.numel(); ++i)
    dy[i] = c.In<float>(3)[sessions.of[i]] * cached.data<float>()[i];
  return {};
}

constexpr KernelRow kRows[] = {
    {"LambdaRankNdcg", LambdaRankNdcg, "ffi"},
    {"LambdaRankNdcgGradient", LambdaRankNdcgGradient, "fiff"},
};

}  // namespace
}  // namespace kernels

KernelFamily LossRankKernels() { return kernels::kRows; }

}  // namespace weft
