// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/inference.h"

#include <gtest/gtest.h>

#include "core/ops/schema.h"
#include "core/ssa/clone.h"
#include "tests/support/compact_net.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using testing::CompactNet;
using testing::ToCompact;

std::string Strip(std::string_view text) {
  return ToCompact(StripForInference(CompactNet(text), StandardOps()).net);
}

TEST(StripForInference, DropoutCopyAndStopGradientGo) {
  const Net net = CompactNet(
      "in x w; FC(x, w) -> a; Dropout(a) -> b, mask; Copy(b) -> c; StopGradient(c) -> c; Relu(c) -> d; out "
      "d");
  const InferenceNet stripped = StripForInference(net, StandardOps());
  EXPECT_EQ(ToCompact(stripped.net), "in x w; FC(x, w) -> a; Relu(a) -> d; out d");
  EXPECT_EQ(stripped.removed, (std::vector<OpId>{1, 2, 3}));
  EXPECT_TRUE(stripped.kept.empty());
}

TEST(StripForInference, InPlaceDropout) {
  EXPECT_EQ(Strip("FC(x, w, b) -> h; Relu(h) -> h; Dropout(h) -> h, m; Relu(h) -> h; out h"),
            "FC(x, w, b) -> h; Relu(h) -> h; Relu(h) -> h; out h");
}

TEST(StripForInference, WhatSomebodyLooksAtStays) {
  // An external output keeps its name: the Dropout works in test mode.
  EXPECT_EQ(Strip("FC(x, w, b) -> h; Dropout(h) -> y, m; out y"), "FC(x, w, b) -> h; Dropout(h) -> y; out y");
  // h is overwritten before the copy is read.
  EXPECT_EQ(Strip("FC(x, w, b) -> h; Copy(h) -> k; Relu(h) -> h; Add(h, k) -> y; out y"),
            "FC(x, w, b) -> h; Copy(h) -> k; Relu(h) -> h; Add(h, k) -> y; out y");
  // The copy is updated in place by an op that must.
  EXPECT_EQ(Strip("Copy(t) -> k; ScatterAssign(k, i, r) -> k; Add(k, t) -> y; out y"),
            "Copy(t) -> k; ScatterAssign(k, i, r) -> k; Add(k, t) -> y; out y");
  // A backward op reads the mask.
  EXPECT_EQ(Strip("Dropout(x) -> y, m; Relu(y) -> z; DropoutGrad(g, m) -> h; out z h"),
            "Dropout(x) -> y, m; Relu(y) -> z; DropoutGrad(g, m) -> h; out z h");
  EXPECT_EQ(Strip("Copy(x) -> k; Relu(x) -> y !k; out y"), "Copy(x) -> k; Relu(x) -> y !k; out y");
}

TEST(StripForInference, ACopyBetweenDevicesStays) {
  Net net = CompactNet("Relu(x) -> a; Copy(a) -> b; Relu(b) -> y; out y");
  DeviceOption cuda;
  cuda.device_type = kCuda;
  net.ops[1].device = std::make_shared<const DeviceOption>(cuda);
  EXPECT_EQ(ToCompact(StripForInference(net, StandardOps()).net), ToCompact(net));
}

// The forward net of a training net with batch normalization, to be run while training goes on: no op writes
// a blob of the training net.
TEST(StripForInference, NoOpWritesAParameter) {
  const Net train = test::NetFromFile("models/resnet50_train.pb");
  const Symbol data = train.symbols->Find("data"), softmax = train.symbols->Find("softmax");
  const auto part = ClonePartial(train, {.name = "run", .inputs = {{data, data}}, .outputs = {softmax}});
  ASSERT_TRUE(part.has_value()) << part.error().message;
  const InferenceNet stripped = StripForInference(part->net, StandardOps());
  EXPECT_FALSE(stripped.test_mode.empty());
  std::vector<bool> is_parameter(train.symbols->size(), false);
  for (Symbol name : part->net.external_inputs) is_parameter[name.id] = true;
  OpLookup lookup(StandardOps(), *train.symbols);
  for (const Op& op : stripped.net.ops) {
    for (Symbol name : op.outputs) EXPECT_FALSE(is_parameter[name.id]) << train.Str(name);
    const OpDef* def = lookup(op.type);
    ASSERT_NE(def, nullptr) << train.Str(op.type);
    EXPECT_TRUE(VerifySchema(*def, stripped.net, op).has_value()) << train.Str(op.type);
    EXPECT_EQ(std::string(train.Str(op.type)).find("Gradient"), std::string::npos);
  }
}

}  // namespace
}  // namespace weft
