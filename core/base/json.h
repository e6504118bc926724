// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// JsonWriter appends JSON to a string, value by value, without holding a document: the SSA form of a million
// operators is written as it is walked. Commas are its business, matching Begin and End the caller's.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

class JsonWriter {
 public:
  /// Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key) {
    String(key);
    out_ += ':';
    comma_ = false;
    return *this;
  }
  /// Text in quotes. Bytes that are not UTF-8 become U+FFFD: JSON has no other bytes.
  JsonWriter& String(std::string_view text);
  template <std::integral T>
  JsonWriter& Int(T value) {
    return Raw(std::to_string(value));
  }
  /// Infinities and NaN, which JSON lacks, become null.
  JsonWriter& Double(double value);
  JsonWriter& Float(float value);
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }

 private:
  JsonWriter& Open(char bracket) {
    Comma();
    out_ += bracket;
    comma_ = false;
    return *this;
  }
  JsonWriter& Close(char bracket) {
    out_ += bracket;
    comma_ = true;
    return *this;
  }
  JsonWriter& Raw(std::string_view text) {
    Comma();
    out_ += text;
    comma_ = true;
    return *this;
  }
  void Comma() {
    if (comma_) out_ += ',';
  }

  std::string& out_;
  bool comma_ = false;
};

}  // namespace weft
