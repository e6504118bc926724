// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes that break viewers: long chains, stars, ladders, one blob written a million times, deep paths.
// Nothing overflows, and what a scene holds grows with the net, not with its square.
#include <gtest/gtest.h>

#include <functional>

#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "tests/inspector/scene_checks.h"
#include "tests/support/compact_net.h"
#include "tests/support/generate_nets.h"

namespace weft::test {
namespace {

using testing::Pass;

TEST(Shapes, AMillionOpsCollapsed) {
  const std::function<Net()> makers[] = {
      [] { return testing::ChainNet(1000000); }, [] { return testing::StarNet(1000000); },
      [] { return testing::LadderNet(300000); }, [] { return testing::InPlaceChainNet(1000000); },
      [] { return testing::ResidualNet(1000000, Pass::kTraining); }};
  for (const std::function<Net()>& make : makers) {
    Session session(StandardOps());
    const NetId id = session.Add("big", make());
    const Net& net = *session.net(id);
    const Scene scene = BuildScene(session, id, {});
    const SceneView view = scene.view();
    EXPECT_EQ(FaultOfBoxes(view), "") << net.Str(net.name);
    EXPECT_EQ(view.header().num_hidden, 0u);
    EXPECT_GT(view.nodes().size(), 5u);
    EXPECT_LT(view.nodes().size(), 4000u);
    EXPECT_LT(scene.words.size(), 3 * net.ops.size());
    // One more scope opened.
    ViewOptions options;
    options.expanded = session.DefaultExpanded(id, LayoutMode::kAuto, 2000).value();
    for (const SceneNode& node : view.nodes()) {
      if (node.kind() != NodeKind::kScope) continue;
      options.expanded->push_back(node.id);
      break;
    }
    const Scene opened = BuildScene(session, id, options);
    EXPECT_EQ(FaultOfBoxes(opened.view()), "");
    EXPECT_GT(opened.view().nodes().size(), view.nodes().size());
  }
}

TEST(Shapes, ExpandedScenesGrowWithTheNet) {
  for (const size_t size : {5000u, 50000u}) {
    for (const Net& net : {testing::ChainNet(size), testing::StarNet(size), testing::LadderNet(size),
                           testing::InPlaceChainNet(size), testing::ResidualNet(size, Pass::kTraining)}) {
      Session session(StandardOps());
      const NetId id = session.Add("big", net);
      ViewOptions options;
      options.expand_all = true;
      const Scene scene = BuildScene(session, id, options);
      const SceneView view = scene.view();
      EXPECT_EQ(view.nodes().size(), net.ops.size()) << net.Str(net.name);
      EXPECT_LT(view.edges().size(), 8 * net.ops.size()) << net.Str(net.name);
      EXPECT_LT(scene.words.size(), 120 * net.ops.size()) << net.Str(net.name);
      EXPECT_EQ(FaultOfBoxes(view), "") << net.Str(net.name);
    }
  }
}

TEST(Shapes, FlatTrainingNetsInFlowMode) {
  Session session(StandardOps());
  const NetId id = session.Add("big", testing::ResidualNet(20000, Pass::kTraining));
  ViewOptions options;
  options.mode = LayoutMode::kFlow;
  options.expand_all = true;
  const Scene scene = BuildScene(session, id, options);
  EXPECT_EQ(scene.view().nodes().size(), session.net(id)->ops.size());
  EXPECT_LT(scene.view().edges().size(), 12 * session.net(id)->ops.size());
  EXPECT_EQ(FaultOfBoxes(scene.view()), "");
}

TEST(Shapes, AThousandScopesDeep) {
  std::string path;
  std::string text;
  for (int depth = 0; depth < 1000; ++depth) {
    StrAppend(path, "d", depth, "/");
    StrAppend(text, depth > 0 ? "; " : "", "Relu(x) -> ", path, "a; Relu(x) -> ", path, "b");
  }
  Session session(StandardOps());
  const NetId id = session.Add("deep", testing::CompactNet(text));
  ViewOptions options;
  options.expand_all = true;
  const Scene scene = BuildScene(session, id, options);
  EXPECT_EQ(scene.view().nodes().size(), 2000u);
  EXPECT_EQ(FaultOfBoxes(scene.view()), "");
}

TEST(Shapes, AnOpWithAMillionRiders) {
  // Everything after the loss claims to be a gradient and belongs to nobody.
  Net net = testing::CompactNet("in x; Relu(x) -> y; ReluGradient(y, y_grad) -> x_grad");
  Op op = net.ops[1];
  op.type = net.Intern("MysteryGradient");
  for (int i = 0; i < 300000; ++i) {
    op.outputs[0] = net.Intern(StrCat("t", i));
    net.ops.push_back(op);
  }
  Session session(StandardOps());
  const NetId id = session.Add("riders", net);
  ViewOptions options;
  options.expand_all = true;
  const Scene scene = BuildScene(session, id, options);
  EXPECT_LT(scene.view().nodes().size(), 100u);
  EXPECT_EQ(scene.view().header().num_hidden, 0u);
  EXPECT_EQ(FaultOfBoxes(scene.view()), "");
}

}  // namespace
}  // namespace weft::test
