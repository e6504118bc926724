// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes of real nets: nothing overlaps, edges lead where data goes, everything is shown, layouts are the
// same to the byte everywhere and stay in place when a scope is opened.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "core/base/hash.h"
#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "tests/inspector/scene_checks.h"
#include "tests/support/generate_nets.h"

namespace weft::test {
namespace {

const char* const kModels[] = {"alexnet_train",
                               "char_rnn_2",
                               "dlrm_26",
                               "inception_train",
                               "overfeat_train",
                               "resnet50_train",
                               "resnet50_train_2gpu",
                               "vgga_train",
                               "resnet50_train_init",
                               "resnet50_train_2gpu_4shards_gloo"};

constexpr std::string_view kLoops = R"(name: "search" external_input: "x" external_input: "n"
op { type: "Copy" input: "x" output: "best" }
op { type: "Relu" input: "best" output: "best" }
op { type: "GT" input: "n" input: "x" output: "go" }
op { type: "While" input: "go" output: "best" output: "go"
  arg { name: "loop_net" n { name: "body" external_input: "best"
    op { type: "Sub" input: "best" input: "x" output: "step" }
    op { type: "If" input: "go" arg { name: "then_net" n { name: "then" op { type: "Add" input: "best" input: "step" output: "best" } } } }
    op { type: "LT" input: "best" input: "n" output: "go" } } }
  arg { name: "cond_net" n { name: "cond" op { type: "Not" input: "go" output: "go" } } } }
op { type: "Copy" input: "best" output: "y" }
)";

std::string Path(const std::string& model) { return "models/" + model + ".pb"; }

TEST(Scene, EveryModelInEveryModeIsSound) {
  for (const char* model : kModels) {
    Session session(StandardOps());
    const NetId net = OpenModel(session, Path(model));
    const Ssa ssa(*session.net(net));
    for (const LayoutMode mode : {LayoutMode::kMirror, LayoutMode::kFlow}) {
      for (const uint32_t budget : {1u, 60u, 100000u}) {
        ViewOptions options;
        options.mode = mode;
        options.budget = budget;
        const Scene scene = BuildScene(session, net, options);
        const SceneView view = scene.view();
        const std::string what = StrCat(model, " mode ", static_cast<int>(mode), " budget ", budget);
        EXPECT_EQ(FaultOfBoxes(view), "") << what;
        EXPECT_EQ(FaultOfEdges(view, *session.net(net), ssa), "") << what;
        EXPECT_EQ(view.header().num_hidden, 0u) << what;
        uint64_t count = 0;
        for (const SceneNode& node : view.nodes()) count += node.count;
        if (!(view.header().flags & kSceneFolded)) {
          EXPECT_EQ(count, view.header().num_ops) << what;
        }
      }
    }
  }
}

// Marks of findings are not layout, and checks may learn.
void ForgetFindings(Scene& scene) {
  const SceneHeader header = scene.view().header();
  for (const SceneSection section : {SceneSection::kGroups, SceneSection::kNodes}) {
    const SceneSectionRange& range = header.sections[static_cast<uint32_t>(section)];
    for (uint32_t i = 0; i < range.count; ++i) {
      constexpr uint32_t kStyle = offsetof(SceneNode, style) / 4;
      scene.words[range.offset + i * (sizeof(SceneNode) / 4) + kStyle] &=
          ~((kNodeFinding | kNodeError | kNodeUnknown) << 16);
    }
  }
}

// The same numbers in the native and the WebAssembly build: layouts agree to the byte. When a layout is
// changed on purpose, the failing test prints the new ones.
TEST(Scene, SameBytesEverywhere) {
  const std::map<std::string, uint64_t> expected = {
#include "tests/inspector/scene_hashes.inc"
  };
  for (const char* model : kModels) {
    Session session(StandardOps());
    const NetId net = OpenModel(session, Path(model));
    uint64_t hash = 0;
    for (const LayoutMode mode : {LayoutMode::kMirror, LayoutMode::kFlow}) {
      ViewOptions options;
      options.mode = mode;
      Scene scene = BuildScene(session, net, options);
      ForgetFindings(scene);
      for (uint32_t word : scene.words) hash = HashMix(hash, word);
    }
    const auto found = expected.find(model);
    EXPECT_TRUE(found != expected.end() && found->second == hash)
        << "{\"" << model << "\", " << hash << "u},";
  }
}

TEST(Scene, ALargeNetIsMarkedOnceItWasChecked) {
  Net net = weft::testing::ChainNet(30'000);
  net.ops[29'000].type = net.Intern("NoSuchOperator");
  Session session(StandardOps());
  const NetId id = session.Add("net", std::move(net));
  const auto marked = [](const Scene& scene) {
    uint32_t boxes = 0;
    for (const SceneNode& node : scene.view().nodes())
      boxes += (node.flags() & (kNodeFinding | kNodeError)) != 0;
    return boxes;
  };
  const Scene first = BuildScene(session, id, {});
  EXPECT_TRUE(first.view().header().flags & kSceneUnchecked);
  EXPECT_EQ(marked(first), 0u);
  ASSERT_FALSE(session.Findings(id).value().empty());
  const Scene second = BuildScene(session, id, {});
  EXPECT_FALSE(second.view().header().flags & kSceneUnchecked);
  EXPECT_EQ(marked(second), 1u);
}

// An op that waits for a blob without reading it: an edge of its own kind from whoever wrote it last before.
TEST(Scene, ControlInputsAreEdges) {
  Net net;
  const auto add = [&](const char* type, const char* input, const char* output) -> Op& {
    Op& op = net.ops.emplace_back();
    op.type = net.Intern(type);
    op.inputs.push_back(net.Intern(input));
    op.outputs.push_back(net.Intern(output));
    return op;
  };
  add("Relu", "x", "y");
  add("Tanh", "y", "y");
  add("Sigmoid", "x", "z").control_inputs = {net.Intern("y"), net.Intern("nobody")};
  add("Tanh", "z", "y");
  Session session(StandardOps());
  const NetId id = session.Add("waits", net);
  const Ssa ssa(*session.net(id));
  for (const bool horizontal : {false, true}) {
    ViewOptions options;
    options.horizontal = horizontal;
    const Scene scene = BuildScene(session, id, options);
    const SceneView view = scene.view();
    EXPECT_EQ(FaultOfBoxes(view), "");
    std::vector<ValueId> waited;
    for (const SceneEdge& edge : view.edges())
      if (edge.kind() == EdgeKind::kControl) waited.push_back(edge.value);
    ASSERT_EQ(waited.size(), 1u);
    EXPECT_EQ(ssa.values()[waited[0]].def, 1);
    std::vector<uint32_t> chips;
    for (const SceneChip& chip : view.chips())
      if (chip.kind() == ChipKind::kControl) chips.push_back(chip.value);
    EXPECT_EQ(chips, (std::vector<uint32_t>{waited[0], kNone}));
  }
}

TEST(Scene, DoesNotDependOnWhatWasShownBefore) {
  for (const char* model : {"resnet50_train", "inception_train"}) {
    Session session(StandardOps());
    const NetId net = OpenModel(session, Path(model));
    ViewOptions all, some;
    all.expand_all = true;
    some.budget = 40;
    BuildScene(session, net, all);
    const Scene later = BuildScene(session, net, some);
    Session fresh(StandardOps());
    EXPECT_EQ(BuildScene(fresh, OpenModel(fresh, Path(model)), some).words, later.words);
  }
}

TEST(Scene, StepByStepIsTheSame) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, Path("resnet50_train"));
  const Scene whole = BuildScene(session, net, {});
  std::unique_ptr<SceneJob> job = session.BuildScene(net, {});
  int steps = 0;
  uint64_t last = 0;
  while (!job->Step(1)) {
    ++steps;
    EXPECT_GE(job->progress().done, last);
    EXPECT_LE(job->progress().done, job->progress().total);
    last = job->progress().done;
  }
  EXPECT_GT(steps, 30);
  EXPECT_EQ(job->Take().value().words, whole.words);
}

// Rows above a scope that is opened stay where they are, rows below move down together, and what is inside
// other scopes does not move within them.
TEST(Scene, OpeningAScopeKeepsEverythingElseInPlace) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, Path("resnet50_train"));
  ViewOptions options;
  options.expanded = session.DefaultExpanded(net, LayoutMode::kMirror, 100000).value();
  const std::vector<ScopeId> scopes = session.ScopesOf(net, LayoutMode::kMirror, 60).value();
  ASSERT_FALSE(scopes.empty());
  const Scene open_scene = BuildScene(session, net, options);
  std::erase(*options.expanded, scopes[0]);
  const Scene closed_scene = BuildScene(session, net, options);
  const SceneView open = open_scene.view(), closed = closed_scene.view();
  const SceneNode* box = NodeOf(closed, 60);
  ASSERT_EQ(box->kind(), NodeKind::kScope);
  std::map<int, int> shifts;
  for (OpId op = 0; op < static_cast<OpId>(closed.header().num_ops); ++op) {
    const SceneNode* before = NodeOf(closed, op);
    const SceneNode* after = NodeOf(open, op);
    if (before->kind() != NodeKind::kOp) continue;
    if (before->y + before->h <= box->y) {
      EXPECT_EQ(after->y, before->y) << op;
    } else {
      ++shifts[after->y - before->y];
    }
    if (before->group == kNone) continue;
    const SceneNode& group_before = closed.groups()[before->group];
    const SceneNode& group_after = open.groups()[after->group];
    EXPECT_EQ(group_after.id, group_before.id);
    EXPECT_EQ(after->x - group_after.x, before->x - group_before.x) << op;
    EXPECT_EQ(after->y - group_after.y, before->y - group_before.y) << op;
  }
  EXPECT_EQ(shifts.size(), 1u);
}

