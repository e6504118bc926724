// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Every backward pass that real Caffe2 was recorded to build (tests/data/caffe2/README.md), planned again: in
// mode caffe2 all rows agree; in the default mode all agree but those that mode_differences.tsv lists with
// the fault of Caffe2 that explains them, and no listed row agrees.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "core/base/str.h"
#include "tests/grad/recorded_backward.h"
#include "tests/support/files.h"
#include "tests/support/toy_ops.h"

namespace weft {
namespace {

using test::CompareBackward;
using test::ReadRecordedBackward;
using test::RecordedBackward;

constexpr std::pair<std::string_view, uint32_t> kFaultNames[] = {
    {"B1", kFaultLostGiven},          {"B2", kFaultByName},
    {"B4", kFaultUnknownLoss},        {"B6", kFaultShallowRename},
    {"B10/B53", kFaultRules},         {"B13", kFaultNameClash},
    {"B14", kFaultTagDevice},         {"B15", kFaultDeviceType},
    {"B18", kFaultSeedDevice},        {"B56", kFaultOverwrite},
    {"B60", kFaultLastWins},          {"B2/temporaries", kFaultTemporaries},
    {"B2/own-input", kFaultOwnInput}, {"B2/copy-reads", kFaultCopyReads},
    {"control", kFaultControlFlow},
};

uint32_t FaultBits(std::string_view names) {
  uint32_t bits = 0;
  for (std::string_view name : StrSplit(names, ','))
    for (const auto& [known, bit] : kFaultNames)
      if (name == known) bits |= bit;
  return bits;
}

std::string FaultNames(uint32_t bits) {
  std::vector<std::string> names;
  for (const auto& [name, bit] : kFaultNames)
    if (bits & bit) names.emplace_back(name);
  return StrJoin(names, ",");
}

// A smallest set of faults that, repeated, give the recorded row: none of them can be left out.
uint32_t Explain(const RecordedBackward& row, const OpSet& ops) {
  uint32_t bits = kAllFaults;
  for (const auto& [name, bit] : kFaultNames)
    if (CompareBackward(row, ops, bits & ~bit, false).empty()) bits &= ~bit;
  return bits;
}

std::map<std::string, std::string> ReadDifferences() {
  std::map<std::string, std::string> differences;
  std::ifstream file(test::DataPath("mode_differences.tsv"));
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    differences[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return differences;
}

struct Count {
  int agree = 0, listed = 0, wrong = 0;
};

class BackwardGolden : public testing::TestWithParam<const char*> {};

void Report(std::string_view file, std::string_view mode, const Count& count) {
  std::cout << file << ", " << mode << ": " << count.agree << " agree, " << count.listed
            << " differ with a reason, " << count.wrong << " wrong\n";
}

TEST_P(BackwardGolden, ModeCaffe2) {
  Count count;
  for (const RecordedBackward& row : ReadRecordedBackward(GetParam())) {
    const std::string difference = CompareBackward(row, test::StandardAndToyOps(), kAllFaults, true);
    difference.empty() ? ++count.agree : ++count.wrong;
    if (!difference.empty() && count.wrong <= 5) ADD_FAILURE() << row.id << ": " << difference;
  }
  Report(GetParam(), "mode caffe2", count);
  EXPECT_EQ(count.wrong, 0);
}

// A listed row must differ, and must agree when just the faults it is listed under are repeated.
TEST_P(BackwardGolden, DefaultMode) {
  const OpSet& ops = test::StandardAndToyOps();
  const std::map<std::string, std::string> differences = ReadDifferences();
  const bool update =
      std::getenv("WEFT_LIST_DIFFERENCES") != nullptr;  // prints the lines of mode_differences.tsv
  Count count;
  for (const RecordedBackward& row : ReadRecordedBackward(GetParam())) {
    const std::string id = row.id;
    const std::string difference = CompareBackward(row, ops, kNoFaults, false);
    if (update) {
      if (!difference.empty()) std::cout << "LIST\t" << id << "\t" << FaultNames(Explain(row, ops)) << "\n";
      continue;
    }
    const auto listed = differences.find(id);
    std::string wrong;
    if (listed == differences.end()) {
      wrong = difference;
    } else if (difference.empty()) {
      wrong = "listed under " + listed->second + ", but agrees";
    } else {
      wrong = CompareBackward(row, ops, FaultBits(listed->second), false);
      if (!wrong.empty()) wrong = "listed under " + listed->second + ", which does not explain it: " + wrong;
    }
    if (!wrong.empty()) {
      if (++count.wrong <= 5) ADD_FAILURE() << id << ": " << wrong;
    } else {
      listed == differences.end() ? ++count.agree : ++count.listed;
    }
  }
  Report(GetParam(), "default mode", count);
  EXPECT_EQ(count.wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, BackwardGolden,
                         testing::Values("backward_suite", "backward_random", "backward_edge",
                                         "backward_types", "gradient_rules", "control"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft
