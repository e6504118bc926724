// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is read from a net before anything is laid out: roles and pairs, device columns and replicas, scopes.
#include <gtest/gtest.h>

#include <set>

#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "core/roles/origins.h"
#include "inspector/build/net_model.h"
#include "tests/inspector/scene_checks.h"
#include "tests/support/compact_net.h"
#include "tests/support/generate_nets.h"

namespace weft::test {
namespace {

std::unique_ptr<NetModel> Model(const Net& net) {
  return std::make_unique<NetModel>(std::make_shared<const Net>(net), StandardOps());
}
std::unique_ptr<NetModel> ModelOf(const std::string& name) {
  Session session(StandardOps());
  return Model(*session.net(OpenModel(session, "models/" + name + ".pb")));
}
std::string_view TypeOf(NetModel& model, OpId op) { return model.net().Str(model.net().ops[op].type); }

TEST(Roles, GradientOpsFindTheirForwardOp) {
  for (const char* name : {"alexnet_train", "inception_train", "resnet50_train", "resnet50_train_2gpu",
                           "char_rnn_2", "dlrm_26", "vgga_train"}) {
    const std::unique_ptr<NetModel> model = ModelOf(name);
    const Roles& roles = model->roles();
    std::set<OpId> paired;
    for (OpId i = 0; i < static_cast<OpId>(model->net().ops.size()); ++i) {
      const std::string_view type = TypeOf(*model, i);
      if (!type.ends_with("Gradient")) continue;
      EXPECT_EQ(roles.role[i], Role::kBackward);
      std::string_view forward = TypeOf(*model, roles.anchor[i]);
      if (forward == "SparseLengthsSum") forward = "SparseLengthsIndicesInGradientSum";
      EXPECT_EQ(StrCat(forward, "Gradient"), type) << name << " op " << i;
      EXPECT_TRUE(paired.insert(roles.anchor[i]).second) << name << " op " << i << " shares a forward op";
    }
  }
}

// Planning again tells who made each gradient op; names alone come to the same pairs where they are clear.
TEST(Roles, PlannedAgainAndByNames) {
  for (const char* name : {"alexnet_train", "inception_train", "resnet50_train", "resnet50_train_2gpu",
                           "dlrm_26", "vgga_train"}) {
    const std::unique_ptr<NetModel> model = ModelOf(name);
    const Net& net = model->net();
    const std::vector<OpId> origins = FindOrigins(net, StandardOps());
    ASSERT_EQ(origins.size(), net.ops.size()) << name;
    for (OpId i = 0; i < static_cast<OpId>(net.ops.size()); ++i) {
      const bool gradient = net.ops[i].is_gradient_op.value_or(false) && TypeOf(*model, i) != "Sum";
      EXPECT_TRUE(!gradient || origins[i] != kNoOp || TypeOf(*model, i) == "ConstantFill")
          << name << " op " << i << " " << TypeOf(*model, i);
    }
    const Roles planned = model->roles();
    model->SetOrigins(std::vector<OpId>(net.ops.size(), kNoOp));
    const Roles& named = model->roles();
    for (OpId i = 0; i < static_cast<OpId>(net.ops.size()); ++i)
      EXPECT_EQ(planned.anchor[i], named.anchor[i]) << name << " op " << i << " " << TypeOf(*model, i);
    EXPECT_EQ(planned.is_gradient_of, named.is_gradient_of) << name;
  }
}

TEST(Roles, EverythingElseOfATrainingNet) {
  const std::unique_ptr<NetModel> model = ModelOf("resnet50_train_2gpu");
  const Roles& roles = model->roles();
  const Ssa& ssa = model->ssa();
  const Net& net = model->net();
  for (OpId i = 0; i < static_cast<OpId>(net.ops.size()); ++i) {
    const std::string_view type = TypeOf(*model, i);
    const OpId anchor = roles.anchor[i];
    if (i < 352) {
      EXPECT_EQ(roles.role[i], Role::kForward) << i;
      EXPECT_EQ(anchor, i);
      continue;
    }
    if (type == "Sum") {  // on the row of the producer of the blob whose gradient it is
      EXPECT_EQ(roles.role[i], Role::kBackward) << i;
      const std::string sum(net.Str(net.ops[i].outputs[0]));
      EXPECT_EQ(sum, StrCat(net.Str(net.ops[anchor].outputs[0]), "_grad"));
      EXPECT_FALSE(roles.is_gradient_of[i]);
    } else if (type.starts_with("NCCL")) {
      EXPECT_EQ(roles.role[i], Role::kCollective) << i;
      EXPECT_LT(anchor, 176) << i;             // with the first column
    } else if (type == "MomentumSGDUpdate") {  // on the row of the parameter's first reader
      EXPECT_EQ(roles.role[i], Role::kUpdate) << i;
      const ValueId param = ssa.inputs(i)[3];
      EXPECT_EQ(ssa.values()[param].version, 0u);
      EXPECT_EQ(anchor, ssa.uses(param)[0]);
      EXPECT_EQ(roles.trains[i], ssa.values()[param].blob);
    } else if (type == "AtomicIter" || type == "LearningRate") {
      EXPECT_EQ(roles.role[i], Role::kUpdate) << i;
    } else {
      EXPECT_EQ(roles.role[i], Role::kBackward) << i << " " << type;
    }
  }
}

TEST(Roles, ThePlannersAccountGoesFirst) {
  const Net net = testing::CompactNet(
      "in x; Relu(x) -> y; Relu(y) -> z; ConstantFill(z) -> z_grad; ReluGradient(z, z_grad) -> y_grad; "
      "ReluGradient(y, y_grad) -> x_grad");
  std::unique_ptr<NetModel> model = Model(net);
  EXPECT_EQ(model->roles().anchor[3], 1);
  EXPECT_EQ(model->roles().anchor[2], 1);
  model->SetOrigins({kNoOp, kNoOp, kNoOp, 0, 1});
  EXPECT_EQ(model->roles().anchor[3], 0);
  EXPECT_EQ(model->roles().anchor[4], 1);
}

TEST(Roles, InPlaceOpsPairInReverse) {
  const std::unique_ptr<NetModel> model = Model(testing::CompactNet(
      "in x; Tanh(x) -> x; Tanh(x) -> x; Copy(x) -> loss; ConstantFill(loss) -> loss_grad; "
      "Copy(loss_grad) -> x_grad; TanhGradient(x, x_grad) -> x_grad; TanhGradient(x, x_grad) -> x_grad"));
  EXPECT_EQ(model->roles().anchor[4], 2);
  EXPECT_EQ(model->roles().anchor[5], 1);
}

TEST(Columns, NamesAndReplicas) {
  const std::unique_ptr<NetModel> model = ModelOf("resnet50_train_8gpu");
  ASSERT_EQ(model->columns().names.size(), 8u);
  EXPECT_EQ(model->columns().names[3], "gpu_3");
  Arrangement& a = model->arrangement(LayoutMode::kAuto);
  for (uint8_t drawn : a.drawn_column()) EXPECT_EQ(drawn, 0);
  for (OpId op : a.ReplicasOf(0)) EXPECT_EQ(TypeOf(*model, op), "Conv");
  EXPECT_EQ(a.ReplicasOf(0).size(), 7u);
}

TEST(Columns, AReplicaThatDiffersIsShownAndMarked) {
  Session session(StandardOps());
  Net net = *session.net(OpenModel(session, "models/resnet50_train_8gpu.pb"));
  const std::unique_ptr<NetModel> before = Model(net);
  OpId changed = kNoOp;
  for (OpId i = 0; i < static_cast<OpId>(net.ops.size()) && changed == kNoOp; ++i)
    if (before->columns().of_op[i] == 5 && net.Str(net.ops[i].type) == "MaxPool") changed = i;
  net.ops[changed].type = net.Intern("AveragePool");
  const std::unique_ptr<NetModel> model = Model(net);
  Arrangement& a = model->arrangement(LayoutMode::kAuto);
  for (uint8_t c = 0; c < 8; ++c) EXPECT_EQ(a.drawn_column()[c], c == 5 ? 5 : 0);
  size_t marked = 0;
  for (OpId i = 0; i < static_cast<OpId>(net.ops.size()); ++i) marked += a.differs()[i];
  EXPECT_EQ(marked, 8u);  // the changed op, and in seven columns the one it no longer equals
  EXPECT_EQ(a.differs()[changed], 1);

  const NetId id = session.Add("changed", net);
  const Scene scene = BuildScene(session, id, {});
  const SceneView view = scene.view();
  EXPECT_EQ(FaultOfBoxes(view), "");
  EXPECT_TRUE(NodeOf(view, changed)->flags() & kNodeDiffers);
  std::string titles;
  for (const SceneBand& band : view.bands())
    if (band.role == 0) StrAppend(titles, view.text(band.title), "; ");
  EXPECT_EQ(titles, "gpu_0 \u00d77 \u00b7 Forward; gpu_5 \u00b7 Forward; ");
}

TEST(Columns, UnfoldedReplicasStandSideBySide) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, "models/resnet50_train_2gpu.pb");
  ViewOptions options;
  const uint32_t fold_flags = kSceneFoldable | kSceneFolded;
  EXPECT_EQ(BuildScene(session, net, options).view().header().flags & fold_flags, fold_flags);
  options.fold_replicas = false;
  const Scene scene = BuildScene(session, net, options);
  const SceneView view = scene.view();
  EXPECT_EQ(view.header().flags & fold_flags, static_cast<uint32_t>(kSceneFoldable));
  EXPECT_EQ(FaultOfBoxes(view), "");
  EXPECT_EQ(NodeOf(view, 0)->y, NodeOf(view, 176)->y);
  EXPECT_LT(NodeOf(view, 0)->x, NodeOf(view, 176)->x);
  EXPECT_EQ(NodeOf(view, 175)->y, NodeOf(view, 351)->y);
  uint32_t collectives = 0;
  for (const SceneBand& band : view.bands())
    collectives += band.role == static_cast<uint32_t>(Role::kCollective);
  EXPECT_EQ(collectives, 1u);
}