TEST(Scene, GradientOpsStandOnTheRowOfTheirForwardOp) {
  for (const char* model : {"alexnet_train", "inception_train", "resnet50_train", "dlrm_26"}) {
    Session session(StandardOps());
    const NetId net = OpenModel(session, Path(model));
    const Scene scene = BuildScene(session, net, {});
    const SceneView view = scene.view();
    const Net& ir = *session.net(net);
    size_t level = 0, pairs = 0;
    for (OpId op = 0; op < static_cast<OpId>(ir.ops.size()); ++op) {
      const OpDetails details = session.DescribeOp(net, op).value();
      if (details.role != Role::kBackward || !ir.ops[op].is_gradient_op.value_or(false)) continue;
      ASSERT_NE(details.forward, kNoOp) << model << " op " << op;
      const SceneNode* gradient = NodeOf(view, op);
      const SceneNode* forward = NodeOf(view, details.forward);
      ++pairs;
      level += gradient->y + gradient->h / 2 == forward->y + forward->h / 2;
    }
    EXPECT_GT(pairs, 0u);
    EXPECT_EQ(level, pairs) << model;
  }
}

TEST(Scene, DataMayFlowToTheRight) {
  for (const char* model : {"inception_train", "resnet50_train_2gpu", "dlrm_26"}) {
    Session session(StandardOps());
    const NetId net = OpenModel(session, Path(model));
    ViewOptions options;
    options.horizontal = true;
    const Scene scene = BuildScene(session, net, options);
    const SceneView view = scene.view();
    EXPECT_TRUE(view.header().flags & kSceneHorizontal);
    EXPECT_EQ(FaultOfBoxes(view), "") << model;
    EXPECT_EQ(FaultOfEdges(view, *session.net(net), Ssa(*session.net(net))), "") << model;
    EXPECT_LT(NodeOf(view, 0)->x, NodeOf(view, 3)->x);
  }
}

