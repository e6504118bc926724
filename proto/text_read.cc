// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Text -> encoded bytes by recursive descent over messages, never over lists. Large texts are read twice:
// once to find errors and the size of the result, then to write it, so that a refused text has cost no
// memory.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "core/base/str.h"
#include "core/ir/device.h"
#include "proto/read.h"
#include "proto/text.h"
#include "proto/text_lexer.h"
#include "proto/validate.h"
#include "proto/wire.h"

namespace weft {

namespace {

constexpr size_t kSmallText = 1 << 20;                // bytes; read once
constexpr std::string_view kDevicePrefix = "PROTO_";  // of device types, read without it too
constexpr size_t kShownName = 60;                     // characters of a name in a note
constexpr size_t kMostNotes = 200;                    // different ones; the rest is counted

// Collects notes: those with one key are counted, at the place of the first. Places come in the order of the
// text.
class NoteList {
 public:
  NoteList(std::string_view text, std::vector<Note>* notes) : text_(text), notes_(notes) {}

  /// `message` makes the text, and is called for the first of a key alone.
  template <typename MakeMessage>
  void Add(const char* at, std::string key, MakeMessage message) {
    if (notes_ == nullptr) return;
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == key) {
        ++(*notes_)[i].times;
        return;
      }
    }
    if (keys_.size() < kMostNotes) {
      const TextPosition position =
          FindPosition(text_.substr(static_cast<size_t>(place_ - text_.data())), at);
      column_ = position.line > 1 ? position.column : column_ + position.column - 1;
      line_ += position.line - 1;
      place_ = at;
      notes_->push_back({message(), line_, column_});
      keys_.push_back(std::move(key));
    } else if (notes_->size() == kMostNotes) {
      notes_->push_back({"more that was read leniently, not listed"});
    } else {
      ++notes_->back().times;
    }
  }
  void Add(const char* at, std::string message) {
    Add(at, message, [&] { return message; });
  }

 private:
  std::string_view text_;
  std::vector<Note>* notes_;
  std::vector<std::string> keys_;  // of the notes, in their order
  const char* place_ = text_.data();
  int line_ = 1, column_ = 1;
};

class TextReader {
 public:
  // Writes to `out`, or only measures when it is null.
  TextReader(std::string_view text, std::string* out, std::vector<Note>* notes)
      : text_(text), lexer_(text), out_(out), notes_(text, notes) {}

  Result<void> ReadAll(MessageId id) {
    if (!ReadFields(id, 0, 0)) return std::move(error_);
    return {};
  }
  // An upper bound of what would be written.
  size_t size_bound() const { return bound_; }

 private:
  bool Fail(const char* at, std::string_view message, ErrorCode code = ErrorCode::kParse) {
    error_ = TextError(text_, at, message, code);
    return false;
  }
  // Where the token begins; at the end of the text, the token before it, after which something is missing.
  const char* at() const {
    return lexer_.token().kind == Token::kEnd ? lexer_.last() : lexer_.token().text.data();
  }
  std::string Found() const;

  bool ReadFields(MessageId id, char closer, int depth);
  bool ReadField(MessageId id, int depth, uint32_t& seen, bool& sorted);
  bool ReadValue(const Field& field, const Message& message, int depth);
  bool ReadScalar(const Field& field, const Message& message);
  bool ReadInteger(const Field& field, int64_t least, uint64_t largest);
  bool ReadFloating(const Field& field);
  bool ReadBool(const Field& field);
  bool ReadEnum(const Field& field);
  bool ReadString(std::string_view what);
  // `group`: the number of the group that it is; 0 for a message with a length.
  bool ReadMessageValue(MessageId id, std::string_view name, int depth, uint32_t group = 0);
  bool ReadUnknownNumber(const Message& message, uint32_t number, int depth);
  bool ReadUnknownValue(uint32_t number, WireType of_message, int depth);
  bool SkipUnknownName(MessageId id, int depth);
  bool SkipValue(int depth);
  // Calls `one` for a value or for each of a list in brackets.
  template <typename One>
  bool ReadList(One one);
  // An unsigned number in decimal, octal or hexadecimal digits.
  static bool ParseDigits(std::string_view digits, uint64_t& value);

