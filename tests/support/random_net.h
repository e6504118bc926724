// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Random small nets that run: element-wise operators, Gather, If and While nested in one another, overwritten
// and in-place blobs. The same seed gives the same net and the same feeds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/net.h"
#include "core/run/tensor.h"

namespace weft::test {

inline constexpr int64_t kRandomNetColumns = 3;

/// Reads "x0", "x1", "x2" [2, 3], "table" [4, 3] and "rows" [2]; its last operators write "total" [2, 3] and
/// "loss".
Net RandomNet(uint32_t seed);

struct Feeds {
  std::vector<std::pair<std::string, Tensor>> tensors;
};
/// Values between -1 and 1 for what it reads.
Feeds RandomFeeds(uint32_t seed);

}  // namespace weft::test
