// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/record.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/ir/plan_builder.h"
#include "core/ssa/annotated_net.h"
#include "tests/support/compact_net.h"

namespace weft {
namespace {

using testing::CompactNet;
using testing::ToCompact;

Record Clicks() {
  return StructField({{"user", ScalarField(DataType::kInt64)},
                      {"clicks", ListField(ScalarField(DataType::kFloat, std::vector<int64_t>{2}))},
                      {"scores", MapField(ScalarField(DataType::kInt32), ScalarField(DataType::kFloat))}});
}

std::string Paths(const Record& record) {
  std::vector<std::string> paths;
  for (const FieldRef& field : FieldsOf(record)) paths.push_back(field.path);
  return StrJoin(paths, " ");
}

// Field names and blobs as Caffe2's schema gives them.
TEST(Record, FieldsArePathsThroughStructsListsAndMaps) {
  NameRegistry registry;
  NetBuilder net(registry, "n");
  net.NextScopedBlob("user", NameScope().Enter("s"));
  const auto record = NewRecord(net, Clicks(), NameScope().Enter("s"));
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(Paths(*record),
            "user clicks:lengths clicks:values scores:lengths scores:values:keys scores:values:values");
  EXPECT_EQ(
      RecordText(*net.net().symbols, *record),
      "struct {user: scalar int64 = s/user_auto_0, clicks: list {lengths: scalar int32 [] = "
      "s/clicks:lengths, values: scalar float [2] = s/clicks:values}, scores: map {lengths: scalar int32 "
      "[] = s/scores:lengths, values: struct {keys: scalar int32 = s/scores:values:keys, values: scalar "
      "float = s/scores:values:values}}}");
  EXPECT_TRUE(SameSchema(*record, Clicks()));
  EXPECT_EQ(FindField(*record, "scores:values")->kind, Record::kStruct);
  EXPECT_EQ(FindField(*record, "clicks:nothing"), nullptr);
  const auto single = NewRecord(net, ScalarField());
  ASSERT_TRUE(single.has_value());
  EXPECT_EQ(net.net().Str(single->blob), "unnamed_scalar");
}

TEST(Record, RefusesNamesThatAreNone) {
  NameRegistry registry;
  NetBuilder net(registry, "n");
  const auto twice = NewRecord(net, StructField({{"a", ScalarField()}, {"a", ScalarField()}}));
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().message, "two fields are called a");
  EXPECT_FALSE(NewRecord(net, StructField({{"a:b", ScalarField()}})).has_value());
  EXPECT_FALSE(NewRecord(net, StructField({{"", ScalarField()}})).has_value());
}

struct Scored {
  AnnotatedNet net{CompactNet("name score; in x; Mul(x, w) -> y; Relu(y) -> z"), {}, {}};
  Symbol Name(std::string_view text) { return net.net.Intern(text); }
  Record Input() {
    return StructField({{"x", ScalarField(DataType::kFloat, {}, Name("x"))},
                        {"weight", ScalarField(DataType::kFloat, {}, Name("w"))}});
  }
  Record Output() { return StructField({{"y", ScalarField(DataType::kFloat, {}, Name("y"))}}); }
};

TEST(Record, NetsDeclareWhatTheirRecordsName) {
  Scored s;
  ASSERT_TRUE(SetInputRecord(s.net, s.Input()).has_value());
  ASSERT_TRUE(SetOutputRecord(s.net, s.Output()).has_value());
  EXPECT_EQ(ToCompact(s.net.net), "in x w; Mul(x, w) -> y; Relu(y) -> z; out y");
  // Again is fine, with other blobs it is not.
  EXPECT_TRUE(SetInputRecord(s.net, s.Input()).has_value());
  const auto other = SetInputRecord(s.net, ScalarField(DataType::kFloat, {}, s.Name("x")));
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().message, "net score has an input record of other blobs already");
  // One more field.
  ASSERT_TRUE(AppendOutputField(s.net, "z", ScalarField(DataType::kFloat, {}, s.Name("z"))).has_value());
  EXPECT_EQ(Paths(*s.net.output), "y z");
  EXPECT_EQ(ToCompact(s.net.net), "in x w; Mul(x, w) -> y; Relu(y) -> z; out y z");
  const auto taken = AppendOutputField(s.net, "z", ScalarField(DataType::kFloat, {}, s.Name("y")));
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().message, "two fields are called z");
  const auto unknown = AppendOutputField(s.net, "q", ScalarField(DataType::kFloat, {}, s.Name("q")));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().message, "q is not defined in net score");
}

