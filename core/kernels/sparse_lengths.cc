// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of table rows picked by indices, over runs of lengths: float and half tables, and tables quantized to
// 8, 4 or 2 bits with a scale and a bias per row. Also the two operators that regularize picked rows.
#include "core/kernels/families.h"
#include "core/kernels/quantization.h"
#include "core/kernels/segments.h"

namespace weft {

namespace kernels {
namespace {

// The picked rows and how they are weighted.
struct Picked {
  Segments segments;
  std::vector<int64_t> index;
  std::vector<double> weight;  // empty: 1
};
enum Weights { kNone, kEach, kByPosition };

Result<Picked> FindPicked(const KernelContext& c, int64_t rows, size_t indices, size_t lengths,
                          Weights weights) {
  Picked p;
  WEFT_TRY(p.segments, SegmentsFromLengths(c, lengths));
  WEFT_TRY(p.index, RowIndices(c, indices, rows));
  const int64_t n = p.segments.elements();
  if (static_cast<int64_t>(p.index.size()) != n)
    return c.Fail(
        "Your input seems to be incorrect: the sum of lengths values should be the size of the indices "
        "tensor, but it appears not: ",
        n, " and ", p.index.size());
  if (weights == kNone) return p;
  const Tensor& w = c.In(1);
  const auto value = [&](int64_t i) {
    return w.type() == DataType::kFloat16 ? HalfToFloat(w.data<Half>()[i]) : w.data<float>()[i];
  };
  if (w.type() != DataType::kFloat && w.type() != DataType::kFloat16) return c.Fail("weights must be floats");
  if (weights == kEach && w.numel() != n) return c.Fail("expected ", n, " weights, found ", w.numel());
  int64_t position = 0;
  for (int64_t i = 0; i < n; ++i) {
    position = i > 0 && p.segments.of[i] == p.segments.of[i - 1] ? position + 1 : 0;
    const int64_t at = weights == kEach ? i : position;
    if (at >= w.numel()) return c.Fail("no weight for position ", at);
    p.weight.push_back(value(at));
  }
  return p;
}

template <typename Row>
void ReducePicked(const Picked& p, int64_t width, Reduce reduce, Row row, float* out) {
  ReduceSegments(
      p.segments, width, reduce, [&](int64_t i, int64_t k) { return row(p.index[i], k); },
      [&](int64_t i) { return p.weight.empty() ? 1.0 : p.weight[i]; }, out);
}

// Inputs table, weights when used, indices, lengths.
template <Reduce reduce, Weights weights>
Result<void> SparseLengths(KernelContext& c) {
  constexpr size_t kIndices = weights == kNone ? 1 : 2;
  const Tensor& table = c.In(0);
  WEFT_ENSURE(c, table.ndim() >= 1, "the table must have rows");
  WEFT_TRY(const Picked p, FindPicked(c, table.dim(0), kIndices, kIndices + 1, weights));
  const int64_t width = table.SizeFrom(1);
  WEFT_TRY(float* y, c.Out<float>(0, ReducedDims(p.segments, table)));
  return Switch<float, Half>(c, table.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* x = table.data<T>();
    ReducePicked(
        p, width, reduce,
        [&](int64_t row, int64_t k) {
          if constexpr (std::is_same_v<T, Half>) {
            return static_cast<double>(HalfToFloat(x[row * width + k]));
          } else {
            return static_cast<double>(x[row * width + k]);
          }
        },
        y);
    return {};
  });
}

// Inputs table of bytes, weights when used, indices, lengths, scale and bias of each row.
template <Reduce reduce, Weights weights>
Result<void> SparseLengths8Bits(KernelContext& c) {
  constexpr size_t kIndices = weights == kNone ? 1 : 2, kScale = kIndices + 2;
  const Tensor& table = c.In(0);
  WEFT_ENSURE(c,
              table.ndim() >= 1 && c.In(kScale).type() == DataType::kFloat &&
                  c.In(kScale).numel() == 2 * table.dim(0),
              "expected a scale and a bias for every row");
  WEFT_TRY(const Picked p, FindPicked(c, table.dim(0), kIndices, kIndices + 1, weights));
  const int64_t width = table.SizeFrom(1);
  const uint8_t* x = table.data<uint8_t>();
  const float* scale = c.In<float>(kScale);
  WEFT_TRY(float* y, c.Out<float>(0, ReducedDims(p.segments, table)));
  ReducePicked(
      p, width, reduce,
      [&](int64_t row, int64_t k) {
        return double{scale[2 * row]} * x[row * width + k] + scale[2 * row + 1];
      },
      y);
  return {};
}

// Rows that hold their scale and bias behind their bytes. With `lookup` indices go through a table that says
// where each row is, -1 for nowhere.
template <int bits, Reduce reduce, Weights weights, bool lookup>
Result<void> SparseLengthsFused(KernelContext& c) {
  constexpr size_t kIndices = weights == kNone ? 1 : 2;
  const Tensor& table = c.In(0);
  WEFT_TRY(const FusedRows rows, FindFusedRows(c, table, bits, bits == 8 ? 4 : 2));
  Picked p;
  if (lookup) {
    const Tensor& map = c.In(kIndices + 2);
    WEFT_ENSURE(c, map.type() == DataType::kInt32, "the compressed indices must be int32");
    WEFT_TRY(p, FindPicked(c, map.numel(), kIndices, kIndices + 1, weights));
    if (p.weight.empty()) p.weight.assign(p.index.size(), 1);
    for (size_t i = 0; i < p.index.size(); ++i) {
      const int32_t row = map.data<int32_t>()[p.index[i]];
      WEFT_ENSURE(c, row < rows.rows, "row ", row, " does not exist");
      if (row < 0) p.weight[i] = 0;
      p.index[i] = std::max(row, 0);
    }
    WEFT_ENSURE(c, p.index.empty() || rows.rows > 0, "the table is empty");
  } else {
    WEFT_TRY(p, FindPicked(c, rows.rows, kIndices, kIndices + 1, weights));
  }
  WEFT_TRY(float* y, c.Out<float>(0, {p.segments.count, rows.columns}));
  ReducePicked(
      p, rows.columns, reduce, [&](int64_t row, int64_t k) { return rows.Value(row, k); }, y);
  return {};
}

// Inputs indices, lengths, the map of rows, perhaps weights; outputs the indices that exist and what is left
// of the lengths and weights.
Result<void> SparseLookup(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  const Tensor& map = c.In(2);
  const bool none = map.numel() == 1 && map.data<int32_t>()[0] == 0;  // the map that keeps everything
  WEFT_ENSURE(c, c.In(0).numel() == s.elements(), "lengths add up to ", s.elements(), ", indices are ",
              c.In(0).numel());
  const bool weighted = c.has_input(3) && c.has_output(2);
  return SwitchIndex(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    std::vector<I> kept;
    std::vector<float> weights;
    std::vector<int32_t> lengths(s.count, 0);
    for (int64_t i = 0; i < s.elements(); ++i) {
      I index = c.In<I>(0)[i];
      if (!none) {
        WEFT_ENSURE(c, index >= 0 && index < map.numel(), "index ", index, " is out of bounds");
        index = static_cast<I>(map.data<int32_t>()[index]);
        if (index < 0) continue;
      }
      kept.push_back(index);
      ++lengths[s.of[i]];
      if (weighted) {
        WEFT_ENSURE(c, c.In(3).numel() == s.elements() && c.In(3).type() == DataType::kFloat,
                    "expected a weight per index");
        weights.push_back(c.In<float>(3)[i]);
      }
    }
    WEFT_TRY(I * out, c.Out<I>(0, {static_cast<int64_t>(kept.size())}));
    std::copy(kept.begin(), kept.end(), out);
    WEFT_TRY(int32_t * out_lengths, c.Out<int32_t>(1, {s.count}));
    std::copy(lengths.begin(), lengths.end(), out_lengths);
    if (!weighted) return {};
    WEFT_TRY(float* out_weights, c.Out<float>(2, {static_cast<int64_t>(weights.size())}));
    std::copy(weights.begin(), weights.end(), out_weights);
    return {};
  });
}

// Inputs param, indices; in place.
Result<void> SparseLpRegularizer(KernelContext& c) {
  const double p = c.ArgF("p", 2), lambda = c.ArgF("reg_lambda", 1e-5f);
  WEFT_ENSURE(c, p == 1 || p == 2, "Sparse Lp regularizer only implemented for p=1 or p=2.");
  const Tensor& param = c.In(0);
  WEFT_ENSURE(c, param.ndim() >= 1, "param must have rows");
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 1, param.dim(0)));
  const int64_t width = param.SizeFrom(1);
  WEFT_TRY_VOID(c.CopyOut(0, param));
  float* x = c.Out(0).mutable_data<float>();
  for (int64_t row : rows)
    for (int64_t k = row * width; k < (row + 1) * width; ++k) {
      if (p == 2) {
        x[k] = static_cast<float>(x[k] * (1 - lambda));
      } else {
        x[k] = static_cast<float>(x[k] > lambda ? x[k] - lambda : x[k] < -lambda ? x[k] + lambda : 0);
      }
    }
  return {};
}

