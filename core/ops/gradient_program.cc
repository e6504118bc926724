// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/gradient_program.h"

#include <cstdlib>

#include "core/ops/op_columns.h"
#include "core/ops/rule_scanner.h"

namespace weft {

namespace {

// A recursive-descent reader of one rule.
class Compiler : RuleScanner {
 public:
  Compiler(const OpDef& def, SymbolTable& table)
      : RuleScanner("gradient", def.name), def_(def), table_(table) {}

  Result<RuleProgram> Run() {
    RuleProgram program;
    Begin(def_.gradient);
    do {
      program.statements.push_back(Statement());
    } while (Eat(";") && error_.empty());
    WEFT_TRY_VOID(End());
    return program;
  }

 private:
  int64_t Integer() {
    Skip();
    const bool minus = at_ < text_.size() && text_[at_] == '-';
    if (minus) ++at_;
    if (at_ >= text_.size() || !IsDigit(text_[at_])) Fail("expected a number");
    int64_t value = 0;
    while (at_ < text_.size() && IsDigit(text_[at_]) && value < INT32_MAX)
      value = value * 10 + (text_[at_++] - '0');
    return minus ? -value : value;
  }
  std::string Quoted() {
    Expect("'");
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) {
      Fail("unfinished quote");
      return {};
    }
    std::string quoted(text_.substr(at_, end - at_));
    at_ = end + 1;
    return quoted;
  }

  RuleConditions Conditions() {
    RuleConditions conditions;
    do {
      conditions.push_back(Condition());
    } while (Eat("and"));
    return conditions;
  }

  RuleCondition Condition() {
    RuleCondition c;
    c.negated = Eat("!");
    const std::string_view word = Name();
    if (word.size() > 2 && word.substr(0, 2) == "GO" && IsDigit(word[2])) {
      c.subject = Eat(".sparse") ? RuleCondition::kSparseGradient : RuleCondition::kHasGradient;
      c.index = std::atoi(std::string(word.substr(2)).c_str());
      return c;
    }
    if (word.size() > 2 && word.substr(0, 2) == "GI" && IsDigit(word[2])) {
      c.subject = RuleCondition::kWantedGradient;
      c.index = std::atoi(std::string(word.substr(2)).c_str());
      return c;
    }
    if (word == "caffe2" || word == "inplace") {
      c.subject = word == "caffe2" ? RuleCondition::kCaffe2Mode : RuleCondition::kInPlace;
      return c;
    }
    if (word == "in") {
      c.subject = RuleCondition::kInputs;
    } else if (word == "out") {
      c.subject = RuleCondition::kOutputs;
    } else {
      c.argument = table_.Intern(word);
      c.otherwise = DefaultOf(word);
    }
    if (Eat("=")) {
      c.compare = RuleCondition::kEqual;
      c.value = Integer();
    } else if (Eat("<")) {
      c.compare = RuleCondition::kLess;
      c.value = Integer();
    } else if (Eat(">")) {
      c.compare = RuleCondition::kMore;
      c.value = Integer();
    }
    return c;
  }

  int64_t DefaultOf(std::string_view argument) const {
    for (const ArgSpec& spec : ParseArgs(def_.args))
      if (spec.name == argument) return std::atoll(std::string(spec.fallback).c_str());
    return 0;
  }

  // "I0", "GO[1:]", "GI0.values": the reference alone, as it also stands inside a built name.
  RuleItem Reference() {
    RuleItem item;
    Skip();
    if (text_.substr(at_, 2) == "GO") {
      item.kind = RuleItem::kOutputGradient;
      at_ += 2;
    } else if (text_.substr(at_, 2) == "GI") {
      item.kind = RuleItem::kInputGradient;
      at_ += 2;
    } else if (text_.substr(at_, 1) == "I") {
      item.kind = RuleItem::kInput;
      at_ += 1;
    } else if (text_.substr(at_, 1) == "O") {
      item.kind = RuleItem::kOutput;
      at_ += 1;
    } else {
      Fail("expected I, O, GO or GI");
      return item;
    }
    if (Eat("[")) {
      item.range = true;
      if (!At(":")) item.first = static_cast<int32_t>(Integer());
      Expect(":");
      if (!At("]") && !At(":")) item.last = static_cast<int32_t>(Integer());
      if (Eat(":")) item.step = static_cast<int32_t>(Integer());
      Expect("]");
      if (item.step < 1 || item.first < 0) Fail("ranges go up");
    } else {
      item.first = static_cast<int32_t>(Integer());
    }
    if (Eat(".indices")) item.part = RuleItem::kIndices;
    if (Eat(".values")) item.part = RuleItem::kValues;
    return item;
  }

