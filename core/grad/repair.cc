// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/repair.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "core/base/str.h"
#include "core/grad/control.h"
#include "core/grad/messages.h"
#include "core/ops/op_columns.h"
#include "core/ssa/print.h"

namespace weft {

namespace {

// Each round keeps every version that the round before found overwritten; rewritten nets rarely need a second
// one.
constexpr int kMostRounds = 64;

class Repairer {
 public:
  Repairer(const Net& net, const OpSet& ops, size_t skip)
      : net_(net), lookup_(ops, *net.symbols), skip_(skip) {
    Net tail(net.symbols);
    tail.external_inputs = net.external_inputs;
    tail.ops.assign(net.ops.begin() + static_cast<std::ptrdiff_t>(skip_), net.ops.end());
    ssa_.emplace(tail);
  }

  // Rewrites the net so that no conflict of the list stands. Errors: the conflict, when an operator has to
  // work in place and nothing can be done.
  // `was`: the operators' indices in the net before all repairs; follows.
  Result<Net> Run(const std::vector<VersionConflict>& conflicts, std::vector<std::string>& changes,
                  std::vector<OpId>& was) {
    Net out = net_;
    std::map<ValueId, Symbol> renamed;                // versions that have a name of their own now
    std::map<size_t, std::vector<Op>> before, after;  // copies to insert around operators
    std::map<ValueId, Symbol> copied;
    for (const VersionConflict& conflict : conflicts) {
      const ValueId value = conflict.needed;
      const Value& v = ssa_->values()[value];
      const Symbol blob = ssa_->blobs()[v.blob];
      if (renamed.contains(value) || Holds(moved_, blob)) continue;
      if (v.def != kNoOp && CanRename(value)) {
        touched_.push_back(blob);
        const Symbol name = renamed[value] = FreshName(blob);
        RenameValue(out, value, name);
        changes.push_back(StrCat(ValueName(net_, *ssa_, value), " is now ", net_.Str(name), ": ",
                                 internal::DescribeOp(net_, Index(v.def)),
                                 " writes it and its readers follow."));
        continue;
      }
      const size_t reader = static_cast<size_t>(conflict.reader);
      if (conflict.is_output) {
        if (!CanWriteElsewhere(reader, v.output)) {
          RenameEarlier(out, conflict, blob, before, changes);
          continue;
        }
        touched_.push_back(blob);
        const Symbol name = renamed[value] = FreshName(blob);
        out.ops[reader].outputs[v.output] = name;
        after[reader].push_back(CopyOp(out, reader, name, blob));
        changes.push_back(StrCat(internal::DescribeOp(net_, reader), " writes ", net_.Str(name),
                                 ", and a Copy makes ", net_.Str(blob), " of it."));
        continue;
      }
      if (!CanReadElsewhere(reader, blob)) {
        RenameEarlier(out, conflict, blob, before, changes);
        continue;
      }
      touched_.push_back(blob);
      Symbol& name = copied[value];
      if (!name) {
        name = FreshName(blob);
        const size_t first = Index(ssa_->uses(value)[0]);
        before[first].push_back(CopyOp(out, first, blob, name));
        changes.push_back(StrCat("a Copy keeps ", ValueName(net_, *ssa_, value), " as ", net_.Str(name),
                                 " before op ", first, "."));
      }
      ReadElsewhere(out.ops[reader], blob, name);
    }
    if (before.empty() && after.empty()) return out;
    std::vector<Op> ops;
    std::vector<OpId> places;
    const auto insert = [&](const std::map<size_t, std::vector<Op>>& copies, size_t at) {
      const auto found = copies.find(at);
      if (found == copies.end()) return;
      ops.insert(ops.end(), found->second.begin(), found->second.end());
      places.insert(places.end(), found->second.size(), kNoOp);
    };
    for (size_t i = 0; i < out.ops.size(); ++i) {
      insert(before, i);
      ops.push_back(std::move(out.ops[i]));
      places.push_back(was[i]);
      insert(after, i);
    }
    out.ops = std::move(ops);
    was = std::move(places);
    return out;
  }

