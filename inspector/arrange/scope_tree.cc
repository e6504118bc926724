// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/arrange/scope_tree.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/hash.h"
#include "core/base/str.h"
#include "inspector/arrange/stretches.h"

namespace weft {

namespace {

constexpr uint32_t kMaxPathDepth = 32;  // deeper components of a path are part of the last one's label
constexpr uint32_t kMaxTokens = 6;
constexpr size_t kMinGroup = 4;
constexpr size_t kMaxGap = 6;  // strangers in a row that a prefix group may take in

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSeparator(char c) { return c == '_' || c == ':' || c == '.' || c == '-'; }

// Length of the first `count` tokens of a name, 0 when nothing would be left after them. A number belongs to
// the word before it: comp_0 | conv_1.
size_t PrefixLength(std::string_view name, uint32_t count) {
  size_t at = 0;
  for (uint32_t token = 0; token < count; ++token) {
    if (token > 0) ++at;  // the separator
    while (at < name.size() && !IsSeparator(name[at])) ++at;
    size_t number = at + 1;
    while (number < name.size() && IsDigit(name[number])) ++number;
    if (at < name.size() && number > at + 1 && (number == name.size() || IsSeparator(name[number])))
      at = number;
    if (at + 1 >= name.size()) return 0;
  }
  return at;
}

class TreeBuilder {
 public:
  TreeBuilder(const Net& net, std::span<const OpId> anchors, const Columns& columns)
      : net_(net), anchors_(anchors), columns_(columns) {}

  ScopeTree Build() {
    AddScope(ScopeKind::kRoot, UINT32_MAX, kNoColumn, "");
    if (!columns_.names.empty()) {
      for (size_t c = 0; c < columns_.names.size(); ++c)
        AddScope(ScopeKind::kColumn, 0, static_cast<uint8_t>(c), std::string(columns_.names[c]));
      AddScope(ScopeKind::kColumn, 0, kNoColumn, "shared");
    }
    names_.resize(net_.ops.size());
    FileByPath();
    for (ScopeId s = 1; s < tree_.scopes.size() && tree_.scopes[s].kind == ScopeKind::kColumn; ++s) {
      if (tree_.scopes[s].children.empty()) {
        tree_.scopes[s].kind = ScopeKind::kDissolved;
      } else {
        tree_.scopes[0].children.push_back(ScopeChild::OfScope(s));
      }
    }
    const ScopeId num_path_scopes = static_cast<ScopeId>(tree_.scopes.size());
    for (ScopeId s = 0; s < num_path_scopes; ++s) Flatten(s);
    for (ScopeId s = 0; s < num_path_scopes; ++s) GroupByPrefix(s);
    CutLongScopes();
    tree_.Number(anchors_);
    return std::move(tree_);
  }

 private:
  ScopeId AddScope(ScopeKind kind, ScopeId parent, uint8_t column, std::string label) {
    const ScopeId id = static_cast<ScopeId>(tree_.scopes.size());
    tree_.scopes.push_back({kind, column, 0, parent, std::move(label), {}, 0, 0});
    return id;
  }

  ScopeId ColumnScope(OpId item) const {
    if (columns_.names.empty()) return 0;
    const uint8_t column = columns_.of_op[item];
    return 1 + (column == kNoColumn ? static_cast<ScopeId>(columns_.names.size()) : column);
  }

  void FileByPath() {
    std::unordered_map<uint64_t, std::vector<ScopeId>> by_hash;  // only looked up
    std::string_view last_path;
    ScopeId last_top = 0, last_scope = 0;
    for (OpId i = 0; i < static_cast<OpId>(net_.ops.size()); ++i) {
      if (anchors_[i] != i) continue;
      const ScopeId top = ColumnScope(i);
      std::string_view name = FilingName(net_, net_.ops[i]);
      if (!columns_.names.empty()) {
        const std::string_view device = DevicePrefix(name);
        if (!device.empty()) name.remove_prefix(device.size() + 1 + (name[0] == '_'));
      }
      const size_t slash = name.rfind('/');
      const std::string_view path = slash == std::string_view::npos ? "" : name.substr(0, slash);
      names_[i] = name.substr(path.empty() ? (slash == 0 ? 1 : 0) : slash + 1);
      if (i == 0 || path != last_path || top != last_top) {
        last_path = path;
        last_top = top;
        last_scope = top;
        for (size_t at = 0, depth = 0; at < path.size(); ++depth) {
          size_t end = depth < kMaxPathDepth ? path.find('/', at) : std::string_view::npos;
          if (end == std::string_view::npos) end = path.size();
          if (end > at) last_scope = Child(by_hash, last_scope, path.substr(at, end - at));
          at = end + 1;
        }
      }
      tree_.scopes[last_scope].children.push_back(ScopeChild::OfOp(i));
    }
  }

