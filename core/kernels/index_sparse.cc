// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sparse forms of tables and back, one-hot rows, buckets, ranges, hashes and partitions by key.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/segments.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Inputs indices, values, perhaps data whose rows give the size; values for one index add up.
Result<void> SparseToDense(KernelContext& c) {
  const Tensor& values = c.In(1);
  WEFT_ENSURE(c, values.ndim() >= 1 && c.In(0).numel() == values.dim(0),
              "expected an index per row of values");
  constexpr int64_t kAnywhere = int64_t{1} << 40;
  const int64_t given = c.has_input(2) && c.In(2).ndim() ? c.In(2).dim(0) : 0;
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 0, c.has_input(2) ? given : kAnywhere));
  Dims dims(values.dims());
  dims[0] = 0;
  for (int64_t row : rows) dims[0] = std::max(dims[0], row + 1);
  if (c.has_input(2)) dims[0] = given;
  const int64_t width = values.SizeFrom(1);
  return SwitchNumber(c, values.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(T * out, c.Out<T>(0, dims));
    std::fill(out, out + NumElements(dims), T(0));
    for (size_t i = 0; i < rows.size(); ++i)
      for (int64_t k = 0; k < width; ++k) out[rows[i] * width + k] += values.data<T>()[i * width + k];
    return {};
  });
}

// The columns of SparseToDenseMask: the argument `mask` lists ids.
std::map<int64_t, int64_t> MaskColumns(const KernelContext& c) {
  std::map<int64_t, int64_t> columns;
  for (int64_t id : c.ArgIs("mask")) columns.emplace(id, static_cast<int64_t>(columns.size()));
  return columns;
}

// Inputs indices, values, default, perhaps lengths; outputs dense rows, and which were there.
Result<void> SparseToDenseMask(KernelContext& c) {
  const Tensor& values = c.In(1);
  const Tensor& missing = c.In(2);
  const std::map<int64_t, int64_t> columns = MaskColumns(c);
  const int64_t width = static_cast<int64_t>(columns.size()), block = values.SizeFrom(1);
  WEFT_ENSURE(c, width > 0, "mask must not be empty");
  WEFT_ENSURE(c,
              values.ndim() >= 1 && c.In(0).numel() == values.dim(0) && missing.type() == values.type() &&
                  missing.numel() == block,
              "indices, values and default do not fit");
  Segments s;
  if (c.has_input(3)) {
    WEFT_TRY(s, SegmentsFromLengths(c, 3));
  } else {
    s.count = 1;
    s.of.assign(c.In(0).numel(), 0);
  }
  WEFT_ENSURE(c, s.elements() == c.In(0).numel(), "lengths add up to ", s.elements(), ", indices are ",
              c.In(0).numel());
  Dims dims;
  if (c.has_input(3)) dims.push_back(s.count);
  dims.push_back(width);
  Dims there = dims;
  dims.Append(values.dims().begin() + 1, values.dims().end());
  WEFT_TRY_VOID(c.Allocate(0, values.type(), dims));
  for (int64_t i = 0; i < s.count * width; ++i) CopyElements(missing, 0, c.Out(0), i * block, block);
  bool* presence = nullptr;
  if (c.ArgB("return_presence_mask", false) && c.has_output(1)) {
    WEFT_TRY(presence, c.Out<bool>(1, there));
    std::fill(presence, presence + s.count * width, false);
  }
  return SwitchIndex(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    for (int64_t i = 0; i < s.elements(); ++i) {
      const auto column = columns.find(c.In<I>(0)[i]);
      if (column == columns.end()) continue;
      const int64_t to = s.of[i] * width + column->second;
      CopyElements(values, i * block, c.Out(0), to * block, block);
      if (presence) presence[to] = true;
    }
    return {};
  });
}

