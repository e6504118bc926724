// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace weft {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  JsonWriter(out).String(text);
  return out;
}

TEST(Json, CommasComeByThemselves) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("a").BeginArray().Int(1).Int(-2).BeginArray().EndArray().EndArray();
  json.Key("b")
      .BeginObject()
      .EndObject()
      .Key("c")
      .Null()
      .Key("d")
      .Bool(true)
      .Key("e")
      .Double(0.5)
      .EndObject();
  EXPECT_EQ(out, R"({"a":[1,-2,[]],"b":{},"c":null,"d":true,"e":0.5})");
}

TEST(Json, EscapesWhatJsonMustNotHold) {
  EXPECT_EQ(Quoted("a\"b\\c\n\t\x01\x7f"), R"("a\"b\\c\n\t\u0001\u007f")");
  EXPECT_EQ(Quoted("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(Json, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(Quoted("a\xff"
                   "b"),
            R"("a\ufffdb")");
  EXPECT_EQ(Quoted("\xc3"), R"("\ufffd")");                      // cut off
  EXPECT_EQ(Quoted("\xc0\x80"), R"("\ufffd\ufffd")");            // overlong
  EXPECT_EQ(Quoted("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // a surrogate
  EXPECT_EQ(Quoted("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");
}

TEST(Json, NumbersThatJsonLacksAreNull) {
  std::string out;
  JsonWriter json(out);
  json.BeginArray()
      .Double(std::numeric_limits<double>::infinity())
      .Double(std::numeric_limits<double>::quiet_NaN());
  json.Double(1e300).EndArray();
  EXPECT_EQ(out, "[null,null,1e+300]");
}

}  // namespace
}  // namespace weft
