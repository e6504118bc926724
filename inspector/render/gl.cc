// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/render/gl.h"

#include <GLES3/gl3.h>

#include "inspector/render/text.h"

namespace weft::render {
namespace {

constexpr int kRowTexels = 1024, kRowQuads = kRowTexels / 2, kMaxRows = 2048;

// Shaders are put together per program: each has only what its quads need. Vertex shaders place six corners a
// quad; `at` runs over the quad in pixels from its top left corner, and quads with soft edges are a pixel
// wider.
constexpr char kVertexHead[] = R"(#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D quads;
uniform vec2 view;  // 2/width, 2/height; negative height: upside down, into a picture
uniform int first;
flat out uvec4 look;
flat out vec4 size;  // w, h, radius, stroke
out vec2 at;
void main() {
  int vertex = gl_VertexID / 6, corner = gl_VertexID - vertex * 6;
  int quad = vertex + first;
  ivec2 texel = ivec2((quad & 511) * 2, quad >> 9);
  vec4 rect = uintBitsToFloat(texelFetch(quads, texel, 0));
  look = texelFetch(quads, texel + ivec2(1, 0), 0);
  size = vec4(rect.zw, float((look.z >> 4) & 1023u) * 0.25, float((look.z >> 14) & 1023u) * 0.125);
  vec2 side = vec2(corner == 1 || corner == 2 || corner == 4 ? 1.0 : 0.0,
                   corner == 2 || corner == 4 || corner == 5 ? 1.0 : 0.0);
)";
constexpr char kVertexTail[] = R"(
  gl_Position = vec4(position.x * view.x - 1.0, (1.0 - position.y * abs(view.y)) * sign(view.y), 0.0, 1.0);
}
)";
constexpr char kPlain[] = R"(
  at = side;
  vec2 position = rect.xy + side * rect.zw;
)";
constexpr char kGrown[] = R"(
  at = side * (rect.zw + 2.0) - 1.0;
  vec2 position = rect.xy + at;
)";
constexpr char kStroked[] = R"(
  vec2 position;
  if ((look.z & 15u) == 1u) {
    float len = max(length(rect.zw), 1e-4);
    vec2 along = rect.zw / len, across = vec2(-along.y, along.x);
    float half_width = size.w * 0.5 + 1.0;
    at = vec2(side.x * len, (side.y * 2.0 - 1.0) * half_width);
    position = rect.xy + along * at.x + across * at.y;
  } else {
    at = side * (rect.zw + 2.0) - 1.0;
    position = rect.xy + at;
  }
)";

