// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/memory_sizes.h"

#include <algorithm>

namespace weft {

namespace {

// -1 when it is not known.
int64_t BytesOf(const ShapeTable& table, const TensorInfo& info, int64_t symbol) {
  if (!info.tensor() || DataTypeSize(info.type) == 0) return -1;
  int64_t bytes = static_cast<int64_t>(DataTypeSize(info.type));
  for (Dim dim : info.dims) {
    const int64_t extent = table.At(dim, symbol);
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes;
}

}  // namespace

std::vector<BlobBytes> InferSizes(const Net& net, const Net* init, std::span<const GivenBlob> given,
                                  const OpSet& ops, int64_t symbol) {
  ShapeTable table;
  std::vector<GivenBlob> known(given.begin(), given.end());
  if (init) {
    const std::vector<GivenBlob> filled = FinalShapes(InferShapes(*init, {}, table, {.ops = &ops}));
    known.insert(known.end(), filled.begin(), filled.end());
  }
  return SizesOf(InferShapes(net, known, table, {.ops = &ops}), table, symbol);
}

std::vector<BlobBytes> SizesOf(const NetShapes& shapes, const ShapeTable& table, int64_t symbol) {
  std::vector<int64_t> most(shapes.ssa.blobs().size(), -1);
  std::vector<bool> open(most.size(), false);  // some value is not known
  for (ValueId value = 0; value < shapes.values.size(); ++value) {
    const BlobId blob = shapes.ssa.values()[value].blob;
    const int64_t bytes = BytesOf(table, shapes.values[value], symbol);
    open[blob] = open[blob] || bytes < 0;
    most[blob] = std::max(most[blob], bytes);
  }
  std::vector<BlobBytes> sizes;
  for (BlobId blob = 0; blob < most.size(); ++blob)
    if (most[blob] >= 0 && !open[blob]) sizes.push_back({shapes.ssa.blobs()[blob], most[blob]});
  return sizes;
}

}  // namespace weft
