// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Merging sparse features. Single features are scalars, lists or maps with a presence per example; sets of
// many have a length per example and a key per entry. Merged, the entries stand by example, in each example
// by input; lists and maps have a length per entry as well.
#include <algorithm>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

enum Shape { kScalar, kList, kMap };

// Of one input set: how many entries each example has (presences or lengths), and how many values an entry
// has (none: one); at most `most` entries.
struct Part {
  const Tensor* counts;
  const Tensor* sizes;
  int64_t most;
};
struct Entry {
  size_t part;
  int64_t example;
  int64_t place;        // in its part
  int64_t first, size;  // its values there
};

// The entries of all parts in merged order.
Result<std::vector<Entry>> Merge(const KernelContext& c, bool many, const std::vector<Part>& parts) {
  WEFT_ENSURE(c, !parts.empty(), "there is nothing to merge");
  const int64_t examples = parts[0].counts->numel();
  for (const Part& p : parts) {
    WEFT_ENSURE(
        c, p.counts->numel() == examples && p.counts->type() == (many ? DataType::kInt32 : DataType::kBool),
        "expected ", many ? "int32 lengths" : "a bool presence", " for ", examples, " examples, found ",
        DataTypeName(p.counts->type()), " ", DimsToString(p.counts->dims()));
    WEFT_ENSURE(c,
                !p.sizes || (p.sizes->type() == DataType::kInt32 && (many || p.sizes->numel() == examples)),
                "the lengths of values do not fit ", examples, " examples");
  }
  std::vector<Entry> out;
  std::vector<int64_t> places(parts.size()), firsts(parts.size());
  for (int64_t e = 0; e < examples; ++e)
    for (size_t f = 0; f < parts.size(); ++f) {
      const Part& p = parts[f];
      const int64_t n = many ? p.counts->data<int32_t>()[e] : p.counts->data<bool>()[e];
      WEFT_ENSURE(c, n >= 0 && n <= p.most - places[f], "an example has ", n, " entries, ",
                  p.most - places[f], " are left");
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = many ? places[f] : e;
        WEFT_ENSURE(c, !p.sizes || at < p.sizes->numel(), "an entry has no length");
        const int64_t size = p.sizes ? p.sizes->data<int32_t>()[at] : 1;
        WEFT_ENSURE(c, size >= 0, "lengths must not be negative, found ", size);
        out.push_back({f, e, places[f], many || p.sizes ? firsts[f] : e, size});
        ++places[f];
        firsts[f] += size;
      }
    }
  return out;
}

// Output `output`: the elements of input `input` of each part that its entries name.
Result<void> JoinValues(KernelContext& c, const std::vector<Entry>& entries, size_t output, size_t input,
                        size_t per) {
  const DataType type = c.In(input).type();
  int64_t total = 0;
  for (const Entry& e : entries) {
    const Tensor& from = c.In(e.part * per + input);
    WEFT_ENSURE(c, from.type() == type && e.first + e.size <= from.numel(), c.InName(e.part * per + input),
                " is ", DataTypeName(from.type()), " ", DimsToString(from.dims()), ", expected ",
                DataTypeName(type), " and at least ", e.first + e.size, " values");
    total += e.size;
  }
  WEFT_TRY_VOID(c.Allocate(output, type, Dims{total}));
  int64_t at = 0;
  for (const Entry& e : entries) {
    CopyElements(c.In(e.part * per + input), e.first, c.Out(output), at, e.size);
    at += e.size;
  }
  return {};
}

template <bool kMany, Shape kShape>
Result<void> MergeFeatures(KernelContext& c) {
  // Of each part: lengths, keys, lengths of values, inner keys, values; or lengths, keys, values, presence.
  constexpr size_t per = 2 + (kMany ? 1 : 0) + kShape;
  constexpr size_t values = kMany ? per - 1 : per - 2, counts = kMany ? 0 : per - 1;
  WEFT_ENSURE(c, c.num_inputs() >= per && c.num_inputs() % per == 0, "expected ", per,
              " inputs for each feature, found ", c.num_inputs());
  std::vector<Part> parts;
  for (size_t i = 0; i < c.num_inputs(); i += per) {
    const Tensor& presence = c.In(i + counts);
    const Tensor* sizes = kShape == kScalar ? nullptr : &c.In(i + (kMany ? 2 : 0));
    parts.push_back({&presence, sizes, kMany ? c.In(i + 1).numel() : presence.numel()});
    WEFT_ENSURE(c, !kMany || c.In(i + 1).type() == DataType::kInt64, "keys must be int64, found ",
                DataTypeName(c.In(i + 1).type()));
  }
  const std::vector<int64_t> ids = c.ArgIs("feature_ids");
  WEFT_ENSURE(c, kMany || ids.size() >= parts.size(), "there are ", ids.size(), " feature_ids for ",
              parts.size(), " features");
  WEFT_TRY(const std::vector<Entry> entries, Merge(c, kMany, parts));
  const int64_t count = static_cast<int64_t>(entries.size()), examples = parts[0].counts->numel();
  WEFT_TRY(int32_t * lengths, c.Out<int32_t>(0, {examples}));
  std::fill_n(lengths, examples, 0);
  for (const Entry& e : entries) ++lengths[e.example];
  WEFT_TRY(int64_t * keys, c.Out<int64_t>(1, {count}));
  for (const Entry& e : entries)
    *keys++ = kMany ? c.In(e.part * per + 1).template data<int64_t>()[e.place] : ids[e.part];
  if (kShape != kScalar) {
    WEFT_TRY(int32_t * sizes, c.Out<int32_t>(2, {count}));
    for (const Entry& e : entries) *sizes++ = static_cast<int32_t>(e.size);
  }
  if (kShape == kMap) WEFT_TRY_VOID(JoinValues(c, entries, 3, values - 1, per));
  return JoinValues(c, entries, 2 + kShape, values, per);
}

