// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "core/base/result.h"
#include "core/base/small_vec.h"
#include "core/base/str.h"
#include "core/base/symbol.h"
#include "core/base/symbol_map.h"

namespace weft {
namespace {

TEST(SymbolTable, InternsOnceAndKeepsViews) {
  SymbolTable table;
  const Symbol x = table.Intern("x");
  const std::string_view view = table.Str(x);
  for (int i = 0; i < 100000; ++i) table.Intern(StrCat("name_", i));
  EXPECT_EQ(table.Intern("x"), x);
  EXPECT_EQ(table.Find("name_99999"), table.Intern("name_99999"));
  EXPECT_EQ(view, "x");
  EXPECT_FALSE(table.Find("nope"));
  EXPECT_EQ(table.Intern(""), kEmptySymbol);
  EXPECT_EQ(table.Str(kNoSymbol), "");
}

TEST(SymbolMap, DenseAndSparseAgree) {
  SymbolTable table;
  for (int i = 0; i < 50000; ++i) table.Intern(StrCat("n", i));
  SymbolMap<int> dense(table, 50000, -1), sparse(table, 3, -1);
  for (uint32_t id = 1; id < 40000; id += 7) dense[{id}] = sparse[{id}] = static_cast<int>(id);
  for (uint32_t id = 0; id < table.size(); ++id) ASSERT_EQ(dense.Get({id}), sparse.Get({id})) << id;
}

TEST(SmallVec, GrowsCopiesAndMoves) {
  SmallVec<int, 4> a;
  for (int i = 0; i < 100; ++i) a.push_back(i);
  SmallVec<int, 4> b = a;
  SmallVec<int, 4> c = std::move(a);
  EXPECT_EQ(b, c);
  EXPECT_TRUE(a.empty());  // NOLINT: a moved-from list is empty
  c = {1, 2, 3};
  c.erase(c.begin());
  EXPECT_EQ(c, (SmallVec<int, 4>{2, 3}));
  b = c;
  EXPECT_EQ(b.size(), 2u);
}

TEST(Str, PrintsFloatsAsProtobufDoes) {
  EXPECT_EQ(FormatFloat(0.1f), "0.1");
  EXPECT_EQ(FormatFloat(1), "1");
  EXPECT_EQ(FormatFloat(1e-5f), "1e-05");
  EXPECT_EQ(FormatFloat(0.333333343f), "0.333333343");
  EXPECT_EQ(FormatFloat(-1.0f / 0.0f), "-inf");
}

TEST(Str, QuotesAndSuggests) {
  EXPECT_EQ(QuoteBytes("a\n\"\x01"), "\"a\\n\\\"\\001\"");
  const std::string_view names[] = {"Relu", "ReluN", "Conv", "PRelu"};
  const auto near = NearestNames("Rellu", names);
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near[0], "Relu");
}

Result<int> Half(int n) {
  if (n % 2) return Error{ErrorCode::kInvalidArgument, StrCat(n, " is odd")};
  return n / 2;
}
Result<int> Quarter(int n) {
  WEFT_TRY(const int half, Half(n));
  return Half(half);
}

TEST(Result, TryPassesErrorsOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "3 is odd");
}

}  // namespace
}  // namespace weft
