// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Training nets that Caffe2's own model builders made: take the generated operators away, plan again, and the
// same operators come back, in both modes.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/ops/op_set.h"
#include "proto/codec.h"
#include "tests/grad/recorded_backward.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

bool HasTag(const Op& op, std::string_view tag) {
  return op.device && std::find(op.device->extra_info.begin(), op.device->extra_info.end(), tag) !=
                          op.device->extra_info.end();
}

bool IsSeed(const Net& net, const Op& op, std::string_view suffix) {
  return net.Str(op.type) == "ConstantFill" && op.inputs.size() == 1 &&
         net.Str(op.outputs[0]) == StrCat(net.Str(op.inputs[0]), suffix);
}

class Models : public testing::TestWithParam<const char*> {};

TEST_P(Models, BackwardComesBack) {
  const Net net = test::NetFromFile(StrCat("models/", GetParam(), ".pb"));
  const auto generated = [&](const Op& op) {
    return op.is_gradient_op.value_or(false) || HasTag(op, "is_auto_gen_sum_ops:1") ||
           IsSeed(net, op, "_autogen_grad");
  };
  const auto begin = std::find_if(net.ops.begin(), net.ops.end(), generated);
  const auto end = std::find_if_not(begin, net.ops.end(), generated);
  ASSERT_GT(end - begin, 10);
  Net forward = net;
  forward.ops.assign(net.ops.begin(), begin);
  GradientOptions options;
  // A data-parallel model fills its start gradients itself; the others leave that to the planner.
  for (const Op& op : forward.ops)
    if (IsSeed(net, op, "_grad")) options.losses.push_back({op.inputs[0], Gradient::Dense(op.outputs[0])});
  for (auto op = begin; op != end; ++op) {
    if (!IsSeed(net, *op, "_autogen_grad")) continue;
    options.losses.push_back({op->inputs[0], {}});
    options.scope_device = op->device;
  }
  for (uint32_t faults : {kNoFaults, kAllFaults}) {
    options.faults = faults;
    const Result<Backward> backward = PlanGradients(forward, StandardOps(), options);
    ASSERT_TRUE(backward) << backward.error().message;
    Net got(net.symbols), expected(net.symbols);
    got.ops = backward->ops;
    expected.ops.assign(begin, end);
    EXPECT_EQ(test::CompareOps(got, expected), "") << (faults ? "mode caffe2" : "default mode");
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Models,
                         testing::Values("alexnet_train", "dlrm_26", "inception_train", "overfeat_train",
                                         "resnet50_train", "resnet50_train_2gpu",
                                         "resnet50_train_2gpu_4shards_gloo", "resnet50_train_8gpu",
                                         "vgga_train"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft
