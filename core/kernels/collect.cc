// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What grows from run to run: appended rows, running sums, the last rows seen, samples of all rows seen, maps
// and vectors of tensors.
#include <algorithm>
#include <map>
#include <set>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

template <typename K, typename V>
struct Map;
#define WEFT_MAP(K, V, name)                            \
  template <>                                           \
  struct Map<K, V> {                                    \
    static constexpr std::string_view kBlobType = name; \
    std::map<K, V> values;                              \
  }
WEFT_MAP(int64_t, int64_t, "std::unordered_map<int64_t, int64_t>");
WEFT_MAP(int64_t, int32_t, "std::unordered_map<int64_t, int32_t>");
WEFT_MAP(int32_t, int64_t, "std::unordered_map<int32_t, int64_t>");
WEFT_MAP(int32_t, int32_t, "std::unordered_map<int32_t, int32_t>");
#undef WEFT_MAP

struct TensorVector {
  static constexpr std::string_view kBlobType = "std::unique_ptr<std::vector<caffe2::Tensor>>";
  std::vector<Tensor> tensors;
};

// Output `output`, a tensor already, with more rows: those that it has stay, the others are zero.
Result<void> Grow(KernelContext& c, size_t output, Dims dims) {
  Tensor& t = c.Out(output);
  const Tensor before = t;
  const int64_t size = before.numel();
  WEFT_TRY_VOID(c.Allocate(output, before.type(), dims));
  if (t.raw() != before.raw()) {  // moved: with room for those that follow, so that appending is linear
    Dims roomy = dims;
    roomy[0] += roomy[0] * 2 / 5;
    if (NumElements(roomy) <= c.run().element_limit) WEFT_TRY_VOID(c.Allocate(output, before.type(), roomy));
    WEFT_TRY_VOID(c.Allocate(output, before.type(), dims));
    CopyElements(before, 0, t, 0, size);
  }
  ZeroElements(t, size, t.numel() - size);
  return {};
}

bool SameRows(const Tensor& a, const Tensor& b) {
  return a.ndim() == b.ndim() && a.ndim() >= 1 && a.type() == b.type() &&
         std::equal(a.dims().begin() + 1, a.dims().end(), b.dims().begin() + 1);
}

// Rows of input `from` after those of input `to`, which is the output.
Result<void> AppendRows(KernelContext& c, size_t to, size_t from, size_t output) {
  const Tensor rows = c.In(from);
  WEFT_ENSURE(c, rows.ndim() >= 1, "rows need at least one dimension");
  const Tensor& table = c.In(to);
  if (table.ndim() >= 1 && table.dim(0) == 0) {
    c.Out(output) = rows.Clone();
    return {};
  }
  WEFT_ENSURE(c, c.IsInPlace(to, output), "First argument must be in-place.");
  WEFT_ENSURE(c, SameRows(table, rows), "rows ", DataTypeName(rows.type()), " ", DimsToString(rows.dims()),
              " do not fit ", DataTypeName(table.type()), " ", DimsToString(table.dims()));
  const int64_t size = table.numel();
  const Tensor copy = c.Out(output).SharesBuffer(rows) ? rows.Clone() : rows;
  Dims dims(table.dims());
  dims[0] += copy.dim(0);
  WEFT_TRY_VOID(Grow(c, output, dims));
  CopyElements(copy, 0, c.Out(output), size, copy.numel());
  return {};
}

Result<void> Append(KernelContext& c) { return AppendRows(c, 0, 1, 0); }

// Inputs mutex, tables, rows of each.
Result<void> AtomicAppend(KernelContext& c) {
  const size_t n = c.num_outputs();
  WEFT_ENSURE(c, c.num_inputs() == 2 * n + 1, "expected a mutex, ", n, " tables and ", n, " tensors of rows");
  for (size_t i = 1; i <= 2 * n; ++i)
    WEFT_ENSURE(c, c.InBlob(i).Get<Tensor>(), c.InName(i), " holds ", c.InBlob(i).type_name());
  for (size_t i = 0; i < n; ++i)  // all or none
    WEFT_ENSURE(c, c.In(1 + i).empty() || SameRows(c.In(1 + i), c.In(1 + n + i)), "rows of ",
                c.InName(1 + n + i), " do not fit ", c.InName(1 + i));
  for (size_t i = 0; i < n; ++i) WEFT_TRY_VOID(AppendRows(c, 1 + i, 1 + n + i, i));
  return {};
}

