// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/visible.h"

namespace weft {

namespace {

// Boxes that the scope shows when it is expanded and nothing in it is.
uint64_t BoxesInside(const Arrangement& a, ScopeId scope) {
  uint64_t boxes = 0;
  for (ScopeChild child : a.tree().scopes[scope].children)
    boxes += child.is_scope() ? (a.mirror() ? 3 : 1) : 1 + a.riders(child.op()).size();
  return boxes;
}

}  // namespace

bool IsFoldedAway(Arrangement& a, ScopeId scope, bool fold_replicas) {
  const ScopeRecord& record = a.tree().scopes[scope];
  return fold_replicas && record.kind == ScopeKind::kColumn && record.column != kNoColumn &&
         a.drawn_column()[record.column] != record.column;
}

std::vector<ScopeId> DefaultExpansion(Arrangement& a, bool fold_replicas, uint32_t budget) {
  const ScopeTree& tree = a.tree();
  std::vector<ScopeId> expanded = {0}, level, next;
  const auto scopes_in = [&](ScopeId scope, std::vector<ScopeId>& out) {
    for (ScopeChild child : tree.scopes[scope].children)
      if (child.is_scope() && !IsFoldedAway(a, child.scope(), fold_replicas)) out.push_back(child.scope());
  };
  scopes_in(0, level);
  uint64_t shown = BoxesInside(a, 0);
  while (!level.empty()) {
    const bool columns = tree.scopes[level[0]].kind == ScopeKind::kColumn;
    uint64_t inside = 0;
    bool any = false;
    for (ScopeId s : level) {
      if (tree.scopes[s].kind == ScopeKind::kUser) continue;  // the user closed it
      inside += BoxesInside(a, s);
      any = true;
    }
    const uint64_t gone = (a.mirror() ? 3 : 1) * level.size();
    if (!any || (!columns && shown + inside > budget + gone)) break;
    shown += inside;
    shown -= std::min(shown, gone);
    next.clear();
    for (ScopeId s : level) {
      if (tree.scopes[s].kind == ScopeKind::kUser) continue;
      expanded.push_back(s);
      scopes_in(s, next);
    }
    level.swap(next);
  }
  return expanded;
}

std::vector<uint8_t> ExpandedScopes(Arrangement& a, const ViewOptions& options) {
  const ScopeTree& tree = a.tree();
  std::vector<uint8_t> expanded(tree.scopes.size(), options.expand_all ? 1 : 0);
  if (!options.expand_all) {
    const std::vector<ScopeId> chosen =
        options.expanded ? *options.expanded : DefaultExpansion(a, options.fold_replicas, options.budget);
    for (ScopeId s : chosen)
      if (s < expanded.size()) expanded[s] = 1;
  }
  expanded[0] = 1;
  for (ScopeChild child : tree.scopes[0].children)
    if (child.is_scope() && tree.scopes[child.scope()].kind == ScopeKind::kColumn)
      expanded[child.scope()] = !IsFoldedAway(a, child.scope(), options.fold_replicas);
  return expanded;
}

std::vector<ScopeId> ExpandedInOrder(const ScopeTree& tree, const std::vector<uint8_t>& expanded) {
  std::vector<ScopeId> order, stack = {0};
  while (!stack.empty()) {
    const ScopeId s = stack.back();
    stack.pop_back();
    order.push_back(s);
    const std::vector<ScopeChild>& children = tree.scopes[s].children;
    for (size_t k = children.size(); k-- > 0;)
      if (children[k].is_scope() && expanded[children[k].scope()]) stack.push_back(children[k].scope());
  }
  return order;
}

}  // namespace weft
