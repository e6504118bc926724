// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the examples share: a model under construction with the few layers that they are made of, and how it
// becomes a training net. An error of a step is kept and told at the end, so that a model reads as one list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/examples/examples.h"
#include "core/ir/model_helper.h"
#include "core/pass/optimizer.h"

namespace weft {

class Model {
 public:
  explicit Model(std::string_view name) : builder_(registry_, name) {}

  NetBuilder& net() { return builder_.net(); }
  /// A parameter; its name when there was an error.
  std::string Param(const std::string& name, std::vector<int64_t> shape, const Filler& filler = {},
                    ParamKind kind = ParamKind::kWeight);
  /// An operator with one output.
  std::string Add(std::string_view type, std::vector<BlobRef> inputs, const std::string& output,
                  OpArgs args = {});
  /// Y = X W' + b on the axes from `axis` on.
  std::string Fc(const std::string& x, const std::string& name, int64_t in, int64_t out, int64_t axis = 1);

  /// Forward net, gradients and updates. `loss` and `outputs` become external outputs.
  Result<ExampleModel> Train(const OpSet& ops, const std::string& loss, std::vector<std::string> outputs,
                             const Optimizer& optimizer, float weight_decay = 0);
  /// The same for a forward net that was finished elsewhere; REQUIRES: over this model's symbol table.
  Result<ExampleModel> TrainNet(const OpSet& ops, Net forward, const std::string& loss,
                                std::vector<std::string> outputs, const Optimizer& optimizer,
                                float weight_decay = 0);
  Net TakeNet() { return std::move(builder_.net()).Finish(); }

 private:
  NameRegistry registry_;
  ModelHelper builder_;
  std::optional<Error> error_;
};

}  // namespace weft
