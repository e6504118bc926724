// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Recomputing: what may run twice, what is chosen, and that gradients stay what they were, to the bit, on
// random nets with in-place and overwritten blobs whatever is chosen. Values of the recorded training nets
// and of nets with control flow: train_values_test.cc and properties_test.cc.
#include "core/pass/recompute.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <random>
#include <set>

#include "core/base/hash.h"
#include "core/base/str.h"
#include "core/check/check_net.h"
#include "core/grad/stored.h"
#include "core/kernels/families.h"
#include "core/pass/recompute_model.h"
#include "core/run/interpreter.h"
#include "core/ssa/diff.h"
#include "tests/support/compact_net.h"
#include "tests/support/golden.h"
#include "tests/support/model_inputs.h"
#include "tests/support/random_recompute.h"

namespace weft::test {
namespace {

using testing::CompactNet;
using testing::CompactOp;
using testing::ToCompact;

// The net with the gradients of "loss", kept from the eyes of nobody: they are external outputs.
Result<Net> WithGradients(const Net& net) {
  GradientOptions options;
  options.losses.push_back({net.symbols->Find("loss"), {}});
  WEFT_TRY(Backward backward, PlanGradients(net, StandardOps(), options));
  std::vector<Symbol> gradients;
  for (const BlobGradient& of : backward.gradients)
    if (of.gradient.is_dense() && of.version == 0) gradients.push_back(of.gradient.dense);
  Net out = AppendBackward(net, std::move(backward));
  out.external_outputs.insert(out.external_outputs.end(), gradients.begin(), gradients.end());
  return out;
}

std::vector<GivenBlob> Square(const Net& net, int64_t extent) {
  std::vector<GivenBlob> given;
  for (const Symbol blob : net.external_inputs)
    given.push_back({blob, TensorInfo::Of(DataType::kFloat, {extent, extent})});
  return given;
}

struct Planned {
  RecomputePlan plan;
  std::string text;
};
Planned Plan(std::string_view forward, const RecomputeLimits& limits = {}, std::string_view keep = "") {
  const Result<Net> net = WithGradients(CompactNet(forward));
  WEFT_CHECK(net.has_value());
  ShapeTable table;
  std::vector<Symbol> kept;
  if (!keep.empty()) kept.push_back(net->symbols->Find(keep));
  Planned out{Recompute(*net, Square(*net, 8), table, StandardOps(), limits, kept), ""};
  for (const OpId op : out.plan.again)
    StrAppend(out.text, out.text.empty() ? "" : " ", net->Str(net->ops[static_cast<size_t>(op)].outputs[0]));
  return out;
}

constexpr std::string_view kChain =
    "in x; Tanh(x) -> a; Tanh(a) -> b; Tanh(b) -> c; Tanh(c) -> d; Tanh(d) -> e; Tanh(e) -> f; Tanh(f) -> g; "
    "Tanh(g) -> h; Tanh(h) -> i; SumElements(i) -> loss; out loss";

TEST(Recompute, AChainKeepsTheEndsOfItsSegments) {
  const Planned lowest = Plan(kChain);
  EXPECT_EQ(lowest.plan.nothing, "");
  EXPECT_EQ(lowest.text, "a b c f g");
  EXPECT_LT(lowest.plan.peak_after, lowest.plan.peak_before);
  const Planned some = Plan(kChain, {.budget = lowest.plan.peak_before - 256});
  EXPECT_EQ(some.plan.peak_after, lowest.plan.peak_before - 256);
  EXPECT_LT(some.plan.extra_flops, lowest.plan.extra_flops);
  const Planned few = Plan(kChain, {.most_percent = 10});
  EXPECT_LE(10 * few.plan.extra_flops, few.plan.flops);
  EXPECT_GT(few.plan.peak_after, lowest.plan.peak_after);
  EXPECT_LT(few.plan.peak_after, few.plan.peak_before);
  EXPECT_EQ(Plan(kChain, {.budget = lowest.plan.peak_before}).plan.nothing, "the net is within the budget");
  EXPECT_EQ(Plan(kChain, {.most_percent = 0}).plan.nothing, "nothing that may run again lowers the peak");
}

TEST(Recompute, NothingToDo) {
  ShapeTable table;
  Net net = CompactNet(kChain);
  const RecomputePlan forward = Recompute(net, Square(net, 8), table, StandardOps());
  EXPECT_EQ(forward.nothing, "the net has no backward pass");
  EXPECT_TRUE(SameNet(forward.net, net));
  const Result<Net> train = WithGradients(net);
  ASSERT_TRUE(train.has_value());
  EXPECT_EQ(Recompute(*train, {}, table, StandardOps()).nothing,
            "nothing lowers the peak as far as sizes are known");
  EXPECT_EQ(Recompute(Net(), {}, table, StandardOps()).nothing, "the net has no backward pass");
}

// What the operator that makes `t` may not: run twice.
TEST(Recompute, WhatRunsOnce) {
  const auto may = [](std::string_view text, std::string_view keep = "", std::string_view type = "",
                      std::string_view changed = "t") {
    Net net = CompactNet(text);
    if (!type.empty())
      for (Op& op : net.ops)
        if (net.Str(op.outputs[0]) == changed) op.type = net.Intern(type);
    const Result<Net> train = WithGradients(CompactNet(text, net.symbols));
    EXPECT_TRUE(train.has_value()) << text;
    Net whole = *train;
    for (size_t i = 0; i < net.ops.size(); ++i) whole.ops[i].type = net.ops[i].type;
    ShapeTable table;
    const NetShapes shapes = InferShapes(whole, Square(whole, 8), table);
    std::vector<Symbol> kept;
    if (!keep.empty()) kept.push_back(net.symbols->Find(keep));
    const internal::RecomputeModel model(whole, shapes, MostLive(whole, shapes, table), table, StandardOps(),
                                         kept);
    EXPECT_LT(model.turn(), model.end());
    for (OpId op = 0; op < model.turn(); ++op)
      if (net.Str(whole.ops[static_cast<size_t>(op)].outputs[0]) == "t") return model.may(op);
    ADD_FAILURE() << "no t";
    return false;
  };
  const std::string end = " Mul(t, t) -> m; SumElements(m) -> loss; out loss";
  EXPECT_TRUE(may("in x; Tanh(x) -> t;" + end));
  EXPECT_TRUE(may("in x; Negative(x) -> t; Relu(t) -> t;" + end));                // in place, both together
  EXPECT_FALSE(may("in x; Tanh(x) -> t;" + end, "t"));                            // wanted
  EXPECT_FALSE(may("in x; Tanh(x) -> t;" + end + " t"));                          // an output of the net
  EXPECT_FALSE(may("in x y; Tanh(x) -> t !y;" + end));                            // waits
  EXPECT_FALSE(may("in x; Tanh(x) -> t;" + end, "", "UniformFill"));              // random
  EXPECT_FALSE(may("in x; Tanh(x) -> t;" + end, "", "NotAnOperator"));            // unknown
  EXPECT_FALSE(may("in x; Tanh(x) -> t;" + end, "", "DequeueBlobs"));             // on the host, with state
  EXPECT_FALSE(may("in x; Tanh(x) -> t;" + end, "", "Allreduce"));                // all ranks must call it
  EXPECT_FALSE(may("in x t; Copy(x) -> t;" + end));                               // t is there before
  EXPECT_FALSE(may("in y; Negative(y) -> t; Copy(t) -> y;" + end));               // y is overwritten
  EXPECT_TRUE(may("in x; Copy(x) -> y; Negative(y) -> t; Copy(t) -> y;" + end));  // y can be made again
  EXPECT_FALSE(may("in x; Copy(x) -> y; Negative(y) -> t; Copy(t) -> y;" + end, "", "UniformFill", "y"));
  EXPECT_FALSE(may("in x; Tanh(x) -> t; Alias(t) -> u; Mul(u, t) -> m; SumElements(m) -> loss; out loss"));
}

// A random net of operators without nets inside: in place, overwritten, with several readers and outputs.
Net RandomLayers(uint32_t seed) {
  std::mt19937 random(seed);
  Net net = CompactNet("in x0 x1; Copy(x0) -> b0");
  std::vector<std::string> names = {"b0"};
  const auto any = [&] {
    return random() % 8 == 0 ? StrCat("x", random() % 2) : names[random() % names.size()];
  };
  const size_t length = 6 + random() % 14;
  for (size_t i = 0; i < length; ++i) {
    const std::string fresh = StrCat("b", names.size());
    const std::string to = random() % 4 == 0 ? names[random() % names.size()] : fresh;
    std::string text;
    switch (random() % 8) {
      case 0: {
        const std::string in_place = names.back();
        text = StrCat("Relu(", in_place, ") -> ", in_place);
        break;
      }
      case 1:
        text = StrCat("Mul(", any(), ", ", any(), ") -> ", to);
        break;
      case 2:
        text = StrCat("Sum(", any(), ", ", any(), ", ", any(), ") -> ", to);
        break;
      case 3:
        text = StrCat("Sigmoid(", any(), ") -> ", to);
        break;
      case 4:
        text = StrCat("Dropout(", any(), ") -> ", to, ", mask", i);
        break;
      case 5:
        text = StrCat("MatMul(", any(), ", ", any(), ") -> ", to);
        break;
      case 6:
        text =
            StrCat("Split(", any(), ") -> p", i, ", q", i, "; Concat(q", i, ", p", i, ") -> ", to, ", s", i);
        break;
      default:
        text = StrCat("Tanh(", any(), ") -> ", to);
        break;
    }
    for (const std::string_view piece : StrSplit(text, ';')) {
      net.ops.push_back(CompactOp(piece, net.symbols));
      Op& op = net.ops.back();
      if (net.Str(op.type) == "Dropout")
        op.args = WithArg(op.args, MakeArg(net.Intern("is_test"), int64_t{0}));
      if (net.Str(op.type) == "Split" || net.Str(op.type) == "Concat")
        op.args = WithArg(op.args, MakeArg(net.Intern("axis"), int64_t{1}));
    }
    if (!text.ends_with(StrCat(" -> ", names.back())) && to == fresh) names.push_back(fresh);
  }
  net.ops.push_back(CompactOp(StrCat("SumElements(", names.back(), ") -> loss"), net.symbols));
  net.external_outputs = {net.Intern("loss")};
  return net;
}

// By how they are made, all values that `made` reads, writes and makes again are values of `net`: each is a
// number made of its operator and of the numbers that it reads.
struct Values {
  explicit Values(const Net& net) : ssa(net), numbers(ssa.values().size(), 0) {
    for (ValueId v = 0; v < ssa.values().size(); ++v)
      if (ssa.values()[v].def == kNoOp) numbers[v] = HashMix(1, ssa.blobs()[ssa.values()[v].blob].id);
    for (OpId id = 0; id < static_cast<OpId>(net.ops.size()); ++id) {
      const Op& op = net.ops[static_cast<size_t>(id)];
      const auto statistic = [&](size_t i) { return internal::IsRunningStatistic(net, op, i); };
      uint64_t hash = HashMix(op.type.id, reinterpret_cast<uintptr_t>(op.args.begin()));
      for (size_t i = 0; i < op.inputs.size(); ++i)
        if (!statistic(i)) hash = HashMix(hash, numbers[ssa.inputs(id)[i]]);
      for (size_t i = 0; i < op.outputs.size(); ++i)
        numbers[ssa.outputs(id)[i]] =
            HashMix(hash, statistic(i + 2) ? HashMix(i, numbers[ssa.inputs(id)[i + 2]]) : i);
      of_op.push_back(hash);
    }
  }
  const Ssa ssa;
  std::vector<uint64_t> numbers, of_op;
};
void ExpectSameValues(const Net& net, const Net& made, size_t again) {
  const Values before(net), after(made);
  size_t next = 0, twice = 0;
  for (size_t i = 0; i < made.ops.size(); ++i) {
    const Op& op = made.ops[i];
    if (op.outputs.empty() || made.Str(op.outputs[0]).find("_recomputed") == std::string_view::npos) {
      ASSERT_LT(next, net.ops.size());
      EXPECT_EQ(after.of_op[i], before.of_op[next++]) << i;
    } else if (std::count(before.of_op.begin(), before.of_op.end(), after.of_op[i]) > 0) {
      ++twice;
    } else {
      EXPECT_EQ(made.Str(op.type), "Copy");  // of running statistics
    }
  }
  EXPECT_EQ(next, net.ops.size());
  EXPECT_EQ(twice, again);
}

// The bytes of all external outputs; "" and the error when it does not run.
std::string BitsOf(const Net& net, std::string& error) {
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  Workspace workspace(context);
  std::mt19937 random(7);
  for (const Symbol blob : net.external_inputs) {
    std::vector<float> values(16);
    for (float& value : values) value = static_cast<float>(random() % 1000) / 500.0f - 1.0f;
    const int64_t dims[] = {4, 4};
    workspace.Feed(net.Str(blob), Tensor::Of<float>(dims, values));
  }
  error.clear();
  if (const Result<void> ran = workspace.RunNetOnce(net); !ran) {
    error = ran.error().message;
    return "";
  }
  std::string bits;
  for (const Symbol blob : net.external_outputs) {
    const Tensor* tensor = workspace.FindTensor(net.Str(blob));
    if (tensor && tensor->type() == DataType::kFloat)
      bits.append(reinterpret_cast<const char*>(tensor->data<float>()),
                  static_cast<size_t>(tensor->numel()) * sizeof(float));
  }
  return bits;
}

TEST(Recompute, GradientsStayWhatTheyWere) {
  int nets = 0, lower = 0, refused = 0;
  size_t twice = 0;
  for (uint32_t seed = 0; seed < 800 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    const Result<Net> net = WithGradients(RandomLayers(seed));
    if (!net) {  // an overwritten blob that a gradient needs
      ++refused;
      continue;
    }
    std::string error;
    const std::string expected = BitsOf(*net, error);
    if (!error.empty()) {  // in place where that is not allowed
      ++refused;
      continue;
    }
    ++nets;
    const std::vector<GivenBlob> given = Square(*net, 4);
    const auto check = [&](const Net& made, size_t again) {
      EXPECT_TRUE(BitsOf(made, error) == expected) << ToCompact(*net) << "\n" << ToCompact(made);
      EXPECT_EQ(error, "");
      EXPECT_TRUE(CheckNet(made, {.ops = &StandardOps()}).size() <=
                  CheckNet(*net, {.ops = &StandardOps()}).size());
      ExpectSameValues(*net, made, again);
      const NetDiff diff = DiffNets(*net, made);
      EXPECT_TRUE(diff.only_a.empty());
      EXPECT_EQ(diff.only_b.size(), again);
      for (const ChangedOp& op : diff.changed)
        EXPECT_TRUE(op.args.empty() && !op.outputs && !op.device && !op.engine && !op.control_inputs);
      twice += again;
    };
    for (uint32_t chance = 0; chance < 4; ++chance) {
      const RandomlyRecomputed made = RecomputeByChance(*net, given, 4 * seed + chance);
      EXPECT_TRUE(made.exact);
      EXPECT_EQ(made.told, made.live) << ToCompact(made.net);
      check(made.net, made.again);
    }
    ShapeTable table;
    const RecomputePlan plan = Recompute(*net, given, table, StandardOps());
    EXPECT_EQ(plan.nothing.empty(), plan.peak_after < plan.peak_before);
    lower += plan.nothing.empty();
    check(plan.net, plan.again.size());
    // The stored backward pass is taken away whole, with what runs again.
    const Result<std::optional<StoredPass>> pass = FindStoredPass(plan.net);
    ASSERT_TRUE(pass.has_value() && pass->has_value());
    std::vector<Op> tail;
    EXPECT_EQ(TakeStoredPassAway(plan.net, **pass, tail).ops.size(), RandomLayers(seed).ops.size());
    EXPECT_TRUE(tail.empty());
  }
  std::cout << nets << " nets (" << refused << " refused), " << twice << " operators twice, " << lower
            << " with a lower peak\n";
  EXPECT_GT(nets, 200);
  EXPECT_GT(lower, nets / 10);
}

// Against all choices there are, on nets of which up to 12 operators may run again: the lowest peak, and the
// fewest operations for it.
TEST(Recompute, ComesCloseToTheBestChoice) {
  int nets = 0, best = 0, fewest = 0, worse = 0;
  double above = 0;
  for (uint32_t seed = 0; seed < 800; ++seed) {
    const Result<Net> net = WithGradients(RandomLayers(seed));
    if (!net) continue;
    ShapeTable table;
    const std::vector<GivenBlob> given = Square(*net, 4);
    const NetShapes shapes = InferShapes(*net, given, table);
    const internal::RecomputeModel model(*net, shapes, MostLive(*net, shapes, table), table, StandardOps(),
                                         {});
    std::vector<size_t> ops;
    for (OpId op = 0; op < model.turn(); ++op)
      if (model.may(op)) ops.push_back(static_cast<size_t>(op));
    if (ops.size() > 12) continue;
    std::pair<int64_t, int64_t> least = {INT64_MAX, 0};
    for (uint32_t choice = 0; choice < (1u << ops.size()); ++choice) {
      std::vector<uint8_t> again(static_cast<size_t>(model.turn()), 0);
      for (size_t k = 0; k < ops.size(); ++k) again[ops[k]] = choice >> k & 1;
      const internal::RecomputeModel::Trial trial = model.Try(again);
      least = std::min(least, {trial.peak, trial.flops});
    }
    const RecomputePlan plan = Recompute(*net, given, table, StandardOps());
    ++nets;
    EXPECT_GE(plan.peak_after, least.first);
    best += plan.peak_after == least.first;
    fewest += plan.peak_after == least.first && plan.extra_flops <= least.second;
    const double ratio = static_cast<double>(plan.peak_after) / static_cast<double>(least.first);
    worse += ratio > 1.1;
    above += ratio - 1;
  }
  std::cout << nets << " nets: " << best << " with the lowest peak, " << fewest
            << " of them with the fewest operations; " << worse << " more than a tenth above, on average "
            << 100 * above / nets << " %\n";
  EXPECT_GT(100 * best, 90 * nets);
}

std::set<FindingCode> Errors(const Net& net) {
  std::set<FindingCode> codes;
  for (const Diagnostic& finding : CheckNet(net, {.ops = &StandardOps()}))
    if (finding.severity == Severity::kError) codes.insert(finding.code);
  return codes;
}

// Nets that Caffe2 differentiated: blobs that are overwritten, shared, sparse, on several devices. They need
// not run: what is made again must be what it was, by how it is made.
TEST(Recompute, RecordedNetsMakeTheSameValues) {
  size_t nets = 0, twice = 0;
  for (const char* file : {"backward_suite", "backward_random", "backward_edge"}) {
    for (const Json& row : ReadJsonl(StrCat("caffe2/", file, ".jsonl"))) {
      if (row.contains("error")) continue;
      SCOPED_TRACE(StrCat(file, " ", nets));
      const Net net = NetFromText(
          StrCat(row.at("forward").get<std::string>(), "\n", row.at("backward").get<std::string>()));
      ++nets;
      for (uint32_t seed = 0; seed < 4; ++seed) {
        const RandomlyRecomputed made = RecomputeByChance(net, {}, seed);
        ExpectSameValues(net, made.net, made.again);
        twice += made.again;
        // A finding about an operator may be one about its second run, too.
        const std::set<FindingCode> before = Errors(net);
        for (const FindingCode code : Errors(made.net)) EXPECT_TRUE(before.contains(code));
      }
    }
  }
  std::cout << nets << " nets, " << twice << " operators twice\n";
  EXPECT_GT(twice, nets);
}

// Batch 32, as recorded, and a symbolic one; peaks are those of live_bytes.
TEST(Recompute, LowersThePeakOfTheModels) {
  for (const ModelInputs& model : AllModelInputs()) {
    SCOPED_TRACE(std::string(model.model));
    const Net net = NetFromFile(StrCat("models/", model.model, ".pb"));
    const Net init = NetFromFile(StrCat("models/", model.model, "_init.pb"), net.symbols);
    for (const bool symbolic : {false, true}) {
      std::vector<std::string> inputs = model.inputs;
      for (std::string& input : inputs)
        if (!symbolic) input = WithNumbers(input);
      ShapeTable table;
      const std::vector<GivenBlob> given = GivenOfModel(net, init, inputs, table);
      const RecomputeLimits limits[] = {{.most_percent = 1}, {.most_percent = 10}, {}};
      std::vector<RecomputePlan> plans;
      RecomputeEach(net, given, table, StandardOps(), limits, {},
                    [&](RecomputePlan plan) { plans.push_back(std::move(plan)); });
      ASSERT_EQ(plans.size(), 3u);
      int64_t before = plans[0].peak_before;
      for (size_t i = 0; i < plans.size(); ++i) {
        const RecomputePlan& plan = plans[i];
        EXPECT_LE(plan.peak_after, before);
        before = plan.peak_after;
        if (limits[i].most_percent) {
          EXPECT_LE(100 * static_cast<double>(plan.extra_flops),
                    static_cast<double>(plan.flops * *limits[i].most_percent));
        }
        const NetShapes shapes = InferShapes(plan.net, given, table);
        EXPECT_TRUE(shapes.whole());
        EXPECT_EQ(table.At(MostLive(plan.net, shapes, table).most, LiveBytes::kSymbolValue), plan.peak_after);
        ExpectSameValues(net, plan.net, plan.again.size());
        EXPECT_EQ(CheckNet(plan.net, {.ops = &StandardOps()}).size(),
                  CheckNet(net, {.ops = &StandardOps()}).size());
      }
      // Of dlrm_26 and char_rnn_2 parameters and steps are all.
      EXPECT_TRUE(plans[2].nothing.empty() || model.model == "dlrm_26" || model.model == "char_rnn_2");
      if (model.model.starts_with("resnet50") || model.model == "inception_train") {
        EXPECT_LT(2 * before, plans[2].peak_before);
      }
    }
  }
}

}  // namespace
}  // namespace weft::test
