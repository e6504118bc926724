// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Picking rows by index or mask and putting them back, and finding equal elements. Sparse forms of tables,
// buckets and partitions are in index_sparse.cc.
#include <algorithm>
#include <map>
#include <set>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/segments.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// How Gather sees data and indices: `outer` times picks of blocks along an axis. With match_outer the
// dimensions before the axis are the same in both and matched one to one.
struct Picks {
  int64_t axis, outer, size, block, per_outer;
  bool match;
  Dims dims;
  std::vector<int64_t> index;

  int64_t Index(int64_t o, int64_t i) const { return index[match ? o * per_outer + i : i]; }
};

Result<Picks> FindPicks(const KernelContext& c, int64_t default_axis) {
  const Tensor& data = c.In(0);
  const Tensor& indices = c.In(1);
  Picks p;
  p.match = c.ArgB("match_outer", false);
  const bool wrap = c.ArgB("wrap_indices", false);
  WEFT_TRY(p.axis, Axis(c, c.ArgI("axis", default_axis), data.ndim()));
  p.dims.Append(data.dims().begin(), data.dims().begin() + p.axis);
  p.outer = data.SizeTo(p.axis);
  p.size = data.dim(p.axis);
  p.block = data.SizeFrom(p.axis + 1);
  p.per_outer = indices.numel();
  if (p.match) {
    if (static_cast<int64_t>(indices.ndim()) < p.axis)
      return c.Fail("Axis should be smaller than indices rank");
    for (int64_t i = 0; i < p.axis; ++i)
      if (indices.dim(i) != data.dim(i))
        return c.Fail("INDICES must have the same outer dims as DATA (before dim AXIS)");
    p.dims.Append(indices.dims().begin() + p.axis, indices.dims().end());
    p.per_outer = indices.SizeFrom(p.axis);
  } else {
    p.dims.Append(indices.dims().begin(), indices.dims().end());
  }
  p.dims.Append(data.dims().begin() + p.axis + 1, data.dims().end());
  auto read = SwitchIndex(c, indices.type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    for (I i : indices.values<I>()) {
      const int64_t at = wrap && i < 0 ? i + p.size : i;
      WEFT_ENSURE(c, at >= 0 && at < p.size, "INDICES element is out of DATA bounds, id=", i,
                  " axis_dim=", p.size);
      p.index.push_back(at);
    }
    return {};
  });
  if (!read) return std::move(read).error();
  return p;
}

template <int64_t default_axis>
Result<void> Gather(KernelContext& c) {
  WEFT_TRY(const Picks p, FindPicks(c, default_axis));
  WEFT_TRY_VOID(c.Allocate(0, c.In(0).type(), p.dims));
  for (int64_t o = 0; o < p.outer; ++o)
    for (int64_t i = 0; i < p.per_outer; ++i)
      CopyElements(c.In(0), (o * p.size + p.Index(o, i)) * p.block, c.Out(0), (o * p.per_outer + i) * p.block,
                   p.block);
  return {};
}

// Inputs data, indices, dY.
Result<void> BatchGatherGradient(KernelContext& c) {
  WEFT_TRY(const Picks p, FindPicks(c, 1));
  WEFT_ENSURE(c, c.In(2).numel() == NumElements(p.dims), "dY is ", DimsToString(c.In(2).dims()),
              ", expected ", DimsToString(p.dims));
  const float* dy = c.In<float>(2);
  std::vector<double> sum(c.In(0).numel(), 0);
  for (int64_t o = 0; o < p.outer; ++o)
    for (int64_t i = 0; i < p.per_outer; ++i)
      for (int64_t k = 0; k < p.block; ++k)
        sum[(o * p.size + p.Index(o, i)) * p.block + k] += dy[(o * p.per_outer + i) * p.block + k];
  WEFT_TRY(float* dx, c.Out<float>(0, c.In(0).dims()));
  for (size_t i = 0; i < sum.size(); ++i) dx[i] = static_cast<float>(sum[i]);
  return {};
}

Result<void> BatchPermutation(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() >= 1 && c.In(1).numel() == x.dim(0), "expected an index per row");
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 1, x.dim(0)));
  const int64_t width = x.SizeFrom(1);
  WEFT_TRY_VOID(c.Allocate(0, x.type(), x.dims()));
  for (size_t i = 0; i < rows.size(); ++i) CopyElements(x, rows[i] * width, c.Out(0), i * width, width);
  return {};
}

