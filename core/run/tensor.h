// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor: an element type, dimensions and a contiguous range of a shared buffer. Copying a Tensor shares the
// buffer, as Caffe2's does: a write through one is seen through the other (Alias and the recurrent network's
// time steps live on that); Clone copies the elements. A fresh Tensor has no type and dimensions {0}.
// Not thread-safe; distinct tensors that share a buffer may be read from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/small_vec.h"
#include "core/ir/data_type.h"

namespace weft {

using Dims = SmallVec<int64_t, 6>;

/// The product of `dims`, or -1 when one is negative or the product does not fit.
int64_t NumElements(std::span<const int64_t> dims);
/// NumElements with each 0 taken as 1: bounds the products of some of the dimensions of an empty tensor.
int64_t NumElementsUnlessEmpty(std::span<const int64_t> dims);
/// "[2, 3]".
std::string DimsToString(std::span<const int64_t> dims);

class Tensor {
 public:
  Tensor() = default;
  /// A tensor with a copy of `values`. REQUIRES: as many values as `dims` says.
  template <typename T>
  static Tensor Of(std::span<const int64_t> dims, std::span<const T> values) {
    Tensor out;
    WEFT_CHECK(out.Allocate(DataTypeOf<T>, dims));
    WEFT_CHECK(static_cast<int64_t>(values.size()) == out.numel());
    std::copy(values.begin(), values.end(), out.mutable_data<T>());
    return out;
  }
  template <typename T>
  static Tensor Scalar(T value) {
    return Of<T>({}, std::span<const T>(&value, 1));
  }

  DataType type() const { return type_; }
  bool has_type() const { return type_ != DataType::kUndefined; }
  std::span<const int64_t> dims() const { return dims_; }
  size_t ndim() const { return dims_.size(); }
  int64_t dim(size_t i) const { return dims_[i]; }
  int64_t numel() const { return numel_; }
  bool empty() const { return numel_ == 0; }
  /// The product of the dimensions from `axis` on, and of those before it.
  int64_t SizeFrom(size_t axis) const;
  int64_t SizeTo(size_t axis) const;
  size_t nbytes() const { return static_cast<size_t>(numel_) * DataTypeSize(type_); }

  /// The elements. REQUIRES: T is the tensor's type.
  template <typename T>
  const T* data() const {
    WEFT_CHECK(type_ == DataTypeOf<T>);
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data() {
    WEFT_CHECK(type_ == DataTypeOf<T>);
    return static_cast<T*>(data_);
  }
  template <typename T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(numel_)};
  }
  /// The first byte; strings are std::string objects.
  const void* raw() const { return data_; }
  void* mutable_raw() { return data_; }

  /// Makes this a tensor of `type` and `dims`. Keeps its place in its buffer, and so its elements, when the
  /// type stays and there is room; otherwise takes a new buffer of zeros. False when a dimension is negative
  /// or memory does not suffice; the tensor is then as before.
  [[nodiscard]] bool Allocate(DataType type, std::span<const int64_t> dims);
  /// Other dimensions over the same elements. REQUIRES: same number of elements.
  void Reshape(std::span<const int64_t> dims);
  /// Dimensions without elements: the type is forgotten when the number of elements grows. Reading them is
  /// all that works until Allocate.
  void SetDims(std::span<const int64_t> dims);
  /// `count` whole rows (slices along dimension 0, or elements `dims` apart) as a tensor over the same
  /// buffer. REQUIRES: `first` + the elements of `dims` lie inside.
  Tensor View(int64_t first, std::span<const int64_t> dims) const;
  /// A copy with a buffer of its own.
  Tensor Clone() const;
  /// True when both write to the same buffer.
  bool SharesBuffer(const Tensor& other) const { return buffer_ && buffer_ == other.buffer_; }
  /// True when a write to what one can hold may be seen in the other.
  bool Overlaps(const Tensor& other) const;

 private:
  DataType type_ = DataType::kUndefined;
  Dims dims_ = {0};
  int64_t numel_ = 0;
  int64_t capacity_ = 0;  // elements of type_ from data_ on
  void* data_ = nullptr;
  std::shared_ptr<void> buffer_;
};

}  // namespace weft
