// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Accuracies, histograms, percentiles and other figures about data.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/families.h"
#include "core/kernels/segments.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

Result<void> LabelsFit(const KernelContext& c, int64_t n, int64_t d) {
  WEFT_ENSURE(c, c.In(1).numel() == n, "expected ", n, " labels, found ", c.In(1).numel());
  for (int32_t label : c.In(1).values<int32_t>())
    WEFT_ENSURE(c, label >= 0 && label < d, "label ", label, " is not in [0, ", d, ")");
  return {};
}

// The part of the examples whose label is among the top_k classes; of equal ones the lower is better.
Result<void> Accuracy(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() == 2, "predictions must be [N, D], found ", DimsToString(x.dims()));
  const int64_t n = x.dim(0), d = x.dim(1), k = c.ArgI("top_k", 1);
  WEFT_TRY_VOID(LabelsFit(c, n, d));
  int64_t right = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float* row = x.data<float>() + i * d;
    const int32_t label = c.In<int32_t>(1)[i];
    int64_t rank = 1;
    for (int64_t j = 0; j < d; ++j) rank += row[j] > row[label] || (row[j] == row[label] && j < label);
    right += rank <= k;
  }
  WEFT_TRY(float* out, c.Out<float>(0, {}));
  *out = static_cast<float>(static_cast<double>(right) / static_cast<double>(n));
  return {};
}

Result<void> MultiClassAccuracy(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() == 2, "predictions must be [N, D], found ", DimsToString(x.dims()));
  const int64_t n = x.dim(0), d = x.dim(1);
  WEFT_TRY_VOID(LabelsFit(c, n, d));
  WEFT_TRY(float* accuracy, c.Out<float>(0, {d}));
  WEFT_TRY(int32_t * amount, c.Out<int32_t>(1, {d}));
  std::vector<int64_t> right(d, 0);
  std::fill(amount, amount + d, 0);
  for (int64_t i = 0; i < n; ++i) {
    const float* row = x.data<float>() + i * d;
    const int32_t label = c.In<int32_t>(1)[i];
    ++amount[label];
    right[label] += std::max_element(row, row + d) - row == label;
  }
  for (int64_t k = 0; k < d; ++k)
    accuracy[k] = amount[k] ? static_cast<float>(static_cast<double>(right[k]) / amount[k]) : 0;
  return {};
}

Result<void> Perplexity(KernelContext& c) {
  double sum = 0;
  for (float p : c.In(0).values<float>()) sum -= std::log(double{p});
  WEFT_TRY(float* out, c.Out<float>(0, {}));
  *out = static_cast<float>(std::exp(sum / static_cast<double>(std::max<int64_t>(c.In(0).numel(), 1))));
  return {};
}

struct Counts {
  static constexpr std::string_view kBlobType = "histogram";
  std::vector<int64_t> counts;
};

// Counts of this batch and of all so far; the first and last bucket are below and above the bounds.
Result<void> AccumulateHistogram(KernelContext& c) {
  const double low = c.ArgF("lower_bound", 0), high = c.ArgF("upper_bound", 1);
  const int64_t buckets = c.ArgI("num_buckets", 1);
  WEFT_ENSURE(c, buckets > 0 && low <= high, "bounds or number of buckets are wrong");
  WEFT_TRY_VOID(c.CheckRoom({buckets}));
  std::vector<int64_t>& all = c.State<Counts>().counts;
  all.resize(buckets + 2, 0);
  WEFT_TRY(int64_t * current, c.Out<int64_t>(0, {buckets + 2}));
  std::fill(current, current + buckets + 2, 0);
  for (float x : c.In(0).values<float>()) {
    int64_t bucket = 0;
    if (x >= high) {
      bucket = buckets + 1;
    } else if (x >= low) {
      bucket = static_cast<int64_t>((x - low) * static_cast<double>(buckets) / (high - low)) + 1;
    }
    ++current[bucket];
    ++all[bucket];
  }
  WEFT_TRY(int64_t * accumulated, c.Out<int64_t>(1, {buckets + 2}));
  std::copy(all.begin(), all.end(), accumulated);
  return {};
}

struct Buffer {
  static constexpr std::string_view kBlobType = "APMeter";
  std::vector<std::vector<std::pair<float, int32_t>>> classes;
  size_t next = 0;
};

// The average precision of each class over the last buffer_size examples.
Result<void> APMeter(KernelContext& c) {
  const Tensor& x = c.In(0);
  const size_t size = static_cast<size_t>(std::max<int64_t>(c.ArgI("buffer_size", 1000), 1));
  WEFT_ENSURE(c, x.ndim() == 2 && SameDims(x, c.In(1)), "predictions and labels must have one shape [N, D]");
  const int64_t n = x.dim(0), d = x.dim(1);
  WEFT_TRY_VOID(c.CheckRoom({d}));
  Buffer& buffer = c.State<Buffer>();
  if (buffer.classes.empty()) buffer.classes.resize(d);
  WEFT_ENSURE(c, static_cast<int64_t>(buffer.classes.size()) == d, "the number of classes changed");
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < d; ++k) {
      const std::pair<float, int32_t> entry(x.data<float>()[i * d + k], c.In<int32_t>(1)[i * d + k]);
      if (buffer.classes[k].size() < size) {
        buffer.classes[k].push_back(entry);
      } else {
        buffer.classes[k][buffer.next] = entry;
      }
    }
    buffer.next = (buffer.next + 1) % size;
  }
  WEFT_TRY(float* out, c.Out<float>(0, {d}));
  for (int64_t k = 0; k < d; ++k) {
    std::vector<std::pair<float, int32_t>> sorted = buffer.classes[k];
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    double sum = 0, positives = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i].second == 0) continue;
      ++positives;
      sum += positives / static_cast<double>(i + 1);
    }
    out[k] = positives > 0 ? static_cast<float>(sum / positives) : 0;
  }
  return {};
}

