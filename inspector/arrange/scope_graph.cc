// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/arrange/scope_graph.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/base/check.h"
#include "core/base/hash.h"
#include "inspector/arrange/arrangement.h"

namespace weft {

namespace {

constexpr uint32_t kOutside = UINT32_MAX;
constexpr uint32_t kLanesPerRow = 24;  // nets that pass a row, on average
constexpr size_t kHighDegree = 24;     // values read more often are labelled references

// Items side by side in a box of so many items, boxes being wider than high.
uint32_t WidthOf(uint64_t items) {
  uint32_t width = 1;
  while (2 * uint64_t{width} * width < 3 * items) ++width;
  return items == 1 ? 1 : width;
}

}  // namespace

std::vector<uint32_t> AssignRows(const std::vector<uint32_t>& sizes, const std::vector<RowEdge>& edges,
                                 const std::vector<uint8_t>& pinned, uint32_t* num_rows) {
  const uint32_t count = static_cast<uint32_t>(sizes.size());
  uint64_t total = 0;
  for (uint32_t size : sizes) total += size;
  const uint32_t limit = std::max<uint32_t>(6, WidthOf(total));
  std::vector<uint32_t> rows(count, 0), width, next_free;
  // The first row from `row` on that is not full; full rows point further, paths are halved on the way.
  const auto find_free = [&](uint32_t row) {
    while (row < next_free.size() && next_free[row] != row) {
      if (next_free[row] < next_free.size()) next_free[row] = next_free[next_free[row]];
      row = next_free[row];
    }
    return row;
  };
  size_t e = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t row = 0;
    for (; e < edges.size() && edges[e].to == i; ++e) row = std::max(row, rows[edges[e].from] + 1);
    row = find_free(row);
    while (width.size() <= row) {
      next_free.push_back(static_cast<uint32_t>(width.size()));
      width.push_back(0);
    }
    width[row] += WidthOf(sizes[i]);
    if (width[row] >= limit) next_free[row] = row + 1;
    rows[i] = row;
  }
  std::vector<uint8_t> has_input(pinned.begin(), pinned.end());
  std::vector<uint32_t> first_reader(count, UINT32_MAX);
  for (const RowEdge& edge : edges) {
    has_input[edge.to] = 1;
    first_reader[edge.from] = std::min(first_reader[edge.from], rows[edge.to]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (has_input[i] || first_reader[i] == UINT32_MAX || first_reader[i] == rows[i] + 1) continue;
    const uint32_t row = first_reader[i] - 1;
    if (width[row] >= limit) continue;
    width[rows[i]] -= WidthOf(sizes[i]);
    width[row] += WidthOf(sizes[i]);
    rows[i] = row;
  }
  // Pulling down may have emptied a row.
  std::vector<uint32_t> renumber(width.size(), 0);
  uint32_t used = 0;
  for (size_t row = 0; row < width.size(); ++row) {
    renumber[row] = used;
    if (width[row] > 0) ++used;
  }
  for (uint32_t& row : rows) row = renumber[row];
  *num_rows = used;
  return rows;
}

class ScopeGraphBuilder {
 public:
  ScopeGraphBuilder(Arrangement& a, ScopeId scope)
      : a_(a), scope_(a.tree_.scopes[scope]), graph_(std::make_unique<ScopeGraph>()) {}

  std::unique_ptr<ScopeGraph> Build() {
    const uint32_t count = static_cast<uint32_t>(scope_.children.size());
    child_at_.resize(scope_.end - scope_.begin);
    for (uint32_t c = 0; c < count; ++c) {
      const ScopeChild child = scope_.children[c];
      if (child.is_scope()) {
        const ScopeRecord& inner = a_.tree_.scopes[child.scope()];
        std::fill(child_at_.begin() + (inner.begin - scope_.begin),
                  child_at_.begin() + (inner.end - scope_.begin), c);
      } else {
        child_at_[a_.tree_.position[child.op()] - scope_.begin] = c;
      }
    }
    if (IsColumns()) {
      graph_->row.assign(count, 0);
      graph_->num_rows = 1;
      for (uint32_t c = 0; c < count; ++c) VisitChild(c, [&](OpId op) { MarkCrossings(op); });
      return std::move(graph_);
    }
    CollectRowEdges();
    std::vector<uint32_t> sizes;
    for (ScopeChild child : scope_.children) {
      const ScopeRecord* inner = child.is_scope() ? &a_.tree_.scopes[child.scope()] : nullptr;
      sizes.push_back(inner != nullptr ? inner->end - inner->begin : 1);
    }
    graph_->row = AssignRows(sizes, row_edges_, pinned_, &graph_->num_rows);
    LowerPortsOut();
    CollectCrossings();
    LimitSpans();
    MakeNets();
    return std::move(graph_);
  }