// Inputs indices, dY.
Result<void> BatchPermutationGradient(KernelContext& c) {
  const Tensor& dy = c.In(1);
  WEFT_ENSURE(c, dy.ndim() >= 1 && c.In(0).numel() == dy.dim(0), "expected an index per row");
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 0, dy.dim(0)));
  const int64_t width = dy.SizeFrom(1);
  WEFT_TRY_VOID(c.Allocate(0, dy.type(), dy.dims()));
  ZeroElements(c.Out(0), 0, c.Out(0).numel());
  for (size_t i = 0; i < rows.size(); ++i) CopyElements(dy, i * width, c.Out(0), rows[i] * width, width);
  return {};
}

// Rows of `data` where `mask` is true.
Result<void> BooleanMask(KernelContext& c) {
  const Tensor& data = c.In(0);
  const Tensor& mask = c.In(1);
  WEFT_ENSURE(c, data.ndim() >= 1 && mask.ndim() == 1 && mask.dim(0) == data.dim(0), "mask ",
              DimsToString(mask.dims()), " does not fit data ", DimsToString(data.dims()));
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < mask.numel(); ++i)
    if (mask.data<bool>()[i]) rows.push_back(i);
  Dims dims(data.dims());
  dims[0] = static_cast<int64_t>(rows.size());
  const int64_t width = data.SizeFrom(1);
  WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
  for (size_t i = 0; i < rows.size(); ++i) CopyElements(data, rows[i] * width, c.Out(0), i * width, width);
  if (!c.has_output(1)) return {};
  WEFT_TRY(int64_t * out, c.Out<int64_t>(1, {dims[0]}));
  std::copy(rows.begin(), rows.end(), out);
  return {};
}

// Inputs mask, dY.
Result<void> BooleanMaskGradient(KernelContext& c) {
  const Tensor& mask = c.In(0);
  const Tensor& dy = c.In(1);
  WEFT_ENSURE(c, dy.ndim() >= 1, "dY has no rows");
  const int64_t width = dy.SizeFrom(1);
  Dims dims(dy.dims());
  dims[0] = mask.numel();
  WEFT_TRY_VOID(c.Allocate(0, dy.type(), dims));
  int64_t from = 0;
  for (int64_t i = 0; i < mask.numel(); ++i) {
    if (!mask.data<bool>()[i]) {
      ZeroElements(c.Out(0), i * width, width);
      continue;
    }
    WEFT_ENSURE(c, from < dy.dim(0), "the mask has more true elements than dY rows");
    CopyElements(dy, from++ * width, c.Out(0), i * width, width);
  }
  return {};
}

// Inputs lengths, mask: how many of each run are true.
Result<void> BooleanMaskLengths(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  WEFT_ENSURE(c, c.In(1).numel() == s.elements(), "lengths add up to ", s.elements(), ", the mask has ",
              c.In(1).numel());
  return SwitchIndex(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    WEFT_TRY(I * out, c.Out<I>(0, {s.count}));
    std::fill(out, out + s.count, I(0));
    for (int64_t i = 0; i < s.elements(); ++i) out[s.of[i]] += c.In<bool>(1)[i];
    return {};
  });
}

// Inputs mask and values in pairs: each place takes the next value of the first mask that is true there.
Result<void> BooleanUnmask(KernelContext& c) {
  const size_t pairs = c.num_inputs() / 2;
  WEFT_ENSURE(c, pairs >= 1 && c.num_inputs() % 2 == 0, "expected pairs of masks and values");
  const int64_t n = c.In(0).numel();
  const DataType type = c.In(1).type();
  for (size_t p = 0; p < pairs; ++p)
    WEFT_ENSURE(
        c,
        c.In(2 * p).type() == DataType::kBool && c.In(2 * p).numel() == n && c.In(2 * p + 1).type() == type,
        "masks must have one size, values one type");
  WEFT_TRY_VOID(c.Allocate(0, type, std::span(&n, 1)));
  std::vector<int64_t> next(pairs, 0);
  for (int64_t i = 0; i < n; ++i) {
    bool found = false;
    for (size_t p = 0; p < pairs && !found; ++p) {
      if (!c.In<bool>(2 * p)[i]) continue;
      WEFT_ENSURE(c, next[p] < c.In(2 * p + 1).numel(), "no value left for element ", i);
      CopyElements(c.In(2 * p + 1), next[p]++, c.Out(0), i, 1);
      found = true;
    }
    WEFT_ENSURE(c, found, "all masks have False at position ", i, ".");
  }
  return {};
}

