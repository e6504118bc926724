// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/gradient_rule.h"

#include <algorithm>
#include <memory>

#include "core/base/str.h"
#include "core/ops/gradient_program.h"

namespace weft {

namespace {

bool Compare(const RuleCondition& c, int64_t value) {
  switch (c.compare) {
    case RuleCondition::kEqual:
      return value == c.value;
    case RuleCondition::kNotEqual:
      return value != c.value;
    case RuleCondition::kLess:
      return value < c.value;
    case RuleCondition::kMore:
      return value > c.value;
  }
  return false;
}

int64_t ArgumentValue(const Op& op, const RuleCondition& c) {
  for (const Arg& arg : op.args)
    if (arg.name == c.argument) return arg.has & Arg::kHasI ? arg.i : c.otherwise;
  return c.otherwise;
}

bool Hold(const RuleConditions& conditions, const GradientContext& context) {
  for (const RuleCondition& condition : conditions)
    if (!Holds(condition, context)) return false;
  return true;
}

// Runs one statement on the operator that the context holds.
class Runner {
 public:
  Runner(const OpDef& def, GradientContext& context) : def_(def), context_(context) {}

  Result<void> Run(const RuleStatement& statement) {
    switch (statement.kind) {
      case RuleStatement::kError:
        return Error{ErrorCode::kUnsupported,
                     StrCat("operator ", def_.name, " can't be differentiated here: ", statement.text)};
      case RuleStatement::kAssign:
        Assign(statement);
        break;
      case RuleStatement::kCall:
        Call(statement);
        break;
    }
    if (!error_.empty()) return Error{ErrorCode::kSchema, error_};
    return {};
  }

 private:
  bool IsThere(RuleItem::Kind kind, size_t i) {
    const bool of_input = kind == RuleItem::kInput || kind == RuleItem::kInputGradient;
    return i < (of_input ? context_.num_inputs() : context_.num_outputs());
  }
  void NotThere(RuleItem::Kind kind, size_t i) {
    const bool of_input = kind == RuleItem::kInput || kind == RuleItem::kInputGradient;
    error_ =
        StrCat("the gradient of ", def_.name, " needs ", of_input ? "input " : "output ", i,
               ", but the operator has only ", of_input ? context_.num_inputs() : context_.num_outputs());
  }

  Symbol One(RuleItem::Kind kind, RuleItem::Part part, size_t i) {
    switch (kind) {
      case RuleItem::kInput:
        return context_.ReadInput(i);
      case RuleItem::kOutput:
        return context_.O(i);
      case RuleItem::kOutputGradient:
        if (part == RuleItem::kIndices) return context_.GO_indices(i);
        return part == RuleItem::kValues ? context_.GO_values(i) : context_.GO(i);
      case RuleItem::kInputGradient:
        if (part == RuleItem::kIndices) return context_.GI_indices(i);
        return part == RuleItem::kValues ? context_.GI_values(i) : context_.GI(i);
      case RuleItem::kBuiltName:
        break;
    }
    return kNoSymbol;
  }

  Symbol Built(const RuleItem& item) {
    std::string name;
    for (const RuleItem::Piece& piece : item.pieces) {
      name += piece.text;
      if (!piece.has_ref) continue;
      const size_t i = static_cast<size_t>(piece.index);
      if (!IsThere(piece.kind, i)) {
        NotThere(piece.kind, i);
        return kNoSymbol;
      }
      name += context_.Str(piece.kind == RuleItem::kInputGradient ? context_.GradName(context_.I(i))
                           : piece.kind == RuleItem::kInput       ? context_.I(i)
                                                                  : One(piece.kind, RuleItem::kWhole, i));
    }
    return context_.Name(name);
  }

  // Zeros in the place of a gradient that nobody provided.
  Symbol Zeros(size_t output) {
    const Symbol name = context_.Name(StrCat(context_.Str(context_.GradName(context_.O(output))), "_zeros"));
    context_.Add("ConstantFill", {context_.O(output)}, {name}, {MakeArg(context_.Name("value"), 0.0f)},
                 GradientContext::kNoArgsOrEngine);
    return name;
  }

  void Expand(const std::vector<RuleItem>& items, BlobList& names) {
    for (const RuleItem& item : items) {
      if (!Hold(item.when, context_)) continue;
      if (item.kind == RuleItem::kBuiltName) {
        names.push_back(Built(item));
        continue;
      }
      size_t first = static_cast<size_t>(item.first), end = first + 1;
      if (item.range) {
        const bool of_input = item.kind == RuleItem::kInput || item.kind == RuleItem::kInputGradient;
        end = of_input ? context_.num_inputs() : context_.num_outputs();
        if (item.last >= 0) end = std::min(end, static_cast<size_t>(item.last));
      }
      for (size_t i = first; i < end; i += static_cast<size_t>(item.step)) {
        if (!IsThere(item.kind, i)) {
          if (item.missing == RuleItem::kIsSkipped) continue;
          return NotThere(item.kind, i);
        }
        if (item.kind == RuleItem::kOutputGradient && item.missing != RuleItem::kIsError &&
            !context_.has_GO(i)) {
          if (item.missing == RuleItem::kIsZero && !context_.caffe2_mode()) names.push_back(Zeros(i));
          continue;
        }
        names.push_back(One(item.kind, item.part, i));
      }
    }
  }

