// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Names with another prefix: what one device's copy of a net has in front ("gpu_0/") taken off, or a scope
// put there instead. Pure, linear in the net.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"

namespace weft {

struct RenamePrefixOptions {
  std::optional<std::string> from{};  // unset: the longest scope that all blobs share
  std::string to{};
  std::vector<Symbol> keep{};  // blobs that stay as they are
};

/// The longest prefix ending in '/' that the names of all blobs of the net share; "" when there is none.
std::string CommonScope(const Net& net);

/// The net with `from` at the front of blob names replaced by `to`, everywhere: operators, external lists,
/// control inputs, nets and text arguments inside operators. Blobs with another prefix stay. Errors:
/// kNameConflict when two blobs would get one name; kNotFound when no blob has the prefix; kControlFlow as in
/// RenameInNet.
Result<Net> RenamePrefix(const Net& net, const RenamePrefixOptions& options = {});

}  // namespace weft
