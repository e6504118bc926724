// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The session: documents and their ends, and every question but search.
#include "inspector/session.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "proto/codec.h"
#include "tests/inspector/scene_checks.h"
#include "tests/support/compact_net.h"
#include "tests/support/files.h"

namespace weft::test {
namespace {

Result<DocumentId> OpenBytes(Session& session, std::string name, std::string bytes) {
  std::unique_ptr<OpenJob> job = session.Open(std::move(name), Bytes(std::move(bytes)));
  Finish(*job);
  EXPECT_EQ(job->progress().done, job->progress().total);
  return job->Take();
}

TEST(Session, OpensWhatCaffe2Writes) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, "models/alexnet_train.pb");
  const NetInfo info = session.DescribeNet(net).value();
  EXPECT_EQ(info.name, "alexnet");
  EXPECT_EQ(info.num_ops, 43u);
  EXPECT_TRUE(info.has_gradients);
  EXPECT_EQ(session.documents()[0].format, "NetDef, binary");
  EXPECT_EQ(session.documents()[0].name, "models/alexnet_train.pb");
  EXPECT_GT(session.documents()[0].bytes, 1000u);

  const Result<DocumentId> text =
      OpenBytes(session, "t.pbtxt", "name: \"t\" op { type: \"Relu\" input: \"x\" output: \"y\" }");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(session.documents()[1].format, "NetDef, text");
  const Result<DocumentId> plan =
      OpenBytes(session, "p.pbtxt",
                "name: \"p\" network { name: \"a\" op { type: \"Relu\" } } network { name: \"b\" }");
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(session.documents()[2].nets.size(), 2u);
  EXPECT_EQ(session.nets().size(), 4u);
}

TEST(Session, BadFilesGiveAMessageAndNothingElse) {
  Session session(StandardOps());
  const std::string good = ReadFile(DataPath("models/alexnet_train.pb"));
  for (const std::string& bytes : {std::string("\x01\x02\x03\xff garbage"), good.substr(0, good.size() - 7),
                                   std::string("<html>no</html>"), std::string()}) {
    const Result<DocumentId> document = OpenBytes(session, "bad.pb", bytes);
    if (!document) {
      EXPECT_FALSE(document.error().message.empty());
    }
  }
  EXPECT_TRUE(OpenBytes(session, "good.pb", good).has_value());
}

TEST(Session, ClosedDocumentsAnswerNotFound) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, "models/alexnet_train.pb");
  session.Close(session.documents()[0].id);
  EXPECT_TRUE(session.documents().empty());
  EXPECT_TRUE(session.nets().empty());
  EXPECT_EQ(session.net(net), nullptr);
  EXPECT_EQ(session.DescribeOp(net, 0).error().code, ErrorCode::kNotFound);
  std::unique_ptr<SceneJob> job = session.BuildScene(net, {});
  Finish(*job);
  EXPECT_EQ(job->Take().error().message, "there is no net 0 in this session");
  EXPECT_EQ(session.DescribeOp(7, 0).error().message, "there is no net 7 in this session");
}

TEST(Session, EmptyAndTinyNetsHaveScenes) {
  Session session(StandardOps());
  for (const char* text :
       {"name empty", "Relu(x) -> y", "Relu(x) -> x", "Sum(x, x) -> y; Sum(y, y, y) -> y"}) {
    const NetId net = session.Add("tiny", testing::CompactNet(text));
    for (const bool all : {false, true}) {
      ViewOptions options;
      options.expand_all = all;
      const Scene scene = BuildScene(session, net, options);
      EXPECT_EQ(FaultOfBoxes(scene.view()), "") << text;
      EXPECT_EQ(scene.view().nodes().size(), session.net(net)->ops.size());
    }
  }
}

