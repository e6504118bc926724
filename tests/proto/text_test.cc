// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The text reader: every way to write a value, what is read leniently, and where errors point.
#include "proto/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/str.h"
#include "proto/codec.h"

namespace weft {
namespace {

// The text of what was read: one spelling for all.
std::string Reread(MessageId message, std::string_view text) {
  const Result<std::string> wire = TextToWire(message, text);
  return wire ? WireToText(message, *wire) : "error: " + wire.error().message;
}
std::string RereadArg(std::string_view text) { return Reread(MessageId::kArgument, text); }

// The first line of the error.
std::string ErrorOf(MessageId message, std::string_view text) {
  const Result<std::string> wire = TextToWire(message, text);
  return wire ? "read" : std::string(StrSplit(wire.error().message, '\n')[0]);
}

TEST(Text, Strings) {
  EXPECT_EQ(RereadArg(R"(s: "a" 'b' "c")"), "s: \"abc\"\n");
  EXPECT_EQ(RereadArg(R"(s: '"' strings: "'" strings: "")"),
            "s: \"\\\"\"\nstrings: \"\\'\"\nstrings: \"\"\n");
  EXPECT_EQ(RereadArg(R"(s: "\n\t\r\\\"\'\?\a\b\f\v")"),
            "s: \"\\n\\t\\r\\\\\\\"\\'?\\007\\010\\014\\013\"\n");
  EXPECT_EQ(RereadArg(R"(s: "\1\12\123\377\0a")"), "s: \"\\001\\nS\\377\\000a\"\n");
  EXPECT_EQ(RereadArg(R"(s: "\x1\x41g\xff")"), "s: \"\\001Ag\\377\"\n");
  EXPECT_EQ(RereadArg(R"(s: "\u00e9\U0001F600")"), "s: \"\\303\\251\\360\\237\\230\\200\"\n");
  EXPECT_EQ(RereadArg("s: \"a#b\" # a comment\n i: 1 # another"), "i: 1\ns: \"a#b\"\n");
}

TEST(Text, Integers) {
  EXPECT_EQ(RereadArg("ints: [0, -1, 0x1F, 017, - 5, -0x10]"),
            "ints: 0\nints: -1\nints: 31\nints: 15\nints: -5\nints: -16\n");
  EXPECT_EQ(RereadArg("i: 9223372036854775807"), "i: 9223372036854775807\n");
  EXPECT_EQ(RereadArg("i: -9223372036854775808"), "i: -9223372036854775808\n");
  EXPECT_EQ(ErrorOf(MessageId::kArgument, "i: 9223372036854775808"),
            "1:4: out of range for i: 9223372036854775808");
  EXPECT_EQ(ErrorOf(MessageId::kArgument, "i: -9223372036854775809"),
            "1:4: out of range for i: -9223372036854775809");
  EXPECT_EQ(ErrorOf(MessageId::kArgument, "i: 99999999999999999999"),
            "1:4: out of range for i: \"99999999999999999999\"");
  EXPECT_EQ(ErrorOf(MessageId::kDeviceOption, "device_id: 2147483648"),
            "1:12: out of range for device_id: 2147483648");
  EXPECT_EQ(ErrorOf(MessageId::kDeviceOption, "random_seed: -1"), "1:14: out of range for random_seed: -1");
  EXPECT_EQ(ErrorOf(MessageId::kArgument, "i: 1.5"), "1:4: expected a whole number for i, found \"1.5\"");
  EXPECT_EQ(ErrorOf(MessageId::kArgument, "i: 08"), "1:4: out of range for i: \"08\"");
}

TEST(Text, Floats) {
  EXPECT_EQ(
      RereadArg("floats: [1, 1., .5, 1e3, -1.5E-3, 2f, 3.F, inf, -Infinity, nan, 1e400, 0]"),
      "floats: 1\nfloats: 1\nfloats: 0.5\nfloats: 1000\nfloats: -0.0015\nfloats: 2\nfloats: 3\nfloats: inf\n"
      "floats: -inf\nfloats: nan\nfloats: inf\nfloats: 0\n");
  EXPECT_EQ(RereadArg("f: 3.4028235e38"), "f: 3.40282347e+38\n");
  EXPECT_EQ(RereadArg("f: -0.0"), "f: -0\n");
  EXPECT_EQ(ErrorOf(MessageId::kArgument, "f: 1.2.3"), "1:4: expected a number for f, found \"1.2.3\"");
  EXPECT_EQ(ErrorOf(MessageId::kArgument, "f: 0x1"), "1:4: expected a number for f, found \"0x1\"");
  EXPECT_EQ(ErrorOf(MessageId::kArgument, "f: x"), "1:4: expected a number for f, found \"x\"");
}

TEST(Text, BooleansAndEnums) {
  for (const char* yes : {"true", "True", "t", "1"})
    EXPECT_EQ(Reread(MessageId::kOperatorDef, StrCat("is_gradient_op: ", yes)), "is_gradient_op: true\n");
  for (const char* no : {"false", "False", "f", "0"})
    EXPECT_EQ(Reread(MessageId::kOperatorDef, StrCat("is_gradient_op: ", no)), "is_gradient_op: false\n");
  EXPECT_EQ(ErrorOf(MessageId::kOperatorDef, "is_gradient_op: yes"),
            "1:17: expected true or false for is_gradient_op, found \"yes\"");
  EXPECT_EQ(Reread(MessageId::kTensorProto, "data_type: INT64 storage_type: 2"),
            "data_type: INT64\nstorage_type: RAW\n");
  EXPECT_EQ(ErrorOf(MessageId::kTensorProto, "data_type: INT46"),
            "1:12: \"INT46\" is no value of data_type; did you mean INT16?");
  // A number without a name is kept, as a field that is not known, which is what protobuf makes of it.
  EXPECT_EQ(Reread(MessageId::kTensorProto, "data_type: 77"), "2: 77\n");
}

TEST(Text, Messages) {
  const std::string expected = "op {\n  type: \"A\"\n}\nop {\n  type: \"B\"\n}\n";
  EXPECT_EQ(Reread(MessageId::kNetDef, "op { type: 'A' } op { type: 'B' }"), expected);
  EXPECT_EQ(Reread(MessageId::kNetDef, "op: { type: 'A' }; op: < type: 'B', >,"), expected);
  EXPECT_EQ(Reread(MessageId::kNetDef, "op: [ { type: 'A' }, < type: 'B'; > ]"), expected);
  EXPECT_EQ(Reread(MessageId::kNetDef, "op [ { type: 'A' }, { type: 'B' } ]"), expected);
  EXPECT_EQ(Reread(MessageId::kNetDef, "op{}op<>external_input:[]"), "op {\n}\nop {\n}\n");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "op { type: 'A' >"),
            "1:16: expected a field of OperatorDef, found \">\"");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "op { type: 'A'"),
            "1:12: expected \"}\" to end OperatorDef, found the end of the text");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "op: 1"), "1:5: expected \"{\" after op, found \"1\"");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "name 'x'"), "1:6: expected \":\" after name, found 'x'");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "name: 'x' name: 'y'"), "1:11: name is given twice; NetDef has one");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "external_input: ['a' 'b', 'c'"),
            "1:27: expected \",\" or \"]\" in a list, found the end of the text");
}

