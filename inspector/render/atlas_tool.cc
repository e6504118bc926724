// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Host tool: rasterises the glyphs that the graph needs as signed distances into one atlas and prints it as a
// C++ include. Runs at build time on the machine that builds, also when the target is WebAssembly.
//
//   atlas_tool REGULAR.otf SEMIBOLD.otf atlas.inc
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_MODULE_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kEm = 36;      // pixels per em in the atlas
constexpr int kSpread = 4;   // distance in pixels that maps to the ends of the byte
constexpr int kWidth = 512;  // atlas width
constexpr int kLevels = 48;  // grey levels kept: fewer compress better and look the same

struct Glyph {
  uint32_t code;
  int face;
  int x = 0, y = 0, w = 0, h = 0;  // place in the atlas
  int left = 0, top = 0;           // from the pen to the bitmap's left edge, from the baseline up to its top
  float advance = 0;               // pixels
  std::vector<uint8_t> pixels;
};

void Fail(const char* what) {
  std::fprintf(stderr, "atlas_tool: %s\n", what);
  std::exit(1);
}

std::vector<uint32_t> Codes() {
  std::vector<uint32_t> codes;
  for (uint32_t c = 32; c < 127; ++c) codes.push_back(c);
  for (uint32_t c : {0xB7, 0xD7, 0x2026, 0x2192, 0x2190, 0x2191, 0x2193, 0xFFFD, 0x2211, 0x2202, 0x2297}) {
    codes.push_back(c);
  }
  return codes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Fail("expected two font files and an output file");
  FT_Library library;
  if (FT_Init_FreeType(&library)) Fail("FreeType does not start");
  FT_Int spread = kSpread;
  FT_Property_Set(library, "sdf", "spread", &spread);
  std::vector<Glyph> glyphs;
  for (int face_index = 0; face_index < 2; ++face_index) {
    FT_Face face;
    if (FT_New_Face(library, argv[1 + face_index], 0, &face)) Fail("cannot read a font");
    FT_Set_Pixel_Sizes(face, 0, kEm);
    for (uint32_t code : Codes()) {
      const FT_UInt index = FT_Get_Char_Index(face, code);
      if (index == 0) continue;
      if (FT_Load_Glyph(face, index, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP)) Fail("cannot load a glyph");
      Glyph glyph;
      glyph.code = code;
      glyph.face = face_index;
      glyph.advance = static_cast<float>(face->glyph->linearHoriAdvance) / 65536.0f;
      if (face->glyph->outline.n_points > 0) {
        if (FT_Render_Glyph(face->glyph, FT_RENDER_MODE_SDF)) Fail("cannot render a glyph");
        const FT_Bitmap& bitmap = face->glyph->bitmap;
        glyph.w = static_cast<int>(bitmap.width);
        glyph.h = static_cast<int>(bitmap.rows);
        glyph.left = face->glyph->bitmap_left;
        glyph.top = face->glyph->bitmap_top;
        for (int y = 0; y < glyph.h; ++y) {
          for (int x = 0; x < glyph.w; ++x) {
            const int value = bitmap.buffer[y * bitmap.pitch + x];
            glyph.pixels.push_back(
                static_cast<uint8_t>((value * (kLevels - 1) + 127) / 255 * 255 / (kLevels - 1)));
          }
        }
      }
      glyphs.push_back(std::move(glyph));
    }
    FT_Done_Face(face);
  }

  // Shelves, tallest glyphs first: within a few per cent of the best for glyphs of one size.
  std::vector<Glyph*> order;
  for (Glyph& glyph : glyphs) {
    if (glyph.w > 0) order.push_back(&glyph);
  }
  std::stable_sort(order.begin(), order.end(), [](const Glyph* a, const Glyph* b) { return a->h > b->h; });
  int x = 0, y = 0, shelf = 0;
  for (Glyph* glyph : order) {
    if (x + glyph->w + 1 > kWidth) {
      x = 0;
      y += shelf + 1;
      shelf = 0;
    }
    glyph->x = x;
    glyph->y = y;
    x += glyph->w + 1;
    shelf = std::max(shelf, glyph->h);
  }
  const int height = (y + shelf + 3) / 4 * 4;
  std::vector<uint8_t> atlas(static_cast<size_t>(kWidth) * height, 0);
  for (const Glyph* glyph : order) {
    for (int row = 0; row < glyph->h; ++row) {
      std::copy_n(glyph->pixels.begin() + row * glyph->w, glyph->w,
                  atlas.begin() + (glyph->y + row) * kWidth + glyph->x);
    }
  }

  std::FILE* out = std::fopen(argv[3], "w");
  if (out == nullptr) Fail("cannot write the output");
  std::fprintf(out, "// Made by atlas_tool; do not edit.\n");
  std::fprintf(out, "constexpr int kAtlasEm = %d, kAtlasSpread = %d, kAtlasWidth = %d, kAtlasHeight = %d;\n",
               kEm, kSpread, kWidth, height);
  std::fprintf(out, "constexpr AtlasGlyph kAtlasGlyphs[] = {\n");
  for (const Glyph& g : glyphs) {
    std::fprintf(out, "{%u,%d,%d,%d,%d,%d,%d,%d,%.4ff},\n", g.code, g.face, g.x, g.y, g.w, g.h, g.left, g.top,
                 g.advance);
  }
  std::fprintf(out, "};\nconstexpr unsigned char kAtlasPixels[] = {");
  for (size_t i = 0; i < atlas.size(); ++i) std::fprintf(out, "%s%d,", i % 40 == 0 ? "\n" : "", atlas[i]);
  std::fprintf(out, "};\n");
  if (std::fclose(out) != 0) Fail("cannot write the output");
  FT_Done_FreeType(library);
}