TEST(Session, PairsInitWithTrain) {
  Session session(StandardOps());
  const NetId other = OpenModel(session, "models/alexnet_train.pb");
  const NetId init = OpenModel(session, "models/resnet50_train_init.pb");
  const NetId train = OpenModel(session, "models/resnet50_train.pb");
  const std::vector<NetPair> pairs = session.Pairs();
  ASSERT_FALSE(pairs.empty());
  EXPECT_EQ(pairs[0].init, init);
  EXPECT_EQ(pairs[0].net, train);
  EXPECT_GT(pairs[0].matched, 400u);
  EXPECT_EQ(pairs[0].missing, 0u);
  for (const NetPair& pair : pairs) EXPECT_NE(pair.net, init);
  // What the init net fills is a parameter also where nothing trains it.
  const NetId alexnet_init = OpenModel(session, "models/alexnet_train_init.pb");
  EXPECT_FALSE(session.DescribeOp(other, 0).value().inputs[1].param);
  session.Pairs();
  EXPECT_TRUE(session.DescribeOp(other, 0).value().inputs[1].param);
  EXPECT_FALSE(session.DescribeOp(other, 0).value().inputs[0].param);  // data
  EXPECT_NE(alexnet_init, other);
}

TEST(Session, SomebodyMayChooseWhatFillsANet) {
  Session session(StandardOps());
  const NetId net = session.Add("net", testing::CompactNet("Mul(x, w) -> y; Add(y, b) -> z"));
  const NetId whole = session.Add("whole", testing::CompactNet("ConstantFill() -> w; ConstantFill() -> b"));
  const NetId part = session.Add("part", testing::CompactNet("ConstantFill() -> w"));
  const auto filler = [&]() {
    const std::vector<NetPair> pairs = session.Pairs();
    return pairs.empty() ? kNone : pairs[0].init;
  };
  const auto is_param = [&](OpId op) { return session.DescribeOp(net, op).value().inputs[1].param; };
  EXPECT_EQ(filler(), whole);
  EXPECT_FALSE(session.Pairs()[0].chosen);
  EXPECT_TRUE(is_param(1));
  ASSERT_TRUE(session.ChooseInit(net, part));
  ASSERT_EQ(session.Pairs().size(), 1u);
  EXPECT_EQ(filler(), part);
  EXPECT_TRUE(session.Pairs()[0].chosen);
  EXPECT_EQ(session.Pairs()[0].matched, 1u);
  EXPECT_TRUE(is_param(0));
  EXPECT_FALSE(is_param(1));
  ASSERT_TRUE(session.ChooseInit(net, kNone));
  EXPECT_EQ(filler(), kNone);
  EXPECT_FALSE(is_param(0));
  ASSERT_TRUE(session.ChooseInit(net, part));
  session.Close(session.DescribeNet(part)->document);  // then the contents say it again
  EXPECT_EQ(filler(), whole);
  ASSERT_TRUE(session.ChooseInit(net, std::nullopt));
  EXPECT_EQ(filler(), whole);
  EXPECT_FALSE(session.ChooseInit(net, 99));
  EXPECT_FALSE(session.ChooseInit(99, net));
}

TEST(Session, WhatUpdatesParametersFillsNone) {
  Session session(StandardOps());
  const NetId init = session.Add("init", testing::CompactNet("ConstantFill() -> w"));
  session.Add("train", testing::CompactNet("Mul(x, w) -> y; Sub(w, y) -> w"));
  session.Add("part", testing::CompactNet("Mul(x, w) -> y"));
  const std::vector<NetPair> pairs = session.Pairs();
  ASSERT_EQ(pairs.size(), 2u);
  for (const NetPair& pair : pairs) EXPECT_EQ(pair.init, init);
}

