// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/minidb.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/str.h"
#include "proto/wire.h"

namespace weft {

namespace {

constexpr size_t kHeader = 8;

struct Lengths {
  uint64_t key;
  uint64_t value;
};

Lengths ReadLengths(const char* p) { return {ReadFixed32(p), ReadFixed32(p + 4)}; }

}  // namespace

bool LooksLikeMiniDb(std::string_view bytes) {
  if (bytes.size() <= kHeader) return false;
  const auto [key, value] = ReadLengths(bytes.data());
  if (key == 0 || key > 4096 || value == 0 || value > INT32_MAX || key > bytes.size() - kHeader) return false;
  const std::string_view text = bytes.substr(kHeader, key);
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

Result<std::vector<MiniDbRecord>> ParseMiniDb(const Bytes& bytes) {
  const std::string_view view = bytes.view();
  size_t count = 0;
  for (size_t at = 0; at < view.size(); ++count) {
    const size_t left = view.size() - at;
    const std::string where = StrCat("minidb, byte ", at, ": record ", count);
    if (left < kHeader)
      return Error{ErrorCode::kParse, StrCat(where, " has only ", left, " bytes of its lengths")};
    const auto [key, value] = ReadLengths(view.data() + at);
    if (key == 0 || value == 0)
      return Error{ErrorCode::kParse, StrCat(where, " has an empty ", key == 0 ? "key" : "value")};
    if (key + value > left - kHeader) {
      return Error{ErrorCode::kParse, StrCat(where, " is said to have ", key, " + ", value, " bytes, but ",
                                             left - kHeader, " are left")};
    }
    at += kHeader + static_cast<size_t>(key + value);
  }
  std::vector<MiniDbRecord> records;
  records.reserve(count);
  for (const char* p = view.data(); records.size() < count;) {
    const auto [key, value] = ReadLengths(p);
    p += kHeader;
    records.push_back({std::string(p, key), Bytes(bytes.owner(), {p + key, static_cast<size_t>(value)})});
    p += key + value;
  }
  return records;
}

void AppendMiniDbRecord(std::string& out, std::string_view key, std::string_view value) {
  WEFT_CHECK(!key.empty() && !value.empty() && key.size() <= INT32_MAX && value.size() <= INT32_MAX);
  char header[kHeader];
  PutFixed32(PutFixed32(header, static_cast<uint32_t>(key.size())), static_cast<uint32_t>(value.size()));
  out.append(header, kHeader).append(key).append(value);
}

}  // namespace weft