// Inputs indices, dY, perhaps lengths. Of several values for one place the last one was used.
Result<void> SparseToDenseMaskGradient(KernelContext& c) {
  const Tensor& dy = c.In(1);
  const std::map<int64_t, int64_t> columns = MaskColumns(c);
  const int64_t width = static_cast<int64_t>(columns.size());
  const size_t skip = c.has_input(2) ? 2 : 1;
  WEFT_ENSURE(c, dy.ndim() >= skip && dy.dim(skip - 1) == width, "dY is ", DimsToString(dy.dims()));
  Segments s;
  if (c.has_input(2)) {
    WEFT_TRY(s, SegmentsFromLengths(c, 2));
    WEFT_ENSURE(c, dy.dim(0) == s.count, "dY has ", dy.dim(0), " rows, lengths ", s.count);
  } else {
    s.count = 1;
    s.of.assign(c.In(0).numel(), 0);
  }
  WEFT_ENSURE(c, s.elements() == c.In(0).numel(), "lengths add up to ", s.elements(), ", indices are ",
              c.In(0).numel());
  Dims dims{c.In(0).numel()};
  dims.Append(dy.dims().begin() + skip, dy.dims().end());
  const int64_t block = dy.SizeFrom(skip);
  WEFT_TRY_VOID(c.Allocate(0, dy.type(), dims));
  ZeroElements(c.Out(0), 0, c.Out(0).numel());
  std::vector<bool> used(s.count * width, false);
  return SwitchIndex(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    for (int64_t i = s.elements(); i-- > 0;) {
      const auto column = columns.find(c.In<I>(0)[i]);
      if (column == columns.end()) continue;
      const int64_t from = s.of[i] * width + column->second;
      if (used[from]) continue;
      used[from] = true;
      CopyElements(dy, from * block, c.Out(0), i * block, block);
    }
    return {};
  });
}

// Inputs lengths of rows, column indices, values, perhaps the dense form (for its width).
Result<void> BatchSparseToDense(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  const int64_t width =
      c.has_input(3) ? (c.In(3).ndim() ? c.In(3).dim(c.In(3).ndim() - 1) : 0) : c.ArgI("dense_last_dim", -1);
  WEFT_ENSURE(c, width > 0, "The last dim of dense tensor needs to be specified");
  WEFT_TRY(const std::vector<int64_t> columns, RowIndices(c, 1, width));
  WEFT_ENSURE(c, static_cast<int64_t>(columns.size()) == s.elements() && c.In(2).numel() == s.elements(),
              "lengths add up to ", s.elements());
  WEFT_TRY(float* out, c.Out<float>(0, {s.count, width}));
  std::fill(out, out + s.count * width, c.ArgF("default_value", 0));
  for (int64_t i = 0; i < s.elements(); ++i) out[s.of[i] * width + columns[i]] = c.In<float>(2)[i];
  return {};
}

Result<void> BatchDenseToSparse(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  const Tensor& dense = c.In(2);
  WEFT_ENSURE(c, dense.ndim() == 2 && dense.dim(0) == s.count, "dense is ", DimsToString(dense.dims()));
  WEFT_TRY(const std::vector<int64_t> columns, RowIndices(c, 1, dense.dim(1)));
  WEFT_ENSURE(c, static_cast<int64_t>(columns.size()) == s.elements(), "lengths add up to ", s.elements());
  WEFT_TRY(float* out, c.Out<float>(0, {s.elements()}));
  for (int64_t i = 0; i < s.elements(); ++i)
    out[i] = dense.data<float>()[s.of[i] * dense.dim(1) + columns[i]];
  return {};
}

Result<int64_t> ScalarSize(const KernelContext& c, size_t input) {
  if (c.In(input).numel() != 1 || c.In(input).type() != DataType::kInt64)
    return c.Fail("size must be one int64");
  const int64_t size = c.In<int64_t>(input)[0];
  return size;
}

// Inputs indices, size.
Result<void> OneHot(KernelContext& c) {
  WEFT_TRY(const int64_t size, ScalarSize(c, 1));
  WEFT_TRY(const std::vector<int64_t> hot, RowIndices(c, 0, size));
  const int64_t n = static_cast<int64_t>(hot.size());
  WEFT_TRY(float* out, c.Out<float>(0, {n, size}));
  std::fill(out, out + n * size, 0.0f);
  for (int64_t i = 0; i < n; ++i) out[i * size + hot[i]] = 1;
  return {};
}

// Inputs lengths, indices, size: one row per run with all its indices hot.
Result<void> SegmentOneHot(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  WEFT_TRY(const int64_t size, ScalarSize(c, 2));
  WEFT_TRY(const std::vector<int64_t> hot, RowIndices(c, 1, size));
  WEFT_ENSURE(c, static_cast<int64_t>(hot.size()) == s.elements(), "lengths add up to ", s.elements());
  WEFT_TRY(float* out, c.Out<float>(0, {s.count, size}));
  std::fill(out, out + s.count * size, 0.0f);
  for (size_t i = 0; i < hot.size(); ++i) out[s.of[i] * size + hot[i]] = 1;
  return {};
}

