// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/describe.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr OpDef kToys[] = {
    {.name = "Blend",
     .doc = "Mixes two tensors by a third. The weights are clipped to [0, 1] first, element by element.",
     .in = {2, 3},
     .out = 1,
     .ports = "X Y weight? -> Z",
     .args = "axis:int=1 order:string=NCHW shape:ints!",
     .inplace = "0>0",
     .policy = GradientPolicy::kRule,
     .gradient = "BlendGradient(GO0) -> GI0",
     .shape = "Z = X",
     .cost = "|X|",
     .tier = 1,
     .flags = kRandom},
    {.name = "BlendGradient",
     .doc = "Of Blend.",
     .in = {1, kAny},
     .out = 2,
     .ports = "G... -> A B",
     .shape_reason = "nobody knows"},
};
constexpr OpFamily kFamilies[] = {kToys};

TEST(Describe, PageOfAnOperator) {
  EXPECT_EQ(OpPage(kToys[0], 60), R"(Blend
  Mixes two tensors by a third. The weights are clipped to
  [0, 1] first, element by element.

  inputs      2 to 3: X, Y, weight?
  outputs     1: Z
  in place    input 0 may be output 0
  arguments   axis   int = 1
              order  string = NCHW
              shape  ints  required
  gradient    BlendGradient(GO0) -> GI0
  shapes      Z = X
  cost        |X|
              tier 1, random
)");
}

TEST(Describe, MarkdownAndJson) {
  EXPECT_EQ(OpMarkdown(kToys[1]), R"(## BlendGradient

Of Blend.

- inputs: 1 or more (G...)
- outputs: 2 (A, B)
- gradient: `unknown to Caffe2`
- shapes: not known: nobody knows
- tier 3
)");
  std::string out;
  JsonWriter json(out);
  WriteOp(json, kToys[0]);
  EXPECT_EQ(
      out,
      R"({"name":"Blend","doc":"Mixes two tensors by a third. The weights are clipped to [0, 1] first, )"
      R"(element by element.","inputs":{"min":2,"max":3,"ports":[{"name":"X","optional":false,)"
      R"("repeated":false},{"name":"Y","optional":false,"repeated":false},{"name":"weight",)"
      R"("optional":true,"repeated":false}]},"outputs":{"min":1,"max":1,"ports":[{"name":"Z",)"
      R"("optional":false,"repeated":false}]},"arities":"","inplace":"0>0","enforced":"","args":[)"
      R"({"name":"axis","type":"int","default":"1","required":false},{"name":"order","type":"string",)"
      R"("default":"NCHW","required":false},{"name":"shape","type":"ints","default":null,)"
      R"("required":true}],"gradient":{"policy":"rule","rule":"BlendGradient(GO0) -> GI0"},"shape":"Z = X","shape_reason":"","cost":"|X|","tier":1,)"
      R"("flags":["random"]})");
}

TEST(Describe, SearchPutsNamesFirst) {
  const OpSet ops(kFamilies);
  const auto found = SearchOps(ops, "blendg");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->name, "BlendGradient");
  EXPECT_EQ(SearchOps(ops, "CLIPPED").size(), 1u);
  EXPECT_EQ(SearchOps(ops, "").size(), 2u);
}

}  // namespace
}  // namespace weft
