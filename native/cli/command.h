// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the subcommands of `weft` share: the streams, exit codes, how an error is told, and how a net comes in
// and goes out. One subcommand is one file with one Add function, listed in main.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "native/cli/terminal.h"

namespace weft::cli {

enum Exit : int {
  kOk = 0,
  kInputAtFault = 1,  // it does not open, can't be done, has errors, or differs
  kUsage = 2,
};

// What OnlyBeside was told.
struct Beside {
  const CLI::App* command;
  std::vector<const CLI::Option*> others, options;
};

struct Main {
  Color color = Color::kAuto;  // known once the command line is read
  bool json = false;           // the subcommand prints one JSON object on standard output
  int exit = kOk;
  std::vector<Beside> beside;

  /// Tells `error` and returns kInputAtFault: on standard error for people, as {"error":{...}} on standard
  /// output with --json. `file`: the file it is about, or empty.
  int Fail(const Error& error, const std::string& file = "");
};

/// A subcommand with its description; `run` is called when it was chosen and its value becomes the exit code.
CLI::App* AddSubcommand(CLI::App& app, Main& main, const std::string& name, const std::string& what,
                        std::function<int()> run);
/// The --json option.
void AddJson(CLI::App& command, Main& main, const std::string& what);
/// The positional FILE.
CLI::Option* AddFile(CLI::App& command, std::string& file);
/// -o, --output.
CLI::Option* AddOutput(CLI::App& command, std::string& output);
/// An option that may be repeated and takes one value each time: it never swallows the next argument.
CLI::Option* AddRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                         const std::string& what);

/// Each of `options` means something only beside one of `others`: without any it is a usage error, which says
/// what to add. Names as the options have them: "--keep", "FILE".
void OnlyBeside(CLI::App& command, Main& main, const std::vector<std::string>& others,
                const std::vector<std::string>& options);

/// Checks that an option's word is a whole number, 0 or more, in decimal digits: CLI11 itself takes signs,
/// octal numbers, nothing at all, and the largest number for those that are larger.
CLI::Validator WholeNumber();

/// Writes the members code, message, op and blob of an error object; op and blob are null where there is
/// none.
void WriteError(JsonWriter& json, const Error& error);
/// A whole JSON object, then a newline, on standard output.
int PrintJson(const Main& main, std::string_view json);

// One for each subcommand.
void AddPrint(CLI::App& app, Main& main);
void AddSsa(CLI::App& app, Main& main);
void AddGrad(CLI::App& app, Main& main);
void AddGradcheck(CLI::App& app, Main& main);
void AddRun(CLI::App& app, Main& main);
void AddClone(CLI::App& app, Main& main);
void AddExtract(CLI::App& app, Main& main);
void AddShapes(CLI::App& app, Main& main);
void AddCheck(CLI::App& app, Main& main);
void AddConvert(CLI::App& app, Main& main);
void AddOps(CLI::App& app, Main& main);
void AddDiff(CLI::App& app, Main& main);
void AddParallel(CLI::App& app, Main& main);
void AddDevices(CLI::App& app, Main& main);
void AddPass(CLI::App& app, Main& main);
void AddExample(CLI::App& app, Main& main);
void AddCompletion(CLI::App& app, Main& main);

}  // namespace weft::cli
