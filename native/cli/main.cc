// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The `weft` program: finds the subcommand and runs it. Exit codes: 0 ok, 1 the input is at fault, 2 usage.
#include <unistd.h>

#include <algorithm>
#include <new>
#include <span>

#include "core/base/str.h"
#include "native/cli/command.h"
#include "native/cli/workbench.h"

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

// Says what an option takes and nothing else: CLI11's own text repeats checks and counts.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_size() == 0 ? "" : option->get_type_name();
    const size_t extra = type.find(':');  // a check's own description
    return type.empty() ? "" : " " + type.substr(0, extra);
  }
  // Flags without the "{false}" of their negated form.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    if (const size_t brace = name.find('{'); brace != std::string::npos) name.erase(brace);
    return name;
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = StrCat("Usage: ", name, app->get_options().size() > 1 ? " [OPTIONS]" : "");
    for (const CLI::Option* option : app->get_options())
      if (option->nonpositional() && option->get_required())
        StrAppend(usage, " ", option->get_name(), make_option_opts(option));
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      const bool list = option->get_items_expected_max() > 1;
      const std::string word = StrCat(option->get_name(true), list ? "..." : "");
      StrAppend(usage, " ", option->get_required() ? word : StrCat("[", word, "]"));
    }
    if (!app->get_subcommands({}).empty()) StrAppend(usage, " SUBCOMMAND");
    return usage + "\n";
  }
  std::string make_description(const CLI::App* app) const override { return app->get_description() + "\n\n"; }
};

// A usage error names the subcommand whose help would have told, and where a subcommand is wanted the nearest
// to the word that stands there.
int UsageError(const CLI::App& app, const CLI::ParseError& error, std::span<char* const> words) {
  std::string command = app.get_name();
  const CLI::App* chosen = &app;
  auto word = words.begin();
  while (!chosen->get_subcommands().empty()) {
    chosen = chosen->get_subcommands()[0];
    StrAppend(command, " ", chosen->get_name());
    word = std::find(word, words.end(), chosen->get_name());
    if (word != words.end()) ++word;
  }
  std::string message = error.what();
  // "Could not convert: --shards = 99999999999"
  const std::string_view what = message;
  constexpr std::string_view kNoNumber = "Could not convert: ";
  if (const size_t equals = what.find(" = "); what.starts_with(kNoNumber) && equals != what.npos)
    message = StrCat(what.substr(kNoNumber.size(), equals - kNoNumber.size()),
                     ": expected a number that is not too large, found ", what.substr(equals + 3));
  std::vector<std::string> names;
  for (const CLI::App* known : chosen->get_subcommands({})) names.push_back(known->get_name());
  word = std::find_if(word, words.end(), [](const char* w) { return w[0] != '-'; });
  if (!names.empty() && word != words.end() && std::find(names.begin(), names.end(), *word) == names.end()) {
    const auto near = NearestNames(*word, std::vector<std::string_view>(names.begin(), names.end()), 1);
    message = StrCat("there is no subcommand ", *word,
                     !near.empty()    ? StrCat("; did you mean ", near[0], "?")
                     : chosen != &app ? StrCat("; there are ", StrJoin(names, ", "))
                                      : "");
  }
  if (std::find(words.begin(), words.end(), std::string_view("--json")) != words.end()) {
    std::string out;
    JsonWriter writer(out);
    writer.BeginObject().Key("error").BeginObject();
    WriteError(writer, Error{ErrorCode::kInvalidArgument, StrCat(command, ": ", message)});
    writer.EndObject().EndObject();
    PrintJson(Main(), out);
    return kUsage;
  }
  Stream err(STDERR_FILENO, Color::kAuto);
  err.Write(StrCat(command, ": ", message, "\nTry '", command, " --help'.\n"));
  return kUsage;
}

int Run(int argc, char** argv) {
  CLI::App app("Sees, differentiates, transforms and runs Caffe2 nets.", "weft");
  Main main;
  app.require_subcommand(1);
  app.fallthrough();
  app.set_help_flag("-h,--help", "this text");
  app.set_version_flag("--version", "weft " WEFT_VERSION, "the version");
  app.footer(
      "FILE is a net or plan in Caffe2's binary or text format, whatever its name; - is standard input;\n"
      "FILE#NET is one of several nets of a file or plan.\n"
      "Exit codes: 0 ok, 1 the input is at fault, 2 usage. Each subcommand has its own --help.");
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(26);
  app.formatter(formatter);
  AddColor(app, main);
  AddPrint(app, main);
  AddSsa(app, main);
  AddGrad(app, main);
  AddGradcheck(app, main);
  AddRun(app, main);
  AddClone(app, main);
  AddExtract(app, main);
  AddShapes(app, main);
  AddTensors(app, main);
  AddCheck(app, main);
  AddConvert(app, main);
  AddOps(app, main);
  AddDiff(app, main);
  AddPass(app, main);
  AddParallel(app, main);
  AddDevices(app, main);
  AddExample(app, main);
  AddCompletion(app, main);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error, {argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    return main.Fail(Error{ErrorCode::kLimit, "out of memory"});
  }
  return main.exit;
}

}  // namespace

}  // namespace weft::cli

int main(int argc, char** argv) { return weft::cli::Run(argc, argv); }
