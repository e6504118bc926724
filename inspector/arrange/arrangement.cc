// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/arrange/arrangement.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/check.h"
#include "core/roles/replicas.h"
#include "inspector/arrange/stretches.h"

namespace weft {

Arrangement::Arrangement(const Net& net, const Ssa& ssa, const Roles& roles, const Columns& columns,
                         bool mirror, NetPorts ports)
    : net_(net), ssa_(ssa), roles_(roles), columns_(columns), mirror_(mirror), ports_(ports) {
  std::vector<OpId> anchors(net.ops.size());
  for (size_t i = 0; i < anchors.size(); ++i) anchors[i] = anchor(static_cast<OpId>(i));
  // Ports must not end up in scopes of their names' making.
  tree_ = ports.any() && anchors.size() <= kMaxScopeChildren ? FlatScopeTree(anchors)
                                                             : BuildScopeTree(net, anchors, columns);
  FindRiders();

  size_t num_inputs = 0;
  for (const Op& op : net.ops) num_inputs += op.inputs.size();
  first_input_ = net.ops.empty() ? nullptr : ssa.inputs(0).data();
  first_use_ = ssa.values().empty() ? nullptr : ssa.uses(0).data();
  use_slot_.resize(num_inputs);
  std::vector<uint32_t> next(ssa.values().size());
  for (ValueId v = 0; v < next.size(); ++v) next[v] = static_cast<uint32_t>(ssa.uses(v).data() - first_use_);
  uint32_t slot = 0;
  for (OpId i = 0; i < static_cast<OpId>(net.ops.size()); ++i)
    for (ValueId v : ssa.inputs(i)) use_slot_[next[v]++] = slot++;
  input_far_.assign(num_inputs, 0);
  value_far_.assign(ssa.values().size(), 0);
}

void Arrangement::FindRiders() {
  rider_begin_.clear();
  riders_.clear();
  if (!mirror_) return;
  rider_begin_.assign(tree_.order.size() + 1, 0);
  for (OpId i = 0; i < static_cast<OpId>(net_.ops.size()); ++i)
    if (!is_item(i)) ++rider_begin_[tree_.position[i] + 1];
  for (size_t at = 0; at < tree_.order.size(); ++at) rider_begin_[at + 1] += rider_begin_[at];
  riders_.resize(rider_begin_.back());
  std::vector<uint32_t> next(rider_begin_.begin(), rider_begin_.end() - 1);
  for (OpId i = 0; i < static_cast<OpId>(net_.ops.size()); ++i)
    if (!is_item(i)) riders_[next[tree_.position[i]]++] = i;
}

std::vector<ScopeId> Arrangement::ScopesOf(OpId op) const {
  std::vector<ScopeId> scopes;
  for (ScopeId s = tree_.scope_of[op]; s != 0; s = tree_.scopes[s].parent) scopes.push_back(s);
  std::reverse(scopes.begin(), scopes.end());
  return scopes;
}

void Arrangement::FindRepeats() {
  if (repeats_.size() == tree_.scopes.size()) return;
  const std::vector<uint64_t> hashes = HashScopes(net_, ssa_, tree_);
  repeats_.assign(hashes.size(), 1);
  repeat_of_.resize(hashes.size());
  std::unordered_map<uint64_t, ScopeId> first;  // only looked up
  for (ScopeId s = 0; s < hashes.size(); ++s) {
    repeat_of_[s] = s;
    if (tree_.scopes[s].kind == ScopeKind::kDissolved) continue;
    repeat_of_[s] = first.try_emplace(hashes[s], s).first->second;
    if (repeat_of_[s] != s) ++repeats_[repeat_of_[s]];
  }
  for (ScopeId s = 0; s < hashes.size(); ++s) repeats_[s] = repeats_[repeat_of_[s]];
}

uint32_t Arrangement::repeats(ScopeId scope) {
  FindRepeats();
  return repeats_[scope];
}

ScopeId Arrangement::repeat_of(ScopeId scope) {
  FindRepeats();
  return repeat_of_[scope];
}

void Arrangement::ForgetGraphs() {
  repeats_.clear();
  graphs_.clear();
  std::fill(input_far_.begin(), input_far_.end(), 0);
  std::fill(value_far_.begin(), value_far_.end(), 0);
}

const std::vector<uint8_t>& Arrangement::drawn_column() {
  CompareColumns();
  return drawn_column_;
}

const std::vector<OpId>& Arrangement::drawn_op() {
  CompareColumns();
  return drawn_op_;
}

const std::vector<uint8_t>& Arrangement::differs() {
  CompareColumns();
  return differs_;
}

void Arrangement::CompareColumns() {
  if (compared_) return;
  compared_ = true;
  if (columns_.names.empty()) return;
  ReplicaComparison found = CompareReplicas(net_, ssa_, columns_);
  drawn_column_ = std::move(found.same_as);
  differs_ = std::move(found.differs);
  drawn_op_ = std::move(found.drawn_op);
}

std::vector<OpId> Arrangement::ReplicasOf(OpId op) {
  CompareColumns();
  std::vector<OpId> replicas;
  if (drawn_op_.empty()) return replicas;
  for (OpId i = 0; i < static_cast<OpId>(drawn_op_.size()); ++i)
    if (i != op && drawn_op_[i] == drawn_op_[op]) replicas.push_back(i);
  return replicas;
}

ScopeId Arrangement::Group(std::span<const OpId> ops, std::string label) {
  WEFT_CHECK(!ops.empty());
  std::vector<uint8_t> chosen(net_.ops.size(), 0);
  ScopeId home = tree_.scope_of[ops[0]];
  for (OpId op : ops) {
    const OpId item = anchor(op);
    chosen[item] = 1;
    const uint32_t at = tree_.position[item];
    while (at < tree_.scopes[home].begin || at >= tree_.scopes[home].end) home = tree_.scopes[home].parent;
  }
  std::vector<uint32_t> chosen_before(tree_.order.size() + 1, 0);
  for (size_t at = 0; at < tree_.order.size(); ++at)
    chosen_before[at + 1] = chosen_before[at] + chosen[tree_.order[at]];
  const auto num_chosen = [&](ScopeId s) {
    return chosen_before[tree_.scopes[s].end] - chosen_before[tree_.scopes[s].begin];
  };

  const ScopeId group = static_cast<ScopeId>(tree_.scopes.size());
  std::vector<ScopeChild> inside;
  // Takes the chosen out of scopes that are chosen in part, outer scopes first; nothing is left empty, since
  // what would be is chosen whole.
  std::vector<ScopeId> work = {home};
  for (size_t w = 0; w < work.size(); ++w) {
    std::vector<ScopeChild> rest;
    for (ScopeChild child : tree_.scopes[work[w]].children) {
      const bool whole = child.is_scope() ? num_chosen(child.scope()) == tree_.scopes[child.scope()].end -
                                                                             tree_.scopes[child.scope()].begin
                                          : chosen[child.op()] != 0;
      if (whole) {
        inside.push_back(child);
        continue;
      }
      rest.push_back(child);
      if (child.is_scope() && num_chosen(child.scope()) > 0) work.push_back(child.scope());
    }
    tree_.scopes[work[w]].children = std::move(rest);
  }
  const auto first_item = [&](ScopeChild child) {
    return child.is_scope() ? tree_.order[tree_.scopes[child.scope()].begin] : child.op();
  };
  std::sort(inside.begin(), inside.end(),
            [&](ScopeChild a, ScopeChild b) { return first_item(a) < first_item(b); });
  const OpId first = first_item(inside[0]);
  tree_.scopes.push_back({ScopeKind::kUser, tree_.scopes[home].column, 0, home, std::move(label), {}, 0, 0});
  tree_.scopes[group].children = std::move(inside);
  std::vector<ScopeChild>& siblings = tree_.scopes[home].children;
  const auto place = std::find_if(siblings.begin(), siblings.end(),
                                  [&](ScopeChild child) { return first_item(child) > first; });
  siblings.insert(place, ScopeChild::OfScope(group));
  std::vector<OpId> anchors(net_.ops.size());
  for (size_t i = 0; i < anchors.size(); ++i) anchors[i] = anchor(static_cast<OpId>(i));
  tree_.Number(anchors);
  FindRiders();
  ForgetGraphs();
  return group;
}

bool Arrangement::Ungroup(ScopeId scope) {
  if (scope >= tree_.scopes.size() || tree_.scopes[scope].kind != ScopeKind::kUser) return false;
  ScopeRecord& group = tree_.scopes[scope];
  std::vector<ScopeChild>& siblings = tree_.scopes[group.parent].children;
  const auto at = std::find_if(siblings.begin(), siblings.end(),
                               [&](ScopeChild c) { return c.is_scope() && c.scope() == scope; });
  WEFT_CHECK(at != siblings.end());
  const size_t index = static_cast<size_t>(at - siblings.begin());
  siblings.erase(at);
  siblings.insert(siblings.begin() + static_cast<std::ptrdiff_t>(index), group.children.begin(),
                  group.children.end());
  group.children.clear();
  group.kind = ScopeKind::kDissolved;
  std::vector<OpId> anchors(net_.ops.size());
  for (size_t i = 0; i < anchors.size(); ++i) anchors[i] = anchor(static_cast<OpId>(i));
  tree_.Number(anchors);
  FindRiders();
  ForgetGraphs();
  return true;
}

}  // namespace weft
