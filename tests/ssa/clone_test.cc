// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/clone.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "proto/codec.h"
#include "tests/support/compact_net.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using test::NetFromText;
using testing::CompactNet;
using testing::ToCompact;

std::vector<BlobRename> Renames(const Net& net,
                                std::initializer_list<std::pair<const char*, const char*>> pairs) {
  std::vector<BlobRename> renames;
  for (const auto& [from, to] : pairs)
    renames.push_back({net.symbols->Intern(from), net.symbols->Intern(to)});
  return renames;
}

std::vector<Symbol> Blobs(const Net& net, std::initializer_list<const char*> names) {
  std::vector<Symbol> symbols;
  for (const char* name : names) symbols.push_back(net.symbols->Intern(name));
  return symbols;
}

NetPtr Nested(const Op& op, const Net& net, std::string_view arg) {
  NetPtr nested = FindNetArg(net, op, arg);
  EXPECT_NE(nested, nullptr) << arg;
  return nested;
}

TEST(Clone, B21_ControlInputsAreRemapped) {
  const Net net = CompactNet("name n; Relu(x) -> y !x");
  const auto clone = Clone(net, {.name = "c", .rename = Renames(net, {{"x", "X"}})});
  EXPECT_EQ(ToCompact(*clone), "Relu(X) -> y !X");
}

TEST(Clone, B22_UpdatedExternalListsAreUniqueAndOrdered) {
  const Net net =
      CompactNet("name n; in x q; Relu(x) -> c; Tanh(x) -> a; Sigmoid(x) -> b; Add(a, w) -> d; out nothing");
  const auto clone = Clone(net, {.name = "c", .update_external_list = true});
  EXPECT_EQ(ToCompact(*clone),
            "in x w; Relu(x) -> c; Tanh(x) -> a; Sigmoid(x) -> b; Add(a, w) -> d; out c b d");
}

TEST(Clone, B22_TheLastVersionOfAnInPlaceBlobIsAnOutput) {
  const Net net = CompactNet("name n; FC(x, w, b) -> y; Relu(y) -> y");
  const auto clone = Clone(net, {.name = "c", .update_external_list = true});
  EXPECT_EQ(ToCompact(*clone), "in x w b; FC(x, w, b) -> y; Relu(y) -> y; out y");
}

TEST(Clone, B22_WhatABranchReadsIsAnInput) {
  const Net net = NetFromText(
      "op { type: 'If' input: 'c' output: 'r' arg { name: 'then_net' n {"
      "  op { type: 'Add' input: 'a' input: 'b' output: 't' } op { type: 'Copy' input: 't' output: 'r' } } } "
      "}");
  const auto clone = Clone(net, {.name = "c", .update_external_list = true});
  EXPECT_EQ(ToCompact(*clone), "in c a b; If(c) -> r; out r");
}

TEST(Clone, MaskKeepsTheOpsInTheGivenOrder) {
  const Net net = CompactNet("name n; Relu(x) -> a; Tanh(x) -> b; Sin(x) -> c");
  EXPECT_EQ(ToCompact(*Clone(net, {.name = "c", .ops = std::vector<OpId>{2, 0}})),
            "Sin(x) -> c; Relu(x) -> a");
  const auto wrong = Clone(net, {.name = "c", .ops = std::vector<OpId>{3}});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "Clone: there is no op 3 in net n, which has 3 ops");
}

TEST(Clone, TwoNewNamesForOneBlobAreAnError) {
  const Net net = CompactNet("name n; Relu(x) -> a");
  const auto clone = Clone(net, {.name = "c", .rename = Renames(net, {{"x", "X"}, {"x", "Y"}})});
  ASSERT_FALSE(clone.has_value());
  EXPECT_EQ(clone.error().message, "blob x is given two new names: X and Y");
}

// As real Caffe2 does in a fresh process: an If inside an If, a RecurrentNetwork, a Do.
constexpr const char* kNestedNet = R"(
name: "o"
op { type: "If" input: "c" input: "x" output: "r"
  arg { name: "then_net" n { name: "t"
    op { type: "If" input: "c" input: "x" output: "q" arg { name: "else_net" n { op { type: "Relu" input: "x" output: "q" } } } }
    op { type: "Copy" input: "q" output: "r" } external_input: "x" external_output: "r" } }
  arg { name: "else_net" n { op { type: "Relu" input: "x" output: "r" } } } }
op { type: "RecurrentNetwork" input: "x" output: "y"
  arg { name: "link_internal" strings: "x" strings: "zz" }
  arg { name: "timestep" s: "x" }
  arg { name: "q.rename" s: "r" }
  arg { name: "step_net" n { name: "step" op { type: "Relu" input: "x" output: "k" } } } }
op { type: "Do" input: "x" output: "y"
  arg { name: "inner_blobs" strings: "x" }
  arg { name: "net" n { name: "d" op { type: "Relu" input: "x" output: "y" } } } }
