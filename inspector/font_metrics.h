// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How wide text is, without a font: advances of printable ASCII in thousandths of the font size, any other
// code point counted as one wide letter. Layout sizes boxes with this table and the renderer's atlas is made
// for the same advances, so that a label fits its box on every screen and a layout is the same everywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

inline constexpr uint32_t kFontFirst = 0x20, kFontLast = 0x7e;
/// Advance of every glyph, in thousandths of the font size: the table is of one width now; a proportional
/// font replaces this function's body and nothing else.
constexpr uint32_t GlyphAdvance(uint32_t codepoint) {
  return codepoint >= kFontFirst && codepoint <= kFontLast ? 602 : 1204;
}

/// Width of UTF-8 `text` in world units (one CSS pixel at zoom 1), rounded up.
constexpr int32_t TextWidth(std::string_view text, int32_t size) {
  uint64_t sum = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      sum += GlyphAdvance(c);
    } else if ((c & 0xc0) != 0x80) {
      sum += GlyphAdvance(0xffff);
    }
  }
  return static_cast<int32_t>((sum * static_cast<uint64_t>(size) + 999) / 1000);
}

// Sizes of the three kinds of text, in world units.
inline constexpr int32_t kTitleSize = 13;     // operator type, scope name
inline constexpr int32_t kSubtitleSize = 11;  // operator or blob name
inline constexpr int32_t kChipSize = 10;      // parameters, references

// Where text stands in a node: x from the node's left edge, baselines from its top edge.
inline constexpr int32_t kTextPad = 9;
inline constexpr int32_t kTitleBaseline = 17;
inline constexpr int32_t kSubtitleBaseline = 33;
inline constexpr int32_t kChipPad = 5;        // x from the chip's left edge
inline constexpr int32_t kChipBaseline = 11;  // from the chip's top edge
inline constexpr int32_t kChipHeight = 15;
inline constexpr int32_t kGroupHeader =
    22;  // height of a group's title bar; its title uses kTitleBaseline - 2

}  // namespace weft
