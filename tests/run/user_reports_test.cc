// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What users of Caffe2 and its relatives ran into around numbers. tests/data/user_reports_numerics.tsv names
// a test for each report, or says why there is none.
#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/pass/shapes.h"
#include "tests/run/one_net.h"

namespace weft::test {
namespace {

TEST(NumericsReports, RunningVarianceIsUnbiased) {
  OneNet net;
  net.Feed("x", {2, 1, 1, 1}, std::vector<float>{0, 2});
  net.Feed("s", {1}, std::vector<float>{1});
  net.Feed("b", {1}, std::vector<float>{0});
  net.Feed("rm", {1}, std::vector<float>{0});
  net.Feed("rv", {1}, std::vector<float>{1});
  ASSERT_EQ(
      net.Run(
          "type: 'SpatialBN' input: 'x' input: 's' input: 'b' input: 'rm' input: 'rv' output: 'y' output: "
          "'rm' output: 'rv' output: 'sm' output: 'sv' arg { name: 'momentum' f: 0.9 } arg { name: "
          "'is_test' i: 0 }"),
      "");
  EXPECT_NEAR(net.Values("rm").at(0), 0.1, 1e-6);
  EXPECT_NEAR(net.Values("rv").at(0), 1.1, 1e-6);
  EXPECT_NEAR(net.Values("y").at(1), 1, 1e-4);
}

// The gradient with this scale is compared with differences in differences_test.cc.
TEST(NumericsReports, SpatialSoftmaxLossIsScaled) {
  OneNet net;
  net.FeedAny("x", {2, 3, 2, 2});
  net.Feed<int32_t>("label", {2, 2, 2}, {0, 1, 2, 0, 1, 1, 2, 0});
  const auto loss = [&](std::string_view scale) {
    const std::string error = net.Run(
        StrCat("type: 'SpatialSoftmaxWithLoss' input: 'x' input: 'label' output: 'p' output: 'loss' arg { "
               "name: 'scale' f: ",
               scale, " }"));
    EXPECT_EQ(error, "");
    return net.Values("loss").at(0);
  };
  const float whole = loss("1");
  EXPECT_GT(whole, 0.5f);
  EXPECT_NEAR(loss("0.5"), whole / 2, 1e-6);
}

TEST(NumericsReports, OneHotLabelsAreExplained) {
  OneNet net;
  net.FeedAny("x", {2, 10});
  net.Feed<int32_t>("label", {2, 10}, std::vector<int32_t>(20, 0));
  const std::string error =
      net.Run("type: 'SoftmaxWithLoss' input: 'x' input: 'label' output: 'p' output: 'loss'");
  for (const char* part : {"2 int32", "[2, 10]", "label_prob"})
    EXPECT_NE(error.find(part), std::string::npos) << error;
}

std::string Adagrad(OneNet& net) {
  return net.Run(
      "type: 'SparseAdagrad' input: 'p' input: 'm' input: 'i' input: 'g' input: 'lr' output: 'p' output: "
      "'m' arg { name: 'epsilon' f: 0 }");
}

TEST(NumericsReports, IndicesOfTwoDimensions) {
  std::vector<float> results[2];
  for (const bool flat : {false, true}) {
    OneNet net;
    net.FeedAny("p", {5, 2});
    net.FeedAny("m", {5, 2});
    net.Feed<int64_t>("i", flat ? std::vector<int64_t>{4} : std::vector<int64_t>{2, 2}, {3, 0, 4, 1});
    net.FeedAny("g", flat ? std::vector<int64_t>{4, 2} : std::vector<int64_t>{2, 2, 2});
    net.Feed("lr", {1}, std::vector<float>{-0.1f});
    ASSERT_EQ(Adagrad(net), "");
    results[flat] = net.Values("p");
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(NumericsReports, RepeatedIndicesUpdateOneByOne) {
  OneNet net;
  net.Feed("p", {3, 1}, std::vector<float>{1, 1, 1});
  net.Feed("m", {3, 1}, std::vector<float>{0, 0, 0});
  net.Feed<int64_t>("i", {2}, {1, 1});
  net.Feed("g", {2, 1}, std::vector<float>{1, 1});
  net.Feed("lr", {1}, std::vector<float>{-1});
  ASSERT_EQ(Adagrad(net), "");
  EXPECT_NEAR(net.Values("p").at(1), -0.707107, 1e-5);
  EXPECT_EQ(net.Values("m").at(1), 2);
}

TEST(NumericsReports, AdamAddsTheRate) {
  OneNet net;
  for (const char* blob : {"p", "g"}) net.Feed(blob, {1}, std::vector<float>{1});
  for (const char* blob : {"m", "v"}) net.Feed(blob, {1}, std::vector<float>{0});
  net.Feed("lr", {1}, std::vector<float>{-0.1f});
  net.Feed<int64_t>("it", {1}, {0});
  ASSERT_EQ(
      net.Run("type: 'Adam' input: 'p' input: 'm' input: 'v' input: 'g' input: 'lr' input: 'it' output: 'p' "
              "output: 'm' output: 'v'"),
      "");
  EXPECT_NEAR(net.Values("p").at(0), 0.9, 1e-3);
  EXPECT_NE(StandardOps().Find("Adam")->doc.find("param += lr"), std::string_view::npos);
}

TEST(NumericsReports, EverySpellingOfKernelsGivesTheShapeOfTheRun) {
  struct Case {
    std::string_view args, shape;
    int64_t filter_h, filter_w;
  };
  const Case cases[] = {
      {"arg { name: 'kernel_h' i: 1 } arg { name: 'kernel_w' i: 3 }", "[1, 4, 9, 7]", 1, 3},
      {"arg { name: 'kernels' ints: 1 ints: 3 }", "[1, 4, 9, 7]", 1, 3},
      {"arg { name: 'kernel' i: 3 }", "[1, 4, 7, 7]", 3, 3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'pad' i: 1 }", "[1, 4, 9, 9]", 3, 3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'pads' ints: 1 ints: 0 ints: 1 ints: 0 }", "[1, 4, 9, 7]", 3,
       3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'pad_t' i: 1 } arg { name: 'pad_l' i: 0 } arg { name: "
       "'pad_b' i: 1 } "
       "arg { name: 'pad_r' i: 0 }",
       "[1, 4, 9, 7]", 3, 3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'stride' i: 2 }", "[1, 4, 4, 4]", 3, 3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'strides' ints: 2 ints: 1 }", "[1, 4, 4, 7]", 3, 3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'stride_h' i: 2 } arg { name: 'stride_w' i: 1 }",
       "[1, 4, 4, 7]", 3, 3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'dilation' i: 2 }", "[1, 4, 5, 5]", 3, 3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'dilations' ints: 2 ints: 1 }", "[1, 4, 5, 7]", 3, 3},
      {"arg { name: 'kernel' i: 3 } arg { name: 'dilation_h' i: 2 } arg { name: 'dilation_w' i: 1 }",
       "[1, 4, 5, 7]", 3, 3},
  };
  for (const Case& spelled : cases) {
    SCOPED_TRACE(std::string(spelled.args));
    const std::string op = StrCat("type: 'Conv' input: 'x' input: 'w' output: 'y' ", spelled.args);
    OneNet run;
    run.FeedAny("x", {1, 3, 9, 9});
    run.FeedAny("w", {4, 3, spelled.filter_h, spelled.filter_w});
    EXPECT_EQ(run.Run(op), "");
    EXPECT_EQ(run.Shape("y"), spelled.shape);
    const Net net = NetFromText(StrCat("op { ", op, " }"));
    ShapeTable table;
    std::vector<GivenBlob> given;
    for (const std::string& text :
         {std::string("x=1,3,9,9"), StrCat("w=4,3,", spelled.filter_h, ",", spelled.filter_w)}) {
      Result<GivenBlob> blob = ParseGivenBlob(text, *net.symbols, table);
      ASSERT_TRUE(blob) << blob.error().message;
      given.push_back(std::move(*blob));
    }
    const NetShapes shapes = InferShapes(net, given, table);
    EXPECT_TRUE(shapes.findings.empty());
    EXPECT_TRUE(shapes.whole());
    bool found = false;
    for (const GivenBlob& blob : FinalShapes(shapes)) {
      if (net.Str(blob.blob) != "y") continue;
      found = true;
      EXPECT_EQ(table.Text(std::span<const Dim>(blob.info.dims.begin(), blob.info.dims.size())),
                spelled.shape);
    }
    EXPECT_TRUE(found);
  }
}

}  // namespace
}  // namespace weft::test
