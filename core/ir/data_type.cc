// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/data_type.h"

#include <cstring>

namespace weft {

namespace {

struct Row {
  DataType type;
  uint8_t size;
  std::string_view name, numpy, caffe2;
};
constexpr Row kRows[] = {
    {DataType::kFloat, 4, "float", "float32", "FLOAT"},
    {DataType::kInt32, 4, "int32", "int32", "INT32"},
    {DataType::kString, 0, "string", "object", "STRING"},
    {DataType::kBool, 1, "bool", "bool", "BOOL"},
    {DataType::kUint8, 1, "uint8", "uint8", "UINT8"},
    {DataType::kInt8, 1, "int8", "int8", "INT8"},
    {DataType::kUint16, 2, "uint16", "uint16", "UINT16"},
    {DataType::kInt16, 2, "int16", "int16", "INT16"},
    {DataType::kInt64, 8, "int64", "int64", "INT64"},
    {DataType::kFloat16, 2, "float16", "float16", "FLOAT16"},
    {DataType::kDouble, 8, "double", "float64", "DOUBLE"},
};

const Row* Find(DataType type) {
  if (type == DataType::kByte) type = DataType::kUint8;
  for (const Row& row : kRows)
    if (row.type == type) return &row;
  return nullptr;
}

}  // namespace

float HalfToFloat(Half half) {
  const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
  uint32_t exponent = half.bits >> 10 & 0x1fu;
  uint32_t mantissa = half.bits & 0x3ffu;
  uint32_t bits = sign;
  if (exponent == 0x1f) {
    bits |= 0x7f800000u | mantissa << 13;
  } else if (exponent != 0) {
    bits |= (exponent + 112) << 23 | mantissa << 13;
  } else if (mantissa != 0) {  // a subnormal half is a normal float
    exponent = 113;
    while (!(mantissa & 0x400u)) {
      mantissa <<= 1;
      --exponent;
    }
    bits |= exponent << 23 | (mantissa & 0x3ffu) << 13;
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

Half FloatToHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};   // not a number
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // rounds to infinity
  if (magnitude < 0x33000001u) return {sign};                                    // rounds to zero
  const int32_t exponent = static_cast<int32_t>(magnitude >> 23) - 112;
  // The 24-bit significand, shifted so that its unit is the half's last place; below the normal range the
  // shift grows instead of the exponent shrinking.
  const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  const int shift = exponent > 0 ? 13 : 14 - exponent;
  uint32_t half = significand >> shift;
  const uint32_t rest = significand & ((1u << shift) - 1);
  const uint32_t middle = 1u << (shift - 1);
  if (rest > middle || (rest == middle && (half & 1))) ++half;
  if (exponent > 0) half += static_cast<uint32_t>(exponent - 1) << 10;
  return {static_cast<uint16_t>(sign | half)};
}

std::string_view DataTypeName(DataType type) {
  const Row* row = Find(type);
  return row ? row->name : "undefined";
}

std::optional<DataType> ParseDataType(std::string_view name) {
  for (const Row& row : kRows)
    if (name == row.name || name == row.numpy || name == row.caffe2) return row.type;
  if (name == "BYTE" || name == "byte") return DataType::kUint8;
  return std::nullopt;
}

std::optional<DataType> DataTypeFromNumber(int64_t number) {
  if (number <= 0 || number > 255) return std::nullopt;
  const Row* row = Find(static_cast<DataType>(number));
  if (!row) return std::nullopt;
  return row->type;
}

size_t DataTypeSize(DataType type) {
  const Row* row = Find(type);
  return row ? row->size : 0;
}

}  // namespace weft
