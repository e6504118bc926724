// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text, read as a net, a plan and a predictor: what is read goes to bytes and to text and back unchanged.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "proto/codec.h"
#include "proto/text.h"
#include "proto/validate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const MessageId id : {MessageId::kPlanDef, MessageId::kMetaNetDef, MessageId::kTensorProto}) {
    std::vector<Note> notes;
    if (const Result<std::string> wire = TextToWire(id, text, &notes)) WireToText(id, *wire);
  }
  const Result<Net> net = ParseNetText(text);
  if (!net) {
    WEFT_CHECK(!net.error().message.empty());
    return 0;
  }
  const std::string printed = NetToText(*net);
  const Result<Net> from_binary = ParseNet(Bytes(SerializeNet(*net)));
  WEFT_CHECK(from_binary.has_value());
  WEFT_CHECK(NetToText(*from_binary) == printed);
  const Result<Net> from_text = ParseNetText(printed);
  WEFT_CHECK(from_text.has_value() || from_text.error().code == ErrorCode::kLimit);
  return 0;
}
