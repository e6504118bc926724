// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A workspace with the reference kernels, fed from short texts: for tests of single operators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/interpreter.h"
#include "tests/support/golden.h"

namespace weft::test {

struct OneNet {
  OneNet() {
    context.kernels = &ReferenceKernels();
    context.ops = &StandardOps();
  }
  /// Runs "type: 'Relu' input: ..." once; "" or the error.
  std::string Run(std::string_view op) {
    const Result<void> ran = workspace.RunNetOnce(NetFromText("op { " + std::string(op) + " }"));
    return ran ? "" : ran.error().message;
  }
  template <typename T = float>
  void Feed(std::string_view name, std::vector<int64_t> dims, const std::vector<T>& values) {
    workspace.Feed(name, Tensor::Of<T>(dims, values));
  }
  /// Different numbers between 0 and 1.
  void FeedAny(std::string_view name, std::vector<int64_t> dims) {
    std::vector<float> values;
    for (int64_t i = 0; i < NumElements(dims); ++i)
      values.push_back(0.1f + static_cast<float>(i * 37 % 101) / 128);
    Feed(name, std::move(dims), values);
  }
  template <typename T = float>
  std::vector<T> Values(std::string_view name) {
    const Tensor* tensor = workspace.FindTensor(name);
    if (!tensor || tensor->type() != DataTypeOf<T>) return {};
    return {tensor->values<T>().begin(), tensor->values<T>().end()};
  }
  std::string Shape(std::string_view name) {
    const Tensor* tensor = workspace.FindTensor(name);
    return tensor ? DimsToString(tensor->dims()) : "none";
  }

  RunContext context;
  Workspace workspace{context};
};

}  // namespace weft::test
