// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights as tensor trains: a matrix is a product of small cores, one per factor of its dimensions.
#include <algorithm>

#include "core/kernels/families.h"
#include "core/kernels/segments.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// [rows, inner] times [inner, columns].
std::vector<double> Times(const double* a, const float* b, int64_t rows, int64_t inner, int64_t columns) {
  std::vector<double> out(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t j = 0; j < columns; ++j) out[i * columns + j] += a[i * inner + k] * b[k * columns + j];
  return out;
}

// [rows, columns] to [columns, rows].
std::vector<double> Turned(const std::vector<double>& x, int64_t columns) {
  std::vector<double> out(x.size());
  const int64_t rows = columns ? static_cast<int64_t>(x.size()) / columns : 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) out[j * rows + i] = x[i * columns + j];
  return out;
}

// Inputs X [N, product of inp_sizes], bias [product of out_sizes], the cores one after the other, last first.
Result<void> TT(KernelContext& c) {
  const std::vector<int64_t> in = c.ArgIs("inp_sizes"), out = c.ArgIs("out_sizes"),
                             ranks = c.ArgIs("tt_ranks");
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() > 1 && c.In(1).ndim() == 1 && c.In(2).ndim() == 1,
              "expected X of two dimensions or more, bias and cores of one");
  WEFT_ENSURE(c, !in.empty() && in.size() == out.size() && ranks.size() == in.size() + 1, "there are ",
              in.size(), " inp_sizes, ", out.size(), " out_sizes and ", ranks.size(), " tt_ranks");
  for (const auto* sizes : {&in, &out, &ranks})
    WEFT_ENSURE(c,
                std::all_of(sizes->begin(), sizes->end(), [](int64_t s) { return s > 0 && s <= INT32_MAX; }),
                "sizes and ranks must be positive");
  const int64_t batch = x.dim(0);
  std::vector<double> y(x.data<float>(), x.data<float>() + x.numel());
  int64_t at = 0;
  for (size_t i = in.size(); i-- > 0;) {
    const int64_t rows = in[i] * ranks[i + 1], columns = ranks[i] * out[i],
                  size = static_cast<int64_t>(y.size());
    WEFT_TRY_VOID(c.CheckRoom({rows, columns}));
    WEFT_ENSURE(c, size % rows == 0 && at + rows * columns <= c.In(2).numel(), "core ", i, " of [", rows,
                ", ", columns, "] does not fit ", size, " values and ", c.In(2).numel() - at,
                " numbers of cores");
    WEFT_TRY_VOID(c.CheckRoom({size / rows, columns}));
    y = Turned(Times(y.data(), c.In<float>(2) + at, size / rows, rows, columns), out[i]);
    at += rows * columns;
  }
  const int64_t width = batch ? static_cast<int64_t>(y.size()) / batch : c.In(1).numel();
  int64_t expected = 1;
  for (int64_t s : out) {
    WEFT_TRY_VOID(c.CheckRoom({expected, s}));
    expected *= s;
  }
  WEFT_ENSURE(c, batch == 0 || width == expected, "the result has rows of ", width, ", expected ", expected);
  WEFT_ENSURE(c, c.In(1).numel() == width, "expected a bias of ", width, ", found ", c.In(1).numel());
  y = Turned(y, width);
  WEFT_TRY(float* to, c.Out<float>(0, {batch, width}));
  for (size_t i = 0; i < y.size(); ++i)
    to[i] = static_cast<float>(y[i] + c.In<float>(1)[static_cast<int64_t>(i) % width]);
  return {};
}

// A table of three cores [factor_i, rank, factor_j, next rank].
struct Train {
  int64_t i[3], j[3], rank[4];
  const float* core[3];

  int64_t rows() const { return i[0] * i[1] * i[2]; }
  int64_t width() const { return j[0] * j[1] * j[2]; }
  int64_t CoreSize(size_t k) const { return rank[k] * j[k] * rank[k + 1]; }
};

