// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/proto/reference.h"

#include <google/protobuf/stubs/logging.h>

#include <cmath>
#include <limits>

#include "core/base/check.h"
#include "tests/support/files.h"

namespace weft::test {

namespace pb = google::protobuf;

Reference::Reference() {
  pb::SetLogHandler(nullptr);  // it logs every name that is not UTF-8
  pb::FileDescriptorSet set;
  WEFT_CHECK(set.ParseFromString(ReadFile(WEFT_DESCRIPTOR_SET)));
  WEFT_CHECK(set.file_size() == 1);
  file_ = pool_.BuildFile(set.file(0));
  WEFT_CHECK(file_ != nullptr);
}

const pb::Descriptor* Reference::Find(std::string_view message) const {
  return pool_.FindMessageTypeByName("caffe2." + std::string(message));
}

std::unique_ptr<pb::Message> Reference::New(std::string_view message) const {
  const pb::Descriptor* descriptor = Find(message);
  WEFT_CHECK(descriptor != nullptr);
  return std::unique_ptr<pb::Message>(factory_.GetPrototype(descriptor)->New());
}

std::string Encode(const pb::Message& message) { return message.SerializePartialAsString(); }

std::string Print(const pb::Message& message) {
  std::string text;
  WEFT_CHECK(pb::TextFormat::PrintToString(message, &text));
  return text;
}

namespace {

class Filler {
 public:
  explicit Filler(std::mt19937& random) : random_(random) {}

  void Fill(pb::Message& message, int depth) {
    const pb::Descriptor& descriptor = *message.GetDescriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const pb::FieldDescriptor* field = descriptor.field(i);
      if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE && depth == 0) continue;
      if (Below(3) == 0) continue;
      const int times = field->is_repeated() ? Below(4) : 1;
      for (int k = 0; k < times; ++k) FillField(message, field, depth);
    }
    if (Below(4) == 0) FillUnknown(message);
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  uint64_t Bits() {
    const uint64_t bits = static_cast<uint64_t>(random_()) << 32 | random_();
    switch (Below(6)) {
      case 0:
        return 0;
      case 1:
        return UINT64_MAX;
      case 2:
        return uint64_t{1} << 63;
      case 3:
        return bits >> Below(64);
      default:
        return bits & 0xff;
    }
  }

  double Real() {
    constexpr double kSome[] = {0,
                                -0.0,
                                1,
                                0.1,
                                1e-5,
                                1e10,
                                3.4028234663852886e38,
                                1.17549435e-38,
                                1e-45,
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
    if (Below(2) == 0) return kSome[Below(static_cast<int>(std::size(kSome)))];
    return std::ldexp(static_cast<double>(random_()) / 1e9 - 2, Below(60) - 30);
  }

  std::string Text(bool bytes) {
    std::string text;
    const int size = Below(20) == 0 ? 300 : Below(8);
    for (int i = 0; i < size; ++i) {
      if (bytes) {
        text += static_cast<char>(Below(256));
      } else if (Below(12) == 0) {
        text += "\u00e9";
      } else {
        text += "ab_/:0'\"\\\n\t "[Below(12)];
      }
    }
    return text;
  }

  void FillField(pb::Message& message, const pb::FieldDescriptor* field, int depth) {
    const pb::Reflection& reflection = *message.GetReflection();
    const bool many = field->is_repeated();
    switch (field->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_INT32: {
        const auto value = static_cast<int32_t>(Bits());
        many ? reflection.AddInt32(&message, field, value) : reflection.SetInt32(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_INT64: {
        const auto value = static_cast<int64_t>(Bits());
        many ? reflection.AddInt64(&message, field, value) : reflection.SetInt64(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_UINT32: {
        const auto value = static_cast<uint32_t>(Bits());
        many ? reflection.AddUInt32(&message, field, value) : reflection.SetUInt32(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_UINT64: {
        const uint64_t value = Bits();
        many ? reflection.AddUInt64(&message, field, value) : reflection.SetUInt64(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_BOOL: {
        const bool value = Below(2) != 0;
        many ? reflection.AddBool(&message, field, value) : reflection.SetBool(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_FLOAT: {
        const auto value = static_cast<float>(Real());
        many ? reflection.AddFloat(&message, field, value) : reflection.SetFloat(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_DOUBLE: {
        const double value = Real();
        many ? reflection.AddDouble(&message, field, value) : reflection.SetDouble(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_ENUM: {
        const int value = field->enum_type()->value(Below(field->enum_type()->value_count()))->number();
        many ? reflection.AddEnumValue(&message, field, value)
             : reflection.SetEnumValue(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_STRING: {
        const std::string value = Text(field->type() == pb::FieldDescriptor::TYPE_BYTES);
        many ? reflection.AddString(&message, field, value) : reflection.SetString(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(many ? *reflection.AddMessage(&message, field) : *reflection.MutableMessage(&message, field),
             depth - 1);
        break;
    }
  }

  void FillUnknown(pb::Message& message) {
    pb::UnknownFieldSet& unknown = *message.GetReflection()->MutableUnknownFields(&message);
    const int number = 30 + Below(1000);
    switch (Below(5)) {
      case 0:
        unknown.AddVarint(number, Bits());
        break;
      case 1:
        unknown.AddFixed32(number, static_cast<uint32_t>(Bits()));
        break;
      case 2:
        unknown.AddFixed64(number, Bits());
        break;
      case 3:
        unknown.AddLengthDelimited(number, Text(true));
        break;
      default:
        unknown.AddGroup(number)->AddVarint(1 + Below(20), Bits());
    }
  }

  std::mt19937& random_;
};

}  // namespace

void FillAtRandom(pb::Message& message, std::mt19937& random, int depth) {
  Filler(random).Fill(message, depth);
}

}  // namespace weft::test