 private:
  struct Crossing {
    ValueId value;
    uint32_t source, sink;  // children; kOutside
    OpId reader;            // kNoOp for leaving
    uint32_t slot;          // input slot of the reader
  };

  bool IsColumns() const {
    return !scope_.children.empty() && scope_.children[0].is_scope() &&
           a_.tree_.scopes[scope_.children[0].scope()].kind == ScopeKind::kColumn;
  }

  // Ops of a child: its items in tree order, each followed by its riders.
  template <typename Fn>
  void VisitChild(uint32_t c, Fn fn) {
    const ScopeChild child = scope_.children[c];
    uint32_t begin, end;
    if (child.is_scope()) {
      begin = a_.tree_.scopes[child.scope()].begin;
      end = a_.tree_.scopes[child.scope()].end;
    } else {
      begin = a_.tree_.position[child.op()];
      end = begin + 1;
    }
    for (uint32_t at = begin; at < end; ++at) {
      const OpId item = a_.tree_.order[at];
      fn(item);
      for (OpId rider : a_.riders(item)) fn(rider);
    }
  }

  uint32_t ChildOf(OpId op) const {
    const uint32_t at = a_.tree_.position[op];
    return at >= scope_.begin && at < scope_.end ? child_at_[at - scope_.begin] : kOutside;
  }
  OpId Def(ValueId value) const { return a_.ssa_.values()[value].def; }

  // Decided where both ends are in the scope, the writer is told too. A reader that is too deep inside the
  // scope that its value enters is this scope's business alone: what other scopes draw must not depend on
  // whether this one has been looked at.
  void MarkFar(ValueId value, uint32_t slot, bool entered = false) {
    a_.input_far_[slot] = entered ? Arrangement::kFarInside : Arrangement::kFar;
    if (!entered) a_.value_far_[value] = 1;
  }

  // Between columns nothing is drawn but rows, which need no net.
  void MarkCrossings(OpId op) {
    const std::span<const ValueId> inputs = a_.ssa_.inputs(op);
    const size_t slot = a_.InputSlot(op);
    for (size_t k = 0; k < inputs.size(); ++k) {
      const OpId def = Def(inputs[k]);
      if (def != kNoOp && a_.band(def) == a_.band(op) && ChildOf(def) != ChildOf(op))
        MarkFar(inputs[k], static_cast<uint32_t>(slot + k));
    }
  }

  void CollectRowEdges() {
    pinned_.assign(scope_.children.size(), 0);
    std::vector<uint32_t> last_to(scope_.children.size(),
                                  UINT32_MAX);  // child -> last edge's end, to skip doubles
    for (uint32_t c = 0; c < scope_.children.size(); ++c) {
      VisitChild(c, [&](OpId op) {
        if (!a_.is_item(op)) return;
        if (a_.is_port_in(op)) pinned_[c] = 1;
        for (ValueId v : a_.ssa_.inputs(op)) {
          const OpId def = Def(v);
          if (def == kNoOp || !a_.is_item(def)) continue;
          const uint32_t from = ChildOf(def);
          if (from == kOutside) {
            pinned_[c] = 1;
          } else if (from < c && last_to[from] != c) {
            row_edges_.push_back({from, c});
            last_to[from] = c;
          }
        }
      });
    }
  }

  // What leaves the net does so below everything else.
  void LowerPortsOut() {
    std::vector<uint32_t> lowered;
    uint32_t rows = 0;
    for (uint32_t c = 0; c < scope_.children.size(); ++c) {
      const ScopeChild child = scope_.children[c];
      if (!child.is_scope() && a_.is_port_out(child.op()))
        lowered.push_back(c);
      else
        rows = std::max(rows, graph_->row[c] + 1);
    }
    if (lowered.empty()) return;
    for (uint32_t c : lowered) graph_->row[c] = rows;
    graph_->num_rows = rows + 1;
  }

