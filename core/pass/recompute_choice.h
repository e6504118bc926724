// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which operators run again. Chen's segments ("Training Deep Nets with Sublinear Memory Cost", 2016): the
// forward pass is cut where little crosses, only what crosses a cut is kept, and what lies between two cuts
// is made again when the backward pass gets there. How long segments should be, and above which price an
// operator's result is kept all the same, is found by trying; then what the chosen peak has room for is kept
// after all, dearest first. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/pass/recompute_model.h"

namespace weft::internal {

struct RecomputeBounds {
  int64_t bytes = 0;  // peaks below are as good as this one: then fewer operations win
  double flops = std::numeric_limits<double>::infinity();  // of what runs again, at the most
};

/// For each of the bounds, by operator before the turn: 1 for what runs again. A fixed number of trials for
/// all and a few for each, linear in the net but for one sort and the logarithm of looking for room.
std::vector<std::vector<uint8_t>> ChooseRecomputed(const RecomputeModel& model,
                                                   std::span<const RecomputeBounds> bounds);

}  // namespace weft::internal