// Y = gamma Y + X; Y is 0 in the beginning.
Result<void> Accumulate(KernelContext& c) {
  const Tensor& in = c.In(0);
  const float gamma = c.ArgF("gamma", 1);
  const bool begun = c.Out(0).type() == DataType::kFloat && SameDims(c.Out(0), in);
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  const float* x = in.data<float>();
  for (int64_t i = 0; i < in.numel(); ++i)
    y[i] = begun ? static_cast<float>(double{gamma} * y[i] + x[i]) : x[i];
  return {};
}

// Input `input` as the one number of type T that an output counts on; it is the output.
template <typename T>
Result<T*> Number(KernelContext& c, size_t input, size_t output) {
  WEFT_ENSURE(
      c, c.IsInPlace(input, output) && c.Out(output).type() == DataTypeOf<T> && c.Out(output).numel() == 1,
      c.OutName(output), " must be one ", DataTypeName(DataTypeOf<T>), ", in place");
  return c.Out(output).template mutable_data<T>();
}

// The buffer of a collector in place in output 0: rows like `data`. Errors: other rows are there.
Result<bool> HasRows(KernelContext& c, const Tensor& data) {
  WEFT_ENSURE(c, c.IsInPlace(0, 0), "the first output must be the first input");
  WEFT_ENSURE(c, data.ndim() >= 1, "data needs at least one dimension");
  const Tensor& buffer = c.Out(0);
  if (buffer.empty()) return false;
  WEFT_ENSURE(c, SameRows(buffer, data), "data ", DataTypeName(data.type()), " ", DimsToString(data.dims()),
              " does not fit what was collected, ", DataTypeName(buffer.type()), " ",
              DimsToString(buffer.dims()));
  return true;
}

// The places that are counted on must not move as the rows grow.
Result<void> CheckApart(KernelContext& c) {
  for (size_t i = 0; i < c.num_outputs(); ++i)
    for (size_t k = 0; k < i; ++k) {
      WEFT_ENSURE(c, &c.OutBlob(i) != &c.OutBlob(k), "output ", c.OutName(i), " is there twice");
      const Tensor *a = c.OutBlob(i).Get<Tensor>(), *b = c.OutBlob(k).Get<Tensor>();
      WEFT_ENSURE(c, !a || !b || !a->SharesBuffer(*b), c.OutName(i), " and ", c.OutName(k),
                  " share their memory");
    }
  return {};
}

Result<int64_t> ToCollect(KernelContext& c) {
  WEFT_TRY_VOID(CheckApart(c));
  const int64_t most = c.ArgI("num_to_collect", -1);
  WEFT_ENSURE(c, most > 0 && most <= INT32_MAX, "num_to_collect must be positive, found ", most);
  return most;
}

