// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/element_type.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/ir/type_arg.h"

namespace weft::internal {

namespace {

constexpr int kMostSteps = 256;  // operators looked at, so that many casts of one long chain stay linear

// Floats whatever they read: their only kernels are float ones.
constexpr std::string_view kMakesFloat[] = {"AveragedLoss",
                                            "BernoulliJSD",
                                            "CosineEmbeddingCriterion",
                                            "CosineSimilarity",
                                            "CrossEntropy",
                                            "DotProduct",
                                            "GaussianFill",
                                            "HalfToFloat",
                                            "L1Distance",
                                            "LabelCrossEntropy",
                                            "MSRAFill",
                                            "MakeTwoClass",
                                            "MarginRankingCriterion",
                                            "PairWiseLoss",
                                            "SigmoidCrossEntropyWithLogits",
                                            "SoftmaxWithLoss",
                                            "SpatialSoftmaxWithLoss",
                                            "SquaredL2Distance",
                                            "UniformFill",
                                            "WeightedSigmoidCrossEntropyWithLogits",
                                            "XavierFill"};

// Output 0 has the type of input 0.
constexpr std::string_view kKeepsType[] = {
    "Abs",         "Add",          "Alias",    "AveragePool", "BatchMatMul",  "Clip",      "Concat",
    "Conv",        "Copy",         "Div",      "Dropout",     "ExpandDims",   "Exp",       "FC",
    "Flatten",     "FlattenToVec", "Gather",   "LeakyRelu",   "Log",          "MatMul",    "Max",
    "MaxPool",     "Mul",          "Negative", "Pow",         "ReduceMean",   "ReduceSum", "Relu",
    "Reshape",     "ResizeLike",   "Scale",    "Sigmoid",     "Slice",        "Softmax",   "SpatialBN",
    "Split",       "Sqr",          "Sqrt",     "Squeeze",     "StopGradient", "Sub",       "Sum",
    "SumElements", "Tanh",         "Tile",     "Transpose"};

template <size_t N>
bool Holds(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

DataType ElementType(const Net& net, const Ssa& ssa, size_t op_offset, ValueId value) {
  for (int step = 0; step < kMostSteps; ++step) {
    const Value& v = ssa.values()[value];
    if (v.def == kNoOp || v.output != 0) return DataType::kUndefined;
    const Op& op = net.ops[static_cast<size_t>(v.def) + op_offset];
    const std::string_view type = net.Str(op.type);
    if (type == "Cast") return ArgDataType(*net.symbols, op.args, "to", DataType::kFloat);
    if (type == "ConstantFill") return ArgDataType(*net.symbols, op.args, "dtype", DataType::kFloat);
    if (type == "FloatToHalf") return DataType::kFloat16;
    if (Holds(kMakesFloat, type)) return DataType::kFloat;
    if (!Holds(kKeepsType, type) || op.inputs.empty()) return DataType::kUndefined;
    value = ssa.inputs(v.def)[0];
  }
  return DataType::kUndefined;
}

}  // namespace weft::internal