TEST(Scene, BandsCanBeHidden) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, Path("resnet50_train"));
  ViewOptions options;
  options.bands = kShowForward;
  const Scene scene = BuildScene(session, net, options);
  const SceneView view = scene.view();
  ASSERT_EQ(view.bands().size(), 1u);
  for (const SceneNode& node : view.nodes()) EXPECT_EQ(node.role(), Role::kForward);
  EXPECT_GT(view.header().num_hidden, 0u);
  EXPECT_EQ(FaultOfBoxes(view), "");
}

TEST(Scene, ChipsFollowTheOptions) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, Path("alexnet_train"));
  const Scene scene = BuildScene(session, net, {});
  std::string chips;
  const SceneNode* conv = NodeOf(scene.view(), 0);
  for (uint32_t c = conv->first_chip; c < conv->first_chip + conv->num_chips; ++c)
    StrAppend(chips, scene.view().text(scene.view().chips()[c].text), " ");
  EXPECT_EQ(chips, "data conv1_w conv1_b ");
  ViewOptions options;
  options.show_params = false;
  EXPECT_TRUE(BuildScene(session, net, options).view().chips().empty());
}

TEST(Scene, NetsInsideOperatorsAreDrawnInTheirBoxes) {
  for (const bool horizontal : {false, true}) {
    Session session(StandardOps());
    std::unique_ptr<OpenJob> open = session.Open("loops.pbtxt", Bytes(std::string(kLoops)));
    Finish(*open);
    ASSERT_TRUE(open->Take().has_value());
    const NetId net = session.documents()[0].nets[0];
    ViewOptions options;
    options.horizontal = horizontal;
    const Scene closed = BuildScene(session, net, options);
    options.opened = NetsInside(session, net);  // loop_net, cond_net, and then_net inside loop_net
    const Scene scene = BuildScene(session, net, options);
    const SceneView view = scene.view();
    EXPECT_EQ(FaultOfBoxes(view), "");
    const std::vector<SceneNet> nets = session.NetsOfScene(net, options.opened).value();
    ASSERT_EQ(nets.size(), 4u);
    EXPECT_EQ(view.op_nodes().size(), 5u + 3 + 1 + 1);
    EXPECT_EQ(view.header().num_hidden, 0u);
    EXPECT_EQ(view.header().num_ops, 5u);
    // The body comes first, what is in it next; each is inside the box of its op.
    std::vector<std::string> places;
    for (const SceneNet& shown : nets)
      places.push_back(StrCat(session.DescribeNet(shown.net)->name, " ", static_cast<int>(shown.around), " ",
                              shown.op, " ", shown.first_op));
    EXPECT_EQ(places, (std::vector<std::string>{"search -1 -1 0", "body 0 3 5", "then 1 1 8", "cond 0 3 9"}));
    const SceneNode* add = NodeOf(view, 8);
    EXPECT_EQ(view.text(add->title), "Add");
    std::vector<uint32_t> around;
    for (uint32_t g = add->group; g != kNone; g = view.groups()[g].group)
      around.push_back(view.groups()[g].id);
    EXPECT_EQ(around,
              (std::vector<uint32_t>{6 | kFrameOfOp, 6 | kFrameOfOp, 3 | kFrameOfOp, 3 | kFrameOfOp}));
    // Ports bear the version around, and its number: Relu's "best" is read by Sub inside.
    const Ssa ssa(*session.net(net));
    const ValueId best = ssa.outputs(1)[0];
    std::vector<std::string> ports;
    size_t inside = 0;
    for (const SceneNode& node : view.nodes()) {
      if (node.kind() != NodeKind::kPort) continue;
      ports.emplace_back(view.text(node.title));
      // Where the net inside takes it on from the body, it is that one's first version.
      if (node.id == best) {
        EXPECT_TRUE(ports.back() == "best@2" || ports.back() == "best@0");
      }
    }
    for (const SceneEdge& edge : view.edges())
      for (uint32_t value : view.edge_values(edge)) inside += value == best;
    std::sort(ports.begin(), ports.end());
    EXPECT_EQ(ports, (std::vector<std::string>{"best", "best@0", "best@2", "best@3", "go@1", "go@1", "go@2",
                                               "go@2", "n@0", "step@1", "x@0"}));
    EXPECT_GE(inside, 2u);
    // The same again, whatever was shown in between; closed again it is what it was.
    EXPECT_EQ(BuildScene(session, net, options).words, scene.words);
    options.opened.clear();
    EXPECT_EQ(BuildScene(session, net, options).words, closed.words);
    // One of the nets alone, and one whose surroundings are closed.
    options.opened = {nets[3].net};
    EXPECT_EQ(BuildScene(session, net, options).view().op_nodes().size(), 6u);
    options.opened = {nets[2].net};
    EXPECT_EQ(BuildScene(session, net, options).words, closed.words);
  }
}

