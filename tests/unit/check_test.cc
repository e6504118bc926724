// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What goldens can't show: limits, depth, growth. The findings themselves are in tests/golden/check*.txt.
#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/check/check_plan.h"
#include "core/check/report.h"
#include "tests/support/compact_net.h"
#include "tests/support/files.h"
#include "tests/support/generate_nets.h"

namespace weft {
namespace {

using testing::CompactNet;

TEST(Check, CountsWhatItLeavesOut) {
  std::string text = "name n; in x; out z;";
  for (int i = 0; i < 10; ++i) StrAppend(text, "Relu(x) -> y; ");
  const std::vector<Diagnostic> findings =
      CheckNet(CompactNet(StrCat(text, "Tanh(y) -> z")), {.per_code = 4});
  ASSERT_EQ(findings.size(), 5u);
  EXPECT_EQ(findings[3].op, 3);
  EXPECT_EQ(findings[4].severity, Severity::kNote);
  EXPECT_EQ(findings[4].message, "and 5 more dead_write findings, left out");
}

TEST(Check, ReportShowsAFewOfAKind) {
  std::vector<Diagnostic> findings(
      8, {.code = FindingCode::kDeadWrite, .severity = Severity::kNote, .message = "m"});
  findings.push_back(
      {.code = FindingCode::kSchema, .severity = Severity::kError, .op = 2, .message = "late"});
  EXPECT_EQ(FindingsListing(findings, {.per_code = 2}),
            "error    late [schema]\n"
            "note     m [dead_write]\n"
            "note     m [dead_write]\n"
            "         and 6 more dead_write\n");
  EXPECT_EQ(SummaryOf(CountSeverities(findings)), "1 error, 8 notes");
  EXPECT_EQ(SummaryOf({}), "no findings");
}

TEST(Check, ReportBreaksLines) {
  const std::vector<Diagnostic> findings = {{.code = FindingCode::kSchema,
                                             .severity = Severity::kWarning,
                                             .message = "a message of several words",
                                             .remedy = "and what to do about it",
                                             .path = "body"}};
  EXPECT_EQ(FindingsListing(findings, {.width = 30}),
            "warning  body: a message of\n"
            "         several words\n"
            "         [schema]\n"
            "         -> and what to do\n"
            "            about it\n");
}

TEST(Check, JsonHasNullsForNothing) {
  std::string out;
  JsonWriter json(out);
  json.BeginArray();
  WriteFinding(json, {.code = FindingCode::kNoName, .severity = Severity::kWarning, .message = "m"}, "");
  WriteFinding(json, {FindingCode::kSchema, Severity::kError, 3, "x", "m \"q\"", "r", "4.loop_net"}, "f.pb");
  json.EndArray();
  EXPECT_EQ(
      out,
      R"([{"severity":"warning","code":"no_name","message":"m","op":null,"blob":null,"remedy":"","net":""},)"
      R"({"file":"f.pb","severity":"error","code":"schema","message":"m \"q\"","op":3,"blob":"x",)"
      R"("remedy":"r","net":"4.loop_net"}])");
}

// A golden case shows how each kind of finding reads. Two can't be shown there: what a codec noted, and a net
// nested a hundred deep.
TEST(Check, EveryCodeHasAGoldenCase) {
  const std::string cases = test::ReadFile(test::DataPath("../golden/check.txt")) +
                            test::ReadFile(test::DataPath("../golden/check_plan.txt")) +
                            test::ReadFile(test::DataPath("../golden/shapes.txt"));
  for (int k = 0; k < kNumFindingCodes; ++k) {
    const auto code = static_cast<FindingCode>(k);
    if (code == FindingCode::kLenient || code == FindingCode::kNestedTooDeep) continue;
    EXPECT_NE(cases.find(StrCat("[", FindingCodeName(code), "]")), std::string::npos)
        << FindingCodeName(code);
  }
}

// A net in an operator in a net ... deeper than anything is entered.
TEST(Check, StopsAtADepth) {
  Net net = CompactNet("in x; out y; Relu(x) -> y");
  for (int depth = 0; depth < 150; ++depth) {
    Net outer(net.symbols);
    Op op;
    op.type = outer.Intern("If");
    op.args = ArgList({MakeArg(outer.Intern("then_net"), std::make_shared<const Net>(std::move(net)))});
    outer.ops.push_back(std::move(op));
    net = std::move(outer);
  }
  net.name = net.Intern("deep");
  const std::vector<Diagnostic> findings = CheckNet(net, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, FindingCode::kNestedTooDeep);
  EXPECT_EQ(EffectsOf(net).reads.size(), 0u);
}

TEST(Check, LargeNetsAreNothingSpecial) {
  const OpSet none({});
  for (const Net& net : {testing::ResidualNet(200000, testing::Pass::kTraining), testing::StarNet(200000),
                         testing::LadderNet(200000), testing::InPlaceChainNet(200000)})
    for (const Diagnostic& finding : CheckNet(net, {})) EXPECT_NE(finding.severity, Severity::kError);
  // Each waits for the one before it, all too late: one component search, not one per operator.
  std::string text = "name n; in x; out a0;";
  for (int i = 0; i < 20000; ++i) StrAppend(text, "Relu(x) -> a", i, " !a", i + 1, ";");
  EXPECT_EQ(CheckNet(CompactNet(text), {.per_code = 1}).size(), 3u);
}

}  // namespace
}  // namespace weft
