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
     .doc = "Mean of all elements, as one number.",
     .in = 1,
     .out = 1,
     .ports = "X -> loss",
     .policy = kRule,
     .gradient = "AveragedLossGradient(I0, GO0) -> GI0",
     .tier = 1},
    {.name = "AveragedLossGradient",
     .doc = "dX = dloss / elements of X, everywhere.",
     .in = 2,
     .out = 1,
     .ports = "X dloss -> dX",
     .tier = 1},
    {.name = "BernoulliJSD",
     .doc = "Jensen-Shannon divergence of two Bernoulli distributions with the probabilities X and "
            "T, element by element.",
     .in = 2,
     .out = 1,
     .ports = "X T -> L",
     .policy = kRule,
     .gradient = "BernoulliJSDGradient(GO0, I0, I1) -> GI0",
     .tier = 2},
    {.name = "BernoulliJSDGradient",
     .doc = "Gradient of BernoulliJSD for its first input.",
     .in = 3,
     .out = 1,
     .ports = "dL X T -> dX",
     .tier = 2},
    {.name = "CosineEmbeddingCriterion",
     .doc = "For each pair with cosine similarity S and label Y: 1 - S where Y is 1, max(0, S - "
            "margin) where it is -1.",
     .in = 2,
     .out = 1,
     .ports = "S Y -> loss",
     .args = "margin:float=0.0",
     .policy = kRule,
     .gradient = "CosineEmbeddingCriterionGradient(I0, I1, GO0) -> GI0",
     .tier = 3},
    {.name = "CosineEmbeddingCriterionGradient",
     .doc = "dS = -dloss where Y is 1, dloss where Y is -1 and S is above margin, 0 elsewhere.",
     .in = 3,
     .out = 1,
     .ports = "S Y dloss -> dS",
     .args = "margin:float=0.0",
     .tier = 3},
    {.name = "CosineSimilarity",
     .doc = "Cosine of the angle between the rows of X and Y, both [N, D]: C has N elements.",
     .in = 2,
     .out = 1,
     .ports = "X Y -> C",
     .policy = kRule,
     .gradient = "CosineSimilarityGradient(I0, I1, GO0) -> GI0, GI1",
     .tier = 2},
    {.name = "CosineSimilarityGradient",
     .doc = "Gradients of CosineSimilarity for both inputs.",
     .in = 3,
     .out = 2,
     .ports = "X Y dC -> dX dY",
     .tier = 2},
    {.name = "CrossEntropy",
     .doc = "For each row of the probabilities X [N, D] and target distribution T [N, D]: -sum(T "
            "log(max(X, 1e-20))).",
     .in = 2,
     .out = 1,
     .ports = "X T -> L",
     .policy = kRule,
     .gradient = "CrossEntropyGradient(I0, I1, GO0) -> GI0",
     .tier = 2},
    {.name = "CrossEntropyGradient",
     .doc = "dX = -dL T / max(X, 1e-20).",
     .in = 3,
     .out = 1,
     .ports = "X T dL -> dX",
     .tier = 2},
    {.name = "DotProduct",
     .doc = "Dot products of the rows of X and Y, both [N, D]: Z has N elements.",
     .in = 2,
     .out = 1,
     .ports = "X Y -> Z",
     .policy = kRule,
     .gradient = "DotProductGradient(I0, I1, GO0) -> GI0, GI1",
     .tier = 2},
    {.name = "DotProductGradient",
     .doc = "dX = dZ Y and dY = dZ X, row by row.",
     .in = 3,
     .out = 2,
     .ports = "X Y dZ -> dX dY",
     .tier = 2},
    {.name = "DotProductWithPadding",
     .doc = "Dot products of rows of different lengths: the shorter row is continued with "
            "pad_value, or repeated with replicate.",
     .in = 2,
     .out = 1,
     .ports = "X Y -> Z",
     .args = "pad_value:float=0.0 replicate:bool=0",
     .policy = kRule,
     .gradient = "DotProductWithPaddingGradient(I0, I1, GO0) -> GI0, GI1 {pad_value?=0.0 replicate?=0}",
     .tier = 3},
    {.name = "DotProductWithPaddingGradient",
     .doc = "Gradients of DotProductWithPadding.",
     .in = 3,
     .out = 2,
     .ports = "X Y dZ -> dX dY",
     .args = "pad_value:float=0.0 replicate:bool=0",
     .tier = 3},
    {.name = "HSoftmax",
     .doc = "Hierarchical softmax: minus the log probability of the label, multiplied along its "
            "path in the tree that hierarchy encodes; W and b hold the softmax layers of all tree "
            "nodes. X [N, D], loss [N]; intermediate keeps the layers' outputs.",
     .in = 4,
     .out = 2,
     .ports = "X W b labels -> loss intermediate",
     .args = "hierarchy:string num_classes:int=-1",
     .policy = kRule,
     .gradient = "HSoftmaxGradient(I[:], O1, GO0) -> GI0, GI1, GI2, GO1 if caffe2, GO1? if !caffe2, "
                 "'_{O1}_grad' if !GO1 and !caffe2",
     .tier = 3},
    {.name = "HSoftmaxGradient",
     .doc = "Gradients of HSoftmax; the last output is room to work in.",
     .in = 6,
     .out = 4,
     .ports = "X W b labels intermediate dloss -> dX dW db dintermediate",
     .args = "hierarchy:string num_classes:int=-1",
     .tier = 3},
    {.name = "HSoftmaxSearch",
     .doc = "The topN most probable labels of each row of X by beam search down tree, with their "
            "scores.",
     .in = 3,
     .out = 2,
     .ports = "X W b -> names scores",
     .args = "tree:string beam:float=0.01 topN:int=5",
     .policy = kForbidden,
     .tier = 3},
    {.name = "HuffmanTreeHierarchy",
     .doc = "Builds a Huffman tree over num_classes labels from how often each occurs, as the text "
            "that HSoftmax reads.",
     .in = 1,
     .out = 1,
     .ports = "labels -> tree",
     .args = "num_classes:int=-1",
     .tier = 3},
    {.name = "L1Distance",
     .doc = "Sum of absolute differences for each pair of rows of X and Y, both [N, D]: Z has N "
            "elements.",
     .in = 2,
     .out = 1,
     .ports = "X Y -> Z",
     .policy = kRule,
     .gradient = "L1DistanceGradient(I0, I1, GO0) -> GI0, GI1",
     .tier = 2},
    {.name = "L1DistanceGradient",
     .doc = "dX = dZ sign(X - Y), dY = -dX.",
     .in = 3,
     .out = 2,
     .ports = "X Y dZ -> dX dY",
     .tier = 2},
    {.name = "LabelCrossEntropy",
     .doc = "For each row of the probabilities X [N, D]: -log(max(X[i, label[i]], 1e-20)).",
     .in = 2,
     .out = 1,
     .ports = "X label -> L",
     .policy = kRule,
     .gradient = "LabelCrossEntropyGradient(I0, I1, GO0) -> GI0",
     .tier = 1},
    {.name = "LabelCrossEntropyGradient",
     .doc = "dX[i, label[i]] = -dL[i] / max(X[i, label[i]], 1e-20), 0 elsewhere.",
     .in = 3,
     .out = 1,
     .ports = "X label dL -> dX",
     .tier = 1},
    {.name = "LambdaRankNdcg",
     .doc = "Ranking loss by NDCG for each session: from predictions y and relevances r, the loss "
            "of the session and, ready for the gradient, the lambdas of its items.",
     .in = 3,
     .out = 2,
     .ports = "y r session_lengths -> loss dy",
     .args = "use_exp_gain:bool=1 use_idcg_normalization:bool=1 use_ndcg_as_loss:bool=0",
     .policy = kRule,
     .gradient = "LambdaRankNdcgGradient(I0, I2, O1, GO0) -> GI0",
     .tier = 3},
    {.name = "LambdaRankNdcgGradient",
     .doc = "Multiplies the lambdas by their session's dloss.",
     .in = 4,
     .out = 1,
     .ports = "y session_lengths dy_in dloss -> dy",
     .args = "use_exp_gain:bool=1 use_idcg_normalization:bool=1 use_ndcg_as_loss:bool=0",
     .tier = 3},
    {.name = "MakeTwoClass",
     .doc = "Turns probabilities X [N] into two columns [N, 2]: 1 - X and X.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .policy = kRule,
     .gradient = "MakeTwoClassGradient(GO0) -> GI0",
     .tier = 2},
    {.name = "MakeTwoClassGradient",
     .doc = "dX = dY[:, 1] - dY[:, 0].",
     .in = 1,
     .out = 1,
     .ports = "dY -> dX",
     .tier = 2},
    {.name = "MarginRankingCriterion",
     .doc = "For each triple: max(0, -Y (X1 - X2) + margin), with Y 1 where the first should rank "
            "higher and -1 where the second should.",
     .in = 3,
     .out = 1,
     .ports = "X1 X2 Y -> loss",
     .args = "margin:float=1.0",
     .policy = kRule,
     .gradient = "MarginRankingCriterionGradient(I0, I1, I2, GO0) -> GI0, GI1",
     .tier = 2},
    {.name = "MarginRankingCriterionGradient",
     .doc = "dX1 = -Y dloss where the loss is positive, 0 elsewhere; dX2 = -dX1.",
     .in = 4,
     .out = 2,
     .ports = "X1 X2 Y dloss -> dX1 dX2",
     .args = "margin:float=1.0",
     .tier = 2},
    {.name = "PairWiseLoss",
     .doc = "For each session: mean of log(1 + exp(x_low - x_high)) over its pairs whose labels "
            "differ.",
     .in = {2, 3},
     .out = 1,
     .ports = "X label lengths? -> loss",
     .policy = kRule,
     .gradient = "PairWiseLossGradient(I0, I1, GO0, I2?) -> GI0",
     .tier = 3},
    {.name = "PairWiseLossGradient",
     .doc = "Gradient of PairWiseLoss.",
     .in = {3, 4},
     .out = 1,
     .ports = "X label dloss lengths? -> dX",
     .tier = 3},
    {.name = "SigmoidCrossEntropyWithLogits",
     .doc = "Mean over each row of -t log(sigmoid(x)) - (1 - t) log(1 - sigmoid(x)): for [N, D], L "
            "has N elements. log_D_trick and unjoined_lr_loss change the formula.",
     .in = 2,
     .out = 1,
     .ports = "logits targets -> L",
     .args = "log_D_trick:bool=0 unjoined_lr_loss:bool=0",
     .policy = kRule,
     .gradient = "SigmoidCrossEntropyWithLogitsGradient(GO0, I0, I1) -> GI0",
     .tier = 1},
    {.name = "SigmoidCrossEntropyWithLogitsGradient",
     .doc = "dlogits = dL (sigmoid(x) - t) / D.",
     .in = 3,
     .out = 1,
     .ports = "dL logits targets -> dlogits",
     .args = "log_D_trick:bool=0 unjoined_lr_loss:bool=0",
     .tier = 1},
    {.name = "SoftmaxWithLoss",
     .doc = "Softmax over the axes from axis on, and the mean cross-entropy with integer labels (or "
            "label distributions with label_prob), weighted by weights and multiplied by scale: one "
            "number.",
     .in = {2, 3},
     .out = {0, kAny},
     .arities = "2/2 2/3 3/2 3/3",
     .ports = "logits labels weights? -> softmax loss scale?",
     .args = "label_prob:int=0 axis:int=1 scale:float=1.0 order:string=NCHW "
             "average_by_batch_size:int=0 only_loss:bool=0",
     .policy = kRule,
     .gradient_fn = SoftmaxWithLossGradient,
     .tier = 1},
    {.name = "SoftmaxWithLossGradient",
     .doc = "dlogits = dloss scale (softmax - target) weight / total weight.",
     .in = {0, kAny},
     .out = 1,
     .ports = "logits labels weights? softmax dloss -> dlogits",
     .args = "average_by_batch_size:int=0 axis:int=1 label_prob:int=0 only_loss:bool=0 "
             "order:string=NCHW scale:float=1.0",
     .tier = 1},
    {.name = "SpatialSoftmaxWithLoss",
     .doc = "Softmax over the channels of logits [N, D, H, W], and the mean cross-entropy with "
            "labels [N, H, W]; places labelled -1 do not count.",
     .in = {2, 3},
     .out = 2,
     .ports = "logits labels weights? -> softmax loss",
     .args = "only_loss:bool=0 order:string=NCHW scale:float=1.0",
     .policy = kRule,
     .gradient_fn = SpatialSoftmaxWithLossGradient,
     .tier = 2},
    {.name = "SpatialSoftmaxWithLossGradient",
     .doc = "Gradient of SpatialSoftmaxWithLoss through its loss.",
     .in = {0, kAny},
     .out = 1,
     .ports = "logits labels weights? softmax dloss -> dlogits",
     .args = "only_loss:bool=0 order:string=NCHW scale:float=1.0",
     .tier = 2},
    {.name = "SquaredL2Distance",
     .doc = "Half the squared Euclidean distance between the rows of X and Y, both [N, D]: Z has N "
            "elements.",
     .in = 2,
     .out = 1,
     .ports = "X Y -> Z",
     .policy = kRule,
     .gradient = "SquaredL2DistanceGradient(I0, I1, GO0) -> GI0, GI1",
     .tier = 1},
    {.name = "SquaredL2DistanceGradient",
     .doc = "dX = dZ (X - Y), dY = -dX.",
     .in = 3,
     .out = 2,
     .ports = "X Y dZ -> dX dY",
     .tier = 1},
    {.name = "WeightedSigmoidCrossEntropyWithLogits",
     .doc = "SigmoidCrossEntropyWithLogits with a weight for each element.",
     .in = 3,
     .out = 1,
     .ports = "logits targets weights -> L",
     .policy = kRule,
     .gradient = "WeightedSigmoidCrossEntropyWithLogitsGradient(GO0, I0, I1, I2) -> GI0",
     .tier = 2},
    {.name = "WeightedSigmoidCrossEntropyWithLogitsGradient",
     .doc = "dlogits = dL weight (sigmoid(x) - t) / D.",
     .in = 4,
     .out = 1,
     .ports = "dL logits targets weights -> dlogits",
     .tier = 2},
};

}  // namespace

OpFamily LossOps() { return kOps; }

}  // namespace weft
