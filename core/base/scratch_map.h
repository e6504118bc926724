// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ScratchMap<T>: per-symbol data for one operator at a time. It stays as small as the widest operator so far,
// so it lives in the cache while a SymbolMap over a million names would not; Clear is O(1). No iteration.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/symbol.h"

namespace weft {

template <typename T>
class ScratchMap {
 public:
  ScratchMap() : slots_(64), mask_(slots_.size() - 1) {}

  void Clear() {
    used_ = 0;
    if (++epoch_ == 0) {  // after 2^32 operators: old marks must not come alive
      for (Slot& slot : slots_) slot.epoch = 0;
      epoch_ = 1;
    }
  }
  /// The value of `symbol`, or null. Valid until the next call of operator[].
  const T* Find(Symbol symbol) const {
    const Slot& slot = slots_[Place(symbol)];
    return slot.epoch == epoch_ ? &slot.value : nullptr;
  }
  /// The value of `symbol`, made on first use.
  T& operator[](Symbol symbol) {
    size_t place = Place(symbol);
    if (slots_[place].epoch != epoch_) {
      if (used_ * 2 > mask_) {
        Grow();
        place = Place(symbol);
      }
      slots_[place] = {epoch_, symbol.id, T()};
      ++used_;
    }
    return slots_[place].value;
  }

 private:
  struct Slot {
    uint32_t epoch = 0;
    uint32_t key = 0;
    T value{};
  };

  size_t Place(Symbol symbol) const {
    size_t i = (symbol.id * 0x9e3779b1u >> 7) & mask_;
    while (slots_[i].epoch == epoch_ && slots_[i].key != symbol.id) i = (i + 1) & mask_;
    return i;
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (Slot& slot : old)
      if (slot.epoch == epoch_) slots_[Place({slot.key})] = std::move(slot);
  }

  std::vector<Slot> slots_;
  size_t mask_;  // slots_.size() - 1: a power of two less one
  uint32_t epoch_ = 1;
  size_t used_ = 0;
};

}  // namespace weft
