// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/cell.h"

#include <algorithm>

namespace weft {

namespace {

constexpr int32_t kStackGap = 18;  // between ops of a cell that pass data
constexpr int32_t kSideGap = 14;
constexpr size_t kMostAbreast = 4;

}  // namespace

const CellOp& CellStore::Find(const Cell& cell, OpId op) const {
  const CellOp* first = ops.data() + cell.first_op;
  for (uint32_t k = 0; k < cell.num_ops; ++k)
    if (boxes[first[k].box].op == op) return first[k];
  return first[cell.num_ops - 1];
}

Cell StackCell(const Ssa& ssa, std::span<const OpId> ops, ScopeId scope, bool up, OpBoxer& boxer,
               CellStore& store) {
  Cell cell;
  cell.first_op = static_cast<uint32_t>(store.ops.size());
  cell.first_edge = static_cast<uint32_t>(store.edges.size());
  const size_t shown = ops.size() > kMostInCell ? kMostInCell - 1 : ops.size();
  struct Link {
    uint32_t from, to;
    ValueId value;
  };
  std::vector<Link> links;
  std::vector<uint32_t> level(shown, 0);
  for (uint32_t k = 0; k < shown; ++k) {
    for (ValueId v : ssa.inputs(ops[k])) {
      const OpId def = ssa.values()[v].def;
      const auto at = std::lower_bound(ops.begin(), ops.begin() + k, def);
      if (at == ops.begin() + k || *at != def) continue;
      const uint32_t from = static_cast<uint32_t>(at - ops.begin());
      level[k] = std::max(level[k], level[from] + 1);
      if (links.empty() || links.back().from != from || links.back().to != k) links.push_back({from, k, v});
    }
  }
  // Lines of at most kMostAbreast boxes, levels in order.
  std::vector<uint32_t> order(shown);
  for (uint32_t k = 0; k < shown; ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return level[a] < level[b]; });
  struct Line {
    size_t first, last;
    int32_t w = 0, h = 0, y = 0;
  };
  std::vector<Line> lines;
  store.ops.resize(cell.first_op + shown);
  for (size_t i = 0; i < shown; ++i) {
    const uint32_t k = order[i];
    if (i == 0 || level[k] != level[order[i - 1]] || i - lines.back().first == kMostAbreast)
      lines.push_back({i, i});
    const OpBox box = boxer.Measure(ops[k], scope, store.chips);
    Line& line = lines.back();
    store.ops[cell.first_op + k] = {static_cast<uint32_t>(store.boxes.size()),
                                    line.w + (line.w > 0 ? kSideGap : 0), 0};
    line.w = store.ops[cell.first_op + k].x + box.w;
    line.h = std::max(line.h, box.h);
    line.last = i + 1;
    store.boxes.push_back(box);
  }
  if (shown < ops.size()) {
    const OpBox box = boxer.MeasureBundle(ops[shown], static_cast<uint32_t>(ops.size() - shown));
    lines.push_back({shown, shown + 1, box.w, box.h});
    order.push_back(static_cast<uint32_t>(shown));
    store.ops.push_back({static_cast<uint32_t>(store.boxes.size()), 0, 0});
    store.boxes.push_back(box);
  }
  for (const Line& line : lines) {
    cell.w = std::max(cell.w, line.w);
    cell.h += line.h + (cell.h > 0 ? kStackGap : 0);
  }
  int32_t y = up ? cell.h : 0;
  for (Line& line : lines) {
    line.y = up ? y - line.h : y;
    for (size_t i = line.first; i < line.last; ++i) {
      CellOp& op = store.ops[cell.first_op + order[i]];
      op.x += (cell.w - line.w) / 2;
      op.y = line.y + (line.h - store.boxes[op.box].h) / 2;
    }
    y = up ? line.y - kStackGap : line.y + line.h + kStackGap;
  }
  const Line& top_line = up ? lines.back() : lines.front();
  cell.axis = top_line.y + top_line.h / 2;
  for (const Link& link : links) {
    const CellOp& from = store.ops[cell.first_op + link.from];
    const CellOp& to = store.ops[cell.first_op + link.to];
    const OpBox& from_box = store.boxes[from.box];
    const OpBox& to_box = store.boxes[to.box];
    CellEdge edge{from.x + from_box.w / 2,
                  up ? from.y : from.y + from_box.h,
                  to.x + to_box.w / 2,
                  up ? to.y + to_box.h : to.y,
                  0,
                  link.value};
    edge.mid = edge.y1 + (up ? kStackGap / 2 : -kStackGap / 2);
    store.edges.push_back(edge);
  }
  cell.num_ops = static_cast<uint32_t>(store.ops.size()) - cell.first_op;
  cell.num_edges = static_cast<uint32_t>(store.edges.size()) - cell.first_edge;
  return cell;
}

}  // namespace weft
