// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Blob: a named place in a workspace that holds one object of any type: a Tensor, a std::string, or something
// a kernel owns (a counter, a stack of workspaces). Objects know their type by the address of a tag, so that
// nothing needs exceptions; types other than the two above say how they are called with `kBlobType`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/run/tensor.h"

namespace weft {

namespace internal {
struct BlobType {
  std::string_view name;
};
template <typename T>
inline constexpr BlobType kBlobTypeOf{T::kBlobType};
template <>
inline constexpr BlobType kBlobTypeOf<Tensor>{"Tensor"};
template <>
inline constexpr BlobType kBlobTypeOf<std::string>{"std::string"};
}  // namespace internal

class Blob {
 public:
  Blob() = default;
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;

  /// The object, or null when the blob holds nothing or something else.
  template <typename T>
  const T* Get() const {
    return type_ == &internal::kBlobTypeOf<T> ? static_cast<const T*>(object_.get()) : nullptr;
  }
  template <typename T>
  T* GetMutable() {
    return type_ == &internal::kBlobTypeOf<T> ? static_cast<T*>(object_.get()) : nullptr;
  }
  /// The object, made anew when the blob holds nothing or something else.
  template <typename T>
  T& Ensure() {
    if (type_ != &internal::kBlobTypeOf<T>) Set(T());
    return *static_cast<T*>(object_.get());
  }
  template <typename T>
  void Set(T object) {
    object_ = std::make_shared<T>(std::move(object));
    type_ = &internal::kBlobTypeOf<T>;
  }
  /// Lets go of the object.
  void Reset() {
    object_ = nullptr;
    type_ = nullptr;
  }
  bool empty() const { return type_ == nullptr; }
  /// "Tensor", "std::string", ..., "nullptr (uninitialized)" as Caffe2 says.
  std::string_view type_name() const { return type_ ? type_->name : "nullptr (uninitialized)"; }
  /// From now on both hold the same object (fetching a counter from another workspace).
  void ShareWith(const Blob& other) {
    object_ = other.object_;
    type_ = other.type_;
  }

 private:
  std::shared_ptr<void> object_;
  const internal::BlobType* type_ = nullptr;
};

}  // namespace weft
