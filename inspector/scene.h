// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene: all that a renderer needs of one view of one net, as one block of little-endian 32-bit words. It
// holds no pointers, so it goes to another thread or module by transfer and to the GPU as it is: every record
// is a whole number of 16-byte texels (RGBA32UI) and every section starts on a texel. A Scene owns its words;
// a SceneView reads words that somebody else keeps alive. Any thread may read a finished scene. This file
// and scene.cc depend on nothing but core/base/check.h and core/roles/role.h, so that a renderer links no
// more than them.
//
// Coordinates are int32 world units, y down, one unit = one CSS pixel at zoom 1. They are integers so that
// layouts agree to the byte everywhere and far places stay exact: subtract the camera's origin as an integer
// and convert to float afterwards (a million operators are 60,000,000 units tall, beyond float's 2^24).
//
// Block = SceneHeader (64 words), then the sections in the order of SceneSection, each padded to 4 words.
//   kBands      SceneBand   8 words   background strips with a heading, left to right
//   kGroups     SceneNode  12 words   frames of expanded scopes, outer before inner: draw first, in order
//   kNodes      SceneNode  12 words   boxes; they never overlap each other. Sorted by grid cell
//   kChips      SceneChip   8 words   small tags inside a box; the chips of nodes a..b are one range
//   kEdges      SceneEdge   8 words   connectors, one bend pair each. Sorted by grid cell
//   kValues     1 word                value ids of bundles, see SceneEdge::value
//   kOpNodes    1 word per op         (of the net and of those drawn in place) the node or, failing that,
//   nothing (kNone) that shows each op kGrids      SceneGrid   8 words   spatial index: what is visible in a
//   rectangle kGridCells  1 word                see SceneGrid kOverview   1 word per cell       a small
//   picture of everything: minimap, and what to draw when boxes
//                                     are below a pixel
//   kStrings    2 words               byte offset and byte length in kText; string 0 is ""
//   kText       bytes                 UTF-8, not terminated; the count is in bytes
// Nets inside operators may be drawn in place (ViewOptions::opened). Ops and values of all nets of a scene
// are numbered on from those of the outermost, see Session::NetsOfScene.
// Draw order: bands, groups, edges, nodes, chips, text.
// Level of detail, by the scale s in pixels per unit (constants below): under kOverviewScale the overview
// only; under kTitleScale boxes; under kFullScale boxes and titles; else everything.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/roles/role.h"

namespace weft {

inline constexpr uint32_t kSceneMagic = 0x31534657;  // "WFS1"
inline constexpr uint32_t kNone = UINT32_MAX;

inline constexpr float kOverviewScale = 0.02f;
inline constexpr float kTitleScale = 0.35f;
inline constexpr float kFullScale = 0.6f;

enum class SceneSection : uint32_t {
  kBands,
  kGroups,
  kNodes,
  kChips,
  kEdges,
  kValues,
  kOpNodes,
  kGrids,
  kGridCells,
  kOverview,
  kStrings,
  kText,
};
inline constexpr uint32_t kNumSceneSections = 12;

struct SceneSectionRange {
  uint32_t offset;  // in words from the start of the block, a multiple of 4
  uint32_t count;   // in records (kText: bytes)
};

struct SceneHeader {
  uint32_t magic;                                             // word 0
  uint32_t version;                                           // 1: 1
  uint32_t num_words;                                         // 2: of the whole block
  uint32_t flags;                                             // 3: SceneFlags
  int32_t x, y, w, h;                                         // 4..7: bounds of everything drawn
  uint32_t net;                                               // 8: NetId of the session
  uint32_t num_ops;                                           // 9: of the net
  uint32_t mode;                                              // 10: LayoutMode: 1 flow, 2 mirror
  uint32_t num_hidden;                                        // 11: ops that no node shows
  uint32_t overview_cols, overview_rows;                      // 12, 13
  uint32_t overview_cell_w, overview_cell_h;                  // 14, 15: world units; cell 0 starts at x, y
  std::array<SceneSectionRange, kNumSceneSections> sections;  // 16..39
  int32_t focus_x, focus_y, focus_w, focus_h;                 // 40..43: where to look first
  std::array<uint32_t, 20> reserved;                          // 44..63: 0
};
static_assert(sizeof(SceneHeader) == 256);

enum SceneFlags : uint32_t {
  kSceneHorizontal = 1,  // data flows left to right: what is said about down holds for right
  kSceneFolded = 2,      // identical replicas are drawn once
  kSceneUnchecked = 4,   // a large net, drawn before Session::Findings was asked: no box is marked
  kSceneFoldable = 8,    // there are identical replicas, drawn once or side by side
};

struct SceneBand {
  int32_t x, y, w, h;
  uint32_t role;    // Role
  uint32_t device;  // which device column, kNone when there is one only
  uint32_t title;   // string: "Forward", "gpu_0 x8 - Backward"
  uint32_t count;   // ops in it
};
static_assert(sizeof(SceneBand) == 32);

enum class NodeKind : uint8_t {
  kOp,      // id = op index
  kScope,   // a collapsed scope; id = ScopeId
  kGroup,   // frame of an expanded scope; id = ScopeId
  kBundle,  // "+12 more": ops of one row and band that are drawn as one; id = the first op
  kPort,    // a blob that comes into a net drawn in place, or leaves it; id = the ValueId around it, or kNone
};

/// The id of a frame (kGroup with kNodeNested) around what an op holds: its op, with this bit.
inline constexpr uint32_t kFrameOfOp = 0x80000000u;

enum NodeFlags : uint32_t {
  kNodeGradient = 1,      // is_gradient_op is set
  kNodeInPlace = 2,       // writes a blob that it reads
  kNodeUnknown = 4,       // type is not in the operator set
  kNodeFinding = 8,       // a finding of severity warning names it (or an op inside), see kSceneUnchecked
  kNodeError = 16,        // a finding of severity error does
  kNodeNested = 32,       // holds nets: double click enters
  kNodeDiffers = 64,      // no such op in the other replicas, or not the same
  kNodeRepeats = 128,     // its scope has the same structure as others
  kNodeExpandable = 256,  // a scope that can be expanded
  kNodeSynthetic = 512,   // a scope made by cutting a long sequence, not by names
};

/// kind: bits 0..7, role: bits 8..15, flags: bits 16..31 of SceneNode::style.
struct SceneNode {
  int32_t x, y, w, h;   // top left corner and size
  uint32_t style;       //
  uint32_t id;          // op index or ScopeId, by kind
  uint32_t title;       // string: operator type, scope name
  uint32_t subtitle;    // string: operator or blob name; 0 for none. Elide both to the box
  uint32_t group;       // index of the innermost group around it, kNone at top level
  uint32_t first_chip;  // into kChips
  uint32_t num_chips;   //
  uint32_t count;       // ops that it stands for, replicas not counted

