// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Protobuf itself as the reference: messages of proto/caffe2.proto made at run time with the whole runtime,
// which has reflection and the text format. Native only.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace weft::test {

class Reference {
 public:
  /// Reads the descriptor set that protoc made of caffe2.proto.
  Reference();

  const google::protobuf::FileDescriptor& file() const { return *file_; }
  const google::protobuf::Descriptor* Find(std::string_view message) const;
  std::unique_ptr<google::protobuf::Message> New(std::string_view message) const;

 private:
  google::protobuf::DescriptorPool pool_;
  mutable google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::FileDescriptor* file_;
};

/// The bytes as protobuf writes them; parts of messages are allowed.
std::string Encode(const google::protobuf::Message& message);
/// The text as protobuf's TextFormat prints it.
std::string Print(const google::protobuf::Message& message);

/// Fills fields at random: every kind of value, empty strings, extremes, nested nets. The same seed, the same
/// message.
void FillAtRandom(google::protobuf::Message& message, std::mt19937& random, int depth);

}  // namespace weft::test
