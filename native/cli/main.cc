// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The `weft` program: finds the subcommand and runs it. Exit codes: 0 ok, 1 the input is at fault, 2 usage.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/base/str.h"
#include "native/cli/command.h"

namespace weft::cli {

namespace {

void AddColor(CLI::App& app, Main& main) {
  static const std::vector<std::pair<std::string, Color>> kColors = {
      {"auto", Color::kAuto}, {"always", Color::kAlways}, {"never", Color::kNever}};
  app.add_option_function<std::string>(
         "--color",
         [&main](const std::string& word) {
           for (const auto& [name, color] : kColors)
             if (name == word) main.color = color;
         },
         "auto (on a terminal), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

// A usage error names the subcommand whose help would have told.
int UsageError(const CLI::App& app, const CLI::ParseError& error, bool json) {
  std::string command = app.get_name();
  for (const CLI::App* chosen : app.get_subcommands()) StrAppend(command, " ", chosen->get_name());
  if (json) {
    std::string out;
    JsonWriter writer(out);
    writer.BeginObject().Key("error").BeginObject();
    WriteError(writer, Error{ErrorCode::kInvalidArgument, StrCat(command, ": ", error.what())});
    writer.EndObject().EndObject();
    PrintJson(Main(), out);
    return kUsage;
  }
  Stream err(STDERR_FILENO, Color::kAuto);
  err.Write(StrCat(command, ": ", error.what(), "\nTry '", command, " --help'.\n"));
  return kUsage;
}

int Run(int argc, char** argv) {
  CLI::App app("Sees, differentiates and transforms Caffe2 nets.", "weft");
  Main main;
  app.require_subcommand(1);
  app.fallthrough();
  app.set_help_flag("-h,--help", "this text");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.footer("FILE is a net or plan in Caffe2's binary or text format, whatever its name; - is standard input.\n"
             "Exit codes: 0 ok, 1 the input is at fault, 2 usage. Each subcommand has its own --help.");
  app.get_formatter()->column_width(26);
  AddColor(app, main);
  AddPrint(app, main);
  AddSsa(app, main);
  AddClone(app, main);
  AddExtract(app, main);
  AddCheck(app, main);
  AddConvert(app, main);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error, std::find(argv, argv + argc, std::string_view("--json")) != argv + argc);
  }
  return main.exit;
}

}  // namespace

}  // namespace weft::cli

int main(int argc, char** argv) { return weft::cli::Run(argc, argv); }
