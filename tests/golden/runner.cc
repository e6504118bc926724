// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/runner.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft::golden {
namespace {

constexpr std::string_view kCommand = "cmd: ";
constexpr std::string_view kIn = "--- in";
constexpr std::string_view kOut = "--- out";
constexpr std::string_view kErr = "--- err";

bool IsSeparator(std::string_view line) {
  return line.size() >= 5 && line.find_first_not_of('=') == std::string_view::npos;
}

Error ParseError(int line, std::string_view what) {
  return Error{ErrorCode::kParse, StrCat("line ", line, ": ", what)};
}

std::string ErrorText(const Error& error) {
  std::string out(ErrorCodeName(error.code));
  if (error.op >= 0) StrAppend(out, " op ", error.op);
  if (!error.blob.empty()) StrAppend(out, " blob ", error.blob);
  return StrCat(out, "\n", error.message);
}

void EndWithNewline(std::string& text) {
  if (!text.empty() && text.back() != '\n') text.push_back('\n');
}

}  // namespace

std::string Words::TakeFirst() {
  if (words_.empty()) return "";
  std::string first = std::move(words_.front());
  words_.erase(words_.begin());
  return first;
}

bool Words::TakeFlag(std::string_view name) {
  const std::string flag = StrCat("--", name);
  const auto found = std::find(words_.begin(), words_.end(), flag);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

std::vector<std::string> Words::TakeValues(std::string_view name) {
  const std::string flag = StrCat("--", name);
  const std::string prefix = StrCat(flag, "=");
  std::vector<std::string> values, rest;
  for (size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] == flag && i + 1 < words_.size()) {
      values.push_back(words_[++i]);
    } else if (words_[i].starts_with(prefix)) {
      values.push_back(words_[i].substr(prefix.size()));
    } else {
      rest.push_back(words_[i]);
    }
  }
  words_ = std::move(rest);
  return values;
}

std::string Words::TakeValue(std::string_view name, std::string_view otherwise) {
  const std::vector<std::string> values = TakeValues(name);
  return values.empty() ? std::string(otherwise) : values.back();
}

Result<std::vector<Case>> ParseCases(std::string_view text) {
  std::vector<Case> cases;
  if (!text.starts_with("#")) return ParseError(1, "expected a comment that says what this file protects");
  Case one;
  std::string* section = nullptr;
  const auto finish = [&](int line) -> Result<void> {
    if (one.command.empty()) return ParseError(line, "this case has no `cmd:` line");
    if (one.inputs.empty()) return ParseError(one.line, "this case has no `--- in` section");
    cases.push_back(std::move(one));
    one = Case();
    section = nullptr;
    return {};
  };
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (IsSeparator(line)) {
      WEFT_TRY_VOID(finish(number));
    } else if (one.command.empty()) {
      if (line.starts_with(kCommand)) {
        one.command = line.substr(kCommand.size());
        one.line = number;
      } else if (line.empty() || line.starts_with("#")) {
        StrAppend(one.heading, line, "\n");
      } else {
        return ParseError(number, "expected `cmd:` or a comment");
      }
    } else if (line == kIn) {
      if (one.has_output) return ParseError(number, "inputs come before the output");
      section = &one.inputs.emplace_back();
    } else if (line == kOut || line == kErr) {
      if (one.has_output) return ParseError(number, "this case already has an output");
      one.has_output = true;
      one.is_error = line == kErr;
      section = &one.output;
    } else if (section != nullptr) {
      StrAppend(*section, line, "\n");
    } else {
      return ParseError(number, "expected `--- in`");
    }
  }
  WEFT_TRY_VOID(finish(number));
  return cases;
}

std::string FormatCases(std::span<const Case> cases) {
  std::string out;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    if (i > 0) out += "=====\n";
    StrAppend(out, one.heading, kCommand, one.command, "\n");
    for (const std::string& input : one.inputs) StrAppend(out, kIn, "\n", input);
    if (one.has_output) StrAppend(out, one.is_error ? kErr : kOut, "\n", one.output);
  }
  return out;
}

Result<Outcome> RunCase(const Case& one, std::span<const Command> table) {
  std::vector<std::string> words;
  for (std::string_view word : StrSplit(one.command, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  const std::string name = words.empty() ? "" : words.front();
  const auto command =
      std::find_if(table.begin(), table.end(), [&](const Command& c) { return c.name == name; });
  if (command == table.end()) {
    return Error{ErrorCode::kNotFound,
                 StrCat("no golden command `", name, "`; see tests/golden/commands.cc")};
  }
  words.erase(words.begin());
  Words rest(std::move(words));
  Result<std::string> result = command->run(rest, one.inputs);
  if (!rest.rest().empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("`", name, "` does not take ", StrJoin(rest.rest(), " "))};
  }
  Outcome outcome{!result.has_value(), result ? std::move(result).value() : ErrorText(result.error())};
  EndWithNewline(outcome.text);
  return outcome;
}

std::string FirstDifference(std::string_view expected, std::string_view found) {
  size_t line_start = 0;
  int line = 1;
  const size_t most = std::min(expected.size(), found.size());
  size_t i = 0;
  for (; i < most && expected[i] == found[i]; ++i) {
    if (expected[i] == '\n') {
      line_start = i + 1;
      ++line;
    }
  }
  const auto excerpt = [line_start](std::string_view text, std::string_view mark) {
    std::string out;
    std::string_view rest = text.substr(std::min(line_start, text.size()));
    for (int n = 0; n < 5 && !rest.empty(); ++n) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      StrAppend(out, mark, rest.substr(0, end), "\n");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out.empty() ? StrCat(mark, "(ends here)\n") : out;
  };
  return StrCat("output line ", line, ":\n", excerpt(expected, "- "), excerpt(found, "+ "));
}

}  // namespace weft::golden
