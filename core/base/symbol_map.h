// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// SymbolMap<T>: per-symbol data for one pass over one net. A plain vector over symbol ids when the net is
// large beside its table, a small open-addressing table when it is not (a nested net of three ops in a table
// of a million names), so that walking all nested nets stays linear. No iteration: order never leaks into an
// output.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/symbol.h"

namespace weft {

template <typename T>
class SymbolMap {
  static_assert(!std::is_same_v<T, bool>, "vector<bool> has no references: use uint8_t");

 public:
  /// `expected`: about how many different symbols will be used.
  SymbolMap(const SymbolTable& table, size_t expected, T missing = T())
      : missing_(missing), dense_(table.size() <= 16 * expected + 64) {
    if (dense_) {
      values_.assign(table.size(), missing_);
    } else {
      Rehash(64);
    }
  }

  /// The value of `symbol`, or the missing value.
  const T& Get(Symbol symbol) const {
    if (dense_) return symbol.id < values_.size() ? values_[symbol.id] : missing_;
    const uint32_t i = Slot(symbol);
    return keys_[i] == symbol.id ? values_[i] : missing_;
  }
  /// The value of `symbol`, made (as the missing value) on first use. Invalidates earlier references.
  T& operator[](Symbol symbol) {
    if (dense_) {
      if (symbol.id >= values_.size()) values_.resize(symbol.id + symbol.id / 2 + 1, missing_);
      return values_[symbol.id];
    }
    uint32_t i = Slot(symbol);
    if (keys_[i] != symbol.id) {
      if ((used_ + 1) * 2 > keys_.size()) {
        Rehash(keys_.size() * 2);
        i = Slot(symbol);
      }
      keys_[i] = symbol.id;
      ++used_;
    }
    return values_[i];
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;

  uint32_t Slot(Symbol symbol) const {
    const uint32_t mask = static_cast<uint32_t>(keys_.size()) - 1;
    uint32_t i = (symbol.id * 0x9e3779b1u >> 7) & mask;
    while (keys_[i] != kFree && keys_[i] != symbol.id) i = (i + 1) & mask;
    return i;
  }
  void Rehash(size_t slots) {
    std::vector<uint32_t> keys(slots, kFree);
    std::vector<T> values(slots, missing_);
    keys.swap(keys_);
    values.swap(values_);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == kFree) continue;
      const uint32_t slot = Slot({keys[i]});
      keys_[slot] = keys[i];
      values_[slot] = std::move(values[i]);
    }
  }

  T missing_;
  bool dense_;
  std::vector<T> values_;
  std::vector<uint32_t> keys_;
  size_t used_ = 0;
};

}  // namespace weft
