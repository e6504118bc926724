// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/base/str.h"

namespace weft {

namespace {

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

int64_t NumElements(std::span<const int64_t> dims) {
  int64_t product = 1;
  bool zero = false;
  for (int64_t d : dims) {
    if (d < 0) return -1;
    zero |= d == 0;
  }
  if (zero) return 0;
  for (int64_t d : dims) {
    if (product > std::numeric_limits<int64_t>::max() / d) return -1;
    product *= d;
  }
  return product;
}

int64_t NumElementsUnlessEmpty(std::span<const int64_t> dims) {
  Dims wide(dims.begin(), dims.end());
  for (int64_t& d : wide)
    if (d == 0) d = 1;
  return NumElements(wide);
}

std::string DimsToString(std::span<const int64_t> dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) StrAppend(out, i ? ", " : "", dims[i]);
  return out + "]";
}

int64_t Tensor::SizeFrom(size_t axis) const {
  int64_t product = 1;
  for (size_t i = axis; i < dims_.size(); ++i) product *= dims_[i];
  return product;
}

int64_t Tensor::SizeTo(size_t axis) const {
  int64_t product = 1;
  for (size_t i = 0; i < axis && i < dims_.size(); ++i) product *= dims_[i];
  return product;
}

bool Tensor::Allocate(DataType type, std::span<const int64_t> dims) {
  const int64_t count = NumElements(dims);
  if (count < 0) return false;
  if (type != type_ || count > capacity_ || !buffer_) {
    const int64_t room = std::max<int64_t>(count, 1);
    std::shared_ptr<void> buffer;
    if (type == DataType::kString) {
      if (room > (int64_t{1} << 40)) return false;
      auto strings = std::make_shared<std::vector<std::string>>(static_cast<size_t>(room));
      data_ = strings->data();
      buffer = std::move(strings);
    } else {
      const size_t size = DataTypeSize(type);
      if (static_cast<uint64_t>(room) > std::numeric_limits<size_t>::max() / 2 / std::max<size_t>(size, 1))
        return false;
      void* memory = std::calloc(static_cast<size_t>(room), std::max<size_t>(size, 1));
      if (!memory) return false;
      buffer = std::shared_ptr<void>(memory, FreeDeleter());
      data_ = memory;
    }
    buffer_ = std::move(buffer);
    type_ = type;
    capacity_ = room;
  }
  numel_ = count;
  dims_ = Dims(dims.begin(), dims.end());
  return true;
}

void Tensor::Reshape(std::span<const int64_t> dims) {
  WEFT_CHECK(NumElements(dims) == numel_);
  dims_ = Dims(dims.begin(), dims.end());
}

void Tensor::SetDims(std::span<const int64_t> dims) {
  const int64_t count = NumElements(dims);
  WEFT_CHECK(count >= 0);
  if (count > capacity_) {
    type_ = DataType::kUndefined;
    buffer_ = nullptr;
    data_ = nullptr;
    capacity_ = 0;
  }
  numel_ = count;
  dims_ = Dims(dims.begin(), dims.end());
}

Tensor Tensor::View(int64_t first, std::span<const int64_t> dims) const {
  const int64_t count = NumElements(dims);
  WEFT_CHECK(first >= 0 && count >= 0 && first + count <= numel_);
  Tensor out;
  out.type_ = type_;
  out.dims_ = Dims(dims.begin(), dims.end());
  out.numel_ = out.capacity_ = count;
  out.buffer_ = buffer_;
  out.data_ = type_ == DataType::kString ? static_cast<void*>(static_cast<std::string*>(data_) + first)
                                         : static_cast<char*>(data_) + first * DataTypeSize(type_);
  return out;
}

Tensor Tensor::Clone() const {
  Tensor out;
  if (!has_type()) {
    out.dims_ = dims_;
    out.numel_ = numel_;
    return out;
  }
  WEFT_CHECK(out.Allocate(type_, dims_));
  if (type_ == DataType::kString) {
    const auto* from = static_cast<const std::string*>(data_);
    std::copy(from, from + numel_, static_cast<std::string*>(out.data_));
  } else if (numel_ > 0) {
    std::memcpy(out.data_, data_, nbytes());
  }
  return out;
}

bool Tensor::Overlaps(const Tensor& other) const {
  if (!SharesBuffer(other)) return false;
  const auto bytes = [](const Tensor& t) {
    const size_t size = t.type_ == DataType::kString ? sizeof(std::string) : DataTypeSize(t.type_);
    return static_cast<size_t>(t.capacity_) * size;
  };
  const char* a = static_cast<const char*>(data_);
  const char* b = static_cast<const char*>(other.data_);
  return a < b + bytes(other) && b < a + bytes(*this);
}

}  // namespace weft
