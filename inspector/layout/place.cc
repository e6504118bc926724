// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "inspector/layout/band_graph.h"

namespace weft {

namespace {

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

void SolveRow(const std::vector<int64_t>& want, const std::vector<int64_t>& weight,
              const std::vector<int64_t>& gap, std::vector<int64_t>& x) {
  // With the gaps taken out the constraint is "rising", and pooling neighbours that violate it is optimal.
  struct Block {
    int64_t sum, weight, mean;
    size_t end;
  };
  std::vector<Block> blocks;
  int64_t offset = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    if (i > 0) offset += gap[i];
    Block block{(want[i] - offset) * weight[i], weight[i], want[i] - offset, i + 1};
    while (!blocks.empty() && blocks.back().mean > block.mean) {
      block.sum += blocks.back().sum;
      block.weight += blocks.back().weight;
      block.mean = FloorDivide(block.sum, block.weight);
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  x.resize(want.size());
  offset = 0;
  size_t i = 0;
  for (const Block& block : blocks) {
    for (; i < block.end; ++i) {
      if (i > 0) offset += gap[i];
      x[i] = block.mean + offset;
    }
  }
}

namespace internal {

namespace {

class Placer {
 public:
  Placer(const LayeredInput& input, BandGraph& graph) : input_(input), graph_(graph) {}

  void Run() {
    for (uint32_t l = 0; l < graph_.num_layers; ++l) Pack(l);
    if (graph_.links.empty()) return;
    for (int pass = 0; pass < 5; ++pass) {
      const bool down = pass % 2 == 0;
      for (uint32_t k = 0; k < graph_.num_layers; ++k) Settle(down ? k : graph_.num_layers - 1 - k, down);
    }
  }

 private:
  int64_t Gap(uint32_t left, uint32_t right) const {
    const Vertex& a = graph_.vertices[left];
    const Vertex& b = graph_.vertices[right];
    const bool boxes = a.kind == VertexKind::kBox && b.kind == VertexKind::kBox;
    return int64_t{a.half} + b.half + (boxes ? kBoxGap : kLaneGap);
  }

  void Pack(uint32_t l) {
    const std::span<const uint32_t> layer = graph_.layer(l);
    if (layer.empty()) return;
    int64_t width = 0;
    for (size_t k = 1; k < layer.size(); ++k) width += Gap(layer[k - 1], layer[k]);
    // Where nothing is connected, rows begin at one left edge; otherwise they start centred.
    int64_t x = graph_.links.empty() ? graph_.vertices[layer[0]].half : -width / 2;
    for (size_t k = 0; k < layer.size(); ++k) {
      if (k > 0) x += Gap(layer[k - 1], layer[k]);
      graph_.x[layer[k]] = x;
    }
  }

  void Settle(uint32_t l, bool down) {
    const std::span<const uint32_t> layer = graph_.layer(l);
    if (layer.empty()) return;
    want_.resize(layer.size());
    weight_.resize(layer.size());
    gap_.resize(layer.size());
    for (size_t k = 0; k < layer.size(); ++k) {
      if (k > 0) gap_[k] = Gap(layer[k - 1], layer[k]);
      Wish(layer[k], down, want_[k], weight_[k]);
    }
    SolveRow(want_, weight_, gap_, x_);
    for (size_t k = 0; k < layer.size(); ++k) graph_.x[layer[k]] = x_[k];
  }

  // Where a vertex would like to be: under (over) its neighbours. Long straight lanes weigh most; a box that
  // continues a chain follows the chain, not the lane that joins it.
  void Wish(uint32_t v, bool down, int64_t& want, int64_t& weight) const {
    const std::span<const uint32_t> links = down ? graph_.above(v) : graph_.below(v);
    if (links.empty()) {
      want = graph_.x[v];
      weight = 1;
      return;
    }
    const VertexKind kind = graph_.vertices[v].kind;
    const bool is_box = kind == VertexKind::kBox;
    int64_t sum = 0, count = 0, box_sum = 0, box_count = 0;
    bool other_is_lane = false;
    for (uint32_t l : links) {
      const Link& link = graph_.links[l];
      const uint32_t other = down ? link.upper : link.lower;
      const uint32_t other_pin = down ? link.upper_pin : link.lower_pin;
      const uint32_t own_pin = down ? link.lower_pin : link.upper_pin;
      const Vertex& vertex = graph_.vertices[other];
      const int64_t at = graph_.x[other] + PinOffset(input_, graph_.band, vertex, other_pin) -
                         PinOffset(input_, graph_.band, graph_.vertices[v], own_pin);
      sum += at;
      ++count;
      if (vertex.kind == VertexKind::kBox) {
        box_sum += at;
        ++box_count;
      }
      other_is_lane = other_is_lane || vertex.kind == VertexKind::kLane;
    }
    // So does a port: it stands where the chain goes on.
    if (box_count > 0 && (kind == VertexKind::kPort || (is_box && count == 2 && box_count == 1))) {
      sum = box_sum;
      count = box_count;
    }
    want = FloorDivide(sum, count);
    weight = is_box ? 8 : other_is_lane ? 32 : 1;
  }

  const LayeredInput& input_;
  BandGraph& graph_;
  std::vector<int64_t> want_, weight_, gap_, x_;
};

}  // namespace

void PlaceBand(const LayeredInput& input, BandGraph& graph) { Placer(input, graph).Run(); }

}  // namespace internal
}  // namespace weft