constexpr char kFragmentHead[] = R"(#version 300 es
precision highp float;
precision highp int;
uniform sampler2D image;
uniform float spread;
flat in uvec4 look;
flat in vec4 size;
in vec2 at;
out vec4 color;
vec4 Unpack(uint c) { return vec4(c & 255u, (c >> 8) & 255u, (c >> 16) & 255u, c >> 24) * (1.0 / 255.0); }
void main() {
  vec4 fill = Unpack(look.x);
)";
constexpr char kFragmentTail[] = R"(
  color = vec4(fill.rgb * fill.a, fill.a);
}
)";
constexpr char kFlatFill[] = "";
constexpr char kStrokeFill[] = R"(
  uint kind = look.z & 15u, pattern = look.z >> 24;
  if (kind == 1u) {
    fill.a *= clamp(size.w * 0.5 + 0.5 - abs(at.y), 0.0, 1.0);
    if (pattern == 1u) fill.a *= clamp(abs(fract(at.x * 0.1) - 0.5) * 10.0 - 1.0, 0.0, 1.0);
    if (pattern == 2u) fill.a *= clamp(abs(fract(at.x * 0.25) - 0.5) * 4.0 - 0.25, 0.0, 1.0);
  } else if (kind == 2u) {
    vec2 centre = vec2((pattern & 1u) == 1u ? size.x : 0.0, (pattern & 2u) == 2u ? size.y : 0.0);
    // The ring may leave the square by half a stroke, never past the centre's own axes.
    vec2 away = (at - centre) * vec2((pattern & 1u) == 1u ? -1.0 : 1.0, (pattern & 2u) == 2u ? -1.0 : 1.0);
    fill.a *= clamp(size.w * 0.5 + 0.5 - abs(length(away) - size.x), 0.0, 1.0) *
              step(0.0, away.x + 0.01) * step(0.0, away.y + 0.01);
  } else {
    vec2 p = at / size.xy;
    if (pattern == 1u) p = vec2(p.y, p.x);
    else if (pattern == 2u) p.y = 1.0 - p.y;
    else if (pattern == 3u) p = vec2(p.y, 1.0 - p.x);
    vec2 px = pattern == 1u || pattern == 3u ? size.yx : size.xy;
    float side = (1.0 - p.y) * 0.5 - abs(p.x - 0.5);
    fill.a *= clamp(min(side * px.x * 0.8, p.y * px.y) + 0.5, 0.0, 1.0);
  }
)";
constexpr char kBoxFill[] = R"(
  uint pattern = look.z >> 24;
  vec2 half_size = size.xy * 0.5, q = abs(at - half_size) - half_size + size.z;
  float d = pattern == 4u ? max(max(q.x, q.y) - size.z, (q.x + q.y - size.z) * 0.70710678)
                          : length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - size.z;
  if (pattern == 1u) fill.a *= clamp(abs(fract(at.y * 0.125) - 0.5) * 8.0 - 0.9, 0.0, 1.0);
  if (pattern == 2u) fill.a *= clamp(abs(fract(at.y * 0.25) - 0.5) * 4.0 - 0.5, 0.0, 1.0);
  if (size.w > 0.0) {
    vec4 border = Unpack(look.y);
    float edge = clamp(d + size.w + 0.5, 0.0, 1.0);
    float a = mix(fill.a, border.a, edge);
    fill = vec4(mix(fill.rgb * fill.a, border.rgb * border.a, edge) / max(a, 1e-4), a);
  }
  fill.a *= clamp(0.5 - d, 0.0, 1.0);
)";
constexpr char kGlyphFill[] = R"(
  vec2 uv0 = vec2(look.y & 65535u, look.y >> 16), uv1 = vec2(look.w & 65535u, look.w >> 16);
  float field = texture(image, mix(uv0, uv1, at) / vec2(textureSize(image, 0))).r - 0.5;
  float pixels = size.y / max(uv1.y - uv0.y, 1.0);  // device pixels per atlas pixel
  fill.a *= clamp(field * 2.0 * spread * pixels + 0.5, 0.0, 1.0);
)";
constexpr char kImageFill[] = "  fill = texture(image, at);\n";

struct Sources {
  const char *vertex, *fragment;
};
constexpr Sources kSources[kNumPrograms] = {{kPlain, kFlatFill},
                                            {kStroked, kStrokeFill},
                                            {kGrown, kBoxFill},
                                            {kPlain, kGlyphFill},
                                            {kPlain, kImageFill}};

std::string Compile(uint32_t type, const std::string& text, uint32_t program) {
  const GLuint shader = glCreateShader(type);
  const char* source = text.c_str();
  glShaderSource(shader, 1, &source, nullptr);
  glCompileShader(shader);
  GLint ok = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
  std::string words;
  if (!ok) {
    char log[1024] = "";
    glGetShaderInfoLog(shader, sizeof(log), nullptr, log);
    words = std::string("shader does not compile: ") + log;
  }
  glAttachShader(program, shader);
  glDeleteShader(shader);
  return words;
}

uint32_t MakeTexture(int filter) {
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return texture;
}

}  // namespace

