// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of rows by segments (sorted ids, unsorted ids, lengths; dense or through indices), and their
// gradients. SparseLengths operators are in sparse_lengths.cc; operators on the lengths themselves in
// segment_lengths.cc.
#include "core/kernels/families.h"
#include "core/kernels/segments.h"

namespace weft {

namespace kernels {
namespace {

enum By { kSorted, kUnsorted, kLengths };

template <By by>
Result<Segments> FindSegments(const KernelContext& c, size_t input) {
  if constexpr (by == kLengths) return SegmentsFromLengths(c, input);
  return SegmentsFromIds(c, input, by == kSorted);
}

// Inputs data, weights when weighted, indices when sparse, segments.
template <By by, Reduce reduce, bool weighted, bool sparse>
Result<void> SegmentReduce(KernelContext& c) {
  constexpr size_t kIndices = weighted ? 2 : 1, kSegments = kIndices + (sparse ? 1 : 0);
  const Tensor& data = c.In(0);
  WEFT_ENSURE(c, data.ndim() >= 1, "data must have rows");
  WEFT_TRY(const Segments s, FindSegments<by>(c, kSegments));
  const int64_t rows = data.dim(0), width = data.SizeFrom(1);
  std::vector<int64_t> index;
  if (sparse) {
    WEFT_TRY(index, RowIndices(c, kIndices, rows));
    WEFT_ENSURE(c, static_cast<int64_t>(index.size()) == s.elements(), "indices have ", index.size(),
                " elements, segments ", s.elements());
  } else {
    WEFT_ENSURE(c, rows == s.elements(), "data has ", rows, " rows, segments ", s.elements());
  }
  const float* weights = nullptr;
  if (weighted) {
    WEFT_ENSURE(c, c.In(1).numel() >= s.elements(), "expected ", s.elements(), " weights, found ",
                c.In(1).numel());
    weights = c.In<float>(1);
  }
  const float* x = data.data<float>();
  WEFT_TRY(float* y, c.Out<float>(0, ReducedDims(s, data)));
  ReduceSegments(
      s, width, reduce, [&](int64_t i, int64_t k) { return double{x[(sparse ? index[i] : i) * width + k]}; },
      [&](int64_t i) { return weights ? double{weights[i]} : 1.0; }, y);
  return {};
}

// dX[i] = factor(i) * dY[segment of i]; inputs weights when weighted, dY, segments (then more, which say
// nothing).
template <By by, bool mean, bool weighted>
Result<void> SegmentGradient(KernelContext& c) {
  constexpr size_t kGrad = weighted ? 1 : 0;
  const Tensor& grad = c.In(kGrad);
  WEFT_TRY(const Segments s, FindSegments<by>(c, kGrad + 1));
  WEFT_ENSURE(c, grad.ndim() >= 1 && grad.dim(0) >= s.count, "the gradient ", DimsToString(grad.dims()),
              " has fewer rows than ", s.count, " segments");
  if (weighted)
    WEFT_ENSURE(c, c.In(0).numel() >= s.elements(), "expected ", s.elements(), " weights, found ",
                c.In(0).numel());
  Dims dims{s.elements()};
  dims.Append(grad.dims().begin() + 1, grad.dims().end());
  const int64_t width = grad.SizeFrom(1);
  const float* dy = grad.data<float>();
  WEFT_TRY(float* dx, c.Out<float>(0, dims));
  for (int64_t i = 0; i < s.elements(); ++i) {
    double factor = weighted ? c.In<float>(0)[i] : 1;
    if (mean) factor /= static_cast<double>(s.sizes[s.of[i]]);
    for (int64_t k = 0; k < width; ++k)
      dx[i * width + k] = static_cast<float>(factor * dy[s.of[i] * width + k]);
  }
  return {};
}

// Inputs weights, dY, lengths, data, and when sparse indices; outputs the gradients of the rows and of the
// weights.
template <bool sparse>
Result<void> WeightedGradient(KernelContext& c) {
  WEFT_ENSURE(c, c.has_output(1), "expected the gradients of data and of weights as outputs");
  const Tensor& grad = c.In(1);
  const Tensor& data = c.In(3);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 2));
  WEFT_ENSURE(
      c,
      grad.ndim() >= 1 && grad.dim(0) >= s.count && data.ndim() >= 1 && data.SizeFrom(1) == grad.SizeFrom(1),
      "data ", DimsToString(data.dims()), " and gradient ", DimsToString(grad.dims()), " do not fit");
  std::vector<int64_t> index;
  if (sparse) {
    WEFT_TRY(index, RowIndices(c, 4, data.dim(0)));
  }
  WEFT_ENSURE(c,
              c.In(0).numel() >= s.elements() &&
                  (sparse ? static_cast<int64_t>(index.size()) : data.dim(0)) == s.elements(),
              "lengths add up to ", s.elements());
  Dims dims{s.elements()};
  dims.Append(grad.dims().begin() + 1, grad.dims().end());
  const int64_t width = grad.SizeFrom(1);
  const float* w = c.In<float>(0);
  const float* dy = grad.data<float>();
  const float* x = data.data<float>();
  WEFT_TRY(float* dx, c.Out<float>(0, dims));
  WEFT_TRY(float* dw, c.Out<float>(1, {s.elements()}));
  for (int64_t i = 0; i < s.elements(); ++i) {
    const int64_t row = sparse ? index[i] : i;
    double sum = 0;
    for (int64_t k = 0; k < width; ++k) {
      const double g = dy[s.of[i] * width + k];
      sum += g * x[row * width + k];
      dx[i * width + k] = static_cast<float>(g * w[i]);
    }
    dw[i] = static_cast<float>(sum);
  }
  return {};
}

// Gradients that look at the values: dX = dY[segment] * slope(x, y, size of the segment).
Result<void> ByValue(KernelContext& c, const Segments& s, const Tensor& data, const Tensor& out,
                     const Tensor& grad, double (*slope)(double x, double y, double n)) {
  WEFT_ENSURE(c, data.ndim() >= 1 && data.dim(0) == s.elements(), "data has ", data.ndim() ? data.dim(0) : 0,
              " rows, segments ", s.elements());
  const int64_t width = data.SizeFrom(1);
  WEFT_ENSURE(c, out.numel() >= s.count * width && grad.numel() >= s.count * width,
              "output or gradient is too small");
  WEFT_TRY(float* dx, c.Out<float>(0, data.dims()));
  for (int64_t i = 0; i < s.elements(); ++i)
    for (int64_t k = 0; k < width; ++k) {
      const int64_t at = s.of[i] * width + k;
      dx[i * width + k] = static_cast<float>(grad.data<float>()[at] *
                                             slope(data.data<float>()[i * width + k], out.data<float>()[at],
                                                   static_cast<double>(s.sizes[s.of[i]])));
    }
  return {};
}

double SumSlope(double, double, double) { return 1; }
double MeanSlope(double, double, double n) { return 1 / n; }
double MaxSlope(double x, double y, double) { return x == y ? 1 : 0; }
double LogSumExpSlope(double x, double y, double) { return std::exp(x - y); }
double LogMeanExpSlope(double x, double y, double n) { return std::exp(x - y) / n; }

// Inputs data, output, dY, ids.
template <double (*slope)(double, double, double)>
Result<void> RangeGradient(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromIds(c, 3, true));
  return ByValue(c, s, c.In(0), c.In(1), c.In(2), slope);
}

