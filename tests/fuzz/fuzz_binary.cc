// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes, opened by their content and read as a net: what opens is written, and reads back as the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "proto/codec.h"
#include "proto/document.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weft;
  const Bytes bytes(std::string(reinterpret_cast<const char*>(data), size));
  if (const Result<Document> document = Open(bytes); document && document->form != Document::kMiniDb) {
    const std::string binary = *Save(*document, Document::kBinary);
    const Result<Document> again = Open(Bytes(binary), {.message = document->message});
    // A document without any field is an empty file, which is refused.
    WEFT_CHECK(binary.empty() || again.has_value() || document->message == MessageId::kNone);
    Save(*document, Document::kText).value();
  }
  if (const Result<Net> net = ParseNet(bytes)) {
    const std::string written = SerializeNet(*net);
    const Result<Net> again = ParseNet(Bytes(written));
    WEFT_CHECK(again.has_value());
    WEFT_CHECK(SerializeNet(*again) == written);
    // Unknown bytes may be shown as deeper messages than text may hold.
    const Result<Net> from_text = ParseNetText(NetToText(*net));
    WEFT_CHECK(from_text.has_value() || from_text.error().code == ErrorCode::kLimit);
    if (from_text) {
      const Result<Net> settled = ParseNetText(NetToText(*from_text));
      if (settled) WEFT_CHECK(NetToText(*settled) == NetToText(*from_text));
    }
  }
  if (const Result<Plan> plan = ParsePlan(bytes)) {
    const std::string written = SerializePlan(*plan);
    WEFT_CHECK(SerializePlan(*ParsePlan(Bytes(written))) == written);
  }
  return 0;
}