Result<void> Conditional(KernelContext& c) {
  const Tensor& yes = c.In(1);
  const Tensor& no = c.In(2);
  WEFT_ENSURE(
      c, SameDims(yes, no) && yes.type() == no.type() && yes.ndim() >= 1 && c.In(0).numel() == yes.dim(0),
      "the condition needs an element for each row of two equal shapes");
  const int64_t width = yes.SizeFrom(1);
  WEFT_TRY_VOID(c.Allocate(0, yes.type(), yes.dims()));
  for (int64_t i = 0; i < yes.dim(0); ++i)
    CopyElements(c.In<bool>(0)[i] ? yes : no, i * width, c.Out(0), i * width, width);
  return {};
}

// Outputs the different values, sorted, and for each element where its value is among them.
Result<void> Unique(KernelContext& c) {
  const Tensor& in = c.In(0);
  return SwitchIndex(c, in.type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    const int64_t n = in.numel();
    std::vector<I> sorted(in.data<I>(), in.data<I>() + n);
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    WEFT_TRY(I * out, c.Out<I>(0, {static_cast<int64_t>(sorted.size())}));
    std::copy(sorted.begin(), sorted.end(), out);
    if (!c.has_output(1)) return {};
    WEFT_TRY(int32_t * places, c.Out<int32_t>(1, {n}));
    for (int64_t i = 0; i < n; ++i)
      places[i] = static_cast<int32_t>(std::lower_bound(sorted.begin(), sorted.end(), in.data<I>()[i]) -
                                       sorted.begin());
    return {};
  });
}

// Inputs X0, w0, indices, X1, w1, ...: rows of X0 times w0, plus the weighted rows of the others.
Result<void> ScatterWeightedSum(KernelContext& c) {
  const Tensor& x0 = c.In(0);
  WEFT_ENSURE(c, c.num_inputs() >= 3 && c.num_inputs() % 2 == 1 && x0.ndim() >= 1,
              "expected X0, w0, indices, pairs");
  const auto weight = [&](size_t i) -> Result<double> {
    if (c.In(i).type() != DataType::kFloat || c.In(i).numel() != 1)
      return c.Fail(c.InName(i), " must be one float");
    return double{c.In<float>(i)[0]};
  };
  WEFT_TRY(const double w0, weight(1));
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 2, x0.dim(0)));
  const int64_t width = x0.SizeFrom(1);
  WEFT_TRY_VOID(c.CopyOut(0, x0));
  float* out = c.Out(0).mutable_data<float>();
  if (w0 != 1)
    for (int64_t row : rows)
      for (int64_t k = row * width; k < (row + 1) * width; ++k) out[k] = static_cast<float>(out[k] * w0);
  for (size_t in = 3; in < c.num_inputs(); in += 2) {
    WEFT_TRY(const double w, weight(in + 1));
    WEFT_ENSURE(
        c,
        c.In(in).type() == DataType::kFloat && c.In(in).numel() == static_cast<int64_t>(rows.size()) * width,
        c.InName(in), " is ", DimsToString(c.In(in).dims()), ", expected ", rows.size(), " rows of ", width);
    const float* x = c.In<float>(in);
    for (size_t i = 0; i < rows.size(); ++i)
      for (int64_t k = 0; k < width; ++k) {
        float& to = out[rows[i] * width + k];
        to = static_cast<float>(to + w * x[i * width + k]);
      }
  }
  return {};
}

// Inputs data, indices, slices; in place.
Result<void> ScatterAssign(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_ENSURE(c, data.ndim() >= 1 && c.In(2).type() == data.type(), "slices must be of the data's type");
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 1, data.dim(0)));
  const int64_t width = data.SizeFrom(1);
  WEFT_ENSURE(c, c.In(2).numel() == static_cast<int64_t>(rows.size()) * width, "slices are ",
              DimsToString(c.In(2).dims()));
  WEFT_TRY_VOID(c.CopyOut(0, data));
  for (size_t i = 0; i < rows.size(); ++i) CopyElements(c.In(2), i * width, c.Out(0), rows[i] * width, width);
  return {};
}

