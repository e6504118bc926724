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
// clang-format off
/// Advances of Inter, thousandths of the font size: of each character the wider of Regular and SemiBold.
inline constexpr uint16_t kFontAdvances[kFontLast - kFontFirst + 1] = {
    282, 309, 404, 644, 650, 844, 663, 222, 394, 394, 544, 673, 296, 466,  291, 379, 667, 481,  622,
    652, 666, 633, 649, 587, 646, 649, 291, 296, 673, 673, 673, 545, 1000, 724, 658, 744, 725,  608,
    587, 755, 744, 275, 561, 677, 567, 907, 753, 775, 644, 776, 651, 650,  660, 742, 724, 1007, 691,
    705, 653, 394, 379, 394, 482, 469, 498, 575, 631, 578, 631, 593, 378,  626, 613, 261, 261,  569,
    261, 898, 610, 608, 625, 625, 397, 550, 380, 609, 576, 838, 563, 576,  562, 394, 358, 394,  673,
};
// clang-format on
constexpr uint32_t GlyphAdvance(uint32_t codepoint) {
  return codepoint >= kFontFirst && codepoint <= kFontLast ? kFontAdvances[codepoint - kFontFirst] : 1100;
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
inline constexpr int32_t kPortBaseline = 14;  // of a port, whose text is of subtitle size
inline constexpr int32_t kChipPad = 5;        // x from the chip's left edge
inline constexpr int32_t kChipBaseline = 11;  // from the chip's top edge
inline constexpr int32_t kChipHeight = 15;
inline constexpr int32_t kGroupHeader = 22;  // height of a group's title bar, title at kTitleBaseline - 2
inline constexpr int32_t kGroupTitleSize = 12;
inline constexpr int32_t kGroupTitlePad = 3;  // around the title, where no edge is drawn

}  // namespace weft
