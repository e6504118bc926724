// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/text_lexer.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// The character that a single-letter escape stands for; 0 when it is none.
char SimpleEscape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
    case '?':
      return c;
    default:
      return 0;
  }
}

}  // namespace

void TextLexer::Next() {
  if (token_.kind != Token::kEnd) last_ = token_.text.data();
  const char* p = p_;
  while (p < end_) {
    if (IsSpace(*p)) {
      ++p;
    } else if (*p == '#') {
      p = std::find(p, end_, '\n');
    } else {
      break;
    }
  }
  const char* const start = p;
  if (p == end_) {
    token_.kind = Token::kEnd;
  } else if (IsLetter(*p)) {
    token_.kind = Token::kIdentifier;
    while (p < end_ && (IsLetter(*p) || IsDigit(*p))) ++p;
  } else if (IsDigit(*p) || (*p == '.' && p + 1 < end_ && IsDigit(p[1]))) {
    token_.kind = Token::kNumber;
    const bool hex = end_ - p > 1 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    while (p < end_ && (IsLetter(*p) || IsDigit(*p) || *p == '.' ||
                        (!hex && (*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E')))) {
      ++p;
    }
  } else if (*p == '"' || *p == '\'') {
    token_.kind = Token::kString;
    const char quote = *p++;
    while (p < end_ && *p != quote && *p != '\n') p += *p == '\\' && p + 1 < end_ && p[1] != '\n' ? 2 : 1;
    if (p < end_ && *p == quote) {
      ++p;
    } else {
      token_.kind = Token::kBroken;
    }
  } else {
    token_.kind = Token::kSymbol;
    ++p;
  }
  token_.text = {start, static_cast<size_t>(p - start)};
  p_ = p;
}

TextPosition FindPosition(std::string_view text, const char* at) {
  TextPosition position;
  const char* line = text.data();
  for (const char* p = line; p < at; ++p) {
    if (*p == '\n') {
      ++position.line;
      line = p + 1;
    }
  }
  position.column = static_cast<int>(at - line) + 1;
  return position;
}

Error TextError(std::string_view text, const char* at, std::string_view message, ErrorCode code) {
  constexpr ptrdiff_t kAround = 60;  // characters shown on either side of the place
  const TextPosition position = FindPosition(text, at);
  const char* begin = at - (position.column - 1);
  const char* end = std::find(at, text.data() + text.size(), '\n');
  const bool cut_begin = at - begin > kAround;
  const bool cut_end = end - at > kAround;
  if (cut_begin) begin = at - kAround;
  if (cut_end) end = at + kAround;
  std::string line(cut_begin ? "..." : "");
  std::string caret(line.size(), ' ');
  for (const char* p = begin; p < end; ++p) {
    const bool printable = static_cast<unsigned char>(*p) >= 0x20 && *p != 0x7f;
    if (*p != '\r') line += printable || *p == '\t' ? *p : '?';
    // Bytes that continue a UTF-8 character take no column on a screen.
    if (p < at && (*p & 0xc0) != 0x80) caret += *p == '\t' ? '\t' : ' ';
  }
  if (cut_end) line += "...";
  return Error{code,
               StrCat(position.line, ":", position.column, ": ", message, "\n", line, "\n", caret, "^")};
}

bool Unescape(std::string_view quoted, std::string* out, const char** bad) {
  const char* p = quoted.data() + 1;
  const char* const end = quoted.data() + quoted.size() - 1;
  std::string scratch;
  std::string& to = out ? *out : scratch;
  while (p < end) {
    const char* const run = p;
    while (p < end && *p != '\\') ++p;
    if (out) to.append(run, p);
    if (p == end) break;
    *bad = p++;
    if (p == end) return false;
    const char c = *p++;
    if (const char simple = SimpleEscape(c)) {
      to += simple;
    } else if (c >= '0' && c <= '7') {
      int value = c - '0';
      for (int i = 0; i < 2 && p < end && *p >= '0' && *p <= '7'; ++i) value = value * 8 + (*p++ - '0');
      to += static_cast<char>(value);
    } else if (c == 'x' || c == 'X') {
      if (p == end || HexDigit(*p) < 0) return false;
      int value = 0;
      for (int i = 0; i < 2 && p < end && HexDigit(*p) >= 0; ++i) value = value * 16 + HexDigit(*p++);
      to += static_cast<char>(value);
    } else if (c == 'u' || c == 'U') {
      uint32_t code = 0;
      for (int i = 0; i < (c == 'u' ? 4 : 8); ++i) {
        if (p == end || HexDigit(*p) < 0) return false;
        code = code * 16 + static_cast<uint32_t>(HexDigit(*p++));
      }
      if (code > 0x10ffff) return false;
      AppendUtf8(to, code);
    } else {
      return false;
    }
    if (!out) scratch.clear();
  }
  return true;
}

}  // namespace weft
