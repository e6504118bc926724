// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Quad: the one thing the GPU draws. A frame is a list of quads in painter's order: boxes, lines, arcs and
// glyphs alike, in device pixels from the top left corner. The list is made anew for each frame from what is
// visible, so that it stays short and world coordinates may be as large as they like. Values only, no GL.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace weft::render {

/// 0xAABBGGRR, not premultiplied: red is the lowest byte, as the shader unpacks it.
using Color = uint32_t;

constexpr Color Rgba(uint32_t rgb, uint32_t alpha = 255) {
  return (rgb >> 16 & 255) | (rgb & 0xff00) | (rgb & 255) << 16 | alpha << 24;
}
inline Color WithAlpha(Color color, float alpha) {
  const float a = static_cast<float>(color >> 24) * alpha;
  return (color & 0xffffff) | static_cast<uint32_t>(a < 0 ? 0 : a > 255 ? 255 : a + 0.5f) << 24;
}
Color Mix(Color a, Color b, float t);

enum class QuadKind : uint32_t {
  kBox = 0,       // filled, with border, corners rounded (radius) or cut (kCut)
  kLine = 1,      // from (x, y) to (x + w, y + h), `stroke` pixels wide
  kArc = 2,       // a quarter of a ring around one corner of the rectangle; `pattern` is the corner
  kGlyph = 3,     // from the atlas
  kTriangle = 4,  // filled; `pattern` 0..3 points down, right, up, left
  kImage = 5,     // the minimap's picture
};

/// How lines and bars are broken and corners cut: the second channel beside colour.
enum Pattern : uint32_t { kSolid = 0, kDashed = 1, kDotted = 2, kCut = 4 };

/// 32 bytes, uploaded as they are: two RGBA32UI texels.
struct Quad {
  float x, y, w, h;
  Color fill;      // boxes: inside; lines, arcs, glyphs, triangles: the colour
  Color border;    // boxes: the border's colour; glyphs: u0 | v0 << 16 in atlas pixels
  uint32_t style;  // kind | radius*4 << 4 | width*8 << 14 | pattern << 24
  uint32_t extra;  // glyphs: u1 | v1 << 16; dashes: the offset along the line as float bits
};
static_assert(sizeof(Quad) == 32);

constexpr uint32_t Style(QuadKind kind, float radius = 0, float width = 0, uint32_t pattern = kSolid) {
  const uint32_t r = static_cast<uint32_t>(radius * 4 + 0.5f), w = static_cast<uint32_t>(width * 8 + 0.5f);
  return static_cast<uint32_t>(kind) | (r > 1023 ? 1023 : r) << 4 | (w > 1023 ? 1023 : w) << 14 |
         pattern << 24;
}

/// What draws a quad: programs of their own, because a software rasteriser runs every branch of a shader.
enum class Program : uint32_t { kFlat, kStroke, kBox, kGlyph, kImage };
inline constexpr uint32_t kNumPrograms = 5;

struct Batch {
  Program program;
  uint32_t first, count;
};

/// Quads in layers. Within a layer they are drawn program by program in the order above (plain areas,
/// strokes, boxes, text), and in the order given within a program; a layer covers the ones before it.
class QuadList {
 public:
  void Clear() {
    quads_.clear();
    batches_.clear();
    for (std::vector<Quad>& part : parts_) part.clear();
  }
  void EndLayer() {
    for (uint32_t i = 0; i < kNumPrograms; ++i) {
      if (parts_[i].empty()) continue;
      const uint32_t first = static_cast<uint32_t>(quads_.size());
      quads_.insert(quads_.end(), parts_[i].begin(), parts_[i].end());
      batches_.push_back({static_cast<Program>(i), first, static_cast<uint32_t>(parts_[i].size())});
      parts_[i].clear();
    }
  }
  /// Of the layers that ended.
  const std::vector<Quad>& quads() const { return quads_; }
  const std::vector<Batch>& batches() const { return batches_; }
  size_t size() const { return quads_.size(); }

  /// A plain area.
  void Fill(float x, float y, float w, float h, Color fill) {
    Add(Program::kFlat, {x, y, w, h, fill, 0, 0, 0});
  }
  /// The border of an area as four thin fills inside it.
  void Frame(float x, float y, float w, float h, Color color, float width) {
    Fill(x, y, w, width, color);
    Fill(x, y + h - width, w, width, color);
    Fill(x, y + width, width, h - 2 * width, color);
    Fill(x + w - width, y + width, width, h - 2 * width, color);
  }
  void Box(float x, float y, float w, float h, Color fill, Color border = 0, float radius = 0,
           float width = 1, uint32_t pattern = kSolid) {
    Add(Program::kBox,
        {x, y, w, h, fill, border, Style(QuadKind::kBox, radius, border >> 24 ? width : 0, pattern), 0});
  }
  void Line(float x0, float y0, float x1, float y1, Color color, float width, uint32_t pattern = kSolid) {
    Add(Program::kStroke, {x0, y0, x1 - x0, y1 - y0, color, 0, Style(QuadKind::kLine, 0, width, pattern), 0});
  }
  /// Joins a horizontal and a vertical line: `corner` 0..3 = centre of the circle at top left, top right,
  /// bottom left, bottom right of the square at (x, y).
  void Arc(float x, float y, float size, uint32_t corner, Color color, float width) {
    Add(Program::kStroke, {x, y, size, size, color, 0, Style(QuadKind::kArc, 0, width, corner), 0});
  }
  void Triangle(float x, float y, float w, float h, uint32_t direction, Color color) {
    Add(Program::kStroke, {x, y, w, h, color, 0, Style(QuadKind::kTriangle, 0, 0, direction), 0});
  }
  void Image(float x, float y, float w, float h) {
    Add(Program::kImage, {x, y, w, h, 0xffffffff, 0, Style(QuadKind::kImage), 0});
  }
  void Glyph(const Quad& quad) { Add(Program::kGlyph, quad); }

 private:
  void Add(Program program, const Quad& quad) { parts_[static_cast<uint32_t>(program)].push_back(quad); }

  std::vector<Quad> quads_;
  std::vector<Batch> batches_;
  std::array<std::vector<Quad>, kNumPrograms> parts_;
};

}  // namespace weft::render