TEST(Scene, HitsWhatIsThere) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, Path("inception_train"));
  const Scene scene = BuildScene(session, net, {});
  const SceneView view = scene.view();
  for (uint32_t i = 0; i < view.nodes().size(); ++i) {
    const SceneNode& node = view.nodes()[i];
    const Hit hit = HitTest(view, node.x + 2, node.y + 2, 3);
    EXPECT_EQ(hit.kind, HitKind::kNode);
    EXPECT_EQ(hit.index, i);
  }
  const SceneChip& chip = view.chips()[0];
  EXPECT_EQ(HitTest(view, chip.x + 1, chip.y + 1, 3).kind, HitKind::kChip);
  const SceneNode& group = view.groups()[0];
  EXPECT_EQ(HitTest(view, group.x + 2, group.y + 2, 0).kind, HitKind::kGroup);
  EXPECT_EQ(HitTest(view, view.header().x - 1000, 0, 3).kind, HitKind::kNothing);
  // Down from the first op is the second.
  const uint32_t first = view.op_nodes()[0];
  EXPECT_EQ(NearestNode(view, first, Direction::kDown), view.op_nodes()[1]);
  EXPECT_EQ(NearestNode(view, view.op_nodes()[1], Direction::kUp), first);
}

TEST(Scene, DamagedBlocksDoNotOpen) {
  Session session(StandardOps());
  const Scene scene = BuildScene(session, OpenModel(session, Path("alexnet_train")), {});
  ASSERT_TRUE(SceneView::Open(scene.words).has_value());
  EXPECT_FALSE(SceneView::Open(std::span(scene.words).first(20)).has_value());
  EXPECT_FALSE(SceneView::Open(std::span(scene.words).first(scene.words.size() - 4)).has_value());
  // No flipped word may make the reader look outside: opened or not, reading is safe.
  for (size_t i = 0; i < scene.words.size(); i += 7) {
    std::vector<uint32_t> words = scene.words;
    words[i] ^= 0x80000000u;
    const std::optional<SceneView> view = SceneView::Open(words);
    if (!view) continue;
    size_t sum = 0;
    for (const SceneNode& node : view->nodes()) sum += view->text(node.title).size();
    for (const SceneEdge& edge : view->edges()) sum += view->edge_values(edge).size();
    std::vector<IndexRange> ranges;
    FindVisible(*view, SceneSection::kEdges, {0, 0, 500, 500}, ranges);
    for (const IndexRange& range : ranges) sum += range.last - range.first;
    EXPECT_GE(sum, 0u);
  }
}

}  // namespace
}  // namespace weft::test