// Inputs data, indices, updates of the same shape as the indices: each update goes where its index says along
// `axis`.
Result<void> Scatter(KernelContext& c) {
  const Tensor& data = c.In(0);
  const Tensor& indices = c.In(1);
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", 1), data.ndim()));
  WEFT_ENSURE(c, SameDims(indices, c.In(2)) && indices.ndim() == data.ndim() && c.In(2).type() == data.type(),
              "indices and updates must have one shape, with as many dimensions as the data");
  for (size_t i = 0; i < data.ndim(); ++i)
    WEFT_ENSURE(c, static_cast<int64_t>(i) == axis || indices.dim(i) <= data.dim(i),
                "indices are larger than the data");
  WEFT_TRY(const std::vector<int64_t> index, RowIndices(c, 1, data.dim(axis)));
  WEFT_TRY_VOID(c.CopyOut(0, data));
  Dims at;
  for (size_t i = 0; i < data.ndim(); ++i) at.push_back(0);
  for (size_t i = 0; i < index.size(); ++i) {
    int64_t to = 0;
    for (size_t d = 0; d < data.ndim(); ++d)
      to = to * data.dim(d) + (static_cast<int64_t>(d) == axis ? index[i] : at[d]);
    CopyElements(c.In(2), static_cast<int64_t>(i), c.Out(0), to, 1);
    for (size_t d = data.ndim(); d-- > 0;) {
      if (++at[d] < indices.dim(d)) break;
      at[d] = 0;
    }
  }
  return {};
}

// Inputs tensor, indices, a row; in place.
Result<void> CopyRowsToTensor(KernelContext& c) {
  const Tensor& to = c.In(0);
  const Tensor& row = c.In(2);
  WEFT_ENSURE(c, to.ndim() >= 1 && row.type() == to.type() && row.numel() == to.SizeFrom(1),
              "width of input tensor should match lengths of row: ", DimsToString(to.dims()), " and ",
              DimsToString(row.dims()));
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 1, to.dim(0)));
  WEFT_TRY_VOID(c.CopyOut(0, to));
  for (int64_t i : rows) CopyElements(row, 0, c.Out(0), i * row.numel(), row.numel());
  return {};
}

Result<void> CopyRowsToTensorGradient(KernelContext& c) { return c.CopyOut(0, c.In(0)); }

// Inputs index, query: where each element of the query is in the index, -1 (missing_value) when it is not.
Result<void> Find(KernelContext& c) {
  const int32_t missing = static_cast<int32_t>(c.ArgI("missing_value", -1));
  WEFT_ENSURE(c, c.In(0).type() == c.In(1).type(), "index and query differ in type");
  return SwitchIndex(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    std::map<I, int32_t> last;
    for (int64_t i = 0; i < c.In(0).numel(); ++i) last[c.In<I>(0)[i]] = static_cast<int32_t>(i);
    WEFT_TRY(int32_t * out, c.Out<int32_t>(0, c.In(1).dims()));
    for (int64_t i = 0; i < c.In(1).numel(); ++i) {
      const auto found = last.find(c.In<I>(1)[i]);
      out[i] = found == last.end() ? missing : found->second;
    }
    return {};
  });
}

Result<void> FindDuplicateElements(KernelContext& c) {
  return Switch<int32_t, int64_t, float, double, std::string>(
      c, c.In(0).type(), [&](auto tag) -> Result<void> {
        using T = typename decltype(tag)::type;
        std::set<T> seen;
        std::vector<int64_t> again;
        for (int64_t i = 0; i < c.In(0).numel(); ++i)
          if (!seen.insert(c.In<T>(0)[i]).second) again.push_back(i);
        WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {static_cast<int64_t>(again.size())}));
        std::copy(again.begin(), again.end(), out);
        return {};
      });
}

Result<void> IsMemberOf(KernelContext& c) {
  return Switch<int32_t, int64_t, bool, std::string>(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_ENSURE(c, c.HasArg("value"), "Argument `value` is missing");
    std::set<T> members;
    if constexpr (std::is_same_v<T, std::string>) {
      for (std::string& v : c.ArgSs("value")) members.insert(std::move(v));
    } else {
      for (int64_t v : c.ArgIs("value")) members.insert(static_cast<T>(v));
    }
    WEFT_TRY(bool* out, c.Out<bool>(0, c.In(0).dims()));
    for (int64_t i = 0; i < c.In(0).numel(); ++i) out[i] = members.contains(c.In<T>(0)[i]);
    return {};
  });
}

