// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/command.h"

#include <unistd.h>

#include <charconv>

#include "core/base/str.h"
#include "native/io/file.h"

namespace weft::cli {

int Main::Fail(const Error& error, const std::string& file) {
  if (json) {
    std::string out;
    JsonWriter writer(out);
    writer.BeginObject().Key("error").BeginObject();
    WriteError(writer, error);
    writer.EndObject().EndObject();
    PrintJson(*this, out);
    return kInputAtFault;
  }
  Stream err(STDERR_FILENO, color);
  err.Write("weft: ");
  err.Write("error", TextClass::kError);
  err.Write(": ");
  if (!file.empty() && error.message.find(FileLabel(file)) == std::string::npos) {
    // A place in a text ("12:3: ...") goes right behind the name, so that editors can jump to it.
    const bool place = !error.message.empty() && error.message[0] >= '0' && error.message[0] <= '9';
    err.Write(StrCat(FileLabel(file), place ? ":" : ": "));
  }
  err.Write(error.message);
  err.Write("\n");
  return kInputAtFault;
}

namespace {

void Check(const Beside& rule) {
  std::string add;
  for (const CLI::Option* other : rule.others) {
    if (other->count() > 0) return;
    const std::string value = other->get_type_size() == 0 ? "" : other->get_type_name();
    StrAppend(add, add.empty() ? "" : " or ", other->get_name(), value.empty() ? "" : " ", value);
  }
  for (const CLI::Option* option : rule.options)
    if (option->count() > 0)
      throw CLI::ValidationError(option->get_name(),
                                 StrCat("does nothing alone, expected ", add, " beside it"));
}

}  // namespace

void OnlyBeside(CLI::App& command, Main& main, const std::vector<std::string>& others,
                const std::vector<std::string>& options) {
  Beside& rule = main.beside.emplace_back(Beside{&command, {}, {}});
  for (const std::string& name : others) rule.others.push_back(command.get_option(name));
  for (const std::string& name : options) rule.options.push_back(command.get_option(name));
}

CLI::App* AddSubcommand(CLI::App& app, Main& main, const std::string& name, const std::string& what,
                        std::function<int()> run) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("");
  command->callback([&main, command, run = std::move(run)] {
    for (const char* output : {"--output", "--init-output", "OUT"}) {
      const CLI::Option* option = main.json ? command->get_option_no_throw(output) : nullptr;
      if (option && option->count() > 0 && option->as<std::string>() == "-")
        throw CLI::ValidationError(output, "- and --json both want standard output, expected one of them");
    }
    for (const Beside& rule : main.beside)
      if (rule.command == command) Check(rule);
    main.exit = run();
  });
  return command;
}

void AddJson(CLI::App& command, Main& main, const std::string& what) {
  command.add_flag("--json", main.json, what);
}

CLI::Option* AddFile(CLI::App& command, std::string& file) {
  return command.add_option("FILE", file, "a net or plan, binary or text; - is standard input")
      ->required()
      ->type_name("");
}

CLI::Option* AddOutput(CLI::App& command, std::string& output) {
  return command
      .add_option(
          "-o,--output", output,
          "file to write: text if it ends in .pbtxt, .prototxt or .txt, binary otherwise; - is text on "
          "standard output")
      ->type_name("OUT");
}

CLI::Option* AddRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                         const std::string& what) {
  return command.add_option(name, values, what)->allow_extra_args(false);
}

CLI::Validator WholeNumber() {
  const auto check = [](const std::string& word) -> std::string {
    int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto [at, error] = std::from_chars(word.data(), end, value);
    const bool plain = error == std::errc() && at == end && value >= 0 && (word[0] != '0' || word == "0");
    return plain ? ""
                 : StrCat("expected a whole number from 0 to 9223372036854775807, found ", QuoteBytes(word));
  };
  return CLI::Validator(check, "", "");
}

void WriteError(JsonWriter& json, const Error& error) {
  json.Key("code").String(ErrorCodeName(error.code));
  json.Key("message").String(error.message);
  json.Key("op");
  error.op >= 0 ? json.Int(error.op) : json.Null();
  json.Key("blob");
  error.blob.empty() ? json.Null() : json.String(error.blob);
}

int PrintJson(const Main& main, std::string_view json) {
  Stream out(STDOUT_FILENO, main.color);
  out.Write(json);
  out.Write("\n");
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

}  // namespace weft::cli
