// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Moving runs of elements between tensors of one type, whatever the type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/run/tensor.h"

namespace weft::kernels {

/// Copies `count` elements. REQUIRES: both tensors have the same type and the ranges lie inside; they may
/// overlap when both are in one buffer only if they are the same range.
inline void CopyElements(const Tensor& from, int64_t from_first, Tensor& to, int64_t to_first,
                         int64_t count) {
  if (count == 0) return;
  if (from.type() == DataType::kString) {
    const std::string* source = from.data<std::string>() + from_first;
    std::copy(source, source + count, to.mutable_data<std::string>() + to_first);
    return;
  }
  const size_t size = DataTypeSize(from.type());
  std::memmove(static_cast<char*>(to.mutable_raw()) + to_first * size,
               static_cast<const char*>(from.raw()) + from_first * size, count * size);
}

/// Sets `count` elements to zero, or strings to "".
inline void ZeroElements(Tensor& to, int64_t first, int64_t count) {
  if (count == 0) return;
  if (to.type() == DataType::kString) {
    std::fill_n(to.mutable_data<std::string>() + first, count, std::string());
    return;
  }
  const size_t size = DataTypeSize(to.type());
  std::memset(static_cast<char*>(to.mutable_raw()) + first * size, 0, count * size);
}

}  // namespace weft::kernels
