// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What kernels of each family do at the edges: a batch of none after one of four, empty tensors, indices that
// repeat, lengths of 64 bits, tensors of a wrong rank.
#include <gtest/gtest.h>

#include "core/base/str.h"
#include "tests/run/one_net.h"

namespace weft::test {
namespace {

// Operators from x, whose batch changes, and parameters to y.
struct BatchCase {
  std::string_view op;
  std::vector<int64_t> row;  // dimensions of x without the batch
  std::string_view empty;    // shape of y for a batch of none
};
const BatchCase kBatches[] = {
    {"type: 'Relu' input: 'x' output: 'y'", {3}, "[0, 3]"},
    {"type: 'Tanh' input: 'x' output: 'y'", {3}, "[0, 3]"},
    {"type: 'Softmax' input: 'x' output: 'y'", {3}, "[0, 3]"},
    {"type: 'FC' input: 'x' input: 'w23' input: 'b2' output: 'y'", {3}, "[0, 2]"},
    {"type: 'MatMul' input: 'x' input: 'w23' output: 'y' arg { name: 'trans_b' i: 1 }", {3}, "[0, 2]"},
    {"type: 'Add' input: 'x' input: 'b3' output: 'y' arg { name: 'broadcast' i: 1 }", {3}, "[0, 3]"},
    {"type: 'Mul' input: 'x' input: 'x' output: 'y'", {3}, "[0, 3]"},
    {"type: 'Sum' input: 'x' input: 'x' output: 'y'", {3}, "[0, 3]"},
    {"type: 'Concat' input: 'x' input: 'x' output: 'y' output: 'split' arg { name: 'axis' i: 1 }",
     {3},
     "[0, 6]"},
    {"type: 'Transpose' input: 'x' output: 'y'", {3}, "[3, 0]"},
    {"type: 'Cast' input: 'x' output: 'y' arg { name: 'to' i: 1 }", {3}, "[0, 3]"},
    {"type: 'Cast' input: 'x' output: 'y'", {3}, "[0, 3]"},
    {"type: 'Clip' input: 'x' output: 'y' arg { name: 'max' f: 0.5 }", {3}, "[0, 3]"},
    {"type: 'Flatten' input: 'x' output: 'y'", {3, 2}, "[0, 6]"},
    {"type: 'Conv' input: 'x' input: 'filter' output: 'y' arg { name: 'kernel' i: 2 }",
     {3, 4, 4},
     "[0, 2, 3, 3]"},
    {"type: 'MaxPool' input: 'x' output: 'y' arg { name: 'kernel' i: 2 } arg { name: 'stride' i: 2 }",
     {3, 4, 4},
     "[0, 3, 2, 2]"},
    {"type: 'AveragePool' input: 'x' output: 'y' arg { name: 'kernel' i: 2 } arg { name: 'stride' i: 2 }",
     {3, 4, 4},
     "[0, 3, 2, 2]"},
    {"type: 'LRN' input: 'x' output: 'y' output: 'scale' arg { name: 'size' i: 3 } arg { name: 'alpha' f: 1 "
     "} arg { name: 'beta' f: 0.75 }",
     {3, 4, 4},
     "[0, 3, 4, 4]"},
    {"type: 'SpatialBN' input: 'x' input: 'b3' input: 'b3' input: 'b3' input: 'b3' output: 'y' arg { name: "
     "'is_test' i: 1 }",
     {3, 4, 4},
     "[0, 3, 4, 4]"},
    {"type: 'LayerNorm' input: 'x' output: 'y' output: 'm' output: 's'", {3}, "[0, 3]"},
    {"type: 'SquaredL2Distance' input: 'x' input: 'x' output: 'y'", {3}, "[0]"},
    {"type: 'ReduceBackSum' input: 'x' output: 'y'", {3}, "[0]"},
    {"type: 'ReduceFrontSum' input: 'x' output: 'y'", {3}, "[3]"},
    {"type: 'ReduceSum' input: 'x' output: 'y' arg { name: 'axes' ints: 0 } arg { name: 'keepdims' i: 0 }",
     {3},
     "[3]"},
    {"type: 'SumElements' input: 'x' output: 'y'", {3}, "[]"},
    {"type: 'ResizeNearest' input: 'x' output: 'y' arg { name: 'width_scale' f: 2 } arg { name: "
     "'height_scale' f: "
     "2 }",
     {3, 4, 4},
     "[0, 3, 8, 8]"},
};

TEST(Edges, NoneAfterFourLeavesNothingStale) {
  for (const BatchCase& batch : kBatches) {
    SCOPED_TRACE(std::string(batch.op));
    OneNet net;
    net.FeedAny("w23", {2, 3});
    net.FeedAny("b2", {2});
    net.FeedAny("b3", {3});
    net.FeedAny("filter", {2, 3, 2, 2});
    const auto feed = [&](int64_t n) {
      std::vector<int64_t> dims = batch.row;
      dims.insert(dims.begin(), n);
      net.FeedAny("x", dims);
    };
    feed(4);
    const Net parsed = NetFromText(StrCat("name: 'n' op { ", batch.op, " }"));
    ASSERT_TRUE(net.workspace.CreateNet(std::make_shared<const Net>(parsed)));
    Result<void> ran = net.workspace.RunNet("n");
    ASSERT_TRUE(ran) << ran.error().message;
    const std::vector<float> four = net.Values("y");
    EXPECT_FALSE(four.empty());
    feed(0);
    ran = net.workspace.RunNet("n");
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(net.Shape("y"), batch.empty);
    for (float value : net.Values("y")) EXPECT_EQ(value, 0);  // a sum of nothing
    feed(4);
    ran = net.workspace.RunNet("n");
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(net.Values("y"), four);
  }
}

TEST(Edges, SegmentsWithoutElementsAreZeros) {
  for (const char* type : {"LengthsSum", "LengthsMean", "SparseLengthsSum", "SparseLengthsMean"}) {
    SCOPED_TRACE(type);
    const std::string op = StrCat("type: '", type, "' input: 'x' ",
                                  std::string_view(type).starts_with("Sparse") ? "input: 'i' " : "",
                                  "input: 'lengths' output: 'y'");
    OneNet net;
    net.FeedAny("x", {3, 2});
    net.Feed<int32_t>("i", {3}, {2, 0, 2});
    net.Feed<int32_t>("lengths", {2}, {1, 2});
    ASSERT_EQ(net.Run(op), "");
    net.FeedAny("x", {0, 2});
    net.Feed<int32_t>("i", {0}, {});
    net.Feed<int32_t>("lengths", {2}, {0, 0});
    ASSERT_EQ(net.Run(op), "");
    EXPECT_EQ(net.Values("y"), std::vector<float>(4, 0));
  }
}

TEST(Edges, RepeatedIndicesAddUp) {
  OneNet net;
  net.Feed("t", {3, 1}, std::vector<float>{1, 2, 3});
  net.Feed<int64_t>("i", {4}, {1, 1, 0, 1});
  net.Feed<int32_t>("four", {1}, {4});
  ASSERT_EQ(net.Run("type: 'Gather' input: 't' input: 'i' output: 'y'"), "");
  EXPECT_EQ(net.Values("y"), (std::vector<float>{2, 2, 1, 2}));
  ASSERT_EQ(net.Run("type: 'SparseLengthsSum' input: 't' input: 'i' input: 'four' output: 'y'"), "");
  EXPECT_EQ(net.Values("y"), std::vector<float>{7});
  net.Feed("v", {4, 1}, std::vector<float>{1, 10, 100, 1000});
  ASSERT_EQ(net.Run("type: 'SparseToDense' input: 'i' input: 'v' input: 't' output: 'y'"), "");
  EXPECT_EQ(net.Values("y"), (std::vector<float>{100, 1011, 0}));
  net.Feed("one", {1}, std::vector<float>{1});
  ASSERT_EQ(
      net.Run("type: 'ScatterWeightedSum' input: 't' input: 'one' input: 'i' input: 'v' input: 'one' output: "
              "'t'"),
      "");
  EXPECT_EQ(net.Values("t"), (std::vector<float>{101, 1013, 3}));
}

TEST(Edges, LengthsOf64BitsAreReadOrRefused) {
  for (const char* type : {"LengthsSum", "LengthsMean", "LengthsMax", "LengthsToRanges",
                           "LengthsToSegmentIds", "LengthsTile", "PackSegments"}) {
    SCOPED_TRACE(type);
    const std::string_view name(type);
    const bool only_lengths = name.starts_with("LengthsTo");
    const std::string op = StrCat("type: '", type, "' ",
                                  only_lengths             ? "input: 'n' "
                                  : name == "PackSegments" ? "input: 'n' input: 'x' "
                                                           : "input: 'x' input: 'n' ",
                                  "output: 'y'");
    OneNet net;
    net.FeedAny("x", {3, 2});
    const bool tile = name == "LengthsTile";
    net.Feed<int32_t>("n", {tile ? 3 : 2}, tile ? std::vector<int32_t>{1, 2, 0} : std::vector<int32_t>{1, 2});
    ASSERT_EQ(net.Run(op), "");
    const std::vector<float> floats = net.Values("y");
    const std::vector<int32_t> integers = net.Values<int32_t>("y");
    net.Feed<int64_t>("n", {tile ? 3 : 2}, tile ? std::vector<int64_t>{1, 2, 0} : std::vector<int64_t>{1, 2});
    const std::string error = net.Run(op);
    if (error.empty()) {
      EXPECT_EQ(net.Values("y"), floats);
      EXPECT_EQ(net.Values<int32_t>("y"), integers);
    } else {
      EXPECT_NE(error.find("int64"), std::string::npos) << error;
    }
  }
}

// As Caffe2 answers the same calls.
TEST(Edges, IndicesNumberKeysInOrder) {
  OneNet net;
  ASSERT_EQ(net.Run("type: 'LongIndexCreate' output: 'x' arg { name: 'max_elements' i: 10 }"), "");
  net.Feed<int64_t>("k", {2, 2}, {5, 7, 5, 9});
  ASSERT_EQ(net.Run("type: 'IndexGet' input: 'x' input: 'k' output: 'i'"), "");
  EXPECT_EQ(net.Shape("i"), "[2, 2]");
  EXPECT_EQ(net.Values<int64_t>("i"), (std::vector<int64_t>{1, 2, 1, 3}));
  ASSERT_EQ(net.Run("type: 'IndexSize' input: 'x' output: 's'"), "");
  EXPECT_EQ(net.Shape("s"), "[]");
  EXPECT_EQ(net.Values<int64_t>("s"), std::vector<int64_t>{4});
  ASSERT_EQ(net.Run("type: 'IndexStore' input: 'x' output: 'keys'"), "");
  EXPECT_EQ(net.Values<int64_t>("keys"), (std::vector<int64_t>{5, 7, 9}));
  ASSERT_EQ(net.Run("type: 'IndexFreeze' input: 'x' output: 'x'"), "");
  net.Feed<int64_t>("k", {2}, {1, 9});
  ASSERT_EQ(net.Run("type: 'IndexGet' input: 'x' input: 'k' output: 'i'"), "");
  EXPECT_EQ(net.Values<int64_t>("i"), (std::vector<int64_t>{0, 3}));
  ASSERT_EQ(net.Run("type: 'LongIndexCreate' output: 'y'"), "");
  net.Feed<int64_t>("k", {3}, {11, 12, 13});
  ASSERT_EQ(
      net.Run("type: 'IndexLoad' input: 'y' input: 'k' output: 'y' arg { name: 'skip_first_entry' i: 1 }"),
      "");
  net.Feed<int64_t>("k", {4}, {11, 12, 13, 99});
  ASSERT_EQ(net.Run("type: 'IndexGet' input: 'y' input: 'k' output: 'i'"), "");
  EXPECT_EQ(net.Values<int64_t>("i"), (std::vector<int64_t>{3, 1, 2, 4}));
  net.Feed<int32_t>("k", {1}, {1});
  EXPECT_NE(net.Run("type: 'IndexGet' input: 'y' input: 'k' output: 'i'").find("keys are int32"),
            std::string::npos);
}

TEST(Edges, AWrongRankIsSaid) {
  struct Case {
    std::string_view op;
    std::vector<int64_t> x, w;
  };
  const Case cases[] = {
      {"type: 'FC' input: 'x' input: 'w' input: 'w' output: 'y'", {2, 3}, {4, 3}},
      {"type: 'MatMul' input: 'x' input: 'w' output: 'y'", {2, 3}, {4, 3}},
      {"type: 'BatchMatMul' input: 'x' input: 'w' output: 'y'", {2, 3, 4}, {3, 3, 4}},
      {"type: 'Conv' input: 'x' input: 'w' output: 'y' arg { name: 'kernel' i: 2 }", {4, 4}, {2, 3, 2, 2}},
      {"type: 'MaxPool' input: 'x' output: 'y' arg { name: 'kernel' i: 2 }", {4}, {1}},
      {"type: 'Add' input: 'x' input: 'w' output: 'y'", {2, 3}, {4}},
      {"type: 'SquaredL2Distance' input: 'x' input: 'w' output: 'y'", {2, 3}, {3, 2}},
      {"type: 'SpatialBN' input: 'x' input: 'w' input: 'w' input: 'w' input: 'w' output: 'y' arg { name: "
       "'is_test' "
       "i: 1 }",
       {2, 3, 2, 2},
       {4}},
      {"type: 'Concat' input: 'x' input: 'w' output: 'y' output: 'z' arg { name: 'axis' i: 1 }",
       {2, 3},
       {3, 3}},
      {"type: 'Transpose' input: 'x' output: 'y' arg { name: 'axes' ints: 0 ints: 2 }", {2, 3}, {1}},
      {"type: 'ReduceSum' input: 'x' output: 'y' arg { name: 'axes' ints: 4 }", {2, 3}, {1}},
      {"type: 'RoIAlign' input: 'x' input: 'w' output: 'y'", {1, 3, 4, 4}, {5}},
      {"type: 'BBoxTransform' input: 'x' input: 'w' input: 'w' output: 'y'", {4}, {4}},
      {"type: 'LRN' input: 'x' output: 'y' output: 'z' arg { name: 'size' i: 3 } arg { name: 'alpha' f: 1 } "
       "arg { name: 'beta' f: 0.75 }",
       {4},
       {1}},
      {"type: 'ResizeNearest' input: 'x' output: 'y'", {4}, {1}},
  };
  for (const Case& wrong : cases) {
    OneNet net;
    net.FeedAny("x", wrong.x);
    net.FeedAny("w", wrong.w);
    const std::string error = net.Run(wrong.op);
    EXPECT_TRUE(error.find('[') != std::string::npos || error.find("dimension") != std::string::npos ||
                error.find("expected") != std::string::npos)
        << wrong.op << ": " << error;
  }
}

}  // namespace
}  // namespace weft::test
