// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft pass: what changes a net as a whole. The passes and their options come from core/pass/passes.h.
#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "core/pass/passes.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/io/file.h"
#include "proto/codec.h"

namespace weft::cli {

namespace {

struct Words {
  std::string first, second, output, init_output;
  std::vector<std::vector<std::string>> values;  // by option
  std::unique_ptr<bool[]> flags;
};

// "@FILE" stands for the lines of the file.
Result<std::vector<std::string>> Expand(const std::vector<std::string>& values) {
  std::vector<std::string> out;
  for (const std::string& value : values) {
    if (!value.starts_with('@')) {
      out.push_back(value);
      continue;
    }
    WEFT_TRY(const Bytes file, ReadFile(value.substr(1)));
    for (std::string_view line : StrSplit(file.view(), '\n'))
      if (!line.empty()) out.emplace_back(line);
  }
  return out;
}

std::string FactText(const PassFact& fact) {
  if (const int64_t* number = std::get_if<int64_t>(&fact.value)) return StrCat(*number);
  if (const std::string* text = std::get_if<std::string>(&fact.value)) return *text;
  const auto& list = std::get<std::vector<std::string>>(fact.value);
  return list.empty() ? "none" : StrJoin(list, ", ");
}

void WriteFact(JsonWriter& json, const PassFact& fact) {
  json.Key(fact.name);
  if (const int64_t* number = std::get_if<int64_t>(&fact.value)) {
    json.Int(*number);
  } else if (const std::string* text = std::get_if<std::string>(&fact.value)) {
    json.String(*text);
  } else {
    json.BeginArray();
    for (const std::string& item : std::get<std::vector<std::string>>(fact.value)) json.String(item);
    json.EndArray();
  }
}

int Emit(Main& main, const PassOutcome& outcome, const Words& words) {
  FileSet files;
  Result<void> saved = SaveNet(files, words.output, outcome.net);
  if (saved && outcome.init) saved = SaveNet(files, words.init_output, *outcome.init);
  if (saved) saved = files.Commit();
  if (!saved) return main.Fail(saved.error());
  if (main.json) {
    std::string text;
    JsonWriter json(text);
    json.BeginObject().Key("net").String(NetToText(outcome.net));
    if (outcome.init) json.Key("init").String(NetToText(*outcome.init));
    for (const PassFact& fact : outcome.facts) WriteFact(json, fact);
    json.EndObject();
    return PrintJson(main, text);
  }
  // The net goes to standard output when no file was named, so what is told goes elsewhere.
  Stream err(STDERR_FILENO, main.color);
  for (const PassFact& fact : outcome.facts) {
    if (const auto* list = std::get_if<std::vector<std::string>>(&fact.value); list && list->size() > 1) {
      err.Write(StrCat(fact.name, ":\n"));
      for (const std::string& item : *list) err.Write(StrCat("  ", item, "\n"));
    } else {
      err.Write(StrCat(fact.name, ": ", FactText(fact), "\n"));
    }
  }
  err.Flush();
  return words.output.empty() ? EmitNet(main, outcome.net, "") : kOk;
}

int Run(Main& main, const PassDef& pass, const Words& words) {
  std::vector<Net> nets;
  for (const std::string* file : {&words.first, &words.second}) {
    if (file->empty()) continue;
    Result<Net> net = LoadNet(*file);
    if (!net) return main.Fail(net.error(), *file);
    nets.push_back(std::move(net).value());
  }
  PassWords given;
  for (size_t i = 0; i < pass.options.size(); ++i) {
    const std::string name(pass.options[i].name);
    if (words.flags[i]) given.given.push_back({name, ""});
    const Result<std::vector<std::string>> values = Expand(words.values[i]);
    if (!values) return main.Fail(values.error());
    for (const std::string& value : *values) given.given.push_back({name, value});
  }
  const Result<PassOutcome> outcome = RunPass(pass, nets, StandardOps(), given);
  return outcome ? Emit(main, *outcome, words) : main.Fail(outcome.error(), words.first);
}

void AddOne(CLI::App& group, Main& main, const PassDef& pass) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(group, main, std::string(pass.name), std::string(pass.what),
                                    [&main, &pass, words] { return Run(main, pass, *words); });
  words->values.resize(pass.options.size());
  words->flags = std::make_unique<bool[]>(pass.options.size());
  std::string* files[] = {&words->first, &words->second};
  size_t at = 0;
  for (std::string_view name : StrSplit(pass.nets, ' ')) {
    const bool optional = name.ends_with('?');
    const std::string word(optional ? name.substr(0, name.size() - 1) : name);
    CLI::Option* option = command->add_option(at == 0 && word == "NET" ? "FILE" : word, *files[at],
                                              "a net, binary or text; - is standard input");
    ++at;
    option->required(!optional)->type_name("");
  }
  for (size_t i = 0; i < pass.options.size(); ++i) {
    const PassOption& option = pass.options[i];
    const std::string name = StrCat("--", option.name);
    if (option.value.empty()) {
      command->add_flag(name, words->flags[i], std::string(option.what));
    } else {
      AddRepeated(*command, name, words->values[i], std::string(option.what))
          ->required(option.required)
          ->type_name(std::string(option.value));
    }
  }
  AddOutput(*command, words->output);
  if (pass.name == "predictor") {
    command->add_option("--init-output", words->init_output, "where to write what of the init net is needed")
        ->type_name("OUT");
    OnlyBeside(*command, main, {"INIT"}, {"--init-output"});
  }
  AddJson(*command, main, R"({"net":"<NetDef text>", ...}: and what is told otherwise on standard error)");
  command->footer("A value @FILE stands for the lines of that file.");
}

// One command for those who make a form of it: its files and options, as the command line knows them.
void WriteCommand(JsonWriter& json, const CLI::App& command, const std::vector<std::string>& words) {
  json.BeginObject().Key("words").BeginArray();
  for (const std::string& word : words) json.String(word);
  json.EndArray().Key("what").String(command.get_description()).Key("files").BeginArray();
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    json.BeginObject()
        .Key("name")
        .String(option->get_name(true))
        .Key("required")
        .Bool(option->get_required());
    json.EndObject();
  }
  json.EndArray().Key("options").BeginArray();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames()[0];
    if (name == "help" || name == "json" || name == "output" || name == "init-output") continue;
    const bool flag = option->get_expected_max() == 0;
    json.BeginObject().Key("name").String(name).Key("value").String(flag ? "" : option->get_type_name());
    json.Key("what")
        .String(option->get_description())
        .Key("required")
        .Bool(option->get_required())
        .EndObject();
  }
  json.EndArray().EndObject();
}

int List(Main& main, const CLI::App& app, const CLI::App& group) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("commands").BeginArray();
  for (const CLI::App* pass : group.get_subcommands({}))
    WriteCommand(json, *pass, {"pass", pass->get_name()});
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == "clone" || command->get_name() == "extract")
      WriteCommand(json, *command, {command->get_name()});
  json.EndArray().EndObject();
  return PrintJson(main, text);
}

}  // namespace

void AddPass(CLI::App& app, Main& main) {
  CLI::App* group = app.add_subcommand("pass", "changes a net as a whole: see weft pass --help");
  group->footer("");
  group->require_subcommand(0, 1);
  auto list = std::make_shared<bool>(false);
  group->add_flag(
      "--json", *list,
      R"({"commands":[{"words","what","files":[{name,required}],"options":[...]}]}: the passes, clone and extract)");
  group->callback([&main, &app, group, list] {
    if (!group->get_subcommands().empty()) return;
    if (!*list) throw CLI::RequiredError::Subcommand(1);
    main.json = true;
    main.exit = List(main, app, *group);
  });
  for (const PassDef& pass : Passes()) AddOne(*group, main, pass);
}

}  // namespace weft::cli