op { type: "While" input: "c" output: "x"
  arg { name: "loop_net" n { name: "body" op { type: "Tanh" input: "x" output: "x" } } }
  arg { name: "cond_net" n { name: "cond" op { type: "Not" input: "x" output: "c" } } } }
op { type: "AsyncIf" input: "c" output: "r" arg { name: "then_net" n { name: "t" op { type: "Relu" input: "x" output: "r" } } } }
)";

TEST(Clone, NestedNetsFollowTheMap) {
  const Net net = NetFromText(kNestedNet);
  const auto clone = Clone(net, {.name = "cl", .rename = Renames(net, {{"x", "X"}, {"r", "R"}, {"q", "Q"}})});
  ASSERT_TRUE(clone.has_value()) << clone.error().message;
  EXPECT_EQ(ToCompact(*clone),
            "If(c, X) -> R; RecurrentNetwork(X) -> y; Do(X) -> y; While(c) -> X; AsyncIf(c) -> R");
  const NetPtr then = Nested(clone->ops[0], *clone, "then_net");
  EXPECT_EQ(ToCompact(*then), "in X; If(c, X) -> Q; Copy(Q) -> R; out R");
  EXPECT_EQ(then->Str(then->name), "t_remapped");
  EXPECT_EQ(ToCompact(*Nested(then->ops[0], *clone, "else_net")), "Relu(X) -> Q");
  EXPECT_EQ(ToCompact(*Nested(clone->ops[0], *clone, "else_net")), "Relu(X) -> R");
  const Op& recurrent = clone->ops[1];
  EXPECT_EQ(ArgStrings(*clone->symbols, recurrent.args, "link_internal"),
            (std::vector<std::string>{"X", "zz"}));
  EXPECT_EQ(ArgString(*clone->symbols, recurrent.args, "timestep", ""), "X");
  EXPECT_EQ(ArgString(*clone->symbols, recurrent.args, "Q.rename", ""), "R");
  const NetPtr step = Nested(recurrent, *clone, "step_net");
  EXPECT_EQ(ToCompact(*step), "Relu(X) -> k");
  EXPECT_EQ(step->Str(step->name), "cloned_sub_net");
  // A Do's names are its own.
  EXPECT_EQ(ToCompact(*Nested(clone->ops[2], *clone, "net")), "Relu(x) -> y");
  EXPECT_EQ(ArgStrings(*clone->symbols, clone->ops[2].args, "inner_blobs"), std::vector<std::string>{"x"});
  EXPECT_EQ(ToCompact(*Nested(clone->ops[3], *clone, "loop_net")), "Tanh(X) -> X");
  EXPECT_EQ(ToCompact(*Nested(clone->ops[3], *clone, "cond_net")), "Not(X) -> c");
  EXPECT_EQ(ToCompact(*Nested(clone->ops[4], *clone, "then_net")), "Relu(X) -> R");
  // The original is as it was.
  EXPECT_EQ(NetToText(net), NetToText(NetFromText(kNestedNet)));
}

TEST(Clone, NamesAreUniqueInTheRegistry) {
  const Net net = NetFromText(kNestedNet);
  NameRegistry registry;
  const auto one = Clone(net, {.name = "cl", .registry = &registry});
  const auto two = Clone(net, {.name = "cl", .registry = &registry});
  EXPECT_EQ(two->Str(one->name), "cl");
  EXPECT_EQ(two->Str(two->name), "cl_1");
  const NetPtr step = Nested(two->ops[1], *two, "step_net");
  EXPECT_EQ(step->Str(step->name), "cloned_sub_net_1");
}

TEST(Clone, AnEmptySubnetArgumentIsAnError) {
  const Net net = NetFromText("op { type: 'Relu' } op { type: 'If' arg { name: 'then_net' i: 1 } }");
  const auto clone = Clone(net, {.name = "c"});
  ASSERT_FALSE(clone.has_value());
  EXPECT_EQ(clone.error().code, ErrorCode::kControlFlow);
  EXPECT_EQ(clone.error().op, 1);
  EXPECT_EQ(clone.error().message, "Expected non empty net in If's then_net argument");
}