// Inputs, of each part, its presences or lengths and, of lists and maps, the lengths of values; then dValues.
template <bool kMany, bool kScalars>
Result<void> MergeFeaturesGradient(KernelContext& c) {
  constexpr size_t per = kScalars ? 1 : 2;
  const size_t n = c.num_outputs();
  WEFT_ENSURE(c, c.num_inputs() == n * per + 1, "expected ", n * per + 1, " inputs, found ", c.num_inputs());
  const Tensor& dvalues = c.In(n * per);
  std::vector<Part> parts;
  for (size_t i = 0; i < n; ++i) {
    const Tensor& first = c.In(i * per);
    // Single features have their lengths first, then the presence.
    const Tensor* second = kScalars ? nullptr : &c.In(i * per + 1);
    const Tensor* counts = kMany || kScalars ? &first : second;
    const Tensor* sizes = kScalars ? nullptr : kMany ? second : &first;
    parts.push_back({counts, sizes, !kMany ? counts->numel() : sizes ? sizes->numel() : dvalues.numel()});
  }
  WEFT_TRY(const std::vector<Entry> entries, Merge(c, kMany, parts));
  std::vector<int64_t> sums(n);
  int64_t total = 0;
  for (const Entry& e : entries) {
    sums[e.part] += e.size;
    total += e.size;
  }
  WEFT_ENSURE(c, total <= dvalues.numel(), "the gradient has ", dvalues.numel(), " values, expected ", total);
  for (size_t i = 0; i < n; ++i) {
    const Dims dims = kMany || !kScalars ? Dims{sums[i]} : ToDims(parts[i].counts->dims());
    WEFT_TRY_VOID(c.Allocate(i, dvalues.type(), dims));
    ZeroElements(c.Out(i), 0, c.Out(i).numel());
  }
  int64_t at = 0;
  for (const Entry& e : entries) {
    if (e.first + e.size <= c.Out(e.part).numel())  // less only where one blob is several outputs
      CopyElements(dvalues, at, c.Out(e.part), e.first, e.size);
    at += e.size;
  }
  return {};
}

// Inputs dense features [N, F] and their presence.
Result<void> MergeDense(KernelContext& c) {
  const Tensor& dense = c.In(0);
  WEFT_ENSURE(c, dense.ndim() == 2 && SameDims(dense, c.In(1)),
              "expected features and presence [N, F], found ", DimsToString(dense.dims()), " and ",
              DimsToString(c.In(1).dims()));
  const int64_t n = dense.dim(0), features = dense.dim(1);
  const std::vector<int64_t> ids = c.ArgIs("feature_ids");
  WEFT_ENSURE(c, static_cast<int64_t>(ids.size()) >= features, "there are ", ids.size(), " feature_ids for ",
              features, " features");
  const std::span<const bool> there = c.In(1).values<bool>();
  const int64_t total = std::count(there.begin(), there.end(), true);
  WEFT_TRY(int32_t * lengths, c.Out<int32_t>(0, {n}));
  for (int64_t i = 0; i < n; ++i)
    *lengths++ = static_cast<int32_t>(
        std::count(there.begin() + i * features, there.begin() + (i + 1) * features, true));
  WEFT_TRY(int64_t * keys, c.Out<int64_t>(1, {total}));
  for (size_t i = 0; i < there.size(); ++i)
    if (there[i]) *keys++ = ids[i % static_cast<size_t>(features)];
  WEFT_TRY_VOID(c.Allocate(2, dense.type(), Dims{total}));
  int64_t at = 0;
  for (size_t i = 0; i < there.size(); ++i)
    if (there[i]) CopyElements(dense, static_cast<int64_t>(i), c.Out(2), at++, 1);
  return {};
}

constexpr KernelRow kRows[] = {
    {"MergeDenseFeatureTensors", MergeDense, "*b"},
    {"MergeSingleScalarFeatureTensors", MergeFeatures<false, kScalar>},
    {"MergeSingleListFeatureTensors", MergeFeatures<false, kList>},
    {"MergeSingleMapFeatureTensors", MergeFeatures<false, kMap>},
    {"MergeMultiScalarFeatureTensors", MergeFeatures<true, kScalar>},
    {"MergeMultiListFeatureTensors", MergeFeatures<true, kList>},
    {"MergeMultiMapFeatureTensors", MergeFeatures<true, kMap>},
    {"MergeSingleScalarFeatureTensorsGradient", MergeFeaturesGradient<false, true>},
    {"MergeSingleListFeatureTensorsGradient", MergeFeaturesGradient<false, false>},
    {"MergeSingleMapFeatureTensorsGradient", MergeFeaturesGradient<false, false>},
    {"MergeMultiScalarFeatureTensorsGradient", MergeFeaturesGradient<true, true>},
    {"MergeMultiListFeatureTensorsGradient", MergeFeaturesGradient<true, false>},
    {"MergeMultiMapFeatureTensorsGradient", MergeFeaturesGradient<true, false>},
};

}  // namespace
}  // namespace kernels

KernelFamily FeatureKernels() { return kernels::kRows; }

}  // namespace weft
