// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lengths, ranges and segment ids made from one another, and operators that cut, pad, repeat or rank runs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/segments.h"

namespace weft {

namespace kernels {
namespace {

Result<void> LengthsToSegmentIds(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {s.elements()}));
  for (int64_t i = 0; i < s.elements(); ++i) out[i] = static_cast<int32_t>(s.of[i]);
  return {};
}

Result<void> WriteRanges(KernelContext& c, const Segments& s) {
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {s.count, 2}));
  int64_t first = 0;
  for (int64_t i = 0; i < s.count; ++i) {
    out[2 * i] = static_cast<int32_t>(first);
    out[2 * i + 1] = static_cast<int32_t>(s.sizes[i]);
    first += s.sizes[i];
  }
  return {};
}
Result<void> LengthsToRanges(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  return WriteRanges(c, s);
}

// Ids that do not fall; those that are missing have length 0.
Result<Segments> SortedIds(const KernelContext& c) {
  WEFT_TRY(Segments s, SegmentsFromIds(c, 0, false));
  if (!std::is_sorted(s.of.begin(), s.of.end())) return c.Fail("Segment ids must be sorted");
  return s;
}
Result<void> SegmentIdsToRanges(KernelContext& c) {
  WEFT_TRY(const Segments s, SortedIds(c));
  return WriteRanges(c, s);
}
Result<void> SegmentIdsToLengths(KernelContext& c) {
  WEFT_TRY(const Segments s, SortedIds(c));
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {s.count}));
  for (int64_t i = 0; i < s.count; ++i) out[i] = static_cast<int32_t>(s.sizes[i]);
  return {};
}

Result<void> LengthsToWeights(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  const double power = c.ArgF("power", 0.5f);
  WEFT_TRY(float* out, c.Out<float>(0, {s.elements()}));
  for (int64_t i = 0; i < s.elements(); ++i)
    out[i] = static_cast<float>(std::pow(static_cast<double>(s.sizes[s.of[i]]), -power));
  return {};
}

// Inputs lengths, perhaps how many parts each is cut into; earlier parts get the rest.
Result<void> LengthsSplit(KernelContext& c) {
  int64_t parts = c.ArgI("n_split", 0);
  if (c.has_input(1)) {
    WEFT_ENSURE(c, c.In(1).numel() == 1 && c.In(1).type() == DataType::kInt32, "n_split must be one int32");
    parts = c.In<int32_t>(1)[0];
  }
  WEFT_ENSURE(c, parts > 0, "`n_split` must contain a positive value, found ", parts);
  WEFT_TRY_VOID(c.CheckRoom({c.In(0).numel(), parts}));
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {c.In(0).numel() * parts}));
  for (int32_t length : c.In(0).values<int32_t>())
    for (int64_t i = 0; i < parts; ++i)
      *out++ = static_cast<int32_t>(length / parts + (i < length % parts ? 1 : 0));
  return {};
}

// Row i as often as lengths say.
Result<void> LengthsTile(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  WEFT_ENSURE(c, data.ndim() >= 1 && data.dim(0) == s.count, "expected a length per row");
  Dims dims(data.dims());
  dims[0] = s.elements();
  const int64_t width = data.SizeFrom(1);
  WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
  for (int64_t i = 0; i < s.elements(); ++i) CopyElements(data, s.of[i] * width, c.Out(0), i * width, width);
  return {};
}

// Every run made `target_length` rows long.
Result<void> LengthsPad(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  const int64_t target = c.ArgI("target_length", -1);
  WEFT_ENSURE(c, target >= 1, "target_length must be given");
  WEFT_TRY_VOID(c.CheckRoom({s.count, target}));
  WEFT_ENSURE(c, data.ndim() >= 1 && data.dim(0) == s.elements(), "lengths add up to ", s.elements());
  for (int64_t size : s.sizes)
    WEFT_ENSURE(c, size <= target, "a length of ", size, " is larger than ", target);
  Dims dims(data.dims());
  dims[0] = s.count * target;
  const int64_t width = data.SizeFrom(1);
  return SwitchNumber(c, data.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(T * out, c.Out<T>(0, dims));
    std::fill(out, out + NumElements(dims), static_cast<T>(c.ArgF("padding_value", -1)));
    int64_t from = 0;
    for (int64_t i = 0; i < s.count; ++i) {
      std::copy_n(data.data<T>() + from * width, s.sizes[i] * width, out + i * target * width);
      from += s.sizes[i];
    }
    return {};
  });
}

// The k largest of each run; missing ones are 0 with index -1.
Result<void> LengthsTopK(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  const int64_t k = c.ArgI("k", -1);
  WEFT_ENSURE(c, k >= 1, "k argument must be >= 1");
  WEFT_ENSURE(c, c.In(0).numel() == s.elements(), "lengths add up to ", s.elements());
  WEFT_TRY(float* values, c.Out<float>(0, {s.count, k}));
  WEFT_TRY(int32_t * indices, c.Out<int32_t>(1, {s.count, k}));
  const float* x = c.In<float>(0);
  for (int64_t i = 0; i < s.count; ++i) {
    std::vector<int32_t> order(s.sizes[i]);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [x](int32_t a, int32_t b) { return x[a] != x[b] ? x[a] > x[b] : a < b; });
    for (int64_t j = 0; j < k; ++j) {
      const bool there = j < s.sizes[i];
      values[i * k + j] = there ? x[order[j]] : 0;
      indices[i * k + j] = there ? order[j] : -1;
    }
    x += s.sizes[i];
  }
  return {};
}

