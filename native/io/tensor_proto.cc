// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/io/tensor_proto.h"

#include <algorithm>
#include <cstring>

#include "core/base/str.h"
#include "proto/wire.h"

namespace weft {

namespace {

enum : uint32_t {
  kDims = 1,
  kDataType = 2,
  kFloatData = 3,
  kInt32Data = 4,
  kByteData = 5,
  kStringData = 6,
  kName = 7,
  kDoubleData = 9,
  kInt64Data = 10,
  kSegment = 11,
  kRawData = 13,
};

Error Malformed(std::string_view what) { return Error{ErrorCode::kParse, StrCat("TensorProto: ", what)}; }

// The next number of a packed field of this kind of elements.
bool TakePacked(std::string_view& bytes, uint32_t number, uint64_t& bits) {
  if (number == kFloatData) {
    if (bytes.size() < 4) return false;
    bits = ReadFixed32(bytes.data());
    bytes.remove_prefix(4);
  } else if (number == kDoubleData) {
    if (bytes.size() < 8) return false;
    bits = ReadFixed64(bytes.data());
    bytes.remove_prefix(8);
  } else {
    const char* next = ReadVarint(bytes.data(), bytes.data() + bytes.size(), bits);
    if (!next) return false;
    bytes.remove_prefix(static_cast<size_t>(next - bytes.data()));
  }
  return true;
}

uint32_t FieldOf(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return kFloatData;
    case DataType::kDouble:
      return kDoubleData;
    case DataType::kInt64:
      return kInt64Data;
    case DataType::kString:
      return kStringData;
    default:
      return kInt32Data;
  }
}

// Element i of `tensor` from the bits that the wire has.
void SetBits(Tensor& t, int64_t i, uint64_t bits) {
  switch (t.type()) {
    case DataType::kFloat:
      t.mutable_data<float>()[i] = FloatFromBits(static_cast<uint32_t>(bits));
      return;
    case DataType::kDouble:
      t.mutable_data<double>()[i] = DoubleFromBits(bits);
      return;
    case DataType::kInt64:
      t.mutable_data<int64_t>()[i] = static_cast<int64_t>(bits);
      return;
    case DataType::kInt32:
      t.mutable_data<int32_t>()[i] = static_cast<int32_t>(bits);
      return;
    case DataType::kBool:
      t.mutable_data<bool>()[i] = bits != 0;
      return;
    case DataType::kUint8:
      t.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(bits);
      return;
    case DataType::kInt8:
      t.mutable_data<int8_t>()[i] = static_cast<int8_t>(bits);
      return;
    case DataType::kUint16:
      t.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(bits);
      return;
    case DataType::kInt16:
      t.mutable_data<int16_t>()[i] = static_cast<int16_t>(bits);
      return;
    case DataType::kFloat16:
      t.mutable_data<Half>()[i] = Half{static_cast<uint16_t>(bits)};
      return;
    default:
      return;
  }
}

}  // namespace

Result<TensorHeader> ReadTensorHeader(std::string_view wire) {
  TensorHeader header;
  bool segment = false;
  WireCursor cursor(wire);
  for (WireField field; cursor.Next(field);) {
    switch (field.number()) {
      case kDims:
        if (field.type() == WireType::kVarint) {
          header.dims.push_back(static_cast<int64_t>(field.value));
        } else {
          uint64_t bits;
          for (std::string_view packed = field.bytes; !packed.empty();) {
            if (!TakePacked(packed, kDims, bits)) return Malformed("dims are cut off");
            header.dims.push_back(static_cast<int64_t>(bits));
          }
        }
        break;
      case kDataType: {
        const std::optional<DataType> type = DataTypeFromNumber(static_cast<int64_t>(field.value));
        if (!type || *type == DataType::kUndefined)
          return Error{ErrorCode::kUnsupported, StrCat("TensorProto: type ", field.value, " is no tensor's")};
        header.type = *type == DataType::kByte ? DataType::kUint8 : *type;
        break;
      }
      case kName:
        header.name = field.bytes;
        break;
      case kSegment: {
        segment = true;
        WireCursor inner(field.bytes);
        for (WireField part; inner.Next(part);)
          (part.number() == 1 ? header.begin : header.end) = static_cast<int64_t>(part.value);
        break;
      }
      default:
        break;
    }
  }
  if (cursor.malformed()) return Malformed("it is cut off");
  const int64_t count = NumElements(header.dims);
  if (count < 0) return Malformed(StrCat("dimensions ", DimsToString(header.dims)));
  if (!segment) header.end = count;
  if (header.begin < 0 || header.end < header.begin || header.end > count)
    return Malformed(StrCat("a segment from ", header.begin, " to ", header.end, " of ", count, " elements"));
  return header;
}

Result<void> ReadTensorElements(std::string_view wire, Tensor& tensor) {
  WEFT_TRY(const TensorHeader header, ReadTensorHeader(wire));
  // An element takes a byte at the least; so a claim takes no memory.
  if (header.end - header.begin > static_cast<int64_t>(wire.size()))
    return Malformed(StrCat("it holds fewer than ", header.end - header.begin, " elements"));
  const bool same =
      tensor.has_type() && tensor.type() == header.type &&
      std::equal(tensor.dims().begin(), tensor.dims().end(), header.dims.begin(), header.dims.end());
  if (!same && !tensor.Allocate(header.type, header.dims))
    return Error{ErrorCode::kLimit, StrCat(header.name, ": ", DimsToString(header.dims), " is too large")};
  int64_t at = header.begin;
  const uint32_t own = FieldOf(header.type);
  const auto take = [&](uint64_t bits) {
    if (at < header.end) SetBits(tensor, at, bits);
    ++at;
  };
  WireCursor cursor(wire);
  for (WireField field; cursor.Next(field);) {
    const bool bytes = field.type() == WireType::kLength;
    if (bytes && (field.number() == kRawData || field.number() == kByteData) &&
        header.type != DataType::kString && !field.bytes.empty()) {
      const size_t size = DataTypeSize(header.type), count = field.bytes.size() / size;
      if (field.bytes.size() % size != 0 || count > static_cast<size_t>(header.end - at))
        return Malformed(StrCat(field.bytes.size(), " bytes for ", header.end - at, " elements of ", size));
      std::memcpy(static_cast<char*>(tensor.mutable_raw()) + static_cast<size_t>(at) * size,
                  field.bytes.data(), field.bytes.size());
      at += static_cast<int64_t>(count);
    } else if (field.number() == own && own == kStringData) {
      if (at < header.end) tensor.mutable_data<std::string>()[at] = field.bytes;
      ++at;
    } else if (field.number() == own && bytes) {
      uint64_t bits;
      for (std::string_view packed = field.bytes; !packed.empty();) {
        if (!TakePacked(packed, own, bits)) return Malformed("its numbers are cut off");
        take(bits);
      }
    } else if (field.number() == own) {
      take(field.value);
    }
  }
  if (at != header.end)
    return Malformed(StrCat(header.name, header.name.empty() ? "" : ": ", "expected ",
                            header.end - header.begin, " elements, found ", at - header.begin));
  return {};
}

}  // namespace weft
