// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nets with If and While against recorded values (tests/data/caffe2/control.jsonl): the forward net gives the
// values, and Caffe2's own training net, where it is there and right, gives the numeric gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/interpreter.h"
#include "tests/run/arrays.h"

namespace weft::test {
namespace {

void FeedAll(Workspace& workspace, const Json& feeds) {
  for (const auto& [name, array] : feeds.items()) workspace.Feed(name, TensorFromJson(array));
}

TEST(ControlValues, ForwardNetsGiveTheRecordedValues) {
  int rows = 0;
  for (const Json& row : ReadJsonl("caffe2/control.jsonl")) {
    RunContext context;
    context.kernels = &ReferenceKernels();
    context.ops = &StandardOps();
    Workspace workspace(context);
    FeedAll(workspace, row.at("feeds"));
    const Result<void> ran = workspace.RunNetOnce(NetFromText(row.at("forward").get<std::string>()));
    ASSERT_TRUE(ran) << row.at("name") << ": " << ran.error().message;
    for (const auto& [name, array] : row.at("values").items()) {
      const Tensor* found = workspace.FindTensor(name);
      ASSERT_NE(found, nullptr) << row.at("name") << " " << name;
      EXPECT_EQ(Difference(*found, TensorFromJson(array), 1e-5, 1e-5), "") << row.at("name") << " " << name;
    }
    ++rows;
  }
  EXPECT_EQ(rows, 18);
}

TEST(ControlValues, Caffe2sTrainingNetsGiveTheNumericGradients) {
  int rows = 0, wrong = 0;
  for (const Json& row : ReadJsonl("caffe2/control.jsonl")) {
    if (!row.contains("net")) continue;
    RunContext context;
    context.kernels = &ReferenceKernels();
    context.ops = &StandardOps();
    Workspace workspace(context);
    FeedAll(workspace, row.at("feeds"));
    Net net = NetFromText(row.at("net").get<std::string>());
    net.name = net.Intern("train");
    const Result<PreparedNet*> prepared = workspace.CreateNet(std::make_shared<const Net>(net));
    ASSERT_TRUE(prepared) << row.at("name") << ": " << prepared.error().message;
    // Twice: the second run finds the workspaces and copies of the first.
    for (int run = 0; run < 2; ++run) {
      const Result<void> ran = (*prepared)->Run();
      ASSERT_TRUE(ran) << row.at("name") << ": " << ran.error().message;
      for (const auto& [name, array] : row.at("caffe2_values").items()) {
        const Tensor* found = workspace.FindTensor(name);
        ASSERT_NE(found, nullptr) << row.at("name") << " " << name;
        EXPECT_EQ(Difference(*found, TensorFromJson(array), 1e-5, 1e-5), "") << row.at("name") << " " << name;
      }
      for (const auto& [name, array] : row.at("numeric_grads").items()) {
        if (row.contains("caffe2_wrong")) continue;
        const Tensor expected = TensorFromJson(array);
        const Tensor* found = workspace.FindTensor(row.at("grads").at(name).get<std::string>());
        ASSERT_NE(found, nullptr) << row.at("name") << " " << name;
        ASSERT_EQ(found->numel(), expected.numel());
        for (int64_t i = 0; i < expected.numel(); ++i) {
          const double e = NumberAt(expected, i);
          EXPECT_LE(std::fabs(NumberAt(*found, i) - e), 3e-4 + 1e-3 * std::fabs(e))
              << row.at("name") << " " << name << "[" << i << "]";
        }
      }
    }
    ++rows;
    wrong += row.contains("caffe2_wrong");
  }
  EXPECT_EQ(rows, 5);
  EXPECT_EQ(wrong, 2);
}

}  // namespace
}  // namespace weft::test
