// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses and the distances and likelihoods that they are built from.
#include "core/base/str.h"
#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft {

namespace {

using enum GradientPolicy;

// The loss's own gradient, and in the default mode that of the softmax output too when someone used it
// (Caffe2 loses it: semantics section 8, B53). `softmax` adds the operators that take the gradient through
// the softmax.
Result<void> WithSoftmaxGradient(GradientContext& c, std::string_view type,
                                 void (*softmax)(GradientContext&, Symbol output)) {
  BlobList inputs(std::span<const Symbol>(c.op().inputs));
  inputs.push_back(c.O(0));
  const bool both = !c.caffe2_mode() && c.has_GO(0);
  if (both && !c.has_GO(1)) {
    softmax(c, c.GI(0));
    return {};
  }
  inputs.push_back(c.GO(1));
  if (!both) {
    const Symbol gradient = c.GI(0);
    c.Add(type, inputs, std::span(&gradient, 1));
    return {};
  }
  const Symbol from_loss = c.Name(StrCat(c.Str(c.GI(0)), "_from_loss"));
  const Symbol from_softmax = c.Name(StrCat(c.Str(c.GI(0)), "_from_softmax"));
  c.Add(type, inputs, std::span(&from_loss, 1));
  softmax(c, from_softmax);
  c.Add("Sum", {from_loss, from_softmax}, {c.GI(0)}, {}, GradientContext::kNoArgsOrEngine);
  return {};
}

Result<void> SoftmaxWithLossGradient(GradientContext& c) {
  return WithSoftmaxGradient(c, "SoftmaxWithLossGradient", [](GradientContext& c, Symbol output) {
    c.Add("SoftmaxGradient", {c.O(0), c.GO(0)}, {output}, {MakeArg(c.Name("axis"), c.ArgI("axis", 1))},
          GradientContext::kNoArgsOrEngine);
  });
}

// The softmax runs over the channels, so they go last on the way.
Result<void> SpatialSoftmaxWithLossGradient(GradientContext& c) {
  return WithSoftmaxGradient(c, "SpatialSoftmaxWithLossGradient", [](GradientContext& c, Symbol output) {
    constexpr auto kPlain = GradientContext::kNoArgsOrEngine;
    const auto temporary = [&](std::string_view suffix) { return c.Name(StrCat(c.Str(output), suffix)); };
    const Symbol softmax = temporary("_softmax_nhwc"), incoming = temporary("_incoming_nhwc"),
                 nhwc = temporary("_nhwc");
    c.Add("NCHW2NHWC", {c.O(0)}, {softmax}, {}, kPlain);
    c.Add("NCHW2NHWC", {c.GO(0)}, {incoming}, {}, kPlain);
    c.Add("SoftmaxGradient", {softmax, incoming}, {nhwc}, {MakeArg(c.Name("axis"), int64_t{3})}, kPlain);
    c.Add("NHWC2NCHW", {nhwc}, {output}, {}, kPlain);
  });
}

constexpr OpDef kOps[] = {
    {.name = "AveragedLoss",
     .in = 1,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "AveragedLossGradient(I0, GO0) -> GI0",
     .tier = 1},
    {.name = "AveragedLossGradient", .in = 2, .out = 1, .ports = "->", .tier = 1},
    {.name = "BernoulliJSD",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "BernoulliJSDGradient(GO0, I0, I1) -> GI0",
     .tier = 2},
    {.name = "BernoulliJSDGradient", .in = 3, .out = 1, .ports = "->", .tier = 2},
    {.name = "CosineEmbeddingCriterion",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "margin:float=0.0",
     .policy = kRule,
     .gradient = "CosineEmbeddingCriterionGradient(I0, I1, GO0) -> GI0",
     .tier = 3},
    {.name = "CosineEmbeddingCriterionGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "margin:float=0.0",
     .tier = 3},
    {.name = "CosineSimilarity",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "CosineSimilarityGradient(I0, I1, GO0) -> GI0, GI1",
     .tier = 2},
    {.name = "CosineSimilarityGradient", .in = 3, .out = 2, .ports = "->", .tier = 2},
    {.name = "CrossEntropy",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "CrossEntropyGradient(I0, I1, GO0) -> GI0",
     .tier = 2},
    {.name = "CrossEntropyGradient", .in = 3, .out = 1, .ports = "->", .tier = 2},
    {.name = "DotProduct",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "DotProductGradient(I0, I1, GO0) -> GI0, GI1",
     .tier = 2},
    {.name = "DotProductGradient", .in = 3, .out = 2, .ports = "->", .tier = 2},
    {.name = "DotProductWithPadding",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "pad_value:float=0.0 replicate:bool=0",
     .policy = kRule,
     .gradient = "DotProductWithPaddingGradient(I0, I1, GO0) -> GI0, GI1 {pad_value?=0.0 replicate?=0}",
     .tier = 3},
    {.name = "DotProductWithPaddingGradient",
     .in = 3,
     .out = 2,
     .ports = "->",
     .args = "pad_value:float=0.0 replicate:bool=0",
     .tier = 3},
    {.name = "HSoftmax",
     .in = 4,
     .out = 2,
     .ports = "->",
     .args = "hierarchy:string num_classes:int=-1",
     .policy = kRule,
     .gradient = "HSoftmaxGradient(I[:], O1, GO0) -> GI0, GI1, GI2, GO1 if caffe2, GO1? if !caffe2, "
                 "'_{O1}_grad' if !GO1 and !caffe2",
     .tier = 3},
    {.name = "HSoftmaxGradient",
     .in = 6,
     .out = 4,
     .ports = "->",
     .args = "hierarchy:string num_classes:int=-1",
     .tier = 3},
    {.name = "HSoftmaxSearch",
     .in = 3,
     .out = 2,
     .ports = "->",
     .args = "tree:string beam:float=0.01 topN:int=5",
     .policy = kForbidden,
     .tier = 3},
    {.name = "HuffmanTreeHierarchy",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "num_classes:int=-1",
     .tier = 3},
    {.name = "L1Distance",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "L1DistanceGradient(I0, I1, GO0) -> GI0, GI1",
     .tier = 2},
    {.name = "L1DistanceGradient", .in = 3, .out = 2, .ports = "->", .tier = 2},
    {.name = "LabelCrossEntropy",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "LabelCrossEntropyGradient(I0, I1, GO0) -> GI0",
     .tier = 1},
    {.name = "LabelCrossEntropyGradient", .in = 3, .out = 1, .ports = "->", .tier = 1},
    {.name = "LambdaRankNdcg",
     .in = 3,
     .out = 2,
     .ports = "->",
     .args = "use_exp_gain:bool=1 use_idcg_normalization:bool=1 use_ndcg_as_loss:bool=0",
     .policy = kRule,
     .gradient = "LambdaRankNdcgGradient(I0, I2, O1, GO0) -> GI0",
     .tier = 3},
    {.name = "LambdaRankNdcgGradient",
     .in = 4,
     .out = 1,
     .ports = "->",
     .args = "use_exp_gain:bool=1 use_idcg_normalization:bool=1 use_ndcg_as_loss:bool=0",
     .tier = 3},
    {.name = "MakeTwoClass",
     .in = 1,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "MakeTwoClassGradient(GO0) -> GI0",
     .tier = 2},
    {.name = "MakeTwoClassGradient", .in = 1, .out = 1, .ports = "->", .tier = 2},
    {.name = "MarginRankingCriterion",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "margin:float=1.0",
     .policy = kRule,
     .gradient = "MarginRankingCriterionGradient(I0, I1, I2, GO0) -> GI0, GI1",
     .tier = 2},
    {.name = "MarginRankingCriterionGradient",
     .in = 4,
     .out = 2,
     .ports = "->",
     .args = "margin:float=1.0",
     .tier = 2},
    {.name = "PairWiseLoss",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "PairWiseLossGradient(I0, I1, GO0, I2?) -> GI0",
     .tier = 3},
    {.name = "PairWiseLossGradient", .in = {3, 4}, .out = 1, .ports = "->", .tier = 3},
    {.name = "SigmoidCrossEntropyWithLogits",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "log_D_trick:bool=0 unjoined_lr_loss:bool=0",
     .policy = kRule,
     .gradient = "SigmoidCrossEntropyWithLogitsGradient(GO0, I0, I1) -> GI0",
     .tier = 1},
    {.name = "SigmoidCrossEntropyWithLogitsGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "log_D_trick:bool=0 unjoined_lr_loss:bool=0",
     .tier = 1},
    {.name = "SoftmaxWithLoss",
     .in = {2, 3},
     .out = {0, kAny},
     .arities = "2/2 2/3 3/2 3/3",
     .ports = "->",
     .args = "label_prob:int=0 axis:int=1 scale:float=1.0 order:string=NCHW "
             "average_by_batch_size:int=0 only_loss:bool=0",
     .policy = kRule,
     .gradient_fn = SoftmaxWithLossGradient,
     .tier = 1},
    {.name = "SoftmaxWithLossGradient",
     .in = {0, kAny},
     .out = 1,
     .ports = "->",
     .args = "average_by_batch_size:int=0 axis:int=1 label_prob:int=0 only_loss:bool=0 "
             "order:string=NCHW scale:float=1.0",
     .tier = 1},
    {.name = "SpatialSoftmaxWithLoss",
     .in = {2, 3},
     .out = 2,
     .ports = "->",
     .args = "only_loss:bool=0 order:string=NCHW scale:float=1.0",
     .policy = kRule,
     .gradient_fn = SpatialSoftmaxWithLossGradient,
     .tier = 2},
    {.name = "SpatialSoftmaxWithLossGradient",
     .in = {0, kAny},
     .out = 1,
     .ports = "->",
     .args = "only_loss:bool=0 order:string=NCHW scale:float=1.0",
     .tier = 2},
    {.name = "SquaredL2Distance",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "SquaredL2DistanceGradient(I0, I1, GO0) -> GI0, GI1",
     .tier = 1},
    {.name = "SquaredL2DistanceGradient", .in = 3, .out = 2, .ports = "->", .tier = 1},
    {.name = "WeightedSigmoidCrossEntropyWithLogits",
     .in = 3,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "WeightedSigmoidCrossEntropyWithLogitsGradient(GO0, I0, I1, I2) -> GI0",
     .tier = 2},
    {.name = "WeightedSigmoidCrossEntropyWithLogitsGradient", .in = 4, .out = 1, .ports = "->", .tier = 2},
};

}  // namespace

OpFamily LossOps() { return kOps; }

}  // namespace weft