  NodeKind kind() const { return static_cast<NodeKind>(style & 0xff); }
  Role role() const { return static_cast<Role>((style >> 8) & 0xff); }
  uint32_t flags() const { return style >> 16; }
};
static_assert(sizeof(SceneNode) == 48);

enum class ChipKind : uint8_t {
  kParam,     // a blob from outside that training updates, or that an init net fills
  kInput,     // any other blob from outside
  kOutput,    // a declared external output
  kRefIn,     // a blob that comes from far away or that very many read: the edge is not drawn
  kRefOut,    // this op writes such a blob
  kMore,      // "+3": chips left out; value = kNone
  kControl,   // a blob that the op waits for without reading it; value = kNone when nobody writes it before
  kArgument,  // "kernel 3"; value = kNone
};

struct SceneChip {
  int32_t x, y, w, h;
  uint32_t style;  // kind: bits 0..7, role of the blob's writer: bits 8..15, rest 0
  uint32_t value;  // ValueId
  uint32_t node;   // the node it belongs to
  uint32_t text;   // string

  ChipKind kind() const { return static_cast<ChipKind>(style & 0xff); }
};
static_assert(sizeof(SceneChip) == 32);

enum class EdgeKind : uint8_t {
  kData,     // a value and its readers, inside one band
  kStash,    // forward op to its gradient op: what the backward pass keeps. Thin; hide until hovered
  kUpdate,   // gradient to collective to update, along a row
  kControl,  // control_inputs
};

enum EdgeFlags : uint32_t {
  kEdgeHvh =
      1,  // horizontal, vertical at x = mid, horizontal; else vertical, horizontal at y = mid, vertical
  kEdgeArrow = 2,   // ends at a reader, (x1, y1): arrowhead there
  kEdgeBundle = 4,  // stands for `count` values: kValues[value .. value + count)
  kEdgeUp = 8,      // data flows up (backward band): (x0, y0) is still the writer's end
};

/// One connector from (x0, y0), the writer's side, to (x1, y1), the readers' side. Straight when the bend has
/// no length. A value's way through several rows and groups is several connectors that meet end to end.
struct SceneEdge {
  int32_t x0, y0, x1, y1;
  int32_t mid;
  uint32_t value;  // ValueId, or index into kValues when kEdgeBundle
  uint32_t style;  // kind: bits 0..7, role of the writer: bits 8..15, flags: bits 16..31
  uint32_t count;  // values that it stands for

