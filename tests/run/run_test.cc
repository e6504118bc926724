// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors, workspaces, nets and control flow by themselves.
#include <gtest/gtest.h>

#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/interpreter.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using test::NetFromText;

struct Run : testing::Test {
  Run() {
    context.kernels = &ReferenceKernels();
    context.ops = &StandardOps();
  }
  std::string Once(std::string_view text) {
    const Result<void> ran = workspace.RunNetOnce(NetFromText(text));
    return ran ? "" : ran.error().message;
  }
  void Feed(std::string_view name, std::vector<float> values) {
    const int64_t n = static_cast<int64_t>(values.size());
    workspace.Feed(name, Tensor::Of<float>(std::span(&n, 1), values));
  }
  std::vector<float> Floats(std::string_view name) {
    const Tensor* tensor = workspace.FindTensor(name);
    if (!tensor || tensor->type() != DataType::kFloat) return {};
    return {tensor->values<float>().begin(), tensor->values<float>().end()};
  }

  RunContext context;
  Workspace workspace{context};
};

TEST(Half, ConvertsEveryHalfBackToItself) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    const float value = HalfToFloat(half);
    if (value != value) continue;
    EXPECT_EQ(FloatToHalf(value).bits, half.bits);
  }
  EXPECT_EQ(FloatToHalf(65504.0f).bits, 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f).bits, 0x7c00);  // halfway to what would be next: infinity
  EXPECT_EQ(FloatToHalf(65519.0f).bits, 0x7bff);
  EXPECT_EQ(FloatToHalf(5.9604645e-8f).bits, 1);  // the smallest
  EXPECT_EQ(FloatToHalf(2.9802322e-8f).bits, 0);  // half of it: to even
  EXPECT_EQ(FloatToHalf(8.9406967e-8f).bits, 2);  // one and a half of it: to even
  EXPECT_EQ(FloatToHalf(1.0f + 1.0f / 2048).bits, 0x3c00);
}

TEST(Tensor, KeepsItsElementsWhenItShrinksAndGrowsBack) {
  Tensor t;
  EXPECT_EQ(DimsToString(t.dims()), "[0]");
  EXPECT_FALSE(t.has_type());
  ASSERT_TRUE(t.Allocate(DataType::kInt32, Dims{2, 3}));
  for (int i = 0; i < 6; ++i) t.mutable_data<int32_t>()[i] = i;
  ASSERT_TRUE(t.Allocate(DataType::kInt32, Dims{2}));
  ASSERT_TRUE(t.Allocate(DataType::kInt32, Dims{6}));
  EXPECT_EQ(t.data<int32_t>()[5], 5);
  ASSERT_TRUE(t.Allocate(DataType::kInt32, Dims{7}));
  EXPECT_EQ(t.data<int32_t>()[5], 0);
  EXPECT_FALSE(t.Allocate(DataType::kInt32, Dims{-1}));
  EXPECT_FALSE(t.Allocate(DataType::kInt32, Dims{int64_t{1} << 40, int64_t{1} << 40}));
  EXPECT_EQ(t.numel(), 7);
  EXPECT_EQ(NumElements(Dims{int64_t{1} << 40, int64_t{1} << 40, 0}), 0);
}

TEST(Tensor, ViewsWriteThroughAndClonesDoNot) {
  Tensor t = Tensor::Of<float>(Dims{4}, std::vector<float>{1, 2, 3, 4});
  Tensor view = t.View(2, Dims{2});
  Tensor clone = t.Clone();
  view.mutable_data<float>()[0] = 9;
  EXPECT_EQ(t.data<float>()[2], 9);
  EXPECT_EQ(clone.data<float>()[2], 3);
  ASSERT_TRUE(view.Allocate(DataType::kFloat, Dims{3}));  // larger than its range: a buffer of its own
  EXPECT_FALSE(view.SharesBuffer(t));
}

