// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/plan_builder.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/pass/clone_plan.h"
#include "proto/codec.h"
#include "tests/support/compact_net.h"

namespace weft {
namespace {

class PlanBuilderTest : public ::testing::Test {
 protected:
  Net MakeNet(std::string_view name) {
    return testing::CompactNet(StrCat("name ", name, "; Relu(x) -> y"), table);
  }
  BuiltStep Make(const StepSpec& spec, std::vector<StepPart> parts) {
    Result<BuiltStep> step = MakeStep(registry, table, spec, std::move(parts));
    EXPECT_TRUE(step.has_value());
    return std::move(*step);
  }
  std::string Names(const std::vector<Symbol>& symbols) {
    std::string out;
    for (Symbol symbol : symbols) StrAppend(out, out.empty() ? "" : " ", table->Str(symbol));
    return out;
  }

  NameRegistry registry;
  SymbolTablePtr table = std::make_shared<SymbolTable>();
};

// Real Caffe2: nets of substeps first, then the step's own, its report net last, each once.
TEST_F(PlanBuilderTest, NetsAreListedInOrderOfUse) {
  const BuiltStep inner = Make({.name = "inner", .num_iter = 2}, {MakeNet("c"), MakeNet("a")});
  const BuiltStep outer = Make({.name = "outer", .report_net = MakeNet("report"), .report_interval = 5},
                               {inner, MakeNet("b"), MakeNet("c")});
  EXPECT_EQ(Names(NetsInOrder(outer.step)), "c a b report");
  PlanBuilder builder("plan", table);
  ASSERT_TRUE(builder.AddStep(Make({.name = "first"}, {MakeNet("a")})).has_value());
  ASSERT_TRUE(builder.AddStep(outer).has_value());
  std::vector<Symbol> names;
  for (const Net& net : builder.plan().networks) names.push_back(net.name);
  EXPECT_EQ(Names(names), "a c b report");
  // Each net beside a step becomes a step of its own.
  EXPECT_EQ(builder.plan().steps[1].substeps.size(), 3u);
  EXPECT_EQ(table->Str(builder.plan().steps[1].substeps[1].name), "step");
  EXPECT_EQ(table->Str(builder.plan().steps[1].substeps[2].name), "step_1");
}

TEST_F(PlanBuilderTest, OnlyGeneratedNamesAreUnique) {
  EXPECT_EQ(table->Str(Make({}, {}).step.name), "step");
  EXPECT_EQ(table->Str(Make({}, {}).step.name), "step_1");
  EXPECT_EQ(table->Str(Make({.name = "mine"}, {}).step.name), "mine");
  EXPECT_EQ(table->Str(Make({.name = "mine"}, {}).step.name), "mine");
}

TEST_F(PlanBuilderTest, IterationsOrAStopBlob) {
  EXPECT_EQ(*Make({}, {MakeNet("n")}).step.num_iter, 1);
  const Step stops = Make({.should_stop_blob = "stop"}, {MakeNet("n")}).step;
  EXPECT_FALSE(stops.num_iter.has_value());
  EXPECT_EQ(table->Str(stops.should_stop_blob), "stop");
  const auto both = MakeStep(registry, table, {.num_iter = 3, .should_stop_blob = "stop"}, {});
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().message, "Cannot set both should_stop_blob and num_iter.");
}

TEST_F(PlanBuilderTest, B29_OnlyOnceFalseIsUnset) {
  EXPECT_FALSE(Make({.only_once = false}, {MakeNet("n")}).step.only_once.has_value());
  EXPECT_TRUE(*Make({.only_once = true}, {MakeNet("n")}).step.only_once);
}

TEST_F(PlanBuilderTest, DifferentNetsWithOneNameAreAnError) {
  Net other = MakeNet("n");
  other.ops.clear();
  const auto step = MakeStep(registry, table, {}, {MakeNet("n"), other});
  ASSERT_FALSE(step.has_value());
  EXPECT_EQ(step.error().message, "Different nets with same name: n");
  PlanBuilder builder("plan", table);
  ASSERT_TRUE(builder.AddStep(Make({}, {MakeNet("n")})).has_value());
  ASSERT_TRUE(builder.AddStep(Make({}, {MakeNet("n")})).has_value());
  EXPECT_EQ(builder.plan().networks.size(), 1u);
  EXPECT_EQ(builder.AddStep(Make({}, {other})).error().code, ErrorCode::kNameConflict);
  EXPECT_EQ(builder.plan().steps.size(), 2u);
}

TEST_F(PlanBuilderTest, EmptyStepsAreLeftOut) {
  PlanBuilder builder("plan", table);
  ASSERT_TRUE(builder.AddStep(Make({}, {})).has_value());
  ASSERT_TRUE(builder.AddStep(Make({}, {Make({}, {}), Make({}, {})})).has_value());
  EXPECT_TRUE(builder.plan().steps.empty());
}

TEST_F(PlanBuilderTest, PrintsAsCaffe2) {
  PlanBuilder builder("p", table);
  const BuiltStep run = Make({.name = "run", .num_iter = 10, .num_concurrent_instances = 2}, {MakeNet("n")});
  ASSERT_TRUE(builder.AddStep(Make({.name = "all", .concurrent_substeps = true}, {run})).has_value());
  EXPECT_EQ(PlanToText(std::move(builder).Finish()),
            "name: \"p\"\nnetwork {\n  name: \"n\"\n  op {\n    input: \"x\"\n    output: \"y\"\n    type: "
            "\"Relu\"\n  }\n}\n"
            "execution_step {\n  name: \"all\"\n  substep {\n    name: \"run\"\n    network: \"n\"\n    "
            "num_iter: 10\n"
            "    num_concurrent_instances: 2\n  }\n  num_iter: 1\n  concurrent_substeps: true\n}\n");
}

TEST_F(PlanBuilderTest, ACopyLivesBesideTheOriginal) {
  const BuiltStep inner = Make({.name = "inner", .should_stop_blob = "stop"}, {MakeNet("a")});
  PlanBuilder builder("plan", table);
  ASSERT_TRUE(builder.AddStep(Make({.name = "outer"}, {inner, MakeNet("b")})).has_value());
  const Plan plan = std::move(builder).Finish();
  const auto copy = ClonePlan(plan, {.prefix = "r1/", .keep = {table->Intern("x")}});
  ASSERT_TRUE(copy.has_value()) << copy.error().message;
  EXPECT_EQ(copy->Str(copy->name), "r1/plan");
  ASSERT_EQ(copy->networks.size(), 2u);
  EXPECT_EQ(copy->Str(copy->networks[0].name), "r1/a");
  EXPECT_EQ(testing::ToCompact(copy->networks[0]), "Relu(x) -> r1/y");
  EXPECT_EQ(Names(NetsInOrder(copy->steps[0])), "r1/a r1/b");
  EXPECT_EQ(copy->Str(copy->steps[0].substeps[0].should_stop_blob), "r1/stop");
  EXPECT_EQ(PlanToText(*ClonePlan(plan, {})), PlanToText(plan));
}

}  // namespace
}  // namespace weft
