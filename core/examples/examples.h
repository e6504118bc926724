// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Small models that Weft builds itself: what `weft example` writes, what tools/run shows when no file is
// given. Values; the two nets of a model share one SymbolTable.
#pragma once

#include <span>
#include <string_view>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"

namespace weft {

struct ExampleModel {
  Net init;     // fills the parameters; run once
  Net forward;  // up to the loss
  Net train;    // forward, backward and update; run for each batch
};

struct Example {
  std::string_view name;
  std::string_view what;
  Result<ExampleModel> (*make)(const OpSet& ops);
};

/// All of them; every one can be made.
std::span<const Example> Examples();
/// Errors: kNotFound naming the examples there are.
Result<ExampleModel> MakeExample(std::string_view name, const OpSet& ops);

/// LeNet on 28x28 grey images as Caffe2's MNIST tutorial builds it, trained by SGD with a step policy. Reads
/// "data" [N,1,28,28] and "label" [N].
Result<ExampleModel> LeNetExample(const OpSet& ops);

}  // namespace weft
