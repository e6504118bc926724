// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Feature stores: merging sparse features of many kinds into one multi-feature tensor set.
#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft {

namespace {

using enum GradientPolicy;

// Where the parts of one merged feature stand among its inputs.
struct Merge {
  std::string_view gradient;
  size_t inputs;         // per feature
  size_t first, second;  // what the gradient operator reads of each feature
  size_t values;         // which input has the gradient, and which output gave it
  size_t output;
};

Result<void> MergeGradient(GradientContext& c, const Merge& merge) {
  BlobList inputs, outputs;
  for (size_t i = 0; i + merge.inputs <= c.num_inputs(); i += merge.inputs) {
    inputs.push_back(c.I(i + merge.first));
    inputs.push_back(c.I(i + merge.second));
    outputs.push_back(c.GI(i + merge.values));
  }
  inputs.push_back(c.GO(merge.output));
  c.Add(merge.gradient, inputs, outputs);
  return {};
}

Result<void> MergeSingleListGradient(GradientContext& c) {
  return MergeGradient(c, {"MergeSingleListFeatureTensorsGradient", 3, 0, 2, 1, 3});
}
Result<void> MergeSingleMapGradient(GradientContext& c) {
  return MergeGradient(c, {"MergeSingleMapFeatureTensorsGradient", 4, 0, 3, 2, 4});
}
Result<void> MergeMultiListGradient(GradientContext& c) {
  return MergeGradient(c, {"MergeMultiListFeatureTensorsGradient", 4, 0, 2, 3, 3});
}
Result<void> MergeMultiMapGradient(GradientContext& c) {
  return MergeGradient(c, {"MergeMultiMapFeatureTensorsGradient", 5, 0, 2, 4, 4});
}

constexpr OpDef kOps[] = {
    {.name = "MergeDenseFeatureTensors",
     .doc = "Dense features [N, F] with a bool presence [N, F] to sparse form: for each example how "
            "many are there, their feature_ids, their values.",
     .in = 2,
     .out = 3,
     .ports = "dense presence -> lengths keys values",
     .args = "feature_ids:ints",
     .shape = "lengths = [dense.0] : int32; keys = [?] : int64; values = [?] : dense",
     .tier = 3},
    {.name = "MergeMultiListFeatureTensors",
     .doc = "Joins several multi-feature tensor sets of lists into one, example by example.",
     .in = {0, kAny},
     .out = 4,
     .arities = "4n/4",
     .ports = "lengths_keys_valueslengths_values... -> lengths keys values_lengths values",
     .policy = kRule,
     .gradient_fn = MergeMultiListGradient,
     .shape = "lengths = I0 : int32; keys = [?] : int64; values_lengths = [?] : int32; values = [?] : I3",
     .tier = 3},
    {.name = "MergeMultiListFeatureTensorsGradient",
     .doc = "Gives each set its share of the values' gradient.",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "2n+1/1+",
     .ports = "lengths_and_valueslengths... dvalues -> grads...",
     .shape = "grads = [?] : dvalues",
     .tier = 3},
    {.name = "MergeMultiMapFeatureTensors",
     .doc = "Joins several multi-feature tensor sets of maps into one, example by example.",
     .in = {0, kAny},
     .out = 5,
     .arities = "5n/5",
     .ports = "lengths_keys_valueslengths_valueskeys_values... -> lengths keys values_lengths "
              "values_keys values",
     .policy = kRule,
     .gradient_fn = MergeMultiMapGradient,
     .shape = "lengths = I0 : int32; keys = [?] : int64; values_lengths = [?] : int32; values_keys = [?] : "
              "I3; values = [?] : I4",
     .tier = 3},
    {.name = "MergeMultiMapFeatureTensorsGradient",
     .doc = "Gives each set its share of the values' gradient.",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "2n+1/1+",
     .ports = "lengths_and_valueslengths... dvalues -> grads...",
     .shape = "grads = [?] : dvalues",
     .tier = 3},
    {.name = "MergeMultiScalarFeatureTensors",
     .doc = "Joins several multi-feature tensor sets of scalars into one, example by example.",
     .in = {0, kAny},
     .out = 3,
     .arities = "3n/3",
     .ports = "lengths_keys_values... -> lengths keys values",
     .policy = kRule,
     .gradient = "MergeMultiScalarFeatureTensorsGradient(I[0::3], GO2) -> GI[2::3]",
     .shape = "lengths = I0 : int32; keys = [?] : int64; values = [?] : I2",
     .tier = 3},
    {.name = "MergeMultiScalarFeatureTensorsGradient",
     .doc = "Gives each set its share of the values' gradient.",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "n+1/1+",
     .ports = "lengths... dvalues -> grads...",
     .shape = "grads = [?] : dvalues",
     .tier = 3},
    {.name = "MergeSingleListFeatureTensors",
     .doc = "Joins single list features, each with list lengths, values and presence, into one "
            "multi-feature tensor set.",
     .in = {0, kAny},
     .out = 4,
     .arities = "3n/4",
     .ports = "lengths_values_presence... -> lengths keys values_lengths values",
     .args = "feature_ids:ints",
     .policy = kRule,
     .gradient_fn = MergeSingleListGradient,
     .shape = "lengths = [I2.0] : int32; keys = [?] : int64; values_lengths = [?] : int32; values = [?] : I1",
     .tier = 3},
    {.name = "MergeSingleListFeatureTensorsGradient",
     .doc = "Gives each feature its share of the values' gradient.",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "2n+1/1+",
     .ports = "lengths_and_presences... dvalues -> grads...",
     .shape = "grads = [?] : dvalues",
     .tier = 3},
    {.name = "MergeSingleMapFeatureTensors",
     .doc = "Joins single map features, each with map lengths, keys, values and presence, into one "
            "multi-feature tensor set.",
     .in = {0, kAny},
     .out = 5,
     .arities = "4n/5",
     .ports = "lengths_keys_values_presence... -> lengths keys values_lengths values_keys values",
     .args = "feature_ids:ints",
     .policy = kRule,
     .gradient_fn = MergeSingleMapGradient,
     .shape = "lengths = [I3.0] : int32; keys = [?] : int64; values_lengths = [?] : int32; values_keys = [?] "
              ": I1; values = [?] : I2",
     .tier = 3},
    {.name = "MergeSingleMapFeatureTensorsGradient",
     .doc = "Gives each feature its share of the values' gradient.",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "2n+1/1+",
     .ports = "lengths_and_presences... dvalues -> grads...",
     .shape = "grads = [?] : dvalues",
     .tier = 3},
    {.name = "MergeSingleScalarFeatureTensors",
     .doc = "Joins single scalar features, each with values for the examples where its presence is "
            "true, into one multi-feature tensor set.",
     .in = {0, kAny},
     .out = 3,
     .arities = "2n/3",
     .ports = "values_and_presence... -> lengths keys values",
     .args = "feature_ids:ints",
     .policy = kRule,
     .gradient = "MergeSingleScalarFeatureTensorsGradient(I[1::2], GO2) -> GI[0::2]",
     .shape = "lengths = [I1.0] : int32; keys = [?] : int64; values = [?] : I0",
     .tier = 3},
    {.name = "MergeSingleScalarFeatureTensorsGradient",
     .doc = "Gives each feature its share of the values' gradient.",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "n+1/1+",
     .ports = "presences... dvalues -> grads...",
     .shape = "grads = presences : dvalues",
     .tier = 3},
};

}  // namespace

OpFamily FeatureOps() { return kOps; }

}  // namespace weft
