// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Small nets in one line, for unit tests: "FC(x, w, b) -> y; Relu(y) -> y !t" is two operators, the second of
// which waits for t. Text that is no such net stops the test program.
#pragma once

#include <string>
#include <string_view>

#include "core/ir/net.h"

namespace weft::testing {

/// Operators separated by ';'. Before them, in any order: "name n;", "in x y;" (external inputs), "out z;".
/// After the outputs: " !b" a control input. Arguments and devices are added in code.
Net CompactNet(std::string_view text, SymbolTablePtr symbols = std::make_shared<SymbolTable>());
/// The one operator of such a text, for a net over `symbols`.
Op CompactOp(std::string_view text, const SymbolTablePtr& symbols);
/// The text of a net without its name, external inputs first, external outputs last.
std::string ToCompact(const Net& net);

}  // namespace weft::testing
