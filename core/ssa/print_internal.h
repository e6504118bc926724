// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the listing share: number and string spelling.
#pragma once

#include <string>
#include <string_view>

namespace weft::internal {

/// "0.5", "1.0": never looks like an integer.
std::string FloatText(float value);
/// A word as it is; anything else quoted; a long one cut, with its size, unless `full`.
std::string StringText(std::string_view text, bool full);

}  // namespace weft::internal
