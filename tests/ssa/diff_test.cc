// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/diff.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/ssa/clone.h"
#include "core/ssa/form.h"
#include "tests/support/compact_net.h"
#include "tests/support/generate_nets.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using test::NetFromText;
using testing::CompactNet;

// "-0 Relu; +2 Tanh; 1~1 args(scale); x=y; ...": all that differs, on one line.
std::string Print(const Net& a, const Net& b, const NetDiff& diff) {
  std::vector<std::string> parts;
  for (OpId op : diff.only_a) parts.push_back(StrCat("-", op, " ", a.Str(a.ops[op].type)));
  for (OpId op : diff.only_b) parts.push_back(StrCat("+", op, " ", b.Str(b.ops[op].type)));
  for (const ChangedOp& change : diff.changed) {
    std::string part = StrCat(change.a, "~", change.b);
    for (const ArgChange& arg : change.args) StrAppend(part, " ", "-+*"[arg.kind], a.Str(arg.name));
    for (uint32_t k : change.inputs) StrAppend(part, " in", k);
    if (change.outputs) StrAppend(part, " outputs");
    if (change.device) StrAppend(part, " device");
    if (change.engine) StrAppend(part, " engine");
    if (change.control_inputs) StrAppend(part, " control");
    parts.push_back(part);
  }
  for (const RenamedBlob& blob : diff.renamed) parts.push_back(StrCat(a.Str(blob.a), "=", a.Str(blob.b)));
  for (Symbol name : diff.inputs_only_a) parts.push_back(StrCat("-in ", a.Str(name)));
  for (Symbol name : diff.inputs_only_b) parts.push_back(StrCat("+in ", a.Str(name)));
  for (Symbol name : diff.outputs_only_a) parts.push_back(StrCat("-out ", a.Str(name)));
  for (Symbol name : diff.outputs_only_b) parts.push_back(StrCat("+out ", a.Str(name)));
  return StrJoin(parts, "; ");
}

std::string Diff(const Net& a, const Net& b) {
  const NetDiff diff = DiffNets(a, b);
  return StrCat(diff.same() ? "same" : "", diff.same() && !diff.renamed.empty() ? ": " : "",
                Print(a, b, diff));
}
std::string Diff(std::string_view a, std::string_view b) { return Diff(CompactNet(a), CompactNet(b)); }

Net WithScale(std::string_view text, float scale, size_t op = 0) {
  Net net = CompactNet(text);
  net.ops[op].args = ArgList({MakeArg(net.Intern("scale"), scale)});
  return net;
}

TEST(Diff, EqualNets) { EXPECT_EQ(Diff("in x; Relu(x) -> y; out y", "in x; Relu(x) -> y; out y"), "same"); }

TEST(Diff, RenamesAreNoDifference) {
  EXPECT_EQ(Diff("in x w; FC(x, w) -> h; Relu(h) -> h; Tanh(h) -> y; out y",
                 "in x w; FC(x, w) -> h; Relu(h) -> h2; Tanh(h2) -> z; out z"),
            "same: h=h2; y=z");
}

TEST(Diff, ReorderedIndependentOpsAreNoDifference) {
  EXPECT_EQ(Diff("in x; Relu(x) -> a; Tanh(x) -> b; Sin(a) -> c; Mul(b, c) -> d; out d",
                 "in x; Tanh(x) -> b; Relu(x) -> a; Sin(a) -> c; Mul(b, c) -> d; out d"),
            "same");
  // Two equal ops in the other order keep their names.
  EXPECT_EQ(Diff("in x; Relu(x) -> a; Relu(x) -> b; Sub(a, b) -> d; out a b",
                 "in x; Relu(x) -> b; Relu(x) -> a; Sub(a, b) -> d; out a b"),
            "same");
}

TEST(Diff, OrderOfDependentOpsIsADifference) {
  EXPECT_NE(Diff("in x; Relu(x) -> x; Tanh(x) -> x; out x", "in x; Tanh(x) -> x; Relu(x) -> x; out x"),
            "same");
}

