// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Both nets are walked at once. A value that the two share gets one number; an operator is ready when all
// values that it reads have theirs. Ready operators meet in tables: first those that agree in everything and
// write the same names, then those that agree in everything. When none are left, the first operator of A
// without a counterpart takes what is most like it: the same but for its settings; the same type writing the
// same names; the same type reading the same external input at the same place; or nothing, and its outputs
// are A's alone. Then the walk goes on, so that what stands behind a changed operator meets again.
#include "core/ssa/diff.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/hash.h"
#include "core/ssa/op_hash.h"
#include "core/ssa/versions.h"

namespace weft {

namespace {

constexpr uint32_t kNoId = 0;
constexpr OpId kAlone = -2;  // decided: no counterpart

// Operators by key, in order of arrival. Those that are taken meanwhile are skipped when met. Open
// addressing: a node for each of a million operators would cost more than all else here.
class Waiting {
 public:
  void Add(uint64_t key, OpId op) {
    if ((used_ + 1) * 2 > slots_.size()) Grow();
    const int32_t entry = static_cast<int32_t>(entries_.size());
    entries_.push_back({op, kEnd});
    Slot& slot = slots_[Find(key)];
    if (slot.last == kEnd) {
      slot = {key, entry, entry};
      ++used_;
    } else {
      entries_[slot.last].next = entry;
      slot.last = entry;
      if (slot.first == kEnd) slot.first = entry;
    }
  }
  OpId First(uint64_t key, const std::vector<OpId>& match) {
    if (slots_.empty()) return kNoOp;
    int32_t& first = slots_[Find(key)].first;
    while (first != kEnd && match[entries_[first].op] != kNoOp) first = entries_[first].next;
    return first == kEnd ? kNoOp : entries_[first].op;
  }

 private:
  static constexpr int32_t kEnd = -1;
  struct Entry {
    OpId op;
    int32_t next;
  };
  struct Slot {
    uint64_t key = 0;
    int32_t first = kEnd, last = kEnd;  // last == kEnd: free
  };

