// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "inspector/layout/band_graph.h"

namespace weft::internal {

namespace {

constexpr size_t kBigScope = 5000;  // vertices from which on 4 sweeps must do
constexpr int64_t kScale = 1 << 16;

class Orderer {
 public:
  Orderer(BandGraph& graph, const std::vector<uint32_t>& fixed) : graph_(graph), fixed_(fixed) {
    key_.resize(graph.vertices.size());
  }

  void Run() {
    if (!fixed_.empty()) SortByRank();
    const int most = graph_.vertices.size() > kBigScope ? 4 : 8;
    std::vector<uint32_t> best = graph_.at;
    uint64_t fewest = CountCrossings(graph_);
    for (int sweep = 0; sweep < most && fewest > 0; ++sweep) {
      Sweep(sweep % 2 == 0);
      const uint64_t crossings = CountCrossings(graph_);
      if (crossings < fewest) {
        fewest = crossings;
        best = graph_.at;
      } else if (sweep % 2 == 1) {
        break;  // neither way down nor up helped
      }
    }
    graph_.at = best;
    for (uint32_t l = 0; l < graph_.num_layers; ++l) Renumber(l);
  }

 private:
  void Renumber(uint32_t l) {
    const std::span<const uint32_t> layer = graph_.layer(l);
    for (uint32_t k = 0; k < layer.size(); ++k) graph_.place[layer[k]] = k;
  }

  // Boxes in the order of the other band; lanes behind the box that they follow now.
  void SortByRank() {
    for (uint32_t l = 0; l < graph_.num_layers; ++l) {
      std::span<uint32_t> layer = graph_.layer(l);
      std::stable_sort(layer.begin(), layer.end(), [&](uint32_t a, uint32_t b) { return Rank(a) < Rank(b); });
      Renumber(l);
    }
  }
  uint32_t Rank(uint32_t v) const {
    const Vertex& vertex = graph_.vertices[v];
    return vertex.kind == VertexKind::kBox ? fixed_[vertex.id] : UINT32_MAX;
  }

  void Sweep(bool down) {
    for (uint32_t k = 1; k < graph_.num_layers; ++k) {
      const uint32_t l = down ? k : graph_.num_layers - 1 - k;
      std::span<uint32_t> layer = graph_.layer(l);
      if (layer.size() < 2) continue;
      for (uint32_t v : layer) key_[v] = Key(v, down);
      // Boxes of a fixed order keep it: a key may not fall below that of the box before it.
      if (!fixed_.empty()) {
        int64_t least = INT64_MIN;
        for (uint32_t v : layer) {
          if (graph_.vertices[v].kind != VertexKind::kBox) continue;
          key_[v] = least = std::max(least, key_[v]);
        }
      }
      std::stable_sort(layer.begin(), layer.end(), [&](uint32_t a, uint32_t b) { return key_[a] < key_[b]; });
      Renumber(l);
    }
  }

  // Mean place of the neighbours in the layer that is settled; its own place when it has none there. Places
  // are scaled to the layer's size, so that layers of different sizes compare.
  int64_t Key(uint32_t v, bool down) const {
    const std::span<const uint32_t> links = down ? graph_.above(v) : graph_.below(v);
    if (links.empty()) {
      const size_t size = graph_.layer(graph_.vertices[v].layer).size();
      const uint32_t other = down ? graph_.vertices[v].layer - 1 : graph_.vertices[v].layer + 1;
      const size_t other_size = std::max<size_t>(1, graph_.layer(other).size());
      return (2 * int64_t{graph_.place[v]} + 1) * kScale * static_cast<int64_t>(other_size) /
             (2 * static_cast<int64_t>(size));
    }
    int64_t sum = 0;
    for (uint32_t link : links)
      sum += graph_.place[down ? graph_.links[link].upper : graph_.links[link].lower];
    const int64_t count = static_cast<int64_t>(links.size());
    return (2 * sum + count) * kScale / (2 * count);
  }

  BandGraph& graph_;
  const std::vector<uint32_t>& fixed_;
  std::vector<int64_t> key_;
};

}  // namespace

void OrderBand(BandGraph& graph, const std::vector<uint32_t>& fixed) { Orderer(graph, fixed).Run(); }

uint64_t CountCrossings(const BandGraph& graph) {
  // Per pair of layers: links sorted by upper place, then inversions of the lower places counted in a tree of
  // sums (Barth, Juenger, Mutzel).
  uint64_t crossings = 0;
  std::vector<uint32_t> lower, tree;
  for (uint32_t l = 0; l + 1 < graph.num_layers; ++l) {
    const std::span<const uint32_t> layer = graph.layer(l);
    const uint32_t size = static_cast<uint32_t>(graph.layer(l + 1).size());
    if (layer.size() < 2 || size < 2) continue;
    uint32_t leaves = 1;
    while (leaves < size) leaves *= 2;
    tree.assign(2 * leaves, 0);
    for (uint32_t v : layer) {
      lower.clear();
      for (uint32_t link : graph.below(v)) lower.push_back(graph.place[graph.links[link].lower]);
      std::sort(lower.begin(), lower.end());
      for (uint32_t p : lower)  // those before with a place to the right of p
        for (uint32_t node = p + leaves; node > 1; node /= 2)
          if (node % 2 == 0) crossings += tree[node + 1];
      for (uint32_t p : lower)
        for (uint32_t node = p + leaves; node >= 1; node /= 2) ++tree[node];
    }
  }
  return crossings;
}

}  // namespace weft::internal