// Inputs buffer, next row, data, perhaps mutex, perhaps count.
Result<void> LastNWindowCollector(KernelContext& c) {
  WEFT_TRY(const int64_t most, ToCollect(c));
  WEFT_ENSURE(c, c.num_inputs() >= 3, "expected a buffer, its next row and data");
  const Tensor data = c.Out(0).SharesBuffer(c.In(2)) ? c.In(2).Clone() : c.In(2);
  WEFT_TRY(const bool begun, HasRows(c, data));
  WEFT_TRY(int32_t * next, Number<int32_t>(c, 1, 1));
  WEFT_ENSURE(c, c.Out(1).ndim() == 0, "the next row must be a number without dimensions");
  if (c.has_output(2)) {
    WEFT_ENSURE(c, c.num_inputs() == 5, "the count must be an input too");
    WEFT_TRY(int64_t * seen, Number<int64_t>(c, 4, 2));
    if (!begun) *seen = 0;
    WEFT_ENSURE(c, *seen >= 0 && *seen <= INT64_MAX - data.dim(0), "the count is ", *seen);
    *seen += data.dim(0);
  }
  const int64_t n = data.dim(0), width = data.SizeFrom(1);
  if (!begun) {
    Dims none(data.dims());
    none[0] = 0;
    WEFT_TRY_VOID(c.Allocate(0, data.type(), none));
  }
  if (n == 0) return {};
  if (!begun) *next = 0;
  const int64_t copied = std::min(n, most), before = c.Out(0).dim(0);
  Dims dims(data.dims());
  dims[0] = std::max(before, std::min(most, before + copied));
  WEFT_TRY_VOID(c.CheckRoom({most, width}));
  WEFT_TRY_VOID(Grow(c, 0, dims));
  WEFT_ENSURE(c, *next >= 0 && *next < std::min(dims[0], most), "the next row is ", *next, " of ", dims[0]);
  if (n > most) *next = 0;
  const int64_t start = *next, skipped = n - copied, straight = std::min(copied, most - start);
  CopyElements(data, skipped * width, c.Out(0), start * width, straight * width);
  CopyElements(data, (skipped + straight) * width, c.Out(0), 0, (copied - straight) * width);
  *next = static_cast<int32_t>((start + copied) % most);
  return {};
}

// Inputs reservoir, seen, data, mutex, perhaps objects, a map from them to rows, the object of each row.
Result<void> ReservoirSampling(KernelContext& c) {
  WEFT_TRY(const int64_t most, ToCollect(c));
  WEFT_ENSURE(c, c.num_inputs() == 4 || (c.num_inputs() == 7 && c.num_outputs() == 4),
              "expected 4 inputs, or 7 and 4 outputs");
  for (size_t i : {0, 1, 2})
    WEFT_ENSURE(c, c.InBlob(i).Get<Tensor>(), c.InName(i), " holds ", c.InBlob(i).type_name());
  const Tensor data = c.Out(0).SharesBuffer(c.In(2)) ? c.In(2).Clone() : c.In(2);
  WEFT_ENSURE(c, data.has_type(), "data was never written");
  WEFT_TRY(const bool begun, HasRows(c, data));
  WEFT_TRY(int64_t * seen, Number<int64_t>(c, 1, 1));
  const bool named = c.num_inputs() == 7;
  Map<int64_t, int32_t>* rows = named ? c.MutableInBlob(5).GetMutable<Map<int64_t, int32_t>>() : nullptr;
  const Tensor* objects = named ? c.InBlob(4).Get<Tensor>() : nullptr;
  if (named) {
    WEFT_ENSURE(c, rows && c.IsInPlace(5, 2), c.InName(5), " must be a map from int64 to int32, in place");
    WEFT_ENSURE(c, c.InBlob(6).Get<Tensor>() && c.IsInPlace(6, 3), c.InName(6), " must be in place");
    WEFT_ENSURE(c,
                objects && objects->type() == DataType::kInt64 && objects->ndim() == 1 &&
                    objects->numel() == data.dim(0),
                "expected an int64 object for each of ", data.dim(0), " rows");
  }
  const int64_t width = data.SizeFrom(1);
  Dims dims(data.dims());
  if (!begun) {
    *seen = 0;
    if (rows) rows->values.clear();
    dims[0] = 0;
    WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
    if (named) WEFT_TRY_VOID(c.Allocate(3, DataType::kInt64, Dims{0}));
  }
  std::set<int64_t> wanted;
  if (named)
    for (int64_t object : objects->values<int64_t>())
      if (!rows->values.contains(object)) wanted.insert(object);
  const int64_t fresh = named ? static_cast<int64_t>(wanted.size()) : data.dim(0);
  dims[0] = std::max(c.Out(0).dim(0), std::min(most, c.Out(0).dim(0) + fresh));
  WEFT_TRY_VOID(Grow(c, 0, dims));
  if (named) {
    WEFT_ENSURE(c, c.Out(3).type() == DataType::kInt64 && c.Out(3).ndim() == 1 && c.Out(3).numel() <= dims[0],
                "the objects of the rows are not int64 [", dims[0], "]");
    WEFT_TRY_VOID(Grow(c, 3, Dims{dims[0]}));
  }
  for (int64_t i = 0; i < data.dim(0); ++i) {
    if (named && wanted.erase(objects->data<int64_t>()[i]) == 0) continue;
    WEFT_ENSURE(c, *seen >= 0 && *seen < INT64_MAX, "the count of rows seen is ", *seen);
    const int64_t row = *seen < most ? *seen : c.random().UniformInt(0, *seen);
    ++*seen;
    if (row >= most) continue;
    WEFT_ENSURE(c, row < dims[0], "the reservoir has ", dims[0], " rows, fewer than were seen");
    CopyElements(data, i * width, c.Out(0), row * width, width);
    if (!named) continue;
    int64_t& object = c.Out(3).mutable_data<int64_t>()[row];
    if (const auto at = rows->values.find(object); at != rows->values.end() && at->second == row)
      rows->values.erase(at);
    object = objects->data<int64_t>()[i];
    rows->values[object] = static_cast<int32_t>(row);
  }
  return {};
}

