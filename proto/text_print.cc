// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/str.h"
#include "proto/text.h"
#include "proto/wire.h"

namespace weft {

namespace {

// How deep unknown bytes are tried as messages; protobuf's own number.
constexpr int kUnknownNesting = 10;

struct Entry {
  const Field* field;  // null for an unknown one
  WireField wire;
};

// An enum value without a name is an unknown field to protobuf.
bool NamedEnum(const Field& field, uint64_t value) {
  return !EnumValueName(field.enumeration, static_cast<int32_t>(value)).empty();
}

const Field* KnownField(const Message& message, const WireField& wire) {
  const Field* field = FindField(message, wire.number());
  if (field == nullptr) return nullptr;
  switch (field->kind) {
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kMessage:
      return wire.type() == WireType::kLength ? field : nullptr;
    case Kind::kFloat:
      if (wire.type() == WireType::kFixed32) return field;
      break;
    case Kind::kDouble:
      if (wire.type() == WireType::kFixed64) return field;
      break;
    case Kind::kEnum:
      if (wire.type() == WireType::kVarint) return NamedEnum(*field, wire.value) ? field : nullptr;
      break;
    default:
      if (wire.type() == WireType::kVarint) return field;
  }
  return field->repeated && wire.type() == WireType::kLength ? field : nullptr;
}

// True when the fields can be taken as they come: by number, unknown ones last, none given twice, and, where
// it is asked for, each packed list in one piece.
bool InOrder(const Message& message, std::string_view wire, bool whole_lists) {
  WireCursor cursor(wire);
  WireField f;
  uint32_t last = 0;
  while (cursor.Next(f)) {
    const Field* field = KnownField(message, f);
    const uint32_t place = field ? field->number : UINT32_MAX;
    if (place < last || (place == last && field && (!field->repeated || (whole_lists && field->packed))))
      return false;
    last = place;
  }
  return true;
}

// The known fields by number, then the unknown ones. Of singular scalars the last one counts.
std::vector<Entry> Gather(const Message& message, std::string_view wire) {
  std::vector<Entry> entries;
  WireCursor cursor(wire);
  WireField f;
  while (cursor.Next(f)) entries.push_back({KnownField(message, f), f});
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return (a.field ? a.field->number : UINT32_MAX) < (b.field ? b.field->number : UINT32_MAX);
  });
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Field* field = entries[i].field;
    const bool repeated_later = field && !field->repeated && field->kind != Kind::kMessage &&
                                i + 1 < entries.size() && entries[i + 1].field == field;
    if (!repeated_later) entries[kept++] = entries[i];
  }
  entries.resize(kept);
  return entries;
}

class Printer {
 public:
  /// Of a list of numbers the first `most` are printed, then how many more there are; 0: all of them.
  Printer(std::string& out, size_t most) : out_(out), most_(most) {}

  void Print(MessageId id, std::string_view wire) {
    PrintFields(GetMessage(id), wire);
    EndRun();
  }

 private:
  void PrintFields(const Message& message, std::string_view wire) {
    if (InOrder(message, wire, false)) {
      WireCursor cursor(wire);
      WireField f;
      while (cursor.Next(f)) PrintField(KnownField(message, f), f);
      return;
    }
    const std::vector<Entry> entries = Gather(message, wire);
    for (size_t i = 0; i < entries.size(); ++i) {
      const Field* field = entries[i].field;
      if (field == nullptr || field->repeated || field->kind != Kind::kMessage) {
        PrintField(field, entries[i].wire);
        continue;
      }
      std::string merged;  // a message given in pieces
      while (true) {
        merged.append(entries[i].wire.bytes);
        if (i + 1 == entries.size() || entries[i + 1].field != field) break;
        ++i;
      }
      WireField whole = entries[i].wire;
      whole.bytes = merged;
      PrintField(field, whole);
    }
  }

  // True when one more value of a list of numbers is to be printed. A list may be packed or not.
  bool Wanted(const Field* field) {
    if (most_ == 0) return true;
    if (field != run_of_) {
      EndRun();
      if (field == nullptr || !field->repeated || field->kind == Kind::kMessage) return true;
      run_of_ = field;
    }
    return ++run_ <= most_;
  }
  void EndRun() {
    if (run_ > most_) {
      out_.append(indent_, ' ');
      StrAppend(out_, "# ... ", run_ - most_, " more ", run_of_->name, "\n");
    }
    run_of_ = nullptr;
    run_ = 0;
  }

  void PrintField(const Field* field, const WireField& f) {
    const bool packed = field != nullptr && field->kind != Kind::kMessage && field->kind != Kind::kString &&
                        field->kind != Kind::kBytes && f.type() == WireType::kLength;
    if (!packed && !Wanted(field)) return;
    if (field == nullptr) {
      PrintUnknown(f, kUnknownNesting);
    } else if (field->kind == Kind::kMessage) {
      Open(field->name);
      Print(field->message, f.bytes);
      Close();
    } else if (packed) {
      PrintPacked(*field, f.bytes);
    } else {
      Begin(field->name);
      PrintValue(*field, f);
      out_ += '\n';
    }
  }

