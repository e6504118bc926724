// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include <cmath>

#include "core/base/str.h"

namespace weft {

namespace {

// The length of the UTF-8 sequence at the start of `text`, 0 when it is none (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF).
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

}  // namespace

JsonWriter& JsonWriter::String(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  Comma();
  out_ += '"';
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      const unsigned byte = static_cast<unsigned char>(c);
      if (c == '\n') {
        out_ += "\\n";
      } else if (c == '\t') {
        out_ += "\\t";
      } else {
        out_ += "\\u00";
        out_ += kHex[byte >> 4];
        out_ += kHex[byte & 15];
      }
      ++i;
    } else if (const size_t length = Utf8Length(text.substr(i)); length > 0) {
      out_ += text.substr(i, length);
      i += length;
    } else {
      out_ += "\\ufffd";
      ++i;
    }
  }
  out_ += '"';
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Double(double value) {
  return std::isfinite(value) ? Raw(FormatDouble(value)) : Null();
}
JsonWriter& JsonWriter::Float(float value) { return std::isfinite(value) ? Raw(FormatFloat(value)) : Null(); }

}  // namespace weft
