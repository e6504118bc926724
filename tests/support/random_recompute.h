// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Recomputing by chance: whatever may run again does or does not, gain or no gain. For tests of what must
// hold for every choice.
#pragma once

#include <cstdint>
#include <span>

#include "core/pass/shapes.h"

namespace weft::test {

struct RandomlyRecomputed {
  Net net;
  size_t again = 0;            // operators that run twice
  int64_t told = 0, live = 0;  // the most that is live: as the model tells it, and as the net has it
  bool exact = false;          // they must be equal: no nets inside operators, no copies of statistics
};
RandomlyRecomputed RecomputeByChance(const Net& net, std::span<const GivenBlob> given, uint32_t seed);

}  // namespace weft::test
