// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/validate.h"

#include <cstring>
#include <string>

#include "core/base/str.h"
#include "proto/wire.h"

namespace weft {

namespace {

WireType ExpectedType(Kind kind) {
  switch (kind) {
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kMessage:
      return WireType::kLength;
    case Kind::kFloat:
      return WireType::kFixed32;
    case Kind::kDouble:
      return WireType::kFixed64;
    default:
      return WireType::kVarint;
  }
}

// A name or other text as people write it: UTF-8 without control characters other than white space.
bool HasControl(std::string_view text) {
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f)
      return true;
  return false;
}
// Whether eight bytes are all from ' ' to '~'.
bool ArePrintable(const char* bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101, kTops = kOnes * 0x80;
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  return ((word | (word - kOnes * 0x20) | (word + kOnes)) & kTops) == 0;
}
bool IsPlainText(std::string_view text) {
  size_t at = 0;
  while (text.size() - at >= 8 && ArePrintable(text.data() + at)) at += 8;
  text.remove_prefix(at);  // no character is cut: all before are of one byte
  return !HasControl(text) && IsUtf8(text);
}

constexpr size_t kShownPath = 60;      // characters at either end of a long path
constexpr size_t kSampleBytes = 4096;  // of one string or list, when only some fields are looked at

class Validator {
 public:
  Validator(std::string_view bytes, WireFit* fit, size_t offset, uint64_t most_fields)
      : begin_(bytes.data()),
        fit_(fit),
        offset_(offset),
        fields_left_(most_fields),
        sampling_(most_fields != std::numeric_limits<uint64_t>::max()) {}

  // False on an error, which is then in error_.
  bool Walk(MessageId id, const char* p, const char* end, int depth);

  Error TakeError(MessageId id) {
    if (path_.size() > 2 * kShownPath) {  // of deep nesting, the two ends
      const size_t head = path_.rfind('.', kShownPath);
      const size_t tail = path_.find('.', path_.size() - kShownPath);
      if (head != std::string::npos && tail != std::string::npos)
        path_ =
            StrCat(std::string_view(path_).substr(0, head), ". ...", std::string_view(path_).substr(tail));
    }
    error_.message = StrCat(GetMessage(id).name, path_.empty() ? "" : ".", path_, ", byte ", Offset(at_),
                            ": ", error_.message);
    return std::move(error_);
  }

 private:
  size_t Offset(const char* p) const { return offset_ + static_cast<size_t>(p - begin_); }
  bool Fail(const char* at, std::string message, ErrorCode code = ErrorCode::kParse) {
    at_ = at;
    error_ = Error{code, std::move(message)};
    return false;
  }
  bool FailVarint(const char* at, const char* end, std::string_view what) {
    return Fail(at, end - at >= 10 ? StrCat(what, " is no number: it does not end within 10 bytes")
                                   : StrCat(what, " is cut off by the end of the message"));
  }
  bool FailTag(const char* at, const char* end) {
    uint64_t value;
    const char* const next = ReadVarint(at, end, value);
    if (next == nullptr) return FailVarint(at, end, "a field's number");
    return Fail(at, next - at > 5 ? "a field's number that is written with more than 5 bytes"
                                  : "field number 0 does not exist");
  }
  bool WalkPacked(const Field& field, const char* p, const char* end);
  // Adds "op[3]" in front of the path: which field of `id` began at `field_start`.
  void AddToPath(const Field& field, std::string_view before_field);