  EdgeKind kind() const { return static_cast<EdgeKind>(style & 0xff); }
  Role role() const { return static_cast<Role>((style >> 8) & 0xff); }
  uint32_t flags() const { return style >> 16; }
};
static_assert(sizeof(SceneEdge) == 32);

/// One level of the spatial index. Level l has square tiles of side 1 << log2_tile from (x, y) on, cols by
/// rows of them. An element is in the tile of its bounding box's top left corner, on the first level whose
/// tile is at least as wide and as high as the box: so what overlaps a rectangle lies in the tiles from one
/// tile left of and above it on. Elements are sorted by level, tile row, tile column; tile (r, c) holds
/// elements [cell[r * cols + c], cell[r * cols + c + 1]) with cell = kGridCells + first_cell, which has
/// cols * rows + 1 entries. Neighbouring tiles of a row are thus one range.
struct SceneGrid {
  uint32_t section;  // SceneSection: kNodes or kEdges
  uint32_t log2_tile;
  int32_t x, y;
  uint32_t cols, rows;
  uint32_t first_cell;
  uint32_t reserved;
};
static_assert(sizeof(SceneGrid) == 32);

struct SceneRect {
  int32_t x, y, w, h;
  bool Overlaps(const SceneRect& o) const {
    return x < int64_t{o.x} + o.w && o.x < int64_t{x} + w && y < int64_t{o.y} + o.h && o.y < int64_t{y} + h;
  }
  bool Contains(int32_t px, int32_t py) const {
    return px >= x && px < int64_t{x} + w && py >= y && py < int64_t{y} + h;
  }
};

/// Reads a block. Copyable; the words must outlive it and be 4-byte aligned.
class SceneView {
 public:
  /// Empty when the words are not a scene of this version, or a section or index in it points outside. Costs
  /// one look at every record's indices, so that a renderer need not check them again.
  static std::optional<SceneView> Open(std::span<const uint32_t> words);

  const SceneHeader& header() const { return *reinterpret_cast<const SceneHeader*>(words_.data()); }
  std::span<const uint32_t> words() const { return words_; }
  SceneRect bounds() const { return {header().x, header().y, header().w, header().h}; }

  std::span<const SceneBand> bands() const { return Records<SceneBand>(SceneSection::kBands); }
  std::span<const SceneNode> groups() const { return Records<SceneNode>(SceneSection::kGroups); }
  std::span<const SceneNode> nodes() const { return Records<SceneNode>(SceneSection::kNodes); }
  std::span<const SceneChip> chips() const { return Records<SceneChip>(SceneSection::kChips); }
  std::span<const SceneEdge> edges() const { return Records<SceneEdge>(SceneSection::kEdges); }
  std::span<const uint32_t> values() const { return Records<uint32_t>(SceneSection::kValues); }
  std::span<const uint32_t> op_nodes() const { return Records<uint32_t>(SceneSection::kOpNodes); }
  std::span<const SceneGrid> grids() const { return Records<SceneGrid>(SceneSection::kGrids); }
  std::span<const uint32_t> grid_cells() const { return Records<uint32_t>(SceneSection::kGridCells); }
  /// Each word is 4 bytes of coverage, 0..255: forward, backward, update, collective.
  std::span<const uint32_t> overview() const { return Records<uint32_t>(SceneSection::kOverview); }
  uint32_t num_strings() const { return Range(SceneSection::kStrings).count; }
  std::string_view text(uint32_t string) const;
  /// The value ids that an edge stands for.
  std::span<const uint32_t> edge_values(const SceneEdge& edge) const {
    return edge.flags() & kEdgeBundle ? values().subspan(edge.value, edge.count)
                                      : std::span<const uint32_t>(&edge.value, 1);
  }

 private:
  explicit SceneView(std::span<const uint32_t> words) : words_(words) {}
  const SceneSectionRange& Range(SceneSection section) const {
    return header().sections[static_cast<uint32_t>(section)];
  }
  template <typename T>
  std::span<const T> Records(SceneSection section) const {
    const SceneSectionRange& range = Range(section);
    return {reinterpret_cast<const T*>(words_.data() + range.offset), range.count};
  }

  std::span<const uint32_t> words_;
};

struct Scene {
  std::vector<uint32_t> words;
  /// REQUIRES: a finished scene.
  SceneView view() const { return *SceneView::Open(words); }
};

struct IndexRange {
  uint32_t first, last;  // [first, last)
};
/// Replaces `ranges` by the index ranges of nodes or edges that may overlap `rect`: all that do, and few
/// others; in rising order, neighbours joined. Does no work in proportion to the scene.
void FindVisible(const SceneView& scene, SceneSection section, const SceneRect& rect,
                 std::vector<IndexRange>& ranges);

enum class HitKind : uint32_t { kNothing, kNode, kChip, kGroup, kEdge, kBand };
struct Hit {
  HitKind kind = HitKind::kNothing;
  uint32_t index = kNone;  // of the record in its section
};
/// What is at a world position: a chip, else a node, else an edge within `slack` units, else the innermost
/// group, else a band.
Hit HitTest(const SceneView& scene, int32_t x, int32_t y, int32_t slack);

enum class Direction : uint32_t { kUp, kDown, kLeft, kRight };
/// The node to go to from node `from` by an arrow key where no edge decides: the nearest one whose centre
/// lies in that direction, kNone when there is none within about 4,000 units.
uint32_t NearestNode(const SceneView& scene, uint32_t from, Direction direction);

}  // namespace weft
