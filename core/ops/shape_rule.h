// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The one-line shape rules and costs. A rule is statements separated by ';', over the names of the operator's
// ports:
//
//   Y = X                                 shape and type of X
//   Y = X : float                         its shape, another type; `: lengths` the type of that input,
//                                         `: @dtype` the type that an argument says
//   Y = [X.0, W.0, 5]                     extents: X.0 the first of X, X.-1 the last, X.@axis by an argument
//   Y = [X[:@axis], ?, X[@axis+1:]]       ranges as in Python; ? depends on data, ?? how many do
//   Y = [|X[1:]|, #X, @size, @shape]      number of elements, of dimensions; arguments: a number, a list
//   Y = [I3.0, #@mask]                    input 3, where the names don't tell; the length of a list
//   Y = [X.0 * 2, (X.1 + 7) / 8]          + - * and / (rounded down)
//   Y = [sum(lengths), value(shape, 0)]   of the elements of a small integer input, when they are known; max;
//                                         sum(lengths, @most) counts each up to a number
//   Y, Z = X                              several outputs
//   grads = inputs                        repeated ports: each like its own
//   Y = object                            no tensor
//   Y = broadcast(A, B)                   a function (shape_functions.h)
//   conv                                  a rule in one word, which sets all outputs; `conv : int32`
//   if @keepdims: Y = X                   also `@order=NHWC`, `nin>2`, `#X=1`, `Z` (there is such a port),
//   `!`;
//                                         joined by "and"
//   check W.1 = X.1                       a mismatch is a finding about the operator
//
// Without ':' a list has the type of input 0. Outputs that no statement sets stay unknown.
//
// A cost is one number, the floating point operations: "2*|Y|*|W[1:]|", an elementary function counting as
// one. Where an operator does not touch all of its inputs and outputs it says what it touches:
// "0; reads Y, indices", "6*|grad|; reads grad, indices; writes grad", "0; reads none".
#pragma once

#include "core/ops/shape_context.h"
#include "core/ops/shape_program.h"

namespace weft {

/// Runs a compiled rule: sets the outputs of the context.
void RunShapeRule(const ShapeProgram& program, ShapeContext& context);

/// What an operator costs: floating point operations; bytes read and written.
struct OpCost {
  Dim flops = 0, read = 0, written = 0;
};

/// The cost of an operator whose outputs are set. Without a rule: no operations, and each input read and each
/// output written once. Strings and objects have no bytes.
OpCost RunCost(const ShapeProgram& program, ShapeContext& context);

/// Bytes of a value: 0 for objects and strings, unknown when its shape or type is.
Dim BytesOf(ShapeTable& table, const TensorInfo& info);

}  // namespace weft
