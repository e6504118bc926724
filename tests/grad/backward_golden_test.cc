// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Every backward pass that real Caffe2 was recorded to build (tests/data/caffe2/README.md), planned again: in
// mode caffe2 all rows agree; in the default mode all agree but those that mode_differences.tsv lists with
// the fault of Caffe2 that explains them, and no listed row agrees.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/ops/op_set.h"
#include "proto/codec.h"
#include "tests/support/files.h"
#include "tests/support/golden.h"
#include "tests/support/toy_ops.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

struct Expected {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::vector<std::string> words;  // that the message must hold
};

std::string Between(const std::string& text, const std::string& before, const std::string& after) {
  const size_t begin = text.find(before);
  if (begin == std::string::npos) return "";
  const size_t from = begin + before.size();
  return text.substr(from, text.find(after, from) - from);
}

// What a recorded error says, by Caffe2's texts.
Expected ReadError(const std::string& error, bool caffe2) {
  const auto has = [&](const char* text) { return error.find(text) != std::string::npos; };
  const std::string type = Between(error, "creating gradient for [", "]");
  if (has("did not pass schema checking")) return {ErrorCode::kSchema, {type}};
  if (has("One should not call gradient")) return {ErrorCode::kNoGradient, {type, "should not call"}};
  if (has("is not implemented yet")) return {ErrorCode::kNoGradient, {type, "not implemented"}};
  if (has("GradientRegistry()->Has")) return {ErrorCode::kNoGradient, {type}};
  if (has("Gradient of output ")) {
    const std::string blob = Between(error, "Gradient of output ", " ");
    return {ErrorCode::kMissingGradient,
            {type, blob,
             has("is sparse")  ? "is sparse"
             : has("is dense") ? "is dense"
                               : "not provided"}};
  }
  if (has("Gradient name \"")) {
    return {ErrorCode::kVersionConflict,
            {Between(error, "Gradient name \"", "\""), "version " + Between(error, "to version ", " of"),
             "\"" + Between(error, " of \"", "\"") + "\"",
             "we have version " + Between(error, "we have version ", ".")}};
  }
  if (has("Gradient operator needs ")) {
    const std::string what = has("needs output") ? "output" : "input";
    const std::string blob = Between(error, "needs " + what + " \"", "\"");
    const std::string version = Between(error, "at version ", ",");
    if (caffe2)
      return {ErrorCode::kVersionConflict,
              {what, "\"" + blob + "\"", "at version " + version,
               "we have version " + Between(error, "we have version ", ".")}};
    return {ErrorCode::kVersionConflict, {what, " " + blob + "@"}};
  }
  if (has("mix of sparse and dense"))
    return {ErrorCode::kMixedGradients, {"''" + Between(error, "''", "''") + "''"}};
  if (has("same device option"))
    return {ErrorCode::kDeviceMismatch, {"''" + Between(error, "''", "''") + "''"}};
  if (has("can not be the same as the normal name")) return {ErrorCode::kNameConflict, {}};
  if (has("is orphan"))
    return {ErrorCode::kOrphanStopGradient, {"'" + Between(error, "output '", "'") + "'"}};
  if (has("not in the scope of operator"))
    return {ErrorCode::kInvalidArgument, {Between(error, "Blob name \"", "\"")}};
  return {ErrorCode::kUnsupported, {type}};  // what a rule itself refuses
}

bool HasControlFlow(const std::string& text) {
  for (const char* type : {"\"If\"", "\"While\"", "\"Do\"", "\"RecurrentNetwork\"", "\"AsyncIf\""})
    if (text.find(type) != std::string::npos) return true;
  return false;
}

bool IsAccumulation(const Op& op) {
  return op.device && std::find(op.device->extra_info.begin(), op.device->extra_info.end(),
                                "is_auto_gen_sum_ops:1") != op.device->extra_info.end();
}

// Caffe2 adds up the gradients of one operator's inputs in the order of a Python set.
void SortAccumulations(Net& net) {
  for (size_t i = 0; i < net.ops.size();) {
    size_t end = i;
    while (end < net.ops.size() && IsAccumulation(net.ops[end])) ++end;
    std::stable_sort(net.ops.begin() + static_cast<long>(i), net.ops.begin() + static_cast<long>(end),
                     [&](const Op& a, const Op& b) { return net.Str(a.outputs[0]) < net.Str(b.outputs[0]); });
    i = std::max(end, i + 1);
  }
}

std::string GradientText(const Net& net, const Gradient& g) {
  if (g.is_dense()) return std::string(net.Str(g.dense));
  return StrCat("(", net.Str(g.indices), ", ", net.Str(g.values), ")");
}

std::string GradientText(const Json& g) {
  if (g.is_string()) return g.get<std::string>();
  if (g.is_array()) return StrCat("(", g[0].get<std::string>(), ", ", g[1].get<std::string>(), ")");
  return StrCat("(", g["indices"].get<std::string>(), ", ", g["values"].get<std::string>(), ")");
}