Result<Train> FindTrain(const KernelContext& c) {
  const std::vector<int64_t> i = c.ArgIs("factor_i"), j = c.ArgIs("factor_j"), ranks = c.ArgIs("ranks");
  WEFT_ENSURE(c, i.size() == 3 && j.size() == 3 && ranks.size() == 4,
              "expected 3 factor_i, 3 factor_j and 4 ranks, found ", i.size(), ", ", j.size(), " and ",
              ranks.size());
  Train t{};
  std::copy(i.begin(), i.end(), t.i);
  std::copy(j.begin(), j.end(), t.j);
  std::copy(ranks.begin(), ranks.end(), t.rank);
  for (const auto* sizes : {&i, &j, &ranks})
    WEFT_ENSURE(c, std::all_of(sizes->begin(), sizes->end(), [](int64_t s) { return s > 0 && s < 1 << 20; }),
                "factors and ranks must be positive and below ", 1 << 20);
  WEFT_ENSURE(c, t.rank[0] == 1 && t.rank[3] == 1, "the first and last rank must be 1");
  WEFT_TRY_VOID(c.CheckRoom({t.width(), t.rank[1], t.rank[2]}));
  WEFT_ENSURE(c, t.width() == c.ArgI("emb_size", 64), "factor_j make rows of ", t.width(), ", emb_size is ",
              c.ArgI("emb_size", 64));
  for (size_t k = 0; k < 3; ++k) {
    const Dims expected{t.i[k], t.rank[k], t.j[k], t.rank[k + 1]};
    WEFT_ENSURE(c, ToDims(c.In(k).dims()) == expected, c.InName(k), " is ", DimsToString(c.In(k).dims()),
                ", expected ", DimsToString(expected));
    t.core[k] = c.In<float>(k);
  }
  return t;
}

// Inputs the cores, indices, lengths; outputs the sums of rows, and for the gradient the products of one and
// of two cores and the index into each core.
Result<void> TTSparseLengthsSum(KernelContext& c) {
  WEFT_TRY(const Train t, FindTrain(c));
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 3, t.rows()));
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 4));
  const int64_t n = static_cast<int64_t>(rows.size()), width = t.width();
  WEFT_ENSURE(c, s.elements() == n, "lengths add up to ", s.elements(), ", there are ", n, " indices");
  WEFT_TRY_VOID(c.CheckRoom({s.count, width}));
  WEFT_TRY_VOID(c.CheckRoom({n, t.j[0] * t.j[1], t.rank[2]}));
  WEFT_TRY_VOID(c.CheckRoom({n, t.j[0], t.rank[1]}));
  std::vector<double> sums(static_cast<size_t>(s.count * width)), ones, twos;
  std::vector<int64_t> places;
  for (int64_t at = 0; at < n; ++at) {
    const int64_t place[] = {rows[at] % t.i[0], rows[at] / t.i[0] % t.i[1], rows[at] / t.i[0] / t.i[1]};
    const float* first = t.core[0] + place[0] * t.CoreSize(0);
    const std::vector<double> one(first, first + t.CoreSize(0));
    const auto two =
        Times(one.data(), t.core[1] + place[1] * t.CoreSize(1), t.j[0], t.rank[1], t.j[1] * t.rank[2]);
    const auto row =
        Times(two.data(), t.core[2] + place[2] * t.CoreSize(2), t.j[0] * t.j[1], t.rank[2], t.j[2]);
    for (int64_t k = 0; k < width; ++k) sums[s.of[at] * width + k] += row[k];
    ones.insert(ones.end(), one.begin(), one.end());
    twos.insert(twos.end(), two.begin(), two.end());
    places.insert(places.end(), std::begin(place), std::end(place));
  }
  const auto write = [&](size_t output, const std::vector<double>& from, const Dims& dims) -> Result<void> {
    if (!c.has_output(output)) return {};
    WEFT_TRY(float* out, c.Out<float>(output, dims));
    for (double v : from) *out++ = static_cast<float>(v);
    return {};
  };
  WEFT_TRY_VOID(write(0, sums, {s.count, width}));
  WEFT_TRY_VOID(write(1, ones, {n, t.j[0], t.rank[1]}));
  WEFT_TRY_VOID(write(2, twos, {n, t.j[0] * t.j[1], t.rank[2]}));
  if (!c.has_output(3)) return {};
  WEFT_TRY(int64_t * out, c.Out<int64_t>(3, {n, 3}));
  std::copy(places.begin(), places.end(), out);
  return {};
}

