// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies, aliases and freeing. There is one memory here, so all copies between devices are plain ones.
#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

Result<void> Copy(KernelContext& c) { return c.CopyOut(0, c.In(0)); }

// The output is the same tensor as the input from now on, buffer included.
Result<void> Alias(KernelContext& c) {
  const Tensor in = c.In(0);
  c.Out(0) = in;
  return {};
}

Result<void> Free(KernelContext& c) {
  for (size_t i = 0; i < c.num_outputs(); ++i) c.OutBlob(i).Reset();
  return {};
}

constexpr KernelRow kRows[] = {
    {"Copy", Copy, "*", kInPlace},
    {"CopyOnDeviceLike", Copy, "*?", kInPlace},
    {"CopyFromCPUInput", Copy, "*", kInPlace},
    {"EnsureCPUOutput", Copy, "*", kInPlace},
    {"EnsureDense", Copy, "*", kInPlace},
    {"Alias", Alias, "*", kInPlace},
    {"AliasWithName", Alias, "*", kInPlace},
    {"Free", Free, "B", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily MemoryKernels() { return kernels::kRows; }

}  // namespace weft
