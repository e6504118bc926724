// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What users of Caffe2 and its relatives ran into around gradients. tests/data/user_reports_gradient.tsv
// names a test for each report, here or elsewhere, or says why there is none.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/str.h"
#include "core/grad/after.h"
#include "core/grad/repair.h"
#include "tests/grad/plan_and_run.h"
#include "tests/support/compact_net.h"

namespace weft {
namespace {

using test::ExpectNumericGradients;
using test::GradientOf;
using test::OpsOf;
using test::PlanFor;
using test::RunFor;
using testing::CompactNet;

std::vector<Symbol> Names(Net& net, std::initializer_list<const char*> names) {
  std::vector<Symbol> out;
  for (const char* name : names) out.push_back(net.Intern(name));
  return out;
}

ArgList TrainArgs(Net& net) { return ArgList({MakeArg(net.Intern("is_test"), int64_t{0})}); }

TEST(GradientReports, TwoOperatorsInPlaceAreRefusedOrRepaired) {
  Net net = CompactNet("FC(x, w, b) -> h; Relu(h) -> h; Dropout(h) -> h, mask; AveragedLoss(h) -> l");
  net.ops[2].args = TrainArgs(net);
  const Result<Backward> refused = PlanFor(net, "l");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kVersionConflict);
  EXPECT_EQ(refused.error().op, 1);
  for (const char* part : {"op 1 Relu", "needs its output h@2", "op 2 Dropout", "Remedy"})
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;

