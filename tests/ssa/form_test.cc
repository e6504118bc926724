// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/form.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/ops/op_columns.h"
#include "core/ops/schema.h"
#include "core/ssa/nested.h"
#include "proto/codec.h"
#include "tests/support/compact_net.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using test::NetFromText;
using testing::CompactNet;
using testing::ToCompact;

Net Form(const Net& net, const SsaFormOptions& options = {}) {
  Result<SsaForm> form = ToSsaForm(net, StandardOps(), options);
  EXPECT_TRUE(form.has_value());
  return std::move(form->net);
}

std::string FormOf(std::string_view text) { return ToCompact(Form(CompactNet(text))); }

// The edges of a net as (op, input) <- (op, output), without names.
std::vector<std::pair<OpId, uint32_t>> Edges(const Net& net) {
  const Ssa ssa(net);
  std::vector<std::pair<OpId, uint32_t>> edges;
  for (OpId op = 0; op < static_cast<OpId>(ssa.num_ops()); ++op)
    for (ValueId value : ssa.inputs(op))
      edges.emplace_back(ssa.values()[value].def, ssa.values()[value].output);
  return edges;
}

TEST(SsaForm, ExternalNamesKeepTheirSpelling) {
  EXPECT_EQ(FormOf("in x w b; Relu(x) -> x; FC(x, w, b) -> y; out y"),
            "in x w b; Relu(x) -> x_1; FC(x_1, w, b) -> y; out y");
  EXPECT_EQ(FormOf("in x; Relu(x) -> y; Tanh(y) -> y; Sin(y) -> y; out y"),
            "in x; Relu(x) -> y_1; Tanh(y_1) -> y_2; Sin(y_2) -> y; out y");
  // x is external on both sides: its first version comes in as x, its last goes out as x.
  EXPECT_EQ(FormOf("in x; Relu(x) -> x; Tanh(x) -> z; Sin(x) -> x; out x"),
            "in x; Relu(x) -> x_1; Tanh(x_1) -> z; Sin(x_1) -> x; out x");
}

TEST(SsaForm, InnerBlobsKeepTheirFirstName) {
  EXPECT_EQ(FormOf("in x; FC(x) -> h; Tanh(h) -> h; Tanh(h) -> h; Sum(h) -> l; out l"),
            "in x; FC(x) -> h; Tanh(h) -> h_2; Tanh(h_2) -> h_3; Sum(h_3) -> l; out l");
}

TEST(SsaForm, NoFreshNameIsTaken) {
  EXPECT_EQ(FormOf("in x x_1; Relu(x) -> x; Tanh(x) -> x_1_1; Sin(x) -> z !x; out z"),
            "in x x_1; Relu(x) -> x_1_2; Tanh(x_1_2) -> x_1_1; Sin(x_1_2) -> z !x_1_2; out z");
}

TEST(SsaForm, ANetInThisFormComesBackUnchanged) {
  const char* net = "Relu(x) -> x_1; FC(x_1, w, b) -> y";
  EXPECT_EQ(FormOf(net), net);
  const auto form = ToSsaForm(CompactNet(net), StandardOps());
  EXPECT_TRUE(form->renamed.empty());
}

TEST(SsaForm, EnforcedInPlaceIsKept) {
  EXPECT_EQ(FormOf("Copy(x) -> data; ScatterAssign(data, idx, rows) -> data; Copy(data) -> out; Relu(out) -> "
                   "out; out out"),
            "Copy(x) -> data; ScatterAssign(data, idx, rows) -> data; Copy(data) -> out_1; Relu(out_1) -> "
            "out; out out");
  // A renamed blob that is then updated in place keeps its new name.
  EXPECT_EQ(FormOf("in d; Relu(d) -> d; ScatterAssign(d, i, r) -> d; Tanh(d) -> z; out z"),
            "in d; Relu(d) -> d_1; ScatterAssign(d_1, i, r) -> d_1; Tanh(d_1) -> z; out z");
  // SpatialBN must update its statistics in place, but not its data.
  EXPECT_EQ(FormOf("in x s b m v; SpatialBN(x, s, b, m, v) -> x, m, v, sm, sv; Relu(x) -> x; out x"),
            "in x s b m v; SpatialBN(x, s, b, m, v) -> x_1, m, v, sm, sv; Relu(x_1) -> x; out x");
}

