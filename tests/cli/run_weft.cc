// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/run_weft.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/str.h"

namespace weft::cli_test {

namespace {

std::string Quoted(const std::string& word) {
  std::string out = "'";
  for (char c : word) {
    if (c == '\'') {
      out.append("'\\''");
    } else {
      out.push_back(c);
    }
  }
  out.push_back('\'');
  return out;
}

}  // namespace

Outcome Shell(const std::string& command) {
  const Folder streams;
  const std::string line = StrCat("export WEFT=", Quoted(WEFT_BINARY), "; { ", command, "\n} >",
                                  streams / "out", " 2>", streams / "err");
  const int status = std::system(line.c_str());
  Outcome outcome;
  outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = Read(streams / "out");
  outcome.err = Read(streams / "err");
  return outcome;
}

Outcome Weft(const std::vector<std::string>& arguments, std::string_view input) {
  const Folder streams;
  std::string command = "\"$WEFT\"";
  for (const std::string& argument : arguments) StrAppend(command, " ", Quoted(argument));
  return Shell(StrCat(command, " <", streams.Write("in", input)));
}

Folder::Folder() {
  std::string path = (std::filesystem::temp_directory_path() / "weft_test.XXXXXX").string();
  if (!mkdtemp(path.data())) std::abort();
  path_ = path;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::Write(std::string_view name, std::string_view content) const {
  const std::string path = *this / name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::vector<std::string> Folder::List() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string Data(std::string_view name) { return StrCat(WEFT_TEST_DATA "/", name); }

}  // namespace weft::cli_test
