// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The scope tree: how the ops of a net fall into boxes that can be collapsed. Its leaves are the items, ops
// that stand for themselves (riders, such as gradient ops, follow their anchor). Scopes come from "/" paths
// in names, then from common prefixes of neighbours (comp_0_conv_1, comp_0_sum), and what is still too long
// is cut into stretches of whole periods. Owned by an Arrangement; built once, changed only by the user's own
// groups.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ir/net.h"
#include "core/roles/columns.h"
#include "core/ssa/ssa.h"

namespace weft {

using ScopeId = uint32_t;

/// A scope's child: an op, or a scope when the top bit is set.
struct ScopeChild {
  uint32_t code;
  static ScopeChild OfOp(OpId op) { return {static_cast<uint32_t>(op)}; }
  static ScopeChild OfScope(ScopeId scope) { return {scope | kScopeBit}; }
  bool is_scope() const { return (code & kScopeBit) != 0; }
  OpId op() const { return static_cast<OpId>(code); }
  ScopeId scope() const { return code & ~kScopeBit; }

 private:
  static constexpr uint32_t kScopeBit = 0x80000000u;
};

enum class ScopeKind : uint8_t { kRoot, kColumn, kNamed, kStretch, kUser, kDissolved };

struct ScopeRecord {
  ScopeKind kind;
  uint8_t column;  // which device column, kNoColumn for none
  uint32_t depth;
  ScopeId parent;  // UINT32_MAX for the root
  std::string label;
  std::vector<ScopeChild> children;  // in order of their first item
  uint32_t begin, end;               // its items are order[begin, end)
};

struct ScopeTree {
  std::vector<ScopeRecord> scopes;  // [0] is the root
  std::vector<OpId> order;          // items, depth first
  std::vector<uint32_t> position;   // OpId -> index in `order`; riders have their anchor's
  std::vector<ScopeId> scope_of;    // OpId -> innermost scope

  /// Works out depth, begin, end, order, position and scope_of from parents and children.
  void Number(std::span<const OpId> anchors);
};

/// `anchors`: OpId -> its item (Roles::anchor, or each op itself).
ScopeTree BuildScopeTree(const Net& net, std::span<const OpId> anchors, const Columns& columns);
/// A root that has all items.
ScopeTree FlatScopeTree(std::span<const OpId> anchors);

/// The name by which an op is filed: its own when it has a path, else its first output's.
std::string_view FilingName(const Net& net, const Op& op);

/// Structure of each scope as a number: equal for scopes of the same op types, arities and wiring inside. For
/// finding repeats; never shown.
std::vector<uint64_t> HashScopes(const Net& net, const Ssa& ssa, const ScopeTree& tree);

}  // namespace weft