TEST(SsaForm, UnknownOperatorsKeepWritingInPlace) {
  EXPECT_EQ(FormOf("in x; NoSuchOp(x) -> x; Relu(x) -> x; out z"),
            "in x; NoSuchOp(x) -> x; Relu(x) -> x_2; out z");
}

TEST(SsaForm, KeepUpdatesLeavesParametersWhereTheNextRunLooks) {
  const Net net = CompactNet("in w one g lr; WeightedSum(w, one, g, lr) -> w");
  EXPECT_EQ(ToCompact(Form(net)), "in w one g lr; WeightedSum(w, one, g, lr) -> w_1");
  EXPECT_EQ(ToCompact(Form(net, {.keep_updates = true})), ToCompact(net));
  EXPECT_EQ(ToCompact(Form(net, {.keep = {net.symbols->Find("w")}})), ToCompact(net));
}

TEST(SsaForm, ReportsWhatItRenamed) {
  const Net net = CompactNet("in x; Relu(x) -> x; Tanh(x) -> x; out x");
  const auto form = ToSsaForm(net, StandardOps());
  const std::vector<SsaForm::Renamed> expected = {{net.symbols->Find("x"), 1, net.symbols->Find("x_1")}};
  EXPECT_EQ(form->renamed, expected);
}

TEST(SsaForm, BranchesFollowTheVersionVisibleAtTheOp) {
  const Net net = NetFromText(
      "external_input: 'x' external_input: 'c' op { type: 'Relu' input: 'x' output: 'x' }"
      "op { type: 'If' input: 'c' input: 'x' output: 'r'"
      "  arg { name: 'then_net' n { name: 't' op { type: 'Copy' input: 'x' output: 'r' } } }"
      "  arg { name: 'else_net' n { op { type: 'If' input: 'c' output: 'r'"
      "    arg { name: 'then_net' n { op { type: 'Scale' input: 'x' output: 'r' } } } } } } }"
      "op { type: 'Tanh' input: 'x' output: 'x' } external_output: 'x'");
  const Net form = Form(net);
  EXPECT_EQ(ToCompact(form), "in x c; Relu(x) -> x_1; If(c, x_1) -> r; Tanh(x_1) -> x; out x");
  const NetPtr then = FindNetArg(form, form.ops[1], "then_net");
  EXPECT_EQ(ToCompact(*then), "Copy(x_1) -> r");
  EXPECT_EQ(then->Str(then->name), "t");
  const NetPtr otherwise = FindNetArg(form, form.ops[1], "else_net");
  EXPECT_EQ(ToCompact(*FindNetArg(*otherwise, otherwise->ops[0], "then_net")), "Scale(x_1) -> r");
}

// An If without else may leave r as it was, a loop reads what it wrote: the blob stays the same one.
TEST(SsaForm, ControlFlowGoesOnWritingTheSameBlob) {
  const Net net = NetFromText(
      "op { type: 'Relu' input: 'q' output: 'r' } op { type: 'Tanh' input: 'r' output: 'r' }"
      "op { type: 'If' input: 'c' input: 'r' output: 'r'"
      "  arg { name: 'then_net' n { op { type: 'Relu' input: 'r' output: 't' } op { type: 'Sin' input: 't' "
      "output: 't' }"
      "                             op { type: 'Copy' input: 't' output: 'r' } } } }"
      "op { type: 'While' input: 'c' input: 'r' output: 'r'"
      "  arg { name: 'loop_net' n { op { type: 'Exp' input: 'r' output: 'r' } op { type: 'Abs' input: 'r' "
      "output: 'r' } } } }"
      "op { type: 'Cos' input: 'r' output: 'r' } external_output: 'r'");
  const Net form = Form(net);
  EXPECT_EQ(
      ToCompact(form),
      "Relu(q) -> r_1; Tanh(r_1) -> r_2; If(c, r_2) -> r_2; While(c, r_2) -> r_2; Cos(r_2) -> r; out r");
  EXPECT_EQ(ToCompact(*FindNetArg(form, form.ops[2], "then_net")),
            "Relu(r_2) -> t_1; Sin(t_1) -> t; Copy(t) -> r_2");
  EXPECT_EQ(ToCompact(*FindNetArg(form, form.ops[3], "loop_net")), "Exp(r_2) -> r_1_1; Abs(r_1_1) -> r_2");
  EXPECT_EQ(NetToText(Form(form)), NetToText(form));
}

