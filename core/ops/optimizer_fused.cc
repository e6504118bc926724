// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Adagrad updates fused with the gradient of an embedding look-up.
#include "core/ops/families.h"

namespace weft {

namespace {

constexpr OpDef kOps[] = {
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsMeanGradient",
     .doc = "Takes the gradient of SparseLengthsMean and applies it to the table by Adagrad with "
            "one moment for each row, at once and in place.",
     .in = 6,
     .out = 2,
     .ports = "param moment indices grad lr lengths -> param moment",
     .args = "epsilon:float=1e-5 decay:float=1.0 counter_halflife:int=-1 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsMeanGradientApprox",
     .doc = "Takes the gradient of SparseLengthsMean and applies it to the table by Adagrad with "
            "one moment for each row, at once and in place. The step is computed with approximate "
            "half-precision arithmetic.",
     .in = 6,
     .out = 2,
     .ports = "param moment indices grad lr lengths -> param moment",
     .args = "epsilon:float=1e-5 decay:float=1.0 counter_halflife:int=-1 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsSumGradient",
     .doc = "Takes the gradient of SparseLengthsSum and applies it to the table by Adagrad with one "
            "moment for each row, at once and in place.",
     .in = 6,
     .out = 2,
     .ports = "param moment indices grad lr lengths -> param moment",
     .args = "epsilon:float=1e-5 decay:float=1.0 counter_halflife:int=-1 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsSumGradientApprox",
     .doc = "Takes the gradient of SparseLengthsSum and applies it to the table by Adagrad with one "
            "moment for each row, at once and in place. The step is computed with approximate "
            "half-precision arithmetic.",
     .in = 6,
     .out = 2,
     .ports = "param moment indices grad lr lengths -> param moment",
     .args = "epsilon:float=1e-5 decay:float=1.0 counter_halflife:int=-1 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsWeightedSumGradient",
     .doc = "Takes the gradient of SparseLengthsWeightedSum and applies it to the table by Adagrad "
            "with one moment for each row, at once and in place and gives the gradient of its "
            "weights.",
     .in = 7,
     .out = 3,
     .ports = "param moment weights indices grad lr lengths -> param moment dweights",
     .args = "epsilon:float=1e-5 decay:float=1.0 counter_halflife:int=-1 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment; dweights = weights : grad",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsWeightedSumGradientApprox",
     .doc = "Takes the gradient of SparseLengthsWeightedSum and applies it to the table by Adagrad "
            "with one moment for each row, at once and in place and gives the gradient of its "
            "weights. The step is computed with approximate half-precision arithmetic.",
     .in = 7,
     .out = 3,
     .ports = "param moment weights indices grad lr lengths -> param moment dweights",
     .args = "epsilon:float=1e-5 decay:float=1.0 counter_halflife:int=-1 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment; dweights = weights : grad",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsMeanGradient",
     .doc = "Takes the gradient of SparseLengthsMean and applies it to the table by Adagrad, at "
            "once and in place.",
     .in = 6,
     .out = 2,
     .ports = "param moment indices grad lr lengths -> param moment",
     .args = "epsilon:float=1e-5 decay:float=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsMeanGradientApprox",
     .doc = "Takes the gradient of SparseLengthsMean and applies it to the table by Adagrad, at "
            "once and in place. The step is computed with approximate half-precision arithmetic.",
     .in = 6,
     .out = 2,
     .ports = "param moment indices grad lr lengths -> param moment",
     .args = "epsilon:float=1e-5 decay:float=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsSumGradient",
     .doc = "Takes the gradient of SparseLengthsSum and applies it to the table by Adagrad, at once "
            "and in place.",
     .in = 6,
     .out = 2,
     .ports = "param moment indices grad lr lengths -> param moment",
     .args = "epsilon:float=1e-5 decay:float=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsSumGradientApprox",
     .doc = "Takes the gradient of SparseLengthsSum and applies it to the table by Adagrad, at once "
            "and in place. The step is computed with approximate half-precision arithmetic.",
     .in = 6,
     .out = 2,
     .ports = "param moment indices grad lr lengths -> param moment",
     .args = "epsilon:float=1e-5 decay:float=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsWeightedSumGradient",
     .doc = "Takes the gradient of SparseLengthsWeightedSum and applies it to the table by Adagrad, "
            "at once and in place and gives the gradient of its weights.",
     .in = 7,
     .out = 3,
     .ports = "param moment weights indices grad lr lengths -> param moment dweights",
     .args = "epsilon:float=1e-5 decay:float=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment; dweights = weights : grad",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsWeightedSumGradientApprox",
     .doc = "Takes the gradient of SparseLengthsWeightedSum and applies it to the table by Adagrad, "
            "at once and in place and gives the gradient of its weights. The step is computed with "
            "approximate half-precision arithmetic.",
     .in = 7,
     .out = 3,
     .ports = "param moment weights indices grad lr lengths -> param moment dweights",
     .args = "epsilon:float=1e-5 decay:float=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .shape = "param = param; moment = moment; dweights = weights : grad",
     .cost = "8*|indices|*|param[1:]|",
     .tier = 3},
};

}  // namespace

OpFamily OptimizerFusedOps() { return kOps; }

}  // namespace weft
