// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole training runs against recorded ones (tests/data/caffe2/train.jsonl): the loss after each step, and
// the parameters and running statistics at the end.
#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/interpreter.h"
#include "tests/run/arrays.h"

namespace weft::test {
namespace {

std::string RunTraining(const Json& row) {
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  Workspace workspace(context);
  if (auto ran = workspace.RunNetOnce(NetFromText(row.at("init_net").get<std::string>())); !ran)
    return "init: " + ran.error().message;
  for (const auto& [name, array] : row.at("init").items()) workspace.Feed(name, TensorFromJson(array));
  Net net = NetFromText(row.at("train_net").get<std::string>());
  net.name = net.Intern("train");
  const Result<PreparedNet*> prepared = workspace.CreateNet(std::make_shared<const Net>(net));
  if (!prepared) return "train: " + prepared.error().message;
  // Convolutions and batch norm sum in an order of their own in Caffe2.
  const std::string text = row.at("train_net");
  const bool loose =
      text.find("\"Conv\"") != std::string::npos || text.find("\"SpatialBN\"") != std::string::npos;
  const double tolerance = loose ? 1e-3 : 1e-4;
  int step = 0;
  for (const Json& expected : row.at("losses")) {
    if (auto ran = (*prepared)->Run(); !ran) return StrCat("step ", step, ": ", ran.error().message);
    const Tensor* loss = workspace.FindTensor(row.at("loss").get<std::string>());
    if (!loss || loss->empty()) return "no loss";
    const double found = NumberAt(*loss, 0), want = expected.get<double>();
    if (!(std::abs(found - want) <= tolerance * std::max(1e-3, std::abs(want))))
      return StrCat("loss after step ", step, " is ", found, ", expected ", want);
    ++step;
  }
  for (const auto& [name, array] : row.at("final").items()) {
    const Tensor* found = workspace.FindTensor(name);
    if (!found) return StrCat(name, " is not a tensor");
    const std::string difference = Difference(*found, TensorFromJson(array), tolerance * 1e-2, tolerance);
    if (!difference.empty()) return StrCat(name, " at the end: ", difference);
  }
  return "";
}

TEST(Train, LossesAndParametersAreCaffe2s) {
  int rows = 0, agree = 0;
  for (const Json& row : ReadJsonl("caffe2/train.jsonl")) {
    const std::string difference = RunTraining(row);
    EXPECT_EQ(difference, "") << row.at("name");
    ++rows;
    agree += difference.empty();
  }
  std::puts(StrCat("rows: ", agree, " of ", rows, " agree").c_str());
  EXPECT_EQ(rows, 15);
}

}  // namespace
}  // namespace weft::test
