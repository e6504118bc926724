// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/kernels/families.h"

namespace weft {

const KernelSet& ReferenceKernels() {
  static const KernelSet set = [] {
    const KernelFamily families[] = {ActivationKernels(), ArithmeticKernels(),  ArithmeticSumKernels(),
                                     ControlKernels(),    ElementwiseKernels(), FillKernels(),
                                     IndexKernels(),      LinearKernels(),      LossKernels(),
                                     MemoryKernels()};
    return KernelSet(families);
  }();
  return set;
}

}  // namespace weft