TEST(Workspace, FindsOwnThenBoundThenParentBlobs) {
  RunContext context;
  Workspace parent(context), other(context);
  Workspace child(parent);
  parent.Feed("x", Tensor::Scalar<float>(1));
  EXPECT_EQ(&child.CreateBlob("x"), parent.FindBlob("x"));
  EXPECT_EQ(child.Bind(other, {{"y", "nope"}}).error().message, "Invalid parent workspace blob nope");
  other.Feed("z", Tensor::Scalar<float>(2));
  ASSERT_TRUE(child.Bind(other, {{"y", "z"}}));
  EXPECT_EQ(child.FindBlob("y"), other.FindBlob("z"));
  EXPECT_TRUE(child.Bind(other, {{"y", "z"}}));  // the same again is no conflict
  other.Feed("w", Tensor::Scalar<float>(3));
  EXPECT_EQ(child.Bind(other, {{"y", "w"}}).error().code, ErrorCode::kNameConflict);
  EXPECT_EQ(child.Bind(other, {{"x", "w"}}).error().code, ErrorCode::kNameConflict);
  EXPECT_TRUE(child.Bind(other, {{"x", "w"}}, /*skip_defined=*/true));
  EXPECT_EQ(child.FindBlob("x"), parent.FindBlob("x"));
  EXPECT_NE(&child.CreateLocalBlob("x"), parent.FindBlob("x"));
  EXPECT_EQ(child.LocalBlobs(), std::vector<std::string>{"x"});
  EXPECT_EQ(child.Blobs(), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(child.RemoveBlob("x"));
  EXPECT_FALSE(child.RemoveBlob("x"));
  EXPECT_EQ(child.FindBlob("x"), parent.FindBlob("x"));
}

TEST(Workspace, RenamesOnlyOwnBlobsToFreeNames) {
  RunContext context;
  Workspace parent(context);
  Workspace child(parent);
  parent.CreateBlob("x");
  child.CreateBlob("y");
  EXPECT_EQ(child.RenameBlob("x", "z").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(child.RenameBlob("y", "x").error().code, ErrorCode::kNameConflict);
  const Blob* y = child.FindBlob("y");
  ASSERT_TRUE(child.RenameBlob("y", "z"));
  EXPECT_EQ(child.FindBlob("z"), y);
  EXPECT_FALSE(child.HasBlob("y"));
}

TEST_F(Run, ChecksNetsAsTheyAreCreated) {
  const char* relu = "name: 'n' op { type: 'Relu' input: 'zz' output: 'y' }";
  EXPECT_EQ(Once(relu), "op 0 Relu(zz)->y: Encountered a non-existing input blob: zz");
  EXPECT_EQ(Once("name: 'n' external_input: 'x' op { type: 'Relu' input: 'zz' output: 'y' }"),
            "op 0 Relu(zz)->y: Source for input zz is unknown for net n");
  EXPECT_EQ(Once("name: 'n' external_output: 'q'"),
            "Some of the blobs are declared as output but never produced by the net n: q");
  EXPECT_EQ(Once("op { type: 'NoSuch' }"),
            "op 0 NoSuch(): Cannot create operator of type 'NoSuch': there is no such operator");
  Feed("zz", {-1, 2});
  const auto net = std::make_shared<const Net>(NetFromText(relu));
  ASSERT_TRUE(workspace.CreateNet(net));
  EXPECT_TRUE(workspace.HasBlob("y"));  // outputs are there before the first run
  EXPECT_EQ(workspace.CreateNet(net).error().code, ErrorCode::kNameConflict);
  EXPECT_TRUE(workspace.CreateNet(net, /*overwrite=*/true));
  EXPECT_TRUE(workspace.RunNet("n", 3));
  EXPECT_EQ(Floats("y"), (std::vector<float>{0, 2}));
  EXPECT_EQ(workspace.RunNet("m").error().message, "Network m does not exist in this workspace");
  EXPECT_EQ(workspace.CreateNet(std::make_shared<const Net>()).error().message,
            "Net definition should have a name");
}

TEST_F(Run, SaysWhichOperatorFailedAndWhy) {
  workspace.Feed("x", Tensor::Of<int32_t>(Dims{1}, std::vector<int32_t>{1}));
  const Result<void> ran =
      workspace.RunNetOnce(NetFromText("op { type: 'Copy' input: 'x' output: 'c' } "
                                       "op { type: 'Relu' input: 'c' output: 'y' }"));
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "op 1 Relu(c)->y: input 0 (c) has type int32, expected float or double");
  EXPECT_EQ(ran.error().op, 1);
  EXPECT_EQ(ran.error().blob, "c");
}

TEST_F(Run, AnInputThatIsAlsoAnOutputIsReadBeforeItIsWritten) {
  context.ops = nullptr;  // the schema forbids it
  const int64_t dims[] = {2, 2};
  workspace.Feed("w", Tensor::Of<float>(dims, std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(Once("op { type: 'MatMul' input: 'w' input: 'w' output: 'w' }"), "");
  EXPECT_EQ(Floats("w"), (std::vector<float>{7, 10, 15, 22}));
}

TEST_F(Run, SeededOperatorsDrawCaffe2sNumbers) {
  const std::string fill =
      "name: 'n' op { type: 'UniformFill' output: 'r' arg { name: 'shape' ints: 3 } "
      "device_option { random_seed: 5 } }";
  ASSERT_EQ(Once(fill), "");
  const std::vector<float> first = Floats("r");
  EXPECT_EQ(first, (std::vector<float>{0.22199318f, 0.05518012f, 0.8707323f}));
  ASSERT_EQ(Once(fill), "");
  EXPECT_EQ(Floats("r"), first);  // a new operator starts anew
  ASSERT_TRUE(workspace.CreateNet(std::make_shared<const Net>(NetFromText(fill))));
  ASSERT_TRUE(workspace.RunNet("n", 2));
  EXPECT_NE(Floats("r"), first);  // the same operator goes on
}

// y = x > 0 ? x * x : x, through Do with private names.
constexpr const char* kIf = R"(
  op { type: 'CreateScope' output: 'ws' }
  op { type: 'If' input: 'c' input: 'x' input: 'ws' output: 'y' output: 'ws'
       arg { name: 'then_net' n { name: 'then' op {
         type: 'Do' input: 'x' input: 'ws' output: 'y' output: 'ws'
         arg { name: 'net' n { name: 'body' op { type: 'Mul' input: 'a' input: 'a' output: 't' }
                               op { type: 'Copy' input: 't' output: 'b' } } }
         arg { name: 'inner_blobs' strings: 'a' strings: 'b' }
         arg { name: 'outer_blobs_idx' ints: 0 ints: 1 } } } }
       arg { name: 'else_net' n { op { type: 'Copy' input: 'x' output: 'y' } } } }
)";

TEST_F(Run, IfTakesOneBranch) {
  Feed("x", {3});
  workspace.Feed("c", Tensor::Scalar<bool>(true));
  ASSERT_EQ(Once(kIf), "");
  EXPECT_EQ(Floats("y"), std::vector<float>{9});
  EXPECT_FALSE(workspace.HasBlob("t"));  // private to the Do
  workspace.Feed("c", Tensor::Scalar<bool>(false));
  ASSERT_EQ(Once(kIf), "");
  EXPECT_EQ(Floats("y"), std::vector<float>{3});
  Feed("c", {1});
  EXPECT_NE(Once(kIf).find("single bool value expected, found float [1]"), std::string::npos);
}

TEST_F(Run, DoSaysWhatIsWrongWithItsBindings) {
  Feed("x", {1});
  const auto message = [&](std::string_view inner, std::string_view index) {
    return Once(
        StrCat("op { type: 'CreateScope' output: 'ws' } op { type: 'Do' input: 'x' input: 'ws' output: 'y' "
               "output: 'ws' arg { name: 'net' n { name: 'b' } } arg { name: 'inner_blobs' ",
               inner, " } arg { name: 'outer_blobs_idx' ", index, " } }"));
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos ? "" : text;
  };
  EXPECT_EQ(has(message("strings: 'a'", "ints: 0 ints: 1"), "1 inner and 2 outer blobs"), "");
  EXPECT_EQ(has(message("strings: 'a' strings: 'a'", "ints: 0 ints: 1"), "redefinition of inner blob a"), "");
  EXPECT_EQ(has(message("strings: 'a' strings: 'b'", "ints: 0 ints: 2"), "out of bounds [0, 1]"), "");
  EXPECT_EQ(has(message("strings: 'a' strings: 'b'", "ints: 0 ints: 0"),
                "Not all outer names are used in blob bindings: y"),
            "");
  EXPECT_EQ(message("strings: 'a' strings: 'b' strings: 'c'", "ints: 0 ints: 0 ints: 1"), "");
  EXPECT_EQ(has(message("strings: 'a'", "ints: 0"), "Not all outer names are used in blob bindings: y"), "");
  EXPECT_EQ(message("strings: 'a' strings: 'b'", "ints: 0 ints: 1"), "");
  EXPECT_EQ(
      has(Once("op { type: 'CreateScope' output: 'ws' } op { type: 'Do' input: 'x' input: 'ws' output: 'ws' "
               "is_gradient_op: true arg { name: 'net' n { name: 'b' } } arg { name: 'inner_blobs' "
               "strings: 'x' } arg { name: 'outer_blobs_idx' ints: 0 } }"),
          "Failed to initialize Do op workspace"),
      "");
}

// n counts down; p doubles each time.
constexpr const char* kWhile = R"(
  op { type: 'While' input: 'go'
       arg { name: 'cond_net' n { op { type: 'GT' input: 'n' input: 'zero' output: 'go' } } }
       arg { name: 'loop_net' n { op { type: 'Add' input: 'p' input: 'p' output: 'p' }
                                  op { type: 'Sub' input: 'n' input: 'one' output: 'n' } } } }
)";

TEST_F(Run, WhileRunsUntilItsConditionFails) {
  Feed("one", {1});
  Feed("zero", {0});
  for (int times : {0, 1, 5}) {
    Feed("p", {1});
    Feed("n", {static_cast<float>(times)});
    workspace.Feed("go", Tensor::Scalar<bool>(true));
    ASSERT_EQ(Once(kWhile), "");
    EXPECT_EQ(Floats("p"), std::vector<float>{static_cast<float>(1 << times)});
  }
}

TEST_F(Run, AnEndlessLoopStopsAtTheLimit) {
  context.op_limit = 1000;
  workspace.Feed("go", Tensor::Scalar<bool>(true));
  const Result<void> ran = workspace.RunNetOnce(
      NetFromText("op { type: 'While' input: 'go' arg { name: 'loop_net' n { name: 'empty' } } }"));
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace weft
