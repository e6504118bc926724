// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/arrange/stretches.h"

#include <algorithm>
#include <numeric>

namespace weft {

namespace {

constexpr uint32_t kStretch = 100;
constexpr uint32_t kMaxPeriod = 300;

}  // namespace

Period FindPeriod(std::span<const uint32_t> sequence) {
  const uint32_t n = static_cast<uint32_t>(sequence.size());
  if (n < 8) return {};
  // Dense ids in order of value, to count without hashing.
  std::vector<uint32_t> kinds(sequence.begin(), sequence.end());
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  std::vector<uint32_t> ids(n), counts(kinds.size(), 0);
  for (uint32_t i = 0; i < n; ++i) {
    ids[i] = static_cast<uint32_t>(std::lower_bound(kinds.begin(), kinds.end(), sequence[i]) - kinds.begin());
    ++counts[ids[i]];
  }
  // The rarest element that still recurs all along marks the block: the distances between its places are the
  // block's length, where common elements recur inside a block.
  const uint32_t enough = std::max<uint32_t>(4, n / kMaxPeriod);
  uint32_t marker = UINT32_MAX;
  for (uint32_t k = 0; k < counts.size(); ++k)
    if (counts[k] >= enough && (marker == UINT32_MAX || counts[k] < counts[marker])) marker = k;
  if (marker == UINT32_MAX) return {};
  std::vector<uint32_t> distances(kMaxPeriod + 1, 0);
  uint32_t last = UINT32_MAX, total = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (ids[i] != marker) continue;
    if (last != UINT32_MAX && i - last <= kMaxPeriod) ++distances[i - last];
    ++total;
    last = i;
  }
  const uint32_t length =
      static_cast<uint32_t>(std::max_element(distances.begin(), distances.end()) - distances.begin());
  if (length == 0 || distances[length] * 2 < total) return {};
  uint32_t matched = 0, start = 0;
  for (uint32_t i = 0; i + length < n; ++i) {
    matched = ids[i] == ids[i + length] ? matched + 1 : 0;
    if (matched == length) {
      start = i + 1 - length;
      break;
    }
  }
  return {length, start % length};
}

std::vector<uint32_t> CutIntoStretches(std::span<const uint32_t> sequence) {
  const uint32_t n = static_cast<uint32_t>(sequence.size());
  const Period period = FindPeriod(sequence);
  uint32_t size = kStretch, start = 0;
  if (period.length > 0) {
    size = period.length * std::max<uint32_t>(1, (kStretch + period.length / 2) / period.length);
    start = period.start;
  }
  std::vector<uint32_t> cuts = {0};
  if (start > 0) cuts.push_back(start);
  for (uint32_t at = start + size; at < n; at += size) cuts.push_back(at);
  if (cuts.back() != n) cuts.push_back(n);
  return cuts;
}

}  // namespace weft
