// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// SmallVec<T, N>: a vector of trivially copyable T that keeps up to N of them inside itself. Operators have a
// handful of inputs; a heap block for each list of a million operators would cost more than the rest of the
// graph.
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

  T* data() { return capacity_ > N ? heap_ : reinterpret_cast<T*>(inline_); }
  const T* data() const { return capacity_ > N ? heap_ : reinterpret_cast<const T*>(inline_); }
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
    if (size_ == capacity_) Reserve(capacity_ * 2);
    data()[size_++] = item;
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
  void Reserve(uint32_t capacity) {
    T* heap = static_cast<T*>(::operator new(capacity * sizeof(T)));
    std::memcpy(static_cast<void*>(heap), data(), size_ * sizeof(T));
    Release();
    heap_ = heap;
    capacity_ = capacity;
  }
  void Release() {
    if (capacity_ > N) ::operator delete(heap_);
    capacity_ = N;
  }
  void CopyFrom(const SmallVec& other) {
    if (other.size_ > capacity_) Reserve(other.size_);
    std::memcpy(static_cast<void*>(data()), other.data(), other.size_ * sizeof(T));
    size_ = other.size_;
  }
  void MoveFrom(SmallVec& other) {
    size_ = other.size_;
    if (other.capacity_ > N) {
      heap_ = other.heap_;
      capacity_ = other.capacity_;
      other.capacity_ = N;
    } else {
      // All of it when that is a few words: quicker than counting.
      std::memcpy(inline_, other.inline_, sizeof(inline_) <= 32 ? sizeof(inline_) : size_ * sizeof(T));
    }
    other.size_ = 0;
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  union {
    T* heap_;
    alignas(T) unsigned char inline_[N * sizeof(T)];
  };
};

}  // namespace weft
