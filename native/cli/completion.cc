// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft completion: what a shell needs to complete weft's words, made from the subcommands themselves.
#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "native/cli/command.h"

namespace weft::cli {

namespace {

// The words that an option allows, from its check's "{a,b}"; empty when any will do.
std::string ChoicesOf(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const size_t open = text.find('{'), close = text.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return "";
  std::string words = text.substr(open + 1, close - open - 1);
  for (char& c : words)
    if (c == ',') c = ' ';
  return words;
}

std::vector<const CLI::Option*> FlagsOf(const CLI::App& command) {
  std::vector<const CLI::Option*> flags;
  for (const CLI::Option* option : command.get_options())
    if (option->nonpositional()) flags.push_back(option);
  return flags;
}

std::string OptionWords(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : FlagsOf(command)) {
    for (const std::string& name : option->get_lnames())
      StrAppend(words, words.empty() ? "" : " ", "--", name);
    for (const std::string& name : option->get_snames())
      StrAppend(words, words.empty() ? "" : " ", "-", name);
  }
  return words;
}

std::string Bash(const CLI::App& app) {
  std::string names, cases, choices;
  for (const CLI::App* command : app.get_subcommands({})) {
    StrAppend(names, names.empty() ? "" : " ", command->get_name());
    StrAppend(cases, "    ", command->get_name(), ") options=\"", OptionWords(*command), "\" ;;\n");
    for (const CLI::Option* option : FlagsOf(*command))
      if (const std::string words = ChoicesOf(*option); !words.empty())
        StrAppend(choices, "    ", command->get_name(), ":--", option->get_lnames()[0], ") words=\"", words,
                  "\" ;;\n");
  }
  for (const CLI::Option* option : FlagsOf(app))
    if (const std::string words = ChoicesOf(*option); !words.empty())
      StrAppend(choices, "    *:--", option->get_lnames()[0], ") words=\"", words, "\" ;;\n");
  return StrCat(R"(_weft() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= options= word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || { command=$word; break; }
  done
  case $command:$before in
)",
                choices, R"(    ops:ops) [[ $current == -* ]] || words=$(weft ops --names 2>/dev/null) ;;
  esac
  case $command in
    '') options=")",
                names, " ", OptionWords(app), "\" ;;\n", cases, R"(  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ -z $command || $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _weft weft
)");
}

std::string FishQuoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string Fish(const CLI::App& app) {
  std::string out;
  const auto options = [&](const CLI::App& command, const std::string& when) {
    for (const CLI::Option* option : FlagsOf(command)) {
      StrAppend(out, "complete -c weft", when);
      for (const std::string& name : option->get_lnames()) StrAppend(out, " -l ", name);
      for (const std::string& name : option->get_snames()) StrAppend(out, " -s ", name);
      if (const std::string words = ChoicesOf(*option); !words.empty()) {
        StrAppend(out, " -x -a ", FishQuoted(words));
      } else if (option->get_type_size() > 0) {
        StrAppend(out, " -r");
      }
      StrAppend(out, " -d ", FishQuoted(option->get_description()), "\n");
    }
  };
  options(app, "");
  for (const CLI::App* command : app.get_subcommands({})) {
    StrAppend(out, "complete -c weft -f -n __fish_use_subcommand -a ", command->get_name(), " -d ",
              FishQuoted(command->get_description()), "\n");
    options(*command, StrCat(" -n '__fish_seen_subcommand_from ", command->get_name(), "'"));
  }
  StrAppend(out, "complete -c weft -f -n '__fish_seen_subcommand_from ops' -a '(weft ops --names)'\n");
  return out;
}

int Run(const CLI::App& app, const Main& main, const std::string& shell) {
  Stream out(STDOUT_FILENO, main.color);
  if (shell == "fish") {
    out.Write(Fish(app));
  } else {
    // zsh runs bash's completion through its own emulation.
    if (shell == "zsh") out.Write("autoload -U +X bashcompinit && bashcompinit\n");
    out.Write(Bash(app));
  }
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

}  // namespace

void AddCompletion(CLI::App& app, Main& main) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = AddSubcommand(app, main, "completion", "what a shell needs to complete weft's words",
                                    [&app, &main, shell] { return Run(app, main, *shell); });
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("");
  command->footer("For bash: source <(weft completion bash)");
}

}  // namespace weft::cli
