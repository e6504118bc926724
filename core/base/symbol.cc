// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/symbol.h"

#include <cstring>

#include "core/base/check.h"
#include "core/base/hash.h"

namespace weft {

namespace {
constexpr size_t kChunkSize = 64 << 10;
uint32_t Hash32(std::string_view text) { return static_cast<uint32_t>(HashBytes(text)); }
}  // namespace

SymbolTable::SymbolTable() : slots_(64, 0) {
  entries_.push_back({"", 0, 0});  // kNoSymbol, never found by text
  Intern("");                      // kEmptySymbol
}

Symbol SymbolTable::Find(std::string_view text) const {
  const uint32_t hash = Hash32(text);
  const uint32_t mask = static_cast<uint32_t>(slots_.size()) - 1;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    const uint32_t id = slots_[i];
    if (id == 0) return kNoSymbol;
    if (entries_[id].hash == hash && Str({id}) == text) return {id};
  }
}

Symbol SymbolTable::Intern(std::string_view text) {
  const uint32_t hash = Hash32(text);
  const uint32_t mask = static_cast<uint32_t>(slots_.size()) - 1;
  uint32_t i = hash & mask;
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    const uint32_t id = slots_[i];
    if (entries_[id].hash == hash && Str({id}) == text) return {id};
  }
  const uint32_t id = size();
  WEFT_CHECK(id != UINT32_MAX && text.size() < UINT32_MAX);
  entries_.push_back({Store(text), static_cast<uint32_t>(text.size()), hash});
  slots_[i] = id;
  if (entries_.size() * 2 > slots_.size()) Grow();
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

void SymbolTable::Grow() {
  std::vector<uint32_t> slots(slots_.size() * 2, 0);
  const uint32_t mask = static_cast<uint32_t>(slots.size()) - 1;
  for (uint32_t id = 1; id < size(); ++id) {
    uint32_t i = entries_[id].hash & mask;
    while (slots[i] != 0) i = (i + 1) & mask;
    slots[i] = id;
  }
  slots_ = std::move(slots);
}

}  // namespace weft
