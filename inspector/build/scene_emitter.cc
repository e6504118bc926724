// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/scene_emitter.h"

#include <algorithm>

#include "core/base/str.h"
#include "inspector/build/visible.h"

namespace weft {

namespace {

constexpr int32_t kColumnGap = 80;   // between device columns
constexpr size_t kMostControls = 6;  // of one op that are drawn
constexpr uint32_t kEveryBand = (1u << kNumBands) - 1;
constexpr uint32_t kForwardBand = static_cast<uint32_t>(Role::kForward);
constexpr uint32_t kCollectiveBand = static_cast<uint32_t>(Role::kCollective);

}  // namespace

SceneEmitter::SceneEmitter(NetModel& model, SceneLayout& layout, const ViewOptions& options,
                           const std::vector<Diagnostic>& findings, const ShownNet& shown,
                           SceneWriter& writer)
    : model_(model),
      layout_(layout),
      options_(options),
      a_(layout.arrangement()),
      shown_(shown),
      writer_(writer) {
  const size_t num_ops = model.net().ops.size();
  places_.resize(layout.scopes().size());
  for (Place& place : places_) place.group.fill(kNone);
  if (model.ports().any()) port_nodes_.assign(num_ops, kNone);
  severity_.assign(num_ops, 0);
  for (const Diagnostic& d : findings) {
    if (d.path != shown.path || d.op < 0 || d.severity == Severity::kNote) continue;
    const size_t op = static_cast<size_t>(d.op) + model.ports().in;
    if (op < num_ops)
      severity_[op] = std::max<uint8_t>(severity_[op], d.severity == Severity::kError ? 2 : 1);
  }
  problems_before_.assign(a_.tree().order.size() + 1, 0);
  for (size_t i = 0; i < severity_.size(); ++i)
    if (severity_[i] > 0) ++problems_before_[a_.tree().position[i] + 1];
  for (size_t at = 0; at + 1 < problems_before_.size(); ++at)
    problems_before_[at + 1] += problems_before_[at];
}

void SceneEmitter::PlaceAt(const Spot& spot) {
  places_[0].x[kForwardBand] = spot.x + layout_.room().across_before;
  places_[0].y = spot.y + layout_.room().along_before;
  places_[0].group[kForwardBand] = spot.group;
}

// Device columns from left to right, each with its own bands; the collectives of all of them after the last.
void SceneEmitter::PlaceStrips() {
  const LaidScope& root = layout_.scopes()[0];
  int32_t x = 0;
  if (root.result != nullptr) {
    x = -root.result->axis[kForwardBand];  // what the first op is on stays at 0 when things around it grow
    PlaceColumn(0, x, kEveryBand);
    return;
  }
  std::vector<uint32_t> columns;
  for (const ChildPart& part : root.parts)
    if (part.kind == ChildPart::kExpanded) columns.push_back(part.index);
  // What belongs to no device is a column of its own, the last one.
  const bool shared = a_.tree().scopes[layout_.scopes()[columns.back()].scope].column == kNoColumn;
  const size_t devices = columns.size() - (shared ? 1 : 0);
  for (size_t k = 0; k < devices; ++k) {
    PlaceColumn(columns[k], x, devices == 1 ? kEveryBand : kEveryBand & ~(1u << kCollectiveBand));
    x += kColumnGap - kBandGap;
  }
  if (devices > 1)
    for (size_t k = 0; k < devices; ++k) PlaceColumn(columns[k], x, 1u << kCollectiveBand);
  if (shared) PlaceColumn(columns.back(), x, kEveryBand);
}

void SceneEmitter::PlaceColumn(uint32_t laid, int32_t& x, uint32_t bands) {
  const LayeredResult* result = layout_.scopes()[laid].result.get();
  if (result == nullptr) return;
  // Gradients pass through collectives on their way to updates.
  for (const Role role : {Role::kForward, Role::kBackward, Role::kCollective, Role::kUpdate}) {
    const uint32_t b = static_cast<uint32_t>(role);
    if (((bands >> b) & 1) == 0 || result->width[b] == 0) continue;
    places_[laid].x[b] = x;
    AddStrip(laid, b, x);
    x += result->width[b] + (options_.horizontal ? kStripHead : kStripPad) + kStripPad + kBandGap;
  }
}

void SceneEmitter::AddStrip(uint32_t laid, uint32_t band, int32_t left) {
  const LaidScope& scope = layout_.scopes()[laid];
  SceneBand strip{};
  const int32_t across = options_.horizontal ? kStripHead : kStripPad;
  const int32_t along = options_.horizontal ? kStripPad : kStripHead;
  strip.x = left - across;
  strip.y = -along;
  strip.w = scope.result->width[band] + across + kStripPad;
  strip.h = scope.result->height + along + kStripPad;
  strip.role = band;
  const uint8_t column = a_.tree().scopes[scope.scope].column;
  strip.device = column == kNoColumn ? kNone : column;
  strip.title = writer_.Text(StripTitle(scope.scope, band));
  strip.count = layout_.CountOps(scope.scope, band);
  writer_.bands.push_back(strip);
}

std::string SceneEmitter::StripTitle(ScopeId scope, uint32_t band) {
  const ScopeRecord& record = a_.tree().scopes[scope];
  std::string title(a_.mirror() ? kBandNames[band] : "Net");
  if (record.kind != ScopeKind::kColumn) return a_.mirror() ? title : std::string();
  std::string device = record.label;
  if (record.column != kNoColumn && options_.fold_replicas) {
    uint32_t replicas = 0;
    for (uint8_t drawn : a_.drawn_column()) replicas += drawn == record.column;
    if (replicas > 1) StrAppend(device, " \u00d7", replicas);
  }
  return a_.mirror() ? StrCat(device, " \u00b7 ", title) : device;
}

uint64_t SceneEmitter::NextCost() const {
  return next_ < places_.size() ? layout_.scopes()[next_].parts.size() * 4 : 0;
}

bool SceneEmitter::Step() {
  if (next_ == places_.size()) return false;
  EmitScope(static_cast<uint32_t>(next_++));
  return next_ < places_.size();
}

std::array<int32_t, 4> SceneEmitter::CellRect(const LaidScope& laid, const Place& place, uint32_t child,
                                              uint32_t band) const {
  const LayeredCell& cell = laid.parts[child].cells[band];
  return {place.x[band] + laid.result->cell_x[child * kNumBands + band],
          place.y + laid.result->cell_y[child * kNumBands + band], cell.w, cell.h};
}

void SceneEmitter::EmitScope(uint32_t index) {
  const LaidScope& laid = layout_.scopes()[index];
  if (laid.result == nullptr) return;
  const Place& place = places_[index];
  for (uint32_t child = 0; child < laid.parts.size(); ++child) {
    switch (laid.parts[child].kind) {
      case ChildPart::kItem:
        EmitItem(laid, place, child);
        break;
      case ChildPart::kCollapsed:
        EmitCollapsed(laid, place, child);
        break;
      case ChildPart::kExpanded:
        EmitFrames(laid, place, child);
        break;
    }
  }
  EmitEdges(laid, place);
}

uint32_t SceneEmitter::NodeFlagsOf(OpId op) {
  const Op& o = model_.net().ops[op];
  uint32_t flags = 0;
  if (o.is_gradient_op.value_or(false)) flags |= kNodeGradient;
  for (Symbol out : o.outputs) {
    size_t looked = 0;
    for (Symbol in : o.inputs) {
      if (in == out) flags |= kNodeInPlace;
      if (++looked == 16) break;
    }
    if (flags & kNodeInPlace) break;
  }
  if (model_.op_def(op) == nullptr) flags |= kNodeUnknown;
  if (severity_[op] == 1) flags |= kNodeFinding;
  if (severity_[op] == 2) flags |= kNodeError;
  for (const Arg& arg : o.args)
    if (arg.has & (Arg::kHasN | Arg::kHasNets)) flags |= kNodeNested;
  if (!a_.differs().empty() && a_.differs()[op]) flags |= kNodeDiffers;
  return flags;
}

void SceneEmitter::EmitItem(const LaidScope& laid, const Place& place, uint32_t child) {
  const ChildPart& part = laid.parts[child];
  const CellStore& store = layout_.store();
  const OpId item = a_.tree().scopes[laid.scope].children[child].op();
  for (uint32_t b = 0; b < kNumBands; ++b) {
    const Cell& cell = layout_.cells()[part.index + b];
    if (cell.num_ops == 0) continue;
    const auto [x, y, w, h] = CellRect(laid, place, child, b);
    for (uint32_t k = 0; k < cell.num_ops; ++k) {
      const CellOp& at = store.ops[cell.first_op + k];
      const OpBox& box = store.boxes[at.box];
      const uint32_t index = static_cast<uint32_t>(writer_.nodes.size());
      const Role role = model_.roles().role[box.op];
      SceneNode node{};
      node.x = x + at.x;
      node.y = y + at.y;
      node.w = box.w;
      node.h = box.h;
      node.id = shown_.is_port(box.op) ? kNone : shown_.NumberOf(box.op);
      node.group = place.group[b];
      node.count = box.count;
      node.first_chip = static_cast<uint32_t>(writer_.chips.size());
      node.num_chips = box.num_chips;
      if (box.head > 0) EmitOpenBox(box, node);
      if (shown_.is_port(box.op)) {
        const uint32_t port = a_.is_port_in(box.op) ? static_cast<uint32_t>(box.op)
                                                    : static_cast<uint32_t>(box.op) -
                                                          static_cast<uint32_t>(shown_.inner->num_ops());
        node.style = NodeStyle(NodeKind::kPort, role, 0);
        node.id = shown_.port[port];
        node.count = 0;
        node.title = writer_.Text(model_.net().Str(model_.net().ops[box.op].type));
        node.subtitle = writer_.Text(box.subtitle);
        NodeOf(box.op) = index;
      } else if (box.count > 1) {
        node.style = NodeStyle(NodeKind::kBundle, role, 0);
        node.title = writer_.Text(StrCat("+", box.count, " more"));
      } else {
        // An open box shows that it holds nets.
        const uint32_t hidden = box.head > 0 ? uint32_t{kNodeNested} : 0;
        node.style = NodeStyle(NodeKind::kOp, role, NodeFlagsOf(box.op) & ~hidden);
        node.title = writer_.Text(model_.net().Str(model_.net().ops[box.op].type));
        node.subtitle = writer_.Text(box.subtitle);
        NodeOf(box.op) = index;
      }
      for (uint32_t c = 0; c < box.num_chips; ++c) {
        const BoxChip& chip = store.chips[box.first_chip + c];
        writer_.chips.push_back(
            {chip.x, chip.y, chip.w, kChipHeight,
             static_cast<uint32_t>(chip.kind) | (static_cast<uint32_t>(chip.role) << 8),
             shown_.NumberOfValue(chip.value), index,
             chip.kind == ChipKind::kMore ? writer_.Text(StrCat("+", chip.more)) : writer_.Text(chip.text)});
      }
      writer_.nodes.push_back(node);
    }
    if (store.boxes[store.ops[cell.first_op + cell.num_ops - 1].box].count > 1) {
      // Whoever is in the bundle is shown by it.
      const auto shown_by_bundle = [&](OpId op) {
        if (static_cast<uint32_t>(a_.band(op)) == b && NodeOf(op) == kNone)
          NodeOf(op) = static_cast<uint32_t>(writer_.nodes.size()) - 1;
      };
      shown_by_bundle(item);
      for (OpId rider : a_.riders(item)) shown_by_bundle(rider);
    }
    for (uint32_t k = 0; k < cell.num_edges; ++k) {
      const CellEdge& e = store.edges[cell.first_edge + k];
      const Role role = model_.roles().role[model_.ssa().values()[e.value].def];
      const uint32_t up = a_.mirror() && b == static_cast<uint32_t>(Role::kBackward) ? uint32_t{kEdgeUp} : 0;
      writer_.edges.push_back({x + e.x0, y + e.y0, x + e.x1, y + e.y1, y + e.mid,
                               shown_.NumberOfValue(e.value),
                               EdgeStyle(EdgeKind::kData, role, kEdgeArrow | up), 1});
    }
  }
  if (!a_.riders(item).empty()) linked_items_.push_back(item);
}

// The op's own box becomes the head of a frame that holds one frame for each net.
void SceneEmitter::EmitOpenBox(const OpBox& box, SceneNode& node) {
  const std::span<const OpenNet> nets = OpenNetsOf(layout_.open(), box.op);
  const auto put = [&](SceneNode& into, const SceneRect& drawn) {
    const bool turn = options_.horizontal;
    into.x = node.x + (turn ? drawn.y : drawn.x);
    into.y = node.y + (turn ? drawn.x : drawn.y);
    into.w = turn ? drawn.h : drawn.w;
    into.h = turn ? drawn.w : drawn.h;
  };
  int32_t w = options_.horizontal ? box.h : box.w, h = 0;
  const std::vector<SceneRect> frames = PlaceFrames(nets, box.head, w, h);
  SceneNode frame = node;
  frame.style = NodeStyle(NodeKind::kGroup, model_.roles().role[box.op], kNodeNested);
  frame.id = node.id | kFrameOfOp;
  frame.first_chip = frame.num_chips = 0;
  put(frame, {0, 0, w, h});
  writer_.groups.push_back(frame);
  frame.group = static_cast<uint32_t>(writer_.groups.size()) - 1;
  for (size_t k = 0; k < nets.size(); ++k) {
    put(frame, frames[k]);
    frame.title = writer_.Text(nets[k].label);
    spots_.push_back({nets[k].shown, frame.x, frame.y, static_cast<uint32_t>(writer_.groups.size())});
    writer_.groups.push_back(frame);
  }
  put(node, {0, 0, w, box.head});
}

uint32_t SceneEmitter::ScopeFlags(ScopeId scope) {
  const ScopeRecord& record = a_.tree().scopes[scope];
  uint32_t flags = shown_.inner != nullptr ? kNodeNested : kNodeExpandable;
  if (record.kind == ScopeKind::kStretch) flags |= kNodeSynthetic;
  if (problems_before_[record.end] > problems_before_[record.begin]) flags |= kNodeFinding;
  if (a_.repeats(scope) > 1) flags |= kNodeRepeats;
  return flags;
}

void SceneEmitter::ShowOpsBy(ScopeId scope, uint32_t band, uint32_t node) {
  const ScopeRecord& record = a_.tree().scopes[scope];
  for (uint32_t at = record.begin; at < record.end; ++at) {
    const OpId item = a_.tree().order[at];
    if (static_cast<uint32_t>(a_.band(item)) == band) NodeOf(item) = node;
    for (OpId rider : a_.riders(item))
      if (static_cast<uint32_t>(a_.band(rider)) == band) NodeOf(rider) = node;
  }
}

void SceneEmitter::EmitCollapsed(const LaidScope& laid, const Place& place, uint32_t child) {
  const ScopeId scope = a_.tree().scopes[laid.scope].children[child].scope();
  const ScopeRecord& record = a_.tree().scopes[scope];
  const uint32_t flags = ScopeFlags(scope);
  std::array<uint32_t, kNumBands> shown;
  shown.fill(kNone);
  for (uint32_t b = 0; b < kNumBands; ++b) {
    const ChildPart& part = laid.parts[child];
    if (part.cells[b].w == 0) continue;
    const auto [x, y, w, h] = CellRect(laid, place, child, b);
    SceneNode node{};
    node.x = x;
    node.y = y;
    node.w = w;
    node.h = h;
    node.style = NodeStyle(NodeKind::kScope, static_cast<Role>(b), flags);
    node.id = shown_.NumberOfScope(scope);
    node.title = writer_.Text(record.label);
    node.count = layout_.CountOps(scope, b);
    node.subtitle = writer_.Text(layout_.CountText(node.count));
    node.group = place.group[b];
    node.first_chip = static_cast<uint32_t>(writer_.chips.size());
    shown[b] = static_cast<uint32_t>(writer_.nodes.size());
    ShowOpsBy(scope, b, shown[b]);
    writer_.nodes.push_back(node);
  }
  if (!a_.mirror()) return;
  const auto link = [&](Role from, Role to, EdgeKind kind) {
    const uint32_t a = shown[static_cast<uint32_t>(from)], b = shown[static_cast<uint32_t>(to)];
    if (a != kNone && b != kNone) links_.push_back({a, b, kind, kNone, writer_.nodes[b].count});
  };
  link(Role::kForward, Role::kBackward, EdgeKind::kStash);
  if (shown[kCollectiveBand] != kNone) {
    link(Role::kBackward, Role::kCollective, EdgeKind::kUpdate);
    link(Role::kCollective, Role::kUpdate, EdgeKind::kUpdate);
  } else {
    link(Role::kBackward, Role::kUpdate, EdgeKind::kUpdate);
  }
}

void SceneEmitter::EmitFrames(const LaidScope& laid, const Place& place, uint32_t child) {
  const ChildPart& part = laid.parts[child];
  const LaidScope& inner = layout_.scopes()[part.index];
  if (inner.result == nullptr) return;
  Place& inner_place = places_[part.index];
  for (uint32_t b = 0; b < kNumBands; ++b) {
    if (part.cells[b].w == 0) continue;
    const auto [x, y, w, h] = CellRect(laid, place, child, b);
    SceneNode frame{};
    frame.x = x;
    frame.y = y;
    frame.w = w;
    frame.h = h;
    frame.style = NodeStyle(NodeKind::kGroup, static_cast<Role>(b), ScopeFlags(inner.scope));
    frame.id = shown_.NumberOfScope(inner.scope);
    frame.title = writer_.Text(a_.tree().scopes[inner.scope].label);
    frame.count = layout_.CountOps(inner.scope, b);
    frame.subtitle = writer_.Text(layout_.CountText(frame.count));
    frame.group = place.group[b];
    inner_place.group[b] = static_cast<uint32_t>(writer_.groups.size());
    inner_place.x[b] = x + layout_.InnerX(part.cells[b], inner.result->width[b]);
    inner_place.y = y + layout_.room().along_before;
    writer_.groups.push_back(frame);
  }
}

void SceneEmitter::EmitEdges(const LaidScope& laid, const Place& place) {
  const ScopeGraph& graph = a_.graph(laid.scope);
  std::vector<uint32_t> bundle_at(laid.net_values.size(), kNone);
  for (const LayeredEdge& e : laid.result->edges) {
    const LaidScope::Values& values = laid.net_values[e.net];
    const ValueId value = graph.values[values.first];
    const OpId def = model_.ssa().values()[value].def;
    const uint32_t band = static_cast<uint32_t>(a_.band(def));
    uint32_t flags = e.arrow ? uint32_t{kEdgeArrow} : 0;
    if (a_.mirror() && band == static_cast<uint32_t>(Role::kBackward)) flags |= kEdgeUp;
    uint32_t stored = shown_.NumberOfValue(value);
    if (values.count > 1) {
      flags |= kEdgeBundle;
      if (bundle_at[e.net] == kNone) {
        bundle_at[e.net] = static_cast<uint32_t>(writer_.values.size());
        for (uint32_t k = 0; k < values.count; ++k)
          writer_.values.push_back(shown_.NumberOfValue(graph.values[values.first + k]));
      }
      stored = bundle_at[e.net];
    }
    const int32_t x = place.x[band], y = place.y;
    writer_.edges.push_back({x + e.x0, y + e.y0, x + e.x1, y + e.y1, y + e.mid, stored,
                             EdgeStyle(EdgeKind::kData, model_.roles().role[def], flags), values.count});
  }
}

// Along the row of an item: what its ops in one band pass to those in another, one link per pair.
void SceneEmitter::LinkRiders(OpId item) {
  const Ssa& ssa = model_.ssa();
  const std::vector<OpId>& drawn = a_.drawn_op();
  for (OpId rider : a_.riders(item)) {
    const uint32_t to = NodeOf(rider);
    if (to == kNone) continue;
    if (a_.band(rider) == Role::kBackward && model_.roles().is_gradient_of[rider] && NodeOf(item) != kNone &&
        a_.band(item) == Role::kForward) {
      ValueId stashed = kNone;
      uint32_t count = 0;
      for (ValueId v : ssa.inputs(rider)) {
        const OpId def = ssa.values()[v].def;
        if (def != kNoOp && a_.band(def) == Role::kForward && count++ == 0) stashed = v;
      }
      links_.push_back({NodeOf(item), to, EdgeKind::kStash, count == 1 ? stashed : kNone, count});
    }
    if (a_.band(rider) == Role::kBackward) continue;
    uint32_t last_from = kNone;
    for (ValueId v : ssa.inputs(rider)) {
      const OpId def = ssa.values()[v].def;
      if (def == kNoOp || a_.band(def) == a_.band(rider)) continue;
      const OpId from_item = a_.anchor(def);
      if (from_item != item && (drawn.empty() || drawn[from_item] != drawn[item])) continue;
      const uint32_t from = NodeOf(def);
      if (from == kNone || from == last_from) continue;
      links_.push_back({from, to, EdgeKind::kUpdate, v, 1});
      last_from = from;
    }
  }
}

void SceneEmitter::AddRowLink(const RowLink& link) {
  const SceneNode& a = writer_.nodes[link.from];
  const SceneNode& b = writer_.nodes[link.to];
  const bool right = b.x >= a.x;
  SceneEdge edge{};
  edge.x0 = right ? a.x + a.w : a.x;
  edge.x1 = right ? b.x : b.x + b.w;
  edge.y0 = a.y + a.h / 2;
  edge.y1 = b.y + b.h / 2;
  edge.mid = right ? std::max(edge.x1 - 14, (edge.x0 + edge.x1) / 2)
                   : std::min(edge.x1 + 14, (edge.x0 + edge.x1) / 2);
  edge.value = link.value;
  edge.style = EdgeStyle(link.kind, a.role(), kEdgeHvh | kEdgeArrow);
  edge.count = link.count;
  writer_.edges.push_back(edge);
}

// What an op waits for without reading it. Nothing is laid out for these: they run behind the boxes, and the
// chip of each names its blob.
void SceneEmitter::LinkControls(OpId op) {
  const uint32_t to = NodeOf(op);
  const size_t count = std::min<size_t>(model_.net().ops[op].control_inputs.size(), kMostControls);
  for (size_t k = 0; to != kNone && k < count; ++k) {
    const ValueId value = model_.control_value(op, k);
    const OpId def = value == kNoValue ? kNoOp : model_.ssa().values()[value].def;
    if (def == kNoOp) continue;
    const uint32_t from = NodeOf(def);
    if (from != kNone && from != to) AddControlLink(from, to, shown_.NumberOfValue(value));
  }
}

void SceneEmitter::AddControlLink(uint32_t from, uint32_t to, ValueId value) {
  const SceneNode& a = writer_.nodes[from];
  const SceneNode& b = writer_.nodes[to];
  const bool down = b.y >= a.y + a.h, up = b.y + b.h <= a.y;
  if (!down && !up) {
    AddRowLink({from, to, EdgeKind::kControl, value, 1});
    return;
  }
  constexpr int32_t kBeside = 14, kTurn = 10;  // beside the edges of data, which keep to the middle
  SceneEdge edge{};
  edge.x0 = a.x + a.w - kBeside;
  edge.x1 = b.x + b.w - kBeside;
  edge.y0 = down ? a.y + a.h : a.y;
  edge.y1 = down ? b.y : b.y + b.h;
  edge.mid = down ? std::max(edge.y1 - kTurn, (edge.y0 + edge.y1) / 2)
                  : std::min(edge.y1 + kTurn, (edge.y0 + edge.y1) / 2);
  edge.value = value;
  edge.style = EdgeStyle(EdgeKind::kControl, a.role(), uint32_t{kEdgeArrow} | (up ? uint32_t{kEdgeUp} : 0));
  edge.count = 1;
  writer_.edges.push_back(edge);
}

// From "down" to "right": x and y change places.
void SceneEmitter::Transpose() {
  const auto turn = [](auto& box) {
    std::swap(box.x, box.y);
    std::swap(box.w, box.h);
  };
  for (SceneBand& band : writer_.bands) turn(band);
  for (SceneNode& group : writer_.groups) turn(group);
  for (SceneNode& node : writer_.nodes) turn(node);
  for (SceneEdge& edge : writer_.edges) {
    std::swap(edge.x0, edge.y0);
    std::swap(edge.x1, edge.y1);
    edge.style ^= static_cast<uint32_t>(kEdgeHvh) << 16;
  }
  writer_.header.flags |= kSceneHorizontal;
}

void SceneEmitter::Link() {
  const std::vector<OpId>& drawn = a_.drawn_op();
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i] != static_cast<OpId>(i))
      writer_.header.flags |= options_.fold_replicas ? kSceneFoldable | kSceneFolded : kSceneFoldable;
    if (options_.fold_replicas && writer_.op_nodes[i] == kNone)
      writer_.op_nodes[i] = writer_.op_nodes[drawn[i]];
  }
  for (OpId item : linked_items_) LinkRiders(item);
  for (const RowLink& link : links_) AddRowLink(link);
  if (options_.show_references)
    for (OpId op : model_.waiting_ops()) LinkControls(op);
}

void SceneEmitter::Finish(NetId net) {
  if (options_.horizontal) Transpose();
  for (SceneChip& chip : writer_.chips) {
    chip.x += writer_.nodes[chip.node].x;
    chip.y += writer_.nodes[chip.node].y;
  }
  writer_.header.net = net;
  writer_.header.num_ops = static_cast<uint32_t>(model_.net().ops.size());
  writer_.header.mode = static_cast<uint32_t>(a_.mirror() ? LayoutMode::kMirror : LayoutMode::kFlow);
  if (!model_.checked()) writer_.header.flags |= kSceneUnchecked;
  writer_.SetFocus(options_.horizontal);
}

}  // namespace weft
