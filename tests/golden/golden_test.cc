// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs every case of the golden files and compares whole outputs.
//   golden_test [--update] [FILE...]     without files: every .txt below tests/golden
// --update writes what was found into the files; read the diff before committing it. A case without an output
// fails until an update fills it in.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/golden/commands.h"
#include "tests/golden/runner.h"

namespace {

namespace fs = std::filesystem;
using weft::golden::Case;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(WEFT_GOLDEN)) {
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Count {
  int passed = 0, failed = 0, updated = 0;
};

void RunFile(const std::string& path, bool update, Count& count) {
  const std::string text = ReadFile(path);
  weft::Result<std::vector<Case>> cases = weft::golden::ParseCases(text);
  if (!cases) {
    std::printf("FAILED %s: %s\n", path.c_str(), cases.error().message.c_str());
    ++count.failed;
    return;
  }
  for (Case& one : *cases) {
    const auto fail = [&](const std::string& why) {
      std::printf("FAILED %s:%d: %s\n%s\n", path.c_str(), one.line, one.command.c_str(), why.c_str());
      ++count.failed;
    };
    weft::Result<weft::golden::Outcome> outcome = weft::golden::RunCase(one, weft::golden::Commands());
    if (!outcome) {
      fail(outcome.error().message);
    } else if (one.has_output && one.is_error == outcome->is_error && one.output == outcome->text) {
      ++count.passed;
    } else if (update) {
      one.has_output = true;
      one.is_error = outcome->is_error;
      one.output = outcome->text;
      ++count.updated;
    } else if (!one.has_output) {
      fail("no output recorded; run golden_test --update");
    } else if (one.is_error != outcome->is_error) {
      fail((outcome->is_error ? "expected an output, found an error:\n" : "expected an error, found:\n") +
           outcome->text);
    } else {
      fail(weft::golden::FirstDifference(one.output, outcome->text));
    }
  }
  const std::string updated = weft::golden::FormatCases(*cases);
  if (update && updated != text) std::ofstream(path, std::ios::binary) << updated;
}

}  // namespace

int main(int argc, char** argv) {
  bool update = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--update") {
      update = true;
    } else {
      files.push_back(word);
    }
  }
#ifdef __EMSCRIPTEN__
  update = false;  // the native build writes the files, this one must agree with it
#endif
  if (files.empty()) files = GoldenFiles();
  Count count;
  for (const std::string& file : files) RunFile(file, update, count);
  std::printf("%d cases agree, %d failed, %d updated, in %zu files\n", count.passed, count.failed,
              count.updated, files.size());
  return count.failed == 0 ? 0 : 1;
}
