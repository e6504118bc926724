// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradient rules as people read them, on the blobs of an operator.
#include "inspector/gradient_lines.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/str.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_set.h"
#include "core/ops/schema.h"
#include "tests/support/compact_net.h"

namespace weft::test {
namespace {

using Args = std::vector<Arg>;

std::string Told(const OpDef& def, std::string_view net_text, Args (*args)(SymbolTable&) = nullptr) {
  Net net = testing::CompactNet(net_text);
  if (args != nullptr) net.ops[0].args = ArgList(args(*net.symbols));
  std::string out;
  for (const GradientLine& line : GradientLines(def, net, net.ops[0]))
    StrAppend(out, out.empty() ? "" : "\n", line.when.empty() ? "" : StrCat("if ", line.when, ": "),
              line.text);
  return out;
}

std::string Told(std::string_view type, std::string_view net_text, Args (*args)(SymbolTable&) = nullptr) {
  return Told(*StandardOps().Find(type), net_text, args);
}

OpDef Rule(std::string_view rule) {
  OpDef def;
  def.name = "T";
  def.in = def.out = {0, kAny};
  def.args = "on:bool=1 off:bool=0";
  def.policy = GradientPolicy::kRule;
  def.gradient = rule;
  return def;
}

TEST(GradientLines, HasTheOperatorsOwnBlobs) {
  EXPECT_EQ(Told("Relu", "Relu(x) -> y"), "ReluGradient(y, y_grad) -> x_grad");
  EXPECT_EQ(Told("Sum", "Sum(a, b, c) -> y"), "a_grad = b_grad = c_grad = y_grad");
  EXPECT_EQ(
      Told(Rule("Shape(I0) -> '_{O0}_dims'; G(GO0, '_{O0}_dims') -> GI0, '{GI1}_part'"), "T(x, w) -> y"),
      "Shape(x) -> _y_dims\nG(y_grad, _y_dims) -> x_grad, w_grad_part");
  EXPECT_EQ(Told(Rule("G(GO0, I2) -> GI0.values; GI0.indices = I1"), "T(a, b, c) -> y"),
            "G(y_grad, c) -> a_grad_values\na_grad_indices = b");
  // A blob that is read twice has two gradients.
  EXPECT_EQ(Told(Rule("G(GO0) -> GI0, GI1"), "T(x, x) -> y"), "G(y_grad) -> x_grad, x_grad_1");
}

TEST(GradientLines, DecidesWhatTheOperatorDecides) {
  const OpDef def =
      Rule("if in=2: A(I0 if on, I1 if off, GO0) -> GI0; if in>2: B(I2?) -> GI0; if !off: C(I2?) -> GI0");
  EXPECT_EQ(Told(def, "T(a, b) -> y"), "A(a, y_grad) -> a_grad\nC() -> a_grad");
  EXPECT_EQ(
      Told(def, "T(a, b, c) -> y", [](SymbolTable& t) { return Args{MakeArg(t.Intern("off"), int64_t{1})}; }),
      "B(c) -> a_grad");
  EXPECT_EQ(Told("Softsign", "Softsign(x) -> x"),
            "operator Softsign can't be differentiated here: the input was overwritten");
  EXPECT_EQ(Told(Rule("G(I3, GO0) -> GI0"), "T(a) -> y"),
            "the gradient of T needs input 3, but the operator has only 1");
}

TEST(GradientLines, SaysInWordsWhatAPlanDecides) {
  EXPECT_EQ(Told("Conv", "Conv(x, w, b) -> y"),
            "if b_grad is wanted: ConvGradient(x, w, y_grad) -> w_grad, b_grad, x_grad\n"
            "if b_grad is not wanted: ConvGradient(x, w, y_grad) -> w_grad, x_grad with "
            "no_bias=1");
  EXPECT_EQ(Told("Conv", "Conv(x, w) -> y"), "ConvGradient(x, w, y_grad) -> w_grad, x_grad with no_bias=1");
  EXPECT_EQ(Told("EnsureDense", "EnsureDense(x) -> y"),
            "if y_grad is sparse: SparseToDense(y_grad_indices, y_grad_values, x) -> x_grad\n"
            "if y_grad is dense: x_grad = y_grad");
  EXPECT_EQ(Told("Split", "Split(x) -> a, b"), "Concat(a_grad, b_grad) -> x_grad, _x_grad_dims");
  EXPECT_EQ(Told(Rule("if GO1 and !GO0: error 'no'; G(GO0?, GO1) -> GI0"), "T(x) -> a, b"),
            "if b_grad is there and a_grad is not there: operator T can't be differentiated here: no\n"
            "G(a_grad, b_grad) -> x_grad");
}

TEST(GradientLines, RunsWhatIsAFunction) {
  EXPECT_EQ(Told("MatMul", "MatMul(a, b) -> y",
                 [](SymbolTable& t) { return Args{MakeArg(t.Intern("trans_b"), int64_t{1})}; }),
            "MatMul(y_grad, b, a) -> a_grad with axis_b=1\nMatMul(y_grad, a, b) -> b_grad with trans_a=1, "
            "axis_b=1");
  EXPECT_EQ(Told("Transpose", "Transpose(x) -> y",
                 [](SymbolTable& t) {
                   return Args{MakeArg(t.Intern("axes"), std::vector<int64_t>{1, 2, 0})};
                 }),
            "Transpose(y_grad) -> x_grad with axes=[2, 0, 1]");
  // Texts are told as listings tell them; what the operator says itself is left out.
  const std::string pow = Told("Pow", "Pow(x, e) -> y", [](SymbolTable& t) {
    return Args{MakeArg(t.Intern("broadcast"), int64_t{1})};
  });
  EXPECT_NE(pow.find("Pow(x, e_grad) -> x_grad with axis=-1, axis_str=\"\", order=NCHW\n"), std::string::npos)
      << pow;
  EXPECT_EQ(Told("SoftmaxWithLoss", "SoftmaxWithLoss(x, label) -> s, loss"),
            "if only s_grad is there: SoftmaxGradient(s, s_grad) -> x_grad with axis=1\n"
            "if only loss_grad is there: SoftmaxWithLossGradient(x, label, s, loss_grad) -> x_grad\n"
            "if both are there: SoftmaxWithLossGradient(x, label, s, loss_grad) -> x_grad_from_loss\n"
            "SoftmaxGradient(s, s_grad) -> x_grad_from_softmax with axis=1\n"
            "Sum(x_grad_from_loss, x_grad_from_softmax) -> x_grad");
  EXPECT_EQ(
      Told("Cast", "Cast(x) -> y", [](SymbolTable& t) { return Args{MakeArg(t.Intern("to"), int64_t{12})}; }),
      "Cast(y_grad) -> x_grad with to=1, from_type=12");
  EXPECT_EQ(Told("Pow", "Pow(x) -> y"), "Pow needs an exponent, as an argument or as its second input");
}

TEST(GradientLines, OthersSayWhatTheyAre) {
  EXPECT_EQ(Told("StopGradient", "StopGradient(x) -> y"), "no gradient: the flow stops here");
  // What no rule may run on.
  EXPECT_EQ(Told("MatMul", "MatMul(a) -> y"), "Input size 1 not in range [min=2, max=3].");
  EXPECT_EQ(Told("Relu", "Relu(a, b) -> y"), "Input size 2 not in range [min=1, max=1].");
  EXPECT_EQ(Told(Rule("GI[:] = GO0"), "T() -> y"), "nothing");
  EXPECT_EQ(Told("If", "If(c) -> y"), "gradient operators depend on arguments and inputs");
}

// No operator leaves anything of the notation to people.
TEST(GradientLines, EveryRuleIsWritten) {
  int written = 0;
  for (const OpDef* def : StandardOps().all()) {
    if (def->gradient.empty()) continue;
    for (const int more : {0, 1, 3}) {
      std::string inputs, outputs;
      const int in = def->in.min + more, out = std::max(def->out.min, 1);
      for (int i = 0; i < in; ++i) StrAppend(inputs, i > 0 ? ", " : "", "in_", i);
      for (int i = 0; i < out; ++i) StrAppend(outputs, i > 0 ? ", " : "", "out_", i);
      if (in == 0) continue;
      const std::string op = StrCat(def->name, "(", inputs, ") -> ", outputs);
      const Net net = testing::CompactNet(op);
      if (!VerifySchema(*def, net, net.ops[0])) continue;
      ++written;
      const std::string text = Told(*def, op);
      EXPECT_NE(text, def->gradient) << def->name;
      for (const std::string_view sign : {"GO", "GI0", "GI[", "I0", "I[", "O0", "!", "?", "{", "'"})
        EXPECT_EQ(text.find(sign), std::string::npos) << def->name << ": " << text;
    }
  }
  EXPECT_GT(written, 250);
}

// A list of thousands is not written out.
TEST(GradientLines, LongListsAreCut) {
  std::string inputs = "x0";
  for (int i = 1; i < 20; ++i) StrAppend(inputs, ", x", i);
  const std::string text = Told("Sum", StrCat("Sum(", inputs, ") -> y"));
  EXPECT_TRUE(text.ends_with("x15_grad = ... 4 more = y_grad")) << text;
}

}  // namespace
}  // namespace weft::test
