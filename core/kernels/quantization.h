// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of numbers quantized to 8, 4 or 2 bits, each row with its own scale and bias behind its bytes: as two
// floats, or as two halves. Value = scale * code + bias; lower codes of a byte come first.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/run/kernel.h"

namespace weft::kernels {

struct FusedRows {
  const uint8_t* data = nullptr;
  int bits = 8;
  int parameter_size = 4;  // bytes of the scale and of the bias
  int64_t rows = 0, row_bytes = 0, columns = 0;

  double Parameter(int64_t row, int which) const {
    const uint8_t* at = data + row * row_bytes + row_bytes - 2 * parameter_size + which * parameter_size;
    if (parameter_size == 4) {
      float value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    Half half;
    std::memcpy(&half, at, sizeof half);
    return HalfToFloat(half);
  }
  int Code(int64_t row, int64_t column) const {
    const int64_t per_byte = 8 / bits;
    return data[row * row_bytes + column / per_byte] >> (column % per_byte * bits) & ((1 << bits) - 1);
  }
  double Value(int64_t row, int64_t column) const {
    return Parameter(row, 0) * Code(row, column) + Parameter(row, 1);
  }
};

/// The rows of a tensor of bytes. Errors: rows too short for their scale and bias.
inline Result<FusedRows> FindFusedRows(const KernelContext& c, const Tensor& t, int bits,
                                       int parameter_size) {
  if (t.type() != DataType::kUint8 || t.ndim() != 2 || t.dim(1) < 2 * parameter_size)
    return c.Fail("expected rows of bytes with a scale and a bias of ", parameter_size, " bytes, found ",
                  DataTypeName(t.type()), " ", DimsToString(t.dims()));
  FusedRows out;
  out.data = t.data<uint8_t>();
  out.bits = bits;
  out.parameter_size = parameter_size;
  out.rows = t.dim(0);
  out.row_bytes = t.dim(1);
  out.columns = (t.dim(1) - 2 * parameter_size) * (8 / bits);
  return out;
}

}  // namespace weft::kernels
