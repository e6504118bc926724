// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults of Caffe2's Do, If and While gradients (B3, B5, ...; core/grad/gradient.h), one by one: the default
// mode is right, by values against central differences; mode caffe2 has the fault.
#include <gtest/gtest.h>

#include "core/base/str.h"
#include "tests/grad/control_nets.h"
#include "tests/grad/plan_and_run.h"
#include "tests/support/compact_net.h"

namespace weft::test {
namespace {

GradientOptions Caffe2Mode() {
  GradientOptions options;
  options.faults = kAllFaults;
  return options;
}

Net Start(std::string_view text = "") {
  Net net;
  net.name = net.Intern("n");
  AddOps(net, text);
  return net;
}

// B3: a body whose gradient has no operators of its own passes its gradient on.
TEST(ControlFaults, B3BodyWithoutGradientOperators) {
  for (const char* body : {"Sum(x) -> y", "Alias(x) -> y", "Sum(x) -> t; Alias(t) -> y"}) {
    for (const bool taken : {true, false}) {
      SCOPED_TRACE(StrCat(body, taken ? "" : ", not taken"));
      Net net = Start("Scale(x) -> y");
      AddFlag(net, "c", taken);
      AddIf(net, "c", Body(net, body));
      AddOps(net, "Sqr(y) -> l");
      ExpectRightGradients(net, "l", {{"x", Floats({1, -2})}});
    }
    // y is written once, and its gradient has a name of its own, so that this is B3 alone.
    Net net = Start("Scale(x) -> z");
    AddFlag(net, "c", true);
    const Net around = Body(net, "Copy(x) -> y");
    AddIf(net, "c", Body(net, body), nullptr, {&around});
    const Result<Backward> caffe2 = PlanFor(net, "y=g", Caffe2Mode());
    ASSERT_TRUE(caffe2) << caffe2.error().message;
    EXPECT_EQ(OpsOf(net, *caffe2).find("Do"), std::string::npos) << OpsOf(net, *caffe2);
  }
}

// B3 again: a look-up in a branch trains its table.
TEST(ControlFaults, B3LookUpInABranch) {
  Net net = Start("Scale(other) -> y");
  AddFlag(net, "c", true);
  AddIf(net, "c", Body(net, "Gather(x, rows) -> y"));
  AddOps(net, "Sqr(y) -> l");
  ExpectRightGradients(net, "l",
                       {{"x", Rows({1, 2, 3, 4, 5, 6}, 2)},
                        {"rows", Indices({2, 0, 2})},
                        {"other", Rows({1, 1, 1, 1, 1, 1}, 2)}});
}

// B5: the gradient that comes in and the one that goes out want one name.
TEST(ControlFaults, B5UpdatedBlobWhoseGradientComesInUnderItsOwnName) {
  for (const bool loop : {false, true}) {
    Net net = Start("Scale(x) -> y");
    const Net body = Body(net, "Sum(y, w) -> t; Tanh(t) -> y");
    if (loop) {
      AddLoop(net, 3, body);
    } else {
      AddFlag(net, "c", true);
      AddIf(net, "c", body);
    }
    AddOps(net, "Sqr(y) -> l");
    const TensorFeeds feeds = {{"x", Floats({0.7f, -0.4f})}, {"w", Floats({1.5f, 0.8f})}};
    ExpectRightGradients(net, "l", feeds);
    const Result<Backward> caffe2 = PlanFor(net, "l", Caffe2Mode());
    ASSERT_FALSE(caffe2);
    EXPECT_NE(caffe2.error().message.find("Reusage of outer blob name y_grad in Do op"), std::string::npos)
        << caffe2.error().message;
  }
}

// B6: two readers of x, one a While (or an If around an If): its nets follow when its output is renamed.
TEST(ControlFaults, B6RenamedGradientsReachAllNets) {
  Net loop = Start("Scale(x) -> y");
  AddLoop(loop, 2, Body(loop, "Mul(y, x) -> y"));
  AddOps(loop, "Relu(x) -> r; Add(y, r) -> l");
  ExpectRightGradients(loop, "l", {{"x", Floats({0.7f, -0.4f})}});

  for (const bool outer : {true, false})
    for (const bool inner : {true, false}) {
      Net net = Start("Scale(x) -> y");
      AddFlag(net, "c", outer);
      AddFlag(net, "d", inner);
      Net then_body(net.symbols);
      then_body.name = net.Intern("then");
      const Net deep = Body(net, "Sin(x) -> y"), other = Body(net, "Mul(x, x) -> y");
      AddIf(then_body, "d", deep, &other, {&net});
      AddIf(net, "c", then_body);
      AddOps(net, "Sigmoid(x) -> s; Add(y, s) -> l");
      ExpectRightGradients(net, "l", {{"x", Floats({0.7f, -0.4f})}});
    }
}

// B7: acc=x; three times acc+=5x; l=acc+n.
TEST(ControlFaults, B7LoopInvariantInputsAreSummed) {
  Net net = Start("Copy(x) -> acc");
  AddLoop(net, 3, Body(net, "Mul(x, five) -> t; Add(acc, t) -> acc"));
  AddOps(net, "Add(acc, n) -> l");
  const TensorFeeds feeds = {{"x", Floats({2})}, {"five", Floats({5})}, {"n", Floats({1})}};
  const RepairedPlan plan = ExpectRightGradients(net, "l", feeds);
  const std::string gradient = GradientOf(net, plan.backward, "x");
  const Values values = {{"x", {2}}, {"five", {5}}, {"n", {1}}};
  EXPECT_EQ(RunFor(AppendBackward(net, plan.backward), values, {gradient})[gradient], std::vector<float>{16});
}

// B8: the loop's gradient needs its incoming one, and so do others: x_grad is 33, not 64.
TEST(ControlFaults, B8IncomingGradientOfALoopSurvives) {
  Net net = Start("Relu(x) -> r; Copy(x) -> acc");
  AddLoop(net, 2, Body(net, "Sqr(acc) -> acc"));
  AddOps(net, "Sum(acc, r) -> l");
  const RepairedPlan plan = ExpectRightGradients(net, "l", {{"x", Floats({2, 1.5f})}});
  const std::string gradient = GradientOf(net, plan.backward, "x");
  EXPECT_EQ(RunFor(AppendBackward(net, plan.backward), {{"x", {2}}}, {gradient})[gradient],
            std::vector<float>{33});
}

// B9: the reverse loop pops its scopes even when the body's gradient is empty.
TEST(ControlFaults, B9LoopWhoseGradientIsEmptyEnds) {
  for (int times = 0; times <= 3; ++times) {
    Net net = Start("Copy(x) -> acc");
    AddLoop(net, times, Body(net, "Sum(acc, x) -> acc"));
    AddOps(net, "Sqr(acc) -> l");
    ExpectRightGradients(net, "l", {{"x", Floats({0.5f, -1})}});
    Net alone = Start("Copy(x) -> acc");
    AddLoop(alone, times, Body(alone, "Sum(acc) -> acc"));
    ExpectRightGradients(alone, "acc", {{"x", Floats({0.5f, -1})}});
  }
}

// B11: the gradient If reads x and z although their names are letters of its condition's.
TEST(ControlFaults, B11ConditionIsOneName) {
  Net net = Start("Scale(x) -> y");
  AddFlag(net, "xz", true);
  AddIf(net, "xz", Body(net, "Mul(x, z) -> y"));
  AddOps(net, "Sqr(y) -> l");
  const RepairedPlan plan =
      ExpectRightGradients(net, "l", {{"x", Floats({1, 2})}, {"z", Floats({-3, 0.5f})}});
  const auto reads = [&](const Backward& backward, std::string_view blob) {
    for (const Op& op : backward.ops)
      if (net.Str(op.type) == "If")
        for (Symbol input : op.inputs)
          if (net.Str(input) == blob) return true;
    return false;
  };
  EXPECT_TRUE(reads(plan.backward, "x") && reads(plan.backward, "z") && reads(plan.backward, "xz"));
}

// B54: sparse gradients inside branches and bodies, of one reader and of two, once or in each iteration.
TEST(ControlFaults, B54SparseGradientsInside) {
  const TensorFeeds feeds = {{"x", Rows({1, 2, 3, 4, 5, 6}, 2)},
                             {"rows", Indices({2, 0, 2})},
                             {"other", Rows({1, -1, 0.5f, 1, 2, 1}, 2)}};
  for (const bool taken : {true, false}) {
    Net net = Start("Scale(other) -> y");
    AddFlag(net, "c", taken);
    AddIf(net, "c", Body(net, "Gather(x, rows) -> g; Sin(g) -> h; Gather(x, rows) -> k; Mul(h, k) -> y"));
    AddOps(net, "Mul(y, other) -> l");
    ExpectRightGradients(net, "l", feeds);
  }
  for (int times = 0; times <= 3; ++times) {
    Net net = Start("Scale(other) -> y");
    AddLoop(net, times, Body(net, "Gather(x, rows) -> g; Sum(y, g) -> t; Sin(t) -> y"));
    AddOps(net, "Sqr(y) -> l");
    ExpectRightGradients(net, "l", feeds);
  }
  // A sparse gradient that comes in from outside.
  Net net = Start("Scale(x) -> y");
  AddFlag(net, "c", true);
  AddIf(net, "c", Body(net, "Sin(x) -> y"));
  AddOps(net, "Gather(y, rows) -> g; Sqr(g) -> l");
  ExpectRightGradients(net, "l", feeds);
}

// B57: each branch has a name of its own for the gradient of x.
TEST(ControlFaults, B57BranchesMayNameGradientsDifferently) {
  for (const bool taken : {true, false}) {
    Net net = Start("Scale(x) -> y");
    AddFlag(net, "c", taken);
    const Net then_body = Body(net, "Tanh(x) -> x; Copy(x) -> y"),
              else_body = Body(net, "Copy(x) -> y; Sqr(x) -> t; Add(t, y) -> y");
    AddIf(net, "c", then_body, &else_body);
    AddOps(net, "Mul(y, x) -> l");
    ExpectRightGradients(net, "l", {{"x", Floats({0.7f, -0.4f})}});
  }
}

// B10: unused outputs count as zeros.
TEST(ControlFaults, B10UnusedOutputsOfASplit) {
  for (const char* rest : {"Relu(a) -> c", "Sigmoid(b) -> c"}) {
    Net net = Start(StrCat("Split(x) -> a, b; ", rest));
    net.ops[0].args = ArgList({MakeArg(net.Intern("axis"), int64_t{0})});
    ExpectRightGradients(net, "c", {{"x", Floats({1, 2, -3, 4})}});
  }
}

// B53: a gradient given for the softmax counts, beside one for the loss and alone.
TEST(ControlFaults, B53GradientGivenForTheSoftmax) {
  const TensorFeeds feeds = {{"x", Rows({1, -2, 0.5f, 2, 0.1f, -1}, 3)},
                             {"label", Indices({2, 0})},
                             {"gp", Rows({1, 2, -1, 0.5f, 3, 1}, 3)},
                             {"gl", Tensor::Scalar<float>(0.7f)}};
  for (const char* losses : {"p=gp l=gl", "p=gp", "l=gl"}) {
    SCOPED_TRACE(losses);
    Net net = Start("SoftmaxWithLoss(x, label) -> p, l");
    ExpectRightGradients(net, losses, {feeds.begin(), feeds.end() - (std::string_view(losses) == "p=gp")});
  }
}

}  // namespace
}  // namespace weft::test
