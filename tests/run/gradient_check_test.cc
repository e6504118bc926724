// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient checker finds right gradients right and wrong ones wrong; and it gives the numeric gradients
// that were recorded with Caffe2.
#include "core/run/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/kernel.h"
#include "tests/run/arrays.h"

namespace weft::test {
namespace {

GradientCheck MakeCheck(const Net& forward, const Net& backward) {
  GradientCheck check;
  check.kernels = &ReferenceKernels();
  check.ops = &StandardOps();
  check.forward = &forward;
  check.backward = &backward;
  check.losses = {"loss"};
  return check;
}

TEST(GradientCheck, TellsRightFromWrong) {
  const std::string forward =
      "op { type: 'Sigmoid' input: 'x' output: 's' } op { type: 'Mul' input: 's' input: 'x' output: 'y' } "
      "op { type: 'SumElements' input: 'y' output: 'loss' } ";
  const std::string backward =
      forward +
      "op { type: 'ConstantFill' input: 'y' output: 'y_grad' arg { name: 'value' f: 1 } } "
      "op { type: 'MulGradient' input: 'y_grad' input: 's' input: 'x' output: 's_grad' "
      "output: 'a' } "
      "op { type: 'SigmoidGradient' input: 's' input: 's_grad' output: 'b' } "
      "op { type: 'Sum' input: 'a' input: 'b' output: 'x_grad' }";
  const Net f = NetFromText(forward), b = NetFromText(backward);
  GradientCheck check = MakeCheck(f, b);
  const int64_t dims[] = {4};
  check.feeds.emplace_back("x", Tensor::Of<float>(dims, std::vector<float>{-2, -0.5f, 0.1f, 3}));
  check.gradients = {{"x", "x_grad", "", ""}};
  auto reports = CheckGradients(check);
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_EQ((*reports)[0].elements, 4);
  EXPECT_EQ((*reports)[0].wrong, 0);
  EXPECT_LT((*reports)[0].worst_absolute, 1e-4);
  check.gradients = {{"x", "a", "", ""}};  // half of it
  reports = CheckGradients(check);
  ASSERT_TRUE(reports);
  EXPECT_GT((*reports)[0].wrong, 2);
  check.gradients = {{"x", "", "", ""}};  // none at all
  reports = CheckGradients(check);
  ASSERT_TRUE(reports);
  EXPECT_EQ((*reports)[0].wrong, 4);
  check.gradients = {{"x", "nowhere", "", ""}};
  EXPECT_EQ(CheckGradients(check).error().message, "the gradient nowhere of x is not there");
  check.gradients = {{"z", "x_grad", "", ""}};
  EXPECT_EQ(CheckGradients(check).error().message, "z is not fed");
}

TEST(GradientCheck, CountsKinks) {
  const Net net = NetFromText(
      "op { type: 'Relu' input: 'x' output: 'y' } op { type: 'SumElements' input: 'y' output: 'loss' } "
      "op { type: 'ConstantFill' input: 'y' output: 'y_grad' arg { name: 'value' f: 1 } } "
      "op { type: 'ReluGradient' input: 'y' input: 'y_grad' output: 'x_grad' }");
  GradientCheck check = MakeCheck(net, net);
  const int64_t dims[] = {3};
  check.feeds.emplace_back("x", Tensor::Of<float>(dims, std::vector<float>{-1, 0.0003f, 0.007f}));
  check.gradients = {{"x", "x_grad", "", ""}};
  const auto reports = CheckGradients(check);
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_EQ((*reports)[0].kinks, 1);  // narrower differences keep off the kink beside 0.007
  EXPECT_EQ((*reports)[0].wrong, 0);
  EXPECT_LT((*reports)[0].worst_absolute, 1e-3);
}

// Relu at exactly 0: central differences all say 1/2, the sides say 0 and 1. A wrong gradient where the loss
// is only strongly curved stays wrong.
TEST(GradientCheck, OnAKinkNothingIsJudged) {
  const Net net = NetFromText(
      "op { type: 'Relu' input: 'x' output: 'y' } "
      "op { type: 'ConstantFill' input: 'y' output: 'y_grad' arg { name: 'value' f: 1 } } "
      "op { type: 'ReluGradient' input: 'y' input: 'y_grad' output: 'x_grad' }");
  const Net curved = NetFromText(
      "op { type: 'Exp' input: 'x' output: 'y' } "
      "op { type: 'Scale' input: 'y' output: 'x_grad' arg { name: 'scale' f: 1.1 } }");
  for (const bool in_double : {false, true}) {
    const int64_t dims[] = {4};
    GradientCheck check = MakeCheck(net, net);
    check.in_double = in_double;
    check.losses = {"y"};
    check.feeds.emplace_back("x", Tensor::Of<float>(dims, std::vector<float>{-1, 0, 0, 1}));
    check.gradients = {{"x", "x_grad", "", ""}};
    auto reports = CheckGradients(check);
    ASSERT_TRUE(reports) << reports.error().message;
    EXPECT_EQ((*reports)[0].kinks, 2);
    EXPECT_EQ((*reports)[0].wrong, 0);
    check.forward = check.backward = &curved;
    check.feeds[0].second = Tensor::Of<float>(dims, std::vector<float>{0, 2, 4, 6});
    reports = CheckGradients(check);
    ASSERT_TRUE(reports) << reports.error().message;
    EXPECT_EQ((*reports)[0].kinks, 0);
    EXPECT_EQ((*reports)[0].wrong, 4);
  }
}

TEST(GradientCheck, SumsSparseGradients) {
  const Net net = NetFromText(
      "op { type: 'Gather' input: 'table' input: 'ids' output: 'rows' } "
      "op { type: 'Sqr' input: 'rows' output: 'y' } op { type: 'SumElements' input: 'y' output: 'loss' } "
      "op { type: 'Scale' input: 'rows' output: 'rows_grad' arg { name: 'scale' f: 2 } }");
  GradientCheck check = MakeCheck(net, net);
  const int64_t table[] = {3, 2}, ids[] = {3};
  check.feeds.emplace_back("table", Tensor::Of<float>(table, std::vector<float>{1, 2, 3, 4, 5, 6}));
  check.feeds.emplace_back("ids", Tensor::Of<int32_t>(ids, std::vector<int32_t>{2, 0, 2}));
  check.gradients = {{"table", "", "ids", "rows_grad"}};
  const auto reports = CheckGradients(check);
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_EQ((*reports)[0].wrong, 0);
  EXPECT_EQ((*reports)[0].elements, 6);
}

// Float differences of a steep loss are off by percents; doubles show the planned gradient right.
TEST(GradientCheck, DoublesSeeWhatFloatsHide) {
  const std::string forward =
      "op { type: 'Sqr' input: 'x' output: 'a' } op { type: 'Sqr' input: 'a' output: 'b' } "
      "op { type: 'ConstantFill' input: 'b' output: 'one' arg { name: 'value' f: 100000 } } "
      "op { type: 'Add' input: 'b' input: 'one' output: 'loss' } ";
  const Net f = NetFromText(forward),
            b = NetFromText(forward +
                            "op { type: 'Mul' input: 'a' input: 'x' output: 'd' } "
                            "op { type: 'Scale' input: 'd' output: 'x_grad' arg { name: 'scale' f: 4 } }");
  GradientCheck check = MakeCheck(f, b);
  const int64_t dims[] = {4};
  check.feeds.emplace_back("x", Tensor::Of<float>(dims, std::vector<float>{-2, 0.3f, 0.1f, 3}));
  check.gradients = {{"x", "x_grad", "", ""}};
  auto reports = CheckGradients(check);
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_GT((*reports)[0].worst_absolute, 1e-2);
  check.in_double = true;
  check.step = 1e-3;
  reports = CheckGradients(check);
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_LT((*reports)[0].worst_absolute, 1e-6);
  EXPECT_EQ((*reports)[0].wrong, 0);
  check.samples = 2;
  EXPECT_EQ((*CheckGradients(check))[0].elements, 2);
}

TEST(GradientCheck, GivesTheRecordedNumericGradients) {
  for (const Json& row : ReadJsonl("caffe2/control.jsonl")) {
    const Net net = NetFromText(row.at("forward").get<std::string>());
    GradientCheck check = MakeCheck(net, net);
    for (const auto& [name, array] : row.at("feeds").items())
      check.feeds.emplace_back(name, TensorFromJson(array));
    for (const auto& [name, array] : row.at("numeric_grads").items()) {
      const Result<Tensor> found = NumericGradient(check, name);
      ASSERT_TRUE(found) << row.at("name") << ": " << found.error().message;
      EXPECT_EQ(Difference(*found, TensorFromJson(array), 3e-4, 1e-3), "") << row.at("name") << " " << name;
    }
  }
}

}  // namespace
}  // namespace weft::test
