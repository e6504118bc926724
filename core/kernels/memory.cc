// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies, aliases and freeing. There is one memory here, so all copies between devices are plain ones.
#include <algorithm>

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

// A blob that holds a string, not a tensor.
Result<void> FeedBlob(KernelContext& c) {
  const Arg* value = c.GetArg("value");
  WEFT_ENSURE(c, value && (value->has & Arg::kHasS), "value argument must exist and be passed as a string");
  c.OutBlob(0).Set(c.ArgS("value", ""));
  return {};
}

// Sorted.
Result<void> GetAllBlobNames(KernelContext& c) {
  const std::vector<std::string> names =
      c.ArgB("include_shared", true) ? c.workspace().Blobs() : c.workspace().LocalBlobs();
  WEFT_TRY(std::string * out, c.Out<std::string>(0, {static_cast<int64_t>(names.size())}));
  std::copy(names.begin(), names.end(), out);
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
    {"FeedBlob", FeedBlob},
    {"GetAllBlobNames", GetAllBlobNames},
};

}  // namespace
}  // namespace kernels

KernelFamily MemoryKernels() { return kernels::kRows; }

}  // namespace weft
