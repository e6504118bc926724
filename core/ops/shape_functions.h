// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The words and functions of the shape language (shape_rule.h) that one line can't say: each serves a family
// of operators. Stateless; they read the operator through its context and set its outputs.
#pragma once

#include <span>

#include "core/ops/shape_context.h"
#include "core/ops/shape_program.h"

namespace weft::shapes {

// Windows over images (shape_window.cc): every spelling of kernel, stride, pads and dilation, both orders.
void Conv(ShapeContext& c);
void ConvGradient(ShapeContext& c);
void ConvTranspose(ShapeContext& c);
void LocallyConnected(ShapeContext& c);
void LocallyConnectedGradient(ShapeContext& c);
void Pool(ShapeContext& c);
void Im2Col(ShapeContext& c);
void PadImage(ShapeContext& c);
void PadImageGradient(ShapeContext& c);
void SpaceToBatch(ShapeContext& c);
void BatchToSpace(ShapeContext& c);
void Resize(ShapeContext& c);
void Resize3D(ShapeContext& c);
void Roi(ShapeContext& c);
/// A shape with as many elements as the pooling window, for costs.
TensorInfo PoolWindow(ShapeContext& c, std::span<const ShapeOperand> operands);

// Other dimensions over the same elements, parts and compositions (shape_layout.cc). Those marked * carry
// known contents along.
void Reshape(ShapeContext& c);  // *
void Concat(ShapeContext& c);   // *
void Split(ShapeContext& c);
void Transpose(ShapeContext& c);
void Slice(ShapeContext& c);       // *
void Squeeze(ShapeContext& c);     // *
void ExpandDims(ShapeContext& c);  // *
void Expand(ShapeContext& c);
void Tile(ShapeContext& c);
void TileGradient(ShapeContext& c);
void NumpyTile(ShapeContext& c);
void ShapeOf(ShapeContext& c);  // *
void SplitByLengths(ShapeContext& c);
/// The shape of an integer input's elements.
TensorInfo FromContent(ShapeContext& c, std::span<const ShapeOperand> operands);
/// The operand as it is, with its content.
TensorInfo Copy(ShapeContext& c, std::span<const ShapeOperand> operands);
/// drop(X, axis), with(X, axis, extent), insert(X, axis, extent).
TensorInfo Drop(ShapeContext& c, std::span<const ShapeOperand> operands);
TensorInfo With(ShapeContext& c, std::span<const ShapeOperand> operands);
TensorInfo Insert(ShapeContext& c, std::span<const ShapeOperand> operands);

// Element by element, products, reductions, layers (shape_math.cc).
void Arithmetic(ShapeContext& c);  // *
void Compare(ShapeContext& c);
void SameInputs(ShapeContext& c);
void WeightedSumGradient(ShapeContext& c);
void LayerNorm(ShapeContext& c);
void InferenceLstm(ShapeContext& c);
void MatMul(ShapeContext& c);
void BatchMatMul(ShapeContext& c);
void Reduce(ShapeContext& c);
TensorInfo Broadcast(ShapeContext& c, std::span<const ShapeOperand> operands);
/// As many elements as a product of matrices adds up for one of its own, for costs.
TensorInfo Inner(ShapeContext& c, std::span<const ShapeOperand> operands);

// Fills and what draws (shape_fill.cc).
void Fill(ShapeContext& c);       // *
void GivenFill(ShapeContext& c);  // *
void Range(ShapeContext& c);      // *
/// How many whole numbers Range makes over `distance` = stop - start, which is not the smallest number, by
/// `step`, which is not 0. Caffe2 truncates, then counts a last part of a step upwards only: 8 by 3 are 3
/// elements, -8 by -3 are 2 where NumPy has 3, and 2 by -3 is 1 where NumPy has none.
int64_t RangeCount(int64_t distance, int64_t step);

// Indices, shards and padding (shape_index.cc).
void Gather(ShapeContext& c);  // *
void BatchGather(ShapeContext& c);
void GatherRangesToDense(ShapeContext& c);
void Partition(ShapeContext& c);
void AddPadding(ShapeContext& c);
void RemovePadding(ShapeContext& c);

// Nets inside the operator decide: whoever infers the net around it looks there.
void Nested(ShapeContext& c);

}  // namespace weft::shapes
