// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What reusing and recomputing would save: the memory that a net needs now, with blobs that share places,
// with values that are made again instead of kept, and with both. Numbers only; the passes make the nets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/pass/shapes.h"
#include "core/ssa/print.h"

namespace weft {

struct Savings {
  int64_t live = 0;   // the most that is live at once: what any way of sharing places needs at the least
  int64_t blobs = 0;  // bytes when each blob has a place of its own
  int64_t reuse = 0;  // bytes of the places when blobs share them
  int64_t flops = 0;  // of the net, as far as known
  struct Recompute {
    std::optional<int64_t> most_percent{};  // of operations, as asked for; the lowest peak without it
    int64_t live = 0, reuse = 0;            // as above, of the net with what runs again
    int64_t extra_flops = 0;
    size_t operators = 0;  // that run again
  };
  std::vector<Recompute> recompute{};  // each lower than the one before it, for more operations
  std::string_view nothing{};          // why recomputing saves nothing
};

/// Symbols count as LiveBytes::kSymbolValue. Errors: those of ReuseMemory. Takes about ten times as long as
/// inferring shapes.
Result<Savings> FindSavings(const Net& net, std::span<const GivenBlob> given, ShapeTable& table,
                            const OpSet& ops);

/// The member "savings" of an object: {"live","blobs","reuse","flops","nothing":text or null,
/// "recompute":[{"most_percent":n or null,"live","reuse","extra_flops","extra_percent","operators"}]}.
void WriteSavings(JsonWriter& json, const Savings& savings);
/// The same as lines for people.
void PrintSavings(const Savings& savings, const EmitPiece& emit);

}  // namespace weft
