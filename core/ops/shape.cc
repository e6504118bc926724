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
     .doc = "Joins tensors along axis (the channel axis by order when axis is not given), or along "
            "a new one with add_axis. split holds the length of each input there, for the "
            "gradient's Split.",
     .in = {1, kAny},
     .out = 2,
     .ports = "inputs... -> Y split",
     .args = "axis:int=-1 order:string=NCHW add_axis:int=0",
     .policy = kRule,
     .gradient = "if GO0: Split(GO0, O1) -> GI[:]",
     .tier = 1},
    {.name = "DepthConcat",
     .doc = "Concat along the channel axis of order.",
     .in = {1, kAny},
     .out = 2,
     .ports = "inputs... -> Y split",
     .args = "order:string=NCHW",
     .policy = kRule,
     .gradient = "if GO0: Split(GO0, O1) -> GI[:]",
     .tier = 3},
    {.name = "DepthSplit",
     .doc = "Split along the channel axis of order.",
     .in = {1, 2},
     .out = {1, kAny},
     .ports = "X split? -> outputs...",
     .args = "order:string=NCHW split:ints",
     .policy = kRule,
     .gradient = "Concat(GO[:] or 0) -> GI0, '_{GI0}_dims'",
     .tier = 2},
    {.name = "Expand",
     .doc = "Broadcasts X to a shape in the NumPy way; a 1 in the shape keeps the axis of X.",
     .in = 2,
     .out = 1,
     .ports = "X shape -> Y",
     .args = "allow_broadcast_fastpath:bool=0",
     .policy = kRule,
     .gradient = "ExpandGradient(GO0, I0) -> GI0",
     .tier = 2},
    {.name = "ExpandGradient",
     .doc = "Sums dY over the axes that Expand repeated.",
     .in = 2,
     .out = 1,
     .ports = "dY X -> dX",
     .args = "allow_broadcast_fastpath:bool=0",
     .tier = 2},
    {.name = "ExpandDims",
     .doc = "Inserts axes of length 1 so that they are at the places dims of the result.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "dims:ints",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "Squeeze(GO0) -> GI0",
     .tier = 1},
    {.name = "Flatten",
     .doc = "Joins the axes before axis into one and those from axis on into another: a matrix.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "axis:int=1",
     .policy = kRule,
     .gradient = "ResizeLike(GO0, I0) -> GI0",
     .tier = 1},
    {.name = "FlattenToVec",
     .doc = "All elements as one axis.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .policy = kRule,
     .gradient = "ResizeLike(GO0, I0) -> GI0",
     .tier = 1},
    {.name = "LengthsToShape",
     .doc = "The shape [n, l] of n equal lengths l: an int32 tensor of two elements.",
     .in = 1,
     .out = 1,
     .ports = "lengths -> shape",
     .policy = kForbidden,
     .tier = 3},
    {.name = "MergeDim",
     .doc = "Joins the first two axes into one: [A, B, ...] to [A B, ...].",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .inplace = "0>0",
     .tier = 2},
    {.name = "NumpyTile",
     .doc = "Repeats X along each axis as often as repeats says, as numpy.tile does; X and repeats "
            "have the same rank.",
     .in = 2,
     .out = {0, kAny},
     .ports = "X repeats -> Y",
     .tier = 2},
    {.name = "PrependDim",
     .doc = "Splits the first axis into [dim_size, rest].",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "dim_size:int=0",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "MergeDim(GO0) -> GI0 !args",
     .tier = 3},
    {.name = "Reshape",
     .doc = "The same elements in another shape, given as argument or input: 0 keeps an axis, -1 "
            "takes what is left. old_shape serves the gradient.",
     .in = {1, 2},
     .out = 2,
     .ports = "X shape? -> Y old_shape",
     .args = "shape:ints",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "Reshape(GO0, O1) -> GI0, '_{GI0}_dims' !args",
     .tier = 1},
    {.name = "ResizeLike",
     .doc = "The elements of X in the shape of the second input, which has as many.",
     .in = 2,
     .out = 1,
     .ports = "X like -> Y",
     .policy = kForbidden,
     .tier = 1},
    {.name = "Shape",
     .doc = "The shape of X, or its axes alone: an int64 tensor of one axis.",
     .in = 1,
     .out = 1,
     .ports = "X -> shape",
     .args = "axes:ints",
     .policy = kForbidden,
     .tier = 1},
    {.name = "Size",
     .doc = "The number of elements of X: one int64 number.",
     .in = 1,
     .out = 1,
     .ports = "X -> size",
     .policy = kNone,
     .tier = 2},
    {.name = "Slice",
     .doc = "Cuts one range out of each axis, from starts up to but not ends, given as arguments or "
            "inputs; a negative end counts from behind, -1 is all.",
     .in = {1, 3},
     .out = 1,
     .ports = "X starts? ends? -> Y",
     .args = "starts:ints ends:ints",
     .policy = kRule,
     .gradient = "SliceGradient(I0, I1 if in>1, I2 if in>1, GO0) -> GI0",
     .tier = 1},
    {.name = "SliceGradient",
     .doc = "Zeros in the shape of X with dY in the place that was cut out.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "X starts? ends? dY -> dX",
     .args = "ends:ints starts:ints",
     .tier = 1},
    {.name = "Split",
     .doc = "Cuts X along axis (the channel axis by order when axis is not given) into equal parts, "
            "or into parts of the lengths in split, argument or input. With add_axis the axis goes "
            "away.",
     .in = {1, 2},
     .out = {1, kAny},
     .ports = "X split? -> outputs...",
     .args = "axis:int=-1 add_axis:int=0 split:ints order:string=NCHW",
     .policy = kRule,
     .gradient = "Concat(GO[:] or 0) -> GI0, '_{GI0}_dims'",
     .tier = 1},
    {.name = "SplitByLengths",
     .doc = "Cuts X along axis into as many parts as there are outputs; each gets the sum of its "
            "share of lengths.",
     .in = 2,
     .out = {1, kAny},
     .ports = "X lengths -> outputs...",
     .args = "axis:int=-1 order:string=NCHW use_scaling_lengths:bool=0",
     .policy = kRule,
     .gradient = "Concat(GO[:] or 0) -> GI0, '_{GI0}_dims'",
     .tier = 2},
    {.name = "Squeeze",
     .doc = "Drops the axes dims, whose length is 1.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "dims:ints",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "ExpandDims(GO0) -> GI0",
     .tier = 1},
    {.name = "Tile",
     .doc = "Repeats X tiles times along axis, both given as arguments or inputs.",
     .in = {1, 3},
     .out = 1,
     .ports = "X tiles? axis? -> Y",
     .args = "tiles:int=1 axis:int=0",
     .policy = kRule,
     .gradient = "TileGradient(GO0, I[1:]) -> GI0",
     .tier = 2},
    {.name = "TileGradient",
     .doc = "Sums dY over the repetitions.",
     .in = {1, 3},
     .out = 1,
     .ports = "dY tiles? axis? -> dX",
     .args = "axis:int=0 tiles:int=1",
     .tier = 2},
    {.name = "Transpose",
     .doc = "Permutes the axes: axis i of Y is axis axes[i] of X; without axes their order is "
            "reversed.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "axes:ints",
     .policy = kRule,
     .gradient_fn = TransposeGradient,
     .tier = 1},
};

}  // namespace

OpFamily ShapeOps() { return kOps; }

}  // namespace weft