// Inputs X [N, D], rows of (value, percentile), how many of them each column has: linear between the rows.
Result<void> Percentile(KernelContext& c) {
  const Tensor& x = c.In(0);
  const Tensor& map = c.In(1);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 2));
  WEFT_ENSURE(c,
              x.ndim() == 2 && x.dim(1) == s.count && map.ndim() == 2 && map.dim(1) == 2 &&
                  map.dim(0) == s.elements(),
              "values, map and lengths do not fit");
  WEFT_TRY(float* out, c.Out<float>(0, x.dims()));
  int64_t first = 0;
  for (int64_t col = 0; col < s.count; ++col) {
    std::vector<std::pair<double, double>> points;
    for (int64_t i = first; i < first + s.sizes[col]; ++i)
      points.emplace_back(map.data<float>()[2 * i], map.data<float>()[2 * i + 1]);
    first += s.sizes[col];
    for (int64_t r = 0; r < x.dim(0); ++r) {
      const double v = x.data<float>()[r * s.count + col];
      double p = 0;
      if (!points.empty() && v >= points.back().first) {
        p = v == points.back().first ? points.back().second : 1;
      } else if (!points.empty() && v >= points.front().first) {
        const auto after = std::upper_bound(points.begin(), points.end(), v,
                                            [](double a, const auto& b) { return a < b.first; });
        const auto before = after - 1;
        p = before->second +
            (after->second - before->second) * (v - before->first) / (after->first - before->first);
      }
      out[r * s.count + col] = static_cast<float>(p);
    }
  }
  return {};
}

// As Percentile with the map in arguments; a value between two known ones lies between the upper percentile
// of the lower one and the lower percentile of the upper one.
Result<void> BisectPercentile(KernelContext& c) {
  const Tensor& x = c.In(0);
  const std::vector<float> raw = c.ArgFs("percentile_raw"), mapping = c.ArgFs("percentile_mapping");
  const std::vector<float> lower = c.ArgFs("percentile_lower"), upper = c.ArgFs("percentile_upper");
  const std::vector<int64_t> lengths = c.ArgIs("lengths");
  int64_t total = 0;
  for (int64_t length : lengths) {
    WEFT_ENSURE(c, length > 0, "lengths must be positive");
    total += length;
  }
  WEFT_ENSURE(c, x.ndim() == 2 && x.dim(1) == static_cast<int64_t>(lengths.size()),
              "X must have a column per length");
  for (const auto* list : {&raw, &mapping, &lower, &upper})
    WEFT_ENSURE(c, static_cast<int64_t>(list->size()) == total, "expected ", total,
                " values in each argument");
  WEFT_TRY(float* out, c.Out<float>(0, x.dims()));
  int64_t first = 0;
  for (size_t col = 0; col < lengths.size(); ++col) {
    const int64_t last = first + lengths[col] - 1;
    for (int64_t r = 0; r < x.dim(0); ++r) {
      const float v = x.data<float>()[r * x.dim(1) + col];
      double p;
      if (v < raw[first]) {
        p = 0;
      } else if (v > raw[last]) {
        p = 1;
      } else {
        const int64_t at = std::lower_bound(raw.begin() + first, raw.begin() + last + 1, v) - raw.begin();
        if (v == raw[at]) {
          p = mapping[at];
        } else {
          const double part = (double{v} - raw[at - 1]) / (double{raw[at]} - raw[at - 1]);
          p = upper[at - 1] + (double{lower[at]} - upper[at - 1]) * part;
        }
      }
      out[r * x.dim(1) + col] = static_cast<float>(p);
    }
    first = last + 1;
  }
  return {};
}

// f(value) for every element of every input.
template <typename F>
Result<void> ForEachValue(const KernelContext& c, F f) {
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    WEFT_TRY_VOID(SwitchFloat(c, c.In(i).type(), [&](auto tag) -> Result<void> {
      for (auto v : c.In(i).values<typename decltype(tag)::type>()) f(static_cast<double>(v));
      return {};
    }));
  }
  return {};
}