TEST(Session, DescribesAnOp) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, "models/resnet50_train_2gpu.pb");
  const OpDetails conv = session.DescribeOp(net, 0).value();
  EXPECT_EQ(conv.type, "Conv");
  EXPECT_TRUE(conv.known);
  EXPECT_EQ(conv.doc, StandardOps().Find("Conv")->doc);
  EXPECT_EQ(conv.engine, "CUDNN");
  EXPECT_EQ(conv.device, "cuda:0");
  EXPECT_EQ(conv.role, Role::kForward);
  EXPECT_EQ(conv.is_gradient_op, std::nullopt);
  ASSERT_EQ(conv.inputs.size(), 3u);
  EXPECT_EQ(conv.inputs[1].name, "gpu_0/conv1_w");
  EXPECT_EQ(conv.inputs[1].label, "gpu_0/conv1_w@0");
  EXPECT_TRUE(conv.inputs[1].param);
  EXPECT_TRUE(conv.inputs[1].external);
  EXPECT_FALSE(conv.inputs[0].param);
  EXPECT_EQ(conv.outputs[0].label, "gpu_0/conv1@1");
  EXPECT_EQ(conv.outputs[0].readers[0], 1);
  // Its parameter is overwritten by its update.
  EXPECT_EQ(session.DescribeOp(net, conv.inputs[1].overwritten_by).value().type, "MomentumSGDUpdate");

  const ArgInfo* kernel = nullptr;
  size_t defaults = 0;
  for (const ArgInfo& arg : conv.args) {
    if (arg.name == "kernel") kernel = &arg;
    defaults += !arg.given;
  }
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->value, "7");
  EXPECT_EQ(kernel->type, "int");
  EXPECT_TRUE(kernel->declared);
  EXPECT_GT(defaults, 0u);

  EXPECT_EQ(conv.replicas, (std::vector<OpId>{176}));
  ASSERT_FALSE(conv.served_by.empty());
  const OpDetails gradient = session.DescribeOp(net, conv.served_by[0]).value();
  EXPECT_EQ(gradient.type, "ConvGradient");
  EXPECT_EQ(gradient.forward, 0);
  EXPECT_EQ(gradient.is_gradient_op, true);

  const OpDetails relu = session.DescribeOp(net, 2).value();
  EXPECT_TRUE(relu.inputs[0].in_place);
  EXPECT_TRUE(relu.outputs[0].in_place);
  EXPECT_EQ(relu.inputs[0].label, "gpu_0/conv1_spatbn_relu@1");
  EXPECT_EQ(relu.outputs[0].label, "gpu_0/conv1_spatbn_relu@2");
  EXPECT_EQ(relu.inputs[0].overwritten_by, 2);
  EXPECT_EQ(session.DescribeOp(net, 5).value().scopes.size(), 2u);  // gpu_0, comp_0
}

TEST(Session, DescribesWhatItDoesNotKnow) {
  Session session(StandardOps());
  Net net = testing::CompactNet("Convv(x, w) -> y !t");
  net.ops[0].args = WithArg(net.ops[0].args, MakeArg(net.Intern("kernel"), 3.5f));
  const NetId id = session.Add("odd", net);
  const OpDetails op = session.DescribeOp(id, 0).value();
  EXPECT_FALSE(op.known);
  ASSERT_FALSE(op.nearest.empty());
  EXPECT_EQ(op.nearest[0], "Conv");
  EXPECT_EQ(op.control_inputs, (std::vector<std::string>{"t"}));
  EXPECT_EQ(op.args[0].type, "float");
  EXPECT_EQ(op.args[0].value, "3.5");
  EXPECT_FALSE(op.findings.empty());
  EXPECT_EQ(session.Findings(id).value()[op.findings[0]].op, 0);
  const Scene scene = BuildScene(session, id, {});
  EXPECT_TRUE(scene.view().nodes()[0].flags() & kNodeUnknown);
  EXPECT_EQ(scene.view().chips().back().kind(), ChipKind::kControl);
  EXPECT_EQ(scene.view().text(scene.view().chips().back().text), "t");
  EXPECT_NE(scene.view().nodes()[0].subtitle, 0u);
  ViewOptions words;
  words.show_names = false;
  words.show_arguments = true;
  const Scene worded = BuildScene(session, id, words);
  EXPECT_EQ(worded.view().nodes()[0].subtitle, 0u);
  EXPECT_EQ(worded.view().chips()[0].kind(), ChipKind::kArgument);
  EXPECT_EQ(worded.view().text(worded.view().chips()[0].text), "kernel 3.5");

  net.ops[0].type = net.Intern("Conv");
  const ArgInfo kernel = session.DescribeOp(session.Add("odd", net), 0).value().args[0];
  EXPECT_TRUE(kernel.mismatch);
  EXPECT_EQ(kernel.type, "float");
}

