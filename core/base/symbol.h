// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A Symbol is an interned string: a dense 32-bit id into a SymbolTable. A net, its nested nets and its clones
// share one table, so equal names are equal ids and per-name data lives in plain vectors. The table only
// grows. It is not thread-safe: whoever interns owns it; readers of existing symbols need no lock as long as
// nobody interns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/hash.h"

namespace weft {

struct Symbol {
  uint32_t id = 0;

  /// False for "not set". The explicitly empty string is a set symbol (kEmptySymbol) with the same text.
  explicit operator bool() const { return id != 0; }
  friend bool operator==(Symbol a, Symbol b) { return a.id == b.id; }
  friend bool operator!=(Symbol a, Symbol b) { return a.id != b.id; }
  friend bool operator<(Symbol a, Symbol b) { return a.id < b.id; }
};

inline constexpr Symbol kNoSymbol{0};
inline constexpr Symbol kEmptySymbol{1};

class SymbolTable {
 public:
  SymbolTable();
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  /// The symbol of `text`, made on first use. Views of existing symbols stay valid.
  Symbol Intern(std::string_view text) { return Intern(text, Hash(text)); }
  /// For readers of many names, whose time goes into waiting for memory: take the hashes of some dozens,
  /// Fetch what they lead to, so that the waits overlap, and then Intern each name with its hash.
  static uint32_t Hash(std::string_view text) { return static_cast<uint32_t>(HashBytes(text)); }
  void Fetch(std::span<const uint32_t> hashes) const;
  /// REQUIRES: `hash` is the Hash of `text`.
  Symbol Intern(std::string_view text, uint32_t hash);
  /// For readers who can tell that about `names` new names come: makes room for them at once.
  void Reserve(size_t names);
  /// The symbol of `text`, or kNoSymbol when nobody interned it.
  Symbol Find(std::string_view text) const;
  /// The text; "" for kNoSymbol.
  std::string_view Str(Symbol symbol) const { return {entries_[symbol.id].data, entries_[symbol.id].size}; }
  /// Number of symbols: ids are 0 .. size()-1.
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }

 private:
  struct Entry {
    const char* data;
    uint32_t size;
    uint32_t hash;
  };
  // The slot that holds `text`, or the free one where it would go.
  size_t Find(std::string_view text, uint32_t hash) const;
  uint32_t IdIn(uint32_t slot) const { return slot & static_cast<uint32_t>(slots_.size() - 1); }
  const char* Store(std::string_view text);
  void Rehash(size_t num_slots);

  std::vector<Entry> entries_;
  // Open addressing; the size is a power of two, at most three of four are used. A slot is an id, which needs
  // as many bits as the table's size has, with the hash's bits above those: a look-up that misses hardly ever
  // touches an entry, and few pages hold the table. 0 = free.
  std::vector<uint32_t> slots_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* chunk_next_ = nullptr;
  size_t chunk_left_ = 0;
};

using SymbolTablePtr = std::shared_ptr<SymbolTable>;

}  // namespace weft
