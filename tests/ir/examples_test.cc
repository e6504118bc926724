// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The example models: well formed, and they learn.
#include "core/examples/examples.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/str.h"
#include "core/check/check_net.h"
#include "core/kernels/families.h"
#include "core/run/interpreter.h"

namespace weft {
namespace {

struct Feeder {
  Workspace& workspace;
  std::mt19937 random{3};

  void Floats(const std::string& name, std::vector<int64_t> dims, float scale = 1) {
    std::vector<float> values(Count(dims));
    for (float& v : values) v = scale * (static_cast<float>(random() % 2000) / 1000.0f - 1.0f);
    workspace.Feed(name, Tensor::Of<float>(dims, values));
  }
  template <typename T>
  void Ints(const std::string& name, std::vector<int64_t> dims, uint32_t below, T least = 0) {
    std::vector<T> values(Count(dims));
    for (T& v : values) v = static_cast<T>(least + static_cast<T>(random() % below));
    workspace.Feed(name, Tensor::Of<T>(dims, values));
  }
  static size_t Count(const std::vector<int64_t>& dims) {
    size_t n = 1;
    for (int64_t d : dims) n *= static_cast<size_t>(d);
    return n;
  }
};

void Feed(const std::string& name, Workspace& workspace) {
  Feeder feed{workspace};
  if (name == "lenet") {
    feed.Floats("data", {4, 1, 28, 28}, 0.1f);
    feed.Ints<int32_t>("label", {4}, 10);
  } else if (name == "resnet") {
    feed.Floats("data", {4, 3, 8, 8});
    feed.Ints<int32_t>("label", {4}, 10);
  } else if (name == "dlrm") {
    feed.Floats("dense", {6, 13});
    for (int table = 0; table < 3; ++table) {
      feed.Ints<int64_t>(StrCat("ids_", table), {12}, 50);
      feed.Ints<int32_t>(StrCat("lens_", table), {6}, 1, 2);
    }
    feed.Ints<int32_t>("label_int", {6, 1}, 2);
    std::vector<float> label;
    for (int32_t v : workspace.FindTensor("label_int")->values<int32_t>())
      label.push_back(static_cast<float>(v));
    const int64_t dims[] = {6, 1};
    workspace.Feed("label", Tensor::Of<float>(dims, label));
  } else if (name == "lstm") {
    feed.Floats("seq", {5, 3, 8});
    feed.Ints<int32_t>("lengths", {3}, 1, 5);
    feed.Floats("h0", {1, 3, 16});
    feed.Floats("c0", {1, 3, 16});
    feed.Ints<int32_t>("label", {15}, 8);
  } else {
    feed.Floats("data", {5, 4});
    feed.Floats("target", {5, 8});
    feed.Ints<int64_t>("count", {1}, 1, 3);
    const int64_t dims[] = {1};
    const bool strong[] = {false};
    workspace.Feed("is_strong", Tensor::Of<bool>(dims, strong));
  }
}

TEST(Examples, Learn) {
  for (const Example& example : Examples()) {
    SCOPED_TRACE(std::string(example.name));
    const Result<ExampleModel> model = MakeExample(example.name, StandardOps());
    ASSERT_TRUE(model.has_value()) << model.error().message;
    for (const Net* net : {&model->init, &model->forward, &model->train})
      for (const Diagnostic& finding : CheckNet(*net, {.ops = &StandardOps()}))
        EXPECT_NE(finding.severity, Severity::kError) << finding.message;
    RunContext context;
    context.kernels = &ReferenceKernels();
    context.ops = &StandardOps();
    context.seed = 1;
    Workspace workspace(context);
    const auto filled = workspace.RunNetOnce(model->init);
    ASSERT_TRUE(filled.has_value()) << filled.error().message;
    Feed(std::string(example.name), workspace);
    const auto prepared = workspace.CreateNet(std::make_shared<const Net>(model->train));
    ASSERT_TRUE(prepared.has_value()) << prepared.error().message;
    float first = 0, last = 0;
    const int steps = example.name == "lenet" ? 6 : 15;
    for (int step = 0; step < steps; ++step) {
      const auto ran = (*prepared)->Run();
      ASSERT_TRUE(ran.has_value()) << "step " << step << ": " << ran.error().message;
      last = workspace.FindTensor("loss")->data<float>()[0];
      if (step == 0) first = last;
    }
    EXPECT_LT(last, first * 0.9f) << first;
  }
}

}  // namespace
}  // namespace weft