  void PutVarintField(uint64_t value) {
    Put(10, [&](std::string& out) { AppendVarint(out, value); });
  }
  void PutTag(uint32_t number, WireType type) {
    Put(5, [&](std::string& out) { AppendVarint(out, Tag(number, type)); });
  }
  template <typename Write>
  void Put(size_t most, Write write) {
    bound_ += most;
    if (out_ != nullptr) write(*out_);
  }
  // A length that is known when what follows was written.
  size_t OpenLength() {
    bound_ += 5;
    if (out_ == nullptr) return 0;
    out_->push_back('\0');
    return out_->size();
  }
  void CloseLength(size_t body) {
    if (out_ == nullptr) return;
    const size_t size = out_->size() - body;
    char length[10];
    const char* const end = PutVarint(length, size);
    (*out_)[body - 1] = length[0];
    out_->insert(body, length + 1, static_cast<size_t>(end - length) - 1);
  }

  std::string_view text_;
  TextLexer lexer_;
  std::string* out_;
  size_t bound_ = 0;
  NoteList notes_;
  Error error_;
};

std::string TextReader::Found() const {
  const Token& token = lexer_.token();
  if (token.kind == Token::kEnd) return "the end of the text";
  const std::string_view text = token.text.substr(0, 40);
  const std::string_view more = token.text.size() > text.size() ? "..." : "";
  if (token.kind == Token::kString) return StrCat(text, more);
  return StrCat(QuoteBytes(text), more);
}

bool TextReader::ReadFields(MessageId id, char closer, int depth) {
  const size_t begin = out_ ? out_->size() : 0;
  uint32_t seen = 0;
  bool sorted = true;
  while (true) {
    const Token& token = lexer_.token();
    if (closer != 0 && lexer_.TakeSymbol(closer)) break;
    if (token.kind == Token::kEnd) {
      if (closer == 0) break;
      return Fail(at(), StrCat("expected \"", closer, "\" to end ", GetMessage(id).name,
                               ", found the end of the text"));
    }
    if (!ReadField(id, depth, seen, sorted)) return false;
    if (!lexer_.TakeSymbol(',')) lexer_.TakeSymbol(';');
  }
  if (!sorted && out_ != nullptr) {
    std::string fields = SortedWire(id, std::string_view(*out_).substr(begin));
    out_->replace(begin, std::string::npos, fields);
  }
  return true;
}

// `seen`: numbers of the message's fields so far; `sorted`: whether they came by number, lists in one piece.
bool TextReader::ReadField(MessageId id, int depth, uint32_t& seen, bool& sorted) {
  const Message& message = GetMessage(id);
  const Token name = lexer_.token();
  const Field* field = nullptr;
  if (name.kind == Token::kIdentifier) {
    field = FindField(message, name.text);
    if (field == nullptr) return SkipUnknownName(id, depth);
    if (name.text != field->name)
      notes_.Add(at(), StrCat(name.text, " is an old name, read as ", message.name, ".", field->name));
  } else if (name.kind == Token::kNumber) {
    uint64_t number;
    if (!ParseDigits(name.text, number) || number == 0 || number >= 1u << 29)
      return Fail(at(), StrCat("expected a field of ", message.name, ", found ", Found()));
    // Printers write what a message knows by name: a number is a field that they did not know.
    sorted = false;
    return ReadUnknownNumber(message, static_cast<uint32_t>(number), depth);
  } else if (lexer_.IsSymbol('[')) {
    return SkipUnknownName(id, depth);
  } else {
    return Fail(at(), StrCat("expected a field of ", message.name, ", found ", Found()));
  }

  const uint32_t bit = 1u << field->number;
  if (!field->repeated && (seen & bit) != 0)
    return Fail(at(), StrCat(field->name, " is given twice; ", message.name, " has one"));
  // Fields above this one, or this packed list again after another field.
  if ((seen >> field->number) > 1) sorted = false;
  const bool again = (seen & bit) != 0;
  seen |= bit;

  lexer_.Next();
  const bool colon = lexer_.TakeSymbol(':');
  if (!colon && field->kind != Kind::kMessage)
    return Fail(at(), StrCat("expected \":\" after ", field->name, ", found ", Found()));
  if (field->repeated && lexer_.IsSymbol('[')) {
    if (!field->packed) return ReadList([&] { return ReadValue(*field, message, depth); });
    if (again) sorted = false;
    PutTag(field->number, WireType::kLength);
    const size_t body = OpenLength();
    if (!ReadList([&] { return ReadScalar(*field, message); })) return false;
    CloseLength(body);
    return true;
  }
  if (!field->packed) return ReadValue(*field, message, depth);

  // float_data: 1 float_data: 2 ...: one packed list for the whole run.
  if (again) sorted = false;
  PutTag(field->number, WireType::kLength);
  const size_t body = OpenLength();
  while (true) {
    if (!ReadScalar(*field, message)) return false;
    if (!lexer_.TakeSymbol(',')) lexer_.TakeSymbol(';');
    if (lexer_.token().kind != Token::kIdentifier || lexer_.token().text != name.text) break;
    TextLexer ahead = lexer_;
    ahead.Next();
    if (!ahead.TakeSymbol(':') || ahead.IsSymbol('[')) break;
    lexer_ = ahead;
  }
  CloseLength(body);
  return true;
}

