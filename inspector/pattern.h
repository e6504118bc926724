// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Pattern: a small regular expression, matched in time proportional to the text (no backtracking), so that a
// query cannot hang the page. Knows . [a-z] [^a] * + ? ^ $ | ( ) and \ before any of them; bytes, not code
// points. A value; matching does not change it, but uses scratch inside: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace weft {

class Pattern {
 public:
  /// Errors: kParse with the column (from 1) in the expression.
  static Result<Pattern> Compile(std::string_view expression);

  /// True when the expression matches somewhere in `text`.
  bool Search(std::string_view text) const;

 private:
  friend class PatternCompiler;
  enum Code : uint8_t { kSet, kSplit, kJump, kBegin, kEnd, kMatch };
  struct Step {
    Code code;
    uint32_t next = 0, other = 0;  // kSplit: both; kSet: `other` is the set
  };
  using ByteSet = std::array<uint64_t, 4>;

  void Follow(uint32_t step, bool at_begin, bool at_end, std::vector<uint32_t>& list) const;

  std::vector<Step> steps_;
  std::vector<ByteSet> sets_;
  mutable std::vector<uint32_t> mark_, stack_, now_, then_;
  mutable uint32_t round_ = 0;
};

}  // namespace weft