  void CollectCrossings() {
    for (uint32_t c = 0; c < scope_.children.size(); ++c) {
      VisitChild(c, [&](OpId op) {
        const Role band = a_.band(op);
        const std::span<const ValueId> inputs = a_.ssa_.inputs(op);
        const size_t first_slot = a_.InputSlot(op);
        for (size_t k = 0; k < inputs.size(); ++k) {
          const OpId def = Def(inputs[k]);
          if (def == kNoOp || a_.band(def) != band) continue;
          const uint32_t slot = static_cast<uint32_t>(first_slot + k);
          const uint32_t source = ChildOf(def);
          if (source == c || a_.input_far_[slot]) continue;
          if (a_.ssa_.uses(inputs[k]).size() > kHighDegree) {
            MarkFar(inputs[k], slot);
            continue;
          }
          if (source != kOutside && !FlowsRightWay(band, source, c)) {
            MarkFar(inputs[k], slot);
            continue;
          }
          crossings_.push_back({inputs[k], source, c, op, slot});
        }
        for (ValueId v : a_.ssa_.outputs(op)) {
          if (a_.ssa_.uses(v).size() > kHighDegree) continue;
          const std::span<const OpId> uses = a_.ssa_.uses(v);
          for (size_t u = 0; u < uses.size(); ++u) {
            if (a_.band(uses[u]) != band || ChildOf(uses[u]) != kOutside || a_.use_is_far(v, u)) continue;
            crossings_.push_back({v, c, kOutside, kNoOp, 0});
            break;
          }
        }
      });
    }
  }

  bool FlowsRightWay(Role band, uint32_t source, uint32_t sink) const {
    if (band == Role::kUpdate || band == Role::kCollective) return false;  // these have edges along rows only
    const uint32_t from = graph_->row[source], to = graph_->row[sink];
    return band == Role::kBackward ? to < from : from < to;
  }

  uint32_t Distance(const Crossing& x) const {
    const bool up = a_.band(Def(x.value)) == Role::kBackward;
    const auto row = [&](uint32_t child, bool at_source) -> int64_t {
      if (child != kOutside) return graph_->row[child];
      return at_source != up ? -1 : int64_t{graph_->num_rows};
    };
    const int64_t from = row(x.source, true), to = row(x.sink, false);
    return static_cast<uint32_t>(up ? from - to : to - from);
  }

  // Each row that a net passes costs one place there. All distances up to a limit are drawn, such that places
  // stay in proportion to the graph and rows stay readable; what is farther becomes a reference.
  void LimitSpans() {
    std::stable_sort(crossings_.begin(), crossings_.end(),
                     [](const Crossing& x, const Crossing& y) { return x.value < y.value; });
    std::vector<uint64_t> cost(graph_->num_rows + 2, 0);
    std::vector<uint32_t> distances;
    ForEachValue([&](size_t first, size_t last) {
      distances.clear();
      for (size_t i = first; i < last; ++i) distances.push_back(Distance(crossings_[i]));
      std::sort(distances.begin(), distances.end());
      uint32_t reached = 1;
      for (uint32_t d : distances) {
        cost[d] += d - std::min(d, reached);
        reached = std::max(d, reached);
      }
    });
    const uint64_t budget = std::min<uint64_t>(4 * (scope_.children.size() + crossings_.size()) + 100,
                                               uint64_t{kLanesPerRow} * (graph_->num_rows + 2));
    uint32_t limit = 1;
    uint64_t sum = 0;
    while (limit + 1 < cost.size() && sum + cost[limit + 1] <= budget) sum += cost[++limit];
    size_t kept = 0;
    for (const Crossing& x : crossings_) {
      if (Distance(x) <= limit) {
        crossings_[kept++] = x;
      } else if (x.reader != kNoOp) {
        MarkFar(x.value, x.slot, x.source == kOutside);
      } else {
        a_.value_far_[x.value] = 1;
      }
    }
    crossings_.resize(kept);
  }