TEST(Session, ABlobsTimeline) {
  Session session(StandardOps());
  const NetId net =
      session.Add("t", testing::CompactNet("in x; out y; Relu(x) -> y; Tanh(y) -> y; Sum(y, x, y) -> z; "
                                           "Copy(z) -> y; Relu(y) -> w"));
  const BlobId y = session.FindBlob(net, "y").value();
  const BlobDetails blob = session.DescribeBlob(net, y).value();
  EXPECT_TRUE(blob.external_output);
  EXPECT_FALSE(blob.external_input);
  ASSERT_EQ(blob.versions.size(), 3u);
  EXPECT_EQ(blob.versions[0].version, 1u);
  EXPECT_EQ(blob.versions[0].writer, 0);
  EXPECT_EQ(blob.versions[0].readers, (std::vector<OpId>{1}));
  EXPECT_EQ(blob.versions[1].writer, 1);
  EXPECT_EQ(blob.versions[1].readers, (std::vector<OpId>{2}));  // once, although read twice
  EXPECT_EQ(blob.versions[2].last_reader, 4);
  EXPECT_EQ(session.DescribeBlob(net, y, 1, 1).value().versions[0].version, 2u);
  EXPECT_EQ(session.DescribeBlob(net, y, 1, 1).value().num_versions, 3u);
  EXPECT_EQ(session.BlobOfValue(net, blob.versions[1].value).value(), y);
  const BlobDetails x = session.DescribeBlob(net, session.FindBlob(net, "x").value()).value();
  EXPECT_EQ(x.versions[0].writer, kNoOp);
  EXPECT_EQ(session.FindBlob(net, "nobody").error().message, "no op reads or writes a blob 'nobody'");
  EXPECT_FALSE(session.DescribeBlob(net, 99).has_value());
  EXPECT_FALSE(session.BlobOfValue(net, 99).has_value());
}

TEST(Session, WalksTheGraph) {
  Session session(StandardOps());
  const NetId net = session.Add(
      "t", testing::CompactNet("Relu(x) -> a; Relu(a) -> b; Tanh(a) -> c; Sum(b, c, a) -> d; Copy(d) -> e"));
  using Ops = std::vector<OpId>;
  EXPECT_EQ(session.Neighbours(net, 3, Direction::kUp).value(), (Ops{1, 2, 0}));
  EXPECT_EQ(session.Neighbours(net, 0, Direction::kDown).value(), (Ops{1, 2, 3}));
  EXPECT_EQ(session.Neighbours(net, 0, Direction::kUp).value(), Ops{});
  EXPECT_EQ(session.Neighbours(net, 0, Direction::kRight).value(), Ops{1});
  EXPECT_EQ(session.Neighbours(net, 0, Direction::kLeft).value(), Ops{});
  EXPECT_EQ(session.Cone(net, 4, Direction::kUp, 2).value(), (Ops{0, 1, 2, 3}));
  EXPECT_EQ(session.Cone(net, 4, Direction::kUp, 1).value(), (Ops{3}));
  EXPECT_EQ(session.Cone(net, 0, Direction::kDown, 100).value(), (Ops{1, 2, 3, 4}));
  EXPECT_FALSE(session.Neighbours(net, 5, Direction::kUp).has_value());
}

TEST(Session, ListsTheNetAsAProgram) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, "models/alexnet_train.pb");
  const uint32_t lines = session.NumLines(net).value();
  const std::vector<ListingLine> all = session.Listing(net, 0, lines + 5).value();
  ASSERT_EQ(all.size(), lines);
  EXPECT_EQ(all[0].text, "net alexnet (43 ops)");
  for (OpId op = 0; op < 43; ++op) EXPECT_EQ(all[session.LineOf(net, op).value()].op, op);
  const ListingLine& relu = all[session.LineOf(net, 1).value()];
  EXPECT_TRUE(relu.text.starts_with("Relu(conv1")) << relu.text;
  bool linked = false;
  uint32_t at = 0;
  for (const ListingPiece& piece : relu.pieces) {
    EXPECT_EQ(piece.begin, at);
    at = piece.end;
    linked |= piece.value != kNoValue;
  }
  EXPECT_EQ(at, relu.text.size());
  EXPECT_TRUE(linked);
  EXPECT_EQ(session.Listing(net, 10, 2).value()[0].text, all[10].text);
}

TEST(Session, EntersNestedNets) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, "models/char_rnn_2.pb");
  const OpDetails rnn = session.DescribeOp(net, 1).value();
  std::vector<NetId> nested;
  for (const ArgInfo& arg : rnn.args) nested.insert(nested.end(), arg.nets.begin(), arg.nets.end());
  ASSERT_FALSE(nested.empty());
  EXPECT_EQ(session.NestedNets(net, 1).value(), nested);  // the same ids again
  const NetInfo info = session.DescribeNet(nested[0]).value();
  EXPECT_EQ(info.parent, net);
  EXPECT_EQ(info.parent_op, 1);
  EXPECT_FALSE(info.parent_arg.empty());
  EXPECT_GT(info.num_ops, 0u);
  const Scene scene = BuildScene(session, nested[0], {});
  EXPECT_EQ(FaultOfBoxes(scene.view()), "");
  const Scene outer = BuildScene(session, net, {});
  EXPECT_TRUE(NodeOf(outer.view(), 1)->flags() & kNodeNested);
}