  const char* begin_;
  WireFit* fit_;
  size_t offset_;
  uint64_t fields_left_;
  bool sampling_;
  const char* at_ = nullptr;
  Error error_;
  std::string path_;
};

void Validator::AddToPath(const Field& field, std::string_view before_field) {
  std::string piece(field.name);
  if (field.repeated) {
    WireCursor cursor(before_field);
    WireField f;
    size_t index = 0;
    while (cursor.Next(f)) index += f.number() == field.number;
    StrAppend(piece, "[", index, "]");
  }
  path_ = path_.empty() ? piece : StrCat(piece, ".", path_);
}

bool Validator::WalkPacked(const Field& field, const char* p, const char* end) {
  const size_t size = static_cast<size_t>(end - p);
  const WireType type = ExpectedType(field.kind);
  if (type == WireType::kVarint) {
    while (p < end) {
      uint64_t value;
      const char* const next = ReadVarint(p, end, value);
      if (next == nullptr) return FailVarint(p, end, "a value of a packed list");
      p = next;
    }
  } else {
    const size_t width = type == WireType::kFixed32 ? 4 : 8;
    if (size % width != 0)
      return Fail(p,
                  StrCat("a packed list of ", size, " bytes is no whole number of ", width, "-byte values"));
  }
  return true;
}

bool Validator::Walk(MessageId id, const char* p, const char* const end, int depth) {
  const Message& message = GetMessage(id);
  const char* const message_begin = p;
  while (p < end) {
    if (fields_left_ == 0) return true;
    --fields_left_;
    const char* const start = p;
    uint32_t tag;
    uint64_t value;
    p = ReadTag(start, end, tag);
    if (p == nullptr) return FailTag(start, end);
    const uint32_t number = tag >> 3;
    const Field* const field = FindField(message, number);
    const auto type = static_cast<WireType>(tag & 7);
    bool known = field != nullptr && type == ExpectedType(field->kind);
    switch (type) {
      case WireType::kVarint: {
        const char* const at = p;
        p = ReadVarint(p, end, value);
        if (p == nullptr)
          return FailVarint(at, end, field ? StrCat("the value of ", field->name) : StrCat("field ", number));
        break;
      }
      case WireType::kFixed32:
      case WireType::kFixed64: {
        const ptrdiff_t width = type == WireType::kFixed32 ? 4 : 8;
        if (end - p < width) {
          return Fail(start, StrCat(field ? field->name : std::string_view("a field"), " needs ", width,
                                    " bytes, but ", end - p, " are left in ", message.name));
        }
        p += width;
        if (known && field->kind == Kind::kFloat && field->repeated && number < 16) {
          while (end - p >= 5 && *p == static_cast<char>(tag))
            p += 5;  // Argument.floats is one tag per value
        }
        break;
      }
      case WireType::kLength: {
        const char* const at = p;
        p = ReadVarint(p, end, value);
        if (p == nullptr) return FailVarint(at, end, "a length");
        if (p - at > 5) return Fail(at, "a length that is written with more than 5 bytes");
        if (value > static_cast<uint64_t>(end - p)) {
          if (field != nullptr)
            AddToPath(*field, {message_begin, static_cast<size_t>(start - message_begin)});
          const uint64_t left = static_cast<uint64_t>(end - p);
          return Fail(start,
                      StrCat(field ? std::string("it") : StrCat("field ", number), " is said to have ", value,
                             " bytes, but ", left, " are left in ", depth == 0 ? "the file" : message.name,
                             depth == 0 && left > 0 ? "; is the file cut off?" : ""));
        }
        const char* const body = p;
        p += value;
        if (field == nullptr) break;
        bool ok = true;
        if (field->kind == Kind::kMessage) {
          ok = depth < kMaxNesting
                   ? Walk(field->message, body, p, depth + 1)
                   : Fail(start, StrCat("nesting deeper than ", kMaxNesting, " levels"), ErrorCode::kLimit);
        } else if (field->repeated && !known) {
          known = true;
          ok = (sampling_ && value > kSampleBytes) || WalkPacked(*field, body, p);
        } else if (fit_ != nullptr && field->kind == Kind::kString) {
          const std::string_view text(body, static_cast<size_t>(value));
          const bool plain = sampling_ && value > kSampleBytes ? !HasControl(text.substr(0, kSampleBytes))
                                                               : IsPlainText(text);
          fit_->odd_text += !plain;
        }
        if (!ok) {
          AddToPath(*field, {message_begin, static_cast<size_t>(start - message_begin)});
          return false;
        }
        break;
      }
      case WireType::kStartGroup: {
        const char* body_end;
        p = SkipGroup(p, end, number, kMaxNesting - depth, body_end);
        if (p == nullptr) return Fail(start, "a group that is malformed, not ended, or nested too deeply");
        break;
      }
      case WireType::kEndGroup:
        return Fail(start, StrCat("the end of group ", number, ", which was never begun"));
      default:
        return Fail(start, StrCat("wire type ", tag & 7, " does not exist"));
    }
    if (fit_ != nullptr) ++(known ? fit_->known : fit_->unknown);
  }
  return true;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = p + text.size();
  while (p < end) {
    if (*p < 0x80) {
      ++p;
      continue;
    }
    const int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : 1;
    if (*p < 0xc2 || *p > 0xf4 || end - p <= more) return false;
    const unsigned second = p[1];
    const unsigned least = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;  // no overlong forms
    const unsigned largest = *p == 0xed   ? 0x9f
                             : *p == 0xf4 ? 0x8f
                                          : 0xbf;  // no surrogates, nothing past U+10FFFF
    if (second < least || second > largest) return false;
    for (int i = 2; i <= more; ++i)
      if ((p[i] & 0xc0) != 0x80) return false;
    p += more + 1;
  }
  return true;
}

Result<void> Validate(MessageId message, std::string_view bytes, WireFit* fit, size_t offset,
                      uint64_t most_fields) {
  if (bytes.size() > kMaxMessageBytes) {
    return Error{ErrorCode::kLimit, StrCat(GetMessage(message).name, " of ", FormatBytes(bytes.size()),
                                           " is larger than protobuf's limit of 2 GB")};
  }
  Validator validator(bytes, fit, offset, most_fields);
  if (!validator.Walk(message, bytes.data(), bytes.data() + bytes.size(), 0))
    return validator.TakeError(message);
  return {};
}

}  // namespace weft
