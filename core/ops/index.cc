// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Choosing, placing and renaming elements by index, mask or key.
#include "core/base/str.h"
#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft {

namespace {

using enum GradientPolicy;

// The gradient rows go back to the partitions that they were gathered from; a sparse gradient's indices are
// the keys.
Result<void> GatherByKeyGradient(GradientContext& c) {
  const bool sparse = c.has_GO(0) && c.output_gradient(0).is_sparse();
  BlobList inputs = {c.I(0)}, outputs;
  if (sparse) {
    inputs.push_back(c.GO_indices(0));
    inputs.push_back(c.GO_values(0));
  } else {
    inputs.push_back(c.GO(0));
  }
  for (size_t i = 1; i < c.num_inputs(); ++i) {
    const Symbol first = sparse ? c.GI_indices(i) : c.GI(i);
    outputs.push_back(c.Name(StrCat("_", c.Str(first), "_keys")));
    outputs.push_back(first);
    if (sparse) outputs.push_back(c.GI_values(i));
  }
  const Arg pack = MakeArg(c.Name("pack_first_input"), int64_t{0});
  c.Add("Partition", inputs, outputs, std::span(&pack, 1));
  return {};
}

constexpr OpDef kOps[] = {
    {.name = "BatchBucketize", .in = 4, .out = 1, .ports = "->", .policy = kNone, .tier = 3},
    {.name = "BatchBucketOneHot", .in = 3, .out = 1, .ports = "->", .tier = 3},
    {.name = "BatchDenseToSparse",
     .in = 3,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "BatchSparseToDense(I0, I1, GO0, I2) -> GI2",
     .tier = 3},
    {.name = "BatchGather",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "axis:int=1 match_outer:bool=0",
     .policy = kRule,
     .gradient = "BatchGatherGradient(I0, I1, GO0) -> GI0",
     .tier = 2},
    {.name = "BatchGatherGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "axis:int=1 match_outer:bool=0",
     .tier = 2},
    {.name = "BatchOneHot", .in = 3, .out = 1, .ports = "->", .policy = kNone, .tier = 3},
    {.name = "BatchPermutation",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "BatchPermutationGradient(I1, GO0) -> GI0",
     .tier = 2},
    {.name = "BatchPermutationGradient", .in = 2, .out = 1, .ports = "->", .tier = 2},
    {.name = "BatchSparseToDense",
     .in = {3, 4},
     .out = 1,
     .ports = "->",
     .args = "dense_last_dim:int=0 default_value:any=0",
     .policy = kRule,
     .gradient = "BatchDenseToSparse(I0, I1, GO0) -> GI2",
     .tier = 3},
    {.name = "BooleanMask",
     .in = 2,
     .out = {1, 2},
     .ports = "->",
     .policy = kRule,
     .gradient = "BooleanMaskGradient(I1, GO0) -> GI0",
     .tier = 1},
    {.name = "BooleanMaskGradient", .in = 2, .out = 1, .ports = "->", .tier = 1},
    {.name = "BooleanMaskLengths", .in = 2, .out = 1, .ports = "->", .policy = kNone, .tier = 3},
    {.name = "BooleanUnmask",
     .in = {0, kAny},
     .out = 1,
     .arities = "2n/1",
     .ports = "->",
     .policy = kNone,
     .tier = 2},
    {.name = "Conditional", .in = 3, .out = 1, .ports = "->", .policy = kNone, .tier = 2},
    {.name = "CopyRowsToTensor",
     .in = 3,
     .out = 1,
     .ports = "->",
     .enforced = "0>0",
     .policy = kRule,
     .gradient = "if !GO0.sparse: CopyRowsToTensorGradient(GO0) -> GI0; if GO0.sparse: "
                 "CopyRowsToTensorGradient(GO0.indices) -> GI0.indices; if GO0.sparse: "
                 "CopyRowsToTensorGradient(GO0.values) -> GI0.values",
     .tier = 2},
    {.name = "CopyRowsToTensorGradient", .in = 1, .out = 1, .ports = "->", .inplace = "0>0", .tier = 2},
    {.name = "EnsureDense",
     .in = 1,
     .out = 1,
     .ports = "->",
     .inplace = "0>0",
     .policy = kPassThrough,
     .gradient = "if GO0.sparse: SparseToDense(GO0.indices, GO0.values, I0) -> GI0; if !GO0.sparse: GI0 "
                 "= GO0",
     .tier = 2},
    {.name = "Find", .in = 2, .out = 1, .ports = "->", .args = "missing_value:int=-1", .tier = 2},
    {.name = "FindDuplicateElements", .in = 1, .out = 1, .ports = "->", .policy = kForbidden, .tier = 2},
    {.name = "Gather",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "axis:int=0 dense_gradient:bool=0 match_outer:bool=0 wrap_indices:bool=0",
     .policy = kPassThrough,
     .gradient = "if axis=0 and !dense_gradient: GI0.indices = I1; if axis=0 and !dense_gradient: "
                 "GI0.values = GO0; if axis=0 and dense_gradient: SparseToDense(I1, GO0, I0) -> GI0; if "
                 "!axis=0: BatchGatherGradient(I0, I1, GO0) -> GI0",
     .tier = 1},
    {.name = "GatherByKey",
     .in = {2, kAny},
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient_fn = GatherByKeyGradient,
     .tier = 3},
    {.name = "GatherRanges", .in = 2, .out = 2, .ports = "->", .tier = 2},
    {.name = "GatherRangesToDense",
     .in = {2, 3},
     .out = {1, kAny},
     .ports = "->",
     .args = "lengths:ints min_observation:int=10000 max_mismatched_ratio:float=0.01 "
             "max_empty_ratio:float=1.0",
     .policy = kNone,
     .tier = 3},
    {.name = "IndexHash",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "seed:int=0 modulo:int=0",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 2},
    {.name = "IsMemberOf",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "value:any dtype:int=0 broadcast_on_rows:bool=0",
     .policy = kForbidden,
     .tier = 3},
    {.name = "KeySplit",
     .in = 1,
     .out = {1, kAny},
     .ports = "->",
     .args = "categorical_limit:int=0",
     .tier = 3},
    {.name = "LengthsGather", .in = 3, .out = 1, .ports = "->", .policy = kForbidden, .tier = 2},
    {.name = "LengthsPartition",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "2+/kn",
     .ports = "->",
     .args = "pack_first_input:int=0",
     .policy = kNone,
     .tier = 3},
    {.name = "NGramFromCategorical",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "categorical_limits:ints col_ids:ints vals:ints",
     .policy = kNone,
     .tier = 3},
    {.name = "OneHot", .in = 2, .out = 1, .ports = "->", .policy = kNone, .tier = 2},
    {.name = "Partition",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "1+/kn",
     .ports = "->",
     .args = "pack_first_input:int=0",
     .policy = kNone,
     .tier = 3},
    {.name = "RemoveDataBlocks", .in = 2, .out = 1, .ports = "->", .policy = kForbidden, .tier = 3},
    {.name = "Scatter",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "axis:int=1",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 2},
    {.name = "ScatterAssign",
     .in = 3,
     .out = 1,
     .ports = "->",
     .enforced = "0>0",
     .policy = kForbidden,
     .tier = 2},
    {.name = "ScatterWeightedSum",
     .in = {0, kAny},
     .out = 1,
     .arities = "2n+3/1",
     .ports = "->",
     .enforced = "0>0",
     .policy = kForbidden,
     .tier = 1},
    {.name = "SegmentOneHot", .in = 3, .out = 1, .ports = "->", .policy = kNone, .tier = 3},
    {.name = "SparseToDense",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "output_first_dim:int=0",
     .policy = kRule,
     .gradient = "Gather(GO0, I0) -> GI1",
     .tier = 2},
    {.name = "SparseToDenseMask",
     .in = {3, 4},
     .out = {1, 2},
     .ports = "->",
     .args = "mask:ints return_presence_mask:bool=0 max_skipped_indices:int=50",
     .policy = kRule,
     .gradient = "SparseToDenseMaskGradient(I0, GO0, I3?) -> GI1",
     .tier = 2},
    {.name = "SparseToDenseMaskGradient",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "mask:ints max_skipped_indices:int=50 return_presence_mask:bool=0",
     .tier = 2},
    {.name = "Unique", .in = 1, .out = {1, 2}, .ports = "->", .policy = kForbidden, .tier = 1},
};

}  // namespace

OpFamily IndexOps() { return kOps; }

}  // namespace weft
