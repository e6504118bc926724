// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/runner.h"

#include <gtest/gtest.h>

#include "core/base/str.h"

namespace weft::golden {
namespace {

Result<std::string> Join(Words& words, std::span<const std::string> inputs) {
  const bool fails = words.TakeFlag("fail");
  const std::string between = words.TakeValue("between", "");
  if (fails) return Error{ErrorCode::kSchema, "told to fail", 3, "x"};
  return StrJoin(inputs, between);
}
constexpr Command kTable[] = {{"join", Join}};

constexpr std::string_view kFile =
    "# Protects the runner.\n"
    "cmd: join --between=+\n"
    "--- in\na\n--- in\nb\n--- out\na\n+b\n"
    "=====\n"
    "# An error.\n"
    "cmd: join --fail\n"
    "--- in\n"
    "--- err\nschema op 3 blob x\ntold to fail\n"
    "=====\n"
    "cmd: join\n"
    "--- in\nno output yet\n";

TEST(Golden, ReadsRunsAndWritesBack) {
  const auto cases = ParseCases(kFile);
  ASSERT_TRUE(cases) << cases.error().message;
  ASSERT_EQ(cases->size(), 3u);
  EXPECT_EQ(FormatCases(*cases), kFile);
  EXPECT_EQ((*cases)[1].line, 12);
  for (size_t i = 0; i < 2; ++i) {
    const auto outcome = RunCase((*cases)[i], kTable);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->text, (*cases)[i].output);
    EXPECT_EQ(outcome->is_error, (*cases)[i].is_error);
  }
  EXPECT_FALSE((*cases)[2].has_output);
}

TEST(Golden, RefusesWhatItDoesNotUnderstand) {
  EXPECT_FALSE(ParseCases("cmd: join\n--- in\n"));
  EXPECT_FALSE(ParseCases("# x\ncmd: join\nstray\n"));
  EXPECT_FALSE(ParseCases("# x\n=====\n"));
  EXPECT_FALSE(ParseCases("# x\ncmd: join\n--- in\n--- out\n--- out\n"));
  Case one;
  one.inputs = {""};
  one.command = "nonsense";
  EXPECT_FALSE(RunCase(one, kTable));
  one.command = "join --what";
  EXPECT_FALSE(RunCase(one, kTable));
}

TEST(Golden, ShowsTheFirstDifference) {
  EXPECT_EQ(FirstDifference("a\nb\nc\n", "a\nx\n"), "output line 2:\n- b\n- c\n+ x\n");
  EXPECT_EQ(FirstDifference("a\n", "a\nb\n"), "output line 2:\n- (ends here)\n+ b\n");
}

}  // namespace
}  // namespace weft::golden
