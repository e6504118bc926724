// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole table, row by row: what every operator must have. And the finding of rows.
#include <gtest/gtest.h>

#include <set>

#include "core/base/str.h"
#include "core/grad/control.h"
#include "core/ops/gradient_rule.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_set.h"
#include "core/ops/shape_program.h"
#include "tests/support/toy_ops.h"

namespace weft::test {
namespace {

// The named ports of one side against its counts: as many as there may be, and those without "?" always
// there.
void ExpectPortsFit(const std::vector<PortSpec>& ports, Arity arity, std::string_view side) {
  int needed = 0;
  bool repeated = false;
  for (const PortSpec& port : ports) {
    needed += !port.optional && !port.repeated;
    repeated |= port.repeated;
    EXPECT_FALSE(port.name.empty());
  }
  const int most = static_cast<int>(ports.size());
  if (repeated) {
    EXPECT_LE(most, arity.max) << side;
  } else if (arity.max != kAny) {
    EXPECT_EQ(most, arity.max) << side;
    EXPECT_EQ(needed, arity.min) << side;
  }
}

TEST(OpTable, EveryRowIsWhole) {
  for (const OpDef* def : StandardOps().all()) {
    SCOPED_TRACE(std::string(def->name));
    EXPECT_FALSE(def->doc.empty());
    if (!def->doc.empty()) {
      EXPECT_EQ(def->doc.back(), '.');
    }
    EXPECT_LE(0, def->in.min);
    EXPECT_LE(def->in.min, def->in.max);
    EXPECT_LE(0, def->out.min);
    EXPECT_LE(def->out.min, def->out.max);
    EXPECT_GE(def->tier, 1);
    EXPECT_LE(def->tier, 3);
    const Result<void> columns = CheckColumns(*def);
    EXPECT_TRUE(columns) << columns.error().message;
    const Ports ports = ParsePorts(def->ports);
    ExpectPortsFit(ports.inputs, def->in, "inputs");
    ExpectPortsFit(ports.outputs, def->out, "outputs");
    std::set<std::string_view> names;
    for (const ArgSpec& arg : ParseArgs(def->args)) EXPECT_TRUE(names.insert(arg.name).second) << arg.name;
  }
  EXPECT_GE(StandardOps().all().size(), 751u + 7);
}

TEST(OpTable, GradientRulesFitTheirPolicies) {
  for (const OpDef* def : StandardOps().all()) {
    SCOPED_TRACE(std::string(def->name));
    const bool has_rule = !def->gradient.empty() || def->gradient_fn != nullptr;
    EXPECT_FALSE(!def->gradient.empty() && def->gradient_fn) << "one way is enough";
    switch (def->policy) {
      case GradientPolicy::kRule:
        // Control flow is differentiated by the planner, net by net.
        EXPECT_NE(has_rule, internal::IsControlFlow(*def));
        break;
      case GradientPolicy::kPassThrough:
        EXPECT_TRUE(has_rule);
        break;
      default:
        EXPECT_FALSE(has_rule);
    }
    if (def->gradient.empty()) continue;
    const Result<void> readable = CheckGradientRule(def->gradient);
    EXPECT_TRUE(readable) << readable.error().message;
  }
}

TEST(OpTable, ShapeRulesAreThereOrSayWhyNot) {
  int rules = 0, reasons = 0, costs = 0;
  for (const OpDef* def : StandardOps().all()) {
    SCOPED_TRACE(std::string(def->name));
    // An operator without outputs has nothing to say.
    if (!ParsePorts(def->ports).outputs.empty()) {
      EXPECT_NE(def->shape.empty(), def->shape_reason.empty());
    } else {
      EXPECT_TRUE(def->shape.empty());
    }
    rules += !def->shape.empty();
    reasons += !def->shape_reason.empty();
    costs += !def->cost.empty();
    const Result<ShapeProgram> program = CompileShapeRule(*def);
    EXPECT_TRUE(program) << program.error().message;
    // A rule for each output, but where one word or the nets inside set them all.
    if (!program || def->shape.empty()) continue;
    std::set<int32_t> set;
    for (const ShapeStatement& s : program.value().statements) {
      if (s.kind == ShapeStatement::kWord) set.insert(-1);
      for (const PortRef& target : s.targets) set.insert(target.port);
    }
    EXPECT_TRUE(set.count(-1) || set.size() == program.value().outputs.size()) << def->shape;
  }
  std::puts(StrCat("shapes: ", rules, " rules, ", reasons, " reasons; ", costs, " costs").c_str());
}

TEST(OpSet, FindsRowsByName) {
  EXPECT_EQ(StandardOps().Find("Relu")->name, "Relu");
  EXPECT_EQ(StandardOps().Find("relu"), nullptr);
  EXPECT_EQ(StandardOps().Find(""), nullptr);
  EXPECT_EQ(StandardOps().Find("Direct"), nullptr);
  EXPECT_EQ(ToyOps().Find("Relu"), nullptr);
  EXPECT_NE(ToyOps().Find("Direct"), nullptr);
  EXPECT_NE(StandardAndToyOps().Find("Direct"), nullptr);
  EXPECT_EQ(StandardAndToyOps().all().size(), StandardOps().all().size() + ToyOps().all().size());
  for (size_t i = 1; i < StandardOps().all().size(); ++i)
    EXPECT_LT(StandardOps().all()[i - 1]->name, StandardOps().all()[i]->name);
}

TEST(OpSet, SuggestsNearNames) {
  const auto near = StandardOps().Nearest("SpatialBn");
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near[0], "SpatialBN");
}

TEST(OpSet, LooksUpSymbolsOnce) {
  SymbolTable table;
  const Symbol relu = table.Intern("Relu"), nothing = table.Intern("Nothing");
  OpLookup lookup(StandardOps(), table);
  EXPECT_EQ(lookup(relu), StandardOps().Find("Relu"));
  EXPECT_EQ(lookup(relu), StandardOps().Find("Relu"));
  EXPECT_EQ(lookup(nothing), nullptr);
  EXPECT_EQ(lookup(table.Intern("FC")), StandardOps().Find("FC"));
}

TEST(OpColumns, Args) {
  const auto args = ParseArgs("axis:int=1 shape:ints order:string=NCHW values:floats! sep:string=', '");
  ASSERT_EQ(args.size(), 5u);
  EXPECT_EQ(args[0].name, "axis");
  EXPECT_EQ(args[0].type, "int");
  EXPECT_EQ(args[0].fallback, "1");
  EXPECT_FALSE(args[0].required);
  EXPECT_EQ(args[1].fallback, "");
  EXPECT_EQ(args[2].fallback, "NCHW");
  EXPECT_TRUE(args[3].required);
  EXPECT_EQ(args[4].fallback, ", ");
  EXPECT_TRUE(ParseArgs("").empty());
}

TEST(OpColumns, PortsPairsAndArities) {
  const Ports ports = ParsePorts("X W b? inputs... -> Y mask?");
  ASSERT_EQ(ports.inputs.size(), 4u);
  EXPECT_EQ(ports.inputs[2].name, "b");
  EXPECT_TRUE(ports.inputs[2].optional);
  EXPECT_TRUE(ports.inputs[3].repeated);
  ASSERT_EQ(ports.outputs.size(), 2u);
  EXPECT_TRUE(ports.outputs[1].optional);

  EXPECT_TRUE(HasPair("0>0 4>2", 4, 2));
  EXPECT_FALSE(HasPair("0>0 4>2", 2, 4));
  EXPECT_FALSE(HasPair("", 0, 0));
  EXPECT_TRUE(HasPair("*", 7, 3));
  EXPECT_TRUE(HasPair("i>i", 5, 5));
  EXPECT_FALSE(HasPair("i>i", 5, 4));
  EXPECT_TRUE(HasPair("i+1>i", 5, 4));

  EXPECT_TRUE(HasArity("", 9, 9));
  EXPECT_TRUE(HasArity("5/1 5/5", 5, 5));
  EXPECT_FALSE(HasArity("5/1 5/5", 5, 3));
  EXPECT_TRUE(HasArity("n+1/n", 12, 11));
  EXPECT_FALSE(HasArity("n+1/n", 1, 0));
  EXPECT_TRUE(HasArity("2n+3/1", 9, 1));
  EXPECT_FALSE(HasArity("2n+3/1", 3, 1));
  EXPECT_FALSE(HasArity("2n+3/1", 8, 1));
  EXPECT_TRUE(HasArity("1/2+", 1, 7));
  EXPECT_FALSE(HasArity("1/2+", 1, 1));
  EXPECT_TRUE(HasArity("2+/kn", 3, 9));
  EXPECT_FALSE(HasArity("2+/kn", 3, 8));
  EXPECT_EQ(WhichSideFails("5/1 7/5", 6, 1), ArityFailure::kInputs);
  EXPECT_EQ(WhichSideFails("5/1 7/5", 5, 3), ArityFailure::kOutputs);
  EXPECT_EQ(WhichSideFails("5/1 7/5", 7, 1), ArityFailure::kBoth);
}

}  // namespace
}  // namespace weft::test
