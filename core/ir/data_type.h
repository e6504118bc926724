// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// DataType: the element types of tensors, with the numbers of Caffe2's TensorProto.DataType. DataTypeOf<T>
// ties each to its C++ type; Half is the bit pattern of an IEEE half float, converted only where a value is
// needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

enum class DataType : uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kInt32 = 2,
  kByte = 3,  // read as kUint8 everywhere
  kString = 4,
  kBool = 5,
  kUint8 = 6,
  kInt8 = 7,
  kUint16 = 8,
  kInt16 = 9,
  kInt64 = 10,
  kFloat16 = 12,
  kDouble = 13,
};

struct Half {
  uint16_t bits = 0;
  friend bool operator==(Half a, Half b) { return a.bits == b.bits; }
};

float HalfToFloat(Half half);
/// Rounds to nearest, ties to even; too large becomes infinity.
Half FloatToHalf(float value);

/// "float", "int32", "string"...; "undefined" for kUndefined and numbers that are no type.
std::string_view DataTypeName(DataType type);
/// The type of a name as above, or as numpy and Caffe2 spell it ("float32", "float64", "FLOAT"). Empty when
/// none.
std::optional<DataType> ParseDataType(std::string_view name);
/// The type with this number in a file; empty when Weft has none. 3 (BYTE) gives kUint8.
std::optional<DataType> DataTypeFromNumber(int64_t number);
/// Bytes per element; 0 for strings and kUndefined.
size_t DataTypeSize(DataType type);
/// float, double or half: what carries a gradient, and what random numbers suit.
inline bool IsFloating(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16;
}

template <typename T>
inline constexpr DataType DataTypeOf = DataType::kUndefined;
template <>
inline constexpr DataType DataTypeOf<float> = DataType::kFloat;
template <>
inline constexpr DataType DataTypeOf<int32_t> = DataType::kInt32;
template <>
inline constexpr DataType DataTypeOf<std::string> = DataType::kString;
template <>
inline constexpr DataType DataTypeOf<bool> = DataType::kBool;
template <>
inline constexpr DataType DataTypeOf<uint8_t> = DataType::kUint8;
template <>
inline constexpr DataType DataTypeOf<int8_t> = DataType::kInt8;
template <>
inline constexpr DataType DataTypeOf<uint16_t> = DataType::kUint16;
template <>
inline constexpr DataType DataTypeOf<int16_t> = DataType::kInt16;
template <>
inline constexpr DataType DataTypeOf<int64_t> = DataType::kInt64;
template <>
inline constexpr DataType DataTypeOf<Half> = DataType::kFloat16;
template <>
inline constexpr DataType DataTypeOf<double> = DataType::kDouble;

}  // namespace weft
