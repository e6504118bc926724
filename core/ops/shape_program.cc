// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shape_program.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/ops/rule_scanner.h"

namespace weft {

namespace {

int64_t ToNumber(std::string_view text) { return std::strtoll(std::string(text).c_str(), nullptr, 10); }

bool IsPlain(const std::vector<PortSpec>& ports) {
  bool ended = false;
  for (const PortSpec& port : ports) {
    if (ended) return false;
    ended = port.repeated;
  }
  // Optional ports in front of others shift them when they are absent.
  bool optional = false;
  for (const PortSpec& port : ports) {
    if (optional && !port.optional) return false;
    optional |= port.optional;
  }
  return true;
}

// A recursive-descent reader of one line.
class Compiler : RuleScanner {
 public:
  Compiler(const OpDef& def, ShapeProgram& program)
      : RuleScanner("shape", def.name), program_(program), args_(ParseArgs(def.args)) {
    Ports ports = ParsePorts(def.ports);
    program_.inputs = std::move(ports.inputs);
    program_.outputs = std::move(ports.outputs);
    program_.plain_inputs = IsPlain(program_.inputs);
    program_.plain_outputs = IsPlain(program_.outputs);
  }

  Result<void> Rule(std::string_view text) {
    Begin(text);
    do {
      program_.statements.push_back(Statement());
    } while (Eat(";") && error_.empty());
    return End();
  }
  Result<void> Cost(std::string_view text) {
    Begin(text);
    program_.cost = Sum();
    if (error_.empty() && program_.nodes[program_.cost].shape) Fail("expected a number");
    while (Eat(";") && error_.empty()) {
      const bool reads = Eat("reads");
      if (!reads) Expect("writes");
      (reads ? program_.has_reads : program_.has_writes) = true;
      if (!Eat("none")) (reads ? program_.reads : program_.writes) = Items();
    }
    return End();
  }

 private:
  bool AtDigit() {
    Skip();
    return at_ < text_.size() && IsDigit(text_[at_]);
  }
  int64_t Number() {
    Skip();
    const size_t begin = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    if (begin == at_) Fail("expected a number");
    return ToNumber(text_.substr(begin, at_ - begin));
  }

  int32_t Add(ShapeNode node) {
    program_.nodes.push_back(std::move(node));
    return static_cast<int32_t>(program_.nodes.size()) - 1;
  }
  int32_t Binary(ShapeNode::Kind kind, int32_t a, int32_t b) {
    if (error_.empty() && (program_.nodes[a].shape || program_.nodes[b].shape)) Fail("expected a number");
    return Add({.kind = kind, .a = a, .b = b});
  }

  const ArgSpec* FindArg(std::string_view name) {
    for (const ArgSpec& arg : args_)
      if (arg.name == name) return &arg;
    Fail(StrCat("the operator has no argument ", name));
    return nullptr;
  }
  std::optional<PortRef> FindPort(const std::vector<PortSpec>& ports, bool output, std::string_view name) {
    for (size_t i = 0; i < ports.size(); ++i)
      if (ports[i].name == name)
        return PortRef{.output = output, .repeated = ports[i].repeated, .port = static_cast<int32_t>(i)};
    return std::nullopt;
  }
  // Operands are inputs first; outputs that were set before may be used too.
  std::optional<PortRef> FindOperand(std::string_view name) {
    if (const auto input = FindPort(program_.inputs, false, name)) return input;
    if (const auto output = FindPort(program_.outputs, true, name)) return output;
    if (name.size() == 2 && (name[0] == 'I' || name[0] == 'O') && IsDigit(name[1]))
      return PortRef{.output = name[0] == 'O', .numbered = true, .port = name[1] - '0'};
    return std::nullopt;
  }

  int32_t ArgNode() {
    const std::string_view name = Name();
    const ArgSpec* arg = FindArg(name);
    if (!arg) return Add({});
    if (arg->type == "ints") return Add({.kind = ShapeNode::kIntsArg, .shape = true, .name = name});
    return Add({.kind = ShapeNode::kIntArg, .number = ToNumber(arg->fallback), .name = name});
  }