// Output i: the places of the value i.
Result<void> KeySplit(KernelContext& c) {
  const int64_t limit = c.ArgI("categorical_limit", 0);
  WEFT_ENSURE(c, limit == static_cast<int64_t>(c.num_outputs()), "categorical_limit ", limit,
              " must be the number of outputs");
  std::vector<std::vector<int32_t>> places(limit);
  for (int64_t i = 0; i < c.In(0).numel(); ++i) {
    const int64_t key = c.In<int64_t>(0)[i];
    WEFT_ENSURE(c, key >= 0 && key < limit, "key ", key, " is out of range");
    places[key].push_back(static_cast<int32_t>(i));
  }
  for (int64_t k = 0; k < limit; ++k) {
    WEFT_TRY(int32_t * out, c.Out<int32_t>(k, {static_cast<int64_t>(places[k].size())}));
    std::copy(places[k].begin(), places[k].end(), out);
  }
  return {};
}

Result<void> RemoveDataBlocks(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_ENSURE(c, data.ndim() >= 1 && c.In(1).ndim() == 1, "data must have rows, indices one dimension");
  std::vector<bool> removed(data.dim(0), false);
  if (!c.In(1).empty()) {
    WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 1, data.dim(0)));
    for (int64_t row : rows) removed[row] = true;
  }
  const int64_t left = std::count(removed.begin(), removed.end(), false), width = data.SizeFrom(1);
  Dims dims(data.dims());
  dims[0] = left;
  WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
  int64_t to = 0;
  for (int64_t i = 0; i < data.dim(0); ++i)
    if (!removed[i]) CopyElements(data, i * width, c.Out(0), to++ * width, width);
  return {};
}

// Inputs items, lengths, indices of runs.
Result<void> LengthsGather(KernelContext& c) {
  const Tensor& items = c.In(0);
  WEFT_ENSURE(c, items.ndim() >= 1, "items must have rows");
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  WEFT_ENSURE(c, s.elements() == items.dim(0), "lengths add up to ", s.elements(), ", items have ",
              items.dim(0), " rows");
  WEFT_TRY(const std::vector<int64_t> runs, RowIndices(c, 2, s.count));
  std::vector<int64_t> first(s.count + 1, 0);
  for (int64_t i = 0; i < s.count; ++i) first[i + 1] = first[i] + s.sizes[i];
  Dims dims(items.dims());
  dims[0] = 0;
  for (int64_t run : runs) dims[0] += s.sizes[run];
  const int64_t width = items.SizeFrom(1);
  WEFT_TRY_VOID(c.Allocate(0, items.type(), dims));
  int64_t to = 0;
  for (int64_t run : runs) {
    CopyElements(items, first[run] * width, c.Out(0), to * width, s.sizes[run] * width);
    to += s.sizes[run];
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"Gather", Gather<0>, "*I"},
    {"BatchGather", Gather<1>, "*I"},
    {"BatchGatherGradient", BatchGatherGradient, "*If"},
    {"BatchPermutation", BatchPermutation, "*I"},
    {"BatchPermutationGradient", BatchPermutationGradient, "I*"},
    {"BooleanMask", BooleanMask, "*b"},
    {"BooleanMaskGradient", BooleanMaskGradient, "b*"},
    {"BooleanMaskLengths", BooleanMaskLengths, "Ib"},
    {"BooleanUnmask", BooleanUnmask},
    {"Conditional", Conditional, "b*"},
    {"Unique", Unique, "I"},
    {"ScatterWeightedSum", ScatterWeightedSum, "ffI*", kInPlace},
    {"ScatterAssign", ScatterAssign, "*I*", kInPlace},
    {"Scatter", Scatter, "*I*"},
    {"CopyRowsToTensor", CopyRowsToTensor, "*I*", kInPlace},
    {"CopyRowsToTensorGradient", CopyRowsToTensorGradient, "*", kInPlace},
    {"Find", Find, "I"},
    {"FindDuplicateElements", FindDuplicateElements},
    {"IsMemberOf", IsMemberOf},
    {"KeySplit", KeySplit, "l"},
    {"RemoveDataBlocks", RemoveDataBlocks},
    {"LengthsGather", LengthsGather, "*II"},
};

}  // namespace
}  // namespace kernels

KernelFamily IndexKernels() { return kernels::kRows; }

}  // namespace weft