// Inputs lengths, indices, dValues.
Result<void> LengthsTopKGradient(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  const int64_t k = c.ArgI("k", -1);
  WEFT_TRY_VOID(c.CheckRoom({s.count, k}));
  WEFT_ENSURE(c, k >= 1 && c.In(1).numel() == s.count * k && c.In(2).numel() == s.count * k, "expected ", k,
              " gradients per run");
  WEFT_TRY(float* dx, c.Out<float>(0, {s.elements()}));
  std::fill(dx, dx + s.elements(), 0.0f);
  for (int64_t i = 0; i < s.count; ++i) {
    for (int64_t j = 0; j < k; ++j) {
      const int32_t index = c.In<int32_t>(1)[i * k + j];
      if (index < 0) continue;
      WEFT_ENSURE(c, index < s.sizes[i], "index ", index, " is out of bounds");
      dx[index] = c.In<float>(2)[i * k + j];
    }
    dx += s.sizes[i];
  }
  return {};
}

// Inputs lengths and values in pairs: for each sample the different ids of all lists, sorted.
Result<void> MergeIdLists(KernelContext& c) {
  const size_t lists = c.num_inputs() / 2;
  WEFT_ENSURE(c, lists >= 1 && c.num_inputs() % 2 == 0, "expected pairs of lengths and values");
  return SwitchIndex(c, c.In(1).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    const int64_t samples = c.In(0).numel();
    std::vector<const I*> at;
    for (size_t l = 0; l < lists; ++l) {
      WEFT_TRY(const Segments s, SegmentsFromLengths(c, 2 * l));
      WEFT_ENSURE(c,
                  s.count == samples && c.In(2 * l + 1).type() == DataTypeOf<I> &&
                      c.In(2 * l + 1).numel() == s.elements() && c.In(2 * l).type() == DataType::kInt32,
                  "list ", l, " does not fit");
      at.push_back(c.In<I>(2 * l + 1));
    }
    std::vector<I> merged;
    WEFT_TRY(int32_t * lengths, c.Out<int32_t>(0, {samples}));
    for (int64_t i = 0; i < samples; ++i) {
      std::set<I> ids;
      for (size_t l = 0; l < lists; ++l) {
        const int32_t length = c.In<int32_t>(2 * l)[i];
        ids.insert(at[l], at[l] + length);
        at[l] += length;
      }
      lengths[i] = static_cast<int32_t>(ids.size());
      merged.insert(merged.end(), ids.begin(), ids.end());
    }
    WEFT_TRY(I * out, c.Out<I>(1, {static_cast<int64_t>(merged.size())}));
    std::copy(merged.begin(), merged.end(), out);
    return {};
  });
}

// For each row the columns that are not (near) zero.
Result<void> DenseVectorToIdList(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() == 2, "needs two dimensions, found ", DimsToString(in.dims()));
  const int64_t rows = in.dim(0), width = in.dim(1);
  return Switch<float, bool, int32_t, int64_t>(c, in.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(int32_t * lengths, c.Out<int32_t>(0, {rows}));
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < rows; ++i) {
      const size_t before = ids.size();
      for (int64_t k = 0; k < width; ++k) {
        const double x = static_cast<double>(in.data<T>()[i * width + k]);
        if (x >= 0.5 || x <= -1.5) ids.push_back(static_cast<int32_t>(k));
      }
      lengths[i] = static_cast<int32_t>(ids.size() - before);
    }
    WEFT_TRY(int32_t * out, c.Out<int32_t>(1, {static_cast<int64_t>(ids.size())}));
    std::copy(ids.begin(), ids.end(), out);
    return {};
  });
}

constexpr KernelRow kRows[] = {
    {"LengthsToSegmentIds", LengthsToSegmentIds, "I"},
    {"LengthsToRanges", LengthsToRanges, "I"},
    {"LengthsToWeights", LengthsToWeights, "I"},
    {"LengthsSplit", LengthsSplit, "i"},
    {"LengthsTile", LengthsTile, "*I"},
    {"LengthsPad", LengthsPad, "NI"},
    {"LengthsTopK", LengthsTopK, "fI"},
    {"LengthsTopKGradient", LengthsTopKGradient, "Iif"},
    {"SegmentIdsToRanges", SegmentIdsToRanges, "I"},
    {"SegmentIdsToLengths", SegmentIdsToLengths, "I"},
    {"MergeIdLists", MergeIdLists, "I"},
    {"DenseVectorToIdList", DenseVectorToIdList, "*"},
};

}  // namespace
}  // namespace kernels

KernelFamily SegmentLengthsKernels() { return kernels::kRows; }

}  // namespace weft
