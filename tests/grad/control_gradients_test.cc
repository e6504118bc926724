// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nets with If and While (tests/data/caffe2/control.jsonl): the planned gradients against central differences
// that were recorded from the forward nets, also where Caffe2 fails or is wrong. Where a branch or body
// overwrites what its own gradient needs, the plain plan is a version error and the repaired one is right.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "core/base/str.h"
#include "core/grad/repair.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/interpreter.h"
#include "proto/codec.h"
#include "tests/run/arrays.h"

namespace weft::test {
namespace {

bool NeedsRepair(const std::string& name) {
  return name.starts_with("while_rnn") || name.starts_with("if_inplace_twice");
}

// The dense sum of a gradient, shaped like `like`.
std::vector<double> DenseGradient(const Workspace& workspace, const Net& net, const Gradient& gradient,
                                  const Tensor& like) {
  std::vector<double> sum(static_cast<size_t>(like.numel()), 0);
  if (gradient.is_dense()) {
    const Tensor* tensor = workspace.FindTensor(net.Str(gradient.dense));
    if (!tensor || tensor->numel() != like.numel()) {
      ADD_FAILURE() << net.Str(gradient.dense) << " is missing or has another size";
      return sum;
    }
    for (int64_t i = 0; i < like.numel(); ++i) sum[static_cast<size_t>(i)] = NumberAt(*tensor, i);
    return sum;
  }
  const Tensor* indices = workspace.FindTensor(net.Str(gradient.indices));
  const Tensor* values = workspace.FindTensor(net.Str(gradient.values));
  if (!indices || !values) {
    ADD_FAILURE() << net.Str(gradient.indices) << " or " << net.Str(gradient.values) << " is missing";
    return sum;
  }
  const int64_t row = like.SizeFrom(1);
  for (int64_t i = 0; i < indices->numel(); ++i)
    for (int64_t k = 0; k < row; ++k)
      sum[static_cast<size_t>(static_cast<int64_t>(NumberAt(*indices, i)) * row + k)] +=
          NumberAt(*values, i * row + k);
  return sum;
}

TEST(ControlGradients, EqualTheNumericOnes) {
  int rows = 0, repaired = 0;
  for (const Json& row : ReadJsonl("caffe2/control.jsonl")) {
    const std::string name = row.at("name");
    SCOPED_TRACE(name);
    Net net = NetFromText(row.at("forward").get<std::string>());
    net.name = net.Intern("train");
    GradientOptions options;
    for (const auto& loss : row.at("ys")) options.losses.push_back({net.Intern(loss.get<std::string>()), {}});
    const Result<Backward> plain = PlanGradients(net, StandardOps(), options);
    EXPECT_EQ(plain.has_value(), !NeedsRepair(name)) << (plain ? "no error" : plain.error().message);
    if (!plain) {
      EXPECT_EQ(plain.error().code, ErrorCode::kVersionConflict);
    }
    options.repair = true;
    const Result<RepairedPlan> plan = PlanWithRepair(net, StandardOps(), options);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_TRUE(plan->changed || !NeedsRepair(name));
    repaired += NeedsRepair(name);
    const Net train = AppendBackward(plan->changed ? plan->forward : net, plan->backward);
    if (std::getenv("WEFT_SHOW") && name == std::getenv("WEFT_SHOW")) std::cout << NetToText(train);

    RunContext context;
    context.kernels = &ReferenceKernels();
    context.ops = &StandardOps();
    Workspace workspace(context);
    for (const auto& [blob, array] : row.at("feeds").items()) workspace.Feed(blob, TensorFromJson(array));
    const Result<PreparedNet*> prepared = workspace.CreateNet(std::make_shared<const Net>(train));
    ASSERT_TRUE(prepared) << prepared.error().message;
    for (int run = 0; run < 2; ++run) {  // the second finds what the first left behind
      const Result<void> ran = (*prepared)->Run();
      ASSERT_TRUE(ran) << ran.error().message;
      for (const auto& [blob, array] : row.at("numeric_grads").items()) {
        const Tensor expected = TensorFromJson(array);
        const BlobGradient* found = nullptr;
        for (const BlobGradient& g : plan->backward.gradients)
          if (train.Str(g.blob) == blob) found = &g;
        ASSERT_NE(found, nullptr) << "no gradient of " << blob;
        const std::vector<double> got = DenseGradient(workspace, train, found->gradient, expected);
        for (size_t i = 0; i < got.size(); ++i) {
          const double e = NumberAt(expected, static_cast<int64_t>(i));
          ASSERT_LE(std::fabs(got[i] - e), 3e-4 + 1e-3 * std::fabs(e))
              << blob << "[" << i << "] is " << got[i] << ", expected " << e;
        }
      }
    }
    ++rows;
  }
  std::cout << "control: " << rows << " rows agree with the numeric gradients, " << repaired
            << " of them repaired\n";
}

}  // namespace
}  // namespace weft::test
