// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses and distances, and their gradients.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

Result<void> AveragedLoss(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    double sum = 0;
    for (T x : c.In(0).values<T>()) sum += x;
    WEFT_TRY(T * out, c.Out<T>(0, {}));
    *out = c.In(0).empty() ? T(0) : static_cast<T>(sum / static_cast<double>(c.In(0).numel()));
    return {};
  });
}

Result<void> AveragedLossGradient(KernelContext& c) {
  return SwitchFloat(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_ENSURE(c, c.In(1).numel() == 1 && c.In(1).type() == DataTypeOf<T>,
                "the gradient must be one number");
    const int64_t n = c.In(0).numel();
    const T g = c.In<T>(1)[0] / static_cast<T>(std::max<int64_t>(n, 1));
    WEFT_TRY(T * out, c.Out<T>(0, c.In(0).dims()));
    std::fill(out, out + n, g);
    return {};
  });
}

constexpr KernelRow kRows[] = {
    {"AveragedLoss", AveragedLoss, "F"},
    {"AveragedLossGradient", AveragedLossGradient, "F"},
};

}  // namespace
}  // namespace kernels

KernelFamily LossKernels() { return kernels::kRows; }

}  // namespace weft