TEST(Diff, AChangedArgumentIsOneDifference) {
  const char* text = "in x; Scale(x) -> a; Relu(a) -> b; Tanh(b) -> c; out c";
  EXPECT_EQ(Diff(WithScale(text, 2), WithScale(text, 3)), "0~0 *scale");
  EXPECT_EQ(Diff(WithScale(text, 2), CompactNet(text)), "0~0 -scale");
  EXPECT_EQ(Diff(CompactNet(text), WithScale(text, 3)), "0~0 +scale");
  // Two that differ are told apart by what they are, not by their names.
  const char* twice = "in x; Scale(x) -> a; Scale(x) -> b; Sub(a, b) -> c; out c";
  EXPECT_EQ(Diff(WithScale(twice, 2, 0), WithScale(twice, 2, 1)), "2~2 in0 in1; a=b; b=a");
  const char* swapped = "in x; Scale(x) -> a; Scale(x) -> b; Sub(b, a) -> c; out c";
  EXPECT_EQ(Diff(WithScale(twice, 2, 0), WithScale(swapped, 2, 1)), "same: a=b; b=a");
}

TEST(Diff, DeviceAndEngine) {
  const Net plain = CompactNet("in x; Relu(x) -> y; Relu(y) -> z");
  Net other = CompactNet("in x; Relu(x) -> y; Relu(y) -> z");
  DeviceOption device;
  device.device_type = kCpu;
  other.ops[0].device = std::make_shared<const DeviceOption>(device);
  other.ops[0].engine = kEmptySymbol;
  EXPECT_EQ(Diff(plain, other), "same");
  device.device_type = kCuda;
  other.ops[0].device = std::make_shared<const DeviceOption>(device);
  other.ops[1].engine = other.Intern("CUDNN");
  EXPECT_EQ(Diff(plain, other), "0~0 device; 1~1 engine");
}

TEST(Diff, AnInsertedOpIsOneOpAndOneRewiredReader) {
  const char* before = "in x w; Conv(x, w) -> a; Relu(a) -> b; FC(b, v) -> c; Tanh(c) -> d; out d";
  EXPECT_EQ(
      Diff(before,
           "in x w; Conv(x, w) -> a; Dropout(a) -> a2; Relu(a2) -> b; FC(b, v) -> c; Tanh(c) -> d; out d"),
      "+1 Dropout; 1~2 in0");
  EXPECT_EQ(
      Diff("in x w; Conv(x, w) -> a; Dropout(a) -> a2; Relu(a2) -> b; FC(b, v) -> c; Tanh(c) -> d; out d",
           before),
      "-1 Dropout; 2~1 in0");
  // Even with all names changed: the layer with the same weights is the same layer.
  EXPECT_EQ(
      Diff(before,
           "in x w; Conv(x, w) -> p; Dropout(p) -> q; Relu(q) -> r; FC(r, v) -> s; Tanh(s) -> t; out t"),
      "-1 Relu; +1 Dropout; +2 Relu; 2~3 in0; a=p; c=s; d=t");
}

TEST(Diff, OpsOnlyInOneNet) {
  EXPECT_EQ(Diff("in x; Relu(x) -> a; Tanh(x) -> b; out a", "in x; Relu(x) -> a; Sin(x) -> b; out a"),
            "-1 Tanh; +1 Sin");
  EXPECT_EQ(Diff("", "Relu(x) -> a"), "+0 Relu");
  EXPECT_EQ(Diff("Relu(x) -> a", ""), "-0 Relu");
}

TEST(Diff, ExternalLists) {
  EXPECT_EQ(Diff("in x q; Relu(x) -> a; out a z", "in x; Relu(x) -> a; Tanh(a) -> b; out a b"),
            "+1 Tanh; -in q; -out z; +out b");
}

TEST(Diff, RenamedExternalInputsPairByUse) {
  EXPECT_EQ(Diff("in x w1 b1 w2 b2; FC(x, w1, b1) -> h; FC(h, w2, b2) -> y; out y",
                 "in x p/w1 p/b1 p/w2 p/b2; FC(x, p/w1, p/b1) -> h; FC(h, p/w2, p/b2) -> y; out y"),
            "same: w1=p/w1; b1=p/b1; w2=p/w2; b2=p/b2");
}