// Inputs X [N, D], how many values each column may have, the values.
Result<void> BatchOneHot(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  WEFT_ENSURE(
      c,
      x.ndim() == 2 && x.dim(1) == s.count && c.In(2).numel() == s.elements() && c.In(2).type() == x.type(),
      "X ", DimsToString(x.dims()), ", lengths and values do not fit");
  return Switch<int32_t, int64_t>(c, x.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(T * out, c.Out<T>(0, {x.dim(0), s.elements()}));
    for (int64_t r = 0; r < x.dim(0); ++r)
      for (int64_t i = 0; i < s.elements(); ++i)
        out[r * s.elements() + i] = x.data<T>()[r * s.count + s.of[i]] == c.In<T>(2)[i];
    return {};
  });
}

// Where `value` falls among sorted boundaries; among equal ones the middle.
int64_t MiddleBucket(const float* first, const float* last, float value) {
  return (std::lower_bound(first, last, value) - first + (std::upper_bound(first, last, value) - first)) / 2;
}

// Inputs X [N, D], how many boundaries each column has, the boundaries.
Result<void> BatchBucketOneHot(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  WEFT_ENSURE(c, x.ndim() == 2 && x.dim(1) == s.count && c.In(2).numel() == s.elements(),
              "inputs do not fit");
  const int64_t width = s.elements() + s.count;
  WEFT_TRY(float* out, c.Out<float>(0, {x.dim(0), width}));
  std::fill(out, out + x.dim(0) * width, 0.0f);
  for (int64_t r = 0; r < x.dim(0); ++r) {
    int64_t first = 0;
    for (int64_t d = 0; d < s.count; ++d) {
      const float* boundaries = c.In<float>(2) + first;
      const int64_t bucket =
          MiddleBucket(boundaries, boundaries + s.sizes[d], x.data<float>()[r * s.count + d]);
      out[r * width + first + d + bucket] = 1;
      first += s.sizes[d];
    }
  }
  return {};
}

// Inputs X [N, D], columns, boundaries, how many of them each column has.
Result<void> BatchBucketize(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() == 2, "X must have two dimensions");
  WEFT_TRY(const std::vector<int64_t> columns, RowIndices(c, 1, x.dim(1)));
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 3));
  WEFT_ENSURE(c, static_cast<int64_t>(columns.size()) == s.count && c.In(2).numel() == s.elements(),
              "inputs do not fit");
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {x.dim(0), s.count}));
  for (int64_t r = 0; r < x.dim(0); ++r) {
    const float* boundaries = c.In<float>(2);
    for (int64_t j = 0; j < s.count; ++j) {
      const float value = x.data<float>()[r * x.dim(1) + columns[j]];
      out[r * s.count + j] =
          static_cast<int32_t>(std::lower_bound(boundaries, boundaries + s.sizes[j], value) - boundaries);
      boundaries += s.sizes[j];
    }
  }
  return {};
}

// Inputs data, ranges [N, M, 2] of (first, length).
struct Range {
  int64_t first, length;
};
Result<std::vector<Range>> Ranges(const KernelContext& c) {
  const Tensor& t = c.In(1);
  if (t.ndim() != 3 || t.dim(2) != 2)
    return c.Fail("ranges must be [N, M, 2], found ", DimsToString(t.dims()));
  std::vector<Range> out;
  auto read = SwitchIndex(c, t.type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    for (int64_t i = 0; i < t.numel(); i += 2) {
      const Range r{t.data<I>()[i], t.data<I>()[i + 1]};
      WEFT_ENSURE(c,
                  r.length >= 0 && (r.length == 0 || (r.first >= 0 && r.first + r.length <= c.In(0).numel())),
                  "the range (", r.first, ", ", r.length, ") is outside of the data");
      out.push_back(r);
    }
    return {};
  });
  if (!read) return std::move(read).error();
  return out;
}

