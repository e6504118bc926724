// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening files by their content: each kind of file, each kind of stranger, and what is said about them.
#include "proto/document.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "proto/text.h"
#include "tests/support/files.h"

namespace weft {
namespace {

struct Example {
  MessageId message;
  const char* text;
};

constexpr Example kExamples[] = {
    {MessageId::kNetDef,
     "name: \"n\" op { input: \"x\" output: \"y\" type: \"Relu\" } external_input: \"x\""},
    {MessageId::kNetDef, "name: \"only a name\""},
    {MessageId::kNetDef,
     "op { output: \"w\" type: \"GivenTensorFill\" arg { name: \"values\" floats: [1, 2] } }"},
    {MessageId::kOperatorDef, "input: \"X\" output: \"Y\" name: \"\" type: \"Relu\""},
    {MessageId::kOperatorDef, "output: \"Y\" type: \"ConstantFill\" arg { name: \"value\" f: 1 }"},
    {MessageId::kPlanDef,
     "name: \"p\" network { name: \"n\" op { type: \"Iter\" output: \"i\" } } execution_step { name: \"s\" "
     "network: "
     "\"n\" num_iter: 3 }"},
    {MessageId::kMetaNetDef,
     "nets { key: \"predict_net\" value { name: \"n\" op { input: \"x\" output: \"y\" type: \"Relu\" } } }"
     " blobs { key: \"INPUTS_BLOB_TYPE\" value: \"x\" } modelInfo { project: \"p\" modelClass: \"c\" }"
     " plans { key: \"plan\" value { network { name: \"m\" op { type: \"Iter\" } } } }"},
    {MessageId::kTensorProtos,
     "protos { dims: [2, 2] data_type: FLOAT float_data: [1, 2, 3, 4] name: \"w\" }"},
    {MessageId::kTensorProto, "dims: 2 data_type: INT32 int32_data: [5, 6] name: \"t\""},
    {MessageId::kBlobProto,
     "name: \"w\" type: \"Tensor\" tensor { dims: 1 data_type: FLOAT float_data: 3 name: \"w\" }"},
};

TEST(Open, TellsMessagesApartInTextAndBinary) {
  for (const Example& example : kExamples) {
    SCOPED_TRACE(example.text);
    const Result<Document> text = Open(Bytes(std::string(example.text)));
    ASSERT_TRUE(text.has_value()) << text.error().message;
    EXPECT_EQ(text->message, example.message) << DescribeKind(*text);
    EXPECT_EQ(text->form, Document::kText);
    EXPECT_TRUE(text->notes.empty());
    const Result<std::string> wire = Save(*text, Document::kBinary);
    ASSERT_TRUE(wire.has_value());
    const Result<Document> binary = Open(Bytes(*wire));
    ASSERT_TRUE(binary.has_value()) << binary.error().message;
    EXPECT_EQ(binary->message, example.message) << DescribeKind(*binary);
    EXPECT_EQ(binary->form, Document::kBinary);
    EXPECT_TRUE(binary->notes.empty());
    EXPECT_EQ(*Save(*binary, Document::kBinary), *wire);
    EXPECT_EQ(*Save(*binary, Document::kText), *Save(*text, Document::kText));
  }
}

TEST(Open, FindsTheNetsWithin) {
  const Result<Document> meta = Open(Bytes(std::string(kExamples[6].text)));
  ASSERT_TRUE(meta.has_value());
  ASSERT_EQ(meta->nets.size(), 1u);
  EXPECT_EQ(meta->nets[0].key, "predict_net");
  EXPECT_EQ(meta->nets[0].net.ops.size(), 1u);
  ASSERT_EQ(meta->plans.size(), 1u);
  EXPECT_EQ(meta->plans[0].key, "plan");
  ASSERT_EQ(meta->plans[0].plan.networks.size(), 1u);
  const Result<Document> op = Open(Bytes(std::string(kExamples[3].text)));
  ASSERT_TRUE(op.has_value());
  ASSERT_EQ(op->nets.size(), 1u);
  EXPECT_EQ(op->nets[0].net.ops.size(), 1u);
}

// The message of the error; "opened" when there is none.
std::string Refusal(std::string bytes) {
  const Result<Document> document = Open(Bytes(std::move(bytes)));
  return document ? "opened as " + DescribeKind(*document) : document.error().message;
}

TEST(Open, KnowsStrangers) {
  EXPECT_EQ(Refusal(""), "the file is empty");
  EXPECT_EQ(Refusal(" \n\t\n"), "the file holds nothing but white space");
  EXPECT_EQ(Refusal("version https://git-lfs.github.com/spec/v1\noid sha256:d811\nsize 6181001\n"),
            "this is a Git LFS pointer, not the model itself (oid sha256:d811, size 6181001); fetch it with "
            "\"git lfs "
            "pull\"");
  for (const char* page :
       {"<!DOCTYPE html>\n<html>", "\n  <html lang=en>", "<HTML>", "\xef\xbb\xbf<!doctype html>"})
    EXPECT_EQ(Refusal(page), "this is an HTML page, not a model; a download may have ended on a web page");
  EXPECT_EQ(Refusal("<?xml version='1.0'?>"), "this is an XML document, not a model");
  EXPECT_EQ(Refusal(std::string("PK\3\4....", 8)),
            "this is a zip archive (a PyTorch model, perhaps), not a Caffe2 model");
  EXPECT_EQ(Refusal("\x1f\x8b\x08"), "this is gzip data; unpack it first, not a Caffe2 model");
  EXPECT_EQ(Refusal("\x93NUMPY\x01"), "this is a NumPy array, not a Caffe2 model");
}

TEST(Open, SaysBothReasons) {
  EXPECT_EQ(Refusal("name: \"n\"\nop {\n  type 5\n}\n"),
            "cannot be read as text: 3:8: expected \":\" after type, found \"5\"\n"
            "  type 5\n"
            "       ^\n"
            "nor as binary: NetDef, byte 0: wire type 6 does not exist");
  EXPECT_EQ(Refusal("hello world"),
            "cannot be read as text: 1:1: expected a field of NetDef, found \"hello\"\n"
            "hello world\n"
            "^\n"
            "nor as binary: NetDef, byte 2: the end of group 13, which was never begun");
  EXPECT_EQ(Refusal("colour: 1\n"),
            "cannot be read as text: it has none of the fields of a Caffe2 message\n"
            "nor as binary: NetDef, byte 0: a group that is malformed, not ended, or nested too deeply");
}

TEST(Open, SaysWhereABinaryFileIsCutOff) {
  const std::string file = test::ReadFile(test::DataPath("models/dlrm_26.pb"));
  const std::string refusal = Refusal(file.substr(0, 3000));
  EXPECT_EQ(refusal.substr(0, refusal.find('\n')),
            "cannot be read as binary: NetDef.op[42], byte 2900: it is said to have 382 bytes, but 97 are "
            "left in the "
            "file; is the file cut off?");
}

TEST(Open, SuspectsNewlineTranslationAndTextDecoding) {
  const std::string file = test::ReadFile(test::DataPath("models/dlrm_26.pb"));
  std::string translated, decoded;
  for (const char c : file) {
    if (c == '\n') translated += '\r';
    translated += c;
    decoded += static_cast<unsigned char>(c) >= 0x80 ? std::string("\xef\xbf\xbd") : std::string(1, c);
  }
  EXPECT_NE(Refusal(translated).find("damaged by newline translation"), std::string::npos)
      << Refusal(translated);
  EXPECT_NE(Refusal(decoded).find("read and written as text"), std::string::npos) << Refusal(decoded);
}

TEST(Open, NotesWhatIsOdd) {
  const std::string text = "\xef\xbb\xbfname: \"n\" op { type: \"Relu\" }";
  const Result<Document> document = Open(Bytes(text), {.name = "predict_net.pb"});
  ASSERT_TRUE(document.has_value()) << document.error().message;
  ASSERT_EQ(document->notes.size(), 1u);
  EXPECT_EQ(document->notes[0].message, "the file's name promises binary, but it holds text");

  const Result<std::string> wire =
      TextToWire(MessageId::kNetDef, "name: \"n\" op { type: \"\\377\" output: \"y\" 70: 1 } 71: \"x\"");
  const Result<Document> binary = Open(Bytes(*wire), {.name = "net.pbtxt"});
  ASSERT_TRUE(binary.has_value()) << binary.error().message;
  ASSERT_EQ(binary->notes.size(), 3u);
  EXPECT_EQ(binary->notes[0].message, "NetDef has fields that are not known, kept");
  EXPECT_EQ(binary->notes[0].times, 2);
  EXPECT_EQ(binary->notes[1].message, "NetDef has names that are not plain UTF-8 text, kept as they are");
  EXPECT_EQ(binary->notes[2].message, "the file's name promises text, but it holds a binary message");
  EXPECT_EQ(*Save(*binary, Document::kBinary), *wire);
}

TEST(Open, ReadsAsWhatItIsTold) {
  const Result<Document> document = Open(Bytes(std::string("name: \"n\"")), {.message = MessageId::kPlanDef});
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->message, MessageId::kPlanDef);
  EXPECT_EQ(*Save(*document, Document::kText), "name: \"n\"\n");
}

TEST(MiniDb, RecordsAndThePredictorWithin) {
  const Result<std::string> meta = TextToWire(MessageId::kMetaNetDef, kExamples[6].text);
  std::string blob = *TextToWire(MessageId::kBlobProto, "name: \"!!META_NET_DEF\" type: \"std::string\"");
  blob += StrCat("\x22", static_cast<char>(0x80 | (meta->size() & 0x7f)),
                 static_cast<char>(meta->size() >> 7), *meta);
  std::string db;
  AppendMiniDbRecord(db, "!!META_NET_DEF", blob);
  AppendMiniDbRecord(db, "w", *TextToWire(MessageId::kBlobProto, kExamples[9].text));
  const Result<Document> document = Open(Bytes(db));
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(DescribeKind(*document), "minidb of 2 records (BlobProto)");
  EXPECT_EQ(document->records[1].key, "w");
  ASSERT_EQ(document->nets.size(), 1u);
  EXPECT_EQ(document->nets[0].key, "predict_net");

  const size_t second = 8 + 14 + blob.size();
  EXPECT_EQ(Refusal(db.substr(0, db.size() - 1)),
            StrCat("minidb, byte ", second, ": record 1 is said to have 1 + ", db.size() - second - 9,
                   " bytes, but ", db.size() - second - 9, " are left"));
  EXPECT_EQ(Refusal(db + "abc"),
            StrCat("minidb, byte ", db.size(), ": record 2 has only 3 bytes of its lengths"));
}

}  // namespace
}  // namespace weft
