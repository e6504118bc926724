// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/symbol.h"

#include <cstring>

#include "core/base/check.h"

namespace weft {

namespace {
constexpr size_t kChunkSize = 64 << 10;
}  // namespace

SymbolTable::SymbolTable() : slots_(64, Slot{}) {
  entries_.push_back({"", 0});  // kNoSymbol, never found by text
  Intern("");                   // kEmptySymbol
}

Symbol SymbolTable::Find(std::string_view text) const {
  const uint32_t hash = Hash(text);
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot slot = slots_[i];
    if (slot.id == 0) return kNoSymbol;
    if (slot.hash == hash && Str({slot.id}) == text) return {slot.id};
  }
}

Symbol SymbolTable::Intern(std::string_view text, uint32_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  for (; slots_[i].id != 0; i = (i + 1) & mask)
    if (slots_[i].hash == hash && Str({slots_[i].id}) == text) return {slots_[i].id};
  const uint32_t id = size();
  WEFT_CHECK(id != UINT32_MAX);
  entries_.push_back({Store(text), text.size()});
  slots_[i] = {hash, id};
  if (entries_.size() > slots_.size() / 4 * 3) Rehash(slots_.size() * 2);
  return {id};
}

const char* SymbolTable::Store(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > kChunkSize / 4) {  // long texts get a block of their own and leave the current chunk open
    chunks_.push_back(std::make_unique<char[]>(text.size()));
    std::memcpy(chunks_.back().get(), text.data(), text.size());
    return chunks_.back().get();
  }
  if (text.size() > chunk_left_) {
    chunks_.push_back(std::make_unique<char[]>(kChunkSize));
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
  std::vector<Slot> slots(num_slots, Slot{});
  const size_t mask = slots.size() - 1;
  for (const Slot slot : slots_) {
    if (slot.id == 0) continue;
    size_t i = slot.hash & mask;
    while (slots[i].id != 0) i = (i + 1) & mask;
    slots[i] = slot;
  }
  slots_ = std::move(slots);
}

}  // namespace weft
