// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/document.h"

#include "core/base/str.h"
#include "proto/read.h"
#include "proto/sniff.h"
#include "proto/text.h"
#include "proto/validate.h"
#include "proto/wire.h"

namespace weft {

namespace {

using internal::Reader;

// Where a predictor's exporter puts the MetaNetDef among the blobs of a database.
constexpr std::string_view kMetaNetKey = "!!META_NET_DEF";

constexpr uint32_t LengthTag(uint32_t number) { return Tag(number, WireType::kLength); }

// Reads a sound message into the document's nets and plans.
void Fill(Document& document, MessageId message, const Bytes& wire) {
  Reader reader(wire.owner(), document.symbols);
  switch (message) {
    case MessageId::kNetDef:
      document.nets.push_back({"", reader.ReadNet(wire.view())});
      return;
    case MessageId::kOperatorDef: {
      Net net(document.symbols);
      reader.ReadOp(wire.view(), net.ops.emplace_back());
      document.nets.push_back({"", std::move(net)});
      return;
    }
    case MessageId::kPlanDef:
      document.plans.push_back({"", reader.ReadPlan(wire.view())});
      return;
    case MessageId::kMetaNetDef:
      break;
    default:
      document.wire = wire;
      return;
  }
  document.wire = wire;
  WireField entry, f;
  for (WireCursor cursor(wire.view()); cursor.Next(entry);) {
    const bool net = entry.tag == LengthTag(meta_field::kNets);
    if (!net && entry.tag != LengthTag(meta_field::kPlans)) continue;
    std::string key;
    std::string_view value;
    for (WireCursor fields(entry.bytes); fields.Next(f);) {
      if (f.tag == LengthTag(map_field::kKey)) key = f.bytes;
      if (f.tag == LengthTag(map_field::kValue)) value = f.bytes;
    }
    if (net) {
      document.nets.push_back({std::move(key), reader.ReadNet(value)});
    } else {
      document.plans.push_back({std::move(key), reader.ReadPlan(value)});
    }
  }
}

constexpr std::string_view kNothingKnown = "it has none of the fields of a Caffe2 message";

// `guessed`: the bytes are only thought to be this message, and must have some field of it.
Result<void> FillBinary(Document& document, MessageId message, const Bytes& wire, bool guessed) {
  WireFit fit;
  WEFT_TRY_VOID(Validate(message, wire.view(), &fit));
  if (guessed && fit.known == 0) return Error{ErrorCode::kParse, std::string(kNothingKnown)};
  const std::string_view name = GetMessage(message).name;
  const auto count = [](uint64_t n) { return static_cast<int>(n < INT32_MAX ? n : INT32_MAX); };
  if (fit.unknown > 0)
    document.notes.push_back(
        {StrCat(name, " has fields that are not known, kept"), 0, 0, count(fit.unknown)});
  if (fit.odd_text > 0) {
    document.notes.push_back({StrCat(name, " has names that are not plain UTF-8 text, kept as they are"), 0,
                              0, count(fit.odd_text)});
  }
  Fill(document, message, wire);
  return {};
}

Result<void> FillText(Document& document, MessageId message, std::string_view text) {
  WEFT_TRY(std::string encoded, TextToWire(message, text, &document.notes));
  const Bytes wire(std::move(encoded));
  WEFT_TRY_VOID(Validate(message, wire.view()));
  Fill(document, message, wire);
  return {};
}

// The content of the BlobProto that holds a predictor's MetaNetDef; empty when it is none.
std::string_view MetaNetContent(std::string_view blob) {
  if (!Validate(MessageId::kBlobProto, blob)) return {};
  WireField f;
  for (WireCursor cursor(blob); cursor.Next(f);)
    if (f.tag == LengthTag(blob_field::kContent)) return f.bytes;
  return {};
}

Result<Document> OpenMiniDb(Document document, const Bytes& bytes) {
  document.form = Document::kMiniDb;
  WEFT_TRY(document.records, ParseMiniDb(bytes));
  for (const MiniDbRecord& record : document.records) {
    if (record.key == kMetaNetKey) {
      const std::string_view meta = MetaNetContent(record.value.view());
      if (meta.empty()) continue;
      const Result<void> filled =
          FillBinary(document, MessageId::kMetaNetDef, Bytes(bytes.owner(), meta), false);
      if (!filled)
        document.notes.push_back(
            {StrCat("record ", record.key, " is left as it is: ", filled.error().message)});
    }
  }
  // All records of a database are alike, but for the exporter's own.
  for (const MiniDbRecord& record : document.records) {
    const MessageId message = internal::GuessBinaryMessage(record.value.view());
    if (!Validate(message, record.value.view())) continue;
    document.message = message;
    break;
  }
  return document;
}

bool PromisesText(std::string_view name) {
  return name.ends_with(".pbtxt") || name.ends_with(".prototxt") || name.ends_with(".txt");
}
bool PromisesBinary(std::string_view name) { return name.ends_with(".pb"); }

}  // namespace

Result<Document> Open(const Bytes& bytes, const OpenOptions& options) {
  std::string_view view = bytes.view();
  if (view.size() > kMaxMessageBytes && !LooksLikeMiniDb(view)) {
    return Error{ErrorCode::kLimit,
                 StrCat("the file has ", FormatBytes(view.size()), "; a protobuf message has at most 2 GB")};
  }
  // Who says what the file is knows better than a guess: a net may have a name that begins like a web page.
  const bool told = options.message != MessageId::kNone;
  if (const std::optional<std::string> stranger = internal::KnownStranger(view);
      stranger && (!told || view.empty()))
    return Error{ErrorCode::kParse, *stranger};
  Document document;
  document.symbols = options.symbols ? options.symbols : std::make_shared<SymbolTable>();
  if (!told && LooksLikeMiniDb(view)) return OpenMiniDb(std::move(document), bytes);

  const bool text_first = internal::LooksLikeText(view);
  std::string reasons;
  for (const bool text : {text_first, !text_first}) {
    Document attempt = document;
    attempt.form = text ? Document::kText : Document::kBinary;
    attempt.message = options.message;
    if (text && view.starts_with("\xef\xbb\xbf")) view.remove_prefix(3);
    if (attempt.message == MessageId::kNone)
      attempt.message = text ? internal::GuessTextMessage(view) : internal::GuessBinaryMessage(view);
    const bool guessed = attempt.message != MessageId::kNone;
    if (!guessed) attempt.message = MessageId::kNetDef;
    Result<void> filled =
        text ? FillText(attempt, attempt.message, view) : FillBinary(attempt, attempt.message, bytes, !told);
    if (filled && guessed) {
      if (text ? PromisesBinary(options.name) : PromisesText(options.name))
        attempt.notes.push_back({StrCat("the file's name promises ", text ? "binary" : "text",
                                        ", but it holds ", text ? "text" : "a binary message")});
      return attempt;
    }
    std::string reason = filled ? std::string(kNothingKnown) : filled.error().message;
    if (!text && !text_first) reason += internal::DamageHint(view);
    StrAppend(reasons, reasons.empty() ? "cannot be read " : "\nnor ",
              text ? "as text: " : "as binary: ", reason);
  }
  return Error{ErrorCode::kParse, reasons};
}

Result<std::string> Save(const Document& document, Document::Form form) {
  if (document.form == Document::kMiniDb || form == Document::kMiniDb)
    return Error{ErrorCode::kInvalidArgument,
                 "a minidb is a list of records; it cannot be converted as one message"};
  std::string wire;
  switch (document.message) {
    case MessageId::kNetDef:
      wire = SerializeNet(document.nets.at(0).net);
      break;
    case MessageId::kOperatorDef:
      wire = SerializeOp(*document.symbols, document.nets.at(0).net.ops.at(0));
      break;
    case MessageId::kPlanDef:
      wire = SerializePlan(document.plans.at(0).plan);
      break;
    default:
      wire = document.wire.view();
  }
  return form == Document::kText ? WireToText(document.message, wire) : wire;
}

std::string DescribeKind(const Document& document) {
  const std::string_view name = GetMessage(document.message).name;
  switch (document.form) {
    case Document::kBinary:
      return StrCat(name, ", binary");
    case Document::kText:
      return StrCat(name, ", text");
    case Document::kMiniDb:
      break;
  }
  return StrCat("minidb of ", document.records.size(), " records",
                name.empty() ? std::string() : StrCat(" (", name, ")"));
}

}  // namespace weft