template <typename One>
bool TextReader::ReadList(One one) {
  lexer_.Next();  // [
  if (lexer_.TakeSymbol(']')) return true;
  while (true) {
    if (!one()) return false;
    if (lexer_.TakeSymbol(']')) return true;
    if (!lexer_.TakeSymbol(','))
      return Fail(at(), StrCat("expected \",\" or \"]\" in a list, found ", Found()));
  }
}

bool TextReader::ReadValue(const Field& field, const Message& message, int depth) {
  switch (field.kind) {
    case Kind::kMessage:
      PutTag(field.number, WireType::kLength);
      return ReadMessageValue(field.message, field.name, depth);
    case Kind::kString:
    case Kind::kBytes:
      PutTag(field.number, WireType::kLength);
      break;
    case Kind::kFloat:
      PutTag(field.number, WireType::kFixed32);
      break;
    case Kind::kDouble:
      PutTag(field.number, WireType::kFixed64);
      break;
    default:
      PutTag(field.number, WireType::kVarint);
  }
  return ReadScalar(field, message);
}

bool TextReader::ReadMessageValue(MessageId id, std::string_view name, int depth, uint32_t group) {
  char closer = 0;
  if (lexer_.IsSymbol('{')) closer = '}';
  if (lexer_.IsSymbol('<')) closer = '>';
  if (closer == 0) return Fail(at(), StrCat("expected \"{\" after ", name, ", found ", Found()));
  if (depth == kMaxNesting) {
    return Fail(at(), StrCat("nesting deeper than ", kMaxNesting, " levels, at byte ", at() - text_.data()),
                ErrorCode::kLimit);
  }
  lexer_.Next();
  const size_t body = group == 0 ? OpenLength() : 0;
  if (!ReadFields(id, closer, depth + 1)) return false;
  group == 0 ? CloseLength(body) : PutTag(group, WireType::kEndGroup);
  return true;
}

bool TextReader::ReadScalar(const Field& field, const Message& message) {
  constexpr auto kMost = [](auto limit) { return static_cast<uint64_t>(limit); };
  switch (field.kind) {
    case Kind::kString:
    case Kind::kBytes:
      return ReadString(field.name);
    case Kind::kInt32:
      if (field.enumeration != EnumId::kNone && lexer_.token().kind == Token::kIdentifier)
        return ReadEnum(field);
      return ReadInteger(field, INT32_MIN, kMost(INT32_MAX));
    case Kind::kInt64:
      return ReadInteger(field, INT64_MIN, kMost(INT64_MAX));
    case Kind::kUint32:
      return ReadInteger(field, 0, UINT32_MAX);
    case Kind::kUint64:
      return ReadInteger(field, 0, UINT64_MAX);
    case Kind::kBool:
      return ReadBool(field);
    case Kind::kFloat:
    case Kind::kDouble:
      return ReadFloating(field);
    case Kind::kEnum:
      if (lexer_.token().kind == Token::kIdentifier) return ReadEnum(field);
      return ReadInteger(field, INT32_MIN, kMost(INT32_MAX));
    case Kind::kMessage:
      break;
  }
  return Fail(at(), StrCat("cannot read ", message.name, ".", field.name));
}