  int32_t Sum() {
    int32_t left = Product();
    while (error_.empty()) {
      if (Eat("+")) {
        left = Binary(ShapeNode::kAdd, left, Product());
      } else if (Eat("-")) {
        left = Binary(ShapeNode::kSubtract, left, Product());
      } else {
        break;
      }
    }
    return left;
  }
  int32_t Product() {
    int32_t left = Primary();
    while (error_.empty()) {
      if (Eat("*")) {
        left = Binary(ShapeNode::kMultiply, left, Primary());
      } else if (Eat("/")) {
        left = Binary(ShapeNode::kDivide, left, Primary());
      } else {
        break;
      }
    }
    return left;
  }
  int32_t Primary() {
    if (Eat("-")) return Binary(ShapeNode::kSubtract, Add({}), Primary());
    if (Eat("(")) {
      const int32_t inner = Sum();
      Expect(")");
      return inner;
    }
    if (Eat("??")) return Add({.kind = ShapeNode::kDataRank, .shape = true});
    if (Eat("?")) return Add({.kind = ShapeNode::kData});
    if (Eat("@")) return ArgNode();
    if (Eat("#@")) {
      const std::string_view name = Name();
      FindArg(name);
      return Add({.kind = ShapeNode::kLength, .name = name});
    }
    if (Eat("#")) {
      const std::string_view name = Name();
      const auto port = FindOperand(name);
      if (!port) Fail(StrCat("no port ", name));
      return Add({.kind = ShapeNode::kRank, .port = port.value_or(PortRef())});
    }
    if (Eat("|")) {
      const int32_t inner = Sum();
      Expect("|");
      if (error_.empty() && !program_.nodes[inner].shape) Fail("expected a shape");
      return Add({.kind = ShapeNode::kCount, .a = inner});
    }
    if (Eat("[")) {
      ShapeNode list{.kind = ShapeNode::kList, .shape = true};
      if (!At("]")) list.items = Items();
      Expect("]");
      return Add(std::move(list));
    }
    if (AtDigit()) return Add({.number = Number()});
    return NameNode();
  }
  std::vector<int32_t> Items() {
    std::vector<int32_t> items;
    do items.push_back(Sum());
    while (Eat(",") && error_.empty());
    return items;
  }
  int32_t NameNode() {
    const std::string_view name = Name();
    if (At("(")) return Call(name);
    if (name == "object") return Add({.kind = ShapeNode::kObject, .shape = true});
    if (name == "nin") return Add({.kind = ShapeNode::kInputs});
    if (name == "nout") return Add({.kind = ShapeNode::kOutputs});
    const auto port = FindOperand(name);
    if (!port) {
      Fail(StrCat("no port ", name));
      return Add({});
    }
    // "X.1", "X.-1", "X.@axis", "X.(@axis+1)".
    if (Eat(".")) return Add({.kind = ShapeNode::kExtent, .port = *port, .a = Primary()});
    if (Eat("[")) {
      ShapeNode range{.kind = ShapeNode::kRange, .shape = true, .port = *port};
      if (!At(":")) range.a = Sum();
      Expect(":");
      if (!At("]")) range.b = Sum();
      Expect("]");
      return Add(std::move(range));
    }
    return Add({.kind = ShapeNode::kPort, .shape = true, .port = *port});
  }
  int32_t Call(std::string_view name) {
    Expect("(");
    ShapeNode node{.items = At(")") ? std::vector<int32_t>() : Items()};
    Expect(")");
    if (name == "sum" || name == "max" || name == "value") {
      node.kind = name == "sum" ? ShapeNode::kSum : name == "max" ? ShapeNode::kMax : ShapeNode::kValue;
    } else {
      node.kind = ShapeNode::kCall;
      node.shape = true;
      node.call = FindShapeFunction(name);
      if (!node.call) Fail(StrCat("no function ", name));
    }
    return Add(std::move(node));
  }

