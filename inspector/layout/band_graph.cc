// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/layout/band_graph.h"

#include <algorithm>

namespace weft::internal {

namespace {

constexpr uint32_t kNoPin = UINT32_MAX;

// Links of a vertex by counting sort; `end` picks the side.
void IndexLinks(const BandGraph& graph, uint32_t Link::*end, std::vector<uint32_t>& begin,
                std::vector<uint32_t>& links) {
  begin.assign(graph.vertices.size() + 1, 0);
  for (const Link& link : graph.links) ++begin[link.*end + 1];
  for (size_t v = 0; v < graph.vertices.size(); ++v) begin[v + 1] += begin[v];
  links.resize(graph.links.size());
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t i = 0; i < graph.links.size(); ++i) links[next[graph.links[i].*end]++] = i;
}

class BandGraphMaker {
 public:
  BandGraphMaker(const LayeredInput& input, uint32_t band) : input_(input), up_(band == input.up_band) {
    graph_.band = band;
    graph_.num_layers = input.num_rows + 2;
  }

  BandGraph Make() {
    vertex_of_box_.assign(input_.row.size(), UINT32_MAX);
    for (uint32_t box = 0; box < input_.row.size(); ++box) {
      const LayeredCell& cell = input_.cells[box * kNumBands + graph_.band];
      if (cell.w == 0) continue;
      vertex_of_box_[box] = Add({VertexKind::kBox, input_.row[box] + 1, box, (cell.w + 1) / 2});
    }
    for (uint32_t n = 0; n < input_.nets.size(); ++n)
      if (input_.nets[n].band == graph_.band) AddNet(n);

    graph_.layer_begin.assign(graph_.num_layers + 1, 0);
    for (const Vertex& v : graph_.vertices) ++graph_.layer_begin[v.layer + 1];
    for (uint32_t l = 0; l < graph_.num_layers; ++l) graph_.layer_begin[l + 1] += graph_.layer_begin[l];
    graph_.at.resize(graph_.vertices.size());
    graph_.place.resize(graph_.vertices.size());
    std::vector<uint32_t> next(graph_.layer_begin.begin(), graph_.layer_begin.end() - 1);
    for (uint32_t v = 0; v < graph_.vertices.size(); ++v) {
      const uint32_t layer = graph_.vertices[v].layer;
      graph_.place[v] = next[layer] - graph_.layer_begin[layer];
      graph_.at[next[layer]++] = v;
    }
    IndexLinks(graph_, &Link::lower, graph_.up_begin, graph_.up_links);
    IndexLinks(graph_, &Link::upper, graph_.down_begin, graph_.down_links);
    graph_.x.assign(graph_.vertices.size(), 0);
    return std::move(graph_);
  }

 private:
  struct End {
    uint32_t layer, vertex, pin;
  };

  uint32_t Add(Vertex vertex) {
    graph_.vertices.push_back(vertex);
    return static_cast<uint32_t>(graph_.vertices.size()) - 1;
  }

  void AddLink(uint32_t from, uint32_t from_pin, uint32_t to, uint32_t to_pin, uint32_t net) {
    if (up_) {
      graph_.links.push_back({to, from, to_pin, from_pin, net});
    } else {
      graph_.links.push_back({from, to, from_pin, to_pin, net});
    }
  }

  // From the writer on, one lane per layer that the net passes, and a link to each reader from the layer
  // before it.
  void AddNet(uint32_t n) {
    const LayeredNet& net = input_.nets[n];
    const uint32_t start_border = up_ ? graph_.num_layers - 1 : 0;
    const uint32_t end_border = up_ ? 0 : graph_.num_layers - 1;
    std::vector<End>& sources = sources_;
    std::vector<End>& sinks = sinks_;
    sources.clear();
    sinks.clear();
    for (uint32_t k = 0; k < net.num_sources + net.num_sinks; ++k) {
      const uint32_t pin = net.first_pin + k;
      const uint32_t vertex = vertex_of_box_[input_.pins[pin].box];
      if (vertex == UINT32_MAX) continue;  // that part is hidden
      (k < net.num_sources ? sources : sinks).push_back({graph_.vertices[vertex].layer, vertex, pin});
    }
    if (net.leaves && !(sources.empty() && !net.enters))
      sinks.push_back({end_border, Add({VertexKind::kPort, end_border, n, 0}), kNoPin});
    if (net.enters && !sinks.empty())
      sources.push_back({start_border, Add({VertexKind::kPort, start_border, n, 0}), kNoPin});
    if (sources.empty() || sinks.empty()) return;
    std::stable_sort(sinks.begin(), sinks.end(),
                     [&](const End& a, const End& b) { return up_ ? a.layer > b.layer : a.layer < b.layer; });
    uint32_t layer = sources[0].layer;
    std::vector<End>& tips = tips_;  // where the net has got to: its sources, later one lane
    tips = sources;
    for (size_t s = 0; s < sinks.size();) {
      const uint32_t next = up_ ? layer - 1 : layer + 1;
      while (s < sinks.size() && sinks[s].layer == next) {
        for (const End& tip : tips) AddLink(tip.vertex, tip.pin, sinks[s].vertex, sinks[s].pin, n);
        ++s;
      }
      if (s == sinks.size()) break;
      const uint32_t lane = Add({VertexKind::kLane, next, n, 0});
      for (const End& tip : tips) AddLink(tip.vertex, tip.pin, lane, kNoPin, n);
      tips.assign(1, {next, lane, kNoPin});
      layer = next;
    }
  }

  const LayeredInput& input_;
  const bool up_;
  BandGraph graph_;
  std::vector<uint32_t> vertex_of_box_;
  std::vector<End> sources_, sinks_, tips_;
};

}  // namespace

BandGraph MakeBandGraph(const LayeredInput& input, uint32_t band) {
  return BandGraphMaker(input, band).Make();
}

int32_t PinOffset(const LayeredInput& input, uint32_t band, const Vertex& vertex, uint32_t pin) {
  if (pin == kNoPin || vertex.kind != VertexKind::kBox) return 0;
  // Boxes with fixed pins line up by their axes: following each step between the place where a value enters
  // and the one where it leaves would make a chain of such boxes drift.
  if (input.pins[pin].w == 0) return input.cells[vertex.id * kNumBands + band].axis_x - vertex.half;
  return input.pins[pin].x + input.pins[pin].w / 2 - vertex.half;
}

}  // namespace weft::internal
