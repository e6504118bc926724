// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults of Caffe2's planner (B1, B2, ...; core/grad/gradient.h), one by one: right in the default mode, by
// value where the net can be run, and as Caffe2 has it in mode caffe2.
#include <gtest/gtest.h>

#include "core/base/str.h"
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

DevicePtr Device(int32_t type, int32_t id, std::vector<std::string> tags = {}) {
  DeviceOption option;
  option.device_type = type;
  option.device_id = id;
  option.extra_info = std::move(tags);
  return std::make_shared<const DeviceOption>(std::move(option));
}

GradientOptions Caffe2Mode() {
  GradientOptions options;
  options.faults = kAllFaults;
  return options;
}

TEST(Faults, B1GivenGradientOfAnIntermediateBlobCounts) {
  Net net = CompactNet("Relu(x) -> y; Sigmoid(y) -> z");
  const Result<Backward> backward = PlanFor(net, "y=y_given z=z_given");
  ASSERT_TRUE(backward) << backward.error().message;
  ExpectNumericGradients(net, *backward, "y=y_given z=z_given",
                         {{"x", {0.5f, 2}}, {"y_given", {3, -1}}, {"z_given", {2, 5}}}, {"x"});
  const Result<Backward> caffe2 = PlanFor(net, "y=y_given z=z_given", Caffe2Mode());
  ASSERT_TRUE(caffe2);
  EXPECT_EQ(OpsOf(net, *caffe2), "SigmoidGradient(z, z_given) -> y_grad; ReluGradient(y, y_grad) -> x_grad");
}

// The name that Caffe2 would give to what the reader contributes is the given one's.
TEST(Faults, B1GivenGradientIsNotOverwritten) {
  Net net = CompactNet("Relu(x) -> y; Sigmoid(y) -> z");
  const Result<Backward> backward = PlanFor(net, "y=y_grad z=z_given");
  ASSERT_TRUE(backward) << backward.error().message;
  const test::Values feeds = {{"x", {0.5f, 2}}, {"y_grad", {3, -1}}, {"z_given", {2, 5}}};
  ExpectNumericGradients(net, *backward, "y=y_grad z=z_given", feeds, {"x"});
  EXPECT_EQ(RunFor(AppendBackward(net, *backward), feeds, {"y_grad"})["y_grad"], feeds.at("y_grad"));
}

TEST(Faults, B2GradientsBelongToVersions) {
  Net net = CompactNet("Sum(x) -> y; Sum(q) -> y; Sum(y) -> w");
  const Result<Backward> backward = PlanFor(net, "w");
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_EQ(GradientOf(net, *backward, "x"), "");
  EXPECT_EQ(GradientOf(net, *backward, "q"), "w_autogen_grad");
  const Result<Backward> caffe2 = PlanFor(net, "w", Caffe2Mode());
  ASSERT_TRUE(caffe2);
  EXPECT_EQ(GradientOf(net, *caffe2, "x"), "w_autogen_grad");
}

TEST(Faults, B2LegalNetIsAccepted) {
  Net net = CompactNet("Copy(x) -> y; Copy(q) -> y; Copy(y) -> w");
  const Result<Backward> backward = PlanFor(net, "w");
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_EQ(GradientOf(net, *backward, "x"), "");
  ExpectNumericGradients(net, *backward, "w", {{"x", {1}}, {"q", {2}}}, {"q"});
  EXPECT_EQ(PlanFor(net, "w", Caffe2Mode()).error().code, ErrorCode::kVersionConflict);
}

