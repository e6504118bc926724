// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/layout/route.h"

#include <algorithm>

namespace weft::internal {

namespace {

constexpr uint32_t kNoPin = UINT32_MAX;
constexpr int64_t kPinMargin = 10;   // from a box's corner
constexpr int64_t kPinSpacing = 10;  // between pins of a box, if there is room

class Router {
 public:
  Router(const LayeredInput& input, const BandGraph& graph) : input_(input), graph_(graph) {}

  BandRoute Run() {
    route_.pin_x.assign(input_.pins.size(), 0);
    for (uint32_t l = 0; l + 1 < graph_.num_layers; ++l) {
      for (uint32_t v : graph_.layer(l)) SpreadPins(v, false);
      for (uint32_t v : graph_.layer(l + 1)) SpreadPins(v, true);
    }
    AssignTracks();
    return std::move(route_);
  }

 private:
  struct Wish {
    uint32_t pin;
    int64_t low, high, x;
  };

  int64_t EndX(uint32_t vertex, uint32_t pin) const {
    return pin == kNoPin ? graph_.x[vertex] : route_.pin_x[pin];
  }

  // Pins on one side of a box: each straight under (over) its other end where that lies within its range, in
  // the order of the other ends, with some room between them.
  void SpreadPins(uint32_t v, bool top) {
    if (graph_.vertices[v].kind != VertexKind::kBox) return;
    wishes_.clear();
    for (uint32_t l : top ? graph_.above(v) : graph_.below(v)) {
      const Link& link = graph_.links[l];
      const uint32_t pin = top ? link.lower_pin : link.upper_pin;
      const uint32_t other = top ? link.upper : link.lower;
      const uint32_t other_pin = top ? link.upper_pin : link.lower_pin;
      const int64_t left = graph_.x[v] - graph_.vertices[v].half + input_.pins[pin].x;
      // Upper ends have their place by now; lower ones are taken at the middle of their range.
      const int64_t want =
          top ? EndX(other, other_pin)
              : graph_.x[other] + PinOffset(input_, graph_.band, graph_.vertices[other], other_pin);
      Wish wish{pin, left, left + input_.pins[pin].w, want};
      const int64_t margin = std::min<int64_t>(kPinMargin, input_.pins[pin].w / 2);
      wish.low += margin;
      wish.high -= margin;
      const int64_t middle = (wish.low + wish.high) / 2;
      if (!wishes_.empty() && wishes_.back().pin == pin) {  // several readers: the one nearest to the middle
        if (std::abs(want - middle) < std::abs(wishes_.back().x - middle)) wishes_.back().x = want;
      } else {
        wishes_.push_back(wish);
      }
    }
    std::stable_sort(wishes_.begin(), wishes_.end(),
                     [](const Wish& a, const Wish& b) { return a.low != b.low ? a.low < b.low : a.x < b.x; });
    for (size_t first = 0; first < wishes_.size();) {
      size_t last = first;
      while (last < wishes_.size() && wishes_[last].low == wishes_[first].low &&
             wishes_[last].high == wishes_[first].high)
        ++last;
      const int64_t low = wishes_[first].low, high = wishes_[first].high;
      const int64_t count = static_cast<int64_t>(last - first);
      const int64_t spacing = count > 1 ? std::min(kPinSpacing, (high - low) / (count - 1)) : 0;
      int64_t least = low;
      for (size_t k = first; k < last; ++k) {
        const int64_t most = high - (count - 1 - static_cast<int64_t>(k - first)) * spacing;
        wishes_[k].x = std::max(std::min(wishes_[k].x, most), least);
        least = wishes_[k].x + spacing;
        route_.pin_x[wishes_[k].pin] = wishes_[k].x;
      }
      first = last;
    }
  }

  struct Span {
    uint32_t channel, first_link, last_link;
    int64_t left, right;
  };