template <typename F>
Result<void> SwitchMap(const KernelContext& c, DataType key, DataType value, F&& f) {
  return SwitchIndex(c, key, [&](auto k) {
    return SwitchIndex(c, value, [&](auto v) {
      return f(Tag<Map<typename decltype(k)::type, typename decltype(v)::type>>());
    });
  });
}
Result<void> CreateMap(KernelContext& c) {
  constexpr int64_t kDefault = 2;
  const auto type = [&](std::string_view arg) {
    return DataTypeFromNumber(c.ArgI(arg, kDefault)).value_or(DataType::kUndefined);
  };
  return SwitchMap(c, type("key_dtype"), type("value_dtype"), [&](auto tag) -> Result<void> {
    c.OutBlob(0).Set(typename decltype(tag)::type());
    return {};
  });
}
Result<void> KeyValueToMap(KernelContext& c) {
  const Tensor& keys = c.In(0);
  const Tensor& values = c.In(1);
  WEFT_ENSURE(c, keys.numel() == values.numel(), "there are ", keys.numel(), " keys and ", values.numel(),
              " values");
  return SwitchMap(c, keys.type(), values.type(), [&](auto tag) -> Result<void> {
    typename decltype(tag)::type map;
    using Values = decltype(map.values);
    for (int64_t i = 0; i < keys.numel(); ++i)  // of equal keys the first stands
      map.values.emplace(keys.data<typename Values::key_type>()[i],
                         values.data<typename Values::mapped_type>()[i]);
    c.OutBlob(0).Set(std::move(map));
    return {};
  });
}
// Sorted by key.
Result<void> MapToKeyValue(KernelContext& c) {
  Result<void> result = c.Fail(c.InName(0), " holds ", c.InBlob(0).type_name(), ", expected a map");
  for (DataType key : {DataType::kInt32, DataType::kInt64})
    for (DataType value : {DataType::kInt32, DataType::kInt64}) {
      auto ran = SwitchMap(c, key, value, [&](auto tag) -> Result<void> {
        using M = typename decltype(tag)::type;
        const M* map = c.InBlob(0).Get<M>();
        if (!map) return {};
        using Values = decltype(map->values);
        const int64_t n = static_cast<int64_t>(map->values.size());
        const M held = *map;  // the output may take its place
        WEFT_TRY(auto* keys, (c.Out<typename Values::key_type>(0, {n})));
        for (const auto& [k, v] : held.values) *keys++ = k;
        WEFT_TRY(auto* values, (c.Out<typename Values::mapped_type>(1, {n})));
        for (const auto& [k, v] : held.values) *values++ = v;
        result = Result<void>();
        return {};
      });
      if (!ran) return ran;
      if (result) return result;
    }
  return result;
}

