// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include <cstdio>
#include <cstdlib>

#include "core/base/str.h"
#include "proto/codec.h"
#include "tests/support/files.h"

namespace weft::test {

namespace {

template <typename T>
T OrAbort(Result<T> result, std::string_view what) {
  if (!result.has_value()) {
    std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(what.size()), what.data(),
                 result.error().message.c_str());
    std::abort();
  }
  return std::move(result).value();
}

}  // namespace

std::vector<Json> ReadJsonl(std::string_view name) {
  const std::string text = ReadFile(DataPath(name));
  std::vector<Json> rows;
  for (const std::string_view line : StrSplit(text, '\n')) {
    if (line.empty()) continue;
    Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (row.is_discarded()) {
      std::fprintf(stderr, "%s: row %zu is no JSON\n", std::string(name).c_str(), rows.size() + 1);
      std::abort();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Net NetFromText(std::string_view text, SymbolTablePtr symbols) {
  return OrAbort(ParseNetText(text, std::move(symbols)), "net");
}
Op OpFromText(std::string_view text, const SymbolTablePtr& symbols) {
  return OrAbort(ParseOpText(text, symbols), "operator");
}
Plan PlanFromText(std::string_view text, SymbolTablePtr symbols) {
  return OrAbort(ParsePlanText(text, std::move(symbols)), "plan");
}
Net NetFromFile(std::string_view name, SymbolTablePtr symbols) {
  return OrAbort(ParseNet(Bytes(ReadFile(DataPath(name))), std::move(symbols)), name);
}

}  // namespace weft::test