  RuleItem BuiltName() {
    RuleItem item;
    item.kind = RuleItem::kBuiltName;
    Expect("'");
    RuleItem::Piece piece;
    while (at_ < text_.size() && text_[at_] != '\'') {
      if (text_[at_] != '{') {
        piece.text += text_[at_++];
        continue;
      }
      ++at_;
      const RuleItem reference = Reference();
      if (reference.range || reference.part != RuleItem::kWhole) Fail("one blob is needed in a name");
      Expect("}");
      piece.has_ref = true;
      piece.kind = reference.kind;
      piece.index = reference.first;
      item.pieces.push_back(std::move(piece));
      piece = {};
    }
    Expect("'");
    if (!piece.text.empty()) item.pieces.push_back(std::move(piece));
    return item;
  }

  RuleItem Item() {
    RuleItem item = At("'") ? BuiltName() : Reference();
    if (Eat("?")) item.missing = RuleItem::kIsSkipped;
    if (Eat("or")) {
      Expect("0");
      if (item.kind != RuleItem::kOutputGradient) Fail("'or 0' belongs to GO");
      item.missing = RuleItem::kIsZero;
    }
    if (Eat("if")) item.when = Conditions();
    return item;
  }

  std::vector<RuleItem> Items() {
    std::vector<RuleItem> items;
    do {
      items.push_back(Item());
    } while (Eat(",") && error_.empty());
    return items;
  }

  RuleStatement::Set Argument() {
    RuleStatement::Set set;
    const Symbol name = table_.Intern(Name());
    set.only_if_absent = Eat("?");
    Expect("=");
    Skip();
    const size_t begin = at_;
    while (at_ < text_.size() && (IsNameChar(text_[at_]) || text_[at_] == '.' || text_[at_] == '-')) ++at_;
    const std::string value(text_.substr(begin, at_ - begin));
    if (value.empty()) Fail("expected a number");
    if (value.find('.') == std::string::npos)
      set.arg = MakeArg(name, static_cast<int64_t>(std::atoll(value.c_str())));
    else
      set.arg = MakeArg(name, static_cast<float>(std::atof(value.c_str())));
    return set;
  }

  RuleStatement Statement() {
    RuleStatement statement;
    if (Eat("if")) {
      statement.when = Conditions();
      Expect(":");
    }
    if (Eat("error")) {
      statement.kind = RuleStatement::kError;
      Skip();
      statement.text = Quoted();
      return statement;
    }
    // "GI0 = GO0" and "GIGradient(...)" both start with a name: the parenthesis tells.
    Skip();
    size_t end = at_;
    while (end < text_.size() && IsNameChar(text_[end])) ++end;
    if (end >= text_.size() || text_[end] != '(') {
      statement.kind = RuleStatement::kAssign;
      statement.outputs.push_back(Reference());
      if (statement.outputs[0].kind != RuleItem::kInputGradient) Fail("only GI can be set");
      Expect("=");
      statement.inputs.push_back(Reference());
      return statement;
    }
    statement.type = table_.Intern(Name());
    Expect("(");
    if (!At(")")) statement.inputs = Items();
    Expect(")");
    Expect("->");
    statement.outputs = Items();
    if (Eat("{")) {
      do {
        statement.args.push_back(Argument());
      } while (!At("}") && error_.empty());
      Expect("}");
    }
    if (Eat("!args")) statement.copy_args = false;
    if (Eat("!engine")) statement.copy_engine = false;
    return statement;
  }

  const OpDef& def_;
  SymbolTable& table_;
};

}  // namespace

Result<RuleProgram> CompileGradientRule(const OpDef& def, SymbolTable& table) {
  return Compiler(def, table).Run();
}

}  // namespace weft
