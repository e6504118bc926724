// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples drawn by weight, dropped samples, and sinusoids of positions.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/segments.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Weights summed up: entry i is the sum of the first i + 1.
std::vector<float> Cumulated(const float* weights, int64_t n) {
  std::vector<float> out;
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) out.push_back(sum += weights[i]);
  return out;
}

// Inputs weights [N, M], perhaps a value for each; for each row an index drawn by weight.
Result<void> WeightedSample(KernelContext& c) {
  const Tensor& w = c.In(0);
  WEFT_ENSURE(c, w.ndim() == 2, "weights must be [N, M], found ", DimsToString(w.dims()));
  const int64_t n = w.dim(0), m = w.dim(1);
  const bool values = c.num_inputs() == 2;
  WEFT_ENSURE(c, !values || (SameDims(w, c.In(1)) && c.has_output(1)),
              "The sampling weights tensor and the value tensor must have the same size");
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {m > 0 ? n : 0}));
  float* drawn = nullptr;
  if (values) {
    WEFT_TRY(drawn, c.Out<float>(1, {m > 0 ? n : 0}));
  }
  for (int64_t i = 0; i < n && m > 0; ++i) {
    const std::vector<float> sums = Cumulated(w.data<float>() + i * m, m);
    const float at = c.random().Uniform(0, 1) * sums.back();
    const int64_t k = std::min<int64_t>(std::lower_bound(sums.begin(), sums.end(), at) - sums.begin(), m - 1);
    out[i] = static_cast<int32_t>(k);
    if (drawn) drawn[i] = c.In<float>(1)[i * m + k];
  }
  return {};
}

// Inputs weights, perhaps a tensor in whose shape to draw (else num_samples).
Result<void> WeightedMultiSampling(KernelContext& c) {
  const Tensor& w = c.In(0);
  Dims dims{c.ArgI("num_samples", 0)};
  if (c.has_input(1)) {
    WEFT_ENSURE(c, !c.HasArg("num_samples"),
                "New shape is specified by the input blob, do not pass in num_samples.");
    dims = Dims(c.In(1).dims());
  } else {
    WEFT_ENSURE(c, c.HasArg("num_samples"), "Argument `num_samples` is missing.");
  }
  WEFT_ENSURE(c, w.numel() > 0 || NumElements(dims) == 0, "there are no weights");
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, dims));
  if (NumElements(dims) == 0) return {};
  const std::vector<float> sums = Cumulated(w.data<float>(), w.numel());
  for (int64_t i = 0; i < NumElements(dims); ++i) {
    const float at = c.random().Uniform(0, 1) * sums.back();
    out[i] = static_cast<int32_t>(
        std::min<int64_t>(std::lower_bound(sums.begin(), sums.end(), at) - sums.begin(), w.numel() - 1));
  }
  return {};
}

// Inputs values, lengths: each example is kept, or becomes one replacement value.
Result<void> SparseDropoutWithReplacement(KernelContext& c) {
  const double ratio = c.ArgF("ratio", 0);
  const int64_t replacement = c.ArgI("replacement_value", 0);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  WEFT_ENSURE(c, s.elements() == c.In(0).numel(), "lengths add up to ", s.elements(), ", values are ",
              c.In(0).numel());
  std::vector<int64_t> values;
  WEFT_TRY(int32_t * lengths, c.Out<int32_t>(1, {s.count}));
  const int64_t* from = c.In<int64_t>(0);
  for (int64_t i = 0; i < s.count; ++i) {
    if (c.random().Bernoulli(ratio)) {
      values.push_back(replacement);
      lengths[i] = 1;
    } else {
      values.insert(values.end(), from, from + s.sizes[i]);
      lengths[i] = static_cast<int32_t>(s.sizes[i]);
    }
    from += s.sizes[i];
  }
  WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), out);
  return {};
}

Result<void> SinusoidPositionEncoding(KernelContext& c) {
  const int64_t size = c.ArgI("embedding_size", 100);
  const double alpha = c.ArgF("alpha", 10000), amplitude = c.ArgF("amplitude", 1);
  WEFT_ENSURE(c, size > 0, "embedding_size must be positive");
  Dims dims(c.In(0).dims());
  dims.push_back(size);
  return SwitchIndex(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    WEFT_TRY(float* out, c.Out<float>(0, dims));
    for (I position : c.In(0).values<I>())
      for (int64_t k = 0; k < size; ++k) {
        const double x = static_cast<double>(position) /
                         std::pow(alpha, static_cast<double>(k) / static_cast<double>(size));
        *out++ = static_cast<float>(amplitude * (k % 2 == 0 ? std::sin(x) : std::cos(x)));
      }
    return {};
  });
}

Result<void> Float16Fill(KernelContext& c, bool uniform) {
  const std::vector<int64_t> shape = c.ArgIs("shape");
  WEFT_TRY(Half * out, c.Out<Half>(0, shape));
  const float value = c.ArgF("value", 0), low = c.ArgF("min", 0), high = c.ArgF("max", 1);
  const int64_t n = NumElements(shape);
  for (int64_t i = 0; i < n; ++i) out[i] = FloatToHalf(uniform ? c.random().Uniform(low, high) : value);
  return {};
}
Result<void> Float16ConstantFill(KernelContext& c) { return Float16Fill(c, false); }
Result<void> Float16UniformFill(KernelContext& c) { return Float16Fill(c, true); }

constexpr KernelRow kRows[] = {
    {"WeightedSample", WeightedSample, "f"},
    {"WeightedMultiSampling", WeightedMultiSampling, "f?"},
    {"SparseDropoutWithReplacement", SparseDropoutWithReplacement, "lI"},
    {"SinusoidPositionEncoding", SinusoidPositionEncoding, "I"},
    {"Float16ConstantFill", Float16ConstantFill, "?"},
    {"Float16UniformFill", Float16UniformFill, "?"},
};

}  // namespace
}  // namespace kernels

KernelFamily FillRandomKernels() { return kernels::kRows; }

}  // namespace weft