std::string Gl::Start() {
  const Atlas atlas = TextAtlas();
  for (uint32_t i = 0; i < kNumPrograms; ++i) {
    ProgramState& state = programs_[i];
    state.id = glCreateProgram();
    if (state.id == 0) return "no OpenGL context";
    std::string words =
        Compile(GL_VERTEX_SHADER, std::string(kVertexHead) + kSources[i].vertex + kVertexTail, state.id);
    if (words.empty()) {
      words = Compile(GL_FRAGMENT_SHADER, std::string(kFragmentHead) + kSources[i].fragment + kFragmentTail,
                      state.id);
    }
    if (!words.empty()) return words;
    glLinkProgram(state.id);
  }
  for (ProgramState& state : programs_) {
    GLint ok = 0;
    glGetProgramiv(state.id, GL_LINK_STATUS, &ok);
    if (!ok) return "shaders do not link";
    glUseProgram(state.id);
    glUniform1i(glGetUniformLocation(state.id, "quads"), 0);
    const bool glyphs = &state == &programs_[static_cast<uint32_t>(Program::kGlyph)];
    glUniform1i(glGetUniformLocation(state.id, "image"), glyphs ? 1 : 2);
    glUniform1f(glGetUniformLocation(state.id, "spread"), static_cast<float>(atlas.spread));
    state.view = glGetUniformLocation(state.id, "view");
    state.first = glGetUniformLocation(state.id, "first");
  }
  GLuint vertex_array = 0;
  glGenVertexArrays(1, &vertex_array);
  vertex_array_ = vertex_array;

  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  atlas_ = MakeTexture(GL_LINEAR);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, atlas.width, atlas.height, 0, GL_RED, GL_UNSIGNED_BYTE, atlas.pixels);
  quads_ = MakeTexture(GL_NEAREST);
  picture_ = MakeTexture(GL_LINEAR);
  const uint32_t none = 0;
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, &none);
  GLuint frame = 0;
  glGenFramebuffers(1, &frame);
  frame_ = frame;
  return "";
}

void Gl::Upload(const std::vector<Quad>& quads) {
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, quads_);
  const int rows = static_cast<int>((quads.size() + kRowQuads - 1) / kRowQuads);
  if (rows > quad_rows_) {
    for (quad_rows_ = 16; quad_rows_ < rows;) quad_rows_ *= 2;
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32UI, kRowTexels, quad_rows_, 0, GL_RGBA_INTEGER, GL_UNSIGNED_INT,
                 nullptr);
  }
  const int full = static_cast<int>(quads.size() / kRowQuads),
            rest = static_cast<int>(quads.size() % kRowQuads);
  if (full > 0) {
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, kRowTexels, full, GL_RGBA_INTEGER, GL_UNSIGNED_INT, quads.data());
  }
  if (rest > 0) {
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, full, rest * 2, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT,
                    quads.data() + static_cast<size_t>(full) * kRowQuads);
  }
}

void Gl::DrawQuads(const QuadList& list, int width, int height, Color paper, bool flip) {
  const auto channel = [&](int shift) { return static_cast<float>(paper >> shift & 255) / 255.0f; };
  glViewport(0, 0, width, height);
  glClearColor(channel(0), channel(8), channel(16), channel(24));
  glClear(GL_COLOR_BUFFER_BIT);
  if (list.size() == 0) return;
  glBindVertexArray(vertex_array_);
  glDisable(GL_DEPTH_TEST);
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glActiveTexture(GL_TEXTURE1);
  glBindTexture(GL_TEXTURE_2D, atlas_);
  glActiveTexture(GL_TEXTURE2);
  glBindTexture(GL_TEXTURE_2D, flip ? 0 : picture_);
  Upload(list.quads());
  const float sy = 2.0f / static_cast<float>(height);
  const uint32_t most = static_cast<uint32_t>(kRowQuads) * kMaxRows;
  for (const Batch& batch : list.batches()) {
    if (batch.first + batch.count > most || (flip && batch.program == Program::kImage)) continue;
    const ProgramState& state = programs_[static_cast<uint32_t>(batch.program)];
    glUseProgram(state.id);
    glUniform2f(state.view, 2.0f / static_cast<float>(width), flip ? -sy : sy);
    glUniform1i(state.first, static_cast<GLint>(batch.first));
    glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(batch.count * 6));
  }
}

void Gl::Draw(const QuadList& list, int width, int height, Color paper) {
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  DrawQuads(list, width, height, paper, false);
}

void Gl::Finish() {
  // Reading a pixel waits on every driver; glFinish does not in a browser.
  uint32_t pixel = 0;
  glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, &pixel);
}

void Gl::DrawPicture(const QuadList& list, int width, int height, Color paper) {
  glActiveTexture(GL_TEXTURE2);
  glBindTexture(GL_TEXTURE_2D, picture_);
  if (width != picture_width_ || height != picture_height_) {
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    picture_width_ = width;
    picture_height_ = height;
  }
  glBindFramebuffer(GL_FRAMEBUFFER, frame_);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, picture_, 0);
  DrawQuads(list, width, height, paper, true);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

}  // namespace weft::render
