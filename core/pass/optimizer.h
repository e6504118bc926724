// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizers as update operators, as Caffe2's builders emit them (optimizer.py): state and constants are
// filled in the init net, the iteration, the learning rate and one update per parameter are appended to the
// training net. Options are plain values with Caffe2's defaults. Linear in the two nets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net_builder.h"
#include "core/ops/gradient_context.h"

namespace weft {

/// What the LearningRate operator computes from the iteration.
struct LearningRate {
  float base = 0.01f;  // above zero: the direction is the optimizer's business
  std::string policy = "fixed";
  std::vector<OpArg> args{};  // of the policy: stepsize, gamma, power, ...
};

/// How repeated rows of a sparse gradient become one before the update.
enum class RowMerge : uint8_t { kNone, kSum, kMean };

struct Sgd {
  LearningRate rate{};
  float momentum = 0;
  bool nesterov = true;
  RowMerge merge = RowMerge::kNone;
};
struct Adagrad {
  LearningRate rate{};
  float epsilon = 1e-4f;
  float decay = 1;
  float weight_decay = 0;  // not for parameters of one dimension
  bool row_wise = false;   // one sum for each row; sparse gradients only
  RowMerge merge = RowMerge::kNone;
  std::string engine{};
};
struct Adam {
  LearningRate rate{.base = 0.001f};
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  bool row_wise = false;   // sparse gradients only
  bool rectified = false;  // RAdam for sparse gradients; dense ones get plain Adam, as in Caffe2
  RowMerge merge = RowMerge::kNone;
};
struct RmsProp {
  LearningRate rate{};
  float decay = 0.9f, momentum = 0, epsilon = 1e-5f;
  std::string engine{};
};
struct Adadelta {
  LearningRate rate{};
  float epsilon = 1e-4f, decay = 0.95f;
  RowMerge merge = RowMerge::kNone;
  std::string engine{};
};
struct Ftrl {  // has no learning rate operator
  float alpha = 0.01f, beta = 1e-4f, lambda1 = 0, lambda2 = 0;
  RowMerge merge = RowMerge::kNone;
  std::string engine{};  // Caffe2's builder asks for SIMD, which builds without it refuse
};
using Optimizer = std::variant<Sgd, Adagrad, Adam, RmsProp, Adadelta, Ftrl>;

/// A parameter and its gradient. Its device is where the init net, or else the net, makes it (or its
/// gradient); its shape is what its fill in the init net says.
struct TrainedParam {
  Symbol blob;
  Gradient gradient;
  std::optional<std::vector<int64_t>> shape{};  // when the init net does not tell
};

/// Appends the update of `params`, in order, to `net`, and its state to `init`. Blobs are called as in
/// Caffe2; the number in "SgdOptimizer_0_lr_cpu" is taken from `registry`. Errors: kInvalidArgument for a
/// rate that is not above zero (zero and less skip Adagrad, Adam, Adadelta and Ftrl in Caffe2), an unknown
/// policy, a parameter that is updated twice, or options that a parameter's gradient does not fit; kNotFound
/// for a parameter that no op makes, or whose shape is needed and not known.
Result<void> AddOptimizer(NameRegistry& registry, NetBuilder& net, NetBuilder& init,
                          const Optimizer& optimizer, std::span<const TrainedParam> params);

/// Adds `decay` times the parameter to each gradient: Caffe2's add_weight_decay, which it applies to weights,
/// not to biases. Call before AddOptimizer. Errors: kUnsupported for a sparse gradient; kNotFound as above.
Result<void> AddWeightDecay(NetBuilder& net, NetBuilder& init, float decay,
                            std::span<const TrainedParam> params);

/// The learning rate policies there are.
std::span<const std::string_view> LearningRatePolicies();

}  // namespace weft
