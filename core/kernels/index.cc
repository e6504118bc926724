// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Picking rows by index and putting them back.
#include <algorithm>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Inputs DATA, INDICES. With match_outer the dimensions before `axis` are the same in both and matched one to
// one.
Result<void> GatherAlong(KernelContext& c, int64_t default_axis, bool default_match_outer) {
  const Tensor& data = c.In(0);
  const Tensor& indices = c.In(1);
  const bool match_outer = c.ArgB("match_outer", default_match_outer);
  const bool wrap = c.ArgB("wrap_indices", false);
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", default_axis), data.ndim()));
  Dims dims;
  dims.Append(data.dims().begin(), data.dims().begin() + axis);
  const int64_t outer = data.SizeTo(axis), size = data.dim(axis), block = data.SizeFrom(axis + 1);
  int64_t per_outer = indices.numel();
  if (match_outer) {
    WEFT_ENSURE(c, static_cast<int64_t>(indices.ndim()) >= axis, "Axis should be smaller than indices rank");
    for (int64_t i = 0; i < axis; ++i)
      WEFT_ENSURE(c, indices.dim(i) == data.dim(i),
                  "INDICES must have the same outer dims as DATA (before dim AXIS)");
    dims.Append(indices.dims().begin() + axis, indices.dims().end());
    per_outer = indices.SizeFrom(axis);
  } else {
    dims.Append(indices.dims().begin(), indices.dims().end());
  }
  dims.Append(data.dims().begin() + axis + 1, data.dims().end());
  return SwitchIndex(c, indices.type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    const I* at = indices.data<I>();
    WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
    Tensor& out = c.Out(0);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < per_outer; ++i) {
        int64_t index = static_cast<int64_t>(at[match_outer ? o * per_outer + i : i]);
        if (wrap && index < 0) index += size;
        WEFT_ENSURE(c, index >= 0 && index < size, "INDICES element is out of DATA bounds, id=", index,
                    " axis_dim=", size);
        CopyElements(data, (o * size + index) * block, out, (o * per_outer + i) * block, block);
      }
    }
    return {};
  });
}

Result<void> Gather(KernelContext& c) { return GatherAlong(c, 0, false); }

// Inputs INDICES, VALUES, and a blob whose first dimension the output takes (else the largest index + 1).
// Rows with the same index are added up, in order.
Result<void> SparseToDense(KernelContext& c) {
  const Tensor& indices = c.In(0);
  const Tensor& values = c.In(1);
  WEFT_ENSURE(c, values.ndim() >= 1 && indices.ndim() == 1, "indices must be 1-D, values at least 1-D");
  WEFT_ENSURE(c, indices.dim(0) == values.dim(0),
              "indices and values differ in their first dimension: ", indices.dim(0), " and ", values.dim(0));
  return SwitchIndex(c, indices.type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    const I* at = indices.data<I>();
    int64_t rows = 0;
    if (c.has_input(2)) {
      rows = c.In(2).ndim() > 0 ? c.In(2).dim(0) : 0;
    } else {
      for (int64_t i = 0; i < indices.numel(); ++i) rows = std::max(rows, static_cast<int64_t>(at[i]) + 1);
    }
    Dims dims;
    dims.push_back(rows);
    dims.Append(values.dims().begin() + 1, values.dims().end());
    return SwitchNumber(c, values.type(), [&](auto value_tag) -> Result<void> {
      using T = typename decltype(value_tag)::type;
      WEFT_TRY(T* const out, c.Out<T>(0, dims));
      std::fill(out, out + c.Out(0).numel(), T(0));
      const T* from = values.data<T>();
      const int64_t block = values.SizeFrom(1);
      for (int64_t i = 0; i < indices.numel(); ++i) {
        const int64_t row = static_cast<int64_t>(at[i]);
        WEFT_ENSURE(c, row >= 0 && row < rows, "index ", row, " is out of range for ", rows, " rows");
        for (int64_t k = 0; k < block; ++k) out[row * block + k] += from[i * block + k];
      }
      return {};
    });
  });
}

constexpr KernelRow kRows[] = {
    {"Gather", Gather, "*I"},
    {"SparseToDense", SparseToDense, "I*"},
};

}  // namespace
}  // namespace kernels

KernelFamily IndexKernels() { return kernels::kRows; }

}  // namespace weft
