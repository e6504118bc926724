// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and costs of whole nets: those of tests/data/models, and real files where WEFT_CORPUS names a folder
// of them.
#include "core/pass/shapes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/str.h"
#include "core/pass/cost.h"
#include "proto/document.h"
#include "tests/support/compact_net.h"
#include "tests/support/files.h"
#include "tests/support/golden.h"
#include "tests/support/model_inputs.h"

namespace weft::test {
namespace {

using testing::CompactNet;

std::string ShapeOf(const Net& net, const NetShapes& shapes, const ShapeTable& table, std::string_view blob) {
  const BlobId id = shapes.ssa.FindBlob(net.symbols->Find(blob));
  return id == kNoBlob ? "no such blob" : table.Text(shapes.values[shapes.ssa.latest(id)]);
}

// Parameters of the net and its optimizer, at their first use.
int64_t ParametersOf(std::string_view model) {
  return model == "alexnet_train"     ? 61100840
         : model == "vgga_train"      ? 132863336
         : model == "overfeat_train"  ? 145920872
         : model == "inception_train" ? 6998552
                                      : 0;
}

TEST(Shapes, OfModelsAreWhole) {
  for (const ModelInputs& model : AllModelInputs()) {
    SCOPED_TRACE(std::string(model.model));
    const Net net = NetFromFile(StrCat("models/", model.model, ".pb"));
    ShapeTable table;
    std::vector<GivenBlob> given;
    std::vector<Symbol> params;
    for (const std::string& input : model.inputs) {
      Result<GivenBlob> blob = ParseGivenBlob(input, *net.symbols, table);
      ASSERT_TRUE(blob) << blob.error().message;
      given.push_back(*blob);
    }
    const Net init = NetFromFile(StrCat("models/", model.model, "_init.pb"), net.symbols);
    const NetShapes filled = InferShapes(init, given, table);
    EXPECT_TRUE(filled.whole());
    EXPECT_TRUE(filled.findings.empty());
    for (GivenBlob& blob : FinalShapes(filled)) {
      params.push_back(blob.blob);
      given.push_back(std::move(blob));
    }
    const NetShapes shapes = InferShapes(net, given, table);
    EXPECT_TRUE(shapes.whole());
    for (const Symbol blob : shapes.missing_inputs) ADD_FAILURE() << "missing " << net.Str(blob);
    for (const SilentOp& op : shapes.silent_ops)
      ADD_FAILURE() << op.path << " " << op.op << ": " << op.reason;
    for (const Diagnostic& finding : shapes.findings) ADD_FAILURE() << finding.message;
    // A gradient has the shape of what it is the gradient of.
    int gradients = 0;
    for (const Symbol param : params) {
      const Symbol gradient = net.symbols->Find(StrCat(net.Str(param), "_grad"));
      const BlobId id = gradient ? shapes.ssa.FindBlob(gradient) : kNoBlob;
      if (id == kNoBlob) continue;
      ++gradients;
      EXPECT_EQ(ShapeOf(net, shapes, table, net.Str(gradient)), ShapeOf(net, shapes, table, net.Str(param)));
    }
    EXPECT_GT(gradients, 0);
    const NetCost cost = CostOf(net, shapes, params, table);
    EXPECT_EQ(cost.total.unknown, 0u);
    EXPECT_FALSE(cost.total.cost.flops.unknown());
    EXPECT_FALSE(cost.live.most.unknown());
    if (ParametersOf(model.model) > 0) {
      EXPECT_EQ(cost.total.parameters.code, ParametersOf(model.model));
    }
    std::puts(StrCat(model.model, ": ", shapes.values.size(), " values whole, ", gradients,
                     " gradients like their parameters, ", table.SumText(cost.total.cost.flops), " flop, ",
                     table.SumText(cost.live.most), " bytes live")
                  .c_str());
  }
}

TEST(Shapes, ConvolutionsCountMultiplyAndAdd) {
  const Net net = NetFromText(R"(
      op { input: "x" input: "w" input: "b" output: "y" type: "Conv"
           arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } }
      external_input: "x" external_input: "w" external_input: "b" external_output: "y")");
  ShapeTable table;
  std::vector<GivenBlob> given;
  for (const char* text : {"x=2,8,10,10", "w=4,8,3,3", "b=4"})
    given.push_back(*ParseGivenBlob(text, *net.symbols, table));
  const NetShapes shapes = InferShapes(net, given, table);
  EXPECT_EQ(ShapeOf(net, shapes, table, "y"), "float [2, 4, 10, 10]");
  const Symbol params[] = {net.symbols->Find("w"), net.symbols->Find("b")};
  const NetCost cost = CostOf(net, shapes, params, table);
  EXPECT_EQ(cost.total.cost.flops.code, 2 * 800 * 72);
  EXPECT_EQ(cost.total.cost.read.code, 4 * (1600 + 288 + 4));
  EXPECT_EQ(cost.total.cost.written.code, 4 * 800);
  EXPECT_EQ(cost.total.parameters.code, 292);
  EXPECT_EQ(cost.live.most.code, 4 * (1600 + 288 + 4 + 800));
}

TEST(Shapes, ABlobReadTwiceIsReadOnce) {
  Net net;
  Op sum;
  sum.type = net.Intern("Sum");
  for (int i = 0; i < 200000; ++i) sum.inputs.push_back(net.Intern(StrCat("x", i % 150000)));
  sum.outputs.push_back(net.Intern("y"));
  net.ops.push_back(std::move(sum));
  for (int i = 0; i < 150000; ++i) net.external_inputs.push_back(net.Intern(StrCat("x", i)));
  ShapeTable table;
  std::vector<GivenBlob> given;
  for (const Symbol blob : net.external_inputs)
    given.push_back({blob, TensorInfo::Of(DataType::kFloat, DimList{Dim{2}})});
  const NetShapes shapes = InferShapes(net, given, table);
  EXPECT_EQ(OpCosts(shapes, table)[0].read.code, 150000 * 8);
}

TEST(Shapes, ValuesDieAfterTheirLastReader) {
  // a dies before c is made; Relu works in place.
  const Net net = CompactNet("in x; Sigmoid(x) -> a; Relu(a) -> a; Tanh(a) -> b; Tanh(b) -> c; out c");
  ShapeTable table;
  std::vector<GivenBlob> given = {*ParseGivenBlob("x=250", *net.symbols, table)};
  const NetShapes shapes = InferShapes(net, given, table);
  const NetCost cost = CostOf(net, shapes, {}, table);
  EXPECT_EQ(cost.live.most.code, 3000);
  EXPECT_EQ(cost.live.op, 2);
  EXPECT_EQ(cost.live.at, (std::vector<int64_t>{2000, 2000, 3000, 3000}));
  std::vector<std::pair<OpId, OpId>> lives;
  for (const LiveBytes::Life& life : cost.live.lives) lives.push_back({life.first, life.last});
  EXPECT_EQ(lives, (std::vector<std::pair<OpId, OpId>>{{0, 3}, {0, 0}, {1, 2}, {2, 3}, {3, 3}}));
}

// The Do's workspace stays on the stack until its gradient pops it, inside another branch.
TEST(Shapes, WhatADoKeepsLivesUntilItsGradient) {
  const auto make = [](std::string_view last) {
    return NetFromText(StrCat(R"(
        op { output: "ws" type: "CreateScope" }
        op { input: "go" input: "x" input: "ws" output: "y" output: "ws" type: "If"
             arg { name: "then_net" n { op { input: "x" input: "ws" output: "y" output: "ws" type: "Do"
               arg { name: "inner_blobs" strings: "a" strings: "b" } arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
               arg { name: "net" n { op { input: "a" output: "t" type: "Tanh" }
                                     op { input: "t" output: "b" type: "Tanh" } } } } } } }
        op { input: "x" input: "x" output: "xx" output: "_" type: "Concat" arg { name: "axis" i: 0 } })",
                              last, R"(
        external_input: "go" external_input: "x" external_output: "y")"));
  };
  const auto peak = [](const Net& net) {
    ShapeTable table;
    const std::vector<GivenBlob> given = {*ParseGivenBlob("x=250", *net.symbols, table),
                                          *ParseGivenBlob("go=:bool", *net.symbols, table)};
    const NetShapes shapes = InferShapes(net, given, table);
    return std::pair(MostLive(net, shapes, table).most.code, MostLive(net, shapes, table).op);
  };
  // go, x, y and xx with its 8 bytes of lengths; and t, where somebody reads the workspace after xx was made.
  EXPECT_EQ(peak(make("")), std::pair(int64_t{4009}, OpId{2}));
  EXPECT_EQ(peak(make("op { input: \"ws\" output: \"z\" type: \"Relu\" }")),
            std::pair(int64_t{5009}, OpId{2}));
}

// A Do inside a Do, whose workspace has another name there.
TEST(Shapes, KeptWorkspacesAreFollowedByTheirNames) {
  const Net net = NetFromText(R"(
      op { output: "ws" type: "CreateScope" }
      op { output: "deep" type: "CreateScope" }
      op { input: "x" input: "deep" input: "ws" output: "y" output: "deep" output: "ws" type: "Do"
           arg { name: "inner_blobs" strings: "a" strings: "stack" strings: "b" }
           arg { name: "outer_blobs_idx" ints: 0 ints: 1 ints: 2 }
           arg { name: "net" n { op { input: "a" input: "stack" output: "b" output: "stack" type: "Do"
             arg { name: "inner_blobs" strings: "c" strings: "d" } arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
             arg { name: "net" n { op { input: "c" output: "t" type: "Tanh" } op { input: "t" output: "d" type: "Tanh" } } } } } } }
      op { input: "y" output: "z" type: "Tanh" }
      op { input: "deep" output: "w" type: "Relu" }
      external_input: "x" external_output: "y")");
  ShapeTable table;
  const std::vector<GivenBlob> given = {*ParseGivenBlob("x=250", *net.symbols, table)};
  const NetShapes shapes = InferShapes(net, given, table);
  // x, y and z, and t in the workspace that is read at the end.
  EXPECT_EQ(MostLive(net, shapes, table).most.code, 4000);
  EXPECT_EQ(MostLive(net, shapes, table).op, 3);
}

TEST(Shapes, KeptInDeepLoopsStaysSmall) {
  std::string text = R"(op { input: "x" input: "ws" output: "y" output: "ws" type: "Do"
      arg { name: "inner_blobs" strings: "a" strings: "b" } arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
      arg { name: "net" n { op { input: "a" output: "t" type: "Tanh" } op { input: "t" output: "b" type: "Tanh" } } } })";
  for (int i = 0; i < 28; ++i)
    text = StrCat(R"(op { input: "go" input: "x" input: "ws" output: "y" output: "ws" type: "While"
        arg { name: "loop_net" n { )",
                  text, " } } }");
  const Net net = NetFromText(StrCat(R"(op { output: "ws" type: "CreateScope" } )", text, R"(
      op { input: "x" output: "z" type: "Tanh" } op { input: "ws" output: "w" type: "Relu" } external_input: "x" external_input: "go" external_output: "y")"));
  ShapeTable table;
  const std::vector<GivenBlob> given = {*ParseGivenBlob("x=250", *net.symbols, table),
                                        *ParseGivenBlob("go=:bool", *net.symbols, table)};
  const NetShapes shapes = InferShapes(net, given, table);
  // x, go, y, z and one trip's t; further ones depend on data.
  EXPECT_EQ(table.SumText(MostLive(net, shapes, table).most), "4001+?");
}

TEST(Shapes, CorpusIsWholeOrSaysWhatIsMissing) {
  const char* folder = std::getenv("WEFT_CORPUS");
  const std::string path = folder ? folder : WEFT_SOURCE "/../shared/netdefs";
  if (!std::filesystem::is_directory(path)) GTEST_SKIP() << "no real files: WEFT_CORPUS names their folder";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  int nets = 0, whole = 0, declared = 0;
  for (const std::string& file : files) {
    const Result<Document> document = Open(Bytes(ReadFile(file)), {.name = file});
    if (!document) continue;
    for (const Document::NamedNet& named : document->nets) {
      SCOPED_TRACE(file);
      const Net& net = named.net;
      ShapeTable table;
      const NetShapes shapes = InferShapes(net, {}, table);
      ++nets;
      whole += shapes.whole();
      declared += !net.external_inputs.empty();
      EXPECT_TRUE(shapes.whole() || !shapes.findings.empty());
    }
  }
  std::puts(StrCat(nets, " nets, ", declared, " declare inputs; ", whole,
                   " whole from what they hold alone, the others say what is missing")
                .c_str());
}

}  // namespace
}  // namespace weft::test