bool TextReader::ParseDigits(std::string_view digits, uint64_t& value) {
  unsigned base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  value = 0;
  if (digits.empty()) return false;
  for (const char c : digits) {
    unsigned digit;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<unsigned>((c | 0x20) - 'a') + 10;
    } else {
      return false;
    }
    if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
    value = value * base + digit;
  }
  return true;
}

bool TextReader::ReadInteger(const Field& field, int64_t least, uint64_t largest) {
  const char* const start = at();
  const bool negative = lexer_.TakeSymbol('-');
  const Token& token = lexer_.token();
  if (token.kind != Token::kNumber) {
    const bool truth = token.text == "True" || token.text == "true";
    const bool untruth = token.text == "False" || token.text == "false";
    return Fail(start, StrCat("expected a whole number for ", field.name, ", found ", Found(),
                              truth || untruth ? StrCat("; write ", truth ? 1 : 0) : std::string()));
  }
  uint64_t value;
  if (!ParseDigits(token.text, value)) {
    const bool digits = token.text.find_first_not_of("0123456789") == std::string_view::npos;
    return Fail(start, StrCat(digits ? "out of range for " : "expected a whole number for ", field.name,
                              digits ? ": " : ", found ", Found()));
  }
  const uint64_t most = negative ? static_cast<uint64_t>(-(least + 1)) + 1 : largest;
  if (value > (negative && least == 0 ? 0 : most))
    return Fail(start, StrCat("out of range for ", field.name, ": ", negative ? "-" : "", token.text));
  PutVarintField(negative ? 0 - value : value);
  lexer_.Next();
  return true;
}

bool TextReader::ReadFloating(const Field& field) {
  const char* const start = at();
  const bool negative = lexer_.TakeSymbol('-');
  const Token& token = lexer_.token();
  double value = 0;
  bool ok = false;
  std::string lower;
  for (const char c : token.text.substr(0, 16)) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (token.kind == Token::kIdentifier) {
    ok = true;
    if (lower == "inf" || lower == "infinity") {
      value = std::numeric_limits<double>::infinity();
    } else if (lower == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      ok = false;
    }
  } else if (token.kind == Token::kNumber && !lower.starts_with("0x")) {
    std::string digits(token.text);
    if (digits.back() == 'f' || digits.back() == 'F') digits.pop_back();
    char* end = nullptr;
    value = std::strtod(digits.c_str(), &end);
    ok = !digits.empty() && end == digits.c_str() + digits.size();
  }
  if (!ok) return Fail(start, StrCat("expected a number for ", field.name, ", found ", Found()));
  if (negative) value = -value;
  if (field.kind == Kind::kFloat) {
    // As protobuf does: what rounds past the largest float is infinite.
    const float narrow =
        std::fabs(value) > std::numeric_limits<float>::max() && !std::isinf(value)
            ? static_cast<float>(std::fabs(value) < 3.4028235677973366e38
                                     ? std::copysign(std::numeric_limits<float>::max(), value)
                                     : std::copysign(std::numeric_limits<double>::infinity(), value))
            : static_cast<float>(value);
    Put(4, [&](std::string& out) {
      char bytes[4];
      out.append(bytes, static_cast<size_t>(PutFixed32(bytes, BitsOf(narrow)) - bytes));
    });
  } else {
    Put(8, [&](std::string& out) {
      char bytes[8];
      out.append(bytes, static_cast<size_t>(PutFixed64(bytes, BitsOf(value)) - bytes));
    });
  }
  lexer_.Next();
  return true;
}

bool TextReader::ReadBool(const Field& field) {
  const std::string_view text = lexer_.token().text;
  const bool yes = text == "true" || text == "True" || text == "t" || text == "1";
  const bool no = text == "false" || text == "False" || text == "f" || text == "0";
  if (!yes && !no) return Fail(at(), StrCat("expected true or false for ", field.name, ", found ", Found()));
  PutVarintField(yes);
  lexer_.Next();
  return true;
}

