// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What golden tests share: the rows of a .jsonl file under tests/data, nets and operators from protobuf text,
// and their text. A malformed row or net ends the test program with a message: golden files are ours.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/net.h"
#include "core/ir/plan.h"

namespace weft::test {

using Json = nlohmann::json;

/// The rows of a file under tests/data ("caffe2/clone.jsonl"), one JSON object a line.
std::vector<Json> ReadJsonl(std::string_view name);

/// The net of a text; `symbols` as in ParseNetText.
Net NetFromText(std::string_view text, SymbolTablePtr symbols = nullptr);
Op OpFromText(std::string_view text, const SymbolTablePtr& symbols);
Plan PlanFromText(std::string_view text, SymbolTablePtr symbols = nullptr);

/// The net of a binary file under tests/data ("models/dlrm_26.pb").
Net NetFromFile(std::string_view name, SymbolTablePtr symbols = nullptr);

}  // namespace weft::test
