// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: fully connected layers, MatMul, tensor trains.
#include <vector>

#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft {

namespace {

using enum GradientPolicy;

// Caffe2 reads axis_a and axis_b as truth values here; 0 and 1 come out right, and so do larger axes in the
// default mode.
int64_t GradientAxis(const GradientContext& c, std::string_view name) {
  const int64_t axis = c.ArgI(name, 1);
  return axis > 1 && !c.caffe2_mode() ? axis : axis != 0;
}

// C = A B: dA = dC B', dB = A' dC; with transposed operands the factors change places.
Result<void> MatMulGradient(GradientContext& c) {
  const bool trans_a = c.ArgI("trans_a", 0) != 0, trans_b = c.ArgI("trans_b", 0) != 0;
  const int64_t axis_a = GradientAxis(c, "axis_a"), axis_b = GradientAxis(c, "axis_b");
  const auto add = [&](BlobList inputs, Symbol output, bool flip_a, bool flip_b, std::string_view axis_name,
                       int64_t axis) {
    std::vector<Arg> args;
    if (flip_a) args.push_back(MakeArg(c.Name("trans_a"), int64_t{1}));
    if (flip_b) args.push_back(MakeArg(c.Name("trans_b"), int64_t{1}));
    args.push_back(MakeArg(c.Name(axis_name), axis));
    c.Add("MatMul", inputs, std::span(&output, 1), args, GradientContext::kNoArgs);
  };
  const Symbol a = c.I(0), b = c.I(1), go = c.GO(0);
  if (trans_a)
    add({b, go, a}, c.GI(0), trans_b, true, "axis_a", axis_b);
  else
    add({go, b, a}, c.GI(0), false, !trans_b, "axis_b", axis_b);
  if (trans_b)
    add({go, a, b}, c.GI(1), true, trans_a, "axis_b", axis_a);
  else
    add({a, go, b}, c.GI(1), !trans_a, false, "axis_a", axis_a);
  return {};
}

Result<void> BatchMatMulGradient(GradientContext& c) {
  if (c.ArgI("broadcast", 0) != 0)
    return Error{ErrorCode::kUnsupported,
                 "Gradient is currently not supported with broadcast=1 for BatchMatMul."};
  const bool trans_a = c.ArgI("trans_a", 0) != 0, trans_b = c.ArgI("trans_b", 0) != 0;
  const auto add = [&](Symbol left, Symbol right, Symbol output, bool flip_a, bool flip_b) {
    std::vector<Arg> args;
    if (flip_a) args.push_back(MakeArg(c.Name("trans_a"), int64_t{1}));
    if (flip_b) args.push_back(MakeArg(c.Name("trans_b"), int64_t{1}));
    const Symbol inputs[] = {left, right};
    c.Add("BatchMatMul", inputs, std::span(&output, 1), args, GradientContext::kNoArgs);
  };
  const Symbol a = c.I(0), b = c.I(1), go = c.GO(0);
  if (trans_a)
    add(b, go, c.GI(0), trans_b, true);
  else
    add(go, b, c.GI(0), false, !trans_b);
  if (trans_b)
    add(go, a, c.GI(1), true, trans_a);
  else
    add(a, go, c.GI(1), !trans_a, false);
  return {};
}

constexpr OpDef kOps[] = {
    {.name = "BatchMatMul",
     .doc = "Matrix product over the last two axes, [..., M, K] by [..., K, N] to [..., M, N], each "
            "operand transposed there first if trans_a or trans_b is set. Leading axes are equal, "
            "or broadcast as in NumPy with broadcast.",
     .in = 2,
     .out = 1,
     .ports = "A B -> C",
     .args = "trans_a:int=0 trans_b:int=0 broadcast:int=0",
     .policy = kRule,
     .gradient_fn = BatchMatMulGradient,
     .shape = "batch_matmul",
     .cost = "2*|C|*|inner()|",
     .tier = 1},
    {.name = "ConcatBatchMatMulBatchGatherOp",
     .doc = "Stacks the inputs, each [N, D], into [N, K, D], multiplies each stack by its own "
            "transpose, and gathers the K x K products that the indices name: one row of Y for each "
            "of the N.",
     .in = {1, kAny},
     .out = 1,
     .ports = "indices inputs... -> Y",
     .shape = "Y = [inputs.0, |indices|] : inputs",
     .cost = "2*|Y|*inputs.1",
     .tier = 3},
    {.name = "FC",
     .doc = "Fully connected layer: Y = X W' + b with X as [M, K] (split at axis), W [N, K] (split "
            "at axis_w) and b [N]; Y keeps the leading axes of X.",
     .in = 3,
     .out = 1,
     .ports = "X W b -> Y",
     .args = "axis:int=1 axis_w:int=1 float16_compute:bool=0",
     .policy = kRule,
     .gradient = "FCGradient(I0, I1, GO0) -> GI1, GI2, GI0 if GI0",
     .shape = "Y = [X[:@axis], |W[:@axis_w]|]; check |W[@axis_w:]| = |X[@axis:]|; check |b| = |W[:@axis_w]|",
     .cost = "2*|Y|*|W[@axis_w:]|",
     .tier = 1},
    {.name = "FCGradient",
     .doc = "dW = dY' X, db = column sums of dY, and dX = dY W where it is asked for.",
     .in = 3,
     .out = {2, 3},
     .ports = "X W dY -> dW db dX?",
     .args = "axis:int=1 axis_w:int=1 float16_compute:bool=0",
     .shape = "dW = W; db = [|W[:@axis_w]|] : W; dX = X",
     .cost = "4*|dY|*|W[@axis_w:]|",
     .tier = 1},
    {.name = "FCTransposed",
     .doc = "Fully connected layer with the weight stored the other way: Y = X W + b, W [K, N].",
     .in = 3,
     .out = 1,
     .ports = "X W b -> Y",
     .args = "axis:int=1 axis_w:int=1 float16_compute:bool=0",
     .policy = kRule,
     .gradient = "FCTransposedGradient(I0, I1, GO0) -> GI1, GI2, GI0 if GI0",
     .shape = "Y = [X[:@axis], |W[@axis_w:]|]; check |W[:@axis_w]| = |X[@axis:]|; check |b| = |W[@axis_w:]|",
     .cost = "2*|Y|*|W[:@axis_w]|",
     .tier = 2},
    {.name = "FCTransposedGradient",
     .doc = "dW = X' dY, db = column sums of dY, and dX = dY W' where it is asked for.",
     .in = 3,
     .out = {2, 3},
     .ports = "X W dY -> dW db dX?",
     .args = "axis:int=1 axis_w:int=1 float16_compute:bool=0",
     .shape = "dW = W; db = [|W[@axis_w:]|] : W; dX = X",
     .cost = "4*|dY|*|W[:@axis_w]|",
     .tier = 2},
    {.name = "MatMul",
     .doc = "Product of two matrices, each input split into rows and columns at axis_a and axis_b "
            "and transposed by trans_a and trans_b. A third input lends its shape to the result.",
     .in = {2, 3},
     .out = 1,
     .ports = "A B shape? -> C",
     .args = "axis_a:int=1 axis_b:int=1 trans_a:int=0 trans_b:int=0",
     .policy = kRule,
     .gradient_fn = MatMulGradient,
     .shape = "matmul",
     .cost = "2*|C|*|inner()|",
     .tier = 1},
    {.name = "TT",
     .doc = "Fully connected layer whose weight is a tensor train: inp_sizes, out_sizes and "
            "tt_ranks describe the cores. Y = X W' + b.",
     .in = 3,
     .out = 1,
     .ports = "X b cores -> Y",
     .args = "inp_sizes:ints out_sizes:ints tt_ranks:ints",
     .policy = kNotImplemented,
     .shape = "Y = [X.0, |b|]",
     .tier = 3},
    {.name = "TTLinearGradient",
     .doc = "Gradient of TT; nothing was ever written behind the name.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> grads...",
     .shape_reason = "nothing was ever written behind the name",
     .tier = 3},
};

}  // namespace

OpFamily LinearOps() { return kOps; }

}  // namespace weft
