// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that a user brings along: a row with schema and gradient beside the standard ones, a kernel, and
// the typed arguments of the builder. And operators that call Python: nets with them open and plan.
#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/ir/net_builder.h"
#include "core/kernels/families.h"
#include "core/ops/families.h"
#include "core/ops/schema.h"
#include "core/run/interpreter.h"
#include "core/run/kernel.h"
#include "proto/codec.h"
#include "tests/support/compact_net.h"

namespace weft {
namespace {

using testing::ToCompact;

// MyCube(x) = scale * x^3, and its gradient.
constexpr OpDef kCubeOps[] = {
    {.name = "MyCube",
     .doc = "The cube of each element, times scale.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "scale:float=1",
     .policy = GradientPolicy::kRule,
     .gradient = "MyCubeGradient(I0, GO0) -> GI0"},
    {.name = "MyCubeGradient",
     .doc = "The gradient of MyCube.",
     .in = 2,
     .out = 1,
     .ports = "X dY -> dX",
     .args = "scale:float=1"},
};

Result<void> Cube(KernelContext& c) {
  WEFT_TRY(float* out, c.Out<float>(0, c.In(0).dims()));
  const float scale = c.ArgF("scale", 1);
  for (int64_t i = 0; i < c.In(0).numel(); ++i) {
    const float x = c.In<float>(0)[i];
    out[i] = scale * x * x * x;
  }
  return {};
}
Result<void> CubeGradient(KernelContext& c) {
  WEFT_TRY(float* out, c.Out<float>(0, c.In(0).dims()));
  const float scale = c.ArgF("scale", 1);
  for (int64_t i = 0; i < c.In(0).numel(); ++i) {
    const float x = c.In<float>(0)[i];
    out[i] = 3 * scale * x * x * c.In<float>(1)[i];
  }
  return {};
}
constexpr KernelRow kCubeKernels[] = {{"MyCube", Cube, "f"}, {"MyCubeGradient", CubeGradient, "f"}};

TEST(CustomOperator, HasSchemaGradientAndKernel) {
  std::vector<OpFamily> families = StandardFamilies();
  families.push_back(kCubeOps);
  const Result<OpSet> made = OpSet::Create(families);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const OpSet& ops = *made;
  NameRegistry registry;
  NetBuilder builder(registry, "n");
  builder.Add(
      {.type = "MyCube", .inputs = {"x"}, .outputs = std::vector<BlobRef>{"y"}, .args = {{"scale", 2.0}}});
  Net net = std::move(builder).Finish();
  EXPECT_TRUE(VerifySchema(*ops.Find("MyCube"), net, net.ops[0]).has_value());

  GradientOptions options;
  options.losses = {{net.Intern("y"), {}}};
  const auto backward = PlanGradients(net, ops, options);
  ASSERT_TRUE(backward.has_value()) << backward.error().message;
  const Net train = AppendBackward(net, *backward);
  EXPECT_EQ(ToCompact(train),
            "in x; MyCube(x) -> y; ConstantFill(y) -> y_autogen_grad; "
            "MyCubeGradient(x, y_autogen_grad) -> x_grad");
  EXPECT_FALSE(PlanGradients(net, StandardOps(), options).has_value());

  const KernelFamily reference[] = {kCubeKernels};
  std::vector<KernelRow> rows;
  for (const KernelRow* row : ReferenceKernels().all()) rows.push_back(*row);
  const KernelFamily all[] = {rows, reference[0]};
  const KernelSet kernels(all);
  RunContext context;
  context.kernels = &kernels;
  context.ops = &ops;
  Workspace workspace(context);
  const int64_t dims[] = {2};
  workspace.Feed("x", Tensor::Of<float>(dims, std::vector<float>{1, 3}));
  const auto ran = workspace.RunNetOnce(train);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(workspace.FindTensor("y")->data<float>()[1], 54);
  EXPECT_EQ(workspace.FindTensor("x_grad")->data<float>()[1], 54);
}

// What is wrong with a row is an error, not the end of the program.
TEST(CustomOperator, RowsThatMakeNoSenseAreRefused) {
  const auto refusal = [](const OpDef& def) {
    std::vector<OpFamily> families = StandardFamilies();
    families.push_back({&def, 1});
    const Result<OpSet> made = OpSet::Create(families);
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(refusal({.name = "MyOwn", .in = 1, .out = 1}), "");
  EXPECT_EQ(refusal({.name = "Relu"}), "two operators are called Relu");
  EXPECT_EQ(refusal({.name = ""}), "an operator has no name");
  EXPECT_NE(refusal({.name = "MyOwn", .in = {2, 1}}), "");
  EXPECT_NE(refusal({.name = "MyOwn", .policy = GradientPolicy::kRule}), "");
  EXPECT_NE(refusal({.name = "MyOwn", .gradient = "MyOwnGradient(GO0) -> GI0"}), "");
  for (const std::string& message :
       {refusal({.name = "MyOwn", .policy = GradientPolicy::kRule, .gradient = "MyOwnGradient(GO0 -> GI0"}),
        refusal({.name = "MyOwn", .in = 1, .out = 1, .ports = "X -> Y", .shape = "Y = [X.0"}),
        refusal({.name = "MyOwn", .in = 1, .out = 1, .ports = "X Y", .args = "a:thing"})})
    EXPECT_NE(message.find("MyOwn"), std::string::npos) << message;
}

// B58: mixed lists are floats, empty ones have the type that they were written with; a map is no argument and
// does not compile.
TEST(TypedArguments, B58_GoWhereCaffe2PutsThem) {
  NameRegistry registry;
  NetBuilder net(registry, "n");
  net.Add({.type = "T",
           .outputs = std::vector<BlobRef>{"y"},
           .args = {{"i", 5},
                    {"b", true},
                    {"f", 0.5},
                    {"s", "text"},
                    {"ints", {1, 2}},
                    {"zeros", {0}},
                    {"mixed", {1, 2.5}},
                    {"empty", std::vector<float>()},
                    {"words", std::vector<std::string>{"a", "b"}},
                    {"net", std::make_shared<const Net>(net.net().symbols)}}});
  std::string text = OpToText(*net.net().symbols, net.net().ops[0]);
  for (const char* piece : {"name: \"i\"\n  i: 5", "name: \"b\"\n  i: 1", "name: \"f\"\n  f: 0.5",
                            "name: \"s\"\n  s: \"text\"", "name: \"ints\"\n  ints: 1\n  ints: 2",
                            "name: \"zeros\"\n  ints: 0", "name: \"mixed\"\n  floats: 1\n  floats: 2.5",
                            "name: \"empty\"\n}", "strings: \"a\"\n  strings: \"b\"", "name: \"net\"\n  n {"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
  const Arg* empty = FindArg(*net.net().symbols, net.net().ops[0].args, "empty");
  ASSERT_NE(empty, nullptr);
  EXPECT_TRUE(ArgFloats(*net.net().symbols, net.net().ops[0].args, "empty").empty());
}

// A plain name takes the scope, a reference does not; a suffix goes behind what it names.
TEST(Builder, ReferencesAndLogInfo) {
  NameRegistry registry;
  NetBuilder net(registry, "n");
  const Scope scope{NameScope().Enter("s"), {}};
  const Symbol y = net.Add({.type = "Relu", .inputs = {"x"}, .outputs = std::vector<BlobRef>{"y"}}, scope)[0];
  net.Add({.type = "Tanh", .inputs = {y}, .outputs = std::vector<BlobRef>{net.Suffixed(y, "_t")}}, scope);
  const BlobRef messages[] = {"done", y};
  net.LogInfo(messages);
  EXPECT_EQ(ToCompact(net.net()),
            "in s/x; Relu(s/x) -> s/y; Tanh(s/y) -> s/y_t; "
            "GivenTensorStringFill() -> n/log; Print(n/log); Print(s/y)");
}

TEST(PythonOperator, OpensPlansAndRefusesToRun) {
  const auto read = ParseNetText(
      "name: \"n\" op { input: \"x\" output: \"y\" type: \"Python\" arg { name: \"token\" s: \"my_func:1\" } "
      "} "
      "op { input: \"y\" output: \"z\" type: \"Tanh\" } external_input: \"x\"");
  ASSERT_TRUE(read.has_value());
  GradientOptions options;
  Net net = *read;
  options.losses = {{net.Intern("z"), {}}};
  const auto backward = PlanGradients(net, StandardOps(), options);
  ASSERT_TRUE(backward.has_value()) << backward.error().message;
  const Net train = AppendBackward(net, *backward);
  EXPECT_EQ(train.Str(train.ops.back().type), "PythonGradient");

  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  Workspace workspace(context);
  const int64_t dims[] = {1};
  workspace.Feed("x", Tensor::Of<float>(dims, std::vector<float>{1}));
  const auto ran = workspace.RunNetOnce(train);
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(
      ran.error().message.find("Python(x)->y: calls a Python function, which Weft does not run; its token "
                               "is my_func:1"),
      std::string::npos)
      << ran.error().message;
}

}  // namespace
}  // namespace weft