TEST(Text, FieldsAreSortedAndListsPacked) {
  const Result<std::string> wire = TextToWire(
      MessageId::kTensorProto, "data_type: FLOAT float_data: 1 float_data: 2 dims: 3 float_data: [4, 5]");
  ASSERT_TRUE(wire.has_value()) << wire.error().message;
  EXPECT_EQ(QuoteBytes(*wire), QuoteBytes(std::string("\x08\x03\x10\x01\x1a\x10"
                                                      "\0\0\x80\x3f\0\0\0\x40\0\0\x80\x40\0\0\xa0\x40",
                                                      22)));
}

TEST(Text, OldSpellingsAreReadAndNoted) {
  std::vector<Note> notes;
  const Result<std::string> wire =
      TextToWire(MessageId::kNetDef,
                 "net_type: 'dag'\n"
                 "device_option { device_type: CUDA cuda_gpu_id: 2 }\n"
                 "op { device_option { device_type: PROTO_HIP cuda_gpu_id: 1 } }\n"
                 "op { device_option { device_type: CUDA } }\n",
                 &notes);
  ASSERT_TRUE(wire.has_value()) << wire.error().message;
  EXPECT_EQ(WireToText(MessageId::kNetDef, *wire),
            "op {\n  device_option {\n    device_type: 6\n    device_id: 1\n  }\n}\n"
            "op {\n  device_option {\n    device_type: 1\n  }\n}\n"
            "type: \"dag\"\ndevice_option {\n  device_type: 1\n  device_id: 2\n}\n");
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_EQ(notes[0].message, "net_type is an old name, read as NetDef.type");
  EXPECT_EQ(notes[1].message, "device_type: CUDA is an old way to write 1");
  EXPECT_EQ(notes[1].line, 2);
  EXPECT_EQ(notes[1].column, 30);
  EXPECT_EQ(notes[1].times, 2);
  EXPECT_EQ(notes[2].message, "cuda_gpu_id is an old name, read as DeviceOption.device_id");
  EXPECT_EQ(notes[2].line, 2);
  EXPECT_EQ(notes[2].column, 35);
  EXPECT_EQ(notes[3].message, "device_type: PROTO_HIP is an old way to write 6");
  EXPECT_EQ(ErrorOf(MessageId::kDeviceOption, "device_type: TPU"),
            "1:14: \"TPU\" is no value of device_type; did you mean CPU?");
}

