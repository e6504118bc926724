// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The codec beside protobuf itself: the field table against the definition, bytes and text of random messages
// and of the models, and generated lite classes on the same bytes.
#include <gtest/gtest.h>

#include <functional>

#include "core/base/str.h"
#include "proto/caffe2.pb.h"
#include "proto/codec.h"
#include "proto/fields.h"
#include "proto/text.h"
#include "proto/validate.h"
#include "tests/proto/models.h"
#include "tests/proto/reference.h"
#include "tests/support/files.h"

namespace weft {
namespace {

namespace pb = google::protobuf;
using test::Encode;
using test::FillAtRandom;
using test::Print;
using test::Reference;

constexpr int kRounds = 100;

Kind KindOf(const pb::FieldDescriptor& field) {
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_STRING:
      return Kind::kString;
    case pb::FieldDescriptor::TYPE_BYTES:
      return Kind::kBytes;
    case pb::FieldDescriptor::TYPE_INT32:
      return Kind::kInt32;
    case pb::FieldDescriptor::TYPE_INT64:
      return Kind::kInt64;
    case pb::FieldDescriptor::TYPE_UINT32:
      return Kind::kUint32;
    case pb::FieldDescriptor::TYPE_UINT64:
      return Kind::kUint64;
    case pb::FieldDescriptor::TYPE_BOOL:
      return Kind::kBool;
    case pb::FieldDescriptor::TYPE_FLOAT:
      return Kind::kFloat;
    case pb::FieldDescriptor::TYPE_DOUBLE:
      return Kind::kDouble;
    case pb::FieldDescriptor::TYPE_ENUM:
      return Kind::kEnum;
    case pb::FieldDescriptor::TYPE_MESSAGE:
      return Kind::kMessage;
    default:
      ADD_FAILURE() << field.full_name() << " has a type that the table has no kind for";
      return Kind::kString;
  }
}

std::string WithoutPackage(const std::string& full_name) {
  return full_name.substr(std::string("caffe2.").size());
}

void CompareEnum(const pb::EnumDescriptor& descriptor, EnumId id) {
  ASSERT_EQ(GetEnum(id).size(), static_cast<size_t>(descriptor.value_count())) << descriptor.full_name();
  for (int i = 0; i < descriptor.value_count(); ++i) {
    EXPECT_EQ(GetEnum(id)[static_cast<size_t>(i)].name, descriptor.value(i)->name());
    EXPECT_EQ(GetEnum(id)[static_cast<size_t>(i)].number, descriptor.value(i)->number());
  }
}

TEST(FieldTable, AgreesWithTheDefinition) {
  const Reference reference;
  size_t messages = 0;
  const std::function<void(const pb::Descriptor&)> compare = [&](const pb::Descriptor& descriptor) {
    ++messages;
    for (int i = 0; i < descriptor.nested_type_count(); ++i) compare(*descriptor.nested_type(i));
    const MessageId id = FindMessage(WithoutPackage(descriptor.full_name()));
    ASSERT_NE(id, MessageId::kNone) << descriptor.full_name();
    const Message& message = GetMessage(id);
    ASSERT_EQ(message.fields.size(), static_cast<size_t>(descriptor.field_count())) << descriptor.full_name();
    uint32_t last = 0;
    for (const Field& field : message.fields) {
      EXPECT_GT(field.number, last) << message.name << "." << field.name;
      last = field.number;
      EXPECT_EQ(FindField(message, field.number), &field);
      const pb::FieldDescriptor* expected = descriptor.FindFieldByNumber(static_cast<int>(field.number));
      ASSERT_NE(expected, nullptr) << message.name << "." << field.name;
      EXPECT_EQ(field.name, expected->name());
      EXPECT_EQ(field.kind, KindOf(*expected)) << expected->full_name();
      EXPECT_EQ(field.repeated, expected->is_repeated()) << expected->full_name();
      EXPECT_EQ(field.packed, expected->is_packed()) << expected->full_name();
      if (field.kind == Kind::kMessage) {
        EXPECT_EQ(GetMessage(field.message).name, WithoutPackage(expected->message_type()->full_name()));
      }
      if (field.kind == Kind::kEnum) CompareEnum(*expected->enum_type(), field.enumeration);
    }
  };
  for (int i = 0; i < reference.file().message_type_count(); ++i) compare(*reference.file().message_type(i));
  EXPECT_EQ(messages + 1, static_cast<size_t>(MessageId::kCount));
  CompareEnum(*reference.file().FindEnumTypeByName("DeviceTypeProto"), EnumId::kDeviceType);
}

// Calls `check` with random messages of the given type.
template <typename Check>
void ForRandomMessages(std::string_view name, Check check) {
  const Reference reference;
  std::mt19937 random(20);
  for (int round = 0; round < kRounds; ++round) {
    const std::unique_ptr<pb::Message> message = reference.New(name);
    FillAtRandom(*message, random, 4);
    SCOPED_TRACE(StrCat(name, ", round ", round));
    check(*message);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Differential, NetsComeBackByteForByte) {
  ForRandomMessages("NetDef", [](const pb::Message& message) {
    const std::string file = Encode(message);
    const Result<Net> net = ParseNet(Bytes(file));
    ASSERT_TRUE(net.has_value()) << net.error().message;
    EXPECT_EQ(SerializeNet(*net), file);
  });
}

TEST(Differential, PlansComeBackByteForByte) {
  ForRandomMessages("PlanDef", [](const pb::Message& message) {
    const std::string file = Encode(message);
    const Result<Plan> plan = ParsePlan(Bytes(file));
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    EXPECT_EQ(SerializePlan(*plan), file);
  });
}

TEST(Differential, EveryMessagePrintsAsTextFormatPrintsIt) {
  for (size_t id = 1; id < static_cast<size_t>(MessageId::kCount); ++id) {
    const Message& type = GetMessage(static_cast<MessageId>(id));
    ForRandomMessages(type.name, [&](const pb::Message& message) {
      EXPECT_EQ(WireToText(static_cast<MessageId>(id), Encode(message)), Print(message));
    });
  }
}

TEST(Differential, TextFormatsTextIsReadAsTheSameBytes) {
  for (size_t id = 1; id < static_cast<size_t>(MessageId::kCount); ++id) {
    const Message& type = GetMessage(static_cast<MessageId>(id));
    const Reference reference;
    ForRandomMessages(type.name, [&](pb::Message& message) {
      message.DiscardUnknownFields();  // their text does not say what they were
      const std::string text = Print(message);
      const std::unique_ptr<pb::Message> expected = reference.New(type.name);
      pb::TextFormat::Parser parser;
      parser.AllowPartialMessage(true);
      ASSERT_TRUE(parser.ParseFromString(text, expected.get()));
      const Result<std::string> wire = TextToWire(static_cast<MessageId>(id), text);
      ASSERT_TRUE(wire.has_value()) << wire.error().message;
      if (id == static_cast<size_t>(MessageId::kNetDef)) {
        EXPECT_EQ(SerializeNet(*ParseNet(Bytes(*wire))), Encode(*expected));
      }
      EXPECT_EQ(*wire, Encode(*expected));
    });
  }
}

TEST(Differential, MergedAndReorderedMessagesMeanWhatProtobufReads) {
  const Reference reference;
  std::mt19937 random(21);
  for (int round = 0; round < kRounds; ++round) {
    std::string joined;
    for (int i = 0; i < 2; ++i) {
      const std::unique_ptr<pb::Message> part = reference.New("NetDef");
      FillAtRandom(*part, random, 3);
      joined += Encode(*part);
    }
    const std::unique_ptr<pb::Message> expected = reference.New("NetDef");
    ASSERT_TRUE(expected->ParsePartialFromString(joined));
    const Result<Net> net = ParseNet(Bytes(joined));
    ASSERT_TRUE(net.has_value()) << net.error().message;
    EXPECT_EQ(SerializeNet(*net), Encode(*expected)) << round;
  }
}

// What protobuf refuses is refused, what it takes is taken: flipped, cut and repeated bytes of sound
// messages.
TEST(Differential, DamagedBytesAreRefusedWhereProtobufRefusesThem) {
  const Reference reference;
  std::mt19937 random(22);
  int refused = 0, taken = 0;
  for (int round = 0; round < 20 * kRounds; ++round) {
    const std::unique_ptr<pb::Message> message = reference.New("NetDef");
    FillAtRandom(*message, random, 3);
    std::string file = Encode(*message);
    if (file.empty()) continue;
    const size_t at = random() % file.size();
    switch (random() % 3) {
      case 0:
        file[at] = static_cast<char>(file[at] ^ 1 << random() % 8);
        break;
      case 1:
        file.resize(at);
        break;
      default:
        file.insert(at, file.substr(at, random() % 20));
    }
    const std::unique_ptr<pb::Message> read = reference.New("NetDef");
    const bool expected = read->ParsePartialFromString(file);
    const Result<Net> net = ParseNet(Bytes(file));
    ++(expected ? taken : refused);
    ASSERT_EQ(net.has_value(), expected) << round << ": " << (expected ? net.error().message : "");
    if (expected) {
      const std::string written = SerializeNet(*net);
      const std::unique_ptr<pb::Message> again = reference.New("NetDef");
      ASSERT_TRUE(again->ParsePartialFromString(written));
      EXPECT_EQ(Print(*again), Print(*read)) << round;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(taken, 500);
}

TEST(Differential, ModelsAsGeneratedClassesAndTextFormatSeeThem) {
  const Reference reference;
  for (const char* model : test::kModels) {
    const std::string file = test::ReadFile(test::DataPath(StrCat("models/", model, ".pb")));
    const Result<Net> net = ParseNet(Bytes(file));
    ASSERT_TRUE(net.has_value()) << model;
    caffe2::NetDef lite;
    ASSERT_TRUE(lite.ParseFromString(file)) << model;
    ASSERT_EQ(net->ops.size(), static_cast<size_t>(lite.op_size())) << model;
    for (int i = 0; i < lite.op_size(); ++i) {
      const Op& op = net->ops[static_cast<size_t>(i)];
      EXPECT_EQ(net->Str(op.type), lite.op(i).type());
      ASSERT_EQ(op.inputs.size(), static_cast<uint32_t>(lite.op(i).input_size()));
      for (int k = 0; k < lite.op(i).input_size(); ++k)
        EXPECT_EQ(net->Str(op.inputs[static_cast<size_t>(k)]), lite.op(i).input(k));
      EXPECT_EQ(op.args.size(), static_cast<size_t>(lite.op(i).arg_size()));
      EXPECT_EQ(op.device != nullptr, lite.op(i).has_device_option());
    }
    const std::unique_ptr<pb::Message> whole = reference.New("NetDef");
    ASSERT_TRUE(whole->ParseFromString(file)) << model;
    EXPECT_TRUE(NetToText(*net) == Print(*whole)) << model;
  }
}

}  // namespace
}  // namespace weft