  ScopeId Child(std::unordered_map<uint64_t, std::vector<ScopeId>>& by_hash, ScopeId parent,
                std::string_view label) {
    std::vector<ScopeId>& same = by_hash[HashMix(HashBytes(label), parent)];
    for (ScopeId s : same)
      if (tree_.scopes[s].parent == parent && tree_.scopes[s].label == label) return s;
    const ScopeId id = AddScope(ScopeKind::kNamed, parent, tree_.scopes[parent].column, std::string(label));
    tree_.scopes[parent].children.push_back(ScopeChild::OfScope(id));
    same.push_back(id);
    return id;
  }

  // A scope of one op is no scope, and a scope whose only child is a scope shares its box: the path becomes
  // the label. Parents come before children, so one walk down and one up do.
  void Flatten(ScopeId s) {
    std::vector<ScopeChild>& children = tree_.scopes[s].children;
    for (ScopeChild& child : children) {
      std::string label;
      while (child.is_scope()) {
        ScopeRecord& scope = tree_.scopes[child.scope()];
        if (scope.kind != ScopeKind::kNamed || scope.children.size() != 1) break;
        StrAppend(label, scope.label, "/");
        scope.kind = ScopeKind::kDissolved;
        child = scope.children[0];
        if (child.is_scope()) tree_.scopes[child.scope()].parent = s;
      }
      if (child.is_scope() && !label.empty()) {
        ScopeRecord& scope = tree_.scopes[child.scope()];
        scope.label = label + scope.label;
      }
    }
  }

  void GroupByPrefix(ScopeId s) {
    if (tree_.scopes[s].kind == ScopeKind::kDissolved) return;
    const std::vector<ScopeChild> children = std::move(tree_.scopes[s].children);
    std::vector<ScopeChild> grouped;
    for (size_t begin = 0; begin < children.size();) {
      if (children[begin].is_scope()) {
        grouped.push_back(children[begin++]);
        continue;
      }
      size_t end = begin;
      while (end < children.size() && !children[end].is_scope()) ++end;
      GroupRun(s, std::span(children).subspan(begin, end - begin), 1, grouped);
      begin = end;
    }
    tree_.scopes[s].children = std::move(grouped);
  }

  struct Cluster {
    size_t first, last, count;
  };

  // Groups a run of ops by their first `tokens` tokens and appends ops and new scopes to `out`. Depth of
  // recursion is bounded by kMaxTokens.
  void GroupRun(ScopeId parent, std::span<const ScopeChild> run, uint32_t tokens,
                std::vector<ScopeChild>& out) {
    if (run.size() < kMinGroup || tokens > kMaxTokens) {
      out.insert(out.end(), run.begin(), run.end());
      return;
    }
    const std::vector<Cluster> clusters = FindClusters(run, tokens);
    if (!any_prefix_) {
      out.insert(out.end(), run.begin(), run.end());
      return;
    }
    size_t at = 0;
    for (const Cluster& cluster : clusters) {
      if (cluster.first == 0 && cluster.last + 1 == run.size()) {  // all of them: no news at this depth
        GroupRun(parent, run, tokens + 1, out);
        return;
      }
      GroupRun(parent, run.subspan(at, cluster.first - at), tokens + 1, out);
      const std::string_view name = names_[run[cluster.first].op()];
      const ScopeId scope = AddScope(ScopeKind::kNamed, parent, tree_.scopes[parent].column,
                                     std::string(name.substr(0, PrefixLength(name, tokens))));
      std::vector<ScopeChild> inside;
      GroupRun(scope, run.subspan(cluster.first, cluster.last + 1 - cluster.first), tokens + 1, inside);
      tree_.scopes[scope].children = std::move(inside);
      out.push_back(ScopeChild::OfScope(scope));
      at = cluster.last + 1;
    }
    GroupRun(parent, run.subspan(at), tokens + 1, out);
  }

