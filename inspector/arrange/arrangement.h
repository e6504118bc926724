// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrangement: all about a net that decides where things go but does not depend on what is expanded: bands,
// columns, scopes, which op rides on which, and per scope the graph between its children with their rows.
// There is one per net and layout mode, owned by the session; scope graphs are made when first asked for,
// outer scopes before inner ones, so that the first scene of a huge net costs what it shows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ir/net.h"
#include "core/roles/columns.h"
#include "core/roles/roles.h"
#include "core/ssa/ssa.h"
#include "inspector/arrange/scope_tree.h"

namespace weft {

/// A value that passes between children of a scope, or over its border, inside one band. Values that join the
/// same children are one net. Data flows down in every band but the backward one.
struct ScopeNet {
  uint8_t band;
  bool enters = false;           // the writer is outside the scope
  bool leaves = false;           // there are readers outside
  uint32_t source = UINT32_MAX;  // child that writes, UINT32_MAX when it enters
  OpId source_op = kNoOp;        // the writer when that child is an op
  uint32_t first_sink = 0, num_sinks = 0;
  uint32_t first_value = 0, num_values = 0;
};

struct ScopeSink {
  uint32_t child;
  OpId op;  // the reader when the child is an op, else kNoOp
};

struct ScopeGraph {
  std::vector<uint32_t> row;  // child -> row
  uint32_t num_rows = 0;
  std::vector<ScopeNet> nets;
  std::vector<ScopeSink> sinks;
  std::vector<ValueId> values;
};

/// The first and the last ops of a net that stand for blobs that come in and go out: they keep to the border.
struct NetPorts {
  uint32_t in = 0, out = 0;
  bool any() const { return in + out > 0; }
};

class Arrangement {
 public:
  /// `mirror`: bands and riders by role; otherwise every op is an item of one band. All arguments outlive it.
  /// `ports`: of a net drawn in an operator's box, see build/inner_net.h.
  Arrangement(const Net& net, const Ssa& ssa, const Roles& roles, const Columns& columns, bool mirror,
              NetPorts ports = {});

  bool mirror() const { return mirror_; }
  const ScopeTree& tree() const { return tree_; }
  const Columns& columns() const { return columns_; }
  Role band(OpId op) const { return mirror_ ? roles_.role[op] : Role::kForward; }
  OpId anchor(OpId op) const { return mirror_ ? roles_.anchor[op] : op; }
  bool is_item(OpId op) const { return anchor(op) == op; }
  bool is_port_in(OpId op) const { return static_cast<uint32_t>(op) < ports_.in; }
  bool is_port_out(OpId op) const { return static_cast<size_t>(op) + ports_.out >= net_.ops.size(); }
  /// The ops that ride on an item, in op order.
  std::span<const OpId> riders(OpId item) const {
    const uint32_t at = tree_.position[item];
    if (rider_begin_.empty()) return {};
    return {riders_.data() + rider_begin_[at], rider_begin_[at + 1] - rider_begin_[at]};
  }
  /// Number of ops in a scope, riders too.
  uint32_t num_ops(ScopeId scope) const {
    const ScopeRecord& record = tree_.scopes[scope];
    const uint32_t items = record.end - record.begin;
    return rider_begin_.empty() ? items : items + rider_begin_[record.end] - rider_begin_[record.begin];
  }

  /// The scopes around an op, outermost first, the root left out.
  std::vector<ScopeId> ScopesOf(OpId op) const;

  /// The graph inside a scope, made now if need be (and those of the scopes around it).
  const ScopeGraph& graph(ScopeId scope);
  bool has_graph(ScopeId scope) const { return scope < graphs_.size() && graphs_[scope] != nullptr; }
  /// The reader's side of input `k` of `op` is a labelled reference: no edge is drawn. Complete once the
  /// graphs of the scopes around the op have been made.
  bool input_is_far(OpId op, size_t k) const { return input_far_[InputSlot(op) + k] != 0; }
  /// Some reader of the value in its own band is reached by reference only.
  bool value_is_far(ValueId value) const { return value_far_[value] != 0; }

  /// How many scopes have the structure of this one, itself counted, and the first of them.
  uint32_t repeats(ScopeId scope);
  ScopeId repeat_of(ScopeId scope);

  /// For each device column the one that is drawn for it: itself, or an identical earlier one. Empty without
  /// columns.
  const std::vector<uint8_t>& drawn_column();
  /// OpId -> the op that is drawn for it (in the column's representative). Empty when nothing is folded.
  const std::vector<OpId>& drawn_op();
  /// OpId -> 1 when the op has no equal in some other column.
  const std::vector<uint8_t>& differs();
  /// The same op in the other columns.
  std::vector<OpId> ReplicasOf(OpId op);

  /// A scope around the given ops. Returns its id.
  ScopeId Group(std::span<const OpId> ops, std::string label);
  /// Dissolves a user's group: its children go to its parent. False when it is none.
  bool Ungroup(ScopeId scope);

 private:
  friend class ScopeGraphBuilder;
  // input_far_: drawn; a reference; a reference inside the scope that the value enters by an edge.
  enum Far : uint8_t { kNear, kFar, kFarInside };

  bool use_is_far(ValueId value, size_t use) const {
    return input_far_[use_slot_[static_cast<size_t>(ssa_.uses(value).data() - first_use_) + use]] == kFar;
  }
  size_t InputSlot(OpId op) const { return static_cast<size_t>(ssa_.inputs(op).data() - first_input_); }
  void FindRiders();
  void ForgetGraphs();
  void CompareColumns();
  void FindRepeats();

  const Net& net_;
  const Ssa& ssa_;
  const Roles& roles_;
  const Columns& columns_;
  bool mirror_;
  NetPorts ports_;
  ScopeTree tree_;
  std::vector<uint32_t> rider_begin_;
  std::vector<OpId> riders_;
  const ValueId* first_input_;      // where the SSA form keeps all inputs, op by op,
  const OpId* first_use_;           // and all uses, value by value
  std::vector<uint32_t> use_slot_;  // use -> the input that it is
  std::vector<uint8_t> input_far_, value_far_;
  std::vector<std::unique_ptr<ScopeGraph>> graphs_;
  std::vector<uint32_t> repeats_;  // by scope; empty: not counted yet
  std::vector<ScopeId> repeat_of_;
  bool compared_ = false;
  std::vector<uint8_t> drawn_column_, differs_;
  std::vector<OpId> drawn_op_;
};

}  // namespace weft
