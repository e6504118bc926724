// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// tests/data/user_reports_load.tsv: what users of Caffe2 and its relatives ran into when they loaded nets and
// made plans, and which test or golden case shows that Weft sees it. Each row names some that exist, or says
// why there is none.
#include <gtest/gtest.h>

#include <set>

#include "core/base/str.h"
#include "tests/cli/run_weft.h"

namespace weft::cli_test {
namespace {

// "cli/cli_test.cc Suite.Test" or "golden/check.txt # the heading of a case".
void ExpectTest(std::string_view reference) {
  const size_t space = reference.find(' ');
  ASSERT_NE(space, std::string_view::npos) << reference;
  const std::string source = Read(Data(StrCat("../", reference.substr(0, space))));
  std::string wanted(reference.substr(space + 1));
  if (!wanted.starts_with("#")) {
    const size_t dot = wanted.find('.');
    ASSERT_NE(dot, std::string::npos) << reference;
    wanted = StrCat("TEST(", wanted.substr(0, dot), ", ", wanted.substr(dot + 1), ")");
  }
  EXPECT_NE(source.find(wanted), std::string::npos) << reference;
}

TEST(UserReports, EveryRowHasATestOrAReason) {
  const std::string table = Read(Data("user_reports_load.tsv"));
  std::set<std::string_view> load, plan;
  const std::vector<std::string_view> lines = StrSplit(table, '\n');
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    SCOPED_TRACE(std::string(lines[i]));
    const std::vector<std::string_view> columns = StrSplit(lines[i], '\t');
    ASSERT_EQ(columns.size(), 4u);
    ASSERT_TRUE(columns[1] == "load" || columns[1] == "plan");
    EXPECT_TRUE((columns[1] == "load" ? load : plan).insert(columns[0]).second);
    if (columns[2] == "-") {
      EXPECT_FALSE(columns[3].empty());
      continue;
    }
    // References are parted by "; " before a file name: headings have semicolons of their own.
    std::string_view rest = columns[2];
    while (!rest.empty()) {
      size_t end = rest.find("; ");
      while (end != std::string_view::npos && !rest.substr(end + 2).starts_with("golden/") &&
             rest.substr(end + 2, rest.find(' ', end + 2) - end - 2).find(".cc") == std::string_view::npos)
        end = rest.find("; ", end + 1);
      ExpectTest(rest.substr(0, end));
      rest = end == std::string_view::npos ? "" : rest.substr(end + 2);
    }
  }
  EXPECT_EQ(load.size(), 16u);
  EXPECT_EQ(plan.size(), 6u);
}

}  // namespace
}  // namespace weft::cli_test