bool TextReader::ReadEnum(const Field& field) {
  const std::string_view name = lexer_.token().text;
  for (const EnumValue& value : GetEnum(field.enumeration)) {
    if (value.name != name) continue;
    if (field.kind != Kind::kEnum)
      notes_.Add(at(), StrCat(field.name, ": ", name, " is an old way to write ", value.number));
    PutVarintField(static_cast<uint64_t>(static_cast<int64_t>(value.number)));
    lexer_.Next();
    return true;
  }
  if (field.enumeration == EnumId::kDeviceType) {
    if (const std::optional<int32_t> type = ParseDeviceType(name)) {
      notes_.Add(at(), StrCat(field.name, ": ", name, " is an old way to write ", *type));
      PutVarintField(static_cast<uint64_t>(static_cast<int64_t>(*type)));
      lexer_.Next();
      return true;
    }
  }
  std::vector<std::string_view> names;
  for (const EnumValue& value : GetEnum(field.enumeration)) {
    names.push_back(value.name);
    if (value.name.starts_with(kDevicePrefix)) names.back().remove_prefix(kDevicePrefix.size());
  }
  const std::vector<std::string_view> near = NearestNames(name, names, 1);
  return Fail(at(), StrCat("\"", name, "\" is no value of ", field.name,
                           near.empty() ? std::string() : StrCat("; did you mean ", near[0], "?")));
}

bool TextReader::ReadString(std::string_view what) {
  if (lexer_.token().kind != Token::kString && lexer_.token().kind != Token::kBroken)
    return Fail(at(), StrCat("expected a string for ", what, ", found ", Found()));
  const size_t body = OpenLength();
  while (lexer_.token().kind == Token::kString) {
    const std::string_view token = lexer_.token().text;
    bound_ += token.size();
    const char* bad = nullptr;
    if (!Unescape(token, out_, &bad)) return Fail(bad, "this escape does not exist");
    lexer_.Next();
  }
  if (lexer_.token().kind == Token::kBroken)
    return Fail(at(), StrCat("the string for ", what, " does not end on its line"));
  CloseLength(body);
  return true;
}

bool TextReader::ReadUnknownNumber(const Message& message, uint32_t number, int depth) {
  notes_.Add(at(), StrCat("field ", number, " is not known, kept"));
  lexer_.Next();
  lexer_.TakeSymbol(':');
  // With a length the message would have known it: what its printer did not know was a group.
  const Field* known = FindField(message, number);
  const bool has_length = known != nullptr && (known->repeated || known->kind == Kind::kMessage ||
                                               known->kind == Kind::kString || known->kind == Kind::kBytes);
  const WireType of_message = has_length ? WireType::kStartGroup : WireType::kLength;
  if (lexer_.IsSymbol('[')) return ReadList([&] { return ReadUnknownValue(number, of_message, depth); });
  return ReadUnknownValue(number, of_message, depth);
}

bool TextReader::ReadUnknownValue(uint32_t number, WireType of_message, int depth) {
  const Token token = lexer_.token();
  if (lexer_.IsSymbol('{') || lexer_.IsSymbol('<')) {
    PutTag(number, of_message);
    return ReadMessageValue(MessageId::kNone, StrCat("field ", number), depth,
                            of_message == WireType::kStartGroup ? number : 0);
  }
  if (token.kind == Token::kString || token.kind == Token::kBroken) {
    PutTag(number, WireType::kLength);
    return ReadString(StrCat("field ", number));
  }
  const char* const start = at();
  const bool negative = lexer_.TakeSymbol('-');
  const std::string_view digits = lexer_.token().text;
  uint64_t value;
  if (lexer_.token().kind != Token::kNumber || !ParseDigits(digits, value))
    return Fail(start,
                StrCat("expected a number, a string or a message for field ", number, ", found ", Found()));
  // Printers show the width of fixed numbers by their number of hexadecimal digits.
  const bool hex = digits.starts_with("0x");
  if (hex && digits.size() == 10) {
    PutTag(number, WireType::kFixed32);
    Put(4, [&](std::string& out) {
      char bytes[4];
      out.append(bytes, static_cast<size_t>(PutFixed32(bytes, static_cast<uint32_t>(value)) - bytes));
    });
  } else if (hex && digits.size() == 18) {
    PutTag(number, WireType::kFixed64);
    Put(8, [&](std::string& out) {
      char bytes[8];
      out.append(bytes, static_cast<size_t>(PutFixed64(bytes, value) - bytes));
    });
  } else {
    PutTag(number, WireType::kVarint);
    PutVarintField(negative ? 0 - value : value);
  }
  lexer_.Next();
  return true;
}

