// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Readers of OpDef's text columns. The columns are short and read straight from the table, without a compiled
// copy: what is asked for every operator of a net (AllowedPair, RequiredArgs) costs nothing where the column
// is empty.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ops/op_def.h"

namespace weft {

/// One argument of "axis:int=1 values:floats!".
struct ArgSpec {
  std::string_view name;
  std::string_view type;      // int float string bool ints floats strings net nets tensor tensors
  std::string_view fallback;  // the text after '='; empty when there is none
  bool required = false;
};
/// The arguments of an `args` column, in its order. A default may be quoted: sep:string=', '.
std::vector<ArgSpec> ParseArgs(std::string_view args);

/// One port of "X W b? -> Y".
struct PortSpec {
  std::string_view name;
  bool optional = false;
  bool repeated = false;
};
struct Ports {
  std::vector<PortSpec> inputs, outputs;
};
Ports ParsePorts(std::string_view ports);

/// True when `pairs` ("0>0 1>1", "*", "i>i", "i+1>i") holds input > output.
bool HasPair(std::string_view pairs, size_t input, size_t output);

/// The next piece of a column, up to a space (spaces inside quotes do not count), taken off the front of
/// `column`; empty at the end. For those who go through a column once for every operator of a net.
std::string_view NextPiece(std::string_view& column);

/// The input and output of an enforced pair "3>1"; false for the general ones ("i>i", "i+1>i", "*").
bool ParsePair(std::string_view pair, size_t& input, size_t& output);

/// True when an operator may have so many inputs and outputs together, by an `arities` column such as
/// "3/1 4/2", "n+1/n", "2n/1", "1/1+", "n/kn" (any multiple of n). n and k are 1 or more; an empty column
/// allows all.
bool HasArity(std::string_view arities, size_t inputs, size_t outputs);

/// Why HasArity said no: no pair has so many inputs, none has so many outputs, or none has both.
enum class ArityFailure : uint8_t { kInputs, kOutputs, kBoth };
ArityFailure WhichSideFails(std::string_view arities, size_t inputs, size_t outputs);

/// Checks that every column of `def` can be read, for the table's own test. Errors: kParse.
Result<void> CheckColumns(const OpDef& def);

}  // namespace weft
