// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/edit.h"

#include <gtest/gtest.h>

#include "core/ssa/cut.h"
#include "tests/support/compact_net.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using test::NetFromText;
using testing::CompactNet;
using testing::CompactOp;
using testing::ToCompact;

Symbol Find(const Net& net, const char* name) { return net.symbols->Intern(name); }

TEST(AppendNet, ExternalInputsComeFirstAndProducedOnesAreDropped) {
  Net net = CompactNet("in x; Relu(x) -> y; out y");
  const Net other = CompactNet("in y x w w; FC(y, w) -> z; out y z z");
  EXPECT_EQ(ToCompact(AppendNet(net, other)), "in x w; Relu(x) -> y; FC(y, w) -> z; out y z");
}

TEST(AppendNet, B20_TheDeviceReachesEveryAppendedOp) {
  Net net = CompactNet("Relu(x) -> y");
  const Net other = NetFromText(
      "op { type: 'Relu' input: 'x' output: 'z' device_option { device_type: 0 } }"
      "op { type: 'RecurrentNetwork' arg { name: 'step_net' n { op { type: 'Tanh' } } } }"
      "op { type: 'If' arg { name: 'then_net' n { op { type: 'Sin' } } } }");
  DeviceOption cuda;
  cuda.device_type = kCuda;
  cuda.device_id = 3;
  const Net both = AppendNet(net, other, {std::make_shared<const DeviceOption>(cuda)});
  EXPECT_EQ(both.ops[0].device, nullptr);
  for (size_t i = 1; i < both.ops.size(); ++i) EXPECT_EQ(DeviceToString(both.ops[i].device), "cuda:3") << i;
  EXPECT_EQ(DeviceToString(FindNetArg(both, both.ops[2], "step_net")->ops[0].device), "cuda:3");
  EXPECT_EQ(DeviceToString(FindNetArg(both, both.ops[3], "then_net")->ops[0].device), "cuda:3");
  EXPECT_EQ(DeviceToString(other.ops[0].device), "cpu");
}

TEST(AppendNet, B25_WhatWasEditedByHandCounts) {
  Net net = CompactNet("in x; Relu(x) -> y");
  net.external_inputs.push_back(Find(net, "w"));
  net.ops.push_back(CompactOp("Tanh(y) -> made", net.symbols));
  const Net other = CompactNet("in w made; Add(w, made) -> z");
  EXPECT_EQ(ToCompact(AppendNet(net, other)), "in x w; Relu(x) -> y; Tanh(y) -> made; Add(w, made) -> z");
}

TEST(InsertOp, B28_ExternalListsAreUpdated) {
  const Net net = CompactNet("in x; Relu(x) -> y; out y");
  const auto edited = InsertOp(net, CompactOp("Sigmoid(q) -> r", net.symbols), 0);
  EXPECT_EQ(ToCompact(*edited), "in x q; Sigmoid(q) -> r; Relu(x) -> y; out y r");
}

TEST(InsertOp, B28_WhatTheNetMakesOrReadsIsNotExternal) {
  const Net net = CompactNet("in x; Relu(x) -> y; Tanh(t) -> z; out z");
  const auto edited = InsertOp(net, CompactOp("Sigmoid(y, x) -> t", net.symbols), 1);
  EXPECT_EQ(ToCompact(*edited), "in x; Relu(x) -> y; Sigmoid(y, x) -> t; Tanh(t) -> z; out z");
  const auto wrong = InsertOp(net, CompactOp("Sigmoid(y) -> t", net.symbols), 3);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "InsertOp: place 3 in net , which has 2 ops");
}

// caffe2's own core_test: a SpatialBN between Conv and Relu.
TEST(Reroute, AsInCaffe2) {
  const Net net = CompactNet("Conv(input, w, b) -> conv1; Relu(conv1) -> conv1_relu");
  const auto edited = RerouteBlob(
      net, {.blob = Find(net, "conv1"),
            .producer = CompactOp("SpatialBN(conv1, scale, bias, mean, var) -> conv1_bn, mean, var, sm, sv",
                                  net.symbols),
            .readers = std::vector<OpId>{1}});
  ASSERT_TRUE(edited.has_value()) << edited.error().message;
  EXPECT_EQ(ToCompact(edited->net),
            "in scale bias mean var; Conv(input, w, b) -> conv1; SpatialBN(conv1, scale, bias, mean, var) -> "
            "conv1_bn, "
            "mean, var, sm, sv; Relu(conv1_bn) -> conv1_relu");
  EXPECT_EQ(edited->changed, 1);
  EXPECT_EQ(edited->inserted, 1);
}

TEST(Reroute, ExternalOutputsFollow) {
  const Net net = CompactNet("in x; FC(x) -> a; Relu(a) -> b; out a b");
  const auto edited =
      RerouteBlob(net, {.blob = Find(net, "a"), .producer = CompactOp("Dropout(a) -> d", net.symbols)});
  EXPECT_EQ(ToCompact(edited->net), "in x; FC(x) -> a; Dropout(a) -> d; Relu(d) -> b; out d b");
}

