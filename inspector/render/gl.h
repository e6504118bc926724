// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The GPU side: a program for each sort of quad, one texture of quads, one draw call a batch. OpenGL ES 3 /
// WebGL 2, made for the context that is current on the calling thread. Vertices are pulled by gl_VertexID
// from the texture, six a quad, because instancing is ten times slower in software rasterisers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "inspector/render/quad.h"

namespace weft::render {

class Gl {
 public:
  Gl() = default;
  Gl(const Gl&) = delete;
  Gl& operator=(const Gl&) = delete;

  /// Compiles and uploads what never changes. Returns the driver's words when it refuses, "" when ready.
  std::string Start();
  /// Clears the target with `paper` and draws `list`. `width` and `height` in device pixels.
  void Draw(const QuadList& list, int width, int height, Color paper);
  /// Waits until all is drawn: for measuring.
  void Finish();
  /// As Draw, into the picture that QuadKind::kImage shows. Makes it that size.
  void DrawPicture(const QuadList& list, int width, int height, Color paper);

 private:
  void Upload(const std::vector<Quad>& quads);
  void DrawQuads(const QuadList& list, int width, int height, Color paper, bool flip);

  struct ProgramState {
    uint32_t id = 0;
    int view = -1, first = -1;  // uniforms
  };
  std::array<ProgramState, kNumPrograms> programs_;
  uint32_t vertex_array_ = 0, quads_ = 0, atlas_ = 0, picture_ = 0, frame_ = 0;
  int quad_rows_ = 0, picture_width_ = 0, picture_height_ = 0;
};

}  // namespace weft::render
