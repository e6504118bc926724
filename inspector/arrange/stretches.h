// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Cutting a long sequence of ops into stretches that fit a screen, at the seams of what repeats in it. Works
// on numbers (operator types); linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

inline constexpr size_t kMaxScopeChildren = 400;

/// Cut positions 0 = c0 < c1 < ... = size, for at least one cut more than two when the sequence is longer
/// than kMaxScopeChildren. Stretches have about 100 elements; where the sequence has a period, whole periods.
std::vector<uint32_t> CutIntoStretches(std::span<const uint32_t> sequence);

/// The length of the block that repeats through most of the sequence, and where the first one begins. Period
/// 0 when nothing repeats.
struct Period {
  uint32_t length = 0;
  uint32_t start = 0;
};
Period FindPeriod(std::span<const uint32_t> sequence);

}  // namespace weft
