// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Running the `weft` program in tests: arguments in, exit code and both streams out, files in a folder of the
// test's own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/str.h"

namespace weft::cli_test {

struct Outcome {
  int exit = -1;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Runs the program built beside the tests; `input` is its standard input.
Outcome Weft(const std::vector<std::string>& arguments, std::string_view input = "");
/// Runs a shell command in which $WEFT is the program.
Outcome Shell(const std::string& command);

/// An empty folder, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(std::string_view name) const { return StrCat(path_, "/", name); }
  /// Writes a file and returns its path.
  std::string Write(std::string_view name, std::string_view content) const;
  /// Names of the files in it, sorted.
  std::vector<std::string> List() const;

 private:
  std::string path_;
};

std::string Read(const std::string& path);
/// A file under tests/data.
std::string Data(std::string_view name);

}  // namespace weft::cli_test