std::string ScopeLabels(const ScopeTree& tree, ScopeId scope) {
  std::string labels;
  for (ScopeChild child : tree.scopes[scope].children)
    if (child.is_scope()) StrAppend(labels, labels.empty() ? "" : " ", tree.scopes[child.scope()].label);
  return labels;
}

TEST(Scopes, FromCommonPrefixes) {
  const std::unique_ptr<NetModel> model = ModelOf("resnet50_train");
  const ScopeTree& tree = model->arrangement(LayoutMode::kMirror).tree();
  EXPECT_EQ(
      ScopeLabels(tree, 0),
      "comp_0 comp_1 comp_2 comp_3 comp_4 comp_5 comp_6 comp_7 comp_8 comp_9 comp_10 comp_11 comp_12 comp_13 "
      "comp_14 comp_15");
  // The shortcut of a block lies inside it although it is called otherwise.
  Arrangement& a = model->arrangement(LayoutMode::kMirror);
  EXPECT_EQ(a.ScopesOf(12), a.ScopesOf(11));
  EXPECT_EQ(a.repeats(a.ScopesOf(20)[0]), 12u);  // 16 blocks, 4 of which have a shortcut
}

TEST(Scopes, FromPathsWithSingleOnesLeftOut) {
  const std::unique_ptr<NetModel> model = Model(
      testing::CompactNet("Relu(x) -> a/b/c; Relu(a/b/c) -> a/b/d; Relu(a/b/d) -> a/e; Relu(a/e) -> lone/f; "
                          "Relu(lone/f) -> p/q/r; Relu(p/q/r) -> p/q/s; Relu(p/q/s) -> out"));
  const ScopeTree& tree = model->arrangement(LayoutMode::kFlow).tree();
  EXPECT_EQ(ScopeLabels(tree, 0), "a p/q");
  EXPECT_EQ(ScopeLabels(tree, model->arrangement(LayoutMode::kFlow).ScopesOf(2)[0]), "b");
}

