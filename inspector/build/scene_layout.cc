// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/scene_layout.h"

#include <algorithm>
#include <utility>

#include "core/base/str.h"
#include "inspector/build/visible.h"

namespace weft {

namespace {

constexpr uint32_t kMostSplit = 16;  // values of one bundle that are drawn one by one
constexpr uint32_t kUpBand = static_cast<uint32_t>(Role::kBackward);

const LaidScope::Port* FindPort(const std::vector<LaidScope::Port>& ports, ValueId value) {
  const auto at = std::lower_bound(ports.begin(), ports.end(), value,
                                   [](const LaidScope::Port& port, ValueId v) { return port.value < v; });
  return at != ports.end() && at->value == value ? &*at : nullptr;
}

bool SamePin(const LayeredPin& a, const LayeredPin& b) {
  return a.box == b.box && a.x == b.x && a.w == b.w && a.inset == b.inset;
}

}  // namespace

SceneLayout::SceneLayout(NetModel& model, Arrangement& arrangement, const ViewOptions& options,
                         std::vector<OpenNet> open)
    : model_(model),
      a_(arrangement),
      bands_(arrangement.mirror() ? options.bands : kShowAllBands),
      horizontal_(options.horizontal),
      room_(FrameRoom::Of(options.horizontal)),
      open_(std::move(open)),
      boxer_(model, arrangement, options, open_),
      expanded_(ExpandedScopes(arrangement, options)),
      order_(ExpandedInOrder(arrangement.tree(), expanded_)) {
  laid_of_.assign(a_.tree().scopes.size(), UINT32_MAX);
  scopes_.resize(order_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) {
    laid_of_[order_[i]] = i;
    scopes_[i].scope = order_[i];
  }
  next_ = order_.size();
  // Equal device columns that are drawn side by side keep level, although collectives ride on one of them
  // only.
  if (!options.fold_replicas && !a_.drawn_op().empty()) least_.resize(model.net().ops.size());
  CountByBand();
}

BoxSize SceneLayout::FramedSize(std::string_view label) const {
  const LayeredResult& result = *scopes_[0].result;
  BoxSize size{result.width[0] + room_.across_before + room_.across_after,
               result.height + room_.along_before + room_.along_after};
  if (horizontal_) std::swap(size.w, size.h);
  size.w = std::max(size.w, TextWidth(label, kTitleSize) + 2 * kTextPad);
  return size;
}

void SceneLayout::CountByBand() {
  if (!a_.mirror()) return;
  const std::vector<OpId>& order = a_.tree().order;
  count_before_.resize(order.size() + 1);
  count_before_[0] = {};
  for (size_t at = 0; at < order.size(); ++at) {
    std::array<uint32_t, kNumBands> count = count_before_[at];
    ++count[static_cast<uint32_t>(a_.band(order[at]))];
    for (OpId rider : a_.riders(order[at])) ++count[static_cast<uint32_t>(a_.band(rider))];
    count_before_[at + 1] = count;
  }
}

uint32_t SceneLayout::CountOps(ScopeId scope, uint32_t band) const {
  const ScopeRecord& record = a_.tree().scopes[scope];
  if (!a_.mirror()) return band == 0 ? record.end - record.begin : 0;
  return count_before_[record.end][band] - count_before_[record.begin][band];
}

std::string SceneLayout::CountText(uint32_t ops) const { return StrCat(ops, ops == 1 ? " op" : " ops"); }

uint64_t SceneLayout::NextCost() const {
  if (next_ == 0) return 0;
  const ScopeId scope = order_[measured_ < order_.size() ? measured_ : next_ - 1];
  const ScopeRecord& record = a_.tree().scopes[scope];
  return a_.has_graph(scope) ? 4 * record.children.size() : 4 * (record.end - record.begin);
}

bool SceneLayout::Step() {
  if (next_ == 0) return false;
  if (measured_ < order_.size()) {
    MeasureItems(scopes_[measured_++]);
    return true;
  }
  LaidScope& laid = scopes_[--next_];
  MeasureScopes(laid);
  LayOutScope(laid);
  return next_ > 0;
}

void SceneLayout::MeasureItems(LaidScope& laid) {
  a_.graph(laid.scope);  // chips are known once it is
  const ScopeRecord& scope = a_.tree().scopes[laid.scope];
  std::vector<OpId> ops;
  laid.parts.reserve(scope.children.size());
  for (ScopeChild child : scope.children) {
    ChildPart part{};
    if (!child.is_scope()) {
      part.kind = ChildPart::kItem;
      part.index = static_cast<uint32_t>(cells_.size());
      for (uint32_t b = 0; b < kNumBands; ++b) {
        ops.clear();
        if (static_cast<uint32_t>(a_.band(child.op())) == b) ops.push_back(child.op());
        for (OpId rider : a_.riders(child.op()))
          if (static_cast<uint32_t>(a_.band(rider)) == b) ops.push_back(rider);
        cells_.push_back({});
        if (ops.empty() || !shows(b)) continue;
        std::sort(ops.begin(), ops.end());
        cells_.back() = StackCell(model_.ssa(), ops, laid.scope, b == kUpBand && a_.mirror(), boxer_, store_);
        part.cells[b] = {cells_.back().w, cells_.back().h, cells_.back().axis};
      }
      if (!least_.empty()) {
        LayeredCell& least = least_[a_.drawn_op()[child.op()]];
        for (const LayeredCell& cell : part.cells) {
          const int32_t below = std::max(least.h - least.axis, cell.h - cell.axis);
          least.axis = std::max(least.axis, cell.axis);
          least.h = least.axis + below;
        }
      }
    } else if (laid_of_[child.scope()] != UINT32_MAX) {
      part.kind = ChildPart::kExpanded;
      part.index = laid_of_[child.scope()];
    } else {
      part.kind = ChildPart::kCollapsed;
    }
    laid.parts.push_back(part);
  }
}

void SceneLayout::MeasureScopes(LaidScope& laid) {
  const ScopeRecord& scope = a_.tree().scopes[laid.scope];
  for (size_t c = 0; c < laid.parts.size(); ++c) {
    ChildPart& part = laid.parts[c];
    if (part.kind == ChildPart::kItem) continue;
    const ScopeId child = scope.children[c].scope();
    const std::string& label = a_.tree().scopes[child].label;
    if (part.kind == ChildPart::kExpanded) {
      const LayeredResult* inner = scopes_[part.index].result.get();
      if (inner == nullptr) continue;
      const int32_t title = std::min(TextWidth(label, kTitleSize) + 2 * kTextPad, 224);
      for (uint32_t b = 0; b < kNumBands; ++b) {
        if (inner->width[b] == 0) continue;
        LayeredCell& cell = part.cells[b];
        cell.w = inner->width[b] + room_.across_before + room_.across_after;
        if (!horizontal_) cell.w = std::max(cell.w, title);
        cell.h = inner->height + room_.along_before + room_.along_after;
        cell.axis_x = InnerX(cell, inner->width[b]) + inner->axis[b];
      }
      continue;
    }
    for (uint32_t b = 0; b < kNumBands; ++b) {
      const uint32_t count = CountOps(child, b);
      if (count == 0 || !shows(b)) continue;
      const BoxSize size = MeasureScope(label, CountText(count), horizontal_);
      part.cells[b] = {size.w, size.h};
    }
  }
}

LayeredPin SceneLayout::PinOf(const LaidScope& laid, uint32_t band, uint32_t child, OpId op, ValueId value,
                              bool source, bool bundled) const {
  const ChildPart& part = laid.parts[child];
  // The side that the pin is on: writers below, readers above; the other way round where data flows up.
  const bool at_top = source == (band == kUpBand && a_.mirror());
  LayeredPin pin{child, 0, part.cells[band].w, 0};
  if (part.kind == ChildPart::kItem) {
    const Cell& cell = cells_[part.index + band];
    if (cell.num_ops == 0) return pin;
    const CellOp& at = store_.Find(cell, op);
    const OpBox& box = store_.boxes[at.box];
    pin.x = at.x;
    pin.w = box.w;
    pin.inset = at_top ? at.y : cell.h - at.y - box.h;
  } else if (part.kind == ChildPart::kExpanded && !bundled) {
    const LaidScope& inner = scopes_[part.index];
    const LaidScope::Port* port = FindPort(source ? inner.leaves : inner.enters, value);
    if (port != nullptr) {
      pin.x = port->x + InnerX(part.cells[band], inner.result->width[band]);
      pin.w = 0;
      pin.inset = at_top ? room_.along_before : room_.along_after;
    }
  }
  return pin;
}

void SceneLayout::AddNets(const LaidScope& laid, const ScopeGraph& graph, LayeredInput& input,
                          std::vector<LaidScope::Values>& values) {
  const auto is_expanded = [&](uint32_t child) { return laid.parts[child].kind == ChildPart::kExpanded; };
  for (const ScopeNet& net : graph.nets) {
    if (!shows(net.band)) continue;
    bool split = !net.enters && is_expanded(net.source);
    for (uint32_t k = 0; k < net.num_sinks; ++k) split |= is_expanded(graph.sinks[net.first_sink + k].child);
    // Values of one bundle may have ports of their own inside expanded children; those that share them stay
    // together, and so do more than anybody could follow.
    split = split && net.num_values <= kMostSplit;
    const bool bundled = net.num_values > kMostSplit;
    for (uint32_t v = 0; v < (split ? net.num_values : 1); ++v) {
      const ValueId value = graph.values[net.first_value + v];
      LayeredNet out{net.band, net.enters, net.leaves, static_cast<uint32_t>(input.pins.size()), 0, 0};
      if (!net.enters) {
        input.pins.push_back(PinOf(laid, net.band, net.source, net.source_op, value, true, bundled));
        out.num_sources = 1;
      }
      for (uint32_t k = 0; k < net.num_sinks; ++k) {
        const ScopeSink& sink = graph.sinks[net.first_sink + k];
        input.pins.push_back(PinOf(laid, net.band, sink.child, sink.op, value, false, bundled));
      }
      out.num_sinks = net.num_sinks;
      if (v > 0) {
        const LayeredNet& last = input.nets.back();
        bool same = true;
        for (uint32_t k = 0; same && k < out.num_sources + out.num_sinks; ++k)
          same = SamePin(input.pins[last.first_pin + k], input.pins[out.first_pin + k]);
        if (same) {
          input.pins.resize(out.first_pin);
          ++values.back().count;
          continue;
        }
      }
      input.nets.push_back(out);
      values.push_back({net.first_value + v, split ? 1 : net.num_values});
    }
  }
}

void SceneLayout::LayOutScope(LaidScope& laid) {
  const ScopeGraph& graph = a_.graph(laid.scope);
  if (!laid.parts.empty() && laid.parts[0].kind == ChildPart::kExpanded &&
      a_.tree().scopes[scopes_[laid.parts[0].index].scope].kind == ScopeKind::kColumn)
    return;  // columns stand side by side: the emitter places them
  LayeredInput input;
  input.num_rows = graph.num_rows;
  input.up_band = a_.mirror() ? kUpBand : kNumBands;
  input.row = graph.row;
  input.cells.reserve(laid.parts.size() * kNumBands);
  for (const ChildPart& part : laid.parts)
    input.cells.insert(input.cells.end(), part.cells.begin(), part.cells.end());
  if (!least_.empty()) {
    const ScopeRecord& scope = a_.tree().scopes[laid.scope];
    for (ScopeChild child : scope.children)
      input.least.push_back(child.is_scope() ? LayeredCell() : least_[a_.drawn_op()[child.op()]]);
  }
  AddNets(laid, graph, input, laid.net_values);
  laid.result = model_.layouts().Get(input);
  FindPorts(laid, graph);
}

void SceneLayout::FindPorts(LaidScope& laid, const ScopeGraph& graph) {
  for (const LayeredPort& port : laid.result->ports) {
    const LaidScope::Values& values = laid.net_values[port.net];
    for (uint32_t v = 0; v < values.count; ++v)
      (port.enters ? laid.enters : laid.leaves).push_back({graph.values[values.first + v], port.x});
  }
  const auto by_value = [](const LaidScope::Port& a, const LaidScope::Port& b) { return a.value < b.value; };
  std::sort(laid.enters.begin(), laid.enters.end(), by_value);
  std::sort(laid.leaves.begin(), laid.leaves.end(), by_value);
}

}  // namespace weft