  template <typename Fn>
  void ForEachValue(Fn fn) {
    for (size_t first = 0; first < crossings_.size();) {
      size_t last = first;
      while (last < crossings_.size() && crossings_[last].value == crossings_[first].value) ++last;
      fn(first, last);
      first = last;
    }
  }

  void MakeNets() {
    std::unordered_map<uint64_t, std::vector<uint32_t>> same;  // hash of a net's ends -> nets; only looked up
    std::vector<std::vector<ValueId>> values_of;
    std::vector<ScopeSink> sinks;
    ForEachValue([&](size_t first, size_t last) {
      ScopeNet net{};
      const ValueId value = crossings_[first].value;
      const OpId def = Def(value);
      net.band = static_cast<uint8_t>(a_.band(def));
      net.source = crossings_[first].source;
      net.enters = net.source == kOutside;
      if (!net.enters && !scope_.children[net.source].is_scope()) net.source_op = def;
      sinks.clear();
      for (size_t i = first; i < last; ++i) {
        const Crossing& x = crossings_[i];
        if (x.sink == kOutside) {
          net.leaves = true;
          continue;
        }
        const ScopeSink sink{x.sink, scope_.children[x.sink].is_scope() ? kNoOp : x.reader};
        if (sinks.empty() || sinks.back().child != sink.child || sinks.back().op != sink.op)
          sinks.push_back(sink);
      }
      net.num_sinks = static_cast<uint32_t>(sinks.size());
      uint64_t hash = HashMix((uint64_t{net.band} << 2) | (net.enters << 1) | net.leaves, net.source);
      hash = HashMix(hash, static_cast<uint32_t>(net.source_op));
      for (const ScopeSink& sink : sinks)
        hash = HashMix(hash, (uint64_t{sink.child} << 32) | static_cast<uint32_t>(sink.op));
      std::vector<uint32_t>& candidates = same[hash];
      for (uint32_t n : candidates) {
        if (!SameEnds(graph_->nets[n], net, sinks)) continue;
        values_of[n].push_back(value);
        return;
      }
      candidates.push_back(static_cast<uint32_t>(graph_->nets.size()));
      net.first_sink = static_cast<uint32_t>(graph_->sinks.size());
      graph_->sinks.insert(graph_->sinks.end(), sinks.begin(), sinks.end());
      graph_->nets.push_back(net);
      values_of.push_back({value});
    });
    for (size_t n = 0; n < values_of.size(); ++n) {
      graph_->nets[n].first_value = static_cast<uint32_t>(graph_->values.size());
      graph_->nets[n].num_values = static_cast<uint32_t>(values_of[n].size());
      graph_->values.insert(graph_->values.end(), values_of[n].begin(), values_of[n].end());
    }
  }

  bool SameEnds(const ScopeNet& a, const ScopeNet& b, const std::vector<ScopeSink>& b_sinks) const {
    if (a.band != b.band || a.enters != b.enters || a.leaves != b.leaves || a.source != b.source ||
        a.source_op != b.source_op || a.num_sinks != b.num_sinks)
      return false;
    for (uint32_t k = 0; k < a.num_sinks; ++k) {
      const ScopeSink& sink = graph_->sinks[a.first_sink + k];
      if (sink.child != b_sinks[k].child || sink.op != b_sinks[k].op) return false;
    }
    return true;
  }

  Arrangement& a_;
  const ScopeRecord& scope_;
  std::unique_ptr<ScopeGraph> graph_;
  std::vector<uint32_t> child_at_;  // position in the scope -> child
  std::vector<RowEdge> row_edges_;
  std::vector<uint8_t> pinned_;
  std::vector<Crossing> crossings_;
};

const ScopeGraph& Arrangement::graph(ScopeId scope) {
  if (graphs_.size() < tree_.scopes.size()) graphs_.resize(tree_.scopes.size());
  // Outer graphs first: they decide which readers are reached by reference.
  std::vector<ScopeId> missing;
  for (ScopeId s = scope; s != UINT32_MAX && !graphs_[s]; s = tree_.scopes[s].parent) missing.push_back(s);
  for (size_t i = missing.size(); i-- > 0;)
    graphs_[missing[i]] = ScopeGraphBuilder(*this, missing[i]).Build();
  return *graphs_[scope];
}

}  // namespace weft
