// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/layout/layered.h"

#include <algorithm>

#include "inspector/layout/band_graph.h"
#include "inspector/layout/route.h"

namespace weft {

using internal::BandGraph;
using internal::BandRoute;
using internal::Vertex;
using internal::VertexKind;

namespace {

constexpr int32_t kBorderGap = 8;  // between a border and the first or last row, without tracks

// Heights of rows and of the channels between them, shared by all bands.
void SetHeights(const LayeredInput& input, const std::vector<BandRoute>& routes, LayeredResult& result,
                std::vector<int32_t>& top, std::vector<int32_t>& bottom) {
  const uint32_t layers = input.num_rows + 2;
  std::vector<int32_t> row_h(input.num_rows, 0), axis(input.row.size(), 0);
  for (size_t box = 0; box < input.row.size(); ++box) {
    int32_t below = 0;
    if (!input.least.empty()) {
      axis[box] = input.least[box].axis;
      below = input.least[box].h - axis[box];
    }
    for (uint32_t b = 0; b < kNumBands; ++b) {
      const LayeredCell& cell = input.cells[box * kNumBands + b];
      axis[box] = std::max(axis[box], cell.axis);
      below = std::max(below, cell.h - cell.axis);
    }
    row_h[input.row[box]] = std::max(row_h[input.row[box]], axis[box] + below);
  }
  top.assign(layers, 0);
  bottom.assign(layers, 0);
  for (uint32_t l = 1; l < layers; ++l) {
    const uint32_t channel = l - 1;
    uint32_t tracks = 0;
    for (const BandRoute& route : routes)
      if (channel < route.tracks.size()) tracks = std::max(tracks, route.tracks[channel]);
    const bool border = channel == 0 || channel + 2 == layers;
    int32_t gap = border ? kBorderGap : kRowGap;
    if (tracks > (border ? 0 : 1)) gap += static_cast<int32_t>(tracks - (border ? 0 : 1)) * kTrackGap;
    top[l] = bottom[l - 1] + gap;
    bottom[l] = top[l] + (l <= input.num_rows ? row_h[l - 1] : 0);
  }
  result.height = bottom[layers - 1];
  result.cell_y.assign(input.cells.size(), 0);
  for (size_t box = 0; box < input.row.size(); ++box)
    for (uint32_t b = 0; b < kNumBands; ++b)
      result.cell_y[box * kNumBands + b] =
          top[input.row[box] + 1] + axis[box] - input.cells[box * kNumBands + b].axis;
}

}  // namespace

void LayeredInput::AppendWords(std::vector<uint32_t>& words) const {
  words.push_back(num_rows);
  words.push_back(up_band);
  words.push_back(static_cast<uint32_t>(row.size()));
  words.insert(words.end(), row.begin(), row.end());
  for (const LayeredCell& cell : cells) {
    words.push_back(static_cast<uint32_t>(cell.w));
    words.push_back(static_cast<uint32_t>(cell.h));
    words.push_back(static_cast<uint32_t>(cell.axis));
    words.push_back(static_cast<uint32_t>(cell.axis_x));
  }
  for (const LayeredCell& cell : least) {
    words.push_back(static_cast<uint32_t>(cell.h));
    words.push_back(static_cast<uint32_t>(cell.axis));
  }
  words.push_back(static_cast<uint32_t>(nets.size()));
  for (const LayeredNet& net : nets) {
    words.push_back(uint32_t{net.band} | (uint32_t{net.enters} << 8) | (uint32_t{net.leaves} << 9));
    words.push_back(net.first_pin);
    words.push_back(net.num_sources);
    words.push_back(net.num_sinks);
  }
  for (const LayeredPin& pin : pins) {
    words.push_back(pin.box);
    words.push_back(static_cast<uint32_t>(pin.x));
    words.push_back(static_cast<uint32_t>(pin.w));
    words.push_back(static_cast<uint32_t>(pin.inset));
  }
}

LayeredResult LayOut(const LayeredInput& input) {
  LayeredResult result;
  std::vector<BandGraph> graphs;
  std::vector<BandRoute> routes;
  std::vector<uint32_t> rank;  // box -> place in its row, from the first band on
  for (uint32_t b = 0; b < kNumBands; ++b) {
    graphs.push_back(internal::MakeBandGraph(input, b));
    BandGraph& graph = graphs.back();
    internal::OrderBand(graph, rank);
    if (b == 0) {
      rank.resize(input.row.size());
      for (uint32_t box = 0; box < rank.size(); ++box) rank[box] = box;
      for (const uint32_t v : graph.at)
        if (graph.vertices[v].kind == VertexKind::kBox) rank[graph.vertices[v].id] = graph.place[v];
    }
    internal::PlaceBand(input, graph);
    routes.push_back(internal::RouteBand(input, graph));
  }
  std::vector<int32_t> top, bottom;
  SetHeights(input, routes, result, top, bottom);
  result.cell_x.assign(input.cells.size(), 0);
  for (uint32_t b = 0; b < kNumBands; ++b) {
    const BandGraph& graph = graphs[b];
    const size_t first_edge = result.edges.size(), first_port = result.ports.size();
    internal::EmitBand(input, graph, routes[b], top, bottom, result);
    int64_t left = INT64_MAX, right = INT64_MIN;
    uint32_t first_box = UINT32_MAX;
    for (uint32_t v = 0; v < graph.vertices.size(); ++v) {
      const Vertex& vertex = graph.vertices[v];
      if (vertex.kind == VertexKind::kBox) {
        const int32_t w = input.cells[vertex.id * kNumBands + b].w;
        left = std::min(left, graph.x[v] - vertex.half);
        right = std::max(right, graph.x[v] - vertex.half + w);
        if (first_box == UINT32_MAX) first_box = v;
      } else {
        left = std::min(left, graph.x[v]);
        right = std::max(right, graph.x[v] + 1);
      }
    }
    if (graph.vertices.empty()) continue;
    const int32_t shift = static_cast<int32_t>(-left);
    result.width[b] = static_cast<int32_t>(right - left);
    result.axis[b] =
        first_box == UINT32_MAX ? result.width[b] / 2 : static_cast<int32_t>(graph.x[first_box]) + shift;
    for (uint32_t v = 0; v < graph.vertices.size(); ++v) {
      const Vertex& vertex = graph.vertices[v];
      if (vertex.kind == VertexKind::kBox)
        result.cell_x[vertex.id * kNumBands + b] = static_cast<int32_t>(graph.x[v]) - vertex.half + shift;
    }
    for (size_t i = first_edge; i < result.edges.size(); ++i) {
      result.edges[i].x0 += shift;
      result.edges[i].x1 += shift;
    }
    for (size_t i = first_port; i < result.ports.size(); ++i) result.ports[i].x += shift;
  }
  return result;
}

}  // namespace weft
