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