  ShapeCondition Condition() {
    ShapeCondition c;
    c.negated = Eat("!");
    if (Eat("@")) {
      const size_t begin = at_;
      c.name = Name();
      const ArgSpec* arg = FindArg(c.name);
      if (!arg) return c;
      if (arg->type == "string") {
        c.fallback = arg->fallback;
        Expect("=");
        c.text = Name();
        return c;
      }
      c.name = {};
      at_ = begin;
      c.node = ArgNode();
    } else if (At("#") || At("nin") || At("nout")) {
      c.node = Primary();
    } else {
      const std::string_view name = Name();
      auto port = FindOperand(name);
      if (!port) Fail(StrCat("no port ", name));
      c.has_port = true;
      c.port = port.value_or(PortRef());
      return c;
    }
    for (const auto& [token, compare] :
         {std::pair("=", ShapeCondition::kEqual), std::pair("<", ShapeCondition::kLess),
          std::pair(">", ShapeCondition::kMore)}) {
      if (!Eat(token)) continue;
      c.compare = compare;
      const bool minus = Eat("-");
      c.value = minus ? -Number() : Number();
      break;
    }
    return c;
  }

  ShapeType Type() {
    ShapeType type;
    if (Eat("@")) {
      type.kind = ShapeType::kOfArg;
      type.name = Name();
      if (const ArgSpec* arg = FindArg(type.name)) {
        type.type = !arg->fallback.empty() && IsDigit(arg->fallback[0])
                        ? DataTypeFromNumber(ToNumber(arg->fallback)).value_or(DataType::kUndefined)
                        : ParseDataType(arg->fallback).value_or(DataType::kUndefined);
      }
      return type;
    }
    const std::string_view name = Name();
    if (const auto fixed = ParseDataType(name)) {
      type.kind = ShapeType::kFixed;
      type.type = *fixed;
      return type;
    }
    const auto port = FindOperand(name);
    if (!port) Fail(StrCat("no type or port ", name));
    type.kind = ShapeType::kOfPort;
    type.port = port.value_or(PortRef());
    return type;
  }

  ShapeStatement Statement() {
    ShapeStatement s;
    if (Eat("if")) {
      do s.when.push_back(Condition());
      while (Eat("and") && error_.empty());
      Expect(":");
    }
    Skip();
    const size_t begin = at_;
    if (Eat("check")) {
      s.kind = ShapeStatement::kCheck;
      const auto written = [&](int32_t& node) {
        Skip();
        const size_t from = at_;
        node = Sum();
        const std::string_view text = text_.substr(from, at_ - from);
        return text.substr(0, text.find_last_not_of(' ') + 1);
      };
      s.left = written(s.node);
      Expect("=");
      s.right = written(s.other);
      if (!error_.empty()) return s;
      if (program_.nodes[s.node].shape != program_.nodes[s.other].shape) Fail("a shape against a number");
      if (program_.nodes[s.node].shape) s.kind = ShapeStatement::kCheckSame;
      return s;
    }
    const std::string_view first = Name();
    if (!At("=") && !At(",")) {
      s.kind = ShapeStatement::kWord;
      s.word = FindShapeWord(first);
      if (!s.word) Fail(StrCat("no rule called ", first));
      if (Eat(":")) s.type = Type();
      return s;
    }
    at_ = begin;
    do {
      const std::string_view name = Name();
      const auto port = FindPort(program_.outputs, true, name);
      if (!port) Fail(StrCat("no output ", name));
      s.targets.push_back(port.value_or(PortRef()));
    } while (Eat(",") && error_.empty());
    Expect("=");
    s.node = Sum();
    if (error_.empty() && !program_.nodes[s.node].shape) Fail("expected a shape");
    if (Eat(":")) s.type = Type();
    return s;
  }

  ShapeProgram& program_;
  const std::vector<ArgSpec> args_;
};

}  // namespace

Result<ShapeProgram> CompileShapeRule(const OpDef& def) {
  ShapeProgram program;
  Compiler compiler(def, program);
  if (!def.shape.empty()) WEFT_TRY_VOID(compiler.Rule(def.shape));
  if (!def.cost.empty()) WEFT_TRY_VOID(compiler.Cost(def.cost));
  return program;
}

}  // namespace weft
