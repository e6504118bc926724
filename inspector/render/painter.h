// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Painter: from a scene, a camera and what is marked to the list of quads of one frame. Work goes with what
// is on the screen, never with the size of the scene. It knows no GL and keeps no clock; it owns a copy of
// the scene's words. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "inspector/render/quad.h"
#include "inspector/render/theme.h"
#include "inspector/scene.h"

namespace weft::render {

/// (x, y) is the world point in the middle of the view, `scale` CSS pixels per world unit.
struct Camera {
  double x = 0, y = 0, scale = 1;
};

/// A place on the screen in CSS pixels.
struct Box2 {
  float x = 0, y = 0, w = 0, h = 0;
};

/// What is looked at, on the screen or in a picture: `w` by `h` CSS pixels, the world point (x, y) in the top
/// left corner.
struct Sight {
  double x = 0, y = 0, scale = 1;
  float w = 0, h = 0;
};

/// Where something may be written beside an edge, CSS pixels of a sight: where it leaves its writer; below
/// the writer when it leaves sideways.
struct EdgePlace {
  uint32_t value, count;  // the first of its values, and how many
  float x, y;
  bool up;            // it leaves upwards
  float left, right;  // the room on either side, up to a box, a title, the end of the sight
};
/// Places beside the data edges that start in `part` of a sight, one for each value, at most `most`, for a
/// line of text `line` CSS pixels high. None at scales where boxes can't be read in full. Work goes with the
/// part.
std::vector<EdgePlace> FindEdgePlaces(const SceneView& scene, const Sight& sight, const Box2& part,
                                      size_t most, float line);

enum class Mark : uint32_t { kSelected, kRelated, kMatch, kHover };
inline constexpr uint32_t kNumMarks = 4;

class Painter {
 public:
  /// Takes over `words`. Returns false, and shows nothing, when they are no scene.
  bool SetScene(std::vector<uint32_t> words);
  void SetTheme(const Theme& theme) { theme_ = theme; }
  /// Size in device pixels and device pixels per CSS pixel.
  void SetSize(int width, int height, float ratio);
  /// Replaces what carries `mark`: boxes that show one of `ops` or are the frame or box of one of `scopes`,
  /// and edges and chips of `values`. Linear in the scene when there are values.
  void SetMark(Mark mark, std::span<const uint32_t> ops, std::span<const uint32_t> scopes,
               std::span<const uint32_t> values);
  /// A word for each op: the colour 0xRRGGBB that its box takes on, how much of it (0..127) from bit 24 on,
  /// and bit 31 when the box is veiled. A box of several ops takes the most coloured one's; it is veiled
  /// when all are. Empty: none. Linear in the ops.
  void SetTint(std::span<const uint32_t> by_op);
  /// A rectangle that the pointer draws, CSS pixels; no width for none.
  void SetBand(const Box2& band) { band_ = band; }
  void SetMinimap(bool shown) { minimap_shown_ = shown; }

  /// The quads of a frame. Valid until the next call.
  const QuadList& Paint(const Camera& camera);
  /// The quads of the minimap's picture, to be drawn when MinimapChanged() says so.
  const QuadList& PaintMinimap();
  bool MinimapChanged() const { return minimap_changed_; }
  /// Where the minimap stands, CSS pixels; no width when there is none.
  Box2 minimap() const { return minimap_; }
  /// The margin of the view that is the minimap's alone, CSS pixels.
  Box2 minimap_margin() const { return margin_; }

  /// The scene, when there is one.
  const std::optional<SceneView>& scene() const { return view_; }
  const Theme& theme() const { return theme_; }
  float ratio() const { return ratio_; }
  /// What is at a point of the screen (CSS pixels) in the last frame's camera.
  Hit Pick(float x, float y) const;
  /// The ops shown by boxes whose middle is in a rectangle of the screen (CSS pixels), rising.
  std::vector<uint32_t> OpsIn(const Box2& rect) const;
  /// The room that headings need before the bands at a scale, CSS pixels: to the left, or above.
  Box2 HeadingRoom(double scale) const;
  /// The world point that a point of the minimap stands for.
  void MinimapToWorld(float x, float y, double& world_x, double& world_y) const;

 private:
  struct Look;
  float X(int32_t x) const {
    return static_cast<float>((static_cast<double>(x) - camera_.x) * px_) + half_w_;
  }
  float Y(int32_t y) const {
    return static_cast<float>((static_cast<double>(y) - camera_.y) * px_) + half_h_;
  }
  static int32_t ClampToInt(double v) {
    return static_cast<int32_t>(std::clamp(v, -2147483000.0, 2147483000.0));
  }
  float L(float units) const { return units * static_cast<float>(px_); }
  Color T(ThemeColor color) const {
    return veiled_ ? Mix(theme_[color], theme_[ThemeColor::kPaper], 0.78f) : theme_[color];
  }
  Color RoleColor(Role role) const;
  bool Has(const std::vector<uint8_t>& marks, uint32_t index, Mark mark) const {
    return index < marks.size() && (marks[index] >> static_cast<uint32_t>(mark) & 1);
  }

  void PlaceMinimap();
  void PaintOverview();
  void PaintBands();
  /// Heights of the rows of headings, device pixels; 0 for one that says nothing at this scale.
  struct HeadingRows {
    float device = 0, lane = 0;
  };
  bool Tags(double scale) const;
  HeadingRows RowsOfHeadings(double px) const;
  void PaintHeadings();
  void PaintLaneHeading(const SceneBand& band, const HeadingRows& rows);
  void PaintDeviceHeading(std::span<const SceneBand> bands, const HeadingRows& rows);
  void PaintTags();
  void PaintGroups();
  void PaintGroupTitles();
  void PaintEdges(const SceneRect& visible);
  void PaintEdge(const SceneEdge& edge, uint32_t index);
  void PaintNodes(const SceneRect& visible);
  void PaintNode(const SceneNode& node, uint32_t index);
  void PaintBadge(const SceneNode& node, float x, float y, float w);
  void PaintNodeText(const SceneNode& node, float x, float y, float w);
  void PaintChips(const SceneNode& node);
  void PaintMinimapFrame();

  std::vector<uint32_t> words_;
  std::optional<SceneView> view_;
  Theme theme_;
  Camera camera_;
  int width_ = 1, height_ = 1;
  float ratio_ = 1, half_w_ = 0, half_h_ = 0;
  bool veiled_ = false;  // while such a box is painted
  double px_ = 1;        // device pixels per world unit
  Box2 band_, minimap_, margin_;
  bool minimap_shown_ = true, minimap_changed_ = true;
  std::vector<uint8_t> node_marks_, group_marks_, edge_marks_, chip_marks_;  // bit per Mark
  std::vector<uint32_t> tints_, cell_tints_;  // by node, by cell of the overview
  std::vector<uint32_t> match_nodes_;         // for the minimap
  std::vector<IndexRange> ranges_;
  QuadList quads_, minimap_quads_;
};

}  // namespace weft::render