TEST(Faults, B4UnknownLossIsAnError) {
  Net net = CompactNet("Relu(x) -> y");
  const Result<Backward> backward = PlanFor(net, "nope");
  ASSERT_FALSE(backward);
  EXPECT_EQ(backward.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(backward.error().blob, "nope");
  ASSERT_TRUE(PlanFor(net, "nope", Caffe2Mode()));
}

TEST(Faults, B10UnusedOutputsOfASplitAreZeros) {
  Net net = CompactNet("Split(x) -> a, b; Relu(a) -> c");
  const Result<Backward> backward = PlanFor(net, "c");
  ASSERT_TRUE(backward) << backward.error().message;
  const Op& concat = backward->ops.back();
  ASSERT_EQ(net.Str(concat.type), "Concat");
  ASSERT_EQ(concat.inputs.size(), 2u) << OpsOf(net, *backward);
  const Op& zeros = backward->ops[backward->ops.size() - 2];
  EXPECT_EQ(net.Str(zeros.type), "ConstantFill");
  EXPECT_EQ(zeros.inputs[0], net.Intern("b"));
  EXPECT_EQ(zeros.outputs[0], concat.inputs[1]);
  EXPECT_EQ(ArgFloat(*net.symbols, zeros.args, "value", -1), 0);
  const Result<Backward> caffe2 = PlanFor(net, "c", Caffe2Mode());
  ASSERT_TRUE(caffe2);
  EXPECT_EQ(caffe2->ops.back().inputs.size(), 1u);
}

// A name of two characters is a name, not a pair.
TEST(Faults, B12GivenGradientMayHaveTwoCharacters) {
  Net net = CompactNet("Sigmoid(x) -> y");
  const Result<Backward> backward = PlanFor(net, "y=ab");
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_EQ(OpsOf(net, *backward), "SigmoidGradient(y, ab) -> x_grad");
  ExpectNumericGradients(net, *backward, "y=ab", {{"x", {1}}, {"ab", {2}}}, {"x"});
}

TEST(Faults, B13GeneratedNamesKeepOffBlobsOfTheNet) {
  Net net = CompactNet("Sigmoid(x) -> x_grad; Sigmoid(x) -> b; Mul(x_grad, b) -> s");
  const Result<Backward> backward = PlanFor(net, "s");
  ASSERT_TRUE(backward) << backward.error().message;
  ExpectNumericGradients(net, *backward, "s", {{"x", {0.5f, -1}}}, {"x"});
  for (const Op& op : backward->ops)
    for (Symbol output : op.outputs)
      for (const char* taken : {"x", "x_grad", "b", "s"}) EXPECT_NE(net.Str(output), taken);
}

TEST(Faults, B14TagDropsOtherTagsNotTheDevice) {
  Net net = CompactNet("Relu(x) -> a; Relu(x) -> b; Sum(a, b) -> s");
  for (Op& op : net.ops) op.device = Device(kCuda, 1, {"mine", "only_keep_is_auto_gen_sum_ops_tag:1"});
  const Result<Backward> backward = PlanFor(net, "s");
  ASSERT_TRUE(backward) << backward.error().message;
  const Op& sum = backward->ops.back();
  ASSERT_EQ(net.Str(sum.type), "Sum");
  EXPECT_EQ(*sum.device, *Device(kCuda, 1, {"is_auto_gen_sum_ops:1"}));
  const Result<Backward> caffe2 = PlanFor(net, "s", Caffe2Mode());
  ASSERT_TRUE(caffe2);
  EXPECT_FALSE(caffe2->ops.back().device->device_type.has_value());
}

TEST(Faults, B15AcceleratorsOfDifferentTypesAreDifferentDevices) {
  for (const int32_t other : {int32_t{kHip}, int32_t{kIdeep}}) {
    Net net = CompactNet("Relu(x) -> a; Relu(x) -> b");
    net.ops[0].device = Device(kCuda, 0);
    net.ops[1].device = Device(other, 0);
    const Result<Backward> backward = PlanFor(net, "a=ga b=gb");
    ASSERT_FALSE(backward);
    EXPECT_EQ(backward.error().code, ErrorCode::kDeviceMismatch);
    EXPECT_NE(backward.error().message.find(DeviceToString(Device(other, 0))), std::string::npos);
    EXPECT_TRUE(PlanFor(net, "a=ga b=gb", Caffe2Mode()));
  }
}

TEST(Faults, B18StartGradientsAreMadeWhereTheLossIs) {
  Net net = CompactNet("Relu(x) -> y; Relu(y) -> z");
  for (Op& op : net.ops) op.device = Device(kCuda, 0);
  const Result<Backward> backward = PlanFor(net, "y z");
  ASSERT_TRUE(backward) << backward.error().message;
  for (const Op& op : backward->ops) EXPECT_EQ(DeviceToString(op.device).substr(0, 6), "cuda:0");
  EXPECT_EQ(PlanFor(net, "y z", Caffe2Mode()).error().code, ErrorCode::kDeviceMismatch);
}

// Caffe2's order is that of a Python set.
TEST(Faults, B19SumsComeInOrderOfFirstAppearance) {
  Net net = CompactNet("FC(x, w, b) -> y; FC(y, w, b) -> z; FC(z, w, b) -> u");
  const Result<Backward> backward = PlanFor(net, "u");
  ASSERT_TRUE(backward) << backward.error().message;
  std::vector<std::string> sums;
  for (const Op& op : backward->ops)
    if (net.Str(op.type) == "Sum") sums.emplace_back(net.Str(op.outputs[0]));
  EXPECT_EQ(sums, (std::vector<std::string>{"w_grad", "b_grad"}));
  for (int again = 0; again < 3; ++again) {
    Net other = CompactNet("FC(x, w, b) -> y; FC(y, w, b) -> z; FC(z, w, b) -> u");
    EXPECT_EQ(OpsOf(other, *PlanFor(other, "u")), OpsOf(net, *backward));
  }
}

TEST(Faults, B53GradientGivenForTheSoftmaxCounts) {
  Net net = CompactNet("SoftmaxWithLoss(x, label) -> p, l");
  const Result<Backward> backward = PlanFor(net, "p=gp l=gl");
  ASSERT_TRUE(backward) << backward.error().message;
  bool reads_given = false, adds_up = false;
  for (const Op& op : backward->ops) {
    reads_given |= net.Str(op.type) == "SoftmaxGradient" && net.Str(op.inputs[1]) == "gp";
    adds_up |= net.Str(op.type) == "Sum" && net.Str(op.outputs[0]) == GradientOf(net, *backward, "x");
  }
  EXPECT_TRUE(reads_given && adds_up) << OpsOf(net, *backward);
  const Result<Backward> alone = PlanFor(net, "p=gp");
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(net.Str(alone->ops.back().type), "SoftmaxGradient") << OpsOf(net, *alone);
  const Result<Backward> caffe2 = PlanFor(net, "p=gp l=gl", Caffe2Mode());
  ASSERT_TRUE(caffe2);
  EXPECT_EQ(OpsOf(net, *caffe2), "SoftmaxWithLossGradient(x, label, p, gl) -> x_grad");
}

TEST(Faults, B55SecondBackwardPassIsAnError) {
  for (const char* losses : {"z", "z=g"}) {
    Net forward = CompactNet("Relu(x) -> y; Sigmoid(y) -> z; Tanh(y) -> t");
    const Result<Backward> first = PlanFor(forward, losses);
    ASSERT_TRUE(first);
    Net net = AppendBackward(forward, *first);
    const Result<Backward> second = PlanFor(net, losses);
    ASSERT_FALSE(second) << losses;
    EXPECT_EQ(second.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(second.error().op, 3);
    EXPECT_EQ(second.error().blob, "z");
    EXPECT_TRUE(PlanFor(net, losses, Caffe2Mode()));
    // Another loss of the same net is no second time, and gets names of its own.
    const Result<Backward> other = PlanFor(net, "t");
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(GradientOf(net, *other, "x"), "x_grad_auto_0");
    GradientOptions skip;
    skip.skip = 1;
    EXPECT_TRUE(PlanFor(net, losses, skip));
  }
}

TEST(Faults, B56IncomingGradientThatOthersNeedSurvives) {
  Net net = CompactNet("Relu(x) -> r; Sqr(x) -> z; Sum(z, r) -> s");
  const Result<Backward> backward = PlanFor(net, "s");
  ASSERT_TRUE(backward) << backward.error().message;
  const std::string gradient = GradientOf(net, *backward, "x");
  EXPECT_EQ(RunFor(AppendBackward(net, *backward), {{"x", {3}}}, {gradient})[gradient],
            std::vector<float>{7});
  const Result<Backward> caffe2 = PlanFor(net, "s", Caffe2Mode());
  ASSERT_TRUE(caffe2);
  EXPECT_EQ(RunFor(AppendBackward(net, *caffe2), {{"x", {3}}}, {"x_grad"})["x_grad"], std::vector<float>{8});
}

// b2_grad is needed to the end, so the sum for b2@1 takes another name: not one that it reads, since Sum can
// work in place on its first input only.
TEST(Faults, B56NewNamesDoNotMakeOperatorsWorkInPlace) {
  Net net =
      CompactNet("Sin(x1) -> b0; Add(b0, x0) -> b2; Copy(b2) -> b3; Sum(b2, x1) -> b2; Sum(b2, b2, b3) -> l");
  const Result<Backward> backward = PlanFor(net, "l");
  ASSERT_TRUE(backward) << backward.error().message;
  ExpectNumericGradients(net, *backward, "l", {{"x0", {0.5f}}, {"x1", {-0.3f}}}, {"x0", "x1"});
  for (const Op& op : backward->ops)
    EXPECT_TRUE(net.Str(op.type) != "Sum" || op.inputs[1] != op.outputs[0]) << OpsOf(net, *backward);
}

// x@1's gradient wants the name that x@2's has, and the gradient of Copy can't work in place.
TEST(Faults, B56OperatorsThatCannotWorkInPlace) {
  Net net = CompactNet("Copy(w) -> x; Copy(x) -> y; Sum(y, w) -> x; Sin(x) -> l");
  const Result<Backward> copies = PlanFor(net, "l");
  ASSERT_TRUE(copies) << copies.error().message;
  ExpectNumericGradients(net, *copies, "l", {{"w", {0.5f, -0.3f}}}, {"w"});
  for (const Op& op : copies->ops)
    EXPECT_TRUE(net.Str(op.type) != "CopyOnDeviceLike" || op.inputs[0] != op.outputs[0])
        << OpsOf(net, *copies);
}

// b's gradient is a@2's; a@1's is that and more, under the same name.
TEST(Faults, B56GradientsOfTwoOutputsUnderOneName) {
  Net net = CompactNet("Split(x) -> a, b; Sigmoid(a) -> c; Sum(a, b) -> a; Sin(a) -> s; Sum(s, c) -> l");
  net.ops[0].args = ArgList({MakeArg(net.Intern("axis"), int64_t{0})});
  const Result<Backward> backward = PlanFor(net, "l");
  ASSERT_TRUE(backward) << backward.error().message;
  ExpectNumericGradients(net, *backward, "l", {{"x", {0.5f, -0.3f, 1, 0.2f}}}, {"x"});
}

TEST(Faults, B60TheGradientThatIsThereIsKept) {
  // The table is also the weights, which get no gradient.
  Net net = CompactNet("SparseLengthsWeightedSum(x, x, rows, lengths) -> y");
  const Result<Backward> backward = PlanFor(net, "y");
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_TRUE(GradientOf(net, *backward, "x").starts_with("(rows, ")) << GradientOf(net, *backward, "x");
  const Result<Backward> caffe2 = PlanFor(net, "y", Caffe2Mode());
  ASSERT_TRUE(caffe2);
  EXPECT_EQ(GradientOf(net, *caffe2, "x"), "");
}

}  // namespace
}  // namespace weft