Result<void> GatherRanges(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_TRY(const std::vector<Range> ranges, Ranges(c));
  const int64_t batch = c.In(1).dim(0), each = c.In(1).dim(1);
  int64_t total = 0;
  for (const Range& r : ranges) total += r.length;
  WEFT_TRY_VOID(c.Allocate(0, data.type(), std::span(&total, 1)));
  int64_t to = 0;
  for (const Range& r : ranges) {
    CopyElements(data, r.first, c.Out(0), to, r.length);
    to += r.length;
  }
  WEFT_TRY(int32_t * lengths, c.Out<int32_t>(1, {batch}));
  for (int64_t i = 0; i < batch; ++i) {
    lengths[i] = 0;
    for (int64_t j = 0; j < each; ++j) lengths[i] += static_cast<int32_t>(ranges[i * each + j].length);
  }
  return {};
}

struct RangeCounts {
  static constexpr std::string_view kBlobType = "GatherRangesToDense";
  int64_t total = 0;
  std::vector<int64_t> empty, mismatched;
};

// Inputs data, ranges, perhaps a key per element that gives the order within a range. Output j: [N,
// lengths[j]]; ranges of another length give zeros, and an error when there are too many of them.
Result<void> GatherRangesToDense(KernelContext& c) {
  const Tensor& data = c.In(0);
  const std::vector<int64_t> lengths = c.ArgIs("lengths");
  WEFT_TRY(const std::vector<Range> ranges, Ranges(c));
  const int64_t batch = c.In(1).dim(0), each = c.In(1).dim(1);
  WEFT_ENSURE(c, each == static_cast<int64_t>(lengths.size()) && lengths.size() == c.num_outputs(),
              "There should be a length and an output for each of ", each, " ranges");
  WEFT_ENSURE(c, !c.has_input(2) || (c.In(2).type() == DataType::kInt64 && c.In(2).numel() == data.numel()),
              "expected an int64 key for each element");
  RangeCounts& counts = c.State<RangeCounts>();
  counts.empty.resize(each, 0);
  counts.mismatched.resize(each, 0);
  for (int64_t j = 0; j < each; ++j) {
    WEFT_ENSURE(c, lengths[j] > 0, "lengths must be positive");
    const int64_t dims[] = {batch, lengths[j]};
    WEFT_TRY_VOID(c.Allocate(j, data.type(), dims));
    ZeroElements(c.Out(j), 0, batch * lengths[j]);
    for (int64_t i = 0; i < batch; ++i) {
      const Range& r = ranges[i * each + j];
      if (r.length == 0) {
        ++counts.empty[j];
      } else if (r.length != lengths[j]) {
        ++counts.mismatched[j];
      } else if (!c.has_input(2)) {
        CopyElements(data, r.first, c.Out(j), i * lengths[j], r.length);
      } else {
        std::vector<int64_t> order;
        for (int64_t k = 0; k < r.length; ++k) order.push_back(r.first + k);
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return c.In<int64_t>(2)[a] < c.In<int64_t>(2)[b]; });
        for (int64_t k = 0; k < r.length; ++k) CopyElements(data, order[k], c.Out(j), i * lengths[j] + k, 1);
      }
    }
  }
  counts.total += batch;
  const double seen = static_cast<double>(std::max(counts.total, c.ArgI("min_observation", 10000)));
  for (int64_t j = 0; j < each; ++j) {
    WEFT_ENSURE(c, seen * c.ArgF("max_mismatched_ratio", 0.01f) >= static_cast<double>(counts.mismatched[j]),
                "Ratio of range length mismatch for feature at index ", j,
                " is too high: ", counts.mismatched[j], " of ", counts.total);
    WEFT_ENSURE(c, seen * c.ArgF("max_empty_ratio", 1) >= static_cast<double>(counts.empty[j]),
                "Ratio of empty ranges for feature at index ", j, " is too high: ", counts.empty[j], " of ",
                counts.total);
  }
  return {};
}

