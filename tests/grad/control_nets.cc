// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/grad/control_nets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/str.h"
#include "core/ir/control_builder.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/gradient_check.h"
#include "tests/grad/plan_and_run.h"
#include "tests/support/compact_net.h"

namespace weft::test {

namespace {

std::vector<Symbol> BlobsOf(const std::vector<const Net*>& nets) {
  std::vector<Symbol> blobs;
  for (const Net* net : nets)
    for (const Op& op : net->ops) {
      blobs.insert(blobs.end(), op.inputs.begin(), op.inputs.end());
      blobs.insert(blobs.end(), op.outputs.begin(), op.outputs.end());
    }
  return blobs;
}

Symbol Fresh(Net& net, std::string_view stem) {
  for (int k = 0;; ++k) {
    const std::string name = StrCat(stem, k);
    if (!net.symbols->Find(name)) return net.Intern(name);
  }
}

void AddFill(Net& net, Symbol blob, DataType type, int64_t value) {
  Op& op = net.ops.emplace_back();
  op.type = net.Intern("ConstantFill");
  op.outputs = {blob};
  op.args =
      ArgList({MakeArg(net.Intern("dtype"), static_cast<int64_t>(type)), MakeArg(net.Intern("value"), value),
               MakeArg(net.Intern("shape"), std::vector<int64_t>{1})});
}

}  // namespace

Tensor Floats(const std::vector<float>& values) {
  const int64_t size = static_cast<int64_t>(values.size());
  return Tensor::Of<float>(std::span(&size, 1), values);
}
Tensor Rows(const std::vector<float>& values, int64_t columns) {
  const int64_t dims[] = {static_cast<int64_t>(values.size()) / columns, columns};
  return Tensor::Of<float>(dims, values);
}
Tensor Indices(const std::vector<int32_t>& values) {
  const int64_t size = static_cast<int64_t>(values.size());
  return Tensor::Of<int32_t>(std::span(&size, 1), values);
}

void AddOps(Net& net, std::string_view text) {
  for (Op& op : testing::CompactNet(text, net.symbols).ops) {
    if (net.Str(op.type) == "Scale") op.args = ArgList({MakeArg(net.Intern("scale"), 0.5f)});
    net.ops.push_back(std::move(op));
  }
}

void AddFlag(Net& net, std::string_view name, bool value) {
  AddFill(net, net.Intern(name), DataType::kBool, value);
}

Net Body(const Net& net, std::string_view text) {
  Net body(net.symbols);
  body.name = net.symbols->Intern("body");
  AddOps(body, text);
  return body;
}

void AddIf(Net& net, std::string_view cond, const Net& then_body, const Net* else_body,
           const std::vector<const Net*>& around) {
  ASSERT_TRUE(AppendIf(net, net.Intern(cond), then_body, else_body, BlobsOf(around)));
}

void AddLoop(Net& net, int times, const Net& body, const std::vector<const Net*>& around) {
  const Symbol i = Fresh(net, "i"), one = Fresh(net, "one"), limit = Fresh(net, "limit"),
               go = Fresh(net, "go");
  AddFill(net, i, DataType::kInt64, 0);
  AddFill(net, one, DataType::kInt64, 1);
  AddFill(net, limit, DataType::kInt64, times);
  Net condition(net.symbols);
  condition.name = net.Intern("condition");
  AddOps(condition, StrCat("Add(", net.Str(i), ", ", net.Str(one), ") -> ", net.Str(i), "; LE(", net.Str(i),
                           ", ", net.Str(limit), ") -> ", net.Str(go)));
  ASSERT_TRUE(AppendWhile(net, go, condition, body, BlobsOf(around)));
}

RepairedPlan ExpectRightGradients(Net& net, std::string_view losses, const TensorFeeds& feeds,
                                  GradientOptions options) {
  options.losses = ReadLosses(net, losses);
  Result<RepairedPlan> planned = PlanWithRepair(net, StandardOps(), options);
  if (!planned) {
    ADD_FAILURE() << planned.error().message;
    return {};
  }
  GradientCheck check;
  check.kernels = &ReferenceKernels();
  check.ops = &StandardOps();
  check.feeds = feeds;
  check.op_limit = 1000000;
  Net forward = net, backward = AppendBackward(planned->changed ? planned->forward : net, planned->backward);
  for (const Loss& loss : options.losses) {
    if (loss.given.none()) {
      check.losses.emplace_back(net.Str(loss.blob));
      continue;
    }
    // A given gradient weighs its loss.
    const std::string weighed = StrCat(net.Str(loss.blob), "_weighed");
    for (Net* both : {&forward, &backward})
      AddOps(*both, StrCat("Mul(", net.Str(loss.blob), ", ", net.Str(loss.given.dense), ") -> ", weighed));
    check.losses.push_back(weighed);
  }
  check.forward = &forward;
  check.backward = &backward;
  for (const auto& feed : feeds) {
    const std::string& blob = feed.first;
    if (feed.second.type() != DataType::kFloat) continue;
    const bool given = std::any_of(options.losses.begin(), options.losses.end(), [&](const Loss& loss) {
      return loss.given.is_dense() && net.Str(loss.given.dense) == blob;
    });
    if (given) continue;
    GradientPlace place{blob, "", "", ""};
    for (const BlobGradient& of : planned->backward.gradients) {
      if (net.Str(of.blob) != blob || of.version != 0) continue;
      if (of.gradient.is_dense()) place.dense = net.Str(of.gradient.dense);
      if (of.gradient.is_sparse()) {
        place.indices = net.Str(of.gradient.indices);
        place.values = net.Str(of.gradient.values);
      }
    }
    check.gradients.push_back(place);
  }
  check.in_double = true;
  check.step = 1e-3;
  check.absolute = check.relative = 1e-6;
  Result<std::vector<BlobGradientReport>> reports = CheckGradients(check);
  if (!reports) {
    check.in_double = false;
    check.step = 1e-2;
    check.absolute = 3e-4;
    check.relative = 1e-3;
    reports = CheckGradients(check);
  }
  if (!reports) {
    ADD_FAILURE() << reports.error().message;
    return {};
  }
  for (const BlobGradientReport& report : *reports) {
    EXPECT_EQ(report.wrong, 0) << report.blob << "[" << report.worst << "] is " << report.planned
                               << ", differences say " << report.numeric;
    EXPECT_LT(report.kinks, report.elements) << report.blob;
  }
  return std::move(planned).value();
}

}  // namespace weft::test