bool TextReader::SkipUnknownName(MessageId id, int depth) {
  const Message& message = GetMessage(id);
  const char* const start = at();
  std::string name(lexer_.token().text.substr(0, kShownName));
  if (lexer_.TakeSymbol('[')) {  // an extension
    while (lexer_.token().kind == Token::kIdentifier || lexer_.IsSymbol('.') || lexer_.IsSymbol('/')) {
      if (name.size() < kShownName) name += lexer_.token().text.substr(0, kShownName);
      lexer_.Next();
    }
    if (!lexer_.IsSymbol(']'))
      return Fail(at(), StrCat("expected \"]\" after an extension's name, found ", Found()));
    name += ']';
  }
  lexer_.Next();
  const bool colon = lexer_.TakeSymbol(':');
  if (!colon && !lexer_.IsSymbol('{') && !lexer_.IsSymbol('<')) {
    return Fail(start, StrCat("expected a field of ", message.name, ", found \"", name, "\""));
  }
  notes_.Add(start, StrCat(message.name, ".", name), [&] {
    std::vector<std::string_view> names;
    for (const Field& field : message.fields) names.push_back(field.name);
    const std::vector<std::string_view> near = NearestNames(name, names, 1);
    return StrCat(message.name, " has no field \"", name, "\", left out",
                  near.empty() ? std::string() : StrCat("; did you mean ", near[0], "?"));
  });
  if (lexer_.IsSymbol('[')) return ReadList([&] { return SkipValue(depth); });
  return SkipValue(depth);
}

bool TextReader::SkipValue(int depth) {
  if (lexer_.IsSymbol('{') || lexer_.IsSymbol('<')) {
    // Fields within are left out with it, and not noted one by one.
    std::string* const out = out_;
    const size_t bound = bound_;
    out_ = nullptr;
    NoteList quiet(text_, nullptr);
    std::swap(notes_, quiet);
    const bool ok = ReadMessageValue(MessageId::kNone, "the field", depth);
    std::swap(notes_, quiet);
    bound_ = bound;
    out_ = out;
    return ok;
  }
  const Token token = lexer_.token();
  if (token.kind == Token::kString) {
    while (lexer_.token().kind == Token::kString) lexer_.Next();
    return true;
  }
  const char* const start = at();
  lexer_.TakeSymbol('-');
  if (lexer_.token().kind != Token::kNumber && lexer_.token().kind != Token::kIdentifier)
    return Fail(start, StrCat("expected a value, found ", Found()));
  lexer_.Next();
  return true;
}

}  // namespace

Result<std::string> TextToWire(MessageId message, std::string_view text, std::vector<Note>* notes) {
  std::string out;
  std::vector<Note> ignored;
  if (text.size() > kSmallText) {
    TextReader measure(text, nullptr, nullptr);
    WEFT_TRY_VOID(measure.ReadAll(message));
    out.reserve(measure.size_bound());
  }
  TextReader reader(text, &out, notes);
  WEFT_TRY_VOID(reader.ReadAll(message));
  return out;
}

namespace {

// The encoded form of a text, owned, and found sound.
Result<Bytes> TextToBytes(MessageId id, std::string_view text, std::vector<Note>* notes) {
  WEFT_TRY(std::string wire, TextToWire(id, text, notes));
  return Bytes(std::move(wire));
}

}  // namespace

Result<Net> ParseNetText(std::string_view text, SymbolTablePtr symbols, std::vector<Note>* notes) {
  WEFT_TRY(const Bytes bytes, TextToBytes(MessageId::kNetDef, text, notes));
  return ParseNet(bytes, std::move(symbols));
}

Result<Op> ParseOpText(std::string_view text, const SymbolTablePtr& symbols, std::vector<Note>* notes) {
  WEFT_TRY(const Bytes bytes, TextToBytes(MessageId::kOperatorDef, text, notes));
  return ParseOp(bytes, symbols);
}

Result<Plan> ParsePlanText(std::string_view text, SymbolTablePtr symbols, std::vector<Note>* notes) {
  WEFT_TRY(const Bytes bytes, TextToBytes(MessageId::kPlanDef, text, notes));
  return ParsePlan(bytes, std::move(symbols));
}

}  // namespace weft