  size_t Find(uint64_t key) const {
    size_t i = key & (slots_.size() - 1);
    while (slots_[i].last != kEnd && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void Grow() {
    std::vector<Slot> old(std::max<size_t>(64, slots_.size() * 2));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.last != kEnd) slots_[Find(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
  size_t used_ = 0;
};

struct Keys {
  uint64_t loose = 0;   // type and values read
  uint64_t strict = 0;  // and arguments, device, engine
  uint64_t named = 0;   // and names written
};

struct Side {
  explicit Side(const Net& n)
      : net(n),
        ssa(n, {.nested = NestedNets::kReads}),
        nesting(*n.symbols),
        id(ssa.values().size(), kNoId),
        unready(ssa.num_ops()),
        match(ssa.num_ops(), kNoOp),
        keys(ssa.num_ops()) {
    for (size_t op = 0; op < unready.size(); ++op)
      unready[op] = static_cast<uint32_t>(ssa.inputs(static_cast<OpId>(op)).size());
  }

  // What the nets and texts inside `op` see: everything that it reads, listed or not. A RecurrentNetwork also
  // names blobs that its gradient operator will write, so they have their number only in the end.
  OuterBlobs Outer(OpId op, bool in_the_end) const {
    OuterBlobs outer{SymbolMap<uint64_t>(*net.symbols, 16, 0), nesting.Of(net.ops[op].type)};
    for (ValueId value : ssa.inputs(op))
      outer.identity[ssa.blobs()[ssa.values()[value].blob]] = HashMix(id[value], 0x1d);
    outer.AddOutputs(net.ops[op].outputs);
    if (outer.nesting != Nesting::kRecurrent) return outer;
    for (const Arg& arg : net.ops[op].args) {
      if (!(arg.has & Arg::kHasStrings)) continue;
      for (const std::string& text : arg.Load()->strings) {
        const Symbol name = net.symbols->Find(text);
        const BlobId blob = ssa.FindBlob(name);
        if (!name || blob == kNoBlob || outer.identity.Get(name)) continue;
        outer.identity[name] = HashMix(in_the_end ? id[ssa.latest(blob)] : 0, 0x2d);
      }
    }
    return outer;
  }

  uint64_t HashOfArgs(OpId op, bool in_the_end) const {
    const Op& o = net.ops[op];
    if (nesting.Of(o.type) == Nesting::kNone) return HashArgs(*net.symbols, o.args, nullptr, {});
    const OuterBlobs outer = Outer(op, in_the_end);
    return HashArgs(*net.symbols, o.args, &outer, o.outputs);
  }

  void ComputeKeys(OpId op) {
    const Op& o = net.ops[op];
    const auto inputs = ssa.inputs(op);
    Keys& k = keys[op];
    k.loose = HashMix(o.type.id, (static_cast<uint64_t>(o.inputs.size()) << 32) | o.outputs.size());
    for (size_t i = 0; i < o.inputs.size(); ++i) k.loose = HashMix(k.loose, id[inputs[i]]);
    uint64_t nested = 0;  // what nets inside read besides, in any order
    for (size_t i = o.inputs.size(); i < inputs.size(); ++i) nested += HashMix(id[inputs[i]], 1);
    k.loose = HashMix(k.loose, nested);
    k.strict = HashMix(HashMix(k.loose, HashOfArgs(op, false)), HashDevice(o.device, net.device));
    k.strict = HashMix(k.strict, o.engine == kEmptySymbol ? 0 : o.engine.id);
    k.named = HashMix(k.strict, WrittenNames(op));
  }

  uint64_t WrittenNames(OpId op) const {
    uint64_t hash = net.ops[op].type.id;
    for (Symbol name : net.ops[op].outputs) hash = HashMix(hash, name.id);
    return hash;
  }

  uint64_t AnchorKey(OpId op, size_t input) const {
    return HashMix(HashMix(net.ops[op].type.id, input), id[ssa.inputs(op)[input]]);
  }
  bool IsAnchor(OpId op, size_t input) const { return ssa.values()[ssa.inputs(op)[input]].def == kNoOp; }

  const Net& net;
  const Ssa ssa;
  const NestingTypes nesting;
  std::vector<uint32_t> id;       // per value
  std::vector<uint32_t> unready;  // per op: inputs without a number
  std::vector<OpId> match;        // per op: its counterpart, kNoOp while undecided
  std::vector<Keys> keys;
  Waiting named, strict;
};

class Differ {
 public:
  Differ(const Net& a, const Net& b) : a_(a), b_(b) {}

  NetDiff Run() {
    NumberExternals();
    for (OpId op = 0; op < NumOps(b_); ++op) {
      by_names_.Add(b_.WrittenNames(op), op);
      for (size_t k = 0; k < b_.ssa.inputs(op).size(); ++k)
        if (b_.IsAnchor(op, k)) by_anchor_.Add(b_.AnchorKey(op, k), op);
    }
    for (Side* side : {&a_, &b_})
      for (OpId op = 0; op < NumOps(*side); ++op)
        if (side->unready[op] == 0) ready_.push_back({side, op});
    for (OpId next = 0; next < NumOps(a_); ++next) {
      MeetAll();
      if (a_.match[next] != kNoOp) continue;
      const OpId other = MostAlike(next);
      if (other == kNoOp) {
        a_.match[next] = kAlone;
        for (ValueId value : a_.ssa.outputs(next)) Number(a_, value, ++last_id_);
      } else {
        Match(next, other);
      }
    }
    return Report();
  }

 private:
  static OpId NumOps(const Side& side) { return static_cast<OpId>(side.ssa.num_ops()); }

  void Number(Side& side, ValueId value, uint32_t id) {
    if (side.id[value] != kNoId) return;
    side.id[value] = id;
    for (OpId op : side.ssa.uses(value))
      if (--side.unready[op] == 0) ready_.push_back({&side, op});
  }

  // External inputs of one name are one; the others pair up in order when they are used alike.
  void NumberExternals() {
    const auto outside = [](const Side& side, Symbol name) {
      const BlobId blob = side.ssa.FindBlob(name);
      return blob != kNoBlob && side.ssa.starts_outside(blob) ? FirstValue(side.ssa, blob) : kNoValue;
    };
    Waiting alike;
    std::vector<OpId> taken(b_.ssa.blobs().size(), kNoOp);
    const std::vector<uint64_t> uses_a = UseHashes(a_), uses_b = UseHashes(b_);
    for (BlobId blob = 0; blob < b_.ssa.blobs().size(); ++blob)
      if (b_.ssa.starts_outside(blob) && outside(a_, b_.ssa.blobs()[blob]) == kNoValue)
        alike.Add(uses_b[blob], static_cast<OpId>(blob));
    std::vector<std::pair<ValueId, ValueId>> pairs;
    for (BlobId blob = 0; blob < a_.ssa.blobs().size(); ++blob) {
      if (!a_.ssa.starts_outside(blob)) continue;
      ValueId other = outside(b_, a_.ssa.blobs()[blob]);
      if (other == kNoValue) {
        const OpId like = alike.First(uses_a[blob], taken);
        if (like != kNoOp) {
          taken[like] = kAlone;
          other = FirstValue(b_.ssa, static_cast<BlobId>(like));
        }
      }
      const uint32_t id = ++last_id_;
      Number(a_, FirstValue(a_.ssa, blob), id);
      if (other != kNoValue) Number(b_, other, id);
    }
    for (BlobId blob = 0; blob < b_.ssa.blobs().size(); ++blob)
      if (b_.ssa.starts_outside(blob)) Number(b_, FirstValue(b_.ssa, blob), ++last_id_);
    ready_.clear();  // Run lists all that are ready, in order
  }

  // Per blob, how its first value is used: by which types of operators, where.
  static std::vector<uint64_t> UseHashes(const Side& side) {
    std::vector<uint64_t> hashes(side.ssa.blobs().size(), 0);
    for (OpId op = 0; op < NumOps(side); ++op) {
      const auto inputs = side.ssa.inputs(op);
      for (size_t k = 0; k < inputs.size(); ++k) {
        const Value& value = side.ssa.values()[inputs[k]];
        if (value.def == kNoOp)
          hashes[value.blob] += HashMix(HashMix(side.net.ops[op].type.id, k), inputs.size());
      }
    }
    return hashes;
  }

  void Match(OpId a, OpId b) {
    a_.match[a] = b;
    b_.match[b] = a;
    const auto outputs_a = a_.ssa.outputs(a), outputs_b = b_.ssa.outputs(b);
    for (size_t k = 0; k < std::max(outputs_a.size(), outputs_b.size()); ++k) {
      const uint32_t id = ++last_id_;
      if (k < outputs_a.size()) Number(a_, outputs_a[k], id);
      if (k < outputs_b.size()) Number(b_, outputs_b[k], id);
    }
  }

  // Takes `op` to the first operator of the other side with this key, or lets it wait for one.
  bool Meet(Side& side, OpId op, uint64_t key, Waiting Side::*table) {
    Side& other = &side == &a_ ? b_ : a_;
    const OpId found = (other.*table).First(key, other.match);
    if (found == kNoOp) {
      (side.*table).Add(key, op);
      return false;
    }
    if (&side == &a_) {
      Match(op, found);
    } else {
      Match(found, op);
    }
    return true;
  }

  void MeetAll() {
    for (;;) {
      if (next_ready_ < ready_.size()) {
        const auto [side, op] = ready_[next_ready_++];
        if (side->match[op] != kNoOp) continue;  // met before it was ready
        side->ComputeKeys(op);
        if (!Meet(*side, op, side->keys[op].named, &Side::named)) unmet_.push_back({side, op});
      } else if (next_unmet_ < unmet_.size()) {
        const auto [side, op] = unmet_[next_unmet_++];
        if (side->match[op] != kNoOp || Meet(*side, op, side->keys[op].strict, &Side::strict)) continue;
        if (side == &b_) loose_.Add(side->keys[op].loose, op);
      } else {
        return;
      }
    }
  }

  OpId MostAlike(OpId a) {
    OpId b = loose_.First(a_.keys[a].loose, b_.match);
    if (b == kNoOp && !a_.net.ops[a].outputs.empty()) b = by_names_.First(a_.WrittenNames(a), b_.match);
    for (size_t k = 0; b == kNoOp && k < a_.ssa.inputs(a).size(); ++k)
      if (a_.IsAnchor(a, k)) b = by_anchor_.First(a_.AnchorKey(a, k), b_.match);
    return b;
  }

  NetDiff Report() {
    NetDiff diff;
    const std::vector<uint64_t> control_a = ControlHashes(a_), control_b = ControlHashes(b_);
    for (OpId a = 0; a < NumOps(a_); ++a) {
      if (a_.match[a] < 0) {
        a_.match[a] = kNoOp;
        diff.only_a.push_back(a);
        continue;
      }
      ChangedOp change = Compare(a, a_.match[a]);
      change.control_inputs = control_a[a] != control_b[change.b];
      if (change.outputs || change.device || change.engine || change.control_inputs || !change.args.empty() ||
          !change.inputs.empty())
        diff.changed.push_back(std::move(change));
    }
    for (OpId b = 0; b < NumOps(b_); ++b)
      if (b_.match[b] == kNoOp) diff.only_b.push_back(b);
    ReportNames(diff);
    ReportExternals(diff);
    diff.match_a = std::move(a_.match);
    return diff;
  }

  ChangedOp Compare(OpId a, OpId b) {
    const Op& op_a = a_.net.ops[a];
    const Op& op_b = b_.net.ops[b];
    ChangedOp change{a, b};
    change.outputs = op_a.outputs.size() != op_b.outputs.size();
    change.device = HashDevice(op_a.device, a_.net.device) != HashDevice(op_b.device, b_.net.device);
    change.engine = a_.net.Str(op_a.engine) != b_.net.Str(op_b.engine);
    const auto inputs_a = a_.ssa.inputs(a), inputs_b = b_.ssa.inputs(b);
    for (uint32_t k = 0; k < std::max(op_a.inputs.size(), op_b.inputs.size()); ++k)
      if (k >= op_a.inputs.size() || k >= op_b.inputs.size() || a_.id[inputs_a[k]] != b_.id[inputs_b[k]])
        change.inputs.push_back(k);
    if (op_a.args.SameAs(op_b.args) && a_.nesting.Of(op_a.type) == Nesting::kNone) return change;
    if (a_.HashOfArgs(a, true) != b_.HashOfArgs(b, true)) change.args = CompareArgs(a, b);
    return change;
  }

  std::vector<ArgChange> CompareArgs(OpId a, OpId b) {
    const Op& op_a = a_.net.ops[a];
    const Op& op_b = b_.net.ops[b];
    const SymbolTable& table = *a_.net.symbols;
    const OuterBlobs outer_a = a_.Outer(a, true), outer_b = b_.Outer(b, true);
    SymbolMap<uint64_t> in_a(table, op_a.args.size(), 0), in_b(table, op_b.args.size(), 0);
    for (const Arg& arg : op_a.args) in_a[arg.name] += HashArg(table, arg, &outer_a, op_a.outputs) | 1;
    for (const Arg& arg : op_b.args) in_b[arg.name] += HashArg(table, arg, &outer_b, op_b.outputs) | 1;
    std::vector<ArgChange> changes;
    for (const Arg& arg : op_a.args) {
      const uint64_t other = in_b.Get(arg.name);
      if (other == 0) {
        changes.push_back({ArgChange::kOnlyInA, arg.name});
      } else if (other != in_a.Get(arg.name)) {
        changes.push_back({ArgChange::kChanged, arg.name});
      }
    }
    for (const Arg& arg : op_b.args)
      if (in_a.Get(arg.name) == 0) changes.push_back({ArgChange::kOnlyInB, arg.name});
    return changes;
  }

  // Per op, the values whose writers it waits for, in any order; names that nobody wrote before it count as
  // such.
  static std::vector<uint64_t> ControlHashes(const Side& side) {
    std::vector<uint64_t> hashes(side.ssa.num_ops(), 0);
    std::vector<ValueId> current(side.ssa.blobs().size(), kNoValue);
    for (OpId op = 0; op < NumOps(side); ++op) {
      for (Symbol name : side.net.ops[op].control_inputs) {
        const BlobId blob = side.ssa.FindBlob(name);
        if (blob != kNoBlob && current[blob] == kNoValue && side.ssa.starts_outside(blob))
          current[blob] = FirstValue(side.ssa, blob);
        const bool known = blob != kNoBlob && current[blob] != kNoValue;
        hashes[op] += known ? HashMix(side.id[current[blob]], 2) : HashMix(name.id, 3);
      }
      for (ValueId value : side.ssa.outputs(op)) current[side.ssa.values()[value].blob] = value;
    }
    return hashes;
  }

  void ReportNames(NetDiff& diff) {
    std::vector<ValueId> by_id(last_id_ + 1, kNoValue);
    for (ValueId value = 0; value < b_.id.size(); ++value) by_id[b_.id[value]] = value;
    std::unordered_set<uint64_t> listed;
    for (ValueId value = 0; value < a_.id.size(); ++value) {
      const ValueId other = a_.id[value] == kNoId ? kNoValue : by_id[a_.id[value]];
      if (other == kNoValue) continue;
      const Symbol name_a = a_.ssa.blobs()[a_.ssa.values()[value].blob];
      const Symbol name_b = b_.ssa.blobs()[b_.ssa.values()[other].blob];
      if (name_a != name_b && listed.insert((static_cast<uint64_t>(name_a.id) << 32) | name_b.id).second)
        diff.renamed.push_back({name_a, name_b});
    }
  }

  void ReportExternals(NetDiff& diff) {
    const auto value_id = [](const Side& side, Symbol name, bool output) {
      const BlobId blob = side.ssa.FindBlob(name);
      if (blob == kNoBlob) return kNoId;
      return side.id[output ? side.ssa.latest(blob) : FirstValue(side.ssa, blob)];
    };
    // What only `side` lists. A name that no op knows has no number: it is compared as a name.
    const auto missing = [&](const Side& side, const std::vector<Symbol>& names, const Side& other,
                             const std::vector<Symbol>& other_names, bool output) {
      std::vector<bool> ids(last_id_ + 1, false);
      SymbolMap<uint8_t> loose_names(*side.net.symbols, other_names.size(), 0);
      for (Symbol name : other_names) {
        const uint32_t id = value_id(other, name, output);
        if (id == kNoId) loose_names[name] = 1;
        ids[id] = true;
      }
      std::vector<Symbol> out;
      for (Symbol name : names) {
        const uint32_t id = value_id(side, name, output);
        if (id == kNoId ? !loose_names.Get(name) : !ids[id]) out.push_back(name);
      }
      return out;
    };
    const Net& a = a_.net;
    const Net& b = b_.net;
    diff.inputs_only_a = missing(a_, a.external_inputs, b_, b.external_inputs, false);
    diff.inputs_only_b = missing(b_, b.external_inputs, a_, a.external_inputs, false);
    diff.outputs_only_a = missing(a_, a.external_outputs, b_, b.external_outputs, true);
    diff.outputs_only_b = missing(b_, b.external_outputs, a_, a.external_outputs, true);
  }

  Side a_, b_;
  Waiting loose_;                 // operators of B that are ready and have no counterpart
  Waiting by_names_, by_anchor_;  // operators of B, all of them
  uint32_t last_id_ = 0;
  std::vector<std::pair<Side*, OpId>> ready_, unmet_;  // queues, read from next_ready_ and next_unmet_ on
  size_t next_ready_ = 0, next_unmet_ = 0;
};

}  // namespace

NetDiff DiffNets(const Net& a, const Net& b) {
  if (b.symbols == a.symbols) return Differ(a, b).Run();
  const Net moved = Rehome(b, a.symbols);
  return Differ(a, moved).Run();
}

}  // namespace weft
