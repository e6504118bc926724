// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as streams of C++ print them, for operators whose values are such text. What people read is printed
// by base/str.h.
#pragma once

#include <string>

namespace weft {

/// Six significant digits: "0.333333", "1e+06".
std::string FormatSixDigits(double value);

}  // namespace weft