// Inputs the cores, lengths, the last three outputs, dY.
Result<void> TTSparseLengthsSumGradient(KernelContext& c) {
  WEFT_TRY(const Train t, FindTrain(c));
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 3));
  const int64_t n = s.elements(), width = t.width(), one_size = t.CoreSize(0),
                two_size = t.j[0] * t.j[1] * t.rank[2];
  WEFT_ENSURE(c,
              c.In(4).numel() == n * one_size && c.In(5).numel() == n * two_size &&
                  c.In(6).numel() == n * 3 && c.In(7).numel() == s.count * width,
              "what the forward operator left does not fit ", n, " indices and ", s.count, " lengths");
  std::vector<double> sums[3];
  for (size_t k = 0; k < 3; ++k) sums[k].resize(static_cast<size_t>(c.In(k).numel()));
  for (int64_t at = 0; at < n; ++at) {
    const int64_t* place = c.In<int64_t>(6) + at * 3;
    for (size_t k = 0; k < 3; ++k)
      WEFT_ENSURE(c, place[k] >= 0 && place[k] < t.i[k], "index ", place[k], " is not in core ", k);
    const float* one = c.In<float>(4) + at * one_size;
    const float* two = c.In<float>(5) + at * two_size;
    const float* dy = c.In<float>(7) + s.of[at] * width;
    const float* second = t.core[1] + place[1] * t.CoreSize(1);
    const float* third = t.core[2] + place[2] * t.CoreSize(2);
    double* to[3];
    for (size_t k = 0; k < 3; ++k) to[k] = sums[k].data() + place[k] * t.CoreSize(k);
    // row[a, j2] = two[a, r] third[r, j2]; two[a0, (j1, r)] = one[a0, q] second[q, (j1, r)].
    std::vector<double> dtwo(static_cast<size_t>(two_size));
    for (int64_t a = 0; a < t.j[0] * t.j[1]; ++a)
      for (int64_t r = 0; r < t.rank[2]; ++r)
        for (int64_t k = 0; k < t.j[2]; ++k) {
          to[2][r * t.j[2] + k] += double{two[a * t.rank[2] + r]} * dy[a * t.j[2] + k];
          dtwo[a * t.rank[2] + r] += double{third[r * t.j[2] + k]} * dy[a * t.j[2] + k];
        }
    const int64_t columns = t.j[1] * t.rank[2];
    for (int64_t a = 0; a < t.j[0]; ++a)
      for (int64_t q = 0; q < t.rank[1]; ++q)
        for (int64_t k = 0; k < columns; ++k) {
          to[1][q * columns + k] += one[a * t.rank[1] + q] * dtwo[a * columns + k];
          to[0][a * t.rank[1] + q] += second[q * columns + k] * dtwo[a * columns + k];
        }
  }
  for (size_t k = 0; k < 3; ++k) {
    WEFT_TRY(float* out, c.Out<float>(k, c.In(k).dims()));
    for (double v : sums[k]) *out++ = static_cast<float>(v);
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"TT", TT, "f"},
    {"TTSparseLengthsSum", TTSparseLengthsSum, "fffli"},
    {"TTSparseLengthsSumGradient", TTSparseLengthsSumGradient, "fffifflf"},
};

}  // namespace
}  // namespace kernels

KernelFamily TensorTrainKernels() { return kernels::kRows; }

}  // namespace weft
