// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the readers of an operator row's little languages (gradient and shape rules) are made on: words, signs
// and the first error, after which every step does nothing.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/str.h"

namespace weft {

class RuleScanner {
 protected:
  /// `kind` and `op` are for messages: "gradient rule of Relu, column 3: ...".
  RuleScanner(std::string_view kind, std::string_view op) : kind_(kind), op_(op) {}

  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static bool IsNameChar(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_';
  }

  void Begin(std::string_view text) {
    text_ = text;
    at_ = 0;
  }
  /// The first error, or that there is more text than was read.
  Result<void> End() {
    Skip();
    if (error_.empty() && at_ < text_.size()) Fail("unexpected text");
    if (!error_.empty()) return Error{ErrorCode::kParse, error_};
    return {};
  }
  void Fail(std::string_view what) {
    if (error_.empty())
      error_ = StrCat(kind_, " rule of ", op_, ", column ", at_ + 1, ": ", what, " in \"", text_, "\"");
    at_ = text_.size();
  }
  void Skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  /// A word ends where a name ends: "if" is not the start of "iff".
  bool At(std::string_view token) {
    Skip();
    if (text_.substr(at_, token.size()) != token) return false;
    const size_t end = at_ + token.size();
    return !IsNameChar(token.back()) || end >= text_.size() || !IsNameChar(text_[end]);
  }
  bool Eat(std::string_view token) {
    if (!At(token)) return false;
    at_ += token.size();
    return true;
  }
  void Expect(std::string_view token) {
    if (!Eat(token)) Fail(StrCat("expected '", token, "'"));
  }
  std::string_view Name() {
    Skip();
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    if (begin == at_) Fail("expected a name");
    return text_.substr(begin, at_ - begin);
  }

  std::string_view kind_, op_, text_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace weft