TEST(Session, ScopesAsATree) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, "models/resnet50_train.pb");
  const LayoutMode mode = LayoutMode::kAuto;
  const ScopeInfo root = session.DescribeScope(net, mode, kRootScope).value();
  EXPECT_EQ(root.num_ops, 567u);
  EXPECT_EQ(root.num_scopes, 16u);
  const ScopeChildren children = session.Children(net, mode, kRootScope).value();
  ASSERT_EQ(children.scopes.size(), 16u);
  EXPECT_EQ(children.scopes[0].label, "comp_0");
  EXPECT_EQ(children.scopes[0].parent, kRootScope);
  size_t ops = children.ops.size();
  for (const ScopeInfo& scope : children.scopes) ops += scope.num_ops;
  EXPECT_EQ(ops, 567u);
  EXPECT_EQ(session.ScopesOf(net, mode, 5).value(), (std::vector<ScopeId>{children.scopes[0].id}));

  const ScopeId group = session.Group(net, mode, std::vector<OpId>{0, 1, 2, 3}, "stem").value();
  EXPECT_EQ(session.DescribeScope(net, mode, group).value().label, "stem");
  ViewOptions options;
  options.budget = 500;
  const Scene scene = BuildScene(session, net, options);
  EXPECT_EQ(NodeOf(scene.view(), 2)->kind(), NodeKind::kScope);
  EXPECT_EQ(FaultOfBoxes(scene.view()), "");
  EXPECT_TRUE(session.Ungroup(net, mode, group).has_value());
  EXPECT_FALSE(session.DescribeScope(net, mode, group).has_value());
  EXPECT_FALSE(session.Ungroup(net, mode, children.scopes[0].id).has_value());
  EXPECT_FALSE(session.Group(net, mode, {}, "").has_value());
}

TEST(Session, WeightsAreReadWhenTheirOpIsLookedAt) {
  Net init;
  Op& op = init.ops.emplace_back();
  op.type = init.Intern("GivenTensorFill");
  op.outputs.push_back(init.Intern("w"));
  op.args = ArgList({MakeArg(init.Intern("values"), std::vector<float>(100000, 0.5f))});
  const std::string bytes = SerializeNet(init);
  uint64_t read = 0;
  Session session(StandardOps());
  const auto job = session.Open("init.pb", FileSource{bytes.size(), [&](uint64_t offset, uint64_t size) {
                                                        read += size;
                                                        return bytes.substr(offset, size);
                                                      }});
  Finish(*job);
  const DocumentId document = job->Take().value();
  const NetId net = session.documents()[document].nets[0];
  EXPECT_EQ(session.documents()[document].bytes, bytes.size());
  const uint64_t opened = read;
  BuildScene(session, net, {});
  EXPECT_EQ(session.Listing(net, 0, 100).value().back().text.find("0.5"), std::string::npos);
  EXPECT_EQ(read, opened);
  EXPECT_EQ(session.DescribeOp(net, 0).value().args[0].value, "[0.5, 0.5, 0.5, 0.5, ... 100000 floats]");
  EXPECT_GT(read, opened + 400000);
  EXPECT_EQ(session.OpText(net, 0).value(), OpToText(*init.symbols, init.ops[0]));
}

TEST(Session, OriginsMustFit) {
  Session session(StandardOps());
  const NetId net = OpenModel(session, "models/alexnet_train.pb");
  EXPECT_EQ(session.SetOrigins(net, {1, 2}).error().message, "origins of 2 ops for a net of 43 ops");
  std::vector<OpId> origins(43, kNoOp);
  origins[42] = 3;
  EXPECT_TRUE(session.SetOrigins(net, origins).has_value());
  EXPECT_EQ(session.DescribeOp(net, 42).value().forward, 3);
}

}  // namespace
}  // namespace weft::test