Result<TensorVector*> FindVector(KernelContext& c, size_t input) {
  TensorVector* vector = c.MutableInBlob(input).GetMutable<TensorVector>();
  if (!vector)
    return c.Fail(c.InName(input), " holds ", c.InBlob(input).type_name(), ", expected ",
                  TensorVector::kBlobType);
  return vector;
}
Result<void> CreateTensorVector(KernelContext& c) {
  c.OutBlob(0).Set(TensorVector());
  return {};
}
Result<void> TensorVectorSize(KernelContext& c) {
  WEFT_TRY(TensorVector * vector, FindVector(c, 0));
  const int32_t size = static_cast<int32_t>(vector->tensors.size());
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {}));
  *out = size;
  return {};
}
Result<void> ConcatTensorVector(KernelContext& c) {
  WEFT_TRY(TensorVector * found, FindVector(c, 0));
  const std::vector<Tensor> tensors = found->tensors;
  WEFT_ENSURE(c, !tensors.empty(), "the vector is empty");
  WEFT_ENSURE(c, tensors[0].ndim() >= 1, "its tensors need at least one dimension");
  Dims dims(tensors[0].dims());
  dims[0] = 0;
  for (const Tensor& t : tensors) {
    WEFT_ENSURE(c, SameRows(t, tensors[0]), "a tensor of the vector is ", DimsToString(t.dims()),
                ", the first is ", DimsToString(tensors[0].dims()));
    dims[0] += t.dim(0);
  }
  WEFT_TRY_VOID(c.Allocate(0, tensors[0].type(), dims));
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    CopyElements(t, 0, c.Out(0), at, t.numel());
    at += t.numel();
  }
  return {};
}

struct Visited {
  static constexpr std::string_view kBlobType = "CollectTensor";
  int64_t count = 0;
};
// Inputs vectors, then a tensor for each; outputs the vectors.
Result<void> CollectTensor(KernelContext& c) {
  WEFT_TRY(const int64_t most, ToCollect(c));
  const size_t n = c.num_outputs();
  WEFT_ENSURE(c, c.num_inputs() == 2 * n, "expected ", n, " vectors and as many tensors");
  int64_t& count = c.State<Visited>().count;
  const int64_t place = count < most ? count : c.random().UniformInt(0, count);
  for (size_t i = 0; i < n; ++i) {
    WEFT_ENSURE(c, c.IsInPlace(i, i), "vectors must be in place");
    WEFT_TRY(TensorVector * vector, FindVector(c, i));
    const Tensor* tensor = c.InBlob(n + i).Get<Tensor>();
    WEFT_ENSURE(c, tensor && tensor->has_type(), c.InName(n + i), " is no tensor that was written");
    WEFT_ENSURE(c, count < most || static_cast<int64_t>(vector->tensors.size()) == most, "the vector has ",
                vector->tensors.size(), " tensors, expected ", most);
    if (place >= most) continue;
    if (place >= static_cast<int64_t>(vector->tensors.size()))
      vector->tensors.push_back(tensor->Clone());
    else
      vector->tensors[place] = tensor->Clone();
  }
  ++count;
  return {};
}

constexpr KernelRow kRows[] = {
    {"Append", Append, "?*", kInPlace},
    {"AtomicAppend", AtomicAppend, "B", kInPlace},
    {"Accumulate", Accumulate, "f", kInPlace},
    {"LastNWindowCollector", LastNWindowCollector, "??*B?", kInPlace},
    {"ReservoirSampling", ReservoirSampling, "B", kInPlace},
    {"CreateMap", CreateMap},
    {"KeyValueToMap", KeyValueToMap},
    {"MapToKeyValue", MapToKeyValue, "B"},
    {"CreateTensorVector", CreateTensorVector},
    {"TensorVectorSize", TensorVectorSize, "B"},
    {"ConcatTensorVector", ConcatTensorVector, "B"},
    {"CollectTensor", CollectTensor, "B", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily CollectKernels() { return kernels::kRows; }

}  // namespace weft