Result<void> Histogram(KernelContext& c) {
  const std::vector<float> edges = c.ArgFs("bin_edges");
  WEFT_ENSURE(c, edges.size() >= 2, "Number of bin edges must be greater than or equal to 2.");
  for (size_t i = 1; i < edges.size(); ++i)
    WEFT_ENSURE(c, edges[i] > edges[i - 1], "bin_edges must be a strictly increasing sequence of values.");
  const int64_t bins = static_cast<int64_t>(edges.size()) - 1;
  std::vector<int64_t> counts(bins, 0);
  WEFT_TRY_VOID(ForEachValue(c, [&](double v) {
    const int64_t bin = std::upper_bound(edges.begin(), edges.end(), v) - edges.begin() - 1;
    if (bin >= 0 && bin < bins) ++counts[bin];
  }));
  WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {bins}));
  std::copy(counts.begin(), counts.end(), out);
  return {};
}

// Bins that reach from the smallest to a little above the largest value. Outputs where each bin starts (and
// the last ends), and the counts (and 0).
Result<void> SelfBinningHistogram(KernelContext& c) {
  const int64_t bins = c.ArgI("num_bins", 0);
  WEFT_ENSURE(c, bins >= 1, "Number of bins must be greater than or equal to 1.");
  WEFT_TRY_VOID(c.CheckRoom({bins}));
  const std::string spacing = c.ArgS("bin_spacing", "linear");
  WEFT_ENSURE(c, spacing == "linear" || spacing == "logarithmic",
              "Bin spacing can be one of 'linear' or 'logarithmic'.");
  const bool log = spacing == "logarithmic";
  const double log_start = c.ArgF("logspace_start", 1e-24f);
  double low = 0, high = 0;
  bool any = false;
  WEFT_TRY_VOID(ForEachValue(c, [&](double v) {
    low = any ? std::min(low, v) : v;
    high = any ? std::max(high, v) : v;
    any = true;
  }));
  if (!any) low = high = 0;
  if (log) {
    low = std::max(low, log_start);
    high = std::max(high, log_start);
  }
  // The top value falls into the last bin.
  const double top = high + (high - low) * 1e-4;
  const double from = log ? std::log(low) : low, to = log ? std::log(top) : top;
  const double step = (to - from) / static_cast<double>(bins);
  std::vector<int64_t> counts(bins + 1, 0);
  WEFT_TRY_VOID(ForEachValue(c, [&](double v) {
    if (log) v = std::log(std::max(v, log_start));
    const int64_t bin = step > 0 ? static_cast<int64_t>((v - from) / step) : 0;
    ++counts[std::clamp<int64_t>(bin, 0, bins - 1)];
  }));
  WEFT_TRY(int64_t * out_counts, c.Out<int64_t>(1, {bins + 1}));
  std::copy(counts.begin(), counts.end(), out_counts);
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(T * out, c.Out<T>(0, {bins + 1}));
    for (int64_t i = 0; i <= bins; ++i) {
      const double at = from + step * static_cast<double>(i);
      out[i] = static_cast<T>(log ? std::exp(at) : at);
    }
    return {};
  });
}

// Bisects for the value that `quantile` of all elements do not exceed: until it has exactly that many below
// it, or the bracket is within `tol` of its ends' size; then its upper end. (So Caffe2 does; found by asking
// it.)
Result<void> Quantile(KernelContext& c) {
  const double quantile = c.ArgF("quantile", -1);
  const double tolerance = c.ArgF("tol", 1e-3f);
  const bool absolute = c.ArgB("abs", true);
  WEFT_ENSURE(c, quantile >= 0 && quantile <= 1, "input quantile should be in [0, 1], found ", quantile);
  WEFT_ENSURE(c, tolerance > 0, "tol should be above 0, found ", tolerance);
  std::vector<double> values;
  WEFT_TRY_VOID(ForEachValue(c, [&](double v) { values.push_back(absolute ? std::fabs(v) : v); }));
  WEFT_ENSURE(c, !values.empty(), "no values");
  std::sort(values.begin(), values.end(),
            [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
  const auto not_above = [&](double v) {
    return std::upper_bound(values.begin(), values.end(), v) - values.begin();
  };
  const auto wanted = static_cast<int64_t>(std::ceil(quantile * static_cast<double>(values.size())));
  double low = values.front(), high = values.back();
  if (not_above(low) >= wanted) high = low;
  while (high - low > tolerance * (std::fabs(low) + std::fabs(high))) {
    const double middle = low + (high - low) / 2;
    const int64_t count = not_above(middle);
    (count >= wanted ? high : low) = middle;
    if (count == wanted) break;
  }
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(T * out, c.Out<T>(0, {1}));
    *out = static_cast<T>(high);
    return {};
  });
}

constexpr KernelRow kRows[] = {
    {"Accuracy", Accuracy, "fi"},
    {"MultiClassAccuracy", MultiClassAccuracy, "fi"},
    {"Perplexity", Perplexity, "f"},
    {"AccumulateHistogram", AccumulateHistogram, "f"},
    {"APMeter", APMeter, "fi"},
    {"Percentile", Percentile, "ffI"},
    {"BisectPercentile", BisectPercentile, "f"},
    {"Histogram", Histogram, "F"},
    {"SelfBinningHistogram", SelfBinningHistogram, "F"},
    {"Quantile", Quantile, "F"},
};

}  // namespace
}  // namespace kernels

KernelFamily MetricKernels() { return kernels::kRows; }

}  // namespace weft