  Net tanh = CompactNet("Tanh(x) -> h; Tanh(h) -> h");
  EXPECT_FALSE(PlanFor(tanh, "h"));
  GradientOptions options;
  options.losses = test::ReadLosses(tanh, "h");
  options.repair = true;
  const Result<RepairedPlan> plan = PlanWithRepair(tanh, StandardOps(), options);
  ASSERT_TRUE(plan) << plan.error().message;
  const Net whole = AppendBackward(plan->forward, plan->backward);
  const std::string gradient = GradientOf(whole, plan->backward, "x");
  EXPECT_NEAR(RunFor(whole, {{"x", {0.5f}}}, {gradient})[gradient].at(0), 0.639808, 1e-5);
}

TEST(GradientReports, CastOfALossDifferentiates) {
  Net net = CompactNet("SquaredL2Distance(t, y) -> d; AveragedLoss(d) -> a; Cast(a) -> l");
  net.ops[2].args = ArgList({MakeArg(net.Intern("to"), int64_t{1})});
  const Result<Backward> backward = PlanFor(net, "l");
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_NE(OpsOf(net, *backward).find("Cast(l_autogen_grad) -> a_grad"), std::string::npos);
  net.ops[2].args = ArgList({MakeArg(net.Intern("to"), int64_t{2})});
  const Result<Backward> integer = PlanFor(net, "l");
  ASSERT_FALSE(integer);
  EXPECT_NE(integer.error().message.find("int32"), std::string::npos);
}

TEST(GradientReports, DenseAndSparseReadersOfOneBlob) {
  Net net = CompactNet("AveragedLoss(x) -> l1; Gather(x, rows) -> g; AveragedLoss(g) -> l2");
  const Result<Backward> refused = PlanFor(net, "l1 l2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kMixedGradients);
  for (const char* part :
       {"sparse  (rows, g_grad), from op 1 Gather", "dense   x_grad, from op 0 AveragedLoss"})
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  GradientOptions options;
  options.mixed = MixedGradients::kDense;
  const Result<Backward> dense = PlanFor(net, "l1 l2", options);
  ASSERT_TRUE(dense) << dense.error().message;
  EXPECT_EQ(GradientOf(net, *dense, "x"), "x_grad");
  EXPECT_NE(OpsOf(net, *dense).find("SparseToDense(rows, g_grad, x) -> _x_grad_dense_0"), std::string::npos);
}

TEST(GradientReports, BatchGatherAndADenseReader) {
  Net net = CompactNet("BatchGather(f, idx) -> g; AveragedLoss(g) -> l1; AveragedLoss(f) -> l2");
  const Result<Backward> backward = PlanFor(net, "l1 l2");
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_EQ(GradientOf(net, *backward, "f"), "f_grad");
}

TEST(GradientReports, OnlyWantedGradientsAreMade) {
  const char* text = "Tanh(t0) -> t; Mul(a, m) -> o; Sub(o, t) -> d; Sqr(d) -> loss";
  Net net = CompactNet(text);
  GradientOptions options;
  options.wrt = Names(net, {"a"});
  const Result<Backward> backward = PlanFor(net, "loss", options);
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_EQ(backward->gradients.size(), 1u);
  EXPECT_EQ(OpsOf(net, *backward).find("TanhGradient"), std::string::npos);
  ExpectNumericGradients(net, *backward, "loss", {{"t0", {1, 2}}, {"a", {3, 4}}, {"m", {2, 5}}}, {"a"});
}

TEST(GradientReports, CopyPassesAndStopGradientCuts) {
  for (const bool stop : {false, true}) {
    Net net = CompactNet(StrCat("Tanh(x) -> f; ", stop ? "StopGradient" : "Copy",
                                "(f) -> f2; AveragedLoss(f) -> l1; AveragedLoss(f2) -> l2"));
    const Result<Backward> backward = PlanFor(net, "l1 l2");
    ASSERT_TRUE(backward) << backward.error().message;
    const std::string gradient = GradientOf(net, *backward, "f");
    EXPECT_EQ(RunFor(AppendBackward(net, *backward), {{"x", {1, 2, 3, 4}}}, {gradient})[gradient],
              std::vector<float>(4, stop ? 0.25f : 0.5f));
  }
}

TEST(GradientReports, TwoLossHeadsAddUpInAnyOrder) {
  for (const char* losses : {"l1 l2", "l2 l1"}) {
    Net net = CompactNet(
        "Tanh(x) -> f; Sigmoid(f) -> s; AveragedLoss(s) -> l1; Sqr(f) -> q; AveragedLoss(q) -> l2");
    const Result<Backward> backward = PlanFor(net, losses);
    ASSERT_TRUE(backward) << backward.error().message;
    ExpectNumericGradients(net, *backward, losses, {{"x", {0.5f, -1, 2}}}, {"x"});
  }
}

TEST(GradientReports, BothOperandsOfAMatMulGetTheirGradient) {
  Net net = CompactNet("MatMul(a, b) -> c; AveragedLoss(c) -> loss");
  const Result<Backward> backward = PlanFor(net, "loss");
  ASSERT_TRUE(backward) << backward.error().message;
  for (const char* made : {"a_grad", "b_grad"}) {
    size_t writers = 0;
    for (const Op& op : backward->ops)
      writers += static_cast<size_t>(std::count(op.outputs.begin(), op.outputs.end(), net.Intern(made)));
    EXPECT_EQ(writers, 1u) << made;
  }
  EXPECT_EQ(GradientOf(net, *backward, "a"), "a_grad");
  EXPECT_EQ(GradientOf(net, *backward, "b"), "b_grad");
}

TEST(GradientReports, BackwardPassInANetOfItsOwn) {
  Net net = CompactNet("name f; Tanh(x) -> y; Sqr(y) -> l1; Sigmoid(y) -> l2");
  const Result<Backward> backward = PlanFor(net, "l1 l2");
  ASSERT_TRUE(backward) << backward.error().message;
  const Net separate = BackwardNet(net, *backward);
  std::vector<std::string> reads;
  for (Symbol blob : separate.external_inputs) reads.emplace_back(separate.Str(blob));
  EXPECT_EQ(reads, (std::vector<std::string>{"l1", "l2", "y"}));
  const std::string gradient = GradientOf(net, *backward, "x");
  const test::Values joined = RunFor(AppendBackward(net, *backward), {{"x", {0.5f}}}, {gradient});
  const test::Values made = RunFor(net, {{"x", {0.5f}}}, reads);
  EXPECT_EQ(RunFor(separate, made, {gradient}), joined);
}

TEST(GradientReports, GradientOfTheInputImage) {
  Net net = CompactNet("Conv(img, w, b) -> h; FC(h, w2, b2) -> y; SoftmaxWithLoss(y, label) -> p, loss");
  const Result<Backward> backward = PlanFor(net, "loss");
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_EQ(GradientOf(net, *backward, "img"), "img_grad");
}

TEST(GradientReports, GradientKernelMayOverwriteItsIncomingGradient) {
  const test::Values feeds = {{"g", {5}}, {"a", {2}}, {"b", {3}}};
  for (const char* text : {"MulGradient(g, a, b) -> g, db", "MulGradient(g, a, b) -> da, db"}) {
    const Net net = CompactNet(text);
    const std::string da(net.Str(net.ops[0].outputs[0]));
    test::Values found = RunFor(net, feeds, {da, "db"});
    EXPECT_EQ(found[da], std::vector<float>{15});
    EXPECT_EQ(found["db"], std::vector<float>{10});
  }
}

TEST(GradientReports, SecondOrderNamesTheFirstOperatorWithoutGradient) {
  Net net = CompactNet("MatMul(a, b) -> c; Mul(c, c) -> s; AveragedLoss(s) -> l");
  const Result<Backward> first = PlanFor(net, "l");
  ASSERT_TRUE(first);
  net = AppendBackward(net, *first);
  const Result<Backward> second = PlanFor(net, GradientOf(net, *first, "a"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kNoGradient);
  EXPECT_NE(second.error().message.find("No gradient is registered for operator MulGradient"),
            std::string::npos)
      << second.error().message;
}

TEST(GradientReports, DeviceAndEngineFollowTheForwardOperator) {
  Net net = CompactNet("Relu(x) -> y; Sigmoid(y) -> z; AveragedLoss(z) -> l");
  DeviceOption device;
  device.device_type = kCuda;
  for (Op& op : net.ops) op.device = std::make_shared<const DeviceOption>(device);
  net.ops[0].engine = net.Intern("CUDNN");
  const Result<Backward> backward = PlanFor(net, "l");
  ASSERT_TRUE(backward) << backward.error().message;
  for (size_t i = 0; i < backward->ops.size(); ++i) {
    if (backward->origin[i].kind != Origin::kRule) continue;
    const Op& forward = net.ops[static_cast<size_t>(backward->origin[i].forward)];
    EXPECT_EQ(backward->ops[i].engine, forward.engine);
    EXPECT_EQ(*backward->ops[i].device, *forward.device);
  }
}

TEST(GradientReports, RuleMayReadAnOutputThatIsStillThere) {
  Net kept = CompactNet("Dropout(x) -> y, state");
  kept.ops[0].args = TrainArgs(kept);
  const Result<Backward> backward = PlanFor(kept, "y");
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_NE(OpsOf(kept, *backward).find("state"), std::string::npos);
  Net overwritten = CompactNet("Dropout(x) -> y, state; Relu(q) -> state");
  overwritten.ops[0].args = TrainArgs(overwritten);
  const Result<Backward> refused = PlanFor(overwritten, "y");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kVersionConflict);
  EXPECT_EQ(refused.error().blob, "state");
}

// The operator's gradient writes both; the frozen one is no result, and nothing else changes.
TEST(GradientReports, FrozenParameterGetsNoGradientAndOthersKeepTheirs) {
  Net net = CompactNet("Mul(x, w0) -> a; Mul(a, w1) -> b; Mul(b, w2) -> c");
  GradientOptions options;
  options.frozen = Names(net, {"w1"});
  const Result<Backward> backward = PlanFor(net, "c", options);
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_EQ(GradientOf(net, *backward, "w1"), "");
  ExpectNumericGradients(net, *backward, "c", {{"x", {2}}, {"w0", {3}}, {"w1", {5}}, {"w2", {7}}},
                         {"x", "w0", "w2"});
  options.frozen = Names(net, {"x", "w0", "w1"});
  const Result<Backward> head = PlanFor(net, "c", options);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->ops.size(), 2u) << OpsOf(net, *head);  // the seed and the last operator's
}

// Where the schema of a gradient operator allows it, it writes only what is wanted.
TEST(GradientReports, WhatIsNotWantedIsNotWritten) {
  struct Case {
    const char* net;
    std::initializer_list<const char*> wrt;
    const char* ops;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"FC(x, w, b) -> y", {}, "FCGradient(x, w, g) -> w_grad, b_grad, x_grad"},
           {"FC(x, w, b) -> y", {"w"}, "FCGradient(x, w, g) -> w_grad, b_grad"},
           {"FC(x, w, b) -> y", {"x"}, "FCGradient(x, w, g) -> w_grad, b_grad, x_grad"},
           {"Conv(x, w, b) -> y", {"w", "b"}, "ConvGradient(x, w, g) -> w_grad, b_grad"},
           {"Conv(x, w, b) -> y", {"w", "x"}, "ConvGradient(x, w, g) -> w_grad, x_grad no_bias"},
           {"Conv(x, w, b) -> y", {"w"}, "ConvGradient(x, w, g) -> w_grad no_bias"},
           {"Conv(x, w) -> y", {"w"}, "ConvGradient(x, w, g) -> w_grad no_bias"},
           {"Mul(x, w) -> y", {"w"}, "MulGradient(g, x, w) -> x_grad, w_grad"}}) {
    Net net = CompactNet(c.net);
    GradientOptions options;
    options.wrt = Names(net, c.wrt);
    const Result<Backward> backward = PlanFor(net, "y=g", options);
    ASSERT_TRUE(backward) << backward.error().message;
    const bool no_bias = ArgInt(*net.symbols, backward->ops[0].args, "no_bias", 0) == 1;
    EXPECT_EQ(StrCat(OpsOf(net, *backward), no_bias ? " no_bias" : ""), c.ops);
  }
}

TEST(GradientReports, EmptyBatchLeavesNothingOfTheLastOne) {
  Net net = CompactNet("Relu(x) -> y; Mul(y, y) -> z");
  const Result<Backward> backward = PlanFor(net, "z=g");
  ASSERT_TRUE(backward) << backward.error().message;
  Net twice = AppendBackward(net, *backward);
  const size_t size = twice.ops.size();
  for (size_t i = 0; i < size; ++i) {  // the same again, on an empty batch in the same blobs
    Op op = twice.ops[i];
    for (Symbol& input : op.inputs) {
      if (twice.Str(input) == "x") input = twice.Intern("x_empty");
      if (twice.Str(input) == "g") input = twice.Intern("g_empty");
    }
    twice.ops.push_back(std::move(op));
  }
  const std::string gradient = GradientOf(net, *backward, "x");
  EXPECT_TRUE(
      RunFor(twice, {{"x", {1, 2}}, {"g", {1, 1}}, {"x_empty", {}}, {"g_empty", {}}}, {gradient})[gradient]
          .empty());
}

}  // namespace
}  // namespace weft