// Inputs output, dY, lengths, data.
Result<void> LengthsMaxGradient(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 2));
  return ByValue(c, s, c.In(3), c.In(0), c.In(1), MaxSlope);
}

constexpr Reduce kSum = Reduce::kSum, kMean = Reduce::kMean, kMax = Reduce::kMax;

constexpr KernelRow kRows[] = {
    {"SortedSegmentSum", SegmentReduce<kSorted, kSum, false, false>, "fI"},
    {"SortedSegmentMean", SegmentReduce<kSorted, kMean, false, false>, "fI"},
    {"SortedSegmentWeightedSum", SegmentReduce<kSorted, kSum, true, false>, "ffI"},
    {"SparseSortedSegmentSum", SegmentReduce<kSorted, kSum, false, true>, "fII"},
    {"SparseSortedSegmentMean", SegmentReduce<kSorted, kMean, false, true>, "fII"},
    {"SparseSortedSegmentWeightedSum", SegmentReduce<kSorted, kSum, true, true>, "ffII"},
    {"UnsortedSegmentSum", SegmentReduce<kUnsorted, kSum, false, false>, "fI"},
    {"UnsortedSegmentMean", SegmentReduce<kUnsorted, kMean, false, false>, "fI"},
    {"UnsortedSegmentWeightedSum", SegmentReduce<kUnsorted, kSum, true, false>, "ffI"},
    {"SparseUnsortedSegmentSum", SegmentReduce<kUnsorted, kSum, false, true>, "fII"},
    {"SparseUnsortedSegmentMean", SegmentReduce<kUnsorted, kMean, false, true>, "fII"},
    {"SparseUnsortedSegmentWeightedSum", SegmentReduce<kUnsorted, kSum, true, true>, "ffII"},
    {"SortedSegmentRangeSum", SegmentReduce<kSorted, kSum, false, false>, "fI"},
    {"SortedSegmentRangeMean", SegmentReduce<kSorted, kMean, false, false>, "fI"},
    {"SortedSegmentRangeMax", SegmentReduce<kSorted, kMax, false, false>, "fI"},
    {"SortedSegmentRangeLogSumExp", SegmentReduce<kSorted, Reduce::kLogSumExp, false, false>, "fI"},
    {"SortedSegmentRangeLogMeanExp", SegmentReduce<kSorted, Reduce::kLogMeanExp, false, false>, "fI"},
    {"LengthsSum", SegmentReduce<kLengths, kSum, false, false>, "fI"},
    {"LengthsMean", SegmentReduce<kLengths, kMean, false, false>, "fI"},
    {"LengthsMax", SegmentReduce<kLengths, kMax, false, false>, "fI"},
    {"LengthsWeightedSum", SegmentReduce<kLengths, kSum, true, false>, "ffI"},

    {"SortedSegmentSumGradient", SegmentGradient<kSorted, false, false>, "fI"},
    {"SortedSegmentMeanGradient", SegmentGradient<kSorted, true, false>, "fI"},
    {"SortedSegmentWeightedSumGradient", SegmentGradient<kSorted, false, true>, "ffI"},
    {"SparseSortedSegmentSumGradient", SegmentGradient<kSorted, false, false>, "fI"},
    {"SparseSortedSegmentMeanGradient", SegmentGradient<kSorted, true, false>, "fI"},
    {"SparseSortedSegmentWeightedSumGradient", SegmentGradient<kSorted, false, true>, "ffI"},
    {"UnsortedSegmentSumGradient", SegmentGradient<kUnsorted, false, false>, "fI"},
    {"UnsortedSegmentMeanGradient", SegmentGradient<kUnsorted, true, false>, "fI"},
    {"UnsortedSegmentWeightedSumGradient", SegmentGradient<kUnsorted, false, true>, "ffI"},
    {"SparseUnsortedSegmentSumGradient", SegmentGradient<kUnsorted, false, false>, "fI"},
    {"SparseUnsortedSegmentMeanGradient", SegmentGradient<kUnsorted, true, false>, "fI"},
    {"SparseUnsortedSegmentWeightedSumGradient", SegmentGradient<kUnsorted, false, true>, "ffI"},
    {"SortedSegmentRangeSumGradient", RangeGradient<SumSlope>, "fffI"},
    {"SortedSegmentRangeMeanGradient", RangeGradient<MeanSlope>, "fffI"},
    {"SortedSegmentRangeMaxGradient", RangeGradient<MaxSlope>, "fffI"},
    {"SortedSegmentRangeLogSumExpGradient", RangeGradient<LogSumExpSlope>, "fffI"},
    {"SortedSegmentRangeLogMeanExpGradient", RangeGradient<LogMeanExpSlope>, "fffI"},
    {"LengthsSumGradient", SegmentGradient<kLengths, false, false>, "fI"},
    {"LengthsMeanGradient", SegmentGradient<kLengths, true, false>, "fI"},
    {"LengthsWeightedSumGradient", SegmentGradient<kLengths, false, true>, "ffI"},
    {"LengthsIndicesInGradientSumGradient", SegmentGradient<kLengths, false, false>, "fI*"},
    {"LengthsIndicesInGradientMeanGradient", SegmentGradient<kLengths, true, false>, "fI*"},
    {"LengthsWeightedSumWithMainInputGradient", WeightedGradient<false>, "ffIf"},
    {"LengthsMaxWithMainInputAndForwardOutputGradient", LengthsMaxGradient, "ffIf"},
    {"SparseLengthsSumGradient", SegmentGradient<kLengths, false, false>, "fI*"},
    {"SparseLengthsMeanGradient", SegmentGradient<kLengths, true, false>, "fI*"},
    {"SparseLengthsWeightedSumGradient", SegmentGradient<kLengths, false, true>, "ffI*"},
    {"SparseLengthsIndicesInGradientSumGradient", SegmentGradient<kLengths, false, false>, "fI*"},
    {"SparseLengthsIndicesInGradientMeanGradient", SegmentGradient<kLengths, true, false>, "fI*"},
    {"SparseLengthsIndicesInGradientWeightedSumGradient", SegmentGradient<kLengths, false, true>, "ffI*"},
    {"SparseLengthsWeightedSumWithMainInputGradient", WeightedGradient<true>, "ffIfI"},
    {"SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient", WeightedGradient<true>, "ffIfI"},
};

}  // namespace
}  // namespace kernels

KernelFamily SegmentKernels() { return kernels::kRows; }

}  // namespace weft
