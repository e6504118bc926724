// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_set.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/str.h"

namespace weft {

OpSet::OpSet(std::span<const OpFamily> families) {
  for (const OpFamily& family : families)
    for (const OpDef& def : family) sorted_.push_back(&def);
  std::sort(sorted_.begin(), sorted_.end(), [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
  size_t size = 16;
  while (size < sorted_.size() * 2) size *= 2;
  slots_.assign(size, 0);
  for (size_t k = 0; k < sorted_.size(); ++k) {
    WEFT_CHECK(k == 0 || sorted_[k - 1]->name != sorted_[k]->name);
    size_t i = HashBytes(sorted_[k]->name) & (size - 1);
    while (slots_[i] != 0) i = (i + 1) & (size - 1);
    slots_[i] = static_cast<uint32_t>(k + 1);
  }
}

const OpDef* OpSet::Find(std::string_view type) const {
  const size_t mask = slots_.size() - 1;
  for (size_t i = HashBytes(type) & mask; slots_[i] != 0; i = (i + 1) & mask)
    if (sorted_[slots_[i] - 1]->name == type) return sorted_[slots_[i] - 1];
  return nullptr;
}

std::vector<std::string_view> OpSet::Nearest(std::string_view type) const {
  std::vector<std::string_view> names;
  names.reserve(sorted_.size());
  for (const OpDef* def : sorted_) names.push_back(def->name);
  return NearestNames(type, names);
}

}  // namespace weft
