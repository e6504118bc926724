// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Round trips: binary in, binary out, byte for byte; text as protobuf prints it.
#include "proto/codec.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "proto/text.h"
#include "tests/proto/models.h"
#include "tests/support/files.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using test::DataPath;
using test::Json;
using test::kModels;
using test::ReadFile;
using test::ReadJsonl;

TEST(Codec, ModelsComeBackByteForByte) {
  for (const char* model : kModels) {
    const std::string file = ReadFile(DataPath(StrCat("models/", model, ".pb")));
    const Result<Net> net = ParseNet(Bytes(file));
    ASSERT_TRUE(net.has_value()) << model << ": " << net.error().message;
    EXPECT_GT(net->ops.size(), 0u) << model;
    EXPECT_TRUE(SerializeNet(*net) == file) << model;
  }
}

TEST(Codec, ModelsComeBackThroughText) {
  for (const char* model : kModels) {
    const std::string file = ReadFile(DataPath(StrCat("models/", model, ".pb")));
    const std::string text = WireToText(MessageId::kNetDef, file);
    std::vector<Note> notes;
    const Result<Net> net = ParseNetText(text, nullptr, &notes);
    ASSERT_TRUE(net.has_value()) << model << ": " << net.error().message;
    EXPECT_TRUE(notes.empty()) << model << ": " << notes[0].message;
    EXPECT_TRUE(SerializeNet(*net) == file) << model;
    EXPECT_TRUE(NetToText(*net) == text) << model;
  }
}

// Recorded texts come from protobuf's Python printer, which writes floats in its own way ("2.0"); all else is
// equal.
std::string WithoutFloats(std::string_view text) {
  std::string out;
  for (const std::string_view line : StrSplit(text, '\n')) {
    const size_t at = line.find_first_not_of(' ');
    const std::string_view rest = at == std::string_view::npos ? "" : line.substr(at);
    if (rest.starts_with("f: ") || rest.starts_with("floats: ")) continue;
    StrAppend(out, line, "\n");
  }
  return out;
}

TEST(Codec, GoldenNetsPrintAsTheyWereRecorded) {
  size_t nets = 0;
  for (const char* name : {"clone", "backward_suite", "backward_random", "control", "operators"}) {
    for (const Json& row : ReadJsonl(StrCat("caffe2/", name, ".jsonl"))) {
      for (const char* key : {"net", "forward"}) {
        if (!row.contains(key) || !row[key].is_string()) continue;
        const std::string text = row[key];
        const Result<Net> net = ParseNetText(text);
        ASSERT_TRUE(net.has_value()) << net.error().message;
        EXPECT_EQ(WithoutFloats(NetToText(*net)), WithoutFloats(text)) << name;
        ++nets;
      }
    }
  }
  EXPECT_GT(nets, 3000u);
}

TEST(Codec, GoldenOperatorsPrintAsTheyWereRecorded) {
  for (const Json& row : ReadJsonl("caffe2/gradient_rules.jsonl")) {
    const std::string text = row["op"];
    const auto symbols = std::make_shared<SymbolTable>();
    const Result<Op> op = ParseOpText(text, symbols);
    ASSERT_TRUE(op.has_value()) << op.error().message;
    EXPECT_EQ(WithoutFloats(OpToText(*symbols, *op)), WithoutFloats(text));
  }
}

}  // namespace
}  // namespace weft
