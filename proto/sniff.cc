// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/sniff.h"

#include <algorithm>

#include "core/base/str.h"
#include "proto/text_lexer.h"
#include "proto/validate.h"

namespace weft::internal {

namespace {

// What a file may hold, likeliest first.
constexpr MessageId kCandidates[] = {
    MessageId::kNetDef,        MessageId::kOperatorDef,       MessageId::kPlanDef,
    MessageId::kMetaNetDef,    MessageId::kTensorProtos,      MessageId::kTensorProto,
    MessageId::kBlobProto,     MessageId::kQTensorProto,      MessageId::kTensorShapes,
    MessageId::kDBReaderProto, MessageId::kTensorBoundShapes, MessageId::kProfDAGProtos,
    MessageId::kDeviceOption,  MessageId::kArgument,          MessageId::kExecutionStep,
};

constexpr uint64_t kSampleFields = 5000;
constexpr int64_t kOdd = 1 << 30;  // what does not fit altogether scores below what does
constexpr int64_t kNetBonus = 16;  // an odd file is taken for a net unless much speaks for another message
constexpr size_t kSampleDamage = 16 << 20;
constexpr size_t kSampleText = 4 << 20;

bool HoldsNets(MessageId message) {
  return message == MessageId::kNetDef || message == MessageId::kOperatorDef ||
         message == MessageId::kPlanDef || message == MessageId::kMetaNetDef;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool StartsWithNoCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char p, char t) { return p == Lower(t); });
}

// "12.3 MB" of a line "size 12345678".
std::string LfsDetails(std::string_view bytes) {
  std::string details;
  for (const std::string_view line : StrSplit(bytes, '\n')) {
    if (line.starts_with("oid ") || line.starts_with("size "))
      StrAppend(details, details.empty() ? "" : ", ", line);
  }
  return details;
}

struct Magic {
  std::string_view bytes;
  std::string_view what;
};
constexpr Magic kMagics[] = {
    {std::string_view("PK\3\4", 4), "a zip archive (a PyTorch model, perhaps)"},
    {"\x1f\x8b", "gzip data; unpack it first"},
    {"BZh", "bzip2 data; unpack it first"},
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "xz data; unpack it first"},
    {"\x89HDF\r\n", "an HDF5 file (a Keras model, perhaps)"},
    {"\x93NUMPY", "a NumPy array"},
    {"\x89PNG", "a PNG picture"},
    {"\xff\xd8\xff", "a JPEG picture"},
    {"%PDF", "a PDF document"},
    {"\x7f"
     "ELF",
     "a program"},
    {"SQLite format 3", "an SQLite database"},
    {"{\"", "JSON"},
    {"{\n", "JSON"},
};

}  // namespace

std::optional<std::string> KnownStranger(std::string_view bytes) {
  if (bytes.empty()) return "the file is empty";
  if (bytes.starts_with("version https://git-lfs")) {
    const std::string details = LfsDetails(bytes.substr(0, 1024));
    return StrCat("this is a Git LFS pointer, not the model itself", details.empty() ? "" : " (", details,
                  details.empty() ? "" : ")", "; fetch it with \"git lfs pull\"");
  }
  std::string_view text = bytes.substr(0, 4096);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    if (bytes.size() <= text.size()) return "the file holds nothing but white space";
    return std::nullopt;
  }
  const std::string_view start = text.substr(first);
  if (StartsWithNoCase(start, "<!doctype") || StartsWithNoCase(start, "<html") ||
      StartsWithNoCase(start, "<head"))
    return "this is an HTML page, not a model; a download may have ended on a web page";
  if (start.starts_with("<?xml")) return "this is an XML document, not a model";
  for (const Magic& magic : kMagics)
    if (bytes.starts_with(magic.bytes)) return StrCat("this is ", magic.what, ", not a Caffe2 model");
  return std::nullopt;
}

bool LooksLikeText(std::string_view bytes) {
  const std::string_view sample = bytes.substr(0, 8192);
  return std::none_of(sample.begin(), sample.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && (byte < '\t' || byte > '\r')) || byte == 0x7f;
  });
}

MessageId GuessTextMessage(std::string_view text) {
  // Each message scores by the fields that it has, and loses by those that it lacks or has in another shape.
  int score[std::size(kCandidates)] = {};
  bool known[std::size(kCandidates)] = {};
  TextLexer lexer(text.substr(0, kSampleText));
  int depth = 0;
  while (lexer.token().kind != Token::kEnd && lexer.token().kind != Token::kBroken) {
    if (lexer.IsSymbol('{') || lexer.IsSymbol('<')) ++depth;
    if (lexer.IsSymbol('}') || lexer.IsSymbol('>')) --depth;
    const Token name = lexer.token();
    lexer.Next();
    if (depth != 0 || name.kind != Token::kIdentifier) continue;
    const bool colon = lexer.TakeSymbol(':');
    const bool message = lexer.IsSymbol('{') || lexer.IsSymbol('<');
    if (!colon && !message) continue;
    for (size_t i = 0; i < std::size(kCandidates); ++i) {
      const Field* field = FindField(GetMessage(kCandidates[i]), name.text);
      const bool fits =
          field != nullptr && (message == (field->kind == Kind::kMessage) || lexer.IsSymbol('['));
      score[i] += fits ? 1 : -2;
      known[i] |= fits;
    }
  }
  size_t best = 0;
  for (size_t i = 1; i < std::size(kCandidates); ++i)
    if (known[i] && (!known[best] || score[i] > score[best])) best = i;
  return known[best] ? kCandidates[best] : MessageId::kNone;
}

MessageId GuessBinaryMessage(std::string_view bytes) {
  MessageId best = MessageId::kNetDef;
  bool best_sound = false;
  int64_t best_score = kNetBonus - kOdd;
  const bool text = LooksLikeText(bytes);
  for (const MessageId candidate : kCandidates) {
    if (text && !HoldsNets(candidate)) continue;
    WireFit fit;
    bool sound = Validate(candidate, bytes, &fit, 0, kSampleFields).has_value();
    if (fit.known == 0) continue;
    // What is out of place weighs more than what fits, since any bytes fit some fields of something.
    const auto odd = static_cast<int64_t>(4 * fit.unknown + 8 * fit.odd_text);
    const int64_t fitting = static_cast<int64_t>(fit.known) - odd;
    if (candidate != MessageId::kNetDef && fitting <= 0) sound = false;
    int64_t score = odd > 0 || !sound ? fitting - kOdd : 0;
    if (score < 0 && candidate == MessageId::kNetDef) score += kNetBonus;
    if ((sound && !best_sound) || (sound == best_sound && score > best_score)) {
      best = candidate;
      best_sound = sound;
      best_score = score;
    }
  }
  return best;
}

std::string DamageHint(std::string_view bytes) {
  bytes = bytes.substr(0, kSampleDamage);
  size_t lines = 0, after_return = 0, replaced = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\n') {
      ++lines;
      after_return += i > 0 && bytes[i - 1] == '\r';
    } else if (bytes[i] == '\xef' && bytes.substr(i, 3) == "\xef\xbf\xbd") {
      ++replaced;
    }
  }
  // Sound files have line feeds everywhere (they begin most messages), hardly ever after a carriage return.
  if (lines >= 4 && after_return == lines)
    return "; it looks like a binary file damaged by newline translation (every line feed follows a carriage "
           "return): "
           "copy it again in binary mode";
  if (replaced >= 2)
    return "; it looks like a binary file that was read and written as text (bytes were replaced by U+FFFD)";
  return "";
}

}  // namespace weft::internal