// Inputs param, indices; in place.
Result<void> SparseNormalize(KernelContext& c) {
  const bool use_max = c.ArgB("use_max_norm", true);
  const double wanted = c.ArgF("norm", 1);
  WEFT_ENSURE(c, wanted >= 0, "norm should be bigger than 0");
  const Tensor& param = c.In(0);
  WEFT_ENSURE(c, param.ndim() >= 1, "param must have rows");
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 1, param.dim(0)));
  const int64_t width = param.SizeFrom(1);
  WEFT_TRY_VOID(c.CopyOut(0, param));
  float* x = c.Out(0).mutable_data<float>();
  for (int64_t row : rows) {
    double square = 0;
    for (int64_t k = row * width; k < (row + 1) * width; ++k) square += double{x[k]} * x[k];
    const double norm = std::sqrt(square);
    if (norm == 0 || (use_max && norm <= wanted)) continue;
    for (int64_t k = row * width; k < (row + 1) * width; ++k)
      x[k] = static_cast<float>(x[k] * wanted / (norm + 1e-12));
  }
  return {};
}

constexpr Reduce kSum = Reduce::kSum, kMean = Reduce::kMean;

constexpr KernelRow kRows[] = {
    {"SparseLengthsSum", SparseLengths<kSum, kNone>, "*II"},
    {"SparseLengthsMean", SparseLengths<kMean, kNone>, "*II"},
    {"SparseLengthsWeightedSum", SparseLengths<kSum, kEach>, "**II"},
    {"SparseLengthsPositionalWeightedSum", SparseLengths<kSum, kByPosition>, "**II"},
    {"SparseLengthsSum8BitsRowwise", SparseLengths8Bits<kSum, kNone>, "uIIf"},
    {"SparseLengthsMean8BitsRowwise", SparseLengths8Bits<kMean, kNone>, "uIIf"},
    {"SparseLengthsWeightedSum8BitsRowwise", SparseLengths8Bits<kSum, kEach>, "ufIIf"},
    {"SparseLengthsWeightedMean8BitsRowwise", SparseLengths8Bits<kMean, kEach>, "ufIIf"},
    {"SparseLengthsSumFused8BitRowwise", SparseLengthsFused<8, kSum, kNone, false>, "uII"},
    {"SparseLengthsMeanFused8BitRowwise", SparseLengthsFused<8, kMean, kNone, false>, "uII"},
    {"SparseLengthsWeightedSumFused8BitRowwise", SparseLengthsFused<8, kSum, kEach, false>, "ufII"},
    {"SparseLengthsSumFused4BitRowwise", SparseLengthsFused<4, kSum, kNone, false>, "uII"},
    {"SparseLengthsMeanFused4BitRowwise", SparseLengthsFused<4, kMean, kNone, false>, "uII"},
    {"SparseLengthsWeightedSumFused4BitRowwise", SparseLengthsFused<4, kSum, kEach, false>, "ufII"},
    {"SparseLengthsSumFused2BitRowwise", SparseLengthsFused<2, kSum, kNone, false>, "uII"},
    {"SparseLengthsMeanFused2BitRowwise", SparseLengthsFused<2, kMean, kNone, false>, "uII"},
    {"SparseLengthsWeightedSumFused2BitRowwise", SparseLengthsFused<2, kSum, kEach, false>, "ufII"},
    {"SparseLengthsSum8BitRowwiseSparse", SparseLengthsFused<8, kSum, kNone, true>, "uIIi"},
    {"SparseLengthsMean8BitRowwiseSparse", SparseLengthsFused<8, kMean, kNone, true>, "uIIi"},
    {"SparseLengthsWeightedSum8BitRowwiseSparse", SparseLengthsFused<8, kSum, kEach, true>, "ufIIi"},
    {"SparseLengthsSum4BitRowwiseSparse", SparseLengthsFused<4, kSum, kNone, true>, "uIIi"},
    {"SparseLengthsMean4BitRowwiseSparse", SparseLengthsFused<4, kMean, kNone, true>, "uIIi"},
    {"SparseLengthsWeightedSum4BitRowwiseSparse", SparseLengthsFused<4, kSum, kEach, true>, "ufIIi"},
    {"SparseLengthsSum2BitRowwiseSparse", SparseLengthsFused<2, kSum, kNone, true>, "uIIi"},
    {"SparseLengthsMean2BitRowwiseSparse", SparseLengthsFused<2, kMean, kNone, true>, "uIIi"},
    {"SparseLengthsWeightedSum2BitRowwiseSparse", SparseLengthsFused<2, kSum, kEach, true>, "ufIIi"},
    {"SparseLengthsSumSparseLookup", SparseLookup, "IIif"},
    {"SparseLpRegularizer", SparseLpRegularizer, "fI*", kInPlace},
    {"SparseNormalize", SparseNormalize, "fI*", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily SparseLengthsKernels() { return kernels::kRows; }

}  // namespace weft
