// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/net_builder.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "proto/codec.h"
#include "tests/support/compact_net.h"

namespace weft {
namespace {

using testing::CompactNet;
using testing::ToCompact;

class NetBuilderTest : public ::testing::Test {
 protected:
  std::string Text(Symbol symbol) const { return std::string(builder.net().Str(symbol)); }

  NameRegistry registry;
  NetBuilder builder{registry, "m"};
  const NameScope scope = NameScope().Enter("s");
};

TEST(NameRegistry, CountsAsCaffe2Does) {
  NameRegistry registry;
  EXPECT_EQ(registry.UniqueNet("n"), "n");
  EXPECT_EQ(registry.UniqueNet("n_1"), "n_1");
  EXPECT_EQ(registry.UniqueNet("n"), "n_2");
  EXPECT_EQ(registry.UniqueNet("n_1"), "n_1_1");
  EXPECT_EQ(registry.UniqueStep(), "step");
  EXPECT_EQ(registry.UniqueStep(), "step_1");
}

// A removed net's name is free again; a lookup by the wanted name never hits another net, since what was made
// is told by the name that creating returned.
TEST(NameRegistry, ReleasedNamesAreFreeAgain) {
  NameRegistry registry;
  for (int i = 0; i < 5; ++i) registry.UniqueNet("n");
  registry.ReleaseNet("n_2");
  EXPECT_FALSE(registry.HasNet("n_2"));
  EXPECT_EQ(registry.UniqueNet("n"), "n_2");
  EXPECT_EQ(registry.UniqueNet("n"), "n_5");
  registry.ReleaseNet("n");
  EXPECT_EQ(registry.UniqueNet("n"), "n");
  registry.Clear();
  EXPECT_EQ(registry.UniqueNet("n"), "n");
}

TEST(NameRegistry, ManyEqualNamesAreLinear) {
  NameRegistry registry;
  std::string last;
  for (int i = 0; i < 50000; ++i) last = registry.UniqueNet("n");
  EXPECT_EQ(last, "n_49999");
}

TEST(FreshNames, SeededWithEveryNameOfTheNets) {
  Net net = CompactNet("in ext; Relu(a) -> b !c; out d");
  Net nested(net.symbols);
  nested.ops = {testing::CompactOp("Tanh(inner) -> inner2", net.symbols)};
  net.ops[0].args = ArgList({MakeArg(net.Intern("then_net"), std::make_shared<const Net>(nested)),
                             MakeArg(net.Intern("link"), std::vector<std::string>{"listed"}),
                             MakeArg(net.Intern("timestep"), std::string("t"))});
  FreshNames fresh(net.symbols);
  fresh.Reserve(net);
  for (const char* name : {"ext", "a", "b", "c", "d", "inner", "inner2", "listed", "t"})
    EXPECT_EQ(net.Str(fresh.Make(name)), StrCat(name, "_1"));
  EXPECT_EQ(net.Str(fresh.Make("new")), "new");
  EXPECT_EQ(net.Str(fresh.Make("new")), "new_1");
  EXPECT_EQ(net.Str(fresh.Make("new")), "new_2");
}

TEST(Scope, NamesAndDevicesAreValues) {
  const NameScope outer = NameScope().Enter("gpu_0");
  EXPECT_EQ(outer.Enter("conv").Scoped("w"), "gpu_0/conv/w");
  EXPECT_EQ(outer.Enter("").Scoped("w"), "gpu_0/w");
  EXPECT_EQ(ScopePart("a/b/c"), "a/b/");
  EXPECT_EQ(UnscopedPart("a/b/c"), "c");
  EXPECT_EQ(ScopePart("c"), "");

  DeviceOption cpu, cuda;
  cpu.node_name = "node";
  cpu.extra_info = {"z"};
  cuda.device_type = kCuda;
  cuda.extra_info = {"b", "a"};
  const DeviceScope inner = DeviceScope().Enter(cpu).Enter(cuda);
  EXPECT_EQ(*inner.device->node_name, "node");
  EXPECT_EQ(inner.device->extra_info, (std::vector<std::string>{"a", "b", "z"}));
  EXPECT_EQ(*DeviceScope().EnterNode("other").device->node_name, "other");
}

TEST_F(NetBuilderTest, B24_ConstOfStringsIsAStringFill) {
  const ConstValue text{std::vector<std::string>{"s"}, {}};
  EXPECT_EQ(Text(*builder.Const(text)), "m/GivenTensorStringFill:0");
  const Op& op = builder.net().ops[0];
  EXPECT_EQ(ArgStrings(*builder.net().symbols, op.args, "values"), std::vector<std::string>{"s"});
}

// Types and names as real Caffe2 makes them.
TEST_F(NetBuilderTest, ConstOfEachType) {
  builder.ConstBool(true);
  EXPECT_TRUE(builder.Const({std::vector<bool>{true, false}, {2}}));
  EXPECT_TRUE(builder.Const({std::vector<int64_t>{1, 2}, {2}}));
  EXPECT_TRUE(builder.Const({std::vector<float>{1.5f, 2.5f}, {1, 2}}));
  EXPECT_TRUE(builder.Const({std::vector<int32_t>{1}, {1}}));
  EXPECT_TRUE(builder.Const({std::vector<float>{3}, {}}));
  EXPECT_TRUE(builder.Const({std::vector<int64_t>{7}, {}}, BlobRef("seven")));
  EXPECT_EQ(ToCompact(builder.net()),
            "ConstantFill() -> m/ConstantFill:0; GivenTensorBoolFill() -> m/GivenTensorBoolFill:0; "
            "GivenTensorInt64Fill() -> m/GivenTensorInt64Fill:0; GivenTensorFill() -> m/GivenTensorFill:0; "
            "GivenTensorIntFill() -> m/GivenTensorIntFill:0; GivenTensorFill() -> m/GivenTensorFill_2:0; "
            "GivenTensorInt64Fill() -> seven");
  EXPECT_EQ(OpToText(*builder.net().symbols, builder.net().ops[0]),
            "output: \"m/ConstantFill:0\"\nname: \"\"\ntype: \"ConstantFill\"\n"
            "arg {\n  name: \"dtype\"\n  i: 5\n}\narg {\n  name: \"value\"\n  i: 1\n}\n");
  EXPECT_EQ(OpToText(*builder.net().symbols, builder.net().ops[5]),
            "output: \"m/GivenTensorFill_2:0\"\nname: \"\"\ntype: \"GivenTensorFill\"\n"
            "arg {\n  name: \"shape\"\n}\narg {\n  name: \"values\"\n  floats: 3\n}\n");
}

TEST_F(NetBuilderTest, ConstChecksItsShape) {
  const auto wrong = builder.Const({std::vector<float>{1, 2, 3}, {2, 2}});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "Const: the shape holds 4 values, but 3 were given");
  EXPECT_FALSE(builder.Const({std::vector<float>{}, {-1, 0}}).has_value());
}

TEST_F(NetBuilderTest, B25_DefinedIsKeptInOnePlace) {
  builder.Add({.type = "Relu", .inputs = {"x"}, .outputs = std::vector<BlobRef>{"y"}});
  EXPECT_TRUE(builder.IsExternalInput(builder.Intern("x")));
  EXPECT_TRUE(builder.BlobIsDefined(builder.Intern("y")));
  EXPECT_FALSE(builder.UsesBlob(builder.Intern("y")));
  Net net = std::move(builder).Finish();
  net.external_inputs.push_back(net.Intern("w"));
  NetBuilder again(registry, std::move(net));
  EXPECT_TRUE(again.IsExternalInput(again.Intern("w")));
  EXPECT_EQ(again.name(), "m_1");
}

TEST(NetBuilder, B27_AutomaticNamesGoOnAfterTheHighestNumber) {
  NameRegistry registry;
  std::string ops;
  for (int i = 0; i < 12; ++i) StrAppend(ops, "Relu(x) -> n_blob_", i, "; ");
  NetBuilder builder(registry, CompactNet("name n; Relu(x) -> n_blob_99x; " + ops));
  EXPECT_EQ(builder.net().Str(builder.NextName()), "n_blob_12");
}

TEST_F(NetBuilderTest, B59_NextNameReservesAndReturnsTheFinalName) {
  EXPECT_EQ(Text(builder.NextName("P")), "m/P");
  EXPECT_EQ(Text(builder.NextName("P")), "m/P_2");
  EXPECT_EQ(Text(builder.NextName("P", 1)), "m/P:1");
  EXPECT_EQ(Text(builder.NextName("P", 1)), "m/P_2:1");
  EXPECT_EQ(Text(builder.NextName("P", {}, scope)), "s/m/P");
  EXPECT_EQ(Text(builder.NextName()), "m_blob_0");
  EXPECT_EQ(Text(builder.NextName(scope)), "s/m_blob_1");
}

TEST_F(NetBuilderTest, NextBlobNeverRepeats) {
  builder.Add({.type = "Relu", .inputs = {"x"}, .outputs = std::vector<BlobRef>{"y"}});
  EXPECT_EQ(Text(builder.NextBlob("y")), "y_auto_0");
  EXPECT_EQ(Text(builder.NextBlob("x")), "x_auto_0");
  EXPECT_EQ(Text(builder.NextBlob()), "unnamed");
  EXPECT_EQ(Text(builder.NextBlob()), "unnamed_auto_0");
  EXPECT_EQ(Text(builder.NextScopedBlob("b", scope)), "s/b");
  EXPECT_EQ(Text(builder.NextScopedBlob("b", scope)), "s/b_auto_0");
}

// The names that real Caffe2 gave to the same calls.
TEST_F(NetBuilderTest, OutputsAreNamedAsCaffe2Does) {
  const Scope in_s{scope, {}};
  builder.Add({.type = "Relu", .inputs = {"a"}});
  builder.Add({.type = "Relu", .inputs = {"a"}}, in_s);
  builder.Add({.type = "Relu", .inputs = {"a"}}, in_s);
  const auto split = builder.Add({.type = "Split", .inputs = {"a"}, .outputs = 2}, in_s);
  builder.Add({.type = "Sum", .inputs = {split[0], "b"}, .outputs = std::vector<BlobRef>{"c"}}, in_s);
  EXPECT_EQ(ToCompact(builder.net()),
            "in a s/a s/b; Relu(a) -> m/Relu; Relu(s/a) -> s/m/Relu; Relu(s/a) -> s/m/Relu_2; "
            "Split(s/a) -> s/m/Split:0, s/m/Split:1; Sum(s/m/Split:0, s/b) -> s/c");
}

TEST_F(NetBuilderTest, DevicesComeFromTheOpOrTheScope) {
  DeviceOption cuda;
  cuda.device_type = kCuda;
  const Scope gpu{{}, DeviceScope().Enter(cuda)};
  builder.Add({.type = "Relu", .inputs = {"x"}}, gpu);
  builder.Add({.type = "Relu", .inputs = {"x"}, .device = std::make_shared<const DeviceOption>()}, gpu);
  builder.Add({.type = "Relu", .inputs = {"x"}});
  EXPECT_EQ(DeviceToString(builder.net().ops[0].device), "cuda:0");
  EXPECT_EQ(DeviceToString(builder.net().ops[1].device), "cpu");
  EXPECT_EQ(builder.net().ops[2].device, nullptr);
}

TEST_F(NetBuilderTest, ExternalInputsAreAddedOnce) {
  const Symbol x = builder.Intern("x"), y = builder.Intern("y");
  EXPECT_TRUE(builder.AddExternalInput(x).has_value());
  const Symbol again[] = {y, x};
  const auto repeated = builder.AddExternalInputs(again);
  ASSERT_FALSE(repeated.has_value());
  EXPECT_EQ(repeated.error().code, ErrorCode::kNameConflict);
  EXPECT_EQ(repeated.error().message, "Net m already contains an input named x");
  EXPECT_FALSE(builder.BlobIsDefined(y));
  const Symbol twice[] = {y, y};
  EXPECT_FALSE(builder.AddExternalInputs(twice).has_value());
  EXPECT_EQ(builder.net().external_inputs, std::vector<Symbol>{x});
}

TEST_F(NetBuilderTest, ExternalOutputsMustBeDefined) {
  const Symbol x = builder.Intern("x");
  const auto missing = builder.AddExternalOutput(x);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message, "x is not defined in net m");
  EXPECT_TRUE(builder.AddExternalInput(x).has_value());
  EXPECT_TRUE(builder.AddExternalOutput(x).has_value());
}

}  // namespace
}  // namespace weft
