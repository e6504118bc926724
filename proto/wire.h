// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Protobuf's wire format: varints, tags, and a cursor over the fields of one encoded message. The cursor
// never reads outside its bytes, whatever they are; it stops at the first thing that is no field. Borrowed
// bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weft {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

inline constexpr int kMaxNesting = 100;  // messages within messages, as protobuf itself allows
inline constexpr uint64_t kMaxMessageBytes = INT32_MAX;

constexpr uint32_t Tag(uint32_t number, WireType type) { return number << 3 | static_cast<uint32_t>(type); }

/// Reads a varint at `p`; returns the byte after it, or null when it does not end before `end` or within ten
/// bytes.
inline const char* ReadVarint(const char* p, const char* end, uint64_t& value) {
  if (p < end && static_cast<unsigned char>(*p) < 0x80) {
    value = static_cast<unsigned char>(*p);
    return p + 1;
  }
  value = 0;
  for (int shift = 0; shift < 70 && p < end; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(*p++);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return p;
  }
  return nullptr;
}

/// Reads a tag: as protobuf does, within five bytes, and bits above the 32nd do not count. Null for no tag,
/// for field number 0 too.
inline const char* ReadTag(const char* p, const char* end, uint32_t& tag) {
  uint64_t value;
  const char* const next = ReadVarint(p, end, value);
  if (next == nullptr || next - p > 5) return nullptr;
  tag = static_cast<uint32_t>(value);
  return tag >> 3 == 0 ? nullptr : next;
}

/// Reads a length, within five bytes, of a thing that ends before `end`; null otherwise.
inline const char* ReadLength(const char* p, const char* end, uint64_t& length) {
  const char* const next = ReadVarint(p, end, length);
  return next == nullptr || next - p > 5 || length > static_cast<uint64_t>(end - next) ? nullptr : next;
}

inline uint32_t ReadFixed32(const char* p) {
  const auto* b = reinterpret_cast<const unsigned char*>(p);
  return b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint32_t>(b[3]) << 24;
}
inline uint64_t ReadFixed64(const char* p) {
  return ReadFixed32(p) | static_cast<uint64_t>(ReadFixed32(p + 4)) << 32;
}

inline float FloatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline double DoubleFromBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline uint64_t BitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// One field as it lies in the bytes.
struct WireField {
  uint32_t tag = 0;        // number and wire type, as Tag() makes it
  uint64_t value = 0;      // of a varint or fixed field, its bits
  std::string_view bytes;  // what a length-delimited field or a group holds
  std::string_view whole;  // all of it, tag included

  uint32_t number() const { return tag >> 3; }
  WireType type() const { return static_cast<WireType>(tag & 7); }
};

class WireCursor {
 public:
  explicit WireCursor(std::string_view bytes) : p_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  /// The next field. False at the end, and at bytes that are no field; malformed() says which.
  bool Next(WireField& field);
  bool malformed() const { return p_ != end_; }
  /// Where the cursor stands: after the field read last, or where the malformed one begins.
  const char* position() const { return p_; }

 private:
  const char* p_;
  const char* end_;
};

/// The byte after the group whose fields begin at `p` (the end tag included); null when it is malformed or
/// deeper than `depth_left`. `body_end` is where the end tag begins.
const char* SkipGroup(const char* p, const char* end, uint32_t number, int depth_left, const char*& body_end);

inline bool WireCursor::Next(WireField& field) {
  const char* const start = p_;
  if (start == end_) return false;
  const char* p = ReadTag(start, end_, field.tag);
  if (p == nullptr) return false;
  switch (field.tag & 7) {
    case 0:
      p = ReadVarint(p, end_, field.value);
      if (p == nullptr) return false;
      break;
    case 1:
      if (end_ - p < 8) return false;
      field.value = ReadFixed64(p);
      p += 8;
      break;
    case 2: {
      uint64_t size;
      p = ReadLength(p, end_, size);
      if (p == nullptr) return false;
      field.bytes = {p, static_cast<size_t>(size)};
      p += size;
      break;
    }
    case 3: {
      const char* const body = p;
      const char* body_end = nullptr;
      p = SkipGroup(p, end_, field.number(), kMaxNesting, body_end);
      if (p == nullptr) return false;
      field.bytes = {body, static_cast<size_t>(body_end - body)};
      break;
    }
    case 5:
      if (end_ - p < 4) return false;
      field.value = ReadFixed32(p);
      p += 4;
      break;
    default:
      return false;
  }
  field.whole = {start, static_cast<size_t>(p - start)};
  p_ = p;
  return true;
}

// Writing.

constexpr size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

inline char* PutVarint(char* p, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *p++ = static_cast<char>(value | 0x80);
  *p++ = static_cast<char>(value);
  return p;
}
inline char* PutFixed32(char* p, uint32_t value) {
  for (int i = 0; i < 4; ++i) *p++ = static_cast<char>(value >> (8 * i));
  return p;
}
inline char* PutFixed64(char* p, uint64_t value) {
  for (int i = 0; i < 8; ++i) *p++ = static_cast<char>(value >> (8 * i));
  return p;
}

inline void AppendVarint(std::string& out, uint64_t value) {
  char buffer[10];
  out.append(buffer, static_cast<size_t>(PutVarint(buffer, value) - buffer));
}

}  // namespace weft