// Ping-pong names: after the rewrite no op writes what it or its neighbour reads, so fusing neighbours is
// safe.
TEST(SsaForm, PingPongNamesAreTakenApart) {
  EXPECT_EQ(FormOf("in a w w2; Conv(a, w) -> b; Relu(b) -> a; Conv(a, w2) -> b; out b"),
            "in a w w2; Conv(a, w) -> b_1; Relu(b_1) -> a_1; Conv(a_1, w2) -> b; out b");
}

TEST(SsaForm, ABlobThatIsReadAndAnOutputKeepsItsName) {
  const char* net = "in x w b; FC(x, w, b) -> y; Relu(y) -> z; out y z";
  EXPECT_EQ(FormOf(net), net);
}

// Properties on the recorded nets and on real models: the same edges and external lists, every operator as
// right by its schema as it was, every blob written once except where an operator must write in place, and
// once is enough.
void CheckForm(const Net& net) {
  const SsaFormOptions options{.keep_updates = true};
  const Net form = Form(net, options);
  EXPECT_EQ(Edges(form), Edges(net));
  EXPECT_EQ(form.external_inputs, net.external_inputs);
  EXPECT_EQ(form.external_outputs, net.external_outputs);
  OpLookup lookup(StandardOps(), *net.symbols);
  const NestingTypes nesting(*net.symbols);
  const Ssa ssa(form);
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = form.ops[i];
    EXPECT_EQ(op.type, net.ops[i].type);
    const OpDef* def = lookup(op.type);
    if (def && VerifySchema(*def, net, net.ops[i]).has_value()) {
      const Result<void> verified = VerifySchema(*def, form, op);
      EXPECT_TRUE(verified.has_value()) << OpToText(*form.symbols, op) << verified.error().message;
    }
    const auto values = ssa.outputs(static_cast<OpId>(i));
    for (size_t k = 0; k < values.size(); ++k) {
      const Value& value = ssa.values()[values[k]];
      if (value.previous == kNoValue || nesting.Of(op.type) != Nesting::kNone || !def) continue;
      const bool outside = ssa.starts_outside(value.blob);
      bool enforced = false;
      for (size_t n = 0; n < op.inputs.size(); ++n)
        if (op.inputs[n] == op.outputs[k] && HasPair(def->enforced, n, k)) enforced = true;
      EXPECT_TRUE(enforced || outside) << ValueName(form, ssa, values[k]);
    }
  }
  EXPECT_EQ(NetToText(Form(form, options)), NetToText(form));
}

TEST(SsaForm, PropertiesHoldOnTheRecordedNets) {
  for (const test::Json& row : test::ReadJsonl("caffe2/clone.jsonl")) {
    SCOPED_TRACE(row["net"].get<std::string>().substr(0, 16));
    CheckForm(NetFromText(row["net"].get<std::string>()));
  }
  for (const test::Json& row : test::ReadJsonl("caffe2/control.jsonl")) {
    for (const char* key : {"forward", "net"})
      if (row.contains(key) && row[key].is_string()) CheckForm(NetFromText(row[key].get<std::string>()));
  }
}

TEST(SsaForm, PropertiesHoldOnRealModels) {
  for (const char* model : {"resnet50_train", "char_rnn_2", "dlrm_26", "inception_train_init"}) {
    SCOPED_TRACE(model);
    CheckForm(test::NetFromFile(StrCat("models/", model, ".pb")));
  }
}

}  // namespace
}  // namespace weft
