// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/commands.h"

namespace weft::golden {

std::span<const Command> Commands() { return {}; }

}  // namespace weft::golden