// Bytes, lowest first, times powers of 65537.
Result<void> IndexHash(KernelContext& c) {
  const int64_t seed = c.ArgI("seed", 0), modulo = c.ArgI("modulo", 0);
  WEFT_ENSURE(c, modulo > 0, "MODULO should be > 0");
  return SwitchIndex(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    using U = std::make_unsigned_t<I>;
    WEFT_ENSURE(c, modulo <= std::numeric_limits<I>::max(),
                "MODULO shouldn't be larger than the numeric limit of the indices");
    WEFT_TRY(I * out, c.Out<I>(0, c.In(0).dims()));
    for (int64_t i = 0; i < c.In(0).numel(); ++i) {
      const U id = static_cast<U>(c.In<I>(0)[i]);
      U hash = static_cast<U>(seed) * static_cast<U>(0xDEADBEEFu);
      for (size_t b = 0; b < sizeof(I); ++b)
        hash = hash * static_cast<U>(65537) + static_cast<U>(static_cast<int8_t>(id >> (8 * b) & 0xff));
      const I signed_hash = static_cast<I>(hash), rest = signed_hash % static_cast<I>(modulo);
      out[i] = rest >= 0 ? rest : rest + static_cast<I>(modulo);
    }
    return {};
  });
}

// Each listed column's value becomes its place among the column's known values; the places together are one
// number.
Result<void> NGramFromCategorical(KernelContext& c) {
  const Tensor& x = c.In(0);
  const std::vector<int64_t> columns = c.ArgIs("col_ids"), limits = c.ArgIs("categorical_limits"),
                             values = c.ArgIs("vals");
  WEFT_ENSURE(c, columns.size() == limits.size() && x.ndim() == 2,
              "col_ids and categorical_limits differ in length");
  WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {x.dim(0)}));
  std::fill(out, out + x.dim(0), 0);
  int64_t base = 1;
  size_t first = 0;
  for (size_t j = 0; j < columns.size(); ++j) {
    WEFT_ENSURE(
        c, columns[j] >= 0 && columns[j] < x.dim(1) && limits[j] > 0 && first + limits[j] <= values.size(),
        "column ", columns[j], " or its values are missing");
    std::map<int64_t, int64_t> places;
    for (int64_t k = 0; k < limits[j]; ++k) places[values[first + k]] = k;
    for (int64_t i = 0; i < x.dim(0); ++i) {
      const auto place = places.find(static_cast<int64_t>(x.data<float>()[i * x.dim(1) + columns[j]]));
      if (place != places.end()) out[i] += base * place->second;
    }
    base *= limits[j];
    first += limits[j];
  }
  return {};
}

// Keys go to the part that is their rest by the number of parts.
struct Parts {
  int64_t parts = 0;
  size_t inputs = 0;        // per part
  std::vector<int64_t> of;  // the part of each key
};
template <typename I>
int64_t PartOf(I key, int64_t parts) {
  const int64_t rest = static_cast<int64_t>(key) % parts;
  return rest < 0 ? rest + parts : rest;
}

// Distributes the inputs from `main` on, by the keys in it; output p * per_part + i + skip gets part p of
// input i.
Result<Parts> Distribute(KernelContext& c, size_t main, size_t per_part) {
  Parts p;
  if (per_part == 0 || c.num_outputs() % per_part != 0)
    return c.Fail("outputs must come in groups of ", per_part);
  p.parts = static_cast<int64_t>(c.num_outputs() / per_part);
  const Tensor& keys = c.In(main);
  const bool pack = c.ArgB("pack_first_input", false);
  auto read = SwitchIndex(c, keys.type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    for (I key : keys.values<I>()) p.of.push_back(PartOf(key, p.parts));
    return {};
  });
  if (!read) return std::move(read).error();
  std::vector<int64_t> sizes(p.parts, 0);
  for (int64_t part : p.of) ++sizes[part];
  for (size_t in = main; in < c.num_inputs(); ++in) {
    const Tensor& t = c.In(in);
    if (t.ndim() < keys.ndim() || !std::equal(keys.dims().begin(), keys.dims().end(), t.dims().begin()))
      return c.Fail(c.InName(in), " is ", DimsToString(t.dims()), ", expected to start with ",
                    DimsToString(keys.dims()));
    const int64_t block = t.SizeFrom(keys.ndim());
    for (int64_t part = 0; part < p.parts; ++part) {
      Dims dims{sizes[part]};
      dims.Append(t.dims().begin() + keys.ndim(), t.dims().end());
      WEFT_TRY_VOID(c.Allocate(part * per_part + in, t.type(), dims));
    }
    std::vector<int64_t> next(p.parts, 0);
    for (size_t i = 0; i < p.of.size(); ++i)
      CopyElements(t, i * block, c.Out(p.of[i] * per_part + in), next[p.of[i]]++ * block, block);
    if (in != main || !pack) continue;
    auto packed = SwitchIndex(c, t.type(), [&](auto tag) -> Result<void> {
      using I = typename decltype(tag)::type;
      for (int64_t part = 0; part < p.parts; ++part) {
        Tensor& out = c.Out(part * per_part + in);
        for (int64_t i = 0; i < out.numel(); ++i) {
          I& key = out.mutable_data<I>()[i];
          key = static_cast<I>((static_cast<int64_t>(key) - part) / p.parts);
        }
      }
      return {};
    });
    if (!packed) return std::move(packed).error();
  }
  return p;
}

