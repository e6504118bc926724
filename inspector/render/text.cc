// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/render/text.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace weft::render {
namespace {

struct AtlasGlyph {
  uint32_t code;
  int face, x, y, w, h, left, top;
  float advance;
};
#include "inspector/render/atlas.inc"

constexpr uint32_t kReplacement = 0xFFFD, kEllipsis = 0x2026;

struct GlyphIndex {
  std::array<std::array<int16_t, 128>, 2> ascii;
  GlyphIndex() {
    for (auto& face : ascii) face.fill(-1);
    int i = 0;
    for (const AtlasGlyph& glyph : kAtlasGlyphs) {
      if (glyph.code < 128) ascii[glyph.face][glyph.code] = static_cast<int16_t>(i);
      ++i;
    }
  }
};

const AtlasGlyph& Find(uint32_t code, int face) {
  static const GlyphIndex index;
  if (code < 128 && index.ascii[face][code] >= 0) return kAtlasGlyphs[index.ascii[face][code]];
  const AtlasGlyph* replacement = &kAtlasGlyphs[index.ascii[face]['?']];
  for (const AtlasGlyph& glyph : kAtlasGlyphs) {
    if (glyph.face != face) continue;
    if (glyph.code == code) return glyph;
    if (glyph.code == kReplacement) replacement = &glyph;
  }
  return *replacement;
}

/// Takes one character off the front of `text`.
uint32_t NextCode(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t first = byte(0);
  const size_t more = first < 0x80 ? 0 : first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 4;
  if (more == 0) {
    text.remove_prefix(1);
    return first < 32 ? kReplacement : first;
  }
  uint32_t code = first & (0x3F >> more);
  bool good = more < 4 && text.size() > more;
  for (size_t i = 1; good && i <= more; ++i) {
    good = (byte(i) & 0xC0) == 0x80;
    code = code << 6 | (byte(i) & 0x3F);
  }
  text.remove_prefix(good ? more + 1 : 1);
  return good ? code : kReplacement;
}

void DrawGlyph(QuadList& out, const AtlasGlyph& glyph, float x, float y, float scale, Color color) {
  if (glyph.w == 0) return;
  const auto pack = [](int u, int v) { return static_cast<uint32_t>(u) | static_cast<uint32_t>(v) << 16; };
  out.Glyph({x + glyph.left * scale, y - glyph.top * scale, glyph.w * scale, glyph.h * scale, color,
             pack(glyph.x, glyph.y), Style(QuadKind::kGlyph), pack(glyph.x + glyph.w, glyph.y + glyph.h)});
}

}  // namespace

Atlas TextAtlas() { return {kAtlasPixels, kAtlasWidth, kAtlasHeight, kAtlasEm, kAtlasSpread}; }

float TextWidth(std::string_view text, float size, Weight weight) {
  const int face = static_cast<int>(weight);
  float width = 0;
  while (!text.empty()) width += Find(NextCode(text), face).advance;
  return width * size / kAtlasEm;
}

float DrawText(QuadList& out, std::string_view text, float x, float y, float size, Weight weight, Color color,
               float most) {
  const int face = static_cast<int>(weight);
  const float scale = size / kAtlasEm;
  const float ellipsis = Find(kEllipsis, face).advance * scale;
  // One pass when all fits in what is left after an ellipsis; a look ahead only near the end.
  float pen = 0;
  while (!text.empty()) {
    std::string_view rest = text;
    const AtlasGlyph& glyph = Find(NextCode(rest), face);
    const float advance = glyph.advance * scale;
    if (pen + advance + ellipsis > most && pen + TextWidth(text.substr(0, 64), size, weight) > most) {
      if (pen + ellipsis > most) return pen;
      DrawGlyph(out, Find(kEllipsis, face), x + pen, y, scale, color);
      return pen + ellipsis;
    }
    DrawGlyph(out, glyph, x + pen, y, scale, color);
    pen += advance;
    text = rest;
  }
  return pen;
}

}  // namespace weft::render
