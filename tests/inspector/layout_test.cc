// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The layout engine alone: row solving, rows, ordering, edges, on small inputs with known answers.
#include <gtest/gtest.h>

#include <algorithm>

#include "inspector/arrange/scope_graph.h"
#include "inspector/arrange/stretches.h"
#include "inspector/layout/band_graph.h"
#include "inspector/layout/layered.h"

namespace weft {
namespace {

TEST(SolveRow, KeepsWishesThatDoNotClash) {
  std::vector<int64_t> x;
  SolveRow({0, 100, 300}, {1, 1, 1}, {0, 50, 50}, x);
  EXPECT_EQ(x, (std::vector<int64_t>{0, 100, 300}));
}

TEST(SolveRow, SharesADisplacementByWeight) {
  std::vector<int64_t> x;
  SolveRow({0, 0}, {1, 1}, {0, 50}, x);
  EXPECT_EQ(x, (std::vector<int64_t>{-25, 25}));
  SolveRow({0, 0}, {9, 1}, {0, 50}, x);
  EXPECT_EQ(x, (std::vector<int64_t>{-5, 45}));
  // Three on one place, and one that is pushed by them.
  SolveRow({100, 100, 100, 110}, {1, 1, 1, 1}, {0, 10, 10, 10}, x);
  for (size_t i = 1; i < x.size(); ++i) EXPECT_GE(x[i] - x[i - 1], 10);
  EXPECT_EQ(x[0], 87);
}

uint32_t RowsOf(const std::vector<uint32_t>& sizes, const std::vector<RowEdge>& edges,
                std::vector<uint32_t>& rows, std::vector<uint8_t> pinned = {}) {
  uint32_t count = 0;
  pinned.resize(sizes.size());
  rows = AssignRows(sizes, edges, pinned, &count);
  return count;
}

TEST(AssignRows, LongestPathWithSourcesPulledDown) {
  std::vector<uint32_t> rows;
  // 0 -> 1 -> 3, 2 -> 3: 2 has nothing before it and moves down beside 1.
  EXPECT_EQ(RowsOf({1, 1, 1, 1}, {{0, 1}, {1, 3}, {2, 3}}, rows), 3u);
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 1, 1, 2}));
  EXPECT_EQ(RowsOf({1, 1, 1, 1}, {{0, 1}, {1, 3}, {2, 3}}, rows, {0, 0, 1, 0}), 3u);
  EXPECT_EQ(rows[2], 0u);  // data enters it from outside
}

TEST(AssignRows, WideRowsBecomeSeveral) {
  std::vector<uint32_t> rows;
  const uint32_t count = RowsOf(std::vector<uint32_t>(100, 1), {}, rows);
  EXPECT_GT(count, 5u);
  EXPECT_LT(count, 12u);
  // Big children fill a row sooner.
  EXPECT_GT(RowsOf(std::vector<uint32_t>(100, 50), {}, rows), 5u);
}

TEST(Stretches, CutAtPeriods) {
  std::vector<uint32_t> sequence = {9, 9, 9};
  for (int block = 0; block < 200; ++block)
    for (uint32_t type : {1u, 2u, 3u, 1u, 2u, 3u, 1u, 2u, 4u, 3u}) sequence.push_back(type);
  const Period period = FindPeriod(sequence);
  EXPECT_EQ(period.length, 10u);
  EXPECT_EQ(period.start, 3u);
  const std::vector<uint32_t> cuts = CutIntoStretches(sequence);
  ASSERT_GT(cuts.size(), 10u);
  EXPECT_EQ(cuts.front(), 0u);
  EXPECT_EQ(cuts.back(), sequence.size());
  for (size_t i = 1; i + 1 < cuts.size(); ++i) EXPECT_EQ((cuts[i] - 3) % 10, 0u);
  EXPECT_EQ(FindPeriod(std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}).length, 0u);
}

// A fork of two that joins: 0 -> {1, 2} -> 3, all boxes of one size.
LayeredInput Diamond() {
  LayeredInput input;
  input.num_rows = 3;
  input.up_band = kNumBands;
  input.row = {0, 1, 1, 2};
  input.cells.assign(4 * kNumBands, {});
  for (size_t box = 0; box < 4; ++box) input.cells[box * kNumBands] = {100, 40, 20, 50};
  const auto net = [&](uint32_t source, std::vector<uint32_t> sinks) {
    input.nets.push_back(
        {0, false, false, static_cast<uint32_t>(input.pins.size()), 1, static_cast<uint32_t>(sinks.size())});
    input.pins.push_back({source, 0, 100, 0});
    for (uint32_t sink : sinks) input.pins.push_back({sink, 0, 100, 0});
  };
  net(0, {1, 2});
  net(1, {3});
  net(2, {3});
  return input;
}

