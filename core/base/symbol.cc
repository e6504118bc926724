// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/symbol.h"

#include <cstring>

#include "core/base/check.h"

namespace weft {

namespace {
constexpr size_t kChunkSize = 64 << 10;
}  // namespace

SymbolTable::SymbolTable() : slots_(64, 0) {
  entries_.push_back({"", 0, 0});  // kNoSymbol, never found by text
  Intern("");                      // kEmptySymbol
}

size_t SymbolTable::Find(std::string_view text, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const uint32_t slot = slots_[i];
    if (slot == 0) return i;
    if (((slot ^ hash) & ~mask) != 0) continue;
    const Entry& entry = entries_[IdIn(slot)];
    if (entry.hash == hash && std::string_view(entry.data, entry.size) == text) return i;
  }
}

Symbol SymbolTable::Find(std::string_view text) const { return {IdIn(slots_[Find(text, Hash(text))])}; }

// Loads in a row, each for itself: WebAssembly has no prefetch.
void SymbolTable::Fetch(std::span<const uint32_t> hashes) const {
  const size_t mask = slots_.size() - 1;
  uint32_t loaded = 0;
  for (const uint32_t hash : hashes) loaded |= slots_[hash & mask];
  asm volatile("" : : "r"(loaded));  // somebody needs them, for all the compiler knows
}

Symbol SymbolTable::Intern(std::string_view text, uint32_t hash) {
  const size_t place = Find(text, hash);
  if (slots_[place] != 0) return {IdIn(slots_[place])};
  const uint32_t id = size();
  WEFT_CHECK(id != UINT32_MAX && text.size() <= UINT32_MAX);
  entries_.push_back({Store(text), static_cast<uint32_t>(text.size()), hash});
  slots_[place] = id | (hash & ~static_cast<uint32_t>(slots_.size() - 1));
  if (entries_.size() > slots_.size() / 4 * 3) Rehash(slots_.size() * 2);
  return {id};
}

const char* SymbolTable::Store(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > kChunkSize / 4) {  // long texts get a block of their own and leave the current chunk open
    chunks_.emplace_back(new char[text.size()]);  // not filled with zeros first
    std::memcpy(chunks_.back().get(), text.data(), text.size());
    return chunks_.back().get();
  }
  if (text.size() > chunk_left_) {
    chunks_.emplace_back(new char[kChunkSize]);
    chunk_next_ = chunks_.back().get();
    chunk_left_ = kChunkSize;
  }
  char* stored = chunk_next_;
  std::memcpy(stored, text.data(), text.size());
  chunk_next_ += text.size();
  chunk_left_ -= text.size();
  return stored;
}

void SymbolTable::Reserve(size_t names) {
  const size_t total = entries_.size() + names;
  if (names < entries_.size())
    return;  // growing on demand is as good, and stays linear however often one asks
  entries_.reserve(total);
  size_t num_slots = slots_.size();
  while (total > num_slots / 4 * 3) num_slots *= 2;
  if (num_slots > slots_.size()) Rehash(num_slots);
}

void SymbolTable::Rehash(size_t num_slots) {
  slots_.assign(num_slots, 0);
  const size_t mask = num_slots - 1;
  for (uint32_t id = 1; id < size(); ++id) {
    const uint32_t hash = entries_[id].hash;
    size_t i = hash & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = id | (hash & ~static_cast<uint32_t>(mask));
  }
}

}  // namespace weft
