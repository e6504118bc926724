// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The reference kernels against what real Caffe2 computed (tests/data/caffe2/operators.jsonl, and
// regions.jsonl for detectors and quantized rows). Prints, per operator type, how many rows agree, differ for
// a listed reason, or are not supported; a row that differs for no listed reason fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/interpreter.h"
#include "tests/run/arrays.h"

namespace weft::test {
namespace {

// Chains of exponentials and logarithms, and long sums: 1e-3.
bool IsLoose(const std::string& type) {
  static const std::set<std::string> loose = {};
  return loose.contains(type);
}

// Values come from a generator that was not seeded: only types, shapes and ranges can agree.
bool IsRandom(const Net& net) {
  static const std::set<std::string, std::less<>> random = {"GaussianFill",
                                                            "MSRAFill",
                                                            "UniformFill",
                                                            "XavierFill",
                                                            "UniformIntFill",
                                                            "UniqueUniformFill",
                                                            "WeightedMultiSampling",
                                                            "WeightedSample",
                                                            "SparseDropoutWithReplacement"};
  for (const Op& op : net.ops) {
    if (random.contains(net.Str(op.type))) return true;
    if (net.Str(op.type) == "Dropout" && ArgInt(*net.symbols, op.args, "is_test", 0) == 0) return true;
  }
  return false;
}

// Rows and types where Weft means to differ: by id or by type.
struct Reason {
  std::string_view id_or_type, reason;
};
constexpr Reason kReasons[] = {
    {"d83011f50de58ba5", "the net calls a Python function"},
    {"IntegralImageGradient",
     "Caffe2 sums the gradient from the corner that the integral starts in; Weft's is right by finite "
     "differences"},
};

const Reason* FindReason(const std::string& id, const std::string& type) {
  for (const Reason& reason : kReasons)
    if (reason.id_or_type == id || reason.id_or_type == type) return &reason;
  return nullptr;
}

struct Tally {
  int rows = 0, agree = 0, reasons = 0, unsupported = 0;
};

// "" when the row agrees.
std::string RunRow(const Json& row, bool& unsupported) {
  const std::string type = row.at("type");
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  Workspace workspace(context);
  for (const auto& [name, array] : row.at("inputs").items()) workspace.Feed(name, TensorFromJson(array));
  const Net net = NetFromText(row.at("net").get<std::string>());
  for (const Op& op : net.ops) {
    if (ReferenceKernels().Find(net.Str(op.type))) continue;
    const OpDef* def = StandardOps().Find(net.Str(op.type));
    unsupported = def && (def->flags & kHostOnly);  // they need files, threads or a clock
    return StrCat("no kernel for ", net.Str(op.type));
  }
  const Result<void> ran = [&]() -> Result<void> {
    WEFT_TRY(const auto prepared, PreparedNet::Create(std::make_shared<const Net>(net), workspace));
    for (int64_t times = row.value("times", int64_t{1}); times > 0; --times) WEFT_TRY_VOID(prepared->Run());
    return {};
  }();
  if (row.contains("error"))
    return ran ? StrCat("expected the error ", row.at("error").get<std::string>()) : "";
  if (!ran) return StrCat("error: ", ran.error().message);
  const double tolerance = IsLoose(type) ? 1e-3 : 1e-4;
  for (const auto& [name, array] : row.at("outputs").items()) {
    const Tensor* found = workspace.FindTensor(name);
    if (!found) return StrCat(name, " is not a tensor");
    const Tensor expected = TensorFromJson(array);
    if (IsRandom(net)) {
      if (found->type() != expected.type() || DimsToString(found->dims()) != DimsToString(expected.dims()))
        return StrCat(name, " differs in type or shape");
      continue;
    }
    const std::string difference = Difference(*found, expected, tolerance, tolerance);
    if (!difference.empty()) return StrCat(name, ": ", difference);
  }
  return "";
}

TEST(Operators, AgreeWithCaffe2) {
  std::map<std::string, Tally> types;
  std::vector<Json> rows = ReadJsonl("caffe2/operators.jsonl");
  for (const char* file : {"caffe2/regions.jsonl", "caffe2/more_operators.jsonl"})
    for (Json& row : ReadJsonl(file)) rows.push_back(std::move(row));
  for (const Json& row : rows) {
    const std::string type = row.at("type"), id = row.at("id");
    Tally& tally = types[type];
    ++tally.rows;
    bool unsupported = false;
    const std::string difference = RunRow(row, unsupported);
    const Reason* reason = FindReason(id, type);
    if (difference.empty()) {
      ++tally.agree;
      EXPECT_FALSE(reason && reason->id_or_type == id) << id << " agrees, but is listed: " << reason->reason;
    } else if (reason) {
      ++tally.reasons;
    } else if (unsupported) {
      ++tally.unsupported;
    } else {
      ADD_FAILURE() << type << " " << id << ": " << difference;
    }
  }
  Tally all;
  int full = 0;
  for (const auto& [type, tally] : types) {
    all.rows += tally.rows;
    all.agree += tally.agree;
    all.reasons += tally.reasons;
    all.unsupported += tally.unsupported;
    full += tally.agree == tally.rows;
    std::string line = StrCat(type, ": ", tally.agree, " of ", tally.rows, " agree");
    if (tally.reasons) StrAppend(line, ", ", tally.reasons, " differ for a listed reason");
    if (tally.unsupported) StrAppend(line, ", ", tally.unsupported, " not supported");
    std::puts(line.c_str());
  }
  std::puts(StrCat("rows: ", all.agree, " of ", all.rows, " agree, ", all.reasons,
                   " differ for a listed reason, ", all.unsupported, " not supported; types: ", full, " of ",
                   types.size(), " agree wholly")
                .c_str());
}

// Operators of tiers 1 and 2 without a kernel that need neither files, threads, a clock, a GPU nor other
// machines: by name or its beginning.
constexpr Reason kLacking[] = {
    {"Int8", "quantized with a scale per tensor: nets of them open, check and have shapes"},
    {"Onnxifi", "hands the net to a library of the machine's"},
    {"GroupSpatialSoftmax",
     "of Detectron's module, which is built for GPUs alone: there is nothing to compare with"},
    {"PSRoIPool", "as GroupSpatialSoftmax"},
    {"RoIPoolF", "as GroupSpatialSoftmax"},
    {"SampleAs", "as GroupSpatialSoftmax"},
    {"SelectSmoothL1Loss", "as GroupSpatialSoftmax"},
    {"SigmoidCrossEntropyLoss", "as GroupSpatialSoftmax"},
    {"SigmoidFocalLoss", "as GroupSpatialSoftmax"},
    {"SmoothL1Loss", "as GroupSpatialSoftmax"},
    {"SoftmaxFocalLoss", "as GroupSpatialSoftmax"},
    {"SpatialNarrowAs", "as GroupSpatialSoftmax"},
    {"UpsampleNearest", "as GroupSpatialSoftmax"},
};

TEST(Operators, EachOfTiers1And2HasAKernelOrSaysWhyNot) {
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  Workspace workspace(context);
  int all = 0, kernels = 0, native = 0, listed = 0;
  for (const OpDef* def : StandardOps().all()) {
    const bool has_kernel = ReferenceKernels().Find(def->name) != nullptr;
    const auto reason = std::find_if(std::begin(kLacking), std::end(kLacking),
                                     [&](const Reason& r) { return def->name.starts_with(r.id_or_type); });
    if (def->tier <= 2) ++all;
    if (has_kernel) {
      if (def->tier <= 2) ++kernels;
      EXPECT_TRUE(reason == std::end(kLacking)) << def->name << " has a kernel, but is listed";
      continue;
    }
    const Result<void> ran = workspace.RunNetOnce(NetFromText(StrCat("op { type: '", def->name, "' }")));
    ASSERT_FALSE(ran) << def->name;
    const bool says_native = ran.error().message.find("runs only natively") != std::string::npos;
    EXPECT_EQ(says_native, (def->flags & (kHostOnly | kGpuOnly | kCollective)) != 0) << ran.error().message;
    if (def->tier > 2) continue;
    native += says_native;
    listed += !says_native;
    EXPECT_TRUE(says_native || reason != std::end(kLacking)) << def->name << " has no kernel and no reason";
  }
  std::puts(StrCat("operators of tiers 1 and 2: ", all, "; ", kernels, " have a kernel, ", native,
                   " run only natively, ", listed, " have a listed reason")
                .c_str());
}

}  // namespace
}  // namespace weft::test
