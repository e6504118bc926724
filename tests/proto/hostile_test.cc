// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that mean harm, or were harmed: no crash, no hang, and a refusal has held at most four times the
// file's size and 32 MB.
#include <gtest/gtest.h>

#include <random>

#include "core/base/str.h"
#include "proto/codec.h"
#include "proto/document.h"
#include "proto/text.h"
#include "proto/wire.h"
#include "tests/proto/allocations.h"
#include "tests/support/files.h"

namespace weft {
namespace {

// Opens the bytes, holds a refusal to the bound on memory, and returns its message; "" when it opened.
std::string RefusalWithinBounds(std::string file) {
  const size_t size = file.size();
  const Bytes bytes(std::move(file));
  std::string message;
  const size_t peak = test::PeakBytes([&] {
    const Result<Document> document = Open(bytes);
    if (!document) message = document.error().message;
  });
  if (!message.empty()) {
    EXPECT_LE(peak, 4 * size + (32 << 20)) << message.substr(0, 200);
  }
  return message;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// A field of length-delimited bytes.
std::string Field(uint32_t number, std::string_view bytes) {
  std::string out;
  AppendVarint(out, Tag(number, WireType::kLength));
  AppendVarint(out, bytes.size());
  return out.append(bytes);
}

std::string Model() { return test::ReadFile(test::DataPath("models/dlrm_26.pb")); }

TEST(Hostile, EveryTruncation) {
  const std::string file = Model();
  size_t refused = 0;
  for (size_t size = 1; size < file.size(); ++size)
    refused += !RefusalWithinBounds(file.substr(0, size)).empty();
  EXPECT_GT(refused, file.size() * 9 / 10);  // a cut between two operators leaves a net
}

TEST(Hostile, FlippedBits) {
  const std::string file = Model();
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string flipped = file;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      flipped[random() % flipped.size()] ^= static_cast<char>(1 << random() % 8);
    const Result<Net> net = ParseNet(Bytes(flipped));
    if (net) {
      ASSERT_TRUE(ParseNet(Bytes(SerializeNet(*net))).has_value()) << round;
    }
    RefusalWithinBounds(std::move(flipped));
  }
}

TEST(Hostile, FalseLengths) {
  for (const char* length : {"\x7f", "\xff\x01", "\xff\xff\xff\xff\x07", "\xff\xff\xff\xff\x0f",
                             "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}) {
    for (const char* tag : {"\x0a", "\x12", "\x3a"}) {
      EXPECT_NE(RefusalWithinBounds(StrCat(tag, length, "abc")), "") << QuoteBytes(length);
      EXPECT_NE(RefusalWithinBounds(Field(2, StrCat(tag, length, "abc"))), "") << QuoteBytes(length);
    }
  }
  const Result<Net> net = ParseNet(Bytes(Field(1, "n") + Field(2, Field(1, "x") + "\x12\x7fyy")));
  ASSERT_FALSE(net.has_value());
  EXPECT_EQ(net.error().message,
            "NetDef.op[0].output[0], byte 8: it is said to have 127 bytes, but 2 are left in OperatorDef");
}

// Nets within arguments of operators of nets: three messages a level.
std::string NestedBinary(int levels) {
  std::string net = Field(1, "n");
  for (int i = 0; i < levels; ++i) net = Field(2, Field(5, Field(8, net)));
  return net;
}
std::string NestedText(int levels, const char* open, const char* close) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += open;
  for (int i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(Hostile, NestingIsRefusedBeyondAHundredLevels) {
  const Result<Net> deepest = ParseNet(Bytes(NestedBinary(33)));
  ASSERT_TRUE(deepest.has_value()) << deepest.error().message;
  EXPECT_EQ(SerializeNet(*deepest), NestedBinary(33));
  const Result<Net> deeper = ParseNet(Bytes(NestedBinary(34)));
  ASSERT_FALSE(deeper.has_value());
  EXPECT_EQ(deeper.error().code, ErrorCode::kLimit);
  // The offset is where the message one too deep begins.
  const std::string file = NestedBinary(34);
  std::string_view message = file;
  WireField f;
  for (int level = 0; level < 100; ++level) {
    ASSERT_TRUE(WireCursor(message).Next(f));
    message = f.bytes;
  }
  const std::string& why = deeper.error().message;
  EXPECT_NE(why.find(StrCat("byte ", message.data() - file.data(), ": nesting deeper than 100 levels")),
            std::string::npos)
      << why;
  EXPECT_TRUE(why.starts_with("NetDef.op[0].arg[0].n.op[0]")) << why;
  EXPECT_LT(why.size(), 250u);
  EXPECT_NE(RefusalWithinBounds(NestedBinary(1500)), "");

  const char* open = "op{arg{n{";
  const char* close = "}}}";
  EXPECT_TRUE(ParseNetText(NestedText(33, open, close)).has_value());
  const Result<Net> text = ParseNetText(NestedText(34, open, close));
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kLimit);
  EXPECT_EQ(FirstLine(text.error().message), "1:304: nesting deeper than 100 levels, at byte 303");
  for (const char* deep : {"op{arg{n{", "x{", "15{", "op<arg<n<"})
    EXPECT_NE(RefusalWithinBounds(NestedText(500000, deep, "")), "") << deep;
  for (const char* deep : {"[", "{", "<", "op:[", "x:["})
    EXPECT_NE(RefusalWithinBounds(NestedText(500000, deep, "")), "") << deep;

  // Steps within steps, and groups, which only fields that are not known can be.
  std::string step = Field(1, "s");
  for (int i = 0; i < 200; ++i) step = Field(2, step);
  EXPECT_FALSE(ParsePlan(Bytes(Field(3, step))).has_value());
  EXPECT_NE(RefusalWithinBounds(std::string(1 << 20, '\x7b')), "");
}

TEST(Hostile, AMillionArguments) {
  std::string args;
  for (int i = 0; i < 1000000; ++i) args += Field(5, Field(1, "a"));
  const std::string file = Field(2, Field(4, "Relu") + args);
  const Result<Net> net = ParseNet(Bytes(file));
  ASSERT_TRUE(net.has_value());
  EXPECT_EQ(net->ops[0].args.size(), 1000000u);
  EXPECT_TRUE(ParseNetText(NetToText(*net)).has_value());
  EXPECT_TRUE(SerializeNet(*net) == file);
}

TEST(Hostile, TheSameNameAMillionTimes) {
  std::string text = "op {";
  for (int i = 0; i < 1000000; ++i) text += " input: \"x\"";
  const Result<Net> net = ParseNetText(text + "}");
  ASSERT_TRUE(net.has_value());
  EXPECT_EQ(net->ops[0].inputs.size(), 1000000u);
  EXPECT_LT(net->symbols->size(), 10u);
}

// What is small in the file and large in memory must not be built before the fault at the end is found.
TEST(Hostile, NothingIsBuiltBeforeTheFaultAtTheEnd) {
  const auto repeated = [](std::string_view piece, size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += piece;
    return out;
  };
  constexpr size_t kSize = 4 << 20;
  EXPECT_NE(RefusalWithinBounds(repeated(std::string("\x12\0", 2), kSize) + "\x12\x7f"), "");  // op {}
  EXPECT_NE(RefusalWithinBounds(repeated(std::string("\x3a\0", 2), kSize) + "\x12\x7f"),
            "");  // external_input: ""
  EXPECT_NE(RefusalWithinBounds(Field(2, repeated(std::string("\x2a\0", 2), kSize)) + "\x12"), "");  // arg {}
  EXPECT_NE(RefusalWithinBounds(repeated("op{}", kSize) + "!"), "");
  EXPECT_NE(RefusalWithinBounds(repeated("external_input:''", kSize) + "!"), "");
  EXPECT_NE(RefusalWithinBounds("op{arg{ints:[" + repeated("-1,", kSize) + "!"), "");
  EXPECT_NE(RefusalWithinBounds("op{arg{floats:[" + repeated("1,", kSize) + "!"), "");
  EXPECT_NE(RefusalWithinBounds("op{type:" + repeated("''", kSize) + "!"), "");
  EXPECT_NE(RefusalWithinBounds("op{name:'" + repeated("a", kSize)), "");
  std::string db;
  while (db.size() < kSize) db += std::string("\1\0\0\0\1\0\0\0kv", 10);
  EXPECT_NE(RefusalWithinBounds(db + "x"), "");
}

TEST(Hostile, NotesAreBoundedAndLinear) {
  std::string names, same, lines;
  for (int i = 0; i < 300000; ++i) {
    names += StrCat("u", i, ":1 ");
    same += "inputs:1 ";
    lines += StrCat("u", i % 150, ":1\n");
  }
  for (const std::string& text : {names, same, lines}) {
    std::vector<Note> notes;
    EXPECT_TRUE(ParseNetText("name:'n' " + text, nullptr, &notes).has_value());
    EXPECT_LE(notes.size(), 201u);
    int64_t times = 0;
    for (const Note& note : notes) times += note.times;
    EXPECT_EQ(times, 300000);
  }
}

TEST(Hostile, NamesThatAreNoText) {
  const std::string file =
      Field(1, "\xff\xfe") + Field(2, Field(1, std::string("\0\x80", 2)) + Field(4, "\xc0\xaf"));
  const Result<Net> net = ParseNet(Bytes(file));
  ASSERT_TRUE(net.has_value());
  EXPECT_EQ(SerializeNet(*net), file);
  const Result<Net> again = ParseNetText(NetToText(*net));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(SerializeNet(*again), file);
}

// An argument above 4 KB stays in the file's bytes, is decoded when asked, and is written back as it was.
TEST(Hostile, LargeArgumentsStayInTheFile) {
  std::string values;
  for (int i = 0; i < 1000000; ++i) values += std::string("\x2d\0\0\x80\x3f", 5);
  const std::string file = Field(2, Field(4, "GivenTensorFill") + Field(5, Field(1, "values") + values));
  const Bytes bytes(file);
  size_t held = 0;
  std::optional<Net> net;
  const size_t peak = test::PeakBytes([&] {
    const size_t before = test::HeldBytes();
    net = *ParseNet(bytes);
    held = test::HeldBytes() - before;
  });
  EXPECT_LT(held, 100000u);
  EXPECT_LT(peak, 100000u);
  const Arg& arg = net->ops[0].args[0];
  EXPECT_TRUE(arg.has & Arg::kHasFloats);
  EXPECT_EQ(ArgFloats(*net->symbols, net->ops[0].args, "values").size(), 1000000u);
  // The net, as protobuf would order it, is the file but for the operator's type.
  EXPECT_EQ(SerializeNet(*net), file);
  // Renamed, it is written under its new name.
  Arg renamed = arg;
  renamed.name = net->Intern("weights");
  net->ops[0].args = ArgList({renamed});
  const Net written = *ParseNet(Bytes(SerializeNet(*net)));
  EXPECT_EQ(ArgFloats(*written.symbols, written.ops[0].args, "weights").size(), 1000000u);
  EXPECT_EQ(FindArg(*written.symbols, written.ops[0].args, "values"), nullptr);
}

// Equal argument lists and devices are one in memory.
TEST(Hostile, EqualArgumentsAreShared) {
  std::string file;
  const std::string op = Field(4, "Conv") + Field(5, Field(1, "kernel") + "\x18\x03") + Field(6, "\x08\x01");
  for (int i = 0; i < 3; ++i) file += Field(2, op);
  const Result<Net> net = ParseNet(Bytes(file));
  ASSERT_TRUE(net.has_value());
  EXPECT_TRUE(net->ops[0].args.SameAs(net->ops[2].args));
  EXPECT_EQ(net->ops[0].device, net->ops[2].device);
  EXPECT_EQ(SerializeNet(*net), file);
}

}  // namespace
}  // namespace weft
