// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// render.wasm: the renderer on a page's canvas. Plain functions over numbers and byte ranges; the page's
// web/src/render.ts gives them names and types. The page's thread only.
#include <emscripten/emscripten.h>
#include <emscripten/html5.h>

#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "inspector/render/gl.h"
#include "inspector/render/painter.h"

namespace {

using weft::render::Box2;
using weft::render::Camera;
using weft::render::Gl;
using weft::render::Mark;
using weft::render::Painter;

struct State {
  Painter painter;
  Gl* gl = nullptr;
  const weft::render::QuadList* frame = nullptr;
  int width = 1, height = 1;
  std::string words;
  double numbers[8];
  std::vector<uint32_t> ops;
  std::vector<double> places;
};

State& Get() {
  static State state;
  return state;
}

}  // namespace

extern "C" {

/// Makes the context on the canvas that `selector` names. Returns null, or why it cannot. Call again when a
/// lost context came back.
EMSCRIPTEN_KEEPALIVE const char* weftStart(const char* selector) {
  State& state = Get();
  EmscriptenWebGLContextAttributes attributes;
  emscripten_webgl_init_context_attributes(&attributes);
  attributes.majorVersion = 2;
  attributes.alpha = false;
  attributes.depth = false;
  attributes.stencil = false;
  attributes.antialias = false;
  attributes.preserveDrawingBuffer = false;
  attributes.powerPreference = EM_WEBGL_POWER_PREFERENCE_DEFAULT;
  const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context = emscripten_webgl_create_context(selector, &attributes);
  if (context <= 0) return "this browser gives no WebGL 2";
  emscripten_webgl_make_context_current(context);
  delete state.gl;
  state.gl = new Gl;
  state.words = state.gl->Start();
  state.painter.SetSize(state.width, state.height,
                        state.painter.ratio());  // the minimap's picture is lost too
  return state.words.empty() ? nullptr : state.words.c_str();
}

EMSCRIPTEN_KEEPALIVE void weftSize(int width, int height, float ratio) {
  State& state = Get();
  state.width = width;
  state.height = height;
  state.painter.SetSize(width, height, ratio);
}

/// Room for `words` words of a scene; weftScene() takes them.
EMSCRIPTEN_KEEPALIVE uint32_t* weftSceneRoom(uint32_t words) {
  return static_cast<uint32_t*>(std::malloc(static_cast<size_t>(words) * 4));
}

EMSCRIPTEN_KEEPALIVE bool weftScene(uint32_t* words, uint32_t count) {
  State& state = Get();
  std::vector<uint32_t> scene(words, words + count);
  std::free(words);
  state.frame = nullptr;
  return state.painter.SetScene(std::move(scene));
}

/// `colors` holds kNumThemeColors words 0xRRGGBB.
EMSCRIPTEN_KEEPALIVE void weftTheme(const uint32_t* colors) {
  weft::render::Theme theme;
  for (uint32_t i = 0; i < weft::render::kNumThemeColors; ++i)
    theme.colors[i] = weft::render::Rgba(colors[i]);
  Get().painter.SetTheme(theme);
  Get().painter.SetSize(Get().width, Get().height, Get().painter.ratio());
}

/// `ids`: first the ops, then the scopes, then the values.
EMSCRIPTEN_KEEPALIVE void weftMark(uint32_t mark, const uint32_t* ids, uint32_t ops, uint32_t scopes,
                                   uint32_t values) {
  Get().painter.SetMark(static_cast<Mark>(mark), {ids, ops}, {ids + ops, scopes},
                        {ids + ops + scopes, values});
}

/// A word for each of `count` ops, see Painter::SetTint.
EMSCRIPTEN_KEEPALIVE void weftTint(const uint32_t* by_op, uint32_t count) {
  Get().painter.SetTint({by_op, count});
}

/// FindEdgePlaces in a sight from world (x, y) on, and in a part of it: how many, then value, count, x, y,
/// up, left and right of each. Valid until the next call.
EMSCRIPTEN_KEEPALIVE const double* weftEdgePlaces(double x, double y, double scale, float w, float h,
                                                  float part_x, float part_y, float part_w, float part_h,
                                                  uint32_t most, float line) {
  State& state = Get();
  state.places.assign(1, 0);
  const auto& scene = state.painter.scene();
  if (!scene) return state.places.data();
  for (const weft::render::EdgePlace& at : weft::render::FindEdgePlaces(
           *scene, {x, y, scale, w, h}, {part_x, part_y, part_w, part_h}, most, line))
    state.places.insert(state.places.end(),
                        {double(at.value), double(at.count), at.x, at.y, double(at.up), at.left, at.right});
  state.places[0] = static_cast<double>(state.places.size() / 7);
  return state.places.data();
}

/// Painter::HeadingRoom: to the left and above.
EMSCRIPTEN_KEEPALIVE const double* weftHeadingRoom(double scale) {
  State& state = Get();
  const Box2 room = state.painter.HeadingRoom(scale);
  state.numbers[0] = room.w, state.numbers[1] = room.h;
  return state.numbers;
}

EMSCRIPTEN_KEEPALIVE void weftBand(float x, float y, float w, float h) {
  Get().painter.SetBand({x, y, w, h});
}
EMSCRIPTEN_KEEPALIVE void weftMinimap(bool shown) {
  Get().painter.SetMinimap(shown);
  Get().painter.SetSize(Get().width, Get().height, Get().painter.ratio());
}

/// Makes the list of a frame: all of a frame's work outside GL. Returns the number of quads.
EMSCRIPTEN_KEEPALIVE uint32_t weftPaint(double x, double y, double scale) {
  State& state = Get();
  state.frame = &state.painter.Paint({x, y, scale});
  return static_cast<uint32_t>(state.frame->size());
}

/// Draws that list. `finish` waits until the GPU is done, for measuring.
EMSCRIPTEN_KEEPALIVE void weftDraw(bool finish) {
  State& state = Get();
  if (state.gl == nullptr || state.frame == nullptr) return;
  const auto paper = state.painter.theme()[weft::render::ThemeColor::kPaper];
  if (state.painter.MinimapChanged()) {
    const weft::render::QuadList& map = state.painter.PaintMinimap();
    const Box2 box = state.painter.minimap();
    const float ratio = state.painter.ratio();
    if (box.w > 0)
      state.gl->DrawPicture(map, static_cast<int>(box.w * ratio), static_cast<int>(box.h * ratio), paper);
  }
  state.gl->Draw(*state.frame, state.width, state.height, paper);
  if (finish) state.gl->Finish();
}

/// Draws a quad with each program, and the last frame over them: drivers compile the rest of a shader when it
/// first draws.
EMSCRIPTEN_KEEPALIVE void weftRehearse() {
  State& state = Get();
  if (state.gl == nullptr) return;
  weft::render::QuadList quads;
  quads.Fill(0, 0, 1, 1, 0);
  quads.Line(0, 0, 1, 1, 0, 1);
  quads.Box(0, 0, 1, 1, 0);
  quads.Glyph({0, 0, 1, 1, 0, 0, 0, 0});
  quads.Image(0, 0, 1, 1);
  quads.EndLayer();
  const auto paper = state.painter.theme()[weft::render::ThemeColor::kPaper];
  state.gl->DrawPicture(quads, 1, 1, paper);
  state.gl->Draw(quads, state.width, state.height, paper);
  weftDraw(false);
}

/// What is at (x, y), CSS pixels: eight words at the returned place: HitKind, node kind or chip kind or edge
/// kind, id (op, scope), value (chips, edges), and 1 in the fifth when the box can be entered or expanded.
EMSCRIPTEN_KEEPALIVE const double* weftPick(float x, float y) {
  State& state = Get();
  double* out = state.numbers;
  std::fill(out, out + 8, 0.0);
  const weft::Hit hit = state.painter.Pick(x, y);
  const auto& scene = state.painter.scene();
  out[0] = static_cast<double>(hit.kind);
  switch (hit.kind) {
    case weft::HitKind::kNothing:
      break;
    case weft::HitKind::kNode:
    case weft::HitKind::kGroup: {
      const weft::SceneNode& node =
          hit.kind == weft::HitKind::kNode ? scene->nodes()[hit.index] : scene->groups()[hit.index];
      out[1] = static_cast<double>(node.kind());
      out[2] = node.id;
      out[4] = node.flags();
      break;
    }
    case weft::HitKind::kChip: {
      const weft::SceneChip& chip = scene->chips()[hit.index];
      out[1] = static_cast<double>(chip.kind());
      out[2] = scene->nodes()[chip.node].id;
      out[3] = chip.value;
      out[4] = static_cast<double>(scene->nodes()[chip.node].kind());
      break;
    }
    case weft::HitKind::kEdge: {
      const weft::SceneEdge& edge = scene->edges()[hit.index];
      out[1] = static_cast<double>(edge.kind());
      out[2] = edge.count;
      out[3] = scene->edge_values(edge).empty() ? weft::kNone : scene->edge_values(edge)[0];
      break;
    }
    case weft::HitKind::kBand:
      out[2] = hit.index;
      break;
  }
  return out;
}

/// x, y, w, h of everything (what = 0), of where to look first (1), of the minimap in CSS pixels (2), of the
/// box that shows op `id` (3), of the box or frame of scope `id` (4), of the margin that the minimap stands
/// in (5). No width when there is none.
EMSCRIPTEN_KEEPALIVE const double* weftRect(uint32_t what, uint32_t id) {
  State& state = Get();
  double* out = state.numbers;
  std::fill(out, out + 8, 0.0);
  const auto put = [&](double x, double y, double w, double h) {
    out[0] = x, out[1] = y, out[2] = w, out[3] = h;
  };
  const auto& scene = state.painter.scene();
  if (!scene) return out;
  const weft::SceneHeader& header = scene->header();
  if (what == 0) put(header.x, header.y, header.w, header.h);
  if (what == 1) put(header.focus_x, header.focus_y, header.focus_w, header.focus_h);
  if (what == 2)
    put(state.painter.minimap().x, state.painter.minimap().y, state.painter.minimap().w,
        state.painter.minimap().h);
  if (what == 5) {
    const Box2 margin = state.painter.minimap_margin();
    put(margin.x, margin.y, margin.w, margin.h);
  }
  if (what == 3 && id < scene->op_nodes().size() && scene->op_nodes()[id] < scene->nodes().size()) {
    const weft::SceneNode& node = scene->nodes()[scene->op_nodes()[id]];
    put(node.x, node.y, node.w, node.h);
    out[4] = static_cast<double>(node.kind());
  }
  if (what == 4) {
    for (const weft::SceneNode& node : scene->nodes()) {
      if (node.kind() == weft::NodeKind::kScope && node.id == id) put(node.x, node.y, node.w, node.h);
    }
    for (const weft::SceneNode& group : scene->groups()) {
      if (group.id != id) continue;
      put(group.x, group.y, group.w, group.h);
      if (id & weft::kFrameOfOp) break;  // the first is the one around all that the op holds
    }
  }
  return out;
}

/// The ops whose boxes (or collapsed scopes) have their middle in a rectangle of the view, CSS pixels: how
/// many, then each. Valid until the next call.
EMSCRIPTEN_KEEPALIVE const uint32_t* weftOpsIn(float x, float y, float w, float h) {
  State& state = Get();
  state.ops.assign(1, 0);
  for (uint32_t op : state.painter.OpsIn({x, y, w, h})) state.ops.push_back(op);
  state.ops[0] = static_cast<uint32_t>(state.ops.size()) - 1;
  return state.ops.data();
}

/// The world point under a point of the minimap.
EMSCRIPTEN_KEEPALIVE const double* weftMinimapToWorld(float x, float y) {
  State& state = Get();
  state.painter.MinimapToWorld(x, y, state.numbers[0], state.numbers[1]);
  return state.numbers;
}

/// Counts of the scene: nodes, groups, edges, chips, hidden ops, mode, flags, ops.
EMSCRIPTEN_KEEPALIVE const double* weftCounts() {
  State& state = Get();
  double* out = state.numbers;
  std::fill(out, out + 8, 0.0);
  const auto& scene = state.painter.scene();
  if (!scene) return out;
  const weft::SceneHeader& header = scene->header();
  const double counts[8] = {
      static_cast<double>(scene->nodes().size()), static_cast<double>(scene->groups().size()),
      static_cast<double>(scene->edges().size()), static_cast<double>(scene->chips().size()),
      static_cast<double>(header.num_hidden),     static_cast<double>(header.mode),
      static_cast<double>(header.flags),          static_cast<double>(header.num_ops)};
  std::copy(counts, counts + 8, out);
  return out;
}

/// The box to go to by an arrow key from the one that shows op `id`: the op or scope id, then its kind in
/// [1]; kind -1 when there is none.
EMSCRIPTEN_KEEPALIVE const double* weftNearest(uint32_t op, uint32_t direction) {
  State& state = Get();
  double* out = state.numbers;
  out[0] = 0, out[1] = -1;
  const auto& scene = state.painter.scene();
  if (!scene || op >= scene->op_nodes().size() || scene->op_nodes()[op] >= scene->nodes().size()) return out;
  const uint32_t node =
      weft::NearestNode(*scene, scene->op_nodes()[op], static_cast<weft::Direction>(direction));
  if (node == weft::kNone) return out;
  out[0] = scene->nodes()[node].id;
  out[1] = static_cast<double>(scene->nodes()[node].kind());
  return out;
}

}  // extern "C"
