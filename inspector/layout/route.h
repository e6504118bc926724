// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// From placed vertices to coordinates: where pins are on their boxes, which track each horizontal takes
// between two layers, and the connectors. Internal to inspector/layout.
#pragma once

#include <cstdint>
#include <vector>

#include "inspector/layout/band_graph.h"

namespace weft::internal {

struct BandRoute {
  std::vector<int64_t> pin_x;        // pin -> x, for pins of this band
  std::vector<uint32_t> tracks;      // channel (layer and the next one) -> tracks in use
  std::vector<uint32_t> link_track;  // link -> its track
};

BandRoute RouteBand(const LayeredInput& input, const BandGraph& graph);

/// `layer_top`, `layer_bottom`: per layer; the borders have no height. Appends to result.edges and .ports
/// with x still relative to the graph.
void EmitBand(const LayeredInput& input, const BandGraph& graph, const BandRoute& route,
              const std::vector<int32_t>& layer_top, const std::vector<int32_t>& layer_bottom,
              LayeredResult& result);

}  // namespace weft::internal
