// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/gradient_lines.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ops/gradient_program.h"
#include "core/ops/gradient_rule.h"
#include "core/ops/schema.h"
#include "core/ssa/print.h"

namespace weft {

namespace {

constexpr size_t kMostBlobs = 1000;  // of an operator that is written out
constexpr size_t kMostNames = 16;    // that a list shows

std::string PolicyInWords(const OpDef& def) {
  switch (def.policy) {
    case GradientPolicy::kRule:
      return def.gradient.empty() ? "gradient operators depend on arguments and inputs"
                                  : std::string(def.gradient);
    case GradientPolicy::kPassThrough:
      return "the gradient passes through";
    case GradientPolicy::kNone:
      return "no gradient: the flow stops here";
    case GradientPolicy::kForbidden:
      return "must not be differentiated";
    case GradientPolicy::kNotImplemented:
      return "has a gradient that nobody wrote";
    case GradientPolicy::kUnregistered:
      break;
  }
  return "no gradient is registered";
}

// Names with something between them, cut where they are very many.
class Joined {
 public:
  explicit Joined(std::string_view between) : between_(between) {}
  void Add(std::string_view name) {
    if (++count_ > kMostNames) return;
    if (count_ > 1) text_ += between_;
    text_ += name;
  }
  bool empty() const { return count_ == 0; }
  std::string Text() const {
    return count_ <= kMostNames ? text_ : StrCat(text_, between_, "... ", count_ - kMostNames, " more");
  }

 private:
  std::string_view between_;
  std::string text_;
  size_t count_ = 0;
};

// Runs the rule of the one operator of a net of its own, statement by statement: each on gradients that are
// as its conditions say, and otherwise all there, dense and wanted.
class RuleWriter {
 public:
  RuleWriter(const OpDef& def, Net& net)
      : def_(def),
        context_(net, [&net](Symbol blob) { return net.Intern(StrCat(net.Str(blob), "_grad")); }),
        op_(net.ops[0]),
        gradients_(op_.outputs.size()) {
    context_.set_separate_twins(true);
    context_.set_input_type([](size_t) { return DataType::kFloat; });  // as of what mostly has a gradient
    Begin();
  }

  std::vector<GradientLine> Write() {
    if (def_.gradient_fn != nullptr) {
      WriteFunction();
      return std::move(lines_);
    }
    const Result<RuleProgram> program = CompileGradientRule(def_, *context_.net().symbols);
    if (!program) return {};
    for (const RuleStatement& statement : program->statements) {
      Assume();
      std::string when;
      if (!Assume(statement.when, when)) continue;
      const size_t made = context_.ops().size();
      const bool always = when.empty();
      const Result<void> result = RunStatement(def_, statement, context_);
      if (result && statement.kind == RuleStatement::kAssign)
        lines_.push_back({std::move(when), AssignText(statement.outputs[0])});
      else
        AddLines(std::move(when), result, made);
      if (!result && always) break;
    }
    return std::move(lines_);
  }

 private:
  // Of two outputs, also when only one has a gradient.
  void WriteFunction() {
    for (size_t one = 0; gradients_.size() == 2 && one < 2; ++one) {
      Begin();
      gradients_[1 - one] = Gradient();
      if (const Result<void> result = RunGradientRule(def_, context_); result)
        AddLines(StrCat("only ", Str(gradients_[one].dense), " is there"), result, 0);
    }
    Begin();
    AddLines(lines_.empty() ? "" : "both are there", RunGradientRule(def_, context_), 0);
  }

  void Begin() {
    context_.Begin(op_, gradients_);
    Assume();
  }
  void Assume() {
    for (size_t i = 0; i < gradients_.size(); ++i)
      gradients_[i] = Gradient::Dense(context_.GradName(op_.outputs[i]));
  }

  // False where the operator decides against the conditions. Else what a plan decides is made so, and said.
  bool Assume(const RuleConditions& conditions, std::string& words) {
    for (const RuleCondition& c : conditions) {
      const size_t i = static_cast<size_t>(c.index);
      const bool of_input = c.subject == RuleCondition::kWantedGradient;
      const BlobList& blobs = of_input ? op_.inputs : op_.outputs;
      const bool open = of_input || c.subject == RuleCondition::kSparseGradient ||
                        (c.subject == RuleCondition::kHasGradient && blobs.size() > 1);
      if (!open || i >= blobs.size()) {
        if (!Holds(c, context_)) return false;
        continue;
      }
      const Symbol gradient = context_.GradName(blobs[i]);
      StrAppend(words, words.empty() ? "" : " and ", Str(gradient), " is ");
      if (c.subject == RuleCondition::kSparseGradient) {
        words += c.negated ? "dense" : "sparse";
        if (!c.negated)
          gradients_[i] = Gradient::Sparse(context_.Name(StrCat(Str(gradient), "_indices")),
                                           context_.Name(StrCat(Str(gradient), "_values")));
        continue;
      }
      if (c.negated) words += "not ";
      words += of_input ? "wanted" : "there";
      if (c.negated && !of_input) gradients_[i] = Gradient();
    }
    return true;
  }