  // Stretches of the run in which one prefix prevails, left to right, not overlapping.
  std::vector<Cluster> FindClusters(std::span<const ScopeChild> run, uint32_t tokens) {
    std::unordered_map<std::string_view, size_t> open;  // prefix -> its cluster, only looked up
    std::vector<Cluster> clusters, found;
    const auto close = [&](const Cluster& c) {
      if (c.count >= kMinGroup && c.count * 2 >= c.last - c.first + 1) found.push_back(c);
    };
    std::string_view last_prefix;
    size_t last_cluster = 0;
    for (size_t i = 0; i < run.size(); ++i) {
      const std::string_view name = names_[run[i].op()];
      const std::string_view prefix = name.substr(0, PrefixLength(name, tokens));
      if (prefix.empty()) continue;
      if (clusters.empty() || prefix != last_prefix) {
        const auto [at, fresh] = open.try_emplace(prefix, clusters.size());
        if (fresh) clusters.push_back({i, i, 0});
        last_prefix = prefix;
        last_cluster = at->second;
      }
      Cluster& cluster = clusters[last_cluster];
      if (i - cluster.last > kMaxGap + 1) {
        close(cluster);
        cluster = {i, i, 0};
      }
      cluster.last = i;
      ++cluster.count;
    }
    any_prefix_ = !clusters.empty();
    for (const Cluster& cluster : clusters) close(cluster);
    std::sort(found.begin(), found.end(),
              [](const Cluster& x, const Cluster& y) { return x.first < y.first; });
    std::vector<Cluster> kept;
    for (const Cluster& c : found)
      if (kept.empty() || c.first > kept.back().last) kept.push_back(c);
    return kept;
  }

  void CutLongScopes() {
    std::vector<uint32_t> signatures;
    for (ScopeId s = 0; s < tree_.scopes.size(); ++s) {
      if (tree_.scopes[s].kind == ScopeKind::kDissolved) continue;
      while (tree_.scopes[s].children.size() > kMaxScopeChildren) {
        const std::vector<ScopeChild> children = std::move(tree_.scopes[s].children);
        signatures.clear();
        for (ScopeChild child : children)
          signatures.push_back(child.is_scope() ? UINT32_MAX - SizeClass(child.scope())
                                                : net_.ops[child.op()].type.id);
        std::vector<ScopeChild> stretches;
        const std::vector<uint32_t> cuts = CutIntoStretches(signatures);
        for (size_t k = 0; k + 1 < cuts.size(); ++k) {
          if (cuts[k + 1] - cuts[k] == 1) {
            stretches.push_back(children[cuts[k]]);
            continue;
          }
          const ScopeId scope = AddScope(ScopeKind::kStretch, s, tree_.scopes[s].column, "");
          tree_.scopes[scope].children.assign(children.begin() + cuts[k], children.begin() + cuts[k + 1]);
          tree_.scopes[scope].label = StrCat("ops ", FirstOp(scope), "-", LastOp(scope));
          for (ScopeChild child : tree_.scopes[scope].children)
            if (child.is_scope()) tree_.scopes[child.scope()].parent = scope;
          stretches.push_back(ScopeChild::OfScope(scope));
        }
        tree_.scopes[s].children = std::move(stretches);
      }
    }
  }

  uint32_t SizeClass(ScopeId s) const {
    return static_cast<uint32_t>(tree_.scopes[s].children.size() & 0xffff);
  }
  OpId FirstOp(ScopeId s) const {
    ScopeChild child = tree_.scopes[s].children.front();
    while (child.is_scope()) child = tree_.scopes[child.scope()].children.front();
    return child.op();
  }
  OpId LastOp(ScopeId s) const {
    ScopeChild child = tree_.scopes[s].children.back();
    while (child.is_scope()) child = tree_.scopes[child.scope()].children.back();
    return child.op();
  }

