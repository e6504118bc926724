// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The language of the one-line rules, on rules made up for it; and the faults of Caffe2's makers that the
// default mode mends.
#include "core/ops/gradient_rule.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "proto/codec.h"
#include "tests/support/compact_net.h"

namespace weft::test {
namespace {

// Runs a rule on the first operator of a net whose outputs have the gradients "<output>_g", but for those in
// `without`. Gives "Type(inputs) -> outputs {args}; ... | gradients of the inputs", or the error.
std::string Make(const OpDef& def, std::string_view net_text,
                 std::vector<Arg> (*args)(SymbolTable&) = nullptr, std::string_view without = "",
                 bool caffe2_mode = false) {
  Net net = testing::CompactNet(net_text);
  SymbolTable& table = *net.symbols;
  Op op = net.ops[0];
  if (args) op.args = ArgList(args(table));
  std::vector<Gradient> gradients;
  for (const Symbol output : op.outputs)
    gradients.push_back(without.find(table.Str(output)) != std::string_view::npos
                            ? Gradient()
                            : Gradient::Dense(table.Intern(StrCat(table.Str(output), "_g"))));
  GradientContext context(net, [&](Symbol blob) { return table.Intern(StrCat(table.Str(blob), "_grad")); });
  context.set_caffe2_mode(caffe2_mode);
  context.Begin(op, gradients);
  const Result<void> result = RunGradientRule(def, context);
  if (!result) return StrCat("error: ", result.error().message);
  std::string text;
  const auto list = [&](const BlobList& blobs) {
    std::string out;
    for (const Symbol s : blobs) StrAppend(out, out.empty() ? "" : ", ", table.Str(s));
    return out;
  };
  for (const Op& made : context.ops()) {
    StrAppend(text, text.empty() ? "" : "; ", table.Str(made.type), "(", list(made.inputs), ") -> ",
              list(made.outputs));
    for (const Arg& arg : made.args)
      StrAppend(text, " {", table.Str(arg.name), "=", arg.has & Arg::kHasF ? StrCat(arg.f) : StrCat(arg.i),
                "}");
  }
  text += " |";
  for (const Gradient& g : context.input_gradients())
    StrAppend(text, " ",
              g.none()        ? "-"
              : g.is_sparse() ? StrCat("(", table.Str(g.indices), ",", table.Str(g.values), ")")
                              : std::string(table.Str(g.dense)));
  return text;
}

OpDef Rule(std::string_view rule) {
  OpDef def;
  def.name = "T";
  def.args = "on:bool=1 off:bool=0 count:int=3";
  def.gradient = rule;
  return def;
}

std::vector<Arg> Count5(SymbolTable& table) { return {MakeArg(table.Intern("count"), int64_t{5})}; }
std::vector<Arg> Pad2(SymbolTable& table) { return {MakeArg(table.Intern("pad"), 2.0f)}; }

TEST(GradientRule, BlobsRangesAndNames) {
  EXPECT_EQ(Make(Rule("G(I0, O0, GO0) -> GI0"), "T(x, w) -> y"), "G(x, y, y_g) -> x_grad | x_grad -");
  EXPECT_EQ(Make(Rule("G(I[:], GO[:]) -> GI[:]"), "T(a, b, c) -> y, z"),
            "G(a, b, c, y_g, z_g) -> a_grad, b_grad, c_grad | a_grad b_grad c_grad");
  EXPECT_EQ(Make(Rule("G(I[1::2]) -> GI[0::2], GI[1:2]"), "T(a, b, c, d) -> y"),
            "G(b, d) -> a_grad, c_grad, b_grad | a_grad b_grad c_grad -");
  EXPECT_EQ(Make(Rule("G(GO0) -> GI0, '_{GI1}_of_{O0}'"), "T(a, b) -> y"),
            "G(y_g) -> a_grad, _b_grad_of_y | a_grad -");
  EXPECT_EQ(Make(Rule("G(I2?, I1?, GO0) -> GI0"), "T(a, b) -> y"), "G(b, y_g) -> a_grad | a_grad -");
}

TEST(GradientRule, Conditions) {
  EXPECT_EQ(Make(Rule("G(I0 if on, I1 if off, I2 if !off and in=3) -> GI0"), "T(a, b, c) -> y"),
            "G(a, c) -> a_grad | a_grad - -");
  EXPECT_EQ(Make(Rule("if count=5: A(GO0) -> GI0; if count<5: B(GO0) -> GI0; if count>4: C(GO0) -> GI0"),
                 "T(a) -> y", Count5),
            "A(y_g) -> a_grad {count=5}; C(y_g) -> a_grad {count=5} | a_grad");
  EXPECT_EQ(Make(Rule("if count=3: A(GO0) -> GI0"), "T(a) -> y"), "A(y_g) -> a_grad | a_grad");
  EXPECT_EQ(Make(Rule("if in>1 and out<2: error 'no lengths'; A(GO0) -> GI0"), "T(a, b) -> y"),
            "error: operator T can't be differentiated here: no lengths");
  EXPECT_EQ(Make(Rule("if inplace: error 'overwritten'; A(GO0) -> GI0"), "T(a, b) -> b"),
            "error: operator T can't be differentiated here: overwritten");
  EXPECT_EQ(Make(Rule("if GO1: A(GO1) -> GI0; if !GO0: B(GO1) -> GI0"), "T(a) -> y, z", nullptr, "y"),
            "A(z_g) -> a_grad; B(z_g) -> a_grad | a_grad");
}

TEST(GradientRule, Arguments) {
  EXPECT_EQ(Make(Rule("A(GO0) -> GI0 {scale=2.0 axis=-1}"), "T(a) -> y"),
            "A(y_g) -> a_grad {scale=2} {axis=-1} | a_grad");
  EXPECT_EQ(Make(Rule("A(GO0) -> GI0 {scale=0.5} !args"), "T(a) -> y", Count5),
            "A(y_g) -> a_grad {scale=0.5} | a_grad");
  EXPECT_EQ(Make(Rule("A(GO0) -> GI0 {count=7}"), "T(a) -> y", Count5),
            "A(y_g) -> a_grad {count=7} | a_grad");
  EXPECT_EQ(Make(Rule("A(GO0) -> GI0 {pad?=0.0}"), "T(a) -> y"), "A(y_g) -> a_grad {pad=0} | a_grad");
  EXPECT_EQ(Make(Rule("A(GO0) -> GI0 {pad?=0.0}"), "T(a) -> y", Pad2), "A(y_g) -> a_grad {pad=2} | a_grad");
}

TEST(GradientRule, SparseAndPassThrough) {
  EXPECT_EQ(Make(Rule("G(GO0) -> GI0.values; GI0.indices = I1"), "T(w, i) -> y"),
            "G(y_g) -> w_grad_values | (i,w_grad_values) -");
  EXPECT_EQ(Make(Rule("GI[:] = GO0"), "T(a, b) -> y"), " | y_g y_g");
  EXPECT_EQ(Make(Rule("G(GO0.indices) -> GI0"), "T(a) -> y"),
            "error: Gradient of output y is dense (expected sparse).");
}

TEST(GradientRule, MissingGradients) {
  EXPECT_EQ(Make(Rule("G(GO0, GO1) -> GI0"), "T(a) -> y, z", nullptr, "y"),
            "error: Gradient of output y is not provided!");
  EXPECT_EQ(Make(Rule("G(GO[:]?) -> GI0"), "T(a) -> y, z", nullptr, "y"), "G(z_g) -> a_grad | a_grad");
  EXPECT_EQ(Make(Rule("G(I1) -> GI0"), "T(a) -> y"),
            "error: the gradient of T needs input 1, but the operator has only 1");
}

TEST(GradientRule, SaysWhereARuleIsWrong) {
  const auto message = [](std::string_view rule) {
    const Result<void> result = CheckGradientRule(rule);
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(message("G(GO0) -> GI0"), "");
  EXPECT_NE(message("G(GO0) => GI0").find("column 8: expected '->'"), std::string::npos)
      << message("G(GO0) => GI0");
  EXPECT_NE(message("G(X0) -> GI0").find("column 3: expected I, O, GO or GI"), std::string::npos);
  EXPECT_NE(message("G(GO0) -> GI0 junk").find("unexpected text"), std::string::npos);
  EXPECT_NE(message("I0 = GO0").find("only GI can be set"), std::string::npos);
  EXPECT_NE(message("").find("expected"), std::string::npos);
}

TEST(GradientRule, OutputsOfSplitThatNobodyUsedCountAsZeros) {
  const OpDef& split = *StandardOps().Find("Split");
  EXPECT_EQ(Make(split, "Split(x) -> a, b", nullptr, "b"),
            "ConstantFill(b) -> b_grad_zeros {value=0}; Concat(a_g, b_grad_zeros) -> x_grad, _x_grad_dims | "
            "x_grad");
  EXPECT_EQ(Make(split, "Split(x) -> a, b", nullptr, "b", /*caffe2_mode=*/true),
            "Concat(a_g) -> x_grad, _x_grad_dims | x_grad");
}

TEST(GradientRule, SoftmaxWithLossCountsTheGradientOfItsSoftmax) {
  const OpDef& loss = *StandardOps().Find("SoftmaxWithLoss");
  EXPECT_EQ(Make(loss, "SoftmaxWithLoss(x, l) -> p, c"),
            "SoftmaxWithLossGradient(x, l, p, c_g) -> x_grad_from_loss; "
            "SoftmaxGradient(p, p_g) -> x_grad_from_softmax {axis=1}; "
            "Sum(x_grad_from_loss, x_grad_from_softmax) -> x_grad | x_grad -");
  EXPECT_EQ(Make(loss, "SoftmaxWithLoss(x, l) -> p, c", nullptr, "p"),
            "SoftmaxWithLossGradient(x, l, p, c_g) -> x_grad | x_grad -");
  EXPECT_EQ(Make(loss, "SoftmaxWithLoss(x, l) -> p, c", nullptr, "c"),
            "SoftmaxGradient(p, p_g) -> x_grad {axis=1} | x_grad -");
  EXPECT_EQ(Make(loss, "SoftmaxWithLoss(x, l) -> p, c", nullptr, "c", true),
            "error: Gradient of output c is not provided!");
  EXPECT_EQ(Make(loss, "SoftmaxWithLoss(x, l) -> p, c", nullptr, "", true),
            "SoftmaxWithLossGradient(x, l, p, c_g) -> x_grad | x_grad -");
}

}  // namespace
}  // namespace weft::test
