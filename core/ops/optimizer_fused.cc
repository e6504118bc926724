// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Adagrad updates fused with the gradient of an embedding look-up.
#include "core/ops/families.h"

namespace weft {

namespace {

constexpr OpDef kOps[] = {
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsMeanGradient",
     .in = 6,
     .out = 2,
     .ports = "->",
     .args = "epsilon:float=1e-5 counter_halflife:int=-1 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsMeanGradientApprox",
     .in = 6,
     .out = 2,
     .ports = "->",
     .args = "round_option:any epsilon:float=1e-5 counter_halflife:int=-1 decay:any=1.0 "
             "weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsSumGradient",
     .in = 6,
     .out = 2,
     .ports = "->",
     .args = "round_option:any epsilon:float=1e-5 counter_halflife:int=-1 decay:any=1.0 "
             "weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsSumGradientApprox",
     .in = 6,
     .out = 2,
     .ports = "->",
     .args = "round_option:any epsilon:float=1e-5 counter_halflife:int=-1 decay:any=1.0 "
             "weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsWeightedSumGradient",
     .in = 7,
     .out = 3,
     .ports = "->",
     .args = "epsilon:float=1e-5 counter_halflife:int=-1 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "RowWiseSparseAdagradFusedWithSparseLengthsWeightedSumGradientApprox",
     .in = 7,
     .out = 3,
     .ports = "->",
     .args = "epsilon:float=1e-5 counter_halflife:int=-1 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsMeanGradient",
     .in = 6,
     .out = 2,
     .ports = "->",
     .args = "epsilon:float=1e-5 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsMeanGradientApprox",
     .in = 6,
     .out = 2,
     .ports = "->",
     .args = "epsilon:float=1e-5 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsSumGradient",
     .in = 6,
     .out = 2,
     .ports = "->",
     .args = "epsilon:float=1e-5 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsSumGradientApprox",
     .in = 6,
     .out = 2,
     .ports = "->",
     .args = "epsilon:float=1e-5 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsWeightedSumGradient",
     .in = 7,
     .out = 3,
     .ports = "->",
     .args = "epsilon:float=1e-5 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
    {.name = "SparseAdagradFusedWithSparseLengthsWeightedSumGradientApprox",
     .in = 7,
     .out = 3,
     .ports = "->",
     .args = "epsilon:float=1e-5 decay:any=1.0 weight_decay:float=0.0",
     .enforced = "0>0 1>1",
     .tier = 3},
};

}  // namespace

OpFamily OptimizerFusedOps() { return kOps; }

}  // namespace weft
