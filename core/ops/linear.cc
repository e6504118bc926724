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
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "trans_a:int=0 trans_b:int=0 broadcast:int=0",
     .policy = kRule,
     .gradient_fn = BatchMatMulGradient,
     .tier = 1},
    {.name = "ConcatBatchMatMulBatchGatherOp", .in = {1, kAny}, .out = 1, .ports = "->", .tier = 3},
    {.name = "FC",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "axis:int=1 axis_w:int=1 float16_compute:bool=0",
     .policy = kRule,
     .gradient = "FCGradient(I0, I1, GO0) -> GI1, GI2, GI0",
     .tier = 1},
    {.name = "FCGradient",
     .in = 3,
     .out = {2, 3},
     .ports = "->",
     .args = "axis:int=1 axis_w:int=1 float16_compute:bool=0",
     .tier = 1},
    {.name = "FCTransposed",
     .in = 3,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "FCTransposedGradient(I0, I1, GO0) -> GI1, GI2, GI0",
     .tier = 2},
    {.name = "FCTransposedGradient", .in = 3, .out = {2, 3}, .ports = "->", .tier = 2},
    {.name = "MatMul",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "axis_a:int=1 axis_b:int=1 trans_a:int=0 trans_b:int=0",
     .policy = kRule,
     .gradient_fn = MatMulGradient,
     .tier = 1},
    {.name = "TT",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "inp_sizes:ints out_sizes:ints tt_ranks:ints",
     .policy = kNotImplemented,
     .tier = 3},
    {.name = "TTLinearGradient", .in = {0, kAny}, .out = {0, kAny}, .ports = "->", .tier = 3},
};

}  // namespace

OpFamily LinearOps() { return kOps; }

}  // namespace weft
