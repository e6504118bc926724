// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Text for the graph: glyphs of two weights from the signed-distance atlas, one line at a time, no kerning.
// Bytes that are no UTF-8, and characters that the atlas lacks, show as the replacement glyph.
#pragma once

#include <string_view>

#include "inspector/render/quad.h"

namespace weft::render {

enum class Weight { kRegular = 0, kSemiBold = 1 };

/// Width in pixels of `text` at `size` pixels per em.
float TextWidth(std::string_view text, float size, Weight weight);
/// Adds `text` with its baseline starting at (x, y). Text wider than `most` ends in an ellipsis; nothing is
/// drawn where not even that fits. Returns the width drawn.
float DrawText(QuadList& out, std::string_view text, float x, float y, float size, Weight weight, Color color,
               float most = 1e9f);

/// The atlas for the GPU: one byte per pixel.
struct Atlas {
  const unsigned char* pixels;
  int width, height, em, spread;
};
Atlas TextAtlas();

}  // namespace weft::render
