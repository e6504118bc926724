// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The layered layout of one scope: boxes in given rows, up to four bands side by side that share the rows,
// and orthogonal edges between them. It knows sizes, rows and nets, and nothing of operators. Order within a
// row by barycentre sweeps, x by isotonic regression row by row (least displacement, never an overlap), edges
// through tracks between rows; a net that passes a row has one lane there. All arithmetic is on integers in a
// fixed order, so that equal input gives equal output everywhere. Time and memory are in proportion to boxes
// + pins + lanes (sorting aside); whoever makes the input limits lanes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace weft {

inline constexpr uint32_t kNumBands = 4;

// Distances in world units.
inline constexpr int32_t kBoxGap = 28;      // between boxes of a row
inline constexpr int32_t kLaneGap = 12;     // between lanes, and from a lane to a box
inline constexpr int32_t kRowGap = 30;      // between rows, without tracks
inline constexpr int32_t kTrackGap = 8;     // between tracks
inline constexpr uint32_t kMaxTracks = 12;  // more horizontals than that between two rows share tracks

struct LayeredCell {
  int32_t w = 0, h = 0;  // w = 0: the box has no part in this band
  int32_t axis = 0;      // y in the cell that is level with the axes of the box's other cells
  int32_t axis_x = 0;    // x in the cell that lines up with boxes above and below where pins are fixed
};

/// Where a net meets a box: somewhere in [x, x + w] from the cell's left edge; w = 0 for a fixed place. The
/// edge goes on `inset` units into the cell, to the op that really reads or writes.
struct LayeredPin {
  uint32_t box;
  int32_t x = 0, w = 0;
  int32_t inset = 0;
};

struct LayeredNet {
  uint8_t band = 0;
  bool enters =
      false;  // from the border that data comes from (the top; the bottom for the band that flows up)
  bool leaves = false;
  uint32_t first_pin = 0;
  uint32_t num_sources = 0;  // pins of the writer: usually 1, 0 when the net enters
  uint32_t num_sinks = 0;    // pins after them
};

struct LayeredInput {
  uint32_t num_rows = 0;
  uint32_t up_band = 1;            // the band in which data flows up; kNumBands for none
  std::vector<uint32_t> row;       // box -> row
  std::vector<LayeredCell> cells;  // box * kNumBands + band
  std::vector<LayeredCell> least;  // box -> h and axis that it has at least; empty for none
  std::vector<LayeredNet> nets;
  std::vector<LayeredPin> pins;

  /// As words, for hashing and comparing.
  void AppendWords(std::vector<uint32_t>& words) const;
};

struct LayeredEdge {
  int32_t x0, y0, x1, y1;  // relative to the band's part; (x0, y0) on the writer's side
  int32_t mid;             // y of the horizontal
  uint32_t net;
  bool arrow;  // ends at a reader
};

struct LayeredPort {
  uint32_t net;
  int32_t x;
  bool enters;
};

struct LayeredResult {
  std::vector<int32_t> cell_x, cell_y;        // box * kNumBands + band
  std::array<int32_t, kNumBands> width = {};  // of each band's part, 0 when empty
  std::array<int32_t, kNumBands> axis = {};   // x of the first box's centre: what stays put when others grow
  int32_t height = 0;
  std::vector<LayeredEdge> edges;
  std::vector<LayeredPort> ports;  // where nets cross the border
};

/// REQUIRES: rows < num_rows; sources and sinks of a net in rows that follow its band's direction.
LayeredResult LayOut(const LayeredInput& input);

/// Least-displacement positions: x[i] as near as can be to want[i] (weighted by weight[i] > 0, squared
/// distances) with x[i + 1] - x[i] >= gap[i + 1]. Linear. gap[0] is not used.
void SolveRow(const std::vector<int64_t>& want, const std::vector<int64_t>& weight,
              const std::vector<int64_t>& gap, std::vector<int64_t>& x);

}  // namespace weft
