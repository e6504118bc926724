// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// tests/data/user_reports_convert.tsv: what users of Caffe2 and its relatives ran into when they converted
// nets, and which test or golden case shows that it is right here. Each row names some that exist, or says
// why there is none. (Plans are in user_reports_load.tsv.)
#include <gtest/gtest.h>

#include <set>

#include "core/base/str.h"
#include "tests/support/files.h"

namespace weft {
namespace {

// "pass/properties_test.cc Suite.Test" or "golden/pass.txt # the heading of a case".
void ExpectTest(std::string_view reference) {
  while (reference.starts_with(' ')) reference.remove_prefix(1);
  const size_t space = reference.find(' ');
  ASSERT_NE(space, std::string_view::npos) << reference;
  const std::string source = test::ReadFile(test::DataPath(StrCat("../", reference.substr(0, space))));
  std::string wanted(reference.substr(space + 1));
  if (!wanted.starts_with("#")) {
    const size_t dot = wanted.find('.');
    ASSERT_NE(dot, std::string::npos) << reference;
    wanted = StrCat("TEST(", wanted.substr(0, dot), ", ", wanted.substr(dot + 1), ")");
  }
  EXPECT_NE(source.find(wanted), std::string::npos) << reference;
}

TEST(UserReports, EveryRowHasATestOrAReason) {
  const std::string table = test::ReadFile(test::DataPath("user_reports_convert.tsv"));
  std::set<std::string_view> reports;
  const std::vector<std::string_view> lines = StrSplit(table, '\n');
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    SCOPED_TRACE(std::string(lines[i]));
    const std::vector<std::string_view> columns = StrSplit(lines[i], '\t');
    ASSERT_EQ(columns.size(), 4u);
    EXPECT_TRUE(reports.insert(columns[0]).second);
    EXPECT_EQ(columns[1], "convert");
    if (columns[2] == "-") {
      EXPECT_FALSE(columns[3].empty());
      continue;
    }
    // Headings have semicolons of their own: a new reference begins with a file's name.
    std::string_view rest = columns[2];
    while (!rest.empty()) {
      size_t end = rest.find("; ");
      while (end != std::string_view::npos && rest.substr(end + 2, 20).find('/') == std::string_view::npos)
        end = rest.find("; ", end + 1);
      ExpectTest(rest.substr(0, end));
      rest = end == std::string_view::npos ? "" : rest.substr(end + 2);
    }
  }
  EXPECT_EQ(reports.size(), 13u);
}

}  // namespace
}  // namespace weft
