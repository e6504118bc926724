// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Two or more tensors met element by element, with broadcasting: sums, products, comparisons, logic.
#include <cmath>
#include <vector>

#include "core/base/str.h"
#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft {

namespace {

using enum GradientPolicy;

// d(x^c) = c x^(c-1) for a number c; with an exponent tensor also d(x^y)/dy = x^y log x, summed down to y's
// shape where y was broadcast.
Result<void> PowGradient(GradientContext& c) {
  constexpr auto kNoArgs = GradientContext::kNoArgs;
  const Symbol go = c.GO(0);
  if (c.HasArg("exponent")) {
    const float exponent = c.ArgF("exponent", 0);
    float inner = exponent - 1;
    if (c.I(0) == c.O(0)) {  // x is gone; x^(c-1) = (x^c)^((c-1)/c)
      if (std::fabs(exponent) <= 1e-12f)
        return Error{ErrorCode::kUnsupported,
                     "the gradient of an in-place Pow needs an exponent that is not 0"};
      inner = (exponent - 1) / exponent;
    }
    const Symbol gx = c.GI(0);
    c.Add("Pow", {c.I(0)}, {gx}, {MakeArg(c.Name("exponent"), inner)}, kNoArgs);
    c.Add("Mul", {gx, go}, {gx}, {}, kNoArgs);
    c.Add("Scale", {gx}, {gx}, {MakeArg(c.Name("scale"), exponent)}, kNoArgs);
    return {};
  }
  if (c.num_inputs() < 2)
    return Error{ErrorCode::kUnsupported, "Pow needs an exponent, as an argument or as its second input"};
  if (c.I(0) == c.O(0) || c.I(1) == c.O(0))
    return Error{ErrorCode::kUnsupported,
                 "Gradient computation cannot be carried out if Pow uses in-place computation"};
  std::vector<Arg> broadcast;
  if (c.HasArg("broadcast")) {
    broadcast = {MakeArg(c.Name("broadcast"), c.ArgI("broadcast", 0)),
                 MakeArg(c.Name("axis"), c.ArgI("axis", -1)),
                 MakeArg(c.Name("axis_str"), c.ArgS("axis_str", "")),
                 MakeArg(c.Name("order"), c.ArgS("order", "NCHW"))};
  }
  const auto add = [&](std::string_view type, BlobList inputs, Symbol output,
                       std::span<const Arg> args = {}) {
    c.Add(type, inputs, std::span(&output, 1), args, kNoArgs);
  };
  const Symbol gx = c.GI(0), gy = c.GI(1);
  const Symbol log = c.Name(StrCat(c.Str(gy), "_autogen_pre_red"));
  const Arg one = MakeArg(c.Name("value"), 1.0f);
  add("ConstantFill", {c.I(1)}, gy, std::span(&one, 1));
  add("Sub", {c.I(1), gy}, gy);
  add("Pow", {c.I(0), gy}, gx, broadcast);
  add("Mul", {gx, go}, gx);
  add("Mul", {gx, c.I(1)}, gx, broadcast);
  add("Log", {c.I(0)}, log);
  add("Mul", {log, c.O(0)}, log);
  if (broadcast.empty()) {
    add("Mul", {log, go}, gy);
  } else {
    add("Mul", {log, go}, log);
    add("SumReduceLike", {log, c.I(1)}, gy, std::span(broadcast).subspan(1));
  }
  return {};
}

constexpr OpDef kOps[] = {
    {.name = "Add",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "*",
     .policy = kRule,
     .gradient = "AddGradient(GO0, I0, I1) -> GI0, GI1",
     .tier = 1},
    {.name = "AddGradient",
     .in = 3,
     .out = 2,
     .ports = "->",
     .args = "broadcast:bool=0",
     .inplace = "0>0 0>1",
     .tier = 1},
    {.name = "And",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 1},
    {.name = "BitwiseAnd",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 3},
    {.name = "BitwiseOr",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 3},
    {.name = "BitwiseXor",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 3},
    {.name = "Div",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "DivGradient(GO0, I0, I1, O0) -> GI0, GI1",
     .tier = 1},
    {.name = "DivGradient",
     .in = {3, 4},
     .out = 2,
     .ports = "->",
     .args = "broadcast:bool=0",
     .inplace = "0>0",
     .tier = 1},
    {.name = "ElementwiseLinear",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "axis:int=1",
     .policy = kRule,
     .gradient = "ElementwiseLinearGradient(GO0, I0, I1) -> GI0, GI1, GI2",
     .tier = 2},
    {.name = "ElementwiseLinearGradient", .in = 3, .out = 3, .ports = "->", .args = "axis:int=1", .tier = 2},
    {.name = "EQ",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "GE",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "GT",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "LE",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "LT",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "Max",
     .in = {1, kAny},
     .out = 1,
     .ports = "->",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "MaxGradient(O0, GO0, I[:]) -> GI[:]",
     .tier = 1},
    {.name = "MaxGradient", .in = {3, kAny}, .out = {1, kAny}, .ports = "->", .tier = 1},
    {.name = "Mean",
     .in = {1, kAny},
     .out = 1,
     .ports = "->",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "MeanGradient(GO0) -> GI[:]",
     .tier = 2},
    {.name = "MeanGradient", .in = 1, .out = {1, kAny}, .ports = "->", .inplace = "0>0", .tier = 2},
    {.name = "Min",
     .in = {1, kAny},
     .out = 1,
     .ports = "->",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "MinGradient(O0, GO0, I[:]) -> GI[:]",
     .tier = 2},
    {.name = "MinGradient", .in = {3, kAny}, .out = {1, kAny}, .ports = "->", .tier = 2},
    {.name = "Mul",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "*",
     .policy = kRule,
     .gradient = "MulGradient(GO0, I0, I1) -> GI0, GI1",
     .tier = 1},
    {.name = "MulGradient",
     .in = 3,
     .out = 2,
     .ports = "->",
     .args = "broadcast:bool=0",
     .inplace = "0>0 0>1",
     .tier = 1},
    {.name = "NE",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .policy = kForbidden,
     .tier = 2},
    {.name = "Not", .in = 1, .out = 1, .ports = "->", .policy = kForbidden, .tier = 1},
    {.name = "Or",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 1},
    {.name = "Pow",
     .in = {1, 2},
     .out = 1,
     .ports = "->",
     .args = "exponent:float=0.0 axis:int=-1 broadcast:bool=0 axis_str:string order:string=NCHW",
     .inplace = "*",
     .policy = kRule,
     .gradient_fn = PowGradient,
     .tier = 1},
    {.name = "ReduceTailSum", .in = 1, .out = 1, .ports = "->", .tier = 2},
    {.name = "RowMul",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "RowMul(GO0, I1) -> GI0; Mul(GO0, I0) -> '{GI1}before_aggregate'; "
                 "ReduceTailSum('{GI1}before_aggregate') -> GI1",
     .tier = 2},
    {.name = "Scale",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "scale:float=1.0",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "Scale(GO0) -> GI0",
     .tier = 1},
    {.name = "ScaleBlobs",
     .in = {1, kAny},
     .out = {1, kAny},
     .ports = "->",
     .args = "scale:float=1.0",
     .inplace = "*",
     .tier = 3},
    {.name = "Sign", .in = 1, .out = 1, .ports = "->", .policy = kForbidden, .tier = 2},
    {.name = "SquareRootDivide",
     .in = 2,
     .out = 1,
     .ports = "->",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "SquareRootDivide(GO0, I1) -> GI0",
     .tier = 2},
    {.name = "Sub",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "*",
     .policy = kRule,
     .gradient = "SubGradient(GO0, I0, I1) -> GI0, GI1",
     .tier = 1},
    {.name = "SubGradient",
     .in = 3,
     .out = 2,
     .ports = "->",
     .args = "broadcast:bool=0",
     .inplace = "0>0 0>1",
     .tier = 1},
    {.name = "Sum",
     .in = {1, kAny},
     .out = 1,
     .ports = "->",
     .inplace = "0>0",
     .policy = kPassThrough,
     .gradient = "GI[:] = GO0",
     .tier = 1},
    {.name = "SumInt", .in = {1, kAny}, .out = 1, .ports = "->", .inplace = "0>0", .tier = 2},
    {.name = "SumReduceLike",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "axis:int=-1 axis_str:string order:string=NCHW",
     .tier = 3},
    {.name = "WeightedSum",
     .in = {0, kAny},
     .out = 1,
     .arities = "2n/1",
     .ports = "->",
     .args = "grad_on_w:bool=0",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "WeightedSumGradient(GO0, I[:]) -> GI[0::2], GI[1::2] if grad_on_w",
     .tier = 1},
    {.name = "WeightedSumGradient",
     .in = {0, kAny},
     .out = {1, kAny},
     .arities = "1/1+ 2n+1/1+",
     .ports = "->",
     .args = "grad_on_w:bool=0",
     .tier = 1},
    {.name = "Where",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "broadcast_on_rows:bool=0",
     .policy = kForbidden,
     .tier = 2},
    {.name = "Xor",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "broadcast:int=0 axis:int=-1",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 2},
};

}  // namespace

OpFamily ArithmeticOps() { return kOps; }

}  // namespace weft
