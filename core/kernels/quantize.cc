// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of numbers to 8, 4 and 2 bit codes with a scale and a bias behind each row, and back. Codes are formed
// in float, as Caffe2 does, since a rounding in double may choose the next code.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/families.h"
#include "core/kernels/quantization.h"
#include "core/kernels/segments.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

float ToFloat(float x) { return x; }
float ToFloat(Half x) { return HalfToFloat(x); }
void Store(float& to, float x) { to = x; }
void Store(Half& to, float x) { to = FloatToHalf(x); }

struct RowCode {
  float scale, inverse, bias;
};

RowCode Code8(float low, float high) {
  const float range = high - low;
  return {range / 255.0f, 255.0f / (range + 1e-8f), low};
}

// Scale and bias are kept as halves, and codes are formed with what was kept.
RowCode CodeFew(float low, float high, int bits) {
  const float bias = HalfToFloat(FloatToHalf(low));
  float scale = HalfToFloat(FloatToHalf((high - bias) / static_cast<float>((1 << bits) - 1)));
  if (scale == 0) scale = 1;
  float inverse = 1.0f / scale;
  if (std::isinf(inverse)) scale = inverse = 1;
  return {scale, inverse, bias};
}

// X [..., columns] -> bytes [..., bytes of codes + scale and bias].
template <typename T, int kBits>
Result<void> Quantize(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() >= 1, "expected rows, found a scalar");
  constexpr int kPerByte = 8 / kBits, kParameter = kBits == 8 ? 4 : 2;
  const int64_t columns = x.dim(x.ndim() - 1), rows = x.SizeTo(x.ndim() - 1);
  WEFT_ENSURE(c, columns % kPerByte == 0, "rows have ", columns, " columns, expected a multiple of ",
              kPerByte);
  Dims dims(x.dims());
  const int64_t code_bytes = columns / kPerByte, row_bytes = code_bytes + 2 * kParameter;
  dims.back() = row_bytes;
  const T* from = x.data<T>();
  WEFT_TRY(uint8_t * out, c.Out<uint8_t>(0, dims));
  for (int64_t r = 0; r < rows; ++r, from += columns, out += row_bytes) {
    float low = columns ? ToFloat(from[0]) : 0, high = low;
    for (int64_t i = 0; i < columns; ++i) {
      low = std::min(low, ToFloat(from[i]));
      high = std::max(high, ToFloat(from[i]));
    }
    const RowCode code = kBits == 8 ? Code8(low, high) : CodeFew(low, high, kBits);
    for (int64_t i = 0; i < columns; ++i) {
      const float scaled = std::nearbyint((ToFloat(from[i]) - code.bias) * code.inverse);
      WEFT_ENSURE(c, !std::isnan(scaled), "row ", r, " holds a value that is not a finite number");
      const int value = static_cast<int>(std::clamp(scaled, 0.0f, static_cast<float>((1 << kBits) - 1)));
      uint8_t& byte = out[i / kPerByte];
      byte = static_cast<uint8_t>((i % kPerByte ? byte : 0) | value << (i % kPerByte * kBits));
    }
    if constexpr (kBits == 8) {
      std::memcpy(out + code_bytes, &code.scale, sizeof(float));
      std::memcpy(out + code_bytes + sizeof(float), &code.bias, sizeof(float));
    } else {
      const Half parameters[] = {FloatToHalf(code.scale), FloatToHalf(code.bias)};
      std::memcpy(out + code_bytes, parameters, sizeof parameters);
    }
  }
  return {};
}

template <typename T, int kBits>
Result<void> Dequantize(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() >= 1, "expected rows, found a scalar");
  Dims dims(x.dims());
  const int64_t flat[] = {x.SizeTo(x.ndim() - 1), dims.back()};
  WEFT_TRY(const FusedRows rows, FindFusedRows(c, x.View(0, flat), kBits, kBits == 8 ? 4 : 2));
  dims.back() = rows.columns;
  WEFT_TRY(T * out, c.Out<T>(0, dims));
  for (int64_t r = 0; r < rows.rows; ++r)
    for (int64_t i = 0; i < rows.columns; ++i) Store(*out++, static_cast<float>(rows.Value(r, i)));
  return {};
}

