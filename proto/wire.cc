// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/wire.h"

namespace weft {

const char* SkipGroup(const char* p, const char* end, uint32_t number, int depth_left,
                      const char*& body_end) {
  uint32_t open[kMaxNesting];
  int depth = 0;
  if (depth_left <= 0) return nullptr;
  depth_left = depth_left < kMaxNesting ? depth_left : kMaxNesting;
  open[depth++] = number;
  while (p < end) {
    const char* const start = p;
    uint32_t tag;
    uint64_t value;
    p = ReadTag(p, end, tag);
    if (p == nullptr) return nullptr;
    switch (tag & 7) {
      case 0:
        p = ReadVarint(p, end, value);
        if (p == nullptr) return nullptr;
        break;
      case 1:
        if (end - p < 8) return nullptr;
        p += 8;
        break;
      case 2:
        p = ReadLength(p, end, value);
        if (p == nullptr) return nullptr;
        p += value;
        break;
      case 3:
        if (depth >= depth_left) return nullptr;
        open[depth++] = tag >> 3;
        break;
      case 4:
        if (open[--depth] != (tag >> 3)) return nullptr;
        if (depth == 0) {
          body_end = start;
          return p;
        }
        break;
      case 5:
        if (end - p < 4) return nullptr;
        p += 4;
        break;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

}  // namespace weft