TEST(Reroute, OnlyReadersOfThatVersionAreRedirected) {
  const Net net = CompactNet("in x; Conv(x) -> a; Relu(a) -> b; Tanh(a) -> a; Sin(a) -> c; out a");
  const auto edited = RerouteBlob(
      net, {.blob = Find(net, "a"), .version = 1, .producer = CompactOp("Dropout(a) -> d", net.symbols)});
  EXPECT_EQ(ToCompact(edited->net),
            "in x; Conv(x) -> a; Dropout(a) -> d; Relu(d) -> b; Tanh(d) -> a; Sin(a) -> c; out a");
  EXPECT_EQ(edited->changed, 2);
}

TEST(Reroute, ConflictsAreErrors) {
  const Net net = CompactNet("in x; Conv(x) -> a; Relu(a) -> b; Tanh(b) -> late; Sin(a) -> c");
  const auto reads_early =
      RerouteBlob(net, {.blob = Find(net, "a"), .producer = CompactOp("Mul(a, late) -> d", net.symbols)});
  ASSERT_FALSE(reads_early.has_value());
  EXPECT_EQ(reads_early.error().message,
            "cannot reroute a: op 1 (Relu) reads a@1 before op 2 (Tanh) makes what the new op needs");
  const auto taken =
      RerouteBlob(net, {.blob = Find(net, "a"), .producer = CompactOp("Dropout(a) -> b", net.symbols)});
  EXPECT_EQ(taken.error().code, ErrorCode::kNameConflict);
  const Net overwritten = CompactNet("in x; Conv(x) -> a; Relu(a) -> a; Tanh(x) -> late");
  const auto gone =
      RerouteBlob(overwritten, {.blob = Find(overwritten, "a"),
                                .version = 1,
                                .producer = CompactOp("Mul(a, late) -> d", overwritten.symbols)});
  EXPECT_EQ(
      gone.error().message,
      "cannot reroute a: the new op must come after op 2 (Tanh), but op 1 (Relu) overwrites a@1 before that");
  const auto missing = RerouteBlob(
      net, {.blob = Find(net, "a"), .version = 4, .producer = CompactOp("Dropout(a) -> d", net.symbols)});
  EXPECT_EQ(missing.error().message, "cannot reroute a: there is no version 4, the latest is 1");
}

TEST(Reroute, ReachesIntoBranches) {
  const Net net = NetFromText(
      "op { type: 'Relu' input: 'x' output: 'a' }"
      "op { type: 'If' input: 'c' output: 'r' arg { name: 'then_net' n { name: 't'"
      "  op { type: 'Tanh' input: 'a' output: 'r' } } } }");
  const auto edited =
      RerouteBlob(net, {.blob = Find(net, "a"), .producer = CompactOp("Sin(a) -> d", net.symbols)});
  EXPECT_EQ(edited->changed, 1);
  const NetPtr then = FindNetArg(edited->net, edited->net.ops[2], "then_net");
  EXPECT_EQ(ToCompact(*then), "Tanh(d) -> r");
  EXPECT_EQ(then->Str(then->name), "t");
}

TEST(InsertOnEdge, ChangesOneInputOfOneOp) {
  const Net net = CompactNet("in x; Conv(x) -> a; Relu(a) -> b; Mul(a, a) -> c; out a");
  const auto edited = InsertOnEdge(net, 2, 1, CompactOp("Dropout(a) -> d", net.symbols));
  EXPECT_EQ(ToCompact(edited->net),
            "in x; Conv(x) -> a; Dropout(a) -> d; Relu(a) -> b; Mul(a, d) -> c; out a");
  EXPECT_EQ(InsertOnEdge(net, 2, 2, CompactOp("Dropout(a) -> d", net.symbols)).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(Cut, KeepsTheOpsBetweenAndListsNewInputs) {
  const Net net = CompactNet(
      "in data w1 w2; Conv(data, w1) -> a; Tanh(data) -> m; Relu(a) -> b; Mul(b, m) -> b2; FC(b2, w2) -> c; "
      "Sin(b) -> s");
  const auto cut = Cut(net, {.inputs = {Find(net, "a")}, .outputs = {Find(net, "c")}});
  ASSERT_TRUE(cut.has_value()) << cut.error().message;
  EXPECT_EQ(ToCompact(cut->net), "in a m w2; Relu(a) -> b; Mul(b, m) -> b2; FC(b2, w2) -> c; out c");
  EXPECT_EQ(cut->added, std::vector<Symbol>{Find(net, "m")});
  EXPECT_EQ(cut->ops, (std::vector<OpId>{2, 3, 4}));
}

TEST(Cut, AnUnreachableOutputIsAnErrorNamingTheFirst) {
  const Net net = CompactNet("name n; in x q; Relu(x) -> a; Tanh(q) -> b; Sin(q) -> c");
  const auto cut =
      Cut(net, {.inputs = {Find(net, "x")}, .outputs = {Find(net, "a"), Find(net, "b"), Find(net, "c")}});
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().message, "output b@1 of net n does not depend on any of the given inputs");
  EXPECT_EQ(cut.error().blob, "b");
  EXPECT_EQ(Cut(net, {.outputs = {Find(net, "zz")}}).error().code, ErrorCode::kNotFound);
}

TEST(Cut, TwoVersionsFromOutsideAreAConflict) {
  const Net net = CompactNet("in x; Relu(x) -> m; Tanh(x) -> a; Add(a, m) -> b; Sin(m) -> m; Mul(b, m) -> c");
  const auto cut = Cut(net, {.inputs = {Find(net, "a")}, .outputs = {Find(net, "c")}});
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().code, ErrorCode::kVersionConflict);
  EXPECT_EQ(cut.error().op, 4);
}