  // One track per net and channel; the left-edge rule gives each the first track that is free again.
  void AssignTracks() {
    route_.tracks.assign(graph_.num_layers, 0);
    route_.link_track.assign(graph_.links.size(), 0);
    std::vector<Span> spans;
    for (uint32_t i = 0; i < graph_.links.size();) {
      const Link& first = graph_.links[i];
      const uint32_t channel = graph_.vertices[first.upper].layer;
      Span span{channel, i, i, INT64_MAX, INT64_MIN};
      for (; i < graph_.links.size(); ++i) {
        const Link& link = graph_.links[i];
        if (link.net != first.net || graph_.vertices[link.upper].layer != channel) break;
        for (const int64_t x : {EndX(link.upper, link.upper_pin), EndX(link.lower, link.lower_pin)}) {
          span.left = std::min(span.left, x);
          span.right = std::max(span.right, x);
        }
      }
      span.last_link = i;
      if (span.left < span.right) spans.push_back(span);
    }
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      if (a.channel != b.channel) return a.channel < b.channel;
      return a.left != b.left ? a.left < b.left : a.first_link < b.first_link;
    });
    std::vector<int64_t> busy_until;
    for (size_t s = 0; s < spans.size(); ++s) {
      const Span& span = spans[s];
      if (s == 0 || spans[s - 1].channel != span.channel) busy_until.clear();
      size_t track = 0;
      while (track < busy_until.size() && busy_until[track] >= span.left) ++track;
      if (track == kMaxTracks) track = s % kMaxTracks;
      if (track == busy_until.size()) busy_until.push_back(INT64_MIN);
      busy_until[track] = std::max(busy_until[track], span.right + 4);
      for (uint32_t i = span.first_link; i < span.last_link; ++i)
        route_.link_track[i] = static_cast<uint32_t>(track);
      route_.tracks[span.channel] = static_cast<uint32_t>(busy_until.size());
    }
  }

  const LayeredInput& input_;
  const BandGraph& graph_;
  BandRoute route_;
  std::vector<Wish> wishes_;
};

}  // namespace

BandRoute RouteBand(const LayeredInput& input, const BandGraph& graph) { return Router(input, graph).Run(); }

void EmitBand(const LayeredInput& input, const BandGraph& graph, const BandRoute& route,
              const std::vector<int32_t>& layer_top, const std::vector<int32_t>& layer_bottom,
              LayeredResult& result) {
  const bool up = graph.band == input.up_band;
  // Where a lane began that has run straight so far.
  std::vector<int32_t> straight_from(graph.vertices.size(), INT32_MIN);
  const auto pin_y = [&](uint32_t v, uint32_t pin, bool top) {
    const Vertex& vertex = graph.vertices[v];
    const LayeredCell& cell = input.cells[vertex.id * kNumBands + graph.band];
    const int32_t cell_top = result.cell_y[vertex.id * kNumBands + graph.band];
    return top ? cell_top + input.pins[pin].inset : cell_top + cell.h - input.pins[pin].inset;
  };
  for (uint32_t i = 0; i < graph.links.size(); ++i) {
    const Link& link = graph.links[i];
    const uint32_t from = up ? link.lower : link.upper, to = up ? link.upper : link.lower;
    const uint32_t from_pin = up ? link.lower_pin : link.upper_pin;
    const uint32_t to_pin = up ? link.upper_pin : link.lower_pin;
    const uint32_t channel = graph.vertices[link.upper].layer;
    const auto x_of = [&](uint32_t v, uint32_t pin) {
      return static_cast<int32_t>(pin == kNoPin ? graph.x[v] : route.pin_x[pin]);
    };
    // A lane's row belongs to the connector that arrives: it ends on the far side of the row.
    const auto far_side = [&](uint32_t v) {
      return up ? layer_top[graph.vertices[v].layer] : layer_bottom[graph.vertices[v].layer];
    };
    LayeredEdge edge{};
    edge.net = link.net;
    edge.x0 = x_of(from, from_pin);
    edge.x1 = x_of(to, to_pin);
    edge.y0 = from_pin == kNoPin ? far_side(from) : pin_y(from, from_pin, up);
    edge.y1 = to_pin == kNoPin ? far_side(to) : pin_y(to, to_pin, !up);
    // At a fixed place the edge goes on inside.
    edge.arrow = graph.vertices[to].kind == VertexKind::kBox && input.pins[to_pin].w > 0;
    if (straight_from[from] != INT32_MIN) {
      edge.y0 = straight_from[from];
      straight_from[from] = INT32_MIN;
    }
    edge.mid = edge.x0 == edge.x1 ? edge.y1
                                  : layer_bottom[channel] + kRowGap / 2 +
                                        static_cast<int32_t>(route.link_track[i]) * kTrackGap;
    if (channel == 0 && edge.x0 != edge.x1) edge.mid -= kRowGap / 2 - 4;
    if (edge.x0 == edge.x1 && graph.vertices[to].kind == VertexKind::kLane) {
      straight_from[to] = edge.y0;
      continue;
    }
    result.edges.push_back(edge);
  }
  for (uint32_t v = 0; v < graph.vertices.size(); ++v) {
    const Vertex& vertex = graph.vertices[v];
    if (vertex.kind != VertexKind::kPort) continue;
    const bool at_top = vertex.layer == 0;
    result.ports.push_back({vertex.id, static_cast<int32_t>(graph.x[v]), at_top != up});
  }
}

}  // namespace weft::internal
