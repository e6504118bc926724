// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Golden cases: a command, its input and its whole expected output as text in one file. A command is a
// function from text to text, so that the same cases run natively and in WebAssembly without starting
// processes. The format is described in tests/README.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace weft::golden {

/// The words after the command's name, with small readers for `--flag`, `--key=value` and `--key value`.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}

  /// Takes the first word out; "" when there is none.
  std::string TakeFirst();
  /// True when `--name` was given; takes it out.
  bool TakeFlag(std::string_view name);
  /// Every value given as `--name value` or `--name=value`, in order; takes them out.
  std::vector<std::string> TakeValues(std::string_view name);
  /// The last such value, or `otherwise`.
  std::string TakeValue(std::string_view name, std::string_view otherwise);
  /// What nobody took: positional words, or options that the command does not know.
  const std::vector<std::string>& rest() const { return words_; }

 private:
  std::vector<std::string> words_;
};

struct Command {
  std::string_view name;
  /// The output for these inputs (the `--- in` sections, at least one). Words left over are an error.
  Result<std::string> (*run)(Words& words, std::span<const std::string> inputs);
};

struct Case {
  std::string heading;  // comment lines above the command
  std::string command;  // "print --ssa"
  std::vector<std::string> inputs;
  bool has_output = false;  // false: to be filled in by an update
  bool is_error = false;    // the output is an error's text
  std::string output;
  int line = 0;  // of the command, counted from 1
};

/// Reads a golden file. Errors name the line.
Result<std::vector<Case>> ParseCases(std::string_view text);
/// The file that holds these cases.
std::string FormatCases(std::span<const Case> cases);

struct Outcome {
  bool is_error = false;
  std::string text;
};
/// Runs one case. An Error becomes "code (op N, blob B)" and its message; the command's name must be in the
/// table.
Result<Outcome> RunCase(const Case& one, std::span<const Command> table);

/// Both texts around the first line where they differ, for a person to read.
std::string FirstDifference(std::string_view expected, std::string_view found);

}  // namespace weft::golden