  const Net& net_;
  std::span<const OpId> anchors_;
  const Columns& columns_;
  ScopeTree tree_;
  std::vector<std::string_view> names_;  // OpId -> name after its path
  bool any_prefix_ = false;              // the last FindClusters saw a name with that many tokens
};

}  // namespace

std::string_view FilingName(const Net& net, const Op& op) {
  const std::string_view name = net.Str(op.name);
  if (name.find('/') != std::string_view::npos) return name;
  if (!op.outputs.empty()) return net.Str(op.outputs[0]);
  if (!name.empty()) return name;
  return op.inputs.empty() ? std::string_view() : net.Str(op.inputs[0]);
}

ScopeTree BuildScopeTree(const Net& net, std::span<const OpId> anchors, const Columns& columns) {
  return TreeBuilder(net, anchors, columns).Build();
}

ScopeTree FlatScopeTree(std::span<const OpId> anchors) {
  ScopeTree tree;
  tree.scopes.push_back({ScopeKind::kRoot, kNoColumn, 0, UINT32_MAX, {}, {}, 0, 0});
  for (OpId i = 0; i < static_cast<OpId>(anchors.size()); ++i)
    if (anchors[i] == i) tree.scopes[0].children.push_back(ScopeChild::OfOp(i));
  tree.Number(anchors);
  return tree;
}

void ScopeTree::Number(std::span<const OpId> anchors) {
  order.clear();
  position.assign(anchors.size(), 0);
  scope_of.assign(anchors.size(), 0);
  struct Frame {
    ScopeId scope;
    size_t next;
  };
  std::vector<Frame> stack = {{0, 0}};
  scopes[0].begin = 0;
  scopes[0].depth = 0;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    ScopeRecord& scope = scopes[frame.scope];
    if (frame.next == scope.children.size()) {
      scope.end = static_cast<uint32_t>(order.size());
      stack.pop_back();
      continue;
    }
    const ScopeChild child = scope.children[frame.next++];
    if (child.is_scope()) {
      ScopeRecord& inner = scopes[child.scope()];
      inner.parent = frame.scope;
      inner.depth = scope.depth + 1;
      inner.begin = static_cast<uint32_t>(order.size());
      stack.push_back({child.scope(), 0});
    } else {
      position[child.op()] = static_cast<uint32_t>(order.size());
      scope_of[child.op()] = frame.scope;
      order.push_back(child.op());
    }
  }
  for (size_t i = 0; i < anchors.size(); ++i) {
    if (anchors[i] == static_cast<OpId>(i)) continue;
    position[i] = position[anchors[i]];
    scope_of[i] = scope_of[anchors[i]];
  }
}

std::vector<uint64_t> HashScopes(const Net& net, const Ssa& ssa, const ScopeTree& tree) {
  std::vector<uint64_t> hashes(tree.scopes.size(), 0);
  // Children have been numbered after their parents except where stretches and prefix groups re-parented
  // them, so go by depth: deepest first.
  std::vector<ScopeId> by_depth;
  for (ScopeId s = 0; s < tree.scopes.size(); ++s)
    if (tree.scopes[s].kind != ScopeKind::kDissolved) by_depth.push_back(s);
  std::stable_sort(by_depth.begin(), by_depth.end(),
                   [&](ScopeId a, ScopeId b) { return tree.scopes[a].depth > tree.scopes[b].depth; });
  for (ScopeId s : by_depth) {
    const ScopeRecord& scope = tree.scopes[s];
    uint64_t hash = scope.children.size();
    for (ScopeChild child : scope.children) {
      if (child.is_scope()) {
        hash = HashMix(hash, hashes[child.scope()]);
        continue;
      }
      const Op& op = net.ops[child.op()];
      hash = HashMix(hash, op.type.id);
      hash = HashMix(hash, (uint64_t{op.inputs.size()} << 32) | op.outputs.size());
      for (ValueId v : ssa.inputs(child.op())) {
        const OpId def = ssa.values()[v].def;
        uint64_t wire = 0;  // from outside the scope
        if (def != kNoOp && tree.position[def] >= scope.begin && tree.position[def] < scope.end &&
            tree.order[tree.position[def]] == def) {
          wire = (uint64_t{tree.position[child.op()]} - tree.position[def]) * 8 + ssa.values()[v].output + 1;
        }
        hash = HashMix(hash, wire);
      }
    }
    hashes[s] = hash;
  }
  return hashes;
}

}  // namespace weft