TEST(Text, UnknownNamesAreLeftOutAndNoted) {
  std::vector<Note> notes;
  const Result<std::string> wire =
      TextToWire(MessageId::kNetDef,
                 "name: 'n' exernal_input: 'x' colour { a: 1 b { c: 'd' 'e' } }\n"
                 "[some.extension] { x: -1 } list: [1, 2, {}] word: SOME\n"
                 "exernal_input: 'y'",
                 &notes);
  ASSERT_TRUE(wire.has_value()) << wire.error().message;
  EXPECT_EQ(WireToText(MessageId::kNetDef, *wire), "name: \"n\"\n");
  ASSERT_EQ(notes.size(), 5u);
  EXPECT_EQ(notes[0].message,
            "NetDef has no field \"exernal_input\", left out; did you mean external_input?");
  EXPECT_EQ(notes[0].times, 2);
  EXPECT_EQ(notes[2].message, "NetDef has no field \"[some.extension]\", left out");
}

TEST(Text, UnknownNumbersSurvive) {
  const std::string text =
      "name: \"n\"\n15: 7\n16: 0x00000001\n17: 0x0000000000000002\n18 {\n  1: \"x\"\n}\n19: \"\\n\"\n";
  EXPECT_EQ(Reread(MessageId::kNetDef, text), text);
  const Result<Net> net = ParseNetText(text);
  ASSERT_TRUE(net.has_value());
  EXPECT_EQ(NetToText(*net), text);
  // A field that the table knows with another type of value is one of them too.
  EXPECT_EQ(Reread(MessageId::kNetDef, "2: 5"), "2: 5\n");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "15: x"),
            "1:5: expected a number, a string or a message for field 15, found \"x\"");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "0: 1"), "1:1: expected a field of NetDef, found \"0\"");
}

TEST(Text, ErrorsShowTheLineAndACaret) {
  const Result<std::string> wire = TextToWire(MessageId::kNetDef, "name: \"n\"\nop {\n\ttype: Relu\n}\n");
  ASSERT_FALSE(wire.has_value());
  EXPECT_EQ(wire.error().message, "3:8: expected a string for type, found \"Relu\"\n\ttype: Relu\n\t      ^");
  EXPECT_EQ(wire.error().code, ErrorCode::kParse);
  // Long lines are cut around the place.
  const Result<std::string> cut =
      TextToWire(MessageId::kNetDef, StrCat("name: '", std::string(200, 'x'), "' !", std::string(200, 'y')));
  ASSERT_FALSE(cut.has_value());
  const std::vector<std::string_view> lines = StrSplit(cut.error().message, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "1:210: expected a field of NetDef, found \"!\"");
  EXPECT_EQ(lines[1], StrCat("...", std::string(58, 'x'), "' !", std::string(59, 'y'), "..."));
  EXPECT_EQ(lines[2], StrCat(std::string(63, ' '), "^"));
}

TEST(Text, BrokenStrings) {
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "name: 'abc\n'"),
            "1:7: the string for name does not end on its line");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "name: 'abc\\'"),
            "1:7: the string for name does not end on its line");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "name: 'a' 'abc"),
            "1:11: the string for name does not end on its line");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "name: 'a\\q'"), "1:9: this escape does not exist");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "name: '\\xg'"), "1:8: this escape does not exist");
  EXPECT_EQ(ErrorOf(MessageId::kNetDef, "name: '\\u12'"), "1:8: this escape does not exist");
}

TEST(Text, TextsAboveOneMegabyteAreMeasuredFirst) {
  std::string text = "name: \"big\"\n";
  while (text.size() < 3 << 20) text += "op {\n  input: \"x\"\n  output: \"y\"\n  type: \"Relu\"\n}\n";
  const Result<Net> net = ParseNetText(text);
  ASSERT_TRUE(net.has_value()) << net.error().message;
  EXPECT_TRUE(NetToText(*net) == text);
  text += "op {\n  type: 5\n}\n";
  const Result<Net> broken = ParseNetText(text);
  ASSERT_FALSE(broken.has_value());
  EXPECT_NE(broken.error().message.find(":9: expected a string for type, found \"5\""), std::string::npos)
      << broken.error().message;
}

}  // namespace
}  // namespace weft
