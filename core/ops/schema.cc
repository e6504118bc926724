// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/schema.h"

#include "core/base/str.h"
#include "core/ops/op_columns.h"

namespace weft {

namespace {

// Whether all is well: the common answer, told without building messages.
class Sound {
 public:
  Sound(const OpDef& def, const Net& net, const Op& op) : def_(def), net_(net), op_(op) {}
  bool Check() const { return Counts() && AllowedPairs() && EnforcedPairs() && RequiredArgs(); }

 private:
  static bool InRange(size_t count, Arity range) {
    return count >= static_cast<size_t>(range.min) && count <= static_cast<size_t>(range.max);
  }
  bool Counts() const {
    const size_t inputs = op_.inputs.size(), outputs = op_.outputs.size();
    return InRange(inputs, def_.in) && InRange(outputs, def_.out) && HasArity(def_.arities, inputs, outputs);
  }
  bool AllowedPairs() const {
    for (size_t i = 0; i < op_.inputs.size(); ++i)
      for (size_t o = 0; o < op_.outputs.size(); ++o)
        if (op_.inputs[i] == op_.outputs[o] && !HasPair(def_.inplace, i, o) && !HasPair(def_.enforced, i, o))
          return false;
    return true;
  }
  bool EnforcedPairs() const {
    std::string_view column = def_.enforced;
    const size_t inputs = op_.inputs.size(), outputs = op_.outputs.size();
    while (!column.empty()) {
      const std::string_view pair = NextPiece(column);
      size_t i = 0, o = 0;
      if (ParsePair(pair, i, o)) {
        if (i < inputs && o < outputs && op_.inputs[i] != op_.outputs[o]) return false;
        continue;
      }
      for (o = 0; o < outputs; ++o)
        for (i = 0; i < inputs; ++i)
          if (op_.inputs[i] != op_.outputs[o] && HasPair(pair, i, o)) return false;
    }
    return true;
  }
  bool RequiredArgs() const {
    const std::string_view column = def_.args;
    for (size_t at = column.find('!'); at != std::string_view::npos; at = column.find('!', at + 1)) {
      const size_t begin = column.rfind(' ', at) + 1;  // npos + 1 is 0
      if (!FindArg(*net_.symbols, op_.args, column.substr(begin, column.find(':', begin) - begin)))
        return false;
    }
    return true;
  }

  const OpDef& def_;
  const Net& net_;
  const Op& op_;
};

// Collects errors; with `first_only` set, the checks stop after one.
class Verifier {
 public:
  Verifier(const OpDef& def, const Net& net, const Op& op, bool first_only)
      : def_(def), net_(net), op_(op), first_only_(first_only) {}

  std::vector<Error> Run() {
    Counts();
    if (!Done()) InPlace();
    if (!Done()) RequiredArgs();
    return std::move(errors_);
  }

 private:
  bool Done() const { return first_only_ && !errors_.empty(); }
  void Add(std::string message, Symbol blob = kNoSymbol) {
    errors_.push_back({ErrorCode::kSchema, std::move(message), -1, std::string(net_.Str(blob))});
  }

  bool InRange(std::string_view what, size_t count, Arity range) {
    if (count >= static_cast<size_t>(range.min) && count <= static_cast<size_t>(range.max)) return true;
    Add(StrCat(what, " size ", count, " not in range [min=", range.min, ", max=", range.max, "]."));
    return false;
  }

  // One count wrong makes the messages about combinations noise: they say nothing new.
  void Counts() {
    const size_t inputs = op_.inputs.size(), outputs = op_.outputs.size();
    const bool inputs_fit = InRange("Input", inputs, def_.in);
    if (Done()) return;
    const bool outputs_fit = InRange("Output", outputs, def_.out);
    if (!inputs_fit || !outputs_fit || HasArity(def_.arities, inputs, outputs)) return;
    switch (WhichSideFails(def_.arities, inputs, outputs)) {
      case ArityFailure::kInputs:
        return Add(StrCat("Input size ", inputs, " not in allowed input sizes."));
      case ArityFailure::kOutputs:
        return Add(StrCat("Output size ", outputs, " not in allowed output sizes."));
      case ArityFailure::kBoth:
        return Add(
            StrCat("Combination of input size ", inputs, " and output size ", outputs, " not in allowed."));
    }
  }

  void InPlace() {
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      for (size_t o = 0; o < op_.outputs.size(); ++o) {
        const Symbol input = op_.inputs[i], output = op_.outputs[o];
        if (input == output) {
          if (HasPair(def_.inplace, i, o) || HasPair(def_.enforced, i, o)) continue;
          Add(StrCat("Input index ", i, " and output idx ", o, " (", net_.Str(input),
                     ") are set to be in-place but this is actually not supported by op ", def_.name),
              input);
        } else {
          if (def_.enforced.empty() || !HasPair(def_.enforced, i, o)) continue;
          Add(StrCat("Input index ", i, " (", net_.Str(input), ") and output idx ", o, " (", net_.Str(output),
                     ") are not in-place but should be as required by op ", def_.name),
              output);
        }
        if (Done()) return;
      }
    }
  }

  void RequiredArgs() {
    if (def_.args.find('!') == std::string_view::npos) return;
    for (const ArgSpec& spec : ParseArgs(def_.args)) {
      if (!spec.required || FindArg(*net_.symbols, op_.args, spec.name)) continue;
      Add(StrCat("Argument '", spec.name, "' is required for Operator '", def_.name, "'."));
      if (Done()) return;
    }
  }

  const OpDef& def_;
  const Net& net_;
  const Op& op_;
  const bool first_only_;
  std::vector<Error> errors_;
};

}  // namespace

Result<void> VerifySchema(const OpDef& def, const Net& net, const Op& op) {
  if (Sound(def, net, op).Check()) return {};
  std::vector<Error> errors = Verifier(def, net, op, true).Run();
  if (!errors.empty()) return std::move(errors[0]);
  return {};
}

std::vector<Error> SchemaErrors(const OpDef& def, const Net& net, const Op& op) {
  return Verifier(def, net, op, false).Run();
}

}  // namespace weft
