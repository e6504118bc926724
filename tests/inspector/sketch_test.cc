// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/sketch.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "core/base/str.h"
#include "core/roles/roles.h"
#include "inspector/session.h"
#include "proto/codec.h"
#include "proto/fields.h"
#include "proto/wire.h"
#include "tests/support/generate_nets.h"

namespace weft {
namespace {

using testing::Pass;
using testing::ResidualNet;

// The scene of a sketch of `net`; empty when there is none.
std::vector<uint32_t> SketchOf(const Net& net) {
  Sketch sketch(StandardOps());
  const std::string bytes = SerializeNet(net);
  WireCursor cursor(bytes);
  for (WireField field; cursor.Next(field);)
    if (field.tag == Tag(net_field::kOp, WireType::kLength)) sketch.Add(field.bytes);
  return sketch.Draw();
}

// But for Iter and LearningRate, updates by what reads them.
TEST(Sketch, CountsTheRolesThatTheNetHas) {
  const Net net = ResidualNet(100'000, Pass::kTraining);
  const Ssa ssa(net);
  const Roles roles = FindRoles(net, ssa, StandardOps(), FindColumns(net, ssa), {});
  std::array<uint32_t, kNumRoles> counts{};
  for (Role role : roles.role) ++counts[static_cast<uint32_t>(role)];

  const std::vector<uint32_t> words = SketchOf(net);
  const std::optional<SceneView> scene = SceneView::Open(words);
  ASSERT_TRUE(scene);
  ASSERT_EQ(scene->bands().size(), 3u);
  std::array<uint32_t, kNumRoles> in_boxes{};
  for (const SceneNode& node : scene->nodes()) in_boxes[static_cast<uint32_t>(node.role())] += node.count;
  for (const SceneBand& band : scene->bands()) {
    EXPECT_NEAR(band.count, counts[band.role], 2) << scene->text(band.title);
    EXPECT_EQ(in_boxes[band.role], band.count) << scene->text(band.title);
  }
}

// Where names say nothing, stretches are those that the net itself is cut into.
TEST(Sketch, NamesItsBoxesAsTheSceneDoes) {
  Net net = ResidualNet(1'000'000, Pass::kTraining);
  const std::vector<uint32_t> words = SketchOf(net);
  const std::optional<SceneView> sketch = SceneView::Open(words);
  ASSERT_TRUE(sketch);
  std::map<std::string_view, uint32_t> drawn;  // forward
  for (const SceneNode& node : sketch->nodes())
    if (node.role() == Role::kForward) drawn[sketch->text(node.title)] = node.count;
  Session session(StandardOps());
  const NetId id = session.Add("net", std::move(net));
  const std::unique_ptr<SceneJob> job = session.BuildScene(id, {});
  while (!job->Step(1 << 20)) {
  }
  const Scene whole = job->Take().value();
  const SceneView view = whole.view();
  size_t equal = 0, boxes = 0;
  for (const SceneNode& node : view.nodes()) {
    if (node.role() != Role::kForward || node.kind() != NodeKind::kScope) continue;
    ++boxes;
    const auto at = drawn.find(view.text(node.title));
    equal += at != drawn.end() && at->second == node.count;
  }
  EXPECT_GT(boxes, 400u);
  EXPECT_GT(equal * 10, boxes * 9) << equal << " of " << boxes;
}

TEST(Sketch, ABoxForEachOutermostName) {
  Net net;
  for (int i = 0; i < 9000; ++i) {
    Op op;
    op.type = net.Intern("Relu");
    op.inputs.push_back(net.Intern("x"));
    op.outputs.push_back(net.Intern(StrCat(i < 3000   ? "stem"
                                           : i < 7000 ? "body"
                                                      : "head",
                                           "/part_", i / 10, "/y")));
    net.ops.push_back(std::move(op));
  }
  const std::vector<uint32_t> words = SketchOf(net);
  const std::optional<SceneView> scene = SceneView::Open(words);
  ASSERT_TRUE(scene);
  std::map<std::string_view, uint32_t> boxes;
  for (const SceneNode& node : scene->nodes()) boxes[scene->text(node.title)] = node.count;
  EXPECT_EQ(boxes, (std::map<std::string_view, uint32_t>{{"stem", 3000}, {"body", 4000}, {"head", 2000}}));
}

TEST(Sketch, NoneOfASmallNetAndOfWhatIsNoOperator) {
  EXPECT_TRUE(SketchOf(ResidualNet(1000)).empty());
  EXPECT_TRUE(Sketch(StandardOps()).Draw().empty());
  const std::string relu("\x0a\x01x\x12\x01y\x22\x04Relu", 12);
  for (const std::string& bad :
       {std::string(), std::string("\x0a\x01x", 3), relu + "\x22", std::string("\xff\xff\xff")}) {
    Sketch sketch(StandardOps());
    for (int i = 0; i < 9000; ++i) sketch.Add(relu);
    EXPECT_FALSE(sketch.Draw().empty());
    sketch.Add(bad);
    EXPECT_TRUE(sketch.Draw().empty());
  }
}

}  // namespace
}  // namespace weft