Result<void> Partition(KernelContext& c) {
  WEFT_TRY(const Parts parts, Distribute(c, 0, c.num_inputs()));
  (void)parts;
  return {};
}

// Inputs lengths, then as for Partition.
Result<void> LengthsPartition(KernelContext& c) {
  WEFT_ENSURE(c, c.num_inputs() >= 2, "expected lengths and keys");
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  WEFT_ENSURE(c, s.elements() == c.In(1).numel() && c.In(1).ndim() == 1, "lengths add up to ", s.elements(),
              ", keys are ", DimsToString(c.In(1).dims()));
  WEFT_TRY(const Parts p, Distribute(c, 1, c.num_inputs()));
  for (int64_t part = 0; part < p.parts; ++part) {
    WEFT_TRY(int32_t * lengths, c.Out<int32_t>(part * c.num_inputs(), {s.count}));
    std::fill(lengths, lengths + s.count, 0);
    for (int64_t i = 0; i < s.elements(); ++i) lengths[s.of[i]] += p.of[i] == part;
  }
  return {};
}

// Inputs keys, then the values of each part in the order of its keys.
Result<void> GatherByKey(KernelContext& c) {
  const Tensor& keys = c.In(0);
  const int64_t parts = static_cast<int64_t>(c.num_inputs()) - 1;
  WEFT_ENSURE(c, parts >= 1 && c.In(1).ndim() >= 1, "expected values");
  Dims dims(keys.dims());
  dims.Append(c.In(1).dims().begin() + 1, c.In(1).dims().end());
  const int64_t block = c.In(1).SizeFrom(1);
  for (int64_t p = 1; p <= parts; ++p)
    WEFT_ENSURE(c, c.In(p).type() == c.In(1).type() && c.In(p).SizeFrom(1) == block,
                "values differ in shape or type");
  return SwitchIndex(c, keys.type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    WEFT_TRY_VOID(c.Allocate(0, c.In(1).type(), dims));
    std::vector<int64_t> next(parts, 0);
    for (int64_t i = 0; i < keys.numel(); ++i) {
      const int64_t part = PartOf(keys.data<I>()[i], parts);
      WEFT_ENSURE(c, next[part] < c.In(part + 1).dim(0), "no value left in part ", part);
      CopyElements(c.In(part + 1), next[part]++ * block, c.Out(0), i * block, block);
    }
    return {};
  });
}

constexpr KernelRow kRows[] = {
    {"SparseToDense", SparseToDense, "IN*"},
    {"SparseToDenseMask", SparseToDenseMask, "I**I"},
    {"SparseToDenseMaskGradient", SparseToDenseMaskGradient, "I*I"},
    {"BatchSparseToDense", BatchSparseToDense, "IIf*"},
    {"BatchDenseToSparse", BatchDenseToSparse, "IIf*"},
    {"OneHot", OneHot, "Il"},
    {"SegmentOneHot", SegmentOneHot, "IIl"},
    {"BatchOneHot", BatchOneHot, "*I*"},
    {"BatchBucketOneHot", BatchBucketOneHot, "fIf"},
    {"BatchBucketize", BatchBucketize, "fIfI"},
    {"GatherRanges", GatherRanges, "*I"},
    {"GatherRangesToDense", GatherRangesToDense, "*I*"},
    {"IndexHash", IndexHash, "I", kInPlace},
    {"NGramFromCategorical", NGramFromCategorical, "f"},
    {"Partition", Partition, "I*"},
    {"LengthsPartition", LengthsPartition, "II*"},
    {"GatherByKey", GatherByKey, "I*"},
};

}  // namespace
}  // namespace kernels

KernelFamily IndexSparseKernels() { return kernels::kRows; }

}  // namespace weft
