// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One non-cryptographic hash. Its values never reach an output: tables keyed by it are only looked up, not
// walked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft {

inline uint64_t HashMix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

inline uint64_t HashBytes(std::string_view bytes) {
  uint64_t hash = bytes.size() * 0x9e3779b97f4a7c15ull;
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = HashMix(hash, word);
  }
  if (left > 0) {
    uint64_t word = 0;
    std::memcpy(&word, p, left);
    hash = HashMix(hash, word);
  }
  return hash;
}

}  // namespace weft
