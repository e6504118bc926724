// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// tests/data/user_reports_ssa_clone.tsv: what users of Caffe2 and its relatives ran into around SSA form and
// cloning, and which test shows that it is right here. Each row names tests that exist, or says why there is
// none.
#include <gtest/gtest.h>

#include <set>

#include "core/base/str.h"
#include "tests/support/files.h"

namespace weft {
namespace {

// "ssa/form_test.cc SsaForm.Idempotent"
void ExpectTest(std::string_view reference) {
  while (reference.starts_with(' ')) reference.remove_prefix(1);
  const size_t space = reference.find(' '), dot = reference.rfind('.');
  ASSERT_TRUE(space != std::string_view::npos && dot != std::string_view::npos && dot > space) << reference;
  const std::string file(reference.substr(0, space));
  const std::string suite(reference.substr(space + 1, dot - space - 1)), name(reference.substr(dot + 1));
  const std::string source = test::ReadFile(test::DataPath("../" + file));
  EXPECT_NE(source.find(StrCat("TEST(", suite, ", ", name, ")")), std::string::npos) << reference;
}

TEST(UserReports, EveryRowHasATestOrAReason) {
  const std::string table = test::ReadFile(test::DataPath("user_reports_ssa_clone.tsv"));
  std::set<std::string_view> reports;
  const std::vector<std::string_view> lines = StrSplit(table, '\n');
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    SCOPED_TRACE(std::string(lines[i]));
    const std::vector<std::string_view> columns = StrSplit(lines[i], '\t');
    ASSERT_EQ(columns.size(), 4u);
    EXPECT_TRUE(reports.insert(columns[0]).second);
    EXPECT_TRUE(columns[1] == "ssa" || columns[1] == "clone");
    if (columns[2] == "-") {
      EXPECT_FALSE(columns[3].empty());
      continue;
    }
    for (std::string_view reference : StrSplit(columns[2], ';')) ExpectTest(reference);
  }
  EXPECT_EQ(reports.size(), 18u);
}

}  // namespace
}  // namespace weft