 private:
  static bool Holds(const std::vector<Symbol>& names, Symbol name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  size_t Index(OpId op) const { return static_cast<size_t>(op) + skip_; }

  Symbol FreshName(Symbol blob) {
    for (int k = 0;; ++k) {
      const Symbol name = net_.symbols->Intern(StrCat(net_.Str(blob), "_auto_", k));
      if (ssa_->FindBlob(name) != kNoBlob || std::find(fresh_.begin(), fresh_.end(), name) != fresh_.end())
        continue;
      fresh_.push_back(name);
      return name;
    }
  }

  bool IsControl(size_t op) {
    const OpDef* def = lookup_(net_.ops[op].type);
    return !def || (def->flags & kControlFlow) != 0;
  }

  // Must input and output of this operator be one blob?
  bool MustBeInPlace(size_t op, Symbol blob) {
    const OpDef* def = lookup_(net_.ops[op].type);
    if (!def) return true;
    const Op& o = net_.ops[op];
    for (uint32_t i = 0; i < o.inputs.size(); ++i)
      for (uint32_t k = 0; k < o.outputs.size(); ++k)
        if (o.inputs[i] == blob && o.outputs[k] == blob && HasPair(def->enforced, i, k)) return true;
    return false;
  }

  bool CanWriteElsewhere(size_t op, uint32_t output) {
    return !IsControl(op) && !MustBeInPlace(op, net_.ops[op].outputs[output]);
  }

  // A control-flow operator that only reads the blob can read another; one that also writes it can't be told
  // apart.
  bool CanReadElsewhere(size_t op, Symbol blob) {
    const Op& o = net_.ops[op];
    if (IsControl(op)) return std::find(o.outputs.begin(), o.outputs.end(), blob) == o.outputs.end();
    return !MustBeInPlace(op, blob);
  }

  bool CanRename(ValueId value) {
    const Value& v = ssa_->values()[value];
    if (!CanWriteElsewhere(Index(v.def), v.output)) return false;
    // What overwrites it may pass the old value through on some paths, unlisted.
    ValueId next = ssa_->latest(v.blob);
    while (next != value && ssa_->values()[next].previous != value) next = ssa_->values()[next].previous;
    if (next != value && IsControl(Index(ssa_->values()[next].def))) return false;
    const auto uses = ssa_->uses(value);
    return std::all_of(uses.begin(), uses.end(),
                       [&](OpId reader) { return CanReadElsewhere(Index(reader), ssa_->blobs()[v.blob]); });
  }

  void RenameValue(Net& out, ValueId value, Symbol name) {
    const Value& v = ssa_->values()[value];
    const Symbol blob = ssa_->blobs()[v.blob];
    out.ops[Index(v.def)].outputs[v.output] = name;
    for (OpId reader : ssa_->uses(value)) ReadElsewhere(out.ops[Index(reader)], blob, name);
    // Control inputs wait for a writer: those between this write and the next wait for the renamed one.
    for (size_t i = Index(v.def) + 1; i < out.ops.size(); ++i) {
      for (Symbol& control : out.ops[i].control_inputs)
        if (control == blob) control = name;
      const BlobList& written = net_.ops[i].outputs;
      if (std::find(written.begin(), written.end(), blob) != written.end()) break;
    }
  }

  void ReadElsewhere(Op& op, Symbol blob, Symbol name) {
    for (Symbol& input : op.inputs)
      if (input == blob) input = name;
    op = internal::RenameInSubnets(net_, op, [&](Symbol s) { return s == blob ? name : s; });
  }

  // The last resort: everything before the overwriting operator works on another blob, which keeps the
  // version; the overwriting operator finds it under the old name. Other conflicts of the blob wait for the
  // next round.
  void RenameEarlier(Net& out, const VersionConflict& conflict, Symbol blob,
                     std::map<size_t, std::vector<Op>>& before, std::vector<std::string>& changes) {
    if (Holds(touched_, blob)) return;
    moved_.push_back(blob);
    const size_t end = static_cast<size_t>(conflict.overwriter);
    const Symbol name = FreshName(blob);
    if (ssa_->starts_outside(ssa_->FindBlob(blob))) before[skip_].push_back(CopyOp(out, skip_, blob, name));
    for (size_t i = skip_; i < end; ++i) {
      Op& op = out.ops[i];
      const auto rename = [&](Symbol s) { return s == blob ? name : s; };
      for (Symbol& s : op.inputs) s = rename(s);
      for (Symbol& s : op.outputs) s = rename(s);
      for (Symbol& s : op.control_inputs) s = rename(s);
      op = internal::RenameInSubnets(net_, op, rename);
    }
    // A control-flow operator that writes it on some paths only passes the old value through.
    const BlobList& reads = net_.ops[end].inputs;
    if (IsControl(end) || std::find(reads.begin(), reads.end(), blob) != reads.end())
      before[end].push_back(CopyOp(out, end, name, blob));
    changes.push_back(StrCat("before op ", end, ", ", net_.Str(blob), " is ", net_.Str(name), ", so that ",
                             ValueName(net_, *ssa_, conflict.needed), " survives."));
  }

  Op CopyOp(Net& out, size_t beside, Symbol from, Symbol to) {
    Op copy;
    copy.type = out.Intern("Copy");
    copy.name = kEmptySymbol;
    copy.inputs = {from};
    copy.outputs = {to};
    copy.device = net_.ops[beside].device;
    return copy;
  }

  const Net& net_;
  OpLookup lookup_;
  const size_t skip_;
  std::optional<Ssa> ssa_;
  std::vector<Symbol> fresh_;
  std::vector<Symbol> touched_,
      moved_;  // blobs that this round dealt with: version by version, by RenameEarlier
};

}  // namespace

namespace {

// Makes plan.forward a net of its own, `net` at first.
void BeginChange(const Net& net, RepairedPlan& plan) {
  if (plan.changed) return;
  plan.changed = true;
  plan.forward = net;
  plan.was.resize(net.ops.size());
  std::iota(plan.was.begin(), plan.was.end(), OpId{0});
}

void TakeRepairedOps(const Net& net, RepairedPlan& plan) {
  if (plan.backward.repaired_ops.empty()) return;
  BeginChange(net, plan);
  for (const auto& [index, op] : plan.backward.repaired_ops) {
    plan.forward.ops[static_cast<size_t>(index)] = op;
    plan.changes.push_back(StrCat("the nets inside ",
                                  internal::DescribeOp(plan.forward, static_cast<size_t>(index)),
                                  " were repaired."));
  }
}

}  // namespace

RepairedPlan WithRepairedOps(const Net& net, Backward backward) {
  RepairedPlan plan;
  plan.backward = std::move(backward);
  TakeRepairedOps(net, plan);
  return plan;
}

std::string RepairListing(const Net& before, const RepairedPlan& plan) {
  if (!plan.changed) return "";
  const Ssa old_ssa(before), new_ssa(plan.forward);
  std::string out;
  const auto line = [&](char sign, const Net& net, const Ssa& ssa, size_t i) {
    StrAppend(out, sign, " ", i, "  ", OpListing(net, ssa, static_cast<OpId>(i), {.full = true}), "\n");
  };
  for (size_t i = 0; i < plan.was.size(); ++i) {
    if (plan.was[i] == kNoOp) {
      line('+', plan.forward, new_ssa, i);
      continue;
    }
    const size_t old = static_cast<size_t>(plan.was[i]);
    if (SameOp(*before.symbols, before.ops[old], *plan.forward.symbols, plan.forward.ops[i])) continue;
    line('-', before, old_ssa, old);
    line('+', plan.forward, new_ssa, i);
  }
  return out;
}

Result<RepairedPlan> PlanWithRepair(const Net& net, const OpSet& ops, const GradientOptions& options) {
  RepairedPlan plan;
  if (!options.repair && !options.nested) {
    WEFT_TRY(Backward backward, PlanGradients(net, ops, options));
    return WithRepairedOps(net, std::move(backward));
  }
  GradientOptions collecting = options;
  collecting.collect_conflicts = options.repair;
  for (int round = 0; round < kMostRounds; ++round) {
    const Net& current = plan.changed ? plan.forward : net;
    WEFT_TRY(plan.backward, PlanGradients(current, ops, collecting));
    TakeRepairedOps(net, plan);
    if (plan.backward.conflicts.empty()) return plan;
    BeginChange(net, plan);
    const Net before = plan.forward;
    WEFT_TRY(plan.forward,
             Repairer(before, ops, options.skip).Run(plan.backward.conflicts, plan.changes, plan.was));
  }
  GradientOptions plain = options;
  plain.repair = plain.nested = plain.collect_conflicts = false;
  WEFT_TRY(plan.backward, PlanGradients(plan.forward, ops, plain));
  return plan;
}

}  // namespace weft
