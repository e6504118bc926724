// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The names that rules call the shared shape functions by.
#include "core/ops/shape_functions.h"

#include <utility>

namespace weft {

namespace shapes {

void Nested(ShapeContext&) {}

}  // namespace shapes

ShapeFunction FindShapeFunction(std::string_view name) {
  constexpr std::pair<std::string_view, ShapeFunction> kFunctions[] = {
      {"broadcast", shapes::Broadcast},  {"copy", shapes::Copy},   {"drop", shapes::Drop},
      {"elements", shapes::FromContent}, {"inner", shapes::Inner}, {"insert", shapes::Insert},
      {"window", shapes::PoolWindow},    {"with", shapes::With}};
  for (const auto& [own, function] : kFunctions)
    if (own == name) return function;
  return nullptr;
}

ShapeWord FindShapeWord(std::string_view name) {
  constexpr std::pair<std::string_view, ShapeWord> kWords[] = {
      {"add_padding", shapes::AddPadding},
      {"arithmetic", shapes::Arithmetic},
      {"batch_gather", shapes::BatchGather},
      {"batch_matmul", shapes::BatchMatMul},
      {"batch_to_space", shapes::BatchToSpace},
      {"compare", shapes::Compare},
      {"concat", shapes::Concat},
      {"conv", shapes::Conv},
      {"conv_gradient", shapes::ConvGradient},
      {"conv_transpose", shapes::ConvTranspose},
      {"expand", shapes::Expand},
      {"expand_dims", shapes::ExpandDims},
      {"fill", shapes::Fill},
      {"gather", shapes::Gather},
      {"gather_ranges", shapes::GatherRangesToDense},
      {"given_fill", shapes::GivenFill},
      {"im2col", shapes::Im2Col},
      {"inference_lstm", shapes::InferenceLstm},
      {"layer_norm", shapes::LayerNorm},
      {"locally_connected", shapes::LocallyConnected},
      {"locally_connected_gradient", shapes::LocallyConnectedGradient},
      {"matmul", shapes::MatMul},
      {"nested", shapes::Nested},
      {"numpy_tile", shapes::NumpyTile},
      {"pad_image", shapes::PadImage},
      {"pad_image_gradient", shapes::PadImageGradient},
      {"partition", shapes::Partition},
      {"pool", shapes::Pool},
      {"range", shapes::Range},
      {"reduce", shapes::Reduce},
      {"remove_padding", shapes::RemovePadding},
      {"reshape", shapes::Reshape},
      {"resize", shapes::Resize},
      {"resize3d", shapes::Resize3D},
      {"roi", shapes::Roi},
      {"same_inputs", shapes::SameInputs},
      {"shape", shapes::ShapeOf},
      {"slice", shapes::Slice},
      {"space_to_batch", shapes::SpaceToBatch},
      {"split", shapes::Split},
      {"split_by_lengths", shapes::SplitByLengths},
      {"squeeze", shapes::Squeeze},
      {"tile", shapes::Tile},
      {"tile_gradient", shapes::TileGradient},
      {"transpose", shapes::Transpose},
      {"weighted_sum_gradient", shapes::WeightedSumGradient}};
  for (const auto& [own, word] : kWords)
    if (own == name) return word;
  return nullptr;
}

}  // namespace weft