  void Call(const RuleStatement& statement) {
    BlobList inputs, outputs;
    // Outputs first, as compiled makers do: of several missing gradients the same one is told.
    Expand(statement.outputs, outputs);
    Expand(statement.inputs, inputs);
    if (!error_.empty()) return;
    GradientContext::Copy copy = GradientContext::kCopyAll;
    if (!statement.copy_args)
      copy = statement.copy_engine ? GradientContext::kNoArgs : GradientContext::kNoArgsOrEngine;
    else if (!statement.copy_engine)
      copy = GradientContext::kNoEngine;
    args_.clear();
    std::vector<Arg> twice;
    for (const RuleStatement::Set& set : statement.args) {
      const Arg* own = Own(set.arg.name);
      if (own && context_.caffe2_mode())
        twice.push_back(set.only_if_absent ? *own : set.arg);
      else if (!own || !set.only_if_absent)
        args_.push_back(set.arg);
    }
    Op& made = context_.Add(statement.type, inputs, outputs, args_, copy);
    if (!twice.empty()) PrependArgs(made, std::move(twice));
  }

  const Arg* Own(Symbol argument) const {
    for (const Arg& arg : context_.op().args)
      if (arg.name == argument) return &arg;
    return nullptr;
  }

  void Assign(const RuleStatement& statement) {
    const RuleItem& target = statement.outputs[0];
    const RuleItem& source = statement.inputs[0];
    const size_t from = static_cast<size_t>(source.first);
    if (!IsThere(source.kind, from)) return NotThere(source.kind, from);
    const Symbol name =
        source.kind == RuleItem::kInput ? context_.I(from) : One(source.kind, source.part, from);
    size_t first = static_cast<size_t>(target.first), end = first + 1;
    if (target.range) end = context_.num_inputs();
    for (size_t i = first; i < end; i += static_cast<size_t>(target.step)) {
      if (!IsThere(target.kind, i)) return NotThere(target.kind, i);
      if (target.part == RuleItem::kIndices)
        context_.SetIndices(i, name);
      else if (target.part == RuleItem::kValues)
        context_.SetValues(i, name);
      else
        context_.SetDense(i, name);
    }
  }

  const OpDef& def_;
  GradientContext& context_;
  std::vector<Arg> args_;
  std::string error_;
};

}  // namespace

bool Holds(const RuleCondition& c, const GradientContext& context) {
  const size_t blob = static_cast<size_t>(c.index);
  bool holds = false;
  switch (c.subject) {
    case RuleCondition::kInputs:
      holds = Compare(c, static_cast<int64_t>(context.num_inputs()));
      break;
    case RuleCondition::kOutputs:
      holds = Compare(c, static_cast<int64_t>(context.num_outputs()));
      break;
    case RuleCondition::kArgument:
      holds = Compare(c, ArgumentValue(context.op(), c));
      break;
    case RuleCondition::kHasGradient:
      holds = context.has_GO(blob);
      break;
    case RuleCondition::kSparseGradient:
      holds = context.has_GO(blob) && context.output_gradient(blob).is_sparse();
      break;
    case RuleCondition::kWantedGradient:
      holds = context.wants_GI(blob);
      break;
    case RuleCondition::kInPlace:
      for (const Symbol input : context.op().inputs) holds |= input == context.O(0);
      break;
    case RuleCondition::kCaffe2Mode:
      holds = context.caffe2_mode();
      break;
  }
  return holds != c.negated;
}

Result<void> RunStatement(const OpDef& def, const RuleStatement& statement, GradientContext& context) {
  return Runner(def, context).Run(statement);
}

Result<void> RunGradientRule(const OpDef& def, GradientContext& context) {
  Result<void> result;
  if (def.gradient_fn) {
    result = def.gradient_fn(context);
  } else if (!def.gradient.empty()) {
    std::shared_ptr<const RuleProgram>& program = context.ProgramOf(def);
    if (!program) {
      WEFT_TRY(RuleProgram compiled, CompileGradientRule(def, *context.net().symbols));
      program = std::make_shared<const RuleProgram>(std::move(compiled));
    }
    for (const RuleStatement& statement : program->statements) {
      if (!Hold(statement.when, context)) continue;
      result = RunStatement(def, statement, context);
      if (!result) break;
    }
  } else {
    return Error{ErrorCode::kUnsupported, StrCat("the gradient of ", def.name, " is not a rule of its own")};
  }
  if (!context.missing().empty()) return Error{ErrorCode::kMissingGradient, context.missing()};
  return result;
}

Result<void> CheckGradientRule(std::string_view rule) {
  SymbolTable table;
  OpDef def;
  def.name = "a rule";
  def.gradient = rule;
  WEFT_TRY(const RuleProgram program, CompileGradientRule(def, table));
  (void)program;
  return {};
}

}  // namespace weft
