// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// An init net and the net that reads what it fills, as one net that needs no init. Pure, linear in the nets.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"

namespace weft {

struct MergeInitOptions {
  /// Inputs that are fed all the same: a fill of one of them in the init net is a stub that only tells its
  /// shape, and is left out.
  std::vector<Symbol> fed{};
};

/// The operators of `init`, then those of `net`; name, type, device and external outputs are those of
/// `net`; its external inputs are what neither fills. Operators that said nothing about their device keep the
/// device of the net they came from. Errors: kInvalidArgument when `net` writes a blob that `init` fills
/// (merged, each run would begin with the value of the first), or when a net reads a blob of `fed` in `init`.
Result<Net> MergeInit(const Net& init, const Net& net, const MergeInitOptions& options = {});

}  // namespace weft
