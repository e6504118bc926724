// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Recomputing (activation checkpointing): what the forward pass makes for the backward pass is not kept but
// made again, from what is kept, just before it is needed. Pays memory with operations; gradients are the
// same to the bit where kernels give the same twice. Pure; a fixed number of walks over the net.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/pass/shapes.h"

namespace weft {

struct RecomputeLimits {
  /// Live bytes to get down to with as few operations as possible; without it, the lowest peak that is found,
  /// or one that is higher by half a percent at the most, where that takes fewer operations.
  std::optional<int64_t> budget{};
  /// Operations of what runs again, in percent of the net's, at the most. No operator runs more than twice.
  std::optional<int64_t> most_percent{};
};

struct RecomputePlan {
  Net net;
  std::vector<OpId> again;  // operators of the original net that run twice, in order
  int64_t peak_before = 0;  // live bytes (LiveBytes); symbols count as LiveBytes::kSymbolValue
  int64_t peak_after = 0;
  int64_t flops = 0;         // of the original net, as far as known
  int64_t extra_flops = 0;   // of what runs again
  std::string_view nothing;  // why the net stays as it is; empty when it does not
};

/// `net` with operators of its forward pass once more in its backward pass: each in front of the first
/// operator that needs what it makes, marked as gradient operators, their blobs called "<blob>_recomputed".
/// Where all that such an operator reads is there early, it waits, by control input, for a gradient that its
/// reader reads, so that executors that run operators side by side do not run it early. Not run twice: what
/// draws random numbers, has state or effects, runs on the host only, holds nets, waits by control input, or
/// must work in place; nor what reads a blob that is overwritten until then and can't be made again itself. A
/// SpatialBN runs again on copies of its running statistics, which its result does not depend on. Never a
/// higher peak: the net stays as it is when nothing is gained. `given`: what is known of the net's inputs;
/// the table's formulas grow. `keep`: blobs that are not made again, besides external outputs. Memory is
/// freed or reused by the passes for that, which come after this one.
RecomputePlan Recompute(const Net& net, std::span<const GivenBlob> given, ShapeTable& table, const OpSet& ops,
                        const RecomputeLimits& limits = {}, std::span<const Symbol> keep = {});

/// The same for several limits at once, which costs little more than one: hands each plan to `take`, in
/// order.
void RecomputeEach(const Net& net, std::span<const GivenBlob> given, ShapeTable& table, const OpSet& ops,
                   std::span<const RecomputeLimits> limits, std::span<const Symbol> keep,
                   const std::function<void(RecomputePlan)>& take);

}  // namespace weft