  void PrintPacked(const Field& field, std::string_view wire) {
    const char* p = wire.data();
    const char* const end = p + wire.size();
    const ptrdiff_t width = field.kind == Kind::kFloat ? 4 : field.kind == Kind::kDouble ? 8 : 0;
    while (p < end) {
      WireField value;
      if (width == 0) {
        p = ReadVarint(p, end, value.value);
        if (p == nullptr) return;
      } else {
        if (end - p < width) return;
        value.value = width == 4 ? ReadFixed32(p) : ReadFixed64(p);
        p += width;
      }
      if (!Wanted(&field)) continue;
      Begin(field.name);
      PrintValue(field, value);
      out_ += '\n';
    }
  }

  void PrintValue(const Field& field, const WireField& f) {
    switch (field.kind) {
      case Kind::kString:
      case Kind::kBytes:
        out_ += QuoteBytes(f.bytes);
        break;
      case Kind::kInt32:
        StrAppend(out_, static_cast<int32_t>(f.value));
        break;
      case Kind::kInt64:
        StrAppend(out_, static_cast<int64_t>(f.value));
        break;
      case Kind::kUint32:
        StrAppend(out_, static_cast<uint32_t>(f.value));
        break;
      case Kind::kUint64:
        StrAppend(out_, f.value);
        break;
      case Kind::kBool:
        out_ += f.value != 0 ? "true" : "false";
        break;
      case Kind::kFloat:
        out_ += FormatFloat(FloatFromBits(static_cast<uint32_t>(f.value)));
        break;
      case Kind::kDouble:
        out_ += FormatDouble(DoubleFromBits(f.value));
        break;
      case Kind::kEnum: {
        const std::string_view name = EnumValueName(field.enumeration, static_cast<int32_t>(f.value));
        if (name.empty()) {  // within a packed list
          StrAppend(out_, static_cast<int32_t>(f.value));
        } else {
          out_ += name;
        }
        break;
      }
      case Kind::kMessage:
        break;
    }
  }

  // As protobuf does: numbers in the way that shows their wire type, bytes as a message when they are one.
  void PrintUnknown(const WireField& f, int depth_left) {
    const std::string name = std::to_string(f.number());
    switch (f.type()) {
      case WireType::kVarint:
        Begin(name);
        StrAppend(out_, f.value, '\n');
        break;
      case WireType::kFixed32:
      case WireType::kFixed64:
        Begin(name);
        PrintHex(f.value, f.type() == WireType::kFixed32 ? 8 : 16);
        out_ += '\n';
        break;
      case WireType::kLength:
        if (!f.bytes.empty() && depth_left > 0 && IsMessage(f.bytes)) {
          PrintUnknownMessage(name, f.bytes, depth_left - 1);
        } else {
          Begin(name);
          out_ += QuoteBytes(f.bytes);
          out_ += '\n';
        }
        break;
      case WireType::kStartGroup:
        PrintUnknownMessage(name, f.bytes, depth_left - 1);
        break;
      case WireType::kEndGroup:
        break;
    }
  }

  void PrintUnknownMessage(std::string_view name, std::string_view wire, int depth_left) {
    Open(name);
    WireCursor cursor(wire);
    WireField f;
    while (cursor.Next(f)) PrintUnknown(f, depth_left);
    Close();
  }

  // protobuf takes tags of six to ten bytes here, though its parser refuses them; then it prints a message.
  static bool IsMessage(std::string_view wire) {
    WireCursor cursor(wire);
    WireField f;
    while (cursor.Next(f)) {
    }
    return !cursor.malformed();
  }

  void PrintHex(uint64_t value, int digits) {
    out_ += "0x";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
      out_ += "0123456789abcdef"[value >> shift & 15];
  }

  void Begin(std::string_view name) {
    out_.append(indent_, ' ');
    out_ += name;
    out_ += ": ";
  }
  void Open(std::string_view name) {
    out_.append(indent_, ' ');
    out_ += name;
    out_ += " {\n";
    indent_ += 2;
  }
  void Close() {
    indent_ -= 2;
    out_.append(indent_, ' ');
    out_ += "}\n";
  }

  std::string& out_;
  const size_t most_;
  size_t indent_ = 0;
  const Field* run_of_ = nullptr;  // the list whose values come one after the other
  size_t run_ = 0;                 // how many of them so far
};

}  // namespace

std::string WireToText(MessageId message, std::string_view wire, size_t most) {
  std::string out;
  Printer(out, most).Print(message, wire);
  return out;
}

std::string SortedWire(MessageId id, std::string_view wire) {
  const Message& message = GetMessage(id);
  if (InOrder(message, wire, true)) return std::string(wire);
  const std::vector<Entry> entries = Gather(message, wire);
  std::string out;
  out.reserve(wire.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const Field* field = entries[i].field;
    if (field == nullptr || !field->packed) {
      out.append(entries[i].wire.whole);
      continue;
    }
    std::string values;
    for (; i < entries.size() && entries[i].field == field; ++i) {
      const WireField& f = entries[i].wire;
      if (f.type() == WireType::kLength) {
        values.append(f.bytes);
      } else {
        values.append(f.whole.substr(VarintSize(f.tag)));
      }
    }
    --i;
    AppendVarint(out, Tag(field->number, WireType::kLength));
    AppendVarint(out, values.size());
    out.append(values);
  }
  return out;
}

std::string NetToText(const Net& net, std::span<const Op> more) {
  return WireToText(MessageId::kNetDef, SerializeNet(net, more));
}
std::string OpToText(const SymbolTable& symbols, const Op& op) {
  return WireToText(MessageId::kOperatorDef, SerializeOp(symbols, op));
}
std::string PlanToText(const Plan& plan) { return WireToText(MessageId::kPlanDef, SerializePlan(plan)); }

}  // namespace weft
