// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/base/str.h"
#include "core/ssa/print.h"
#include "core/ssa/print_internal.h"

namespace weft {

namespace internal {

std::string FloatText(float value) {
  std::string text = FormatFloat(value);
  // A float that looks like an integer says that it is none.
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string StringText(std::string_view text, bool full) {
  constexpr size_t kMost = 60;
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == ':' || c == '-';
  };
  const bool letter =
      !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  if (!full && text.size() > kMost + 20)
    return StrCat(QuoteBytes(text.substr(0, kMost)), "... ", FormatBytes(text.size()));
  if (!letter) return QuoteBytes(text);
  for (char c : text)
    if (!word(c)) return QuoteBytes(text);
  return std::string(text);
}

}  // namespace internal

namespace {

constexpr size_t kShown = 8;  // elements of a long list

template <typename T, typename Format>
std::string ListText(const std::vector<T>& items, bool full, std::string_view unit, Format format) {
  std::string out = "[";
  const size_t shown = full || items.size() <= kShown + 2 ? items.size() : kShown / 2;
  for (size_t i = 0; i < shown; ++i) StrAppend(out, i > 0 ? ", " : "", format(items[i]));
  if (shown < items.size()) StrAppend(out, ", ... ", items.size(), " ", unit);
  return out + "]";
}

}  // namespace

std::string ArgListing(const SymbolTable& symbols, const Arg& arg, bool full) {
  std::string out;
  const auto add = [&](std::string text) { StrAppend(out, out.empty() ? "" : " | ", text); };
  if (arg.has & Arg::kHasF) add(internal::FloatText(arg.f));
  if (arg.has & Arg::kHasI) add(std::to_string(arg.i));
  const bool more = arg.has & ~(Arg::kHasF | Arg::kHasI);
  if (!more) return out.empty() ? "()" : out;
  if (arg.encoded && arg.encoded->file && !full) {
    add(StrCat("<", FormatBytes(arg.encoded->size), " in the file>"));
    return out;
  }

  const ArgDataPtr data = arg.Load();
  const auto net_name = [&](const NetPtr& net) {
    return net ? StrCat("<net ", symbols.Str(net->name), net->name ? ", " : "", net->ops.size(), " ops>")
               : "<no net>";
  };
  const auto tensor = [](const Bytes& bytes) { return StrCat("<tensor, ", FormatBytes(bytes.size()), ">"); };
  if (arg.has & Arg::kHasS) add(internal::StringText(data->s, full));
  if (arg.has & Arg::kHasFloats) add(ListText(data->floats, full, "floats", internal::FloatText));
  if (arg.has & Arg::kHasInts)
    add(ListText(data->ints, full, "ints", [](int64_t value) { return std::to_string(value); }));
  if (arg.has & Arg::kHasStrings)
    add(ListText(data->strings, full, "strings",
                 [&](const std::string& text) { return internal::StringText(text, full); }));
  if (arg.has & Arg::kHasN) add(net_name(data->n));
  if (arg.has & Arg::kHasNets) add(ListText(data->nets, full, "nets", net_name));
  if (arg.has & Arg::kHasT) add(tensor(data->t));
  if (arg.has & Arg::kHasTensors) add(ListText(data->tensors, full, "tensors", tensor));
  if (arg.has & Arg::kHasQTensors) add(ListText(data->qtensors, full, "tensors", tensor));
  if (arg.has & Arg::kHasUnknown) add(StrCat("<unknown fields, ", FormatBytes(data->unknown.size()), ">"));
  return out;
}

}  // namespace weft