TEST(Cut, AVersionInTheMiddleCanBeGiven) {
  const Net net = CompactNet("in x; Relu(x) -> x; Tanh(x) -> x; Sin(x) -> y");
  const auto cut = Cut(net, {.inputs = {{Find(net, "x"), 1}}, .outputs = {Find(net, "y")}});
  EXPECT_EQ(ToCompact(cut->net), "in x; Tanh(x) -> x; Sin(x) -> y; out y");
}

// Features of the last layer but one: the head is gone, and its parameters from the net and its init net.
TEST(Cut, HeadAndItsParametersGo) {
  const Net init = CompactNet("XavierFill() -> w1; XavierFill() -> w2; ConstantFill() -> b2; Copy(w2) -> w3");
  const Net net =
      CompactNet("in data w1 w2 b2; Conv(data, w1) -> pool; FC(pool, w2, b2) -> fc; Softmax(fc) -> p; out p",
                 init.symbols);
  const auto cut = Cut(net, {.inputs = {Find(net, "data")}, .outputs = {Find(net, "pool")}});
  EXPECT_EQ(ToCompact(cut->net), "in data w1; Conv(data, w1) -> pool; out pool");
  EXPECT_EQ(ToCompact(*TrimInit(init, cut->net)), "XavierFill() -> w1; out w1");
}

TEST(SetRandSeed, ThreeWays) {
  const Net net = CompactNet("A() -> a; B() -> b; A() -> a");
  const auto seeds = [](const Result<Net>& seeded) {
    std::vector<uint32_t> list;
    for (const Op& op : seeded->ops) list.push_back(*op.device->random_seed);
    return list;
  };
  EXPECT_EQ(seeds(SetRandSeed(net)), (std::vector<uint32_t>{100, 101, 102}));
  EXPECT_EQ(seeds(SetRandSeed(net, {.seed = 5, .sequence_seed = false})), (std::vector<uint32_t>{5, 5, 5}));
  const auto hashed = seeds(SetRandSeed(net, {.sequence_seed = false, .seed_on_op_def = true}));
  EXPECT_NE(hashed[0], hashed[1]);
  EXPECT_EQ(hashed[0], hashed[2]);
  EXPECT_NE(hashed[0],
            seeds(SetRandSeed(net, {.seed = 1, .sequence_seed = false, .seed_on_op_def = true}))[0]);
  const auto both = SetRandSeed(net, {.seed_on_op_def = true});
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().message, "sequence_seed and seed_on_op_def cannot be both set to True.");
}

TEST(SetRandSeed, KeepsTheRestOfTheDevice) {
  Net net = CompactNet("A() -> a");
  DeviceOption cuda;
  cuda.device_type = kCuda;
  net.ops[0].device = std::make_shared<const DeviceOption>(cuda);
  EXPECT_EQ(DeviceToString(SetRandSeed(net)->ops[0].device), "cuda:0 seed=100");
  EXPECT_EQ(DeviceToString(net.ops[0].device), "cuda:0");
}

// Blobs read inside the branches of an If are inputs of the If to whoever orders ops.
TEST(ExposeNestedInputs, BranchReadsBecomeInputs) {
  const Net net = NetFromText(
      "op { type: 'Relu' input: 'x' output: 'a' }"
      "op { type: 'If' input: 'cond' output: 'r'"
      "  arg { name: 'then_net' n { op { type: 'Add' input: 'a' input: 'b' output: 'r' } } }"
      "  arg { name: 'else_net' n { op { type: 'Sub' input: 'a' input: 'b' output: 't' }"
      "                             op { type: 'Copy' input: 't' output: 'r' } } } }"
      "op { type: 'Tanh' input: 'a' output: 'a' }");
  EXPECT_EQ(ToCompact(ExposeNestedInputs(net)), "Relu(x) -> a; If(cond, a, b) -> r; Tanh(a) -> a");
  const Ssa ssa(net, {.nested = NestedNets::kReads});
  EXPECT_EQ(ssa.uses(ssa.outputs(0)[0]).size(), 2u);  // the If and the Tanh
  EXPECT_EQ(ssa.outputs(1).size(), 1u);               // r once, although both branches write it
  EXPECT_EQ(ValueName(net, ssa, ssa.outputs(1)[0]), "r@1");
  const Ssa writes(net, {.nested = NestedNets::kReadsAndWrites});
  EXPECT_EQ(writes.outputs(1).size(), 2u);  // r and the else branch's own t
}

}  // namespace
}  // namespace weft
