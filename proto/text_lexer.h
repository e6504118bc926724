// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The tokens of protobuf text, and where in the text they are. Borrows the text; keeps one token.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace weft {

struct Token {
  enum Kind : uint8_t {
    kEnd,
    kIdentifier,  // name, CUDA, true, inf
    kNumber,  // 12, 0x1f, 1.5e-3, 2.f: digits, letters, dots and an exponent's sign; judged by who reads it
    kString,  // with its quotes; complete
    kSymbol,  // one character
    kBroken,  // a string without its closing quote
  };
  Kind kind = kEnd;
  std::string_view text;
};

class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : p_(text.data()), end_(text.data() + text.size()), last_(p_) {
    token_.text = {p_, 0};
    Next();
  }

  const Token& token() const { return token_; }
  /// Where the token before this one begins.
  const char* last() const { return last_; }
  /// Goes on to the next token, past white space and comments.
  void Next();
  bool IsSymbol(char c) const { return token_.kind == Token::kSymbol && token_.text[0] == c; }
  /// Takes the symbol when it is the token.
  bool TakeSymbol(char c) {
    if (!IsSymbol(c)) return false;
    Next();
    return true;
  }

 private:
  const char* p_;
  const char* end_;
  Token token_;
  const char* last_ = nullptr;
};

struct TextPosition {
  int line = 1;  // from 1
  int column = 1;
};
/// Where `at`, a place within `text`, is. Linear in the text before it.
TextPosition FindPosition(std::string_view text, const char* at);

/// "3:7: message", the line, and a caret below the place. Long lines are cut around it.
Error TextError(std::string_view text, const char* at, std::string_view message,
                ErrorCode code = ErrorCode::kParse);

/// Appends what a string token with its quotes means. False at an escape that is none; `bad` is where.
bool Unescape(std::string_view quoted, std::string* out, const char** bad);

}  // namespace weft
