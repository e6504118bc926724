// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of operators that pick by index.
#include <algorithm>

#include "core/base/str.h"
#include "core/ops/shape_functions.h"

namespace weft::shapes {

namespace {

void Pick(ShapeContext& c, int64_t default_axis) {
  const TensorInfo &x = c.In(0), &indices = c.In(1);
  if (!x.tensor() || !indices.tensor()) return;
  const int at = c.Axis(c.Int("axis", default_axis), x.rank());
  if (at < 0) return;
  DimList dims(x.dims.begin(), x.dims.begin() + at);
  // With match_outer the indices have the outer dimensions too.
  size_t from = 0;
  if (c.Int("match_outer", 0) != 0) {
    from = static_cast<size_t>(at);
    if (indices.rank() < from)
      return c.Mismatch(1, StrCat("at least ", from, " dimensions"),
                        c.table.Text(std::span<const Dim>(indices.dims)));
    for (size_t i = 0; i < from; ++i) c.Same(x.dims[i], indices.dims[i], 1, StrCat("dimension ", i, " of"));
  }
  dims.Append(indices.dims.begin() + from, indices.dims.end());
  dims.Append(x.dims.begin() + at + 1, x.dims.end());
  TensorInfo y = TensorInfo::Of(x.type, std::move(dims));
  // An element of a known shape.
  if (x.rank() == 1 && c.table.HasContent(x) && c.table.HasContent(indices)) {
    const std::span<const Dim> content = c.table.Content(x);
    std::vector<Dim> picked;
    for (const Dim index : c.table.Content(indices))
      picked.push_back(index.known() && index.code < static_cast<int64_t>(content.size())
                           ? content[static_cast<size_t>(index.code)]
                           : Dim());
    c.table.SetContent(y, std::move(picked));
  }
  c.Set(0, std::move(y));
}

}  // namespace

void Gather(ShapeContext& c) { Pick(c, 0); }
void BatchGather(ShapeContext& c) { Pick(c, 1); }

void GatherRangesToDense(ShapeContext& c) {
  const std::vector<int64_t> lengths = c.Ints("lengths");
  const Dim rows = c.In(1).tensor() && c.In(1).rank() > 0 ? c.In(1).dims[0] : Dim();
  for (size_t i = 0; i < c.num_outputs(); ++i)
    c.Set(i, c.In(0).type, {rows, i < lengths.size() ? Dim(lengths[i]) : Dim()});
}

void Partition(ShapeContext& c) {
  // Shard j of input i is output j * inputs + i; keys, or lengths, are an input like the others. The elements
  // of the keys are what is distributed.
  const TensorInfo& keys = c.In(c.net().Str(c.op().type) == "Partition" ? 0 : 1);
  for (size_t i = 0; i < c.num_outputs() && c.num_inputs() > 0; ++i) {
    TensorInfo shard = c.In(i % c.num_inputs());
    shard.content = TensorInfo::kNoContent;
    if (shard.tensor()) {
      const size_t outer = keys.tensor() ? std::min(keys.rank(), shard.rank()) : 1;
      DimList dims{c.table.FromData()};
      dims.Append(shard.dims.begin() + std::min(outer, shard.rank()), shard.dims.end());
      shard.dims = std::move(dims);
    }
    c.Set(i, std::move(shard));
  }
}

namespace {

// Rows in front of and behind each segment; without lengths all rows are one.
void Padding(ShapeContext& c, bool add) {
  const TensorInfo& x = c.In(0);
  const bool has_lengths = c.num_inputs() > 1;
  if (has_lengths) {
    TensorInfo lengths = c.In(1);
    lengths.content = TensorInfo::kNoContent;
    c.Set(1, std::move(lengths));
  } else if (x.tensor()) {
    c.Set(1, DataType::kInt32, {1});
  }
  if (!x.tensor() || x.rank() == 0) return;
  const int64_t width = c.Int("padding_width", 1), end = c.Int("end_padding_width", -1);
  const Dim rows = width + (end < 0 ? width : end);
  const Dim segments =
      has_lengths ? c.In(1).tensor() && c.In(1).rank() > 0 ? c.In(1).dims[0] : Dim() : Dim(1);
  const Dim more = c.table.Multiply(rows, segments);
  DimList dims = x.dims;
  dims[0] = add ? c.table.Add(dims[0], more) : c.table.Subtract(dims[0], more);
  c.Set(0, x.type, std::move(dims));
}

}  // namespace

void AddPadding(ShapeContext& c) { Padding(c, true); }
void RemovePadding(ShapeContext& c) { Padding(c, false); }

}  // namespace weft::shapes
