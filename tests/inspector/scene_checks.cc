// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/inspector/scene_checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "core/base/str.h"
#include "tests/support/files.h"

namespace weft::test {

namespace {

[[noreturn]] void Stop(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  std::abort();
}

SceneRect RectOf(const SceneNode& n) { return {n.x, n.y, n.w, n.h}; }
bool Inside(const SceneRect& inner, const SceneRect& outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.w <= outer.x + outer.w &&
         inner.y + inner.h <= outer.y + outer.h;
}
bool OnBorder(const SceneNode& n, int x, int y) {
  const bool in_x = x >= n.x && x <= n.x + n.w, in_y = y >= n.y && y <= n.y + n.h;
  return in_x && in_y && (x == n.x || x == n.x + n.w || y == n.y || y == n.y + n.h);
}
// On the border of a node, or of a frame around it: large bundles end there.
bool Touches(const SceneView& view, const SceneNode& n, const SceneEdge& e, int x, int y) {
  if (OnBorder(n, x, y)) return true;
  if (e.count <= 16) return false;
  for (uint32_t g = n.group; g != kNone; g = view.groups()[g].group)
    if (OnBorder(view.groups()[g], x, y)) return true;
  return false;
}
bool OnEdge(const SceneEdge& e, int x, int y) {
  const auto on = [&](int x0, int y0, int x1, int y1) {
    return x >= std::min(x0, x1) && x <= std::max(x0, x1) && y >= std::min(y0, y1) && y <= std::max(y0, y1);
  };
  if (e.flags() & kEdgeHvh)
    return on(e.x0, e.y0, e.mid, e.y0) || on(e.mid, e.y0, e.mid, e.y1) || on(e.mid, e.y1, e.x1, e.y1);
  return on(e.x0, e.y0, e.x0, e.mid) || on(e.x0, e.mid, e.x1, e.mid) || on(e.x1, e.mid, e.x1, e.y1);
}

}  // namespace

Scene BuildScene(Session& session, NetId net, const ViewOptions& options) {
  std::unique_ptr<SceneJob> job = session.BuildScene(net, options);
  Finish(*job);
  Result<Scene> scene = job->Take();
  if (!scene) Stop(scene.error());
  if (!SceneView::Open(scene->words)) Stop({ErrorCode::kInvalidArgument, "the scene does not open"});
  return std::move(scene).value();
}

std::vector<NetId> NetsInside(Session& session, NetId net) {
  std::vector<NetId> nets = {net};
  for (size_t at = 0; at < nets.size(); ++at) {
    const OpId num_ops = static_cast<OpId>(session.net(nets[at])->ops.size());
    for (OpId op = 0; op < num_ops; ++op) {
      const std::vector<NetId> inner = session.NestedNets(nets[at], op).value();
      nets.insert(nets.end(), inner.begin(), inner.end());
    }
  }
  nets.erase(nets.begin());
  return nets;
}

NetId OpenModel(Session& session, const std::string& name) {
  std::unique_ptr<OpenJob> job = session.Open(name, Bytes(ReadFile(DataPath(name))));
  Finish(*job);
  Result<DocumentId> document = job->Take();
  if (!document) Stop(document.error());
  for (const DocumentInfo& info : session.documents())
    if (info.id == *document) return info.nets.at(0);
  Stop({ErrorCode::kNotFound, name});
}

const SceneNode* NodeOf(const SceneView& view, OpId op) {
  const uint32_t node = view.op_nodes()[op];
  return node == kNone ? nullptr : &view.nodes()[node];
}

std::string FaultOfBoxes(const SceneView& view) {
  std::vector<IndexRange> ranges;
  for (uint32_t i = 0; i < view.nodes().size(); ++i) {
    const SceneNode& node = view.nodes()[i];
    if (node.w <= 0 || node.h <= 0) return StrCat("node ", i, " has no size");
    FindVisible(view, SceneSection::kNodes, RectOf(node), ranges);
    bool found_itself = false;
    for (const IndexRange& range : ranges) {
      for (uint32_t j = range.first; j < range.last; ++j) {
        found_itself |= j == i;
        if (j != i && RectOf(view.nodes()[j]).Overlaps(RectOf(node)))
          return StrCat("nodes ", i, " (", view.text(node.title), " ", view.text(node.subtitle), ") and ", j,
                        " (", view.text(view.nodes()[j].title), " ", view.text(view.nodes()[j].subtitle),
                        ") overlap");
      }
    }
    if (!found_itself) return StrCat("the grid does not find node ", i);
    if (node.group != kNone && !Inside(RectOf(node), RectOf(view.groups()[node.group])))
      return StrCat("node ", i, " sticks out of its group");
    for (uint32_t c = node.first_chip; c < node.first_chip + node.num_chips; ++c) {
      const SceneChip& chip = view.chips()[c];
      if (chip.node != i || !Inside({chip.x, chip.y, chip.w, chip.h}, RectOf(node)))
        return StrCat("chip ", c, " is outside its node");
    }
    bool in_band = false;
    for (const SceneBand& band : view.bands())
      in_band |= Inside(RectOf(node), {band.x, band.y, band.w, band.h});
    if (!in_band) return StrCat("node ", i, " is in no band");
    if (!Inside(RectOf(node), view.bounds())) return StrCat("node ", i, " is outside the scene");
  }
  for (uint32_t g = 0; g < view.groups().size(); ++g) {
    const SceneNode& group = view.groups()[g];
    if (group.group == kNone) continue;
    if (group.group >= g) return "an inner group comes before the one around it";
    if (!Inside(RectOf(group), RectOf(view.groups()[group.group]))) return StrCat("group ", g, " sticks out");
  }
  return "";
}

std::string FaultOfEdges(const SceneView& view, const Net& net, const Ssa& ssa) {
  std::map<uint32_t, std::vector<const SceneEdge*>> by_value;
  for (const SceneEdge& e : view.edges())
    if (e.kind() == EdgeKind::kData)
      for (uint32_t value : view.edge_values(e)) by_value[value].push_back(&e);
  for (const auto& [value, edges] : by_value) {
    const std::string name = ValueName(net, ssa, value);
    const SceneNode* writer = NodeOf(view, ssa.values()[value].def);
    if (writer == nullptr) return StrCat(name, ": the writer is not shown");
    const bool in_large_bundle =
        std::any_of(edges.begin(), edges.end(), [](const SceneEdge* e) { return e->count > 16; });
    // What hangs together with the writer's box.
    std::vector<uint8_t> reached(edges.size(), 0);
    std::vector<size_t> work;
    for (size_t i = 0; i < edges.size(); ++i) {
      if (!Touches(view, *writer, *edges[i], edges[i]->x0, edges[i]->y0)) continue;
      reached[i] = 1;
      work.push_back(i);
    }
    while (!work.empty()) {
      const SceneEdge& from = *edges[work.back()];
      work.pop_back();
      for (size_t i = 0; i < edges.size(); ++i) {
        if (reached[i] || !(OnEdge(from, edges[i]->x0, edges[i]->y0))) continue;
        reached[i] = 1;
        work.push_back(i);
      }
    }
    for (size_t i = 0; i < edges.size(); ++i) {
      if (!reached[i] && !in_large_bundle) return StrCat(name, ": a connector that hangs on nothing");
      if (!(edges[i]->flags() & kEdgeArrow)) continue;
      bool at_reader = false;
      for (OpId reader : ssa.uses(value)) {
        const SceneNode* node = NodeOf(view, reader);
        at_reader |= node != nullptr && Touches(view, *node, *edges[i], edges[i]->x1, edges[i]->y1);
      }
      if (!at_reader) return StrCat(name, ": an arrow that points at no reader");
    }
  }
  return "";
}

}  // namespace weft::test
