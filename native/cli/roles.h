// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What each operator of a net does in training, in words, as the inspector tells it.
#pragma once

#include <string_view>
#include <vector>

#include "core/ir/net.h"

namespace weft::cli {

/// By operator: "forward", "backward", "update" or "collective".
std::vector<std::string_view> RoleNames(const Net& net);

}  // namespace weft::cli
