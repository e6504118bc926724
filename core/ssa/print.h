// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The readable listing of nets and plans. Printing hands out pieces of text with a class each (a name, a
// type, a number); the terminal turns classes into colours, the page into styles, and a test joins the
// pieces. To write a net so that it can be read back, use the codec's text format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/ir/plan.h"
#include "core/ssa/ssa.h"

namespace weft {

enum class TextClass : uint8_t {
  kPlain,         // punctuation and white space
  kHeading,       // the name of a net, plan or step
  kLabel,         // "external_input", "loop_net"
  kIndex,         // the number of an operator
  kType,          // an operator type
  kGradientType,  // the type of an operator whose is_gradient_op is set
  kInput,         // a blob that is read
  kOutput,        // a blob that is written
  kVersion,       // "@2"
  kArgument,      // the name of an argument
  kNumber,
  kString,
  kDevice,
  kMuted,  // counts, "... 12 more"
  kError,  // severities of findings
  kWarning,
  kNote,
  kAdded,  // what one of two nets has and the other lacks
  kRemoved,
  kChanged,
};

/// One piece of a listing; `text` lives during the call.
struct Piece {
  std::string_view text;
  TextClass text_class = TextClass::kPlain;
  Symbol symbol{};           // the blob or type that the text names, if any
  ValueId value = kNoValue;  // for blobs of an operator: which value
};
using EmitPiece = std::function<void(const Piece&)>;

struct PrintOptions {
  bool ssa = false;    // "x@1" on every blob; otherwise only on blobs that are written more than once
  bool full = false;   // whole lists and strings, all externals
  bool nested = true;  // nets inside operators, indented below them
  bool nets = true;    // of a plan, its nets below its steps
  int width = 0;       // columns that lines are broken to; 0: one line for each operator
};

/// Heading, externals, one line for each operator; nested nets below theirs. Ends with a newline.
void PrintNet(const Net& net, const PrintOptions& options, const EmitPiece& emit);
/// The steps as a tree, then each net.
void PrintPlan(const Plan& plan, const PrintOptions& options, const EmitPiece& emit);

/// The line of one operator without its number and newline: "Conv(x, w) -> y  kernel=3  @cuda:0". Nested nets
/// are named, not listed.
void PrintOp(const Net& net, const Ssa& ssa, OpId op, const PrintOptions& options, const EmitPiece& emit);

/// PrintNet without classes.
std::string NetListing(const Net& net, const PrintOptions& options);
std::string PlanListing(const Plan& plan, const PrintOptions& options);
/// PrintOp without classes.
std::string OpListing(const Net& net, const Ssa& ssa, OpId op, const PrintOptions& options);
/// "Conv(x@0, w@0) -> y@1": an operator with the versions that it reads and writes, for messages.
std::string OpSignature(const Net& net, const Ssa& ssa, OpId op);
/// The value of one argument as listings show it: "3", "[1, 2]", "NCHW".
std::string ArgListing(const SymbolTable& symbols, const Arg& arg, bool full);

}  // namespace weft
