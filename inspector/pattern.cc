// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/pattern.h"

#include <utility>

#include "core/base/str.h"

namespace weft {

namespace {
constexpr int kMaxDepth = 50;  // of parentheses
constexpr size_t kMaxExpression = 2000;
}  // namespace

// Thompson's construction: every piece is a range of steps with one way in and a list of ways out to patch.
class PatternCompiler {
 public:
  explicit PatternCompiler(std::string_view text) : text_(text) {}

  Result<Pattern> Compile() {
    if (text_.size() > kMaxExpression)
      return Error{ErrorCode::kLimit,
                   StrCat("the expression is longer than ", kMaxExpression, " characters")};
    WEFT_TRY(const Piece whole, Alternatives(0));
    if (at_ < text_.size()) return Fail("')' without '('");
    Patch(whole.out, Add(Pattern::kMatch));
    start_ = whole.in;
    // The machine starts at step 0.
    if (start_ != 0) {
      std::swap(pattern_.steps_[0], pattern_.steps_[start_]);
      for (Pattern::Step& step : pattern_.steps_) {
        Swap(step.next);
        if (step.code == Pattern::kSplit) Swap(step.other);
      }
    }
    return std::move(pattern_);
  }

 private:
  struct Out {
    uint32_t step;
    bool other;
  };
  struct Piece {
    uint32_t in;
    std::vector<Out> out;
  };

  void Swap(uint32_t& step) const {
    if (step == 0) {
      step = start_;
    } else if (step == start_) {
      step = 0;
    }
  }
  Error Fail(std::string_view what) const {
    return {ErrorCode::kParse, StrCat("column ", at_ + 1, " of the expression: ", what)};
  }
  uint32_t Add(Pattern::Code code, uint32_t next = 0, uint32_t other = 0) {
    pattern_.steps_.push_back({code, next, other});
    return static_cast<uint32_t>(pattern_.steps_.size()) - 1;
  }
  void Patch(const std::vector<Out>& outs, uint32_t to) {
    for (const Out& out : outs)
      (out.other ? pattern_.steps_[out.step].other : pattern_.steps_[out.step].next) = to;
  }

  Result<Piece> Alternatives(int depth) {
    if (depth > kMaxDepth) return Fail("parentheses nested too deep");
    WEFT_TRY(Piece all, Sequence(depth));
    while (at_ < text_.size() && text_[at_] == '|') {
      ++at_;
      WEFT_TRY(Piece more, Sequence(depth));
      all.in = Add(Pattern::kSplit, all.in, more.in);
      all.out.insert(all.out.end(), more.out.begin(), more.out.end());
    }
    return all;
  }

  Result<Piece> Sequence(int depth) {
    const uint32_t begin = Add(Pattern::kJump);
    Piece sequence{begin, {{begin, false}}};
    while (at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')') {
      WEFT_TRY(Piece item, Item(depth));
      Patch(sequence.out, item.in);
      sequence.out = std::move(item.out);
    }
    return sequence;
  }

  Result<Piece> Item(int depth) {
    WEFT_TRY(Piece item, Atom(depth));
    while (at_ < text_.size() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?')) {
      const char repeat = text_[at_++];
      const uint32_t split = Add(Pattern::kSplit, item.in);
      if (repeat != '?') Patch(item.out, split);
      std::vector<Out> out = {{split, true}};
      if (repeat == '?') out.insert(out.end(), item.out.begin(), item.out.end());
      item = {repeat == '+' ? item.in : split, std::move(out)};
    }
    return item;
  }

  Result<Piece> Atom(int depth) {
    const char c = text_[at_];
    if (c == '(') {
      ++at_;
      WEFT_TRY(Piece inside, Alternatives(depth + 1));
      if (at_ >= text_.size()) return Fail("'(' without ')'");
      ++at_;
      return inside;
    }
    if (c == '*' || c == '+' || c == '?') return Fail(StrCat("nothing to repeat before '", c, "'"));
    ++at_;
    if (c == '^') return Single(Add(Pattern::kBegin));
    if (c == '$') return Single(Add(Pattern::kEnd));
    Pattern::ByteSet set{};
    if (c == '[') {
      WEFT_TRY_VOID(Class(set));
    } else if (c == '.') {
      set.fill(~uint64_t{0});
    } else if (c == '\\') {
      if (at_ >= text_.size()) return Fail("'\\' at the end");
      Insert(set, text_[at_], text_[at_]);
      ++at_;
    } else {
      Insert(set, c, c);
    }
    pattern_.sets_.push_back(set);
    return Single(Add(Pattern::kSet, 0, static_cast<uint32_t>(pattern_.sets_.size()) - 1));
  }

  static Piece Single(uint32_t step) { return {step, {{step, false}}}; }

  static void Insert(Pattern::ByteSet& set, char first, char last) {
    for (unsigned b = static_cast<unsigned char>(first); b <= static_cast<unsigned char>(last); ++b)
      set[b / 64] |= uint64_t{1} << (b % 64);
  }

  Result<void> Class(Pattern::ByteSet& set) {
    const bool negated = at_ < text_.size() && text_[at_] == '^';
    if (negated) ++at_;
    bool any = false;
    while (at_ < text_.size() && (text_[at_] != ']' || !any)) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      const char first = text_[at_++];
      char last = first;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        last = text_[at_ + 1];
        at_ += 2;
      }
      if (static_cast<unsigned char>(last) < static_cast<unsigned char>(first))
        return Fail("a range that runs backwards");
      Insert(set, first, last);
      any = true;
    }
    if (at_ >= text_.size()) return Fail("'[' without ']'");
    ++at_;
    if (negated)
      for (uint64_t& word : set) word = ~word;
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t start_ = 0;
  Pattern pattern_;
};

Result<Pattern> Pattern::Compile(std::string_view expression) {
  return PatternCompiler(expression).Compile();
}

// Adds `step` and all that can be reached from it without reading a byte.
void Pattern::Follow(uint32_t step, bool at_begin, bool at_end, std::vector<uint32_t>& list) const {
  stack_.push_back(step);
  while (!stack_.empty()) {
    const uint32_t at = stack_.back();
    stack_.pop_back();
    if (mark_[at] == round_) continue;
    mark_[at] = round_;
    const Step& s = steps_[at];
    switch (s.code) {
      case kSplit:
        stack_.push_back(s.other);
        stack_.push_back(s.next);
        break;
      case kJump:
        stack_.push_back(s.next);
        break;
      case kBegin:
        if (at_begin) stack_.push_back(s.next);
        break;
      case kEnd:
        if (at_end) stack_.push_back(s.next);
        break;
      case kSet:
      case kMatch:
        list.push_back(at);
        break;
    }
  }
}

bool Pattern::Search(std::string_view text) const {
  mark_.resize(steps_.size(), 0);
  now_.clear();
  ++round_;
  for (size_t i = 0;; ++i) {
    Follow(0, i == 0, i == text.size(), now_);
    for (uint32_t at : now_)
      if (steps_[at].code == kMatch) return true;
    if (i == text.size()) return false;
    then_.clear();
    ++round_;
    const unsigned byte = static_cast<unsigned char>(text[i]);
    for (uint32_t at : now_)
      if ((sets_[steps_[at].other][byte / 64] >> (byte % 64)) & 1)
        Follow(steps_[at].next, false, i + 1 == text.size(), then_);
    now_.swap(then_);
  }
}

}  // namespace weft
