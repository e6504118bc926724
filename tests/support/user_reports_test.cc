// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// tests/data/user_reports_*.tsv: what users of Caffe2 and its relatives ran into, and which tests or golden
// cases show that it is right here. Each row names some that exist, or says why there is none.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/str.h"
#include "tests/support/files.h"

namespace weft::test {
namespace {

// "pass/properties_test.cc Suite.Test", "golden/pass.txt # the heading of a case" or "web/open.test.mjs # the
// name of a test".
void ExpectTest(std::string_view reference) {
  const size_t space = reference.find(' ');
  ASSERT_NE(space, std::string_view::npos) << reference;
  const std::string source = ReadFile(DataPath(StrCat("../", reference.substr(0, space))));
  std::string wanted(reference.substr(space + 1));
  if (reference.substr(0, space).ends_with(".mjs")) {
    wanted = StrCat("test('", wanted.substr(2), "'");
  } else if (!wanted.starts_with("#")) {
    const size_t dot = wanted.find('.');
    ASSERT_NE(dot, std::string::npos) << reference;
    wanted = StrCat("TEST(", wanted.substr(0, dot), ", ", wanted.substr(dot + 1), ")");
  }
  EXPECT_NE(source.find(wanted), std::string::npos) << reference;
}

// References are parted by "; " before a file's name: headings have semicolons of their own.
void ExpectTests(std::string_view references) {
  while (!references.empty()) {
    size_t end = references.find("; ");
    while (end != std::string_view::npos) {
      const std::string_view next = references.substr(end + 2);
      const std::string_view file = next.substr(0, next.find(' '));
      if (file.find('/') != std::string_view::npos &&
          (file.ends_with(".cc") || file.ends_with(".txt") || file.ends_with(".mjs")))
        break;
      end = references.find("; ", end + 1);
    }
    ExpectTest(references.substr(0, end));
    references = end == std::string_view::npos ? "" : references.substr(end + 2);
  }
}

struct Table {
  std::string_view name;
  std::map<std::string_view, size_t> reports;  // how many there are of each area
};
std::ostream& operator<<(std::ostream& out, const Table& table) { return out << table.name; }

class UserReports : public ::testing::TestWithParam<Table> {};

TEST_P(UserReports, EveryRowHasATestOrAReason) {
  const std::string text = ReadFile(DataPath(StrCat("user_reports_", GetParam().name, ".tsv")));
  const std::vector<std::string_view> lines = StrSplit(text, '\n');
  std::set<std::string_view> reports;
  std::map<std::string_view, size_t> areas;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    SCOPED_TRACE(std::string(lines[i]));
    const std::vector<std::string_view> columns = StrSplit(lines[i], '\t');
    ASSERT_EQ(columns.size(), 4u);
    EXPECT_TRUE(reports.insert(columns[0]).second);
    ++areas[columns[1]];
    if (columns[2] == "-") {
      EXPECT_FALSE(columns[3].empty());
    } else {
      ExpectTests(columns[2]);
    }
  }
  EXPECT_EQ(areas, GetParam().reports);
}

INSTANTIATE_TEST_SUITE_P(
    Tables, UserReports,
    ::testing::Values(Table{"load", {{"load", 16}, {"plan", 6}}},
                      Table{"ssa_clone", {{"ssa", 10}, {"clone", 8}}}, Table{"gradient", {{"gradient", 18}}},
                      Table{"convert", {{"convert", 13}}}, Table{"viewer", {{"viewer", 6}}},
                      Table{"dataparallel", {{"dataparallel", 16}}}, Table{"numerics", {{"numerics", 8}}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::test
