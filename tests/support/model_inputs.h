// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The shapes of what is fed to the nets of tests/data/models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/pass/shapes.h"

namespace weft::test {

struct ModelInputs {
  std::string_view model;           // "resnet50_train"
  std::vector<std::string> inputs;  // "data=N,3,224,224", as ParseGivenBlob reads them
};
std::vector<ModelInputs> AllModelInputs();
/// An input with numbers for its symbols: those that caffe2/memory.jsonl was recorded with.
std::string WithNumbers(std::string_view input);

/// What is known of the inputs of `net`, one of the models: `inputs`, and what its init net fills.
std::vector<GivenBlob> GivenOfModel(const Net& net, const Net& init, const std::vector<std::string>& inputs,
                                    ShapeTable& table);

}  // namespace weft::test
