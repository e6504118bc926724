// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// SmallVec<T, N>: a vector of trivially copyable T that keeps up to N of them inside itself. Operators have a
// handful of inputs; a heap block for each list of a million operators would cost more than the rest of the
// graph. Beside the items there are four bytes: a longer list's place and capacity stand where its items
// would.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace weft {

template <typename T, uint32_t N>
class SmallVec {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVec() = default;
  SmallVec(std::initializer_list<T> items) { Append(items.begin(), items.end()); }
  template <typename It>
  SmallVec(It first, It last) {
    Append(first, last);
  }
  explicit SmallVec(std::span<const T> items) { Append(items.begin(), items.end()); }
  SmallVec(const SmallVec& other) { CopyFrom(other); }
  SmallVec(SmallVec&& other) noexcept { MoveFrom(other); }
  SmallVec& operator=(const SmallVec& other) {
    if (this != &other) {
      size_ = 0;
      CopyFrom(other);
    }
    return *this;
  }
  SmallVec& operator=(SmallVec&& other) noexcept {
    if (this != &other) {
      Release();
      MoveFrom(other);
    }
    return *this;
  }
  ~SmallVec() { Release(); }

  T* data() { return on_heap_ ? heap().items : reinterpret_cast<T*>(inline_); }
  const T* data() const { return on_heap_ ? heap().items : reinterpret_cast<const T*>(inline_); }
  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }  // NOLINT: implicit on purpose

  void clear() { size_ = 0; }
  void push_back(T item) {
    if (size_ == capacity()) Reserve(size_ * 2);
    data()[size_] = item;
    ++size_;
  }
  template <typename It>
  void Append(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  void erase(T* at) {
    std::memmove(static_cast<void*>(at), at + 1, (end() - at - 1) * sizeof(T));
    --size_;
  }

  friend bool operator==(const SmallVec& a, const SmallVec& b) {
    if (a.size_ != b.size_) return false;
    for (uint32_t i = 0; i < a.size_; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  struct Heap {
    T* items;
    uint32_t capacity;
  };
  static constexpr size_t kHeapBytes = sizeof(T*) + sizeof(uint32_t);  // without a Heap's padding

  Heap heap() const {
    Heap heap;
    std::memcpy(&heap, inline_, kHeapBytes);
    return heap;
  }
  uint32_t capacity() const { return on_heap_ ? heap().capacity : N; }
  void Reserve(uint32_t capacity) {
    const Heap heap{static_cast<T*>(::operator new(capacity * sizeof(T))), capacity};
    std::memcpy(static_cast<void*>(heap.items), data(), size_ * sizeof(T));
    Release();
    std::memcpy(inline_, &heap, kHeapBytes);
    on_heap_ = 1;
  }
  void Release() {
    if (on_heap_) ::operator delete(heap().items);
    on_heap_ = 0;
  }
  // All of it when that is a few words: quicker than counting.
  void TakeInline(const SmallVec& other, size_t used) {
    std::memcpy(inline_, other.inline_, sizeof(inline_) <= 32 ? sizeof(inline_) : used);
  }
  void CopyFrom(const SmallVec& other) {
    if (!on_heap_ && !other.on_heap_) {
      TakeInline(other, other.size_ * sizeof(T));
    } else {
      if (other.size_ > capacity()) Reserve(other.size_);
      std::memcpy(static_cast<void*>(data()), other.data(), other.size_ * sizeof(T));
    }
    size_ = other.size_;
  }
  void MoveFrom(SmallVec& other) {
    TakeInline(other, other.on_heap_ ? kHeapBytes : other.size_ * sizeof(T));
    size_ = other.size_;
    on_heap_ = other.on_heap_;
    other.size_ = 0;
    other.on_heap_ = 0;
  }

  uint32_t size_ : 31 = 0;
  uint32_t on_heap_ : 1 = 0;
  alignas(T) unsigned char inline_[N * sizeof(T) > kHeapBytes ? N * sizeof(T) : kHeapBytes];
};

}  // namespace weft