TEST(ClonePartial, B23_AnUnknownInputIsAnError) {
  const Net net = CompactNet("name n; in x; Relu(x) -> some; Tanh(some) -> z");
  const auto part = ClonePartial(net, {"pc", Renames(net, {{"sone", "sone"}}), Blobs(net, {"z"})});
  ASSERT_FALSE(part.has_value());
  EXPECT_EQ(part.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(part.error().message, "input sone is not a blob of net n; did you mean some");
  EXPECT_EQ(part.error().blob, "sone");
}

TEST(ClonePartial, AnUndefinedOutputIsAnError) {
  const Net net = CompactNet("name n; in x; Relu(x) -> y; Tanh(w) -> z");
  for (const char* name : {"nope", "w"}) {
    const auto part = ClonePartial(net, {"pc", {}, Blobs(net, {name})});
    ASSERT_FALSE(part.has_value());
    EXPECT_EQ(part.error().message, StrCat(name, " is not defined in net n"));
  }
}

TEST(ClonePartial, OpsThatWouldMakeAGivenInputAreNamed) {
  const Net net = CompactNet("name n; in x; Relu(x) -> a; Tanh(a) -> b; Sin(a) -> c");
  const auto part = ClonePartial(net, {"pc", Renames(net, {{"x", "x"}, {"b", "b"}}), Blobs(net, {"c"})});
  ASSERT_FALSE(part.has_value());
  EXPECT_EQ(
      part.error().message,
      "Cannot partially clone net n: some of the ops required would generate the given input. Op 0 (Relu) is "
      "needed for the outputs and for the given input b");
  EXPECT_EQ(part.error().op, 0);
  EXPECT_EQ(part.error().blob, "b");
}

TEST(ClonePartial, BranchesKeepWhatTheyReadAlive) {
  const Net net = NetFromText(
      "op { type: 'Relu' input: 'x' output: 'a' } op { type: 'Tanh' input: 'x' output: 'unused' }"
      "op { type: 'If' input: 'c' output: 'r' arg { name: 'then_net' n {"
      "  op { type: 'Add' input: 'a' input: 'w' output: 'r' } } } }");
  const auto part = ClonePartial(net, {"p", Renames(net, {{"x", "x"}}), Blobs(net, {"r"})});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(ToCompact(part->net), "in x c w; Relu(x) -> p/a; If(c) -> p/r; out p/r");
  EXPECT_EQ(ToCompact(*Nested(part->net.ops[1], part->net, "then_net")), "Add(p/a, w) -> p/r");
  EXPECT_EQ(part->ops, (std::vector<OpId>{0, 2}));
}

// A forward-only net out of a training net: parameters by name, everything else under a name of its own, and
// no op that writes a parameter.
TEST(ClonePartial, ForwardOnlyNetOutOfATrainingNet) {
  const Net net = CompactNet(
      "in data w label lr one; FC(data, w, b) -> h; Relu(h) -> h; Softmax(h) -> pred; "
      "CrossEntropy(pred, label) -> loss; "
      "CrossEntropyGradient(pred, label) -> pred_grad; FCGradient(data, w, pred_grad) -> w_grad; "
      "WeightedSum(w, one, w_grad, lr) -> w");
  const auto part = ClonePartial(net, {"run", Renames(net, {{"data", "data"}}), Blobs(net, {"pred"})});
  EXPECT_EQ(
      ToCompact(part->net),
      "in data w b; FC(data, w, b) -> run/h; Relu(run/h) -> run/h; Softmax(run/h) -> run/pred; out run/pred");
}

TEST(CloneAndBind, UserRenamesTakePrecedence) {
  const Net net = CompactNet("name n; in x w unused; FC(x, w, b) -> y; Relu(y) -> z; out z");
  const auto bound = CloneAndBind(net, {"bound", "pre/", Renames(net, {{"x", "data"}, {"z", "out"}})});
  EXPECT_EQ(ToCompact(bound->net),
            "in data w pre/unused; FC(data, w, b) -> pre/y; Relu(pre/y) -> out; out out");
}

TEST(BindInputs, EachRecordBlobOnceInRecordOrder) {
  Net net = CompactNet("name n; in w x t; FC(x, w, b) -> y; L1(y, t) -> l");
  const std::vector<Symbol> record = Blobs(net, {"t", "dense", "x"});
  const auto once = BindInputs(net, record);
  EXPECT_EQ(ToCompact(*once), "in w t dense x; FC(x, w, b) -> y; L1(y, t) -> l");
  EXPECT_EQ(ToCompact(*BindInputs(*once, record)), ToCompact(*once));
  const auto written = BindInputs(net, Blobs(net, {"x", "y"}));
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(
      written.error().message,
      "record blob y is written by op 0 (FC) of net n; an input record names blobs that come from outside");
}

// 20,000 external inputs: linear, so a fraction of a second even under a sanitizer.
TEST(Clone, LargeNetsAreLinear) {
  Net net;
  std::vector<BlobRename> renames;
  std::vector<Symbol> record;
  for (int i = 0; i < 20000; ++i) {
    const Symbol in = net.Intern(StrCat("field_", i));
    net.external_inputs.push_back(in);
    if (i % 4 == 0) record.push_back(in);
    renames.push_back({in, net.Intern(StrCat("new_", i))});
    Op op;
    op.type = net.Intern("Relu");
    op.inputs = {in};
    op.outputs = {net.Intern(StrCat("out_", i))};
    net.ops.push_back(op);
  }
  const auto clone = Clone(net, {.name = "c", .rename = renames});
  EXPECT_EQ(clone->Str(clone->external_inputs[19999]), "new_19999");
  EXPECT_EQ(BindInputs(net, record)->external_inputs, net.external_inputs);
  const auto part = ClonePartial(net, {"p", renames, {net.Intern("out_7")}});
  EXPECT_EQ(part->net.external_inputs.size(), 20000u);
  EXPECT_EQ(CloneAndBind(net, {"b", "b/"})->rename.size(), 40000u);
}

}  // namespace
}  // namespace weft