TEST(Scopes, LongSequencesAreCutAndEveryOpIsInOne) {
  const std::unique_ptr<NetModel> model = Model(testing::ChainNet(50000));
  const ScopeTree& tree = model->arrangement(LayoutMode::kFlow).tree();
  EXPECT_EQ(tree.order.size(), model->net().ops.size());
  for (const ScopeRecord& scope : tree.scopes) EXPECT_LE(scope.children.size(), 400u);
  EXPECT_EQ(tree.scopes[0].children.size(), 5u);
  EXPECT_EQ(tree.scopes[tree.scopes[0].children[0].scope()].label, "ops 0-9999");
}

TEST(Scopes, GroupsOfTheUser) {
  const std::unique_ptr<NetModel> model = ModelOf("resnet50_train");
  Arrangement& a = model->arrangement(LayoutMode::kMirror);
  const std::vector<ScopeId> before = a.ScopesOf(20);
  const size_t items = a.tree().order.size();
  std::vector<OpId> chosen = {0, 1, 2};
  for (OpId op = 4; op <= 15; ++op) chosen.push_back(op);  // all of comp_0
  chosen.push_back(20);                                    // one of comp_1
  const ScopeId group = a.Group(chosen, "mine");
  EXPECT_EQ(a.ScopesOf(0), (std::vector<ScopeId>{group}));
  EXPECT_EQ(a.ScopesOf(20), (std::vector<ScopeId>{group}));
  EXPECT_EQ(a.ScopesOf(4).size(), 2u);  // comp_0 moved whole
  EXPECT_EQ(a.ScopesOf(21), before);
  EXPECT_EQ(a.tree().order.size(), items);
  EXPECT_FALSE(a.Ungroup(before[0]));
  EXPECT_TRUE(a.Ungroup(group));
  EXPECT_TRUE(a.ScopesOf(0).empty());
}

}  // namespace
}  // namespace weft::test
