// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/grad/plan_and_run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/run/interpreter.h"
#include "tests/support/compact_net.h"

namespace weft::test {

std::vector<Loss> ReadLosses(Net& net, std::string_view losses) {
  std::vector<Loss> out;
  for (std::string_view word : StrSplit(losses, ' ')) {
    const size_t equals = word.find('='), comma = word.find(',');
    Loss loss{net.Intern(word.substr(0, equals)), {}};
    if (comma != std::string_view::npos)
      loss.given = Gradient::Sparse(net.Intern(word.substr(equals + 1, comma - equals - 1)),
                                    net.Intern(word.substr(comma + 1)));
    else if (equals != std::string_view::npos)
      loss.given = Gradient::Dense(net.Intern(word.substr(equals + 1)));
    out.push_back(loss);
  }
  return out;
}

Result<Backward> PlanFor(Net& net, std::string_view losses, GradientOptions options) {
  options.losses = ReadLosses(net, losses);
  return PlanGradients(net, StandardOps(), options);
}

std::string OpsOf(const Net& net, const Backward& backward) {
  Net generated(net.symbols);
  generated.ops = backward.ops;
  return testing::ToCompact(generated);
}

std::string GradientOf(const Net& net, const Backward& backward, std::string_view blob) {
  for (const BlobGradient& of : backward.gradients) {
    if (net.Str(of.blob) != blob) continue;
    if (of.gradient.is_dense()) return std::string(net.Str(of.gradient.dense));
    return StrCat("(", net.Str(of.gradient.indices), ", ", net.Str(of.gradient.values), ")");
  }
  return "";
}

Values RunFor(const Net& net, const Values& feeds, const std::vector<std::string>& names) {
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  Workspace workspace(context);
  for (const auto& [name, values] : feeds) {
    const int64_t size = static_cast<int64_t>(values.size());
    workspace.Feed(name, Tensor::Of<float>(std::span(&size, 1), values));
  }
  const Result<void> ran = workspace.RunNetOnce(net);
  if (!ran) {
    ADD_FAILURE() << ran.error().message;
    return {};
  }
  Values out;
  for (const std::string& name : names) {
    const Tensor* tensor = workspace.FindTensor(name);
    if (!tensor || tensor->type() != DataType::kFloat) {
      ADD_FAILURE() << name << " is no float tensor";
      continue;
    }
    out[name].assign(tensor->data<float>(), tensor->data<float>() + tensor->numel());
  }
  return out;
}

void ExpectNumericGradients(const Net& net, const Backward& backward, std::string_view losses,
                            const Values& feeds, const std::vector<std::string>& wrt) {
  Net names = net;
  const std::vector<Loss> read = ReadLosses(names, losses);
  const auto total = [&](const Values& fed) {
    std::vector<std::string> outputs;
    for (const Loss& loss : read) outputs.emplace_back(net.Str(loss.blob));
    Values values = RunFor(net, fed, outputs);
    double sum = 0;
    for (const Loss& loss : read) {
      const std::vector<float>& made = values[std::string(net.Str(loss.blob))];
      for (size_t i = 0; i < made.size(); ++i)
        sum += made[i] * (loss.given.none() ? 1.0 : fed.at(std::string(net.Str(loss.given.dense))).at(i));
    }
    return sum;
  };
  std::vector<std::string> gradients;
  for (const std::string& blob : wrt) gradients.push_back(GradientOf(net, backward, blob));
  Values found = RunFor(AppendBackward(net, backward), feeds, gradients);
  constexpr float kStep = 1e-2f;
  for (size_t k = 0; k < wrt.size(); ++k) {
    const std::vector<float>& gradient = found[gradients[k]];
    ASSERT_EQ(gradient.size(), feeds.at(wrt[k]).size()) << wrt[k];
    for (size_t i = 0; i < gradient.size(); ++i) {
      Values more = feeds, less = feeds;
      more[wrt[k]][i] += kStep;
      less[wrt[k]][i] -= kStep;
      const double numeric = (total(more) - total(less)) / (2 * kStep);
      EXPECT_NEAR(gradient[i], numeric, 1e-2 * std::max(1.0, std::abs(numeric))) << wrt[k] << " " << i;
    }
  }
}

}  // namespace weft::test
