// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Text helpers: StrCat, number printing, suggestions. The float printer here is the only one in the project.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Shortest of 6 or 9 significant digits that reads back as the same float, as protobuf's text format prints
/// it: "0.1", "1", "1e-05", "inf", "nan".
std::string FormatFloat(float value);
/// The same for doubles, with 15 or 17 digits.
std::string FormatDouble(double value);
/// "1.4 GB", "12.0 KB", "17 B": powers of 1000, one decimal from a thousand on.
std::string FormatBytes(uint64_t bytes);

namespace internal {
inline void AppendPiece(std::string& out, std::string_view piece) { out.append(piece); }
inline void AppendPiece(std::string& out, const char* piece) { out.append(piece); }
inline void AppendPiece(std::string& out, char piece) { out.push_back(piece); }
inline void AppendPiece(std::string& out, float piece) { out.append(FormatFloat(piece)); }
inline void AppendPiece(std::string& out, double piece) { out.append(FormatDouble(piece)); }
template <std::integral T>
void AppendPiece(std::string& out, T piece) {
  out.append(std::to_string(piece));
}
}  // namespace internal

/// Concatenates strings, characters and numbers.
template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  (internal::AppendPiece(out, pieces), ...);
  return out;
}
template <typename... Pieces>
void StrAppend(std::string& out, const Pieces&... pieces) {
  (internal::AppendPiece(out, pieces), ...);
}

std::string StrJoin(std::span<const std::string> parts, std::string_view separator);
/// Pieces between separators; an empty text has no pieces.
std::vector<std::string_view> StrSplit(std::string_view text, char separator);

/// A quoted C-style string as protobuf's text format writes it: printable ASCII kept, \n \r \t \" \'
/// \\ escaped, every other byte as three octal digits.
std::string QuoteBytes(std::string_view bytes);

/// The up to `most` candidates nearest to `name` by edit distance (case-insensitive), at most a third of its
/// length (and 2 at least) away and less than half of the shorter name, nearest first, ties in candidate
/// order. For "did you mean" messages.
std::vector<std::string_view> NearestNames(std::string_view name,
                                           std::span<const std::string_view> candidates, size_t most = 3);

}  // namespace weft
