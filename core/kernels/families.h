// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The families of reference kernels, one per file in this folder with the stem of the operators' family. A
// family that is listed here and has no file is a link error.
#pragma once

#include "core/run/kernel.h"

namespace weft {

KernelFamily ActivationKernels();
KernelFamily ArithmeticKernels();
KernelFamily ArithmeticSumKernels();
KernelFamily ControlKernels();
KernelFamily ConvKernels();
KernelFamily ElementwiseKernels();
KernelFamily FillKernels();
KernelFamily IndexKernels();
KernelFamily LinearKernels();
KernelFamily LossKernels();
KernelFamily LossDistanceKernels();
KernelFamily MemoryKernels();
KernelFamily NormKernels();
KernelFamily NormRowsKernels();
KernelFamily OptimizerKernels();
KernelFamily OptimizerLrKernels();
KernelFamily PoolKernels();
KernelFamily ReduceKernels();
KernelFamily ReduceEndsKernels();
KernelFamily ShapeKernels();

}  // namespace weft
