// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of control flow, by values: gradients against central differences of nets that hold each other, loop
// 0 to 5 times, share weights, have several losses, read sparsely; and what repair, mixed and dedup make.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/run/interpreter.h"
#include "tests/grad/control_nets.h"
#include "tests/grad/plan_and_run.h"

namespace weft::test {
namespace {

Net Start(std::string_view text = "") {
  Net net;
  net.name = net.Intern("n");
  AddOps(net, text);
  return net;
}

// Where a body overwrites what its gradient needs.
GradientOptions Repair() {
  GradientOptions options;
  options.repair = true;
  return options;
}

const TensorFeeds kTwo = {{"x", Floats({0.7f, -0.4f})}, {"w", Floats({1.5f, 0.8f})}};

// If { While { If { } else { } } } else { }.
TEST(ControlValues, IfInWhileInIf) {
  for (const bool outer : {true, false})
    for (const bool inner : {true, false})
      for (int times = 0; times <= 3; ++times) {
        SCOPED_TRACE(StrCat(outer, " ", inner, " ", times));
        Net net = Start("Scale(x) -> y");
        AddFlag(net, "c", outer);
        AddFlag(net, "d", inner);
        Net loop_body(net.symbols), then_body(net.symbols);
        loop_body.name = net.Intern("loop");
        then_body.name = net.Intern("then");
        AddOps(loop_body, "Mul(y, w) -> t");
        const Net a = Body(net, "Tanh(t) -> y"), b = Body(net, "Sin(y) -> u; Mul(u, x) -> y");
        AddIf(loop_body, "d", a, &b, {&net, &then_body});
        AddOps(then_body, "Sin(y) -> y2; Copy(y2) -> y");
        AddLoop(then_body, times, loop_body, {&net});
        AddOps(then_body, "Mul(y, x) -> v; Tanh(v) -> y");
        const Net else_body = Body(net, "Mul(y, w) -> t; Sqr(t) -> y");
        AddIf(net, "c", then_body, &else_body);
        AddOps(net, "Mul(y, w) -> l");
        ExpectRightGradients(net, "l", kTwo, Repair());
      }
}

TEST(ControlValues, WhileInWhile) {
  for (int outer = 0; outer <= 3; ++outer)
    for (int inner = 0; inner <= 2; ++inner) {
      SCOPED_TRACE(StrCat(outer, " ", inner));
      Net net = Start("Scale(x) -> y");
      Net body = Body(net, "Mul(y, w) -> t; Sin(t) -> y");
      const Net deep = Body(net, "Mul(y, x) -> s; Tanh(s) -> y");
      AddLoop(body, inner, deep, {&net});
      AddLoop(net, outer, body);
      AddOps(net, "Sqr(y) -> l");
      ExpectRightGradients(net, "l", kTwo, Repair());
    }
}

TEST(ControlValues, NoIterationToFive) {
  for (int times = 0; times <= 5; ++times) {
    SCOPED_TRACE(times);
    for (const char* body :
         {"Mul(y, w) -> t; Tanh(t) -> y", "Add(y, w) -> y", "Sin(y) -> t; Sum(t, w, x) -> y",
          "Sigmoid(w) -> t; Mul(t, x) -> y", "Mul(y, y) -> t; Scale(t) -> y"}) {
      SCOPED_TRACE(body);
      Net net = Start("Scale(x) -> y");
      AddLoop(net, times, Body(net, body));
      AddOps(net, "Sqr(y) -> l");
      ExpectRightGradients(net, "l", kTwo, Repair());
    }
  }
}

// In place, and over what its own gradient needs.
TEST(ControlValues, OverwritingBodiesAndBranches) {
  for (const char* body :
       {"Tanh(y) -> y; Sigmoid(y) -> y", "Mul(y, w) -> y; Mul(y, x) -> y; Sin(y) -> t; Copy(t) -> y",
        "Sqr(y) -> y", "Tanh(w) -> w; Mul(y, w) -> y"}) {
    SCOPED_TRACE(body);
    for (int times = 0; times <= 3; ++times) {
      Net net = Start("Scale(x) -> y");
      AddLoop(net, times, Body(net, body));
      AddOps(net, "Mul(y, w) -> l");
      ExpectRightGradients(net, "l", kTwo, Repair());
    }
    for (const bool taken : {true, false}) {
      Net net = Start("Scale(x) -> y");
      AddFlag(net, "c", taken);
      const Net other = Body(net, "Mul(y, x) -> y");
      AddIf(net, "c", Body(net, body), &other);
      AddOps(net, "Mul(y, w) -> l");
      ExpectRightGradients(net, "l", kTwo, Repair());
    }
  }
}

// One weight outside, in both branches, in a loop, and twice in one body.
TEST(ControlValues, SharedWeights) {
  for (const bool taken : {true, false}) {
    Net net = Start("Mul(x, w) -> y");
    AddFlag(net, "c", taken);
    const Net a = Body(net, "Mul(y, w) -> t; Mul(t, w) -> u; Sin(u) -> y"),
              b = Body(net, "Add(y, w) -> t; Tanh(t) -> y");
    AddIf(net, "c", a, &b);
    AddLoop(net, 3, Body(net, "Mul(y, w) -> t; Sum(t, w, w) -> u; Tanh(u) -> y"));
    AddOps(net, "Mul(y, w) -> l");
    ExpectRightGradients(net, "l", kTwo, Repair());
  }
  // Fully connected: one w and b in every iteration and behind the loop.
  for (int times = 0; times <= 5; ++times) {
    Net net = Start("FC(x, w, b) -> h");
    AddLoop(net, times, Body(net, "FC(h, w, b) -> t; Tanh(t) -> h"));
    AddOps(net, "FC(h, w, b) -> y; AveragedLoss(y) -> l");
    ExpectRightGradients(net, "l",
                         {{"x", Rows({0.5f, -1, 0.3f, 0.8f}, 2)},
                          {"w", Rows({0.5f, -0.4f, 0.2f, 0.7f}, 2)},
                          {"b", Floats({0.1f, -0.2f})}},
                         Repair());
  }
}

TEST(ControlValues, SeveralLosses) {
  for (int times = 0; times <= 2; ++times) {
    Net net = Start("Scale(x) -> y; Sin(x) -> z");
    AddLoop(net, times, Body(net, "Mul(y, z) -> t; Tanh(t) -> y; Mul(z, w) -> z"));
    AddFlag(net, "c", times != 1);
    const Net other = Body(net, "Sin(z) -> y");
    AddIf(net, "c", Body(net, "Mul(y, w) -> z"), &other);
    AddOps(net, "Sqr(y) -> l; Mul(z, x) -> m");
    ExpectRightGradients(net, "l m", kTwo, Repair());
    ExpectRightGradients(net, "y z m", kTwo, Repair());  // blobs that go on to be read
    TensorFeeds given = kTwo;
    given.emplace_back("gl", Floats({2, -1}));
    ExpectRightGradients(net, "l=gl m z", given, Repair());
  }
}

TEST(ControlValues, SparseReads) {
  const TensorFeeds feeds = {{"x", Rows({0.2f, 0.4f, -0.6f, 0.8f, 1, -1.2f}, 2)},
                             {"rows", Indices({2, 0, 2})},
                             {"ones", Rows({1, -1, 0.5f, 1, 2, 1}, 2)}};
  GradientOptions options;
  for (const MixedGradients mixed : {MixedGradients::kDense, MixedGradients::kSparse})
    for (int times = 0; times <= 3; ++times) {
      SCOPED_TRACE(times);
      options.mixed = mixed;
      // Read outside, in the loop, and in a branch of the loop.
      Net net = Start("Gather(x, rows) -> y");
      AddFlag(net, "c", times == 2);
      Net body = Body(net, "Gather(x, rows) -> g; Mul(y, g) -> t; Sin(t) -> y");
      const Net other = Body(net, "Mul(y, ones) -> y3; Copy(y3) -> y");
      AddIf(body, "c", Body(net, "Gather(x, rows) -> k; Add(y, k) -> y2; Copy(y2) -> y"), &other, {&net});
      AddLoop(net, times, body);
      AddOps(net, "Sqr(x) -> s; AveragedLoss(s) -> m; AveragedLoss(y) -> l");
      options.repair = true;
      ExpectRightGradients(net, "l m", feeds, options);
    }
}

// A Do that lists an output which its net leaves alone passes the gradient on, in a loop, too.
TEST(ControlValues, OutputsThatABodyLeavesAlone) {
  for (const bool loop : {false, true}) {
    Net net = Start("Sin(x) -> y; Copy(w) -> z");
    const Net body = Body(net, "Scale(z) -> z; Copy(y) -> y");
    if (loop) {
      AddLoop(net, 2, body);
    } else {
      AddFlag(net, "c", true);
      AddIf(net, "c", body);
    }
    // Take Copy(y) -> y out of the Do's net.
    Op& control = net.ops.back();
    const char* arg = loop ? "loop_net" : "then_net";
    Net around = *FindNetArg(net, control, arg);
    Net inner = *FindNetArg(net, around.ops[0], "net");
    inner.ops.pop_back();
    around.ops[0].args = WithArg(around.ops[0].args,
                                 MakeArg(net.Intern("net"), std::make_shared<const Net>(std::move(inner))));
    control.args =
        WithArg(control.args, MakeArg(net.Intern(arg), std::make_shared<const Net>(std::move(around))));
    AddOps(net, "Mul(y, z) -> l");
    ExpectRightGradients(net, "l", kTwo);
  }
}

// Appends Do(inputs..., ws) -> (outputs..., ws) with `bindings` "inner=outer ...".
void AddDo(Net& net, std::string_view inputs, std::string_view outputs, std::string_view bindings,
           const Net& body) {
  AddOps(net, StrCat("CreateScope() -> ws; Do(", inputs, ", ws) -> ", outputs, ", ws"));
  Op& op = net.ops.back();
  std::vector<Symbol> outer(op.inputs.begin(), op.inputs.end() - 1);
  outer.insert(outer.end(), op.outputs.begin(), op.outputs.end() - 1);
  std::vector<std::string> names;
  std::vector<int64_t> places;
  for (std::string_view word : StrSplit(bindings, ' ')) {
    const size_t equals = word.find('=');
    names.emplace_back(word.substr(0, equals));
    places.push_back(std::find(outer.begin(), outer.end(), net.Intern(word.substr(equals + 1))) -
                     outer.begin());
  }
  op.args = ArgList({MakeArg(net.Intern("net"), std::make_shared<const Net>(body)),
                     MakeArg(net.Intern("inner_blobs"), std::move(names)),
                     MakeArg(net.Intern("outer_blobs_idx"), std::move(places))});
}

// y under the names u and v: z = y * y, and what is written to one is read through the other.
TEST(ControlValues, OneBlobUnderTwoInnerNames) {
  Net net = Start("Copy(x) -> y");
  AddDo(net, "y", "z", "u=y v=y r=z", Body(net, "Mul(u, v) -> r"));
  const RepairedPlan plan = ExpectRightGradients(net, "z", {{"x", Floats({3, -1})}});
  const std::string gradient = GradientOf(net, plan.backward, "x");
  EXPECT_EQ(RunFor(AppendBackward(net, plan.backward), {{"x", {3}}}, {gradient})[gradient],
            std::vector<float>{6});

  Net updated = Start("Copy(x) -> y");
  AddDo(updated, "y, w", "y, z", "u=y v=y k=w r=z",
        Body(updated, "Sigmoid(u) -> t; Mul(t, k) -> v; Sin(u) -> r"));
  AddOps(updated, "Mul(y, z) -> l");
  ExpectRightGradients(updated, "l", kTwo, Repair());

  GradientOptions caffe2;
  caffe2.faults = kAllFaults;
  const Result<Backward> refused = PlanFor(net, "z", caffe2);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("Reusage of outer blob name y in Do op"), std::string::npos);
}

// h_t = h_(t-1) * w + x_t, with Caffe2's arguments; its results are `all` and `last`.
void AddRecurrent(Net& net, std::string_view all, std::string_view last, std::string_view gradient_of_w) {
  const auto names = [](std::initializer_list<std::string_view> list) {
    return std::vector<std::string>(list.begin(), list.end());
  };
  Net step = Body(net, "Mul(h_prev, w) -> scaled; Add(scaled, x_t) -> h");
  step.name = net.Intern("step");
  Net back = Body(net, StrCat("AddGradient(h_grad, scaled, x_t) -> scaled_grad, x_t_grad; "
                              "MulGradient(scaled_grad, h_prev, w) -> h_prev_grad, ",
                              gradient_of_w));
  back.name = net.Intern("step_back");
  AddOps(net, StrCat("RecurrentNetwork(x, h0, w) -> ", all, ", ", last, ", steps"));
  const auto texts = [&](std::string_view name, std::initializer_list<std::string_view> list) {
    return MakeArg(net.Intern(name), names(list));
  };
  const auto numbers = [&](std::string_view name, std::vector<int64_t> list) {
    return MakeArg(net.Intern(name), std::move(list));
  };
  net.ops.back().args = ArgList(
      {MakeArg(net.Intern("step_net"), std::make_shared<const Net>(step)),
       MakeArg(net.Intern("backward_step_net"), std::make_shared<const Net>(back)),
       texts("recurrent_states", {"h_states"}), numbers("initial_recurrent_state_ids", {1}),
       texts("link_internal", {"h_prev", "h", "x_t"}), texts("link_external", {"h_states", "h_states", "x"}),
       numbers("link_offset", {0, 1, 0}), texts("alias_src", {"h_states", "h_states"}),
       texts("alias_dst", {all, last}), numbers("alias_offset", {1, -1}), numbers("param", {2}),
       texts("param_grads", {"w_grad"}), numbers("outputs_with_grads", {0}),
       texts("backward_link_internal", {"h_prev_grad", "h_grad", "x_t_grad"}),
       texts("backward_link_external", {"h_states_grad", "h_states_grad", "x_grad"}),
       numbers("backward_link_offset", {0, 1, 0})});
}

// Blobs that a RecurrentNetwork reads and writes are overwritten behind it: its nets and texts follow.
TEST(ControlValues, RepairAroundARecurrentNetwork) {
  const int64_t sequence[] = {3, 1, 2}, one[] = {1, 1, 2};
  const TensorFeeds feeds = {
      {"x", Tensor::Of<float>(sequence, std::vector<float>{0.5f, -1, 0.3f, 0.8f, -0.2f, 0.4f})},
      {"h0", Tensor::Of<float>(one, std::vector<float>{0.7f, -0.4f})},
      {"w", Tensor::Of<float>(one, std::vector<float>{0.9f, -0.6f})}};
  Net plain = Start();
  AddRecurrent(plain, "all", "last", "w_grad");
  AddOps(plain, "Sqr(all) -> s; AveragedLoss(s) -> l");
  ExpectRightGradients(plain, "l", feeds);
  for (const char* behind : {"Tanh(w) -> w; Sqr(all) -> s; AveragedLoss(s) -> l",
                             "Sqr(all) -> s; Tanh(s) -> all; AveragedLoss(all) -> l",
                             "Tanh(all) -> all; Tanh(all) -> all; Tanh(x) -> x; AveragedLoss(all) -> l"}) {
    SCOPED_TRACE(behind);
    Net net = Start();
    AddRecurrent(net, "all", "last", "w_grad");
    AddOps(net, behind);
    EXPECT_TRUE(ExpectRightGradients(net, "l", feeds, Repair()).changed);
  }
}

// What memory sharing leaves behind: the step net writes another blob, and an argument says so.
TEST(ControlValues, RenamedGradientsOfARecurrentNetwork) {
  const int64_t sequence[] = {2, 1, 2}, one[] = {1, 1, 2};
  const TensorFeeds feeds = {{"x", Tensor::Of<float>(sequence, std::vector<float>{0.5f, -1, 0.3f, 0.8f})},
                             {"h0", Tensor::Of<float>(one, std::vector<float>{0.7f, -0.4f})},
                             {"w", Tensor::Of<float>(one, std::vector<float>{0.9f, -0.6f})}};
  Net net = Start();
  AddRecurrent(net, "all", "last", "shared");
  Op& op = net.ops.back();
  op.args = WithArg(op.args, MakeArg(net.Intern("w_grad.rename"), std::string("shared")));
  AddOps(net, "Sqr(all) -> s; AveragedLoss(s) -> l");
  ExpectRightGradients(net, "l", feeds);
}

// ---- --repair, --mixed and --dedup without control flow ----

TEST(PlanOptions, RepairedNetsHaveTheRightGradients) {
  int changed = 0;
  for (const char* text :
       {"Tanh(x) -> y; Tanh(y) -> y", "Sigmoid(x) -> x; Sigmoid(x) -> y",
        "Mul(x, w) -> y; Tanh(w) -> w; Mul(y, w) -> y",
        "Tanh(x) -> y; Sqr(y) -> z; Sin(z) -> y; Mul(y, z) -> y", "Sin(x) -> y; Mul(y, y) -> y; Sqr(y) -> y",
        "Copy(x) -> y; Sigmoid(y) -> z; Tanh(w) -> y; Mul(y, z) -> y; Sigmoid(y) -> y"}) {
    SCOPED_TRACE(text);
    Net net = Start(text);
    changed += ExpectRightGradients(net, "y", kTwo, Repair()).changed;
  }
  EXPECT_GE(changed, 4);
}

TEST(PlanOptions, MixedGradientsAreSummed) {
  const TensorFeeds feeds = {{"x", Rows({1, 2, 3, 4, 5, 6}, 2)}, {"rows", Indices({2, 0, 2})}};
  for (const char* text :
       {"Gather(x, rows) -> g; Sqr(g) -> l; Sin(x) -> m", "Sin(x) -> m; Gather(x, rows) -> g; Sqr(g) -> l",
        "Sin(x) -> m; Gather(x, rows) -> g; Gather(x, rows) -> h; Mul(g, h) -> l; Copy(x) -> k"}) {
    SCOPED_TRACE(text);
    Net net = Start(text);
    EXPECT_EQ(PlanFor(net, "l m").error().code, ErrorCode::kMixedGradients);
    GradientOptions options;
    options.mixed = MixedGradients::kDense;
    EXPECT_TRUE(GradientOf(net, ExpectRightGradients(net, "l m", feeds, options).backward, "x").find("(") !=
                0);
    options.mixed = MixedGradients::kSparse;
    EXPECT_TRUE(GradientOf(net, ExpectRightGradients(net, "l m", feeds, options).backward, "x").find("(") ==
                0);
  }
}

// Row 2 is read three times and row 0 once.
TEST(PlanOptions, RepeatedRowsBecomeOne) {
  for (const SliceDedup how : {SliceDedup::kSum, SliceDedup::kMean}) {
    Net net = Start("Gather(x, rows) -> g; Sqr(g) -> l");
    Result<Backward> backward = PlanFor(net, "l");
    ASSERT_TRUE(backward);
    DedupSlices(net, *backward, how);
    const Gradient gradient = backward->gradients[0].gradient;
    ASSERT_TRUE(gradient.is_sparse());
    RunContext context;
    context.kernels = &ReferenceKernels();
    Workspace workspace(context);
    workspace.Feed("x", Rows({1, 2, 3, 4, 5, 6}, 2));
    workspace.Feed("rows", Indices({2, 0, 2, 2}));
    const Result<void> ran = workspace.RunNetOnce(AppendBackward(net, *backward));
    ASSERT_TRUE(ran) << ran.error().message;
    const Tensor& indices = *workspace.FindTensor(net.Str(gradient.indices));
    const Tensor& values = *workspace.FindTensor(net.Str(gradient.values));
    ASSERT_EQ(indices.numel(), 2);
    ASSERT_EQ(DimsToString(values.dims()), "[2, 2]");
    for (int64_t i = 0; i < 2; ++i) {
      const int32_t row = indices.data<int32_t>()[i];
      const float times = row == 2 && how == SliceDedup::kSum ? 3 : 1;
      for (int64_t k = 0; k < 2; ++k)
        EXPECT_EQ(values.data<float>()[2 * i + k], times * 2 * static_cast<float>(row * 2 + k + 1));
    }
  }
}

}  // namespace
}  // namespace weft::test
