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

/// Residual blocks on small colour images. Reads "data" [N,3,H,W], H and W multiples of 4, and "label" [N].
Result<ExampleModel> ResNetExample(const OpSet& ops);
/// Reads "dense" [N,13], and for each of three tables "ids_<k>" [any] below 50 and "lens_<k>" [N] that add up
/// to their number; "label" [N,1].
Result<ExampleModel> DlrmExample(const OpSet& ops);
/// Reads "seq" [T,N,8], "lengths" [N], "h0" and "c0" [1,N,16], and "label" [T*N] below 8.
Result<ExampleModel> LstmExample(const OpSet& ops);
/// Reads "data" [N,4], "count" (int64 [1]: how often the loop runs), "is_strong" (one bool) and "target"
/// [N,8].
Result<ExampleModel> LoopExample(const OpSet& ops);

}  // namespace weft