// Empty when the planned backward pass agrees with the row, else the first difference. `caffe2`: errors are
// worded as Caffe2 words them, with its version numbers.
std::string Compare(const Json& row, const OpSet& ops, uint32_t faults, bool caffe2) {
  Result<Net> forward = ParseNetText(row["forward"].get<std::string>());
  if (!forward) return "forward: " + forward.error().message;
  GradientOptions options;
  options.faults = faults;
  const std::string id = row["id"];
  if (id == "d88e60a280b1ad64" || id == "f5820a9d06bc5d72") {  // recorded inside a device scope
    DeviceOption cpu;
    cpu.device_type = 0;
    cpu.device_id = 0;
    options.scope_device = std::make_shared<const DeviceOption>(cpu);
  }
  for (const auto& [name, given] : row["ys"].items()) {
    Loss loss{forward->Intern(name), {}};
    if (given.is_string()) loss.given = Gradient::Dense(forward->Intern(given.get<std::string>()));
    if (given.is_object())
      loss.given = Gradient::Sparse(forward->Intern(given["indices"].get<std::string>()),
                                    forward->Intern(given["values"].get<std::string>()));
    if (given.is_array())
      loss.given = Gradient::Sparse(forward->Intern(given[0].get<std::string>()),
                                    forward->Intern(given[1].get<std::string>()));
    options.losses.push_back(loss);
  }
  Result<Backward> backward = PlanGradients(*forward, ops, options);
  if (row.contains("error")) {
    const std::string error = row["error"];
    if (backward) return "no error, expected " + error.substr(0, 200);
    const Expected expected = ReadError(error, caffe2);
    if (backward.error().code != expected.code)
      return StrCat("error ", ErrorCodeName(backward.error().code), ": ", backward.error().message,
                    "\nexpected ", error.substr(0, 200));
    for (const std::string& word : expected.words)
      if (backward.error().message.find(word) == std::string::npos)
        return StrCat("error lacks '", word, "': ", backward.error().message, "\nexpected ",
                      error.substr(0, 200));
    return "";
  }
  if (!backward) return "error: " + backward.error().message;
  Net got(forward->symbols);
  got.ops = backward->ops;
  if (backward->origin.size() != got.ops.size()) return "origin has another length than ops";
  Result<Net> expected = ParseNetText(row["backward"].get<std::string>(), forward->symbols);
  if (!expected) return "backward: " + expected.error().message;
  SortAccumulations(got);
  SortAccumulations(*expected);
  for (size_t i = 0; i < std::max(got.ops.size(), expected->ops.size()); ++i) {
    if (i >= got.ops.size())
      return StrCat("op ", i, " missing: ", OpToText(*expected->symbols, expected->ops[i]));
    if (i >= expected->ops.size())
      return StrCat("op ", i, " unexpected: ", OpToText(*got.symbols, got.ops[i]));
    if (!SameOp(*got.symbols, got.ops[i], *expected->symbols, expected->ops[i]))
      return StrCat("op ", i, " is\n", OpToText(*got.symbols, got.ops[i]), "expected\n",
                    OpToText(*expected->symbols, expected->ops[i]));
  }
  std::map<std::string, std::string> grads, want;
  for (const BlobGradient& g : backward->gradients)
    grads[std::string(got.Str(g.blob))] = GradientText(got, g.gradient);
  for (const auto& [name, g] : row["grads"].items())
    if (!g.is_null()) want[name] = GradientText(g);
  for (const auto& [name, g] : want)
    if (grads[name] != g) return StrCat("gradient of ", name, " is '", grads[name], "', expected '", g, "'");
  for (const auto& [name, g] : grads)
    if (!want.contains(name)) return StrCat("gradient of ", name, " is '", g, "', expected none");
  return "";
}

// The rows of a file, with the keys of their objects in the order recorded: losses are ordered.
std::vector<Json> Rows(std::string_view name) {
  std::vector<Json> rows;
  const std::string text = test::ReadFile(test::DataPath(StrCat("caffe2/", name, ".jsonl")));
  for (std::string_view line : StrSplit(text, '\n'))
    if (!line.empty()) rows.push_back(Json::parse(line));
  return rows;
}

constexpr std::pair<std::string_view, uint32_t> kFaultNames[] = {
    {"B1", kFaultLostGiven},        {"B2", kFaultByName},      {"B4", kFaultUnknownLoss},
    {"B6", kFaultShallowRename},    {"B10/B53", kFaultRules},  {"B13", kFaultNameClash},
    {"B14", kFaultTagDevice},       {"B15", kFaultDeviceType}, {"B18", kFaultSeedDevice},
    {"B56", kFaultOverwrite},       {"B60", kFaultLastWins},   {"temporaries", kFaultTemporaries},
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
uint32_t Explain(const Json& row, const OpSet& ops) {
  uint32_t bits = kAllFaults;
  for (const auto& [name, bit] : kFaultNames)
    if (Compare(row, ops, bits & ~bit, false).empty()) bits &= ~bit;
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
  int agree = 0, listed = 0, later = 0, wrong = 0;
};

class BackwardGolden : public testing::TestWithParam<const char*> {};

void Report(std::string_view file, std::string_view mode, const Count& count) {
  std::cout << file << ", " << mode << ": " << count.agree << " agree, " << count.listed
            << " differ with a reason, " << count.later << " with control flow not compared here, "
            << count.wrong << " wrong\n";
}

TEST_P(BackwardGolden, ModeCaffe2) {
  Count count;
  for (const Json& row : Rows(GetParam())) {
    if (HasControlFlow(row["forward"])) {
      ++count.later;
      continue;
    }
    const std::string difference = Compare(row, test::StandardAndToyOps(), kAllFaults, true);
    difference.empty() ? ++count.agree : ++count.wrong;
    if (!difference.empty() && count.wrong <= 5) ADD_FAILURE() << row["id"] << ": " << difference;
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
  for (const Json& row : Rows(GetParam())) {
    if (HasControlFlow(row["forward"])) {
      ++count.later;
      continue;
    }
    const std::string id = row["id"];
    const std::string difference = Compare(row, ops, kNoFaults, false);
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
      wrong = Compare(row, ops, FaultBits(listed->second), false);
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
                         testing::Values("backward_suite", "backward_random", "backward_edge"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft
