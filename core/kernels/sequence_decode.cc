// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The best label sequences of scores per step: prefix beam search for CTC, and Viterbi's path.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

using Prefix = std::vector<int32_t>;

// How probable a prefix is when the last label was a blank, and when it was not. Floats as in Caffe2, so that
// equal scores stay equal.
struct Scores {
  float blank = 0, label = 0;
};
using Beam = std::map<Prefix, Scores>;

// One more step: all prefixes that those of `kept` grow to.
Beam Grow(const Beam& before, const std::set<Prefix>& kept, const float* step, const Prefix& alphabet) {
  const auto was = [&](const Prefix& p) {
    const auto at = before.find(p);
    return at == before.end() ? Scores() : at->second;
  };
  Beam next;
  for (const Prefix& p : kept) {
    const Scores old = was(p);
    for (int32_t label : alphabet) {
      if (label == 0) {
        next[p].blank += step[0] * (old.blank + old.label);
        continue;
      }
      Prefix longer = p;
      longer.push_back(label);
      if (!p.empty() && p.back() == label) {
        next[longer].label += step[label] * old.blank;
        next[p].label += step[label] * old.label;
      } else {
        next[longer].label += step[label] * (old.blank + old.label);
      }
      if (kept.contains(longer)) continue;
      const Scores grown = was(longer);
      Scores& to = next[longer];
      to.blank += step[0] * (grown.blank + grown.label);
      to.label += step[label] * grown.label;
    }
  }
  return next;
}

// Inputs probabilities [T, N, labels], perhaps how many steps each has. Label 0 is the blank.
Result<void> CTCBeamSearchDecoder(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() == 3, "expected [T, N, labels], found ", DimsToString(in.dims()));
  const int64_t steps = in.dim(0), batch = in.dim(1), labels = in.dim(2);
  WEFT_ENSURE(c, !c.has_input(1) || c.In(1).numel() == batch, "expected ", batch, " lengths");
  const int64_t width = c.ArgI("beam_width", 10), wanted = c.ArgI("num_candidates", 1);
  const float threshold = c.ArgF("prune_threshold", 0.001f);
  WEFT_ENSURE(c, width > 0 && wanted > 0 && wanted <= width,
              "expected 0 < num_candidates <= beam_width, found ", wanted, " and ", width);
  WEFT_TRY_VOID(c.CheckRoom({batch, wanted}));
  std::vector<int32_t> lengths, values;
  std::vector<float> scores;
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t length = c.has_input(1) ? c.In<int32_t>(1)[i] : steps;
    WEFT_ENSURE(c, length >= 0 && length <= steps && (labels > 0 || length == 0), "sequence ", i, " has ",
                length, " steps of ", steps);
    Beam beam{{{}, {1, 0}}};
    std::set<Prefix> kept{{}};
    std::vector<std::pair<float, const Prefix*>> ranked;
    for (int64_t t = 0; t < length; ++t) {
      const float* step = in.data<float>() + (t * batch + i) * labels;
      Prefix alphabet;
      for (int64_t l = 0; l < labels; ++l)
        if (step[l] > threshold) alphabet.push_back(static_cast<int32_t>(l));
      if (alphabet.empty()) {
        alphabet.resize(static_cast<size_t>(labels));
        std::iota(alphabet.begin(), alphabet.end(), 0);
      }
      WEFT_TRY_VOID(
          c.CheckRoom({static_cast<int64_t>(kept.size()), static_cast<int64_t>(alphabet.size()), t + 1}));
      beam = Grow(beam, kept, step, alphabet);
      ranked.clear();
      for (const auto& [prefix, s] : beam) ranked.emplace_back(s.blank + s.label, &prefix);
      std::stable_sort(ranked.begin(), ranked.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      if (static_cast<int64_t>(ranked.size()) > width) ranked.resize(static_cast<size_t>(width));
      kept.clear();
      for (const auto& r : ranked) kept.insert(*r.second);
    }
    for (int64_t k = 0; k < wanted; ++k) {
      const bool found = k < static_cast<int64_t>(ranked.size());
      scores.push_back(found ? ranked[k].first : 0);
      lengths.push_back(found ? static_cast<int32_t>(ranked[k].second->size()) : 0);
      if (found) values.insert(values.end(), ranked[k].second->begin(), ranked[k].second->end());
    }
  }
  WEFT_TRY(int32_t * out_lengths, c.Out<int32_t>(0, {batch * wanted}));
  std::copy(lengths.begin(), lengths.end(), out_lengths);
  WEFT_TRY(int32_t * out_values, c.Out<int32_t>(1, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), out_values);
  if (!c.has_output(2)) return {};
  WEFT_TRY(float* out_scores, c.Out<float>(2, {batch * wanted}));
  std::copy(scores.begin(), scores.end(), out_scores);
  return {};
}

// Inputs scores [T, labels], scores of going from one label to another.
Result<void> ViterbiPath(KernelContext& c) {
  const Tensor& in = c.In(0);
  const Tensor& steps = c.In(1);
  WEFT_ENSURE(
      c, in.ndim() == 2 && steps.ndim() == 2 && steps.dim(0) == in.dim(1) && steps.dim(1) == in.dim(1),
      "expected [T, D] and [D, D], found ", DimsToString(in.dims()), " and ", DimsToString(steps.dims()));
  const int64_t n = in.dim(0), labels = in.dim(1);
  WEFT_ENSURE(c, labels > 0 || n == 0, "there are no labels");
  const float* x = in.data<float>();
  std::vector<double> best(x, x + (n > 0 ? labels : 0)), next(best.size());
  std::vector<int32_t> from(static_cast<size_t>(in.numel()));
  for (int64_t t = 1; t < n; ++t) {
    for (int64_t to = 0; to < labels; ++to) {
      const auto via = [&](int64_t k) { return best[k] + steps.data<float>()[k * labels + to]; };
      int64_t chosen = 0;
      for (int64_t k = 1; k < labels; ++k)
        if (via(k) > via(chosen)) chosen = k;
      from[t * labels + to] = static_cast<int32_t>(chosen);
      next[to] = via(chosen) + x[t * labels + to];
    }
    std::swap(best, next);
  }
  WEFT_TRY(int32_t * path, c.Out<int32_t>(0, {n}));
  if (n == 0) return {};
  path[n - 1] = static_cast<int32_t>(std::max_element(best.begin(), best.end()) - best.begin());
  for (int64_t t = n - 1; t > 0; --t) path[t - 1] = from[t * labels + path[t]];
  return {};
}

// Inputs scores [T, labels], a label per step: it changes its score with the best one.
Result<void> SwapBestPath(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() == 2 && c.In(1).ndim() == 1 && c.In(1).dim(0) == in.dim(0),
              "expected [T, D] and [T], found ", DimsToString(in.dims()), " and ",
              DimsToString(c.In(1).dims()));
  const int64_t labels = in.dim(1);
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  std::copy(in.data<float>(), in.data<float>() + in.numel(), y);
  for (int32_t label : c.In(1).values<int32_t>()) {
    WEFT_ENSURE(c, label >= 0 && label < labels, "label ", label, " is not in 0 to ", labels - 1);
    std::swap(y[label], *std::max_element(y, y + labels));
    y += labels;
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"CTCBeamSearchDecoder", CTCBeamSearchDecoder, "fi"},
    {"ViterbiPath", ViterbiPath, "f"},
    {"SwapBestPath", SwapBestPath, "fi"},
};

}  // namespace
}  // namespace kernels

KernelFamily SequenceDecodeKernels() { return kernels::kRows; }

}  // namespace weft
