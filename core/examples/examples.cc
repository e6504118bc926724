// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/examples/examples.h"

#include <string>
#include <vector>

#include "core/base/str.h"

namespace weft {

namespace {

constexpr Example kExamples[] = {
    {"lenet", "LeNet on MNIST images: convolutions, a loss, SGD", LeNetExample},
    {"resnet", "a small residual net: batch normalization, momentum, weight decay", ResNetExample},
    {"dlrm", "a small recommendation model: embeddings, sparse gradients, Adagrad", DlrmExample},
    {"lstm", "an LSTM over sequences: a RecurrentNetwork, Adam", LstmExample},
    {"loop", "a While and an If, and their gradients", LoopExample},
};

}  // namespace

std::span<const Example> Examples() { return kExamples; }

Result<ExampleModel> MakeExample(std::string_view name, const OpSet& ops) {
  std::vector<std::string> names;
  for (const Example& example : kExamples) {
    if (example.name == name) return example.make(ops);
    names.emplace_back(example.name);
  }
  return Error{ErrorCode::kNotFound,
               StrCat("there is no example ", name, "; there is ", StrJoin(names, ", "))};
}

}  // namespace weft
