// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The compiled form of a one-line gradient rule (gradient_rule.h has the grammar). A program belongs to one
// symbol table: operator types and argument names are interned when it is compiled, so that running it hashes
// no string. GradientContext keeps one program per operator that it meets; immutable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/net.h"
#include "core/ops/gradient_context.h"
#include "core/ops/op_def.h"

namespace weft {

/// One test, such as "in>2", "!is_test", "GO1".
struct RuleCondition {
  enum Subject : uint8_t {
    kInputs,
    kOutputs,
    kArgument,
    kHasGradient,
    kSparseGradient,
    kWantedGradient,
    kInPlace,
    kCaffe2Mode
  };
  enum Compare : uint8_t { kEqual, kNotEqual, kLess, kMore };
  Subject subject = kArgument;
  Compare compare = kNotEqual;
  bool negated = false;
  int64_t value = 0;      // what counts and arguments are compared with
  int32_t index = 0;      // of the output, or input, for the gradient subjects
  Symbol argument;        // kArgument
  int64_t otherwise = 0;  // its default, from the operator's own argument table
};
using RuleConditions = std::vector<RuleCondition>;

/// One blob, or a range of them, that an operator of the rule reads or writes.
struct RuleItem {
  enum Kind : uint8_t { kInput, kOutput, kOutputGradient, kInputGradient, kBuiltName };
  enum Part : uint8_t { kWhole, kIndices, kValues };
  enum Missing : uint8_t { kIsError, kIsSkipped, kIsZero };
  struct Piece {
    std::string text;      // comes first
    bool has_ref = false;  // then the name of this one
    Kind kind = kInput;
    int32_t index = 0;
  };
  Kind kind = kInput;
  Part part = kWhole;
  Missing missing = kIsError;
  bool range = false;
  int32_t first = 0, last = -1, step = 1;  // last: one past the end, -1 for "all there are"
  std::vector<Piece> pieces;               // kBuiltName
  RuleConditions when;
};

struct RuleStatement {
  enum Kind : uint8_t { kCall, kAssign, kError };
  Kind kind = kCall;
  RuleConditions when;
  Symbol type;                            // kCall
  std::vector<RuleItem> inputs, outputs;  // kAssign: one source, one target
  struct Set {
    Arg arg;
    bool only_if_absent = false;  // the forward operator's own argument comes first
  };
  std::vector<Set> args;
  bool copy_args = true, copy_engine = true;
  std::string text;  // kError
};

struct RuleProgram {
  std::vector<RuleStatement> statements;
};

/// Compiles def.gradient. Errors: kParse, naming the operator and the column.
Result<RuleProgram> CompileGradientRule(const OpDef& def, SymbolTable& table);

/// Whether a condition holds for the operator that `context` holds.
bool Holds(const RuleCondition& condition, const GradientContext& context);
/// Runs one statement of the rule of `def` on it, whatever its conditions say. Errors: as RunGradientRule.
Result<void> RunStatement(const OpDef& def, const RuleStatement& statement, GradientContext& context);

}  // namespace weft
