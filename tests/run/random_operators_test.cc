// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that draw random numbers: shapes, ranges, mean and variance of many draws, and that a seed gives
// the same values again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/str.h"
#include "tests/run/one_net.h"

namespace weft::test {
namespace {

struct Statistics {
  double mean = 0, variance = 0, low = 0, high = 0;
};
template <typename T>
Statistics Of(const std::vector<T>& values) {
  Statistics s;
  if (values.empty()) return s;
  for (T v : values) s.mean += static_cast<double>(v);
  s.mean /= static_cast<double>(values.size());
  for (T v : values) s.variance += (static_cast<double>(v) - s.mean) * (static_cast<double>(v) - s.mean);
  s.variance /= static_cast<double>(values.size());
  s.low = static_cast<double>(*std::min_element(values.begin(), values.end()));
  s.high = static_cast<double>(*std::max_element(values.begin(), values.end()));
  return s;
}

struct FillCase {
  std::string_view type, args;
  double mean, variance, low, high;
};
// Of [200, 500]: fans of 500 in, 200 out. A hundred thousand draws.
constexpr FillCase kFills[] = {
    {"UniformFill", "arg { name: 'min' f: -2 } arg { name: 'max' f: 4 }", 1, 3, -2, 4},
    {"GaussianFill", "arg { name: 'mean' f: 3 } arg { name: 'std' f: 2 }", 3, 4, -9, 15},
    {"XavierFill", "", 0, 1.0 / 500, -0.0774597, 0.0774597},
    {"MSRAFill", "", 0, 2.0 / 200, -0.6, 0.6},
};

TEST(RandomOperators, FillsHaveTheirStatistics) {
  for (const FillCase& fill : kFills) {
    OneNet net;
    ASSERT_EQ(net.Run(StrCat("type: '", fill.type, "' output: 'r' arg { name: 'shape' ints: 200 ints: 500 } ",
                             fill.args, " device_option { random_seed: 7 }")),
              "");
    EXPECT_EQ(net.Shape("r"), "[200, 500]");
    const std::vector<float> first = net.Values("r");
    const Statistics s = Of(first);
    EXPECT_NEAR(s.mean, fill.mean, 5 * std::sqrt(fill.variance / 100000)) << fill.type;
    EXPECT_NEAR(s.variance, fill.variance, 0.03 * fill.variance) << fill.type;
    EXPECT_GE(s.low, fill.low) << fill.type;
    EXPECT_LE(s.high, fill.high) << fill.type;
    OneNet again;
    ASSERT_EQ(
        again.Run(StrCat("type: '", fill.type, "' output: 'r' arg { name: 'shape' ints: 200 ints: 500 } ",
                         fill.args, " device_option { random_seed: 7 }")),
        "");
    EXPECT_EQ(again.Values("r"), first) << fill.type;
  }
}

// The fan of rows that are not there is no number: XavierFill says so.
TEST(RandomOperators, AnEmptyFillIsEmpty) {
  for (const FillCase& fill : kFills) {
    OneNet net;
    const std::string error = net.Run(
        StrCat("type: '", fill.type, "' output: 'r' arg { name: 'shape' ints: 0 ints: 3 } ", fill.args));
    if (fill.type == "XavierFill" && !error.empty()) {
      EXPECT_NE(error.find("[0, 3]"), std::string::npos) << error;
      continue;
    }
    ASSERT_EQ(error, "") << fill.type;
    EXPECT_EQ(net.Shape("r"), "[0, 3]") << fill.type;
  }
}

TEST(RandomOperators, IntegersIncludeBothEnds) {
  OneNet net;
  ASSERT_EQ(
      net.Run(
          "type: 'UniformIntFill' output: 'r' arg { name: 'shape' ints: 60000 } arg { name: 'min' i: -1 } "
          "arg { name: 'max' i: 4 } device_option { random_seed: 7 }"),
      "");
  const Statistics s = Of(net.Values<int32_t>("r"));
  EXPECT_EQ(s.low, -1);
  EXPECT_EQ(s.high, 4);
  EXPECT_NEAR(s.mean, 1.5, 0.04);
  EXPECT_NEAR(s.variance, 35.0 / 12, 0.06);
}

TEST(RandomOperators, UniqueIntegersAreUnique) {
  OneNet net;
  net.Feed<int32_t>("avoid", {2}, {3, 5});
  ASSERT_EQ(net.Run("type: 'UniqueUniformFill' input: 'shape' input: 'avoid' output: 'r' arg { name: "
                    "'input_as_shape' i: 1 } arg { name: 'min' i: 0 } arg { name: 'max' i: 9 }")
                .empty(),
            false);  // the shape is not there
  net.Feed<int64_t>("shape", {1}, {8});
  ASSERT_EQ(net.Run("type: 'UniqueUniformFill' input: 'shape' input: 'avoid' output: 'r' arg { name: "
                    "'input_as_shape' i: 1 } arg { name: 'min' i: 0 } arg { name: 'max' i: 9 }"),
            "");
  const std::vector<int32_t> values = net.Values<int32_t>("r");
  EXPECT_EQ(std::set<int32_t>(values.begin(), values.end()), (std::set<int32_t>{0, 1, 2, 4, 6, 7, 8, 9}));
}

TEST(RandomOperators, DropoutKeepsItsShareAndTheMean) {
  OneNet net;
  net.Feed("x", {100000}, std::vector<float>(100000, 1));
  ASSERT_EQ(net.Run("type: 'Dropout' input: 'x' output: 'y' output: 'mask' arg { name: 'ratio' f: 0.25 } "
                    "arg { name: 'is_test' i: 0 } device_option { random_seed: 3 }"),
            "");
  const Statistics s = Of(net.Values("y"));
  EXPECT_NEAR(s.mean, 1, 0.01);
  EXPECT_EQ(s.low, 0);
  EXPECT_NEAR(s.high, 1 / 0.75, 1e-6);
  const Tensor* mask = net.workspace.FindTensor("mask");
  ASSERT_TRUE(mask && mask->type() == DataType::kBool);
  const std::vector<float> y = net.Values("y");
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(mask->data<bool>()[i], y[i] != 0);
}

TEST(RandomOperators, SamplesFollowTheirWeights) {
  OneNet net;
  const int64_t n = 20000;
  std::vector<float> weights;
  for (int64_t i = 0; i < n; ++i) weights.insert(weights.end(), {1, 0, 3});
  net.Feed("w", {n, 3}, weights);
  ASSERT_EQ(net.Run("type: 'WeightedSample' input: 'w' output: 'i' device_option { random_seed: 3 }"), "");
  const std::vector<int32_t> drawn = net.Values<int32_t>("i");
  ASSERT_EQ(drawn.size(), static_cast<size_t>(n));
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 1), 0);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 2)), 0.75 * n, 0.02 * n);
}

}  // namespace
}  // namespace weft::test