TEST(Record, InputsComeFromOutside) {
  Scored s;
  const auto written = SetInputRecord(s.net, ScalarField(DataType::kFloat, {}, s.Name("y")));
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message, "op 0 (Mul) writes y, which the input record says comes from outside");
  const auto unbound = SetInputRecord(s.net, StructField({{"x", ScalarField()}}));
  ASSERT_FALSE(unbound.has_value());
  EXPECT_EQ(unbound.error().message, "field x of the record of net score names no blob");
}

TEST(Record, ClonesKeepThem) {
  Scored s;
  ASSERT_TRUE(SetInputRecord(s.net, s.Input()).has_value());
  ASSERT_TRUE(SetOutputRecord(s.net, s.Output()).has_value());
  AddAttribute(s.net, "trained", s.Name("w"));
  AddAttribute(s.net, "trained", std::string("note"));
  const auto clone = CloneAnnotated(
      s.net, {.name = "copy", .rename = {{s.Name("w"), s.Name("v")}, {s.Name("y"), s.Name("u")}}});
  ASSERT_TRUE(clone.has_value());
  EXPECT_EQ(ToCompact(clone->net), "in x v; Mul(x, v) -> u; Relu(u) -> z; out u");
  EXPECT_EQ(RecordText(*clone->net.symbols, *clone->input),
            "struct {x: scalar float = x, weight: scalar float = v}");
  EXPECT_EQ(RecordText(*clone->net.symbols, *clone->output), "struct {y: scalar float = u}");
  const auto trained = AttributesOf(*clone, "trained");
  ASSERT_EQ(trained.size(), 2u);
  EXPECT_EQ(std::get<Symbol>(trained[0]), s.Name("v"));
  EXPECT_EQ(std::get<std::string>(trained[1]), "note");
}

TEST(Record, BoundByName) {
  Scored s;
  ASSERT_TRUE(SetInputRecord(s.net, s.Input()).has_value());
  ASSERT_TRUE(SetOutputRecord(s.net, s.Output()).has_value());
  const Record other = StructField({{"weight", ScalarField(DataType::kFloat, {}, s.Name("other_w"))},
                                    {"more", ScalarField(DataType::kFloat, {}, s.Name("m"))},
                                    {"x", ScalarField(DataType::kFloat, {}, s.Name("other_x"))}});
  const auto bound = CloneAndBindRecord(s.net, {.name = "b", .prefix = "b/"}, other);
  ASSERT_TRUE(bound.has_value()) << bound.error().message;
  EXPECT_EQ(ToCompact(bound->net.net),
            "in other_x other_w; Mul(other_x, other_w) -> b/y; Relu(b/y) -> b/z; out b/y");
  EXPECT_EQ(bound->extra, (std::vector<std::string>{"more"}));
  EXPECT_EQ(RecordText(*s.net.net.symbols, *bound->net.output), "struct {y: scalar float = b/y}");

  const Record less = StructField({{"more", ScalarField(DataType::kFloat, {}, s.Name("m"))},
                                   {"x", ScalarField(DataType::kFloat, {}, s.Name("other_x"))}});
  const auto missing = CloneAndBindRecord(s.net, {.name = "b", .prefix = "b/"}, less);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message,
            "net score reads fields that are not given: weight; given and not read: more");
}

TEST(Attributes, GatheredOverStepsAndPlans) {
  const auto table = std::make_shared<SymbolTable>();
  std::vector<AnnotatedNet> nets;
  for (const char* name : {"a", "b", "c"}) {
    nets.push_back({CompactNet(StrCat("name ", name, "; Relu(x) -> y"), table), {}, {}});
    AddAttribute(nets.back(), "who", std::string(name));
  }
  NameRegistry registry;
  const auto inner = MakeStep(registry, table, {.name = "inner"}, {nets[2].net, nets[0].net});
  ASSERT_TRUE(inner.has_value());
  const auto outer = MakeStep(registry, table, {.name = "outer"}, {*inner, nets[1].net, nets[2].net});
  ASSERT_TRUE(outer.has_value());
  const auto all = [](const std::vector<Attribute>& values) {
    std::string out;
    for (const Attribute& value : values) out += std::get<std::string>(value);
    return out;
  };
  EXPECT_EQ(all(GatherAttributes(inner->step, nets, "who")), "ca");
  EXPECT_EQ(all(GatherAttributes(outer->step, nets, "who")), "cab");
  EXPECT_EQ(all(GatherAttributes(outer->step, nets, "nothing")), "");
  PlanBuilder plan("plan", table);
  ASSERT_TRUE(plan.AddStep(*outer).has_value());
  EXPECT_EQ(all(GatherAttributes(plan.plan(), nets, "who")), "cab");
}

}  // namespace
}  // namespace weft
