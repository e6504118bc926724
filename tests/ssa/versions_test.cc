// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/versions.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/ssa/path.h"
#include "tests/support/compact_net.h"

namespace weft {
namespace {

using testing::CompactNet;

std::string Print(const Net& net, const BlobVersions& versions) {
  std::string out;
  for (const BlobVersion& entry : versions.entries())
    StrAppend(out, out.empty() ? "" : " ", net.Str(entry.blob), ":", entry.version);
  return out;
}

TEST(Versions, UndeclaredReadsAreRecordedOnlyWithoutExternalInputs) {
  const Net bare = CompactNet("Add(x, w) -> y; Relu(y) -> y");
  EXPECT_EQ(Print(bare, VersionsOf(bare, Ssa(bare))), "x:0 w:0 y:2");
  const Net declared = CompactNet("in x q; Add(x, w) -> y; Relu(y) -> y; Tanh(late) -> late");
  EXPECT_EQ(Print(declared, VersionsOf(declared, Ssa(declared))), "x:0 q:0 y:2 late:1");
}

TEST(Versions, B26_AListOfNetsSharesOneCount) {
  const Net first = CompactNet("in x; Relu(x) -> y; Tanh(y) -> y");
  const Net second = CompactNet("in y x; Sin(y) -> y; Cos(z) -> z", first.symbols);
  const std::vector<Net> nets = {first, second};
  const auto ssa = GetSsa(nets);
  ASSERT_TRUE(ssa.has_value());
  EXPECT_EQ(ValueName(second, ssa->nets[1], ssa->nets[1].inputs(0)[0]), "y@2");
  EXPECT_EQ(ValueName(second, ssa->nets[1], ssa->nets[1].outputs(0)[0]), "y@3");
  EXPECT_EQ(Print(first, ssa->versions), "x:0 y:3 z:1");
  const std::vector<Net> strangers = {first, CompactNet("Relu(x) -> y")};
  EXPECT_EQ(GetSsa(strangers).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(GetSsa({}).has_value());
}

TEST(Versions, AnOpThatWritesABlobTwiceCountsBothAndKeepsTheLast) {
  const Net net = CompactNet("Split(x) -> a, a; Relu(a) -> b");
  const Ssa ssa(net);
  EXPECT_EQ(ValueName(net, ssa, ssa.outputs(0)[0]), "a@2");
  EXPECT_EQ(ValueName(net, ssa, ssa.outputs(0)[1]), "a@2");
  EXPECT_EQ(ValueName(net, ssa, ssa.inputs(1)[0]), "a@2");
}

TEST(Versions, UndefinedBlobsByFirstRead) {
  const Net net = CompactNet("in unused; Add(w, x) -> y; Mul(x, v) -> x; Relu(x) -> z");
  const Ssa ssa(net);
  std::string names;
  for (Symbol blob : UndefinedBlobs(ssa)) StrAppend(names, net.Str(blob), " ");
  EXPECT_EQ(names, "w x v ");
}

TEST(Versions, FindValue) {
  const Net net = CompactNet("in x; Relu(x) -> x; Relu(x) -> x");
  const Ssa ssa(net);
  const Symbol x = net.symbols->Find("x");
  EXPECT_EQ(FindValue(ssa, x, 1), ssa.outputs(0)[0]);
  EXPECT_EQ(FindValue(ssa, x, 0), ssa.inputs(0)[0]);
  EXPECT_EQ(FindValue(ssa, x, 3), kNoValue);
  EXPECT_EQ(FindValue(ssa, net.symbols->Intern("nope"), 0), kNoValue);
}

TEST(Path, StopsAtTheLatestVersionOfTheInputs) {
  const Net net = CompactNet("in x; A(x) -> a; B(a) -> b; C(b) -> a; D(a) -> d; E(q) -> e");
  const Ssa ssa(net);
  const auto blob = [&](const char* name) { return net.symbols->Intern(name); };
  const std::vector<Symbol> a = {blob("a")}, d = {blob("d")}, b = {blob("b")}, both = {blob("d"), blob("e")};
  EXPECT_EQ(*OpsInPath(net, ssa, a, d), (std::vector<OpId>{3}));
  EXPECT_EQ(*OpsInPath(net, ssa, b, d), (std::vector<OpId>{2, 3}));
  EXPECT_EQ(*OpsInPath(net, ssa, {}, both), (std::vector<OpId>{0, 1, 2, 3, 4}));
  const std::vector<Symbol> q = {blob("q")};
  EXPECT_TRUE(OpsInPath(net, ssa, q, d).has_value());  // a KeyError in Caffe2, which keeps no record of q
}

}  // namespace
}  // namespace weft