TEST(Diff, ControlInputs) {
  EXPECT_EQ(Diff("in x; Relu(x) -> a; Tanh(x) -> b !a", "in x; Relu(x) -> a2; Tanh(x) -> b !a2"),
            "same: a=a2");
  EXPECT_EQ(Diff("in x; Relu(x) -> a; Tanh(x) -> b !a", "in x; Relu(x) -> a; Tanh(x) -> b"), "1~1 control");
}

constexpr const char* kBranchNet = R"(
external_input: "x" external_input: "c"
op { type: "Relu" input: "x" output: "h" }
op { type: "If" input: "c" input: "h" output: "r"
  arg { name: "then_net" n { op { type: "Tanh" input: "h" output: "t" } op { type: "Sin" input: "h" output: "u" }
                             op { type: "Add" input: "t" input: "u" output: "r" } } }
  arg { name: "else_net" n { op { type: "Copy" input: "h" output: "r" } } } }
external_output: "r")";

TEST(Diff, NamesInsideBranchesAreNoDifferenceEither) {
  const Net a = NetFromText(kBranchNet);
  const Net b = NetFromText(R"(
external_input: "x" external_input: "c"
op { type: "Relu" input: "x" output: "k" }
op { type: "If" input: "c" input: "k" output: "s"
  arg { name: "then_net" n { name: "other" op { type: "Sin" input: "k" output: "p" } op { type: "Tanh" input: "k" output: "q" }
                             op { type: "Add" input: "q" input: "p" output: "s" } } }
  arg { name: "else_net" n { op { type: "Copy" input: "k" output: "s" } } } }
external_output: "s")");
  EXPECT_EQ(Diff(a, b), "same: h=k; r=s");
  Net changed = a;
  std::vector<Arg> args = changed.ops[1].args.Copy();
  Net inner = *args[1].Load()->n;
  inner.ops[0].type = inner.Intern("Negative");
  args[1] = MakeArg(args[1].name, std::make_shared<const Net>(inner));
  changed.ops[1].args = ArgList(args);
  EXPECT_EQ(Diff(a, changed), "1~1 *else_net");
}

TEST(Diff, ClonesAndSsaFormsOfRealNetsAreTheSame) {
  for (const char* model : {"resnet50_train", "char_rnn_2", "dlrm_26"}) {
    const Net net = test::NetFromFile(StrCat("models/", model, ".pb"));
    const auto bound = CloneAndBind(net, {.name = "c", .prefix = "pre/"});
    EXPECT_TRUE(DiffNets(net, bound->net).same()) << model << Diff(net, bound->net);
    EXPECT_EQ(DiffNets(net, net).renamed.size(), 0u) << model;
    const auto form = ToSsaForm(net, StandardOps(), {.keep_updates = true});
    EXPECT_EQ(Diff(net, form->net).substr(0, 4), "same") << model;
  }
}

// A change in the first layer of a deep net is one difference, and finding it takes linear time.
TEST(Diff, DeepNets) {
  const Net a = testing::ResidualNet(50000);
  Net b = testing::ResidualNet(50000);
  b.ops.erase(b.ops.begin() + 2);  // the first Relu, in place
  b.ops[30000].args = WithArg(b.ops[30000].args, MakeArg(b.Intern("extra"), int64_t{1}));
  const NetDiff diff = DiffNets(a, b);
  EXPECT_EQ(diff.only_a, std::vector<OpId>{2});
  EXPECT_TRUE(diff.only_b.empty());
  ASSERT_EQ(diff.changed.size(), 2u);
  EXPECT_EQ(diff.changed[0].inputs, std::vector<uint32_t>{0});
  EXPECT_EQ(diff.changed[1].b, 30000);
  for (const Net& net : {testing::ChainNet(50000), testing::InPlaceChainNet(50000), testing::StarNet(50000)})
    EXPECT_TRUE(DiffNets(net, net).same());
}

}  // namespace
}  // namespace weft
