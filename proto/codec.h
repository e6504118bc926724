// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Caffe2's files <-> the IR, in protobuf's binary and text forms. Whoever parses owns the result; large
// arguments and tensors stay ranges of the bytes that were read and keep them alive. What is not known is
// kept and written back. Functions without state; a SymbolTable is written to by one thread at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ir/plan.h"

namespace weft {

/// Something that was read although it is not how it should be written: an old spelling, an unknown field.
struct Note {
  std::string message;
  int line = 0;  // where it was first seen, from 1; 0 when it has no line
  int column = 0;
  int times = 1;
};

// Binary. Errors (kParse, kLimit) name the byte offset and the path ("op[3].arg[1]"). Nothing is built before
// the bytes were found sound. `symbols` is the table that names go into; null makes a new one.

Result<Net> ParseNet(const Bytes& bytes, SymbolTablePtr symbols = nullptr);
Result<Op> ParseOp(const Bytes& bytes, const SymbolTablePtr& symbols);
Result<Plan> ParsePlan(const Bytes& bytes, SymbolTablePtr symbols = nullptr);

/// As protobuf writes it: fields by number, unknown ones last. Linear, one allocation. `more`: operators that
/// are written behind the net's own, so that a net and its backward pass need not be copied together.
std::string SerializeNet(const Net& net, std::span<const Op> more = {});
std::string SerializeOp(const SymbolTable& symbols, const Op& op);
std::string SerializePlan(const Plan& plan);

// Text. Errors (kParse, kLimit) begin "line:column: " and end with the line and a caret. `notes` receives
// what was read leniently, when given.

Result<Net> ParseNetText(std::string_view text, SymbolTablePtr symbols = nullptr,
                         std::vector<Note>* notes = nullptr);
Result<Op> ParseOpText(std::string_view text, const SymbolTablePtr& symbols,
                       std::vector<Note>* notes = nullptr);
Result<Plan> ParsePlanText(std::string_view text, SymbolTablePtr symbols = nullptr,
                           std::vector<Note>* notes = nullptr);

/// As protobuf's TextFormat prints it, unknown fields as their numbers. `more` as above.
std::string NetToText(const Net& net, std::span<const Op> more = {});
std::string OpToText(const SymbolTable& symbols, const Op& op);
std::string PlanToText(const Plan& plan);

}  // namespace weft
