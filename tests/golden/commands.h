// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands that golden files may use. To add one: write a function in commands.cc (or in a file of its
// own beside it, for a family of commands) and list it in the table.
#pragma once

#include <span>

#include "tests/golden/runner.h"

namespace weft::golden {

std::span<const Command> Commands();

// Commands with a file of their own.
Result<std::string> Grad(Words& words, std::span<const std::string> inputs);
Result<std::string> Pass(Words& words, std::span<const std::string> inputs);
Result<std::string> Shapes(Words& words, std::span<const std::string> inputs);

}  // namespace weft::golden