TEST(LayOut, ADiamondIsSymmetric) {
  const LayeredResult r = LayOut(Diamond());
  EXPECT_EQ(r.cell_x[0], r.cell_x[3 * kNumBands]);
  const int32_t left = r.cell_x[1 * kNumBands], right = r.cell_x[2 * kNumBands];
  EXPECT_EQ(right - left, 100 + kBoxGap);
  EXPECT_EQ(r.cell_x[0] - left, right - r.cell_x[0]);
  EXPECT_LT(r.cell_y[0], r.cell_y[kNumBands]);
  EXPECT_EQ(r.cell_y[1 * kNumBands], r.cell_y[2 * kNumBands]);
  EXPECT_EQ(r.edges.size(), 4u);
  for (const LayeredEdge& e : r.edges) {
    EXPECT_TRUE(e.arrow);
    EXPECT_LT(e.y0, e.y1);
  }
}

TEST(LayOut, AnEdgePastARowHasALaneThere) {
  LayeredInput input = Diamond();
  // 0 -> 3 directly: one lane in row 1, a connector that passes it without touching a box.
  input.nets.push_back({0, false, false, static_cast<uint32_t>(input.pins.size()), 1, 1});
  input.pins.push_back({0, 0, 100, 0});
  input.pins.push_back({3, 0, 100, 0});
  const LayeredResult r = LayOut(input);
  const int32_t top = r.cell_y[kNumBands], bottom = top + 40;
  size_t seen = 0;
  for (const LayeredEdge& e : r.edges) {
    if (e.net != 3) continue;
    ++seen;
    for (const size_t box : {1, 2}) {
      const int32_t x = r.cell_x[box * kNumBands];
      if (std::min(e.y0, e.y1) < bottom && std::max(e.y0, e.y1) > top && e.mid <= top) {
        EXPECT_TRUE(e.x1 < x || e.x1 > x + 100);
      }
    }
  }
  EXPECT_GE(seen, 1u);
}

TEST(LayOut, DataMayFlowUp) {
  LayeredInput input = Diamond();
  input.up_band = 0;
  std::reverse(input.row.begin(), input.row.end());
  input.row = {2, 1, 1, 0};
  const LayeredResult r = LayOut(input);
  for (const LayeredEdge& e : r.edges) EXPECT_GT(e.y0, e.y1);
}

TEST(LayOut, PortsStandOnTheBorder) {
  LayeredInput input = Diamond();
  input.nets[0].enters = true;
  input.nets[0].num_sources = 0;
  input.nets[0].first_pin = 1;
  input.nets[2].leaves = true;
  const LayeredResult r = LayOut(input);
  ASSERT_EQ(r.ports.size(), 2u);
  for (const LayeredPort& port : r.ports) {
    EXPECT_EQ(port.enters, port.net == 0);
    EXPECT_GE(port.x, 0);
    EXPECT_LE(port.x, r.width[0]);
    bool met = false;
    for (const LayeredEdge& e : r.edges)
      met |= port.enters ? (e.x0 == port.x && e.y0 == 0) : (e.x1 == port.x && e.y1 == r.height);
    EXPECT_TRUE(met);
  }
}

TEST(Order, CrossingsAreCountedAndGone) {
  // Two chains that begin crossed: 0 -> 3, 1 -> 2.
  LayeredInput input;
  input.num_rows = 2;
  input.up_band = kNumBands;
  input.row = {0, 0, 1, 1};
  input.cells.assign(4 * kNumBands, {});
  for (size_t box = 0; box < 4; ++box) input.cells[box * kNumBands] = {100, 40, 20, 50};
  input.pins = {{0, 0, 100, 0}, {3, 0, 100, 0}, {1, 0, 100, 0}, {2, 0, 100, 0}};
  input.nets = {{0, false, false, 0, 1, 1}, {0, false, false, 2, 1, 1}};
  internal::BandGraph graph = internal::MakeBandGraph(input, 0);
  EXPECT_EQ(internal::CountCrossings(graph), 1u);
  internal::OrderBand(graph, {});
  EXPECT_EQ(internal::CountCrossings(graph), 0u);
}

}  // namespace
}  // namespace weft
