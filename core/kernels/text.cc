// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Ends of strings, joined strings, and indices that number keys in the order they are met.
#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "core/base/six_digits.h"
#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// 0 stands for unknown keys.
template <typename T>
struct Index {
  static constexpr std::string_view kBlobType = "std::unique_ptr<caffe2::IndexBase>";
  int64_t limit = 0;
  bool frozen = false;
  std::map<T, int64_t> ids;
  int64_t next = 1;
};

template <typename T>
Result<void> CreateIndex(KernelContext& c) {
  Index<T> index;
  index.limit = c.ArgI("max_elements", std::numeric_limits<int32_t>::max());
  c.OutBlob(0).Set(std::move(index));
  return {};
}

// f(index) with the index of input 0, whatever its keys.
template <typename F>
Result<void> WithIndex(KernelContext& c, F f) {
  Blob& blob = c.MutableInBlob(0);
  if (auto* index = blob.GetMutable<Index<int64_t>>()) return f(*index, Tag<int64_t>());
  if (auto* index = blob.GetMutable<Index<int32_t>>()) return f(*index, Tag<int32_t>());
  if (auto* index = blob.GetMutable<Index<std::string>>()) return f(*index, Tag<std::string>());
  return c.Fail(c.InName(0), " holds ", blob.type_name(), ", expected an index");
}

template <typename T>
Result<std::span<const T>> FindKeys(KernelContext& c) {
  const Tensor& keys = c.In(1);
  if (keys.type() != DataTypeOf<T>)
    return c.Fail("keys are ", DataTypeName(keys.type()), ", those of the index ",
                  DataTypeName(DataTypeOf<T>));
  return keys.values<T>();
}

Result<void> IndexGet(KernelContext& c) {
  return WithIndex(c, [&](auto& index, auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(const std::span<const T> keys, FindKeys<T>(c));
    WEFT_TRY(int64_t * out, c.Out<int64_t>(0, c.In(1).dims()));
    for (const T& key : keys) {
      const auto found = index.ids.find(key);
      if (found != index.ids.end()) {
        *out++ = found->second;
      } else if (index.frozen) {
        *out++ = 0;
      } else {
        WEFT_ENSURE(c, index.next < index.limit, "Dict max size reached: ", index.limit);
        index.ids.emplace(key, index.next);
        *out++ = index.next++;
      }
    }
    return {};
  });
}

Result<void> IndexLoad(KernelContext& c) {
  return WithIndex(c, [&](auto& index, auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(std::span<const T> keys, FindKeys<T>(c));
    if (c.ArgB("skip_first_entry", false) && !keys.empty()) keys = keys.subspan(1);
    WEFT_ENSURE(c, static_cast<int64_t>(keys.size()) <= index.limit,
                "Cannot load index: Tensor is larger than max_elements, ", keys.size(), " > ", index.limit);
    index.ids.clear();
    index.next = 1;
    for (const T& key : keys)
      WEFT_ENSURE(c, index.ids.emplace(key, index.next++).second,
                  "Repeated elements found: cannot load into dictionary.");
    return {};
  });
}

Result<void> IndexStore(KernelContext& c) {
  return WithIndex(c, [&](auto& index, auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(T * out, c.Out<T>(0, {index.next - 1}));
    for (const auto& entry : index.ids) out[entry.second - 1] = entry.first;
    return {};
  });
}

Result<void> IndexFreeze(KernelContext& c) {
  return WithIndex(c, [&](auto& index, auto) -> Result<void> {
    index.frozen = true;
    return {};
  });
}

Result<void> IndexSize(KernelContext& c) {
  return WithIndex(c, [&](auto& index, auto) -> Result<void> {
    WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {}));
    *out = index.next;
    return {};
  });
}

template <bool kSuffix>
Result<void> StringEnd(KernelContext& c) {
  const int64_t length = c.ArgI("length", 3);
  WEFT_ENSURE(c, length >= 0, "length must not be negative, found ", length);
  const std::span<const std::string> in = c.In(0).values<std::string>();
  WEFT_TRY(std::string * out, c.Out<std::string>(0, c.In(0).dims()));
  for (const std::string& x : in) {
    const size_t n = std::min(x.size(), static_cast<size_t>(length));
    *out++ = kSuffix ? x.substr(x.size() - n) : x.substr(0, n);
  }
  return {};
}

template <bool kSuffix>
Result<void> StringHasEnd(KernelContext& c) {
  const std::string end = c.ArgS(kSuffix ? "suffix" : "prefix", "");
  WEFT_TRY(bool* out, c.Out<bool>(0, c.In(0).dims()));
  for (const std::string& x : c.In(0).values<std::string>())
    *out++ = kSuffix ? x.ends_with(end) : x.starts_with(end);
  return {};
}

// The elements of each row, or with axis 1 of each column, each followed by the delimiter.
Result<void> StringJoin(KernelContext& c) {
  const Tensor& in = c.In(0);
  const int64_t axis = c.ArgI("axis", 0);
  WEFT_ENSURE(c, axis == 0 || axis == 1, "axis must be 0 or 1, found ", axis);
  WEFT_ENSURE(c, in.ndim() == 2 || (in.ndim() == 1 && axis == 0), "expected [N, M], found ",
              DimsToString(in.dims()));
  const std::string delimiter = c.ArgS("delimiter", ",");
  const int64_t rows = in.dim(0), columns = in.ndim() == 2 ? in.dim(1) : 1;
  const int64_t count = axis == 0 ? rows : columns, length = axis == 0 ? columns : rows;
  return Switch<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, std::string, bool>(
      c, in.type(), [&](auto tag) -> Result<void> {
        using T = typename decltype(tag)::type;
        WEFT_TRY(std::string * out, c.Out<std::string>(0, {count}));
        for (int64_t i = 0; i < count; ++i, ++out) {
          out->clear();
          for (int64_t k = 0; k < length; ++k) {
            const T& x = in.data<T>()[axis == 0 ? i * columns + k : k * columns + i];
            if constexpr (std::is_floating_point_v<T>)
              StrAppend(*out, FormatSixDigits(static_cast<double>(x)), delimiter);
            else if constexpr (sizeof(T) == 1)
              StrAppend(*out, static_cast<char>(std::is_same_v<T, bool> ? '0' + x : x), delimiter);
            else
              StrAppend(*out, x, delimiter);
          }
        }
        return {};
      });
}

constexpr KernelRow kRows[] = {
    {"LongIndexCreate", CreateIndex<int64_t>},
    {"IntIndexCreate", CreateIndex<int32_t>},
    {"StringIndexCreate", CreateIndex<std::string>},
    {"IndexGet", IndexGet, "B*"},
    {"IndexLoad", IndexLoad, "B*"},
    {"IndexStore", IndexStore, "B"},
    {"IndexFreeze", IndexFreeze, "B"},
    {"IndexSize", IndexSize, "B"},
    {"StringJoin", StringJoin},
    {"StringPrefix", StringEnd<false>, "s"},
    {"StringSuffix", StringEnd<true>, "s"},
    {"StringStartsWith", StringHasEnd<false>, "s"},
    {"StringEndsWith", StringHasEnd<true>, "s"},
};

}  // namespace
}  // namespace kernels

KernelFamily TextKernels() { return kernels::kRows; }

}  // namespace weft