// X -> codes in its shape, [rows, scale and bias].
Result<void> FloatToRowwise8(KernelContext& c) {
  const Tensor& x = c.In(0);
  WEFT_ENSURE(c, x.ndim() >= 1, "expected rows, found a scalar");
  const int64_t rows = x.dim(0), columns = x.SizeFrom(1);
  WEFT_ENSURE(c, rows == 0 || columns > 0, "rows have no columns");
  const float* from = x.data<float>();
  WEFT_TRY(uint8_t * out, c.Out<uint8_t>(0, x.dims()));
  WEFT_TRY(float* parameters, c.Out<float>(1, {rows, 2}));
  for (int64_t r = 0; r < rows; ++r, from += columns, out += columns) {
    const auto [low, high] = std::minmax_element(from, from + columns);
    const float range = *high - *low;
    const bool constant = range < 1e-10f;
    parameters[2 * r] = constant ? 1 : range / 255.0f;
    parameters[2 * r + 1] = *low;
    const float inverse = constant ? 0 : 255.0f / range;
    for (int64_t i = 0; i < columns; ++i) {
      const float scaled = std::round((from[i] - *low) * inverse);
      WEFT_ENSURE(c, !std::isnan(scaled), "row ", r, " holds a value that is not a finite number");
      out[i] = static_cast<uint8_t>(std::clamp(scaled, 0.0f, 255.0f));
    }
  }
  return {};
}

Result<void> Rowwise8ToFloat(KernelContext& c) {
  const Tensor& x = c.In(0);
  const Tensor& parameters = c.In(1);
  WEFT_ENSURE(
      c, x.ndim() >= 1 && parameters.ndim() == 2 && parameters.dim(0) == x.dim(0) && parameters.dim(1) == 2,
      "expected a scale and a bias for each row of ", DimsToString(x.dims()), ", found ",
      DimsToString(parameters.dims()));
  const int64_t columns = x.SizeFrom(1);
  const uint8_t* from = x.data<uint8_t>();
  const float* p = parameters.data<float>();
  WEFT_TRY(float* out, c.Out<float>(0, x.dims()));
  for (int64_t r = 0; r < x.dim(0); ++r)
    for (int64_t i = 0; i < columns; ++i)
      *out++ = static_cast<float>(double{p[2 * r]} * *from++ + double{p[2 * r + 1]});
  return {};
}

// Inputs fused rows, indices; output the rows as floats.
Result<void> GatherFused8Bit(KernelContext& c) {
  WEFT_TRY(const FusedRows table, FindFusedRows(c, c.In(0), 8, 4));
  WEFT_TRY(const std::vector<int64_t> rows, RowIndices(c, 1, table.rows));
  WEFT_TRY(float* out, c.Out<float>(0, {static_cast<int64_t>(rows.size()), table.columns}));
  for (int64_t row : rows)
    for (int64_t i = 0; i < table.columns; ++i) *out++ = static_cast<float>(table.Value(row, i));
  return {};
}

constexpr KernelRow kRows[] = {
    {"GatherFused8BitRowwise", GatherFused8Bit, "uI"},
    {"FloatToRowwiseQuantized8Bits", FloatToRowwise8, "f"},
    {"Rowwise8BitQuantizedToFloat", Rowwise8ToFloat, "uf"},
    {"FloatToFused8BitRowwiseQuantized", Quantize<float, 8>, "f"},
    {"FloatToFused4BitRowwiseQuantized", Quantize<float, 4>, "f"},
    {"FloatToFused2BitRowwiseQuantized", Quantize<float, 2>, "f"},
    {"HalfFloatToFused8BitRowwiseQuantized", Quantize<Half, 8>, "h"},
    {"HalfToFused4BitRowwiseQuantized", Quantize<Half, 4>, "h"},
    {"HalfToFused2BitRowwiseQuantized", Quantize<Half, 2>, "h"},
    {"Fused8BitRowwiseQuantizedToFloat", Dequantize<float, 8>, "u"},
    {"Fused4BitRowwiseQuantizedToFloat", Dequantize<float, 4>, "u"},
    {"Fused2BitRowwiseQuantizedToFloat", Dequantize<float, 2>, "u"},
    {"Fused8BitRowwiseQuantizedToHalfFloat", Dequantize<Half, 8>, "u"},
    {"Fused4BitRowwiseQuantizedToHalf", Dequantize<Half, 4>, "u"},
    {"Fused2BitRowwiseQuantizedToHalf", Dequantize<Half, 2>, "u"},
};

}  // namespace
}  // namespace kernels

KernelFamily QuantizeKernels() { return kernels::kRows; }

}  // namespace weft