  // A line for each operator made since there were `made`, or what is wrong.
  void AddLines(std::string when, const Result<void>& result, size_t made) {
    if (!result) return lines_.push_back({std::move(when), result.error().message, true});
    for (; made < context_.ops().size(); ++made) {
      const SymbolTable& symbols = *context_.net().symbols;
      const Op& op = context_.ops()[made];
      Joined inputs(", "), outputs(", "), args(", ");
      for (const Symbol input : op.inputs) inputs.Add(Str(input));
      for (const Symbol output : op.outputs) outputs.Add(Str(output));
      for (const Arg& arg : op.args)
        if (!IsCopy(arg)) args.Add(StrCat(Str(arg.name), "=", ArgListing(symbols, arg, false)));
      std::string text = StrCat(Str(op.type), "(", inputs.Text(), ") -> ", outputs.Text());
      if (!args.empty()) StrAppend(text, " with ", args.Text());
      lines_.push_back({std::move(when), std::move(text)});
      when.clear();
    }
  }

  std::string AssignText(const RuleItem& target) const {
    Joined text(" = ");
    const size_t first = static_cast<size_t>(target.first), step = static_cast<size_t>(target.step);
    for (size_t i = first; i < (target.range ? op_.inputs.size() : first + 1); i += step)
      text.Add(StrCat(Str(op_.inputs[i]), "_grad",
                      target.part == RuleItem::kIndices  ? "_indices"
                      : target.part == RuleItem::kValues ? "_values"
                                                         : ""));
    if (first >= op_.inputs.size()) return "nothing";  // a range of none
    const Gradient& given = context_.input_gradients()[first];
    return StrCat(text.Text(), " = ",
                  Str(target.part == RuleItem::kIndices  ? given.indices
                      : target.part == RuleItem::kValues ? given.values
                                                         : given.dense));
  }

  bool IsCopy(const Arg& arg) {
    const SymbolTable& symbols = *context_.net().symbols;
    return std::any_of(op_.args.begin(), op_.args.end(),
                       [&](const Arg& own) { return SameArg(symbols, own, symbols, arg); });
  }

  std::string_view Str(Symbol symbol) const { return context_.Str(symbol); }

  const OpDef& def_;
  GradientContext context_;
  const Op& op_;
  std::vector<Gradient> gradients_;  // of the outputs
  std::vector<GradientLine> lines_;
};

}  // namespace

std::vector<GradientLine> GradientLines(const OpDef& def, const Net& net, const Op& op) {
  const bool has_nets = std::any_of(op.args.begin(), op.args.end(),
                                    [](const Arg& arg) { return arg.has & (Arg::kHasN | Arg::kHasNets); });
  const bool has_rule = def.gradient_fn != nullptr || !def.gradient.empty();
  std::vector<GradientLine> lines;
  if (has_rule && !has_nets && op.inputs.size() + op.outputs.size() <= kMostBlobs) {
    // Rules count on that; the planner asks first, too.
    if (const Result<void> valid = VerifySchema(def, net, op); !valid)
      return {{"", valid.error().message, true}};
    // In a net of its own: new names are nothing to the net that it is from.
    Net alone;
    const auto move = [&](Symbol symbol) { return symbol ? alone.Intern(net.Str(symbol)) : symbol; };
    Op& moved = alone.ops.emplace_back();
    moved.type = move(op.type);
    for (const Symbol input : op.inputs) moved.inputs.push_back(move(input));
    for (const Symbol output : op.outputs) moved.outputs.push_back(move(output));
    std::vector<Arg> args = op.args.Copy();
    for (Arg& arg : args) arg.name = move(arg.name);
    moved.args = ArgList(std::move(args));
    lines = RuleWriter(def, alone).Write();
  }
  if (lines.empty()) lines.push_back({"", PolicyInWords(def), true});
  return lines;
}

}  // namespace weft
