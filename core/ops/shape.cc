// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators about the shape of a tensor: reshape, transpose, join, cut, repeat.
#include <utility>
#include <vector>

#include "core/base/str.h"
#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft {

namespace {

using enum GradientPolicy;

// The transpose back: the inverse permutation, or again the reversal of all axes.
Result<void> TransposeGradient(GradientContext& c) {
  if (!c.HasArg("axes")) {
    c.Add("Transpose", {c.GO(0)}, {c.GI(0)});
    return {};
  }
  const std::vector<int64_t> axes = ArgInts(*c.net().symbols, c.op().args, "axes");
  std::vector<int64_t> inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= static_cast<int64_t>(axes.size()))
      return Error{ErrorCode::kSchema, StrCat("argument axes of Transpose: ", axes[i], " is not an axis of ",
                                              axes.size(), " dimensions")};
    inverse[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  }
  c.Add("Transpose", {c.GO(0)}, {c.GI(0)}, {MakeArg(c.Name("axes"), std::move(inverse))});
  return {};
}

constexpr OpDef kOps[] = {
    {.name = "Concat",
     .in = {1, kAny},
     .out = 2,
     .ports = "->",
     .args = "axis:int=-1 order:string=NCHW add_axis:int=0",
     .policy = kRule,
     .gradient = "if GO0: Split(GO0, O1) -> GI[:]",
     .tier = 1},
    {.name = "DepthConcat",
     .in = {1, kAny},
     .out = 2,
     .ports = "->",
     .policy = kRule,
     .gradient = "if GO0: Split(GO0, O1) -> GI[:]",
     .tier = 3},
    {.name = "DepthSplit",
     .in = {1, 2},
     .out = {1, kAny},
     .ports = "->",
     .args = "split:ints",
     .policy = kRule,
     .gradient = "Concat(GO[:] or 0) -> GI0, '_{GI0}_dims'",
     .tier = 2},
    {.name = "Expand",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "allow_broadcast_fastpath:bool=0",
     .policy = kRule,
     .gradient = "ExpandGradient(GO0, I0) -> GI0",
     .tier = 2},
    {.name = "ExpandGradient",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "allow_broadcast_fastpath:bool=0",
     .tier = 2},
    {.name = "ExpandDims",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "dims:ints",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "Squeeze(GO0) -> GI0",
     .tier = 1},
    {.name = "Flatten",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "axis:int=1",
     .policy = kRule,
     .gradient = "ResizeLike(GO0, I0) -> GI0",
     .tier = 1},
    {.name = "FlattenToVec",
     .in = 1,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "ResizeLike(GO0, I0) -> GI0",
     .tier = 1},
    {.name = "LengthsToShape", .in = 1, .out = 1, .ports = "->", .policy = kForbidden, .tier = 3},
    {.name = "MergeDim", .in = 1, .out = 1, .ports = "->", .inplace = "0>0", .tier = 2},
    {.name = "NumpyTile", .in = 2, .out = {0, kAny}, .ports = "->", .tier = 2},
    {.name = "PrependDim",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "dim_size:int=0",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "MergeDim(GO0) -> GI0 !args",
     .tier = 3},
    {.name = "Reshape",
     .in = {1, 2},
     .out = 2,
     .ports = "->",
     .args = "shape:ints",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "Reshape(GO0, O1) -> GI0, '_{GI0}_dims' !args",
     .tier = 1},
    {.name = "ResizeLike", .in = 2, .out = 1, .ports = "->", .policy = kForbidden, .tier = 1},
    {.name = "Shape", .in = 1, .out = 1, .ports = "->", .args = "axes:ints", .policy = kForbidden, .tier = 1},
    {.name = "Size", .in = 1, .out = 1, .ports = "->", .policy = kNone, .tier = 2},
    {.name = "Slice",
     .in = {1, 3},
     .out = 1,
     .ports = "->",
     .args = "starts:ints ends:ints",
     .policy = kRule,
     .gradient = "SliceGradient(I0, I1 if in>1, I2 if in>1, GO0) -> GI0",
     .tier = 1},
    {.name = "SliceGradient",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "ends:ints starts:ints",
     .tier = 1},
    {.name = "Split",
     .in = {1, 2},
     .out = {1, kAny},
     .ports = "->",
     .args = "axis:int=-1 add_axis:int=0 split:ints order:string=NCHW",
     .policy = kRule,
     .gradient = "Concat(GO[:] or 0) -> GI0, '_{GI0}_dims'",
     .tier = 1},
    {.name = "SplitByLengths",
     .in = 2,
     .out = {1, kAny},
     .ports = "->",
     .args = "axis:int=-1 order:string=NCHW use_scaling_lengths:bool=0",
     .policy = kRule,
     .gradient = "Concat(GO[:] or 0) -> GI0, '_{GI0}_dims'",
     .tier = 2},
    {.name = "Squeeze",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "dims:ints",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "ExpandDims(GO0) -> GI0",
     .tier = 1},
    {.name = "Tile",
     .in = {1, 3},
     .out = 1,
     .ports = "->",
     .args = "tiles:int=1 axis:int=0",
     .policy = kRule,
     .gradient = "TileGradient(GO0, I[1:]) -> GI0",
     .tier = 2},
    {.name = "TileGradient",
     .in = {1, 3},
     .out = 1,
     .ports = "->",
     .args = "axis:int=0 tiles:int=1",
     .tier = 2},
    {.name = "Transpose",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "axes:ints",
     .policy = kRule,
     .gradient_fn = TransposeGradient,
     .tier = 1},
};

}  // namespace

OpFamily ShapeOps() { return kOps; }

}  // namespace weft
