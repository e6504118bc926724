// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One band of a layered layout as a proper layered graph: boxes, lanes of nets that pass rows, and ports on
// the borders are vertices in layers; every link joins neighbouring layers. Layer 0 is the top border, layers
// 1..rows hold the rows, the last layer is the bottom border. Internal to inspector/layout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inspector/layout/layered.h"

namespace weft::internal {

enum class VertexKind : uint8_t { kBox, kLane, kPort };

struct Vertex {
  VertexKind kind;
  uint32_t layer;
  uint32_t id;   // box, or net
  int32_t half;  // half of its width
};

/// One connection between a vertex of a layer and one of the layer below it.
struct Link {
  uint32_t upper, lower;          // vertices
  uint32_t upper_pin, lower_pin;  // into LayeredInput::pins, UINT32_MAX for lanes and ports
  uint32_t net;
};

struct BandGraph {
  uint32_t band;
  uint32_t num_layers;
  std::vector<Vertex> vertices;
  std::vector<uint32_t> layer_begin;             // layer -> first of its places; size num_layers + 1
  std::vector<uint32_t> at;                      // place -> vertex: the order from left to right
  std::vector<uint32_t> place;                   // vertex -> place - layer_begin
  std::vector<Link> links;                       // by net, from the writer on
  std::vector<uint32_t> up_begin, up_links;      // vertex -> links to the layer above
  std::vector<uint32_t> down_begin, down_links;  // vertex -> links to the layer below
  std::vector<int64_t> x;                        // vertex -> centre

  std::span<const uint32_t> above(uint32_t vertex) const {
    return {up_links.data() + up_begin[vertex], up_begin[vertex + 1] - up_begin[vertex]};
  }
  std::span<const uint32_t> below(uint32_t vertex) const {
    return {down_links.data() + down_begin[vertex], down_begin[vertex + 1] - down_begin[vertex]};
  }
  std::span<uint32_t> layer(uint32_t l) {
    return {at.data() + layer_begin[l], layer_begin[l + 1] - layer_begin[l]};
  }
  std::span<const uint32_t> layer(uint32_t l) const {
    return {at.data() + layer_begin[l], layer_begin[l + 1] - layer_begin[l]};
  }
};

BandGraph MakeBandGraph(const LayeredInput& input, uint32_t band);

/// Sweeps until crossings get no fewer, at most 8 times (4 in big scopes). `fixed`: per box its rank in its
/// row from another band, to keep; empty for free order.
void OrderBand(BandGraph& graph, const std::vector<uint32_t>& fixed);
/// Link crossings between all neighbouring layers.
uint64_t CountCrossings(const BandGraph& graph);

/// Sets x of every vertex.
void PlaceBand(const LayeredInput& input, BandGraph& graph);

/// Offset of a pin from its vertex's centre; free pins count as the middle of their range.
int32_t PinOffset(const LayeredInput& input, uint32_t band, const Vertex& vertex, uint32_t pin);

}  // namespace weft::internal
