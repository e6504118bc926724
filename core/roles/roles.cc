// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/roles/roles.h"

#include <algorithm>

#include "core/base/symbol_map.h"

namespace weft {

namespace {

constexpr BlobId kUnknownBase = kNoBlob - 1;
constexpr size_t kMostLookedAt = 16;  // inputs and outputs of one op that pairing compares

enum TypeTrait : uint8_t { kGradientType = 1, kCollectiveType = 2, kSumType = 4 };

struct TypeInfo {
  bool looked = false;
  uint8_t traits = 0;
  Symbol forward;  // of "ReluGradient": Relu, if the net has a name like that
};

class RoleFinder {
 public:
  RoleFinder(const Net& net, const Ssa& ssa, const OpSet& ops, const Columns& columns,
             std::span<const OpId> origins)
      : net_(net),
        ssa_(ssa),
        lookup_(ops, *net.symbols),
        columns_(columns),
        origins_(origins),
        types_(*net.symbols, 64) {
    roles_.role.assign(net.ops.size(), Role::kForward);
    roles_.anchor.resize(net.ops.size());
    for (size_t i = 0; i < net.ops.size(); ++i) roles_.anchor[i] = static_cast<OpId>(i);
    roles_.is_gradient_of.assign(net.ops.size(), 0);
    roles_.trains.assign(net.ops.size(), kNoBlob);
  }

  Roles Find() {
    if (!HasGradients(net_)) return std::move(roles_);
    roles_.has_gradients = true;
    bases_.assign(ssa_.blobs().size(), kUnknownBase);
    FindInitialValues();
    AssignForward();
    AssignUpdateSources();
    FindLastForwardValues();
    AnchorAll();
    return std::move(roles_);
  }

 private:
  const TypeInfo& TypeOf(Symbol type) {
    TypeInfo& info = types_[type];
    if (info.looked) return info;
    info.looked = true;
    const std::string_view name = net_.Str(type);
    const Role role = RoleOfType(name, lookup_(type));
    if (role == Role::kBackward) {
      info.traits |= kGradientType;
      info.forward = net_.symbols->Find(name.substr(0, name.size() - 8));
    }
    if (name == "Sum") info.traits |= kSumType;
    if (role == Role::kCollective) info.traits |= kCollectiveType;
    return info;
  }
  uint8_t Traits(Symbol type) { return TypeOf(type).traits; }
  Role& RoleOf(OpId op) { return roles_.role[op]; }
  BlobId BlobOf(ValueId value) const { return ssa_.values()[value].blob; }
  // Names are only looked up where values do not tell: half of a training net's blobs are gradients.
  BlobId Base(BlobId blob) {
    if (bases_[blob] == kUnknownBase) bases_[blob] = GradientBase(net_, ssa_, blob);
    return bases_[blob];
  }
  bool IsForward(OpId op) const { return roles_.role[op] == Role::kForward; }

  void FindInitialValues() {
    initial_.assign(ssa_.blobs().size(), kNoValue);
    for (ValueId v = 0; v < ssa_.values().size(); ++v)
      if (ssa_.values()[v].version == 0) initial_[BlobOf(v)] = v;
  }

  // One walk in op order: what reads a gradient is backward, unless it updates a blob from outside or spans
  // devices.
  void AssignForward() {
    gradient_value_.assign(ssa_.values().size(), 0);
    std::vector<uint8_t> updated(ssa_.values().size(), 0);
    for (OpId i = 0; i < static_cast<OpId>(net_.ops.size()); ++i) {
      const Op& op = net_.ops[i];
      const uint8_t traits = Traits(op.type);
      bool reads_gradient = false, reads_updated = false;
      for (ValueId v : ssa_.inputs(i)) {
        reads_gradient |= gradient_value_[v] != 0;
        reads_updated |= updated[v] != 0;
      }
      Role role = Role::kForward;
      if ((traits & kCollectiveType) || (!columns_.spans.empty() && columns_.spans[i])) {
        role = Role::kCollective;
      } else if (op.is_gradient_op.value_or(false) || (traits & kGradientType)) {
        role = Role::kBackward;
      } else if (reads_gradient) {
        role = WritesTrained(i) ? Role::kUpdate : Role::kBackward;
      } else if (reads_updated) {
        role = Role::kUpdate;
      } else if (IsSeed(i)) {
        role = Role::kBackward;
      }
      RoleOf(i) = role;
      for (ValueId v : ssa_.outputs(i)) {
        const bool trained = initial_[BlobOf(v)] != kNoValue;
        gradient_value_[v] =
            role == Role::kBackward || (role != Role::kForward && reads_gradient && !trained);
        updated[v] = role == Role::kUpdate && trained;
      }
    }
  }

  // The op overwrites a blob from outside that forward ops read.
  bool WritesTrained(OpId op) {
    for (ValueId v : ssa_.outputs(op))
      if (FirstForwardReader(BlobOf(v)) != kNoOp) return true;
    return false;
  }

  OpId FirstForwardReader(BlobId blob) {
    if (initial_[blob] == kNoValue) return kNoOp;
    size_t looked = 0;
    for (OpId reader : ssa_.uses(initial_[blob])) {
      if (IsForward(reader)) return reader;
      if (++looked == kMostLookedAt) break;
    }
    return kNoOp;
  }

  // ConstantFill(loss) -> loss_grad: the first gradient of all has no gradient to read.
  bool IsSeed(OpId op) {
    const std::span<const ValueId> outputs = ssa_.outputs(op);
    if (outputs.size() != 1 || ssa_.inputs(op).size() > 1) return false;
    if (!LooksLikeGradient(net_.Str(ssa_.blobs()[BlobOf(outputs[0])]))) return false;
    const BlobId base = Base(BlobOf(outputs[0]));
    if (base == kNoBlob) return false;
    for (OpId reader : ssa_.uses(outputs[0])) {
      const Op& user = net_.ops[reader];
      if (user.is_gradient_op.value_or(false) || (Traits(user.type) & kGradientType)) return true;
      break;
    }
    return ssa_.inputs(op).size() == 1 && BlobOf(ssa_.inputs(op)[0]) == base;
  }

  // Iteration counters and learning rates: forward by the walk above, but only updates read them.
  void AssignUpdateSources() {
    for (OpId i = static_cast<OpId>(net_.ops.size()) - 1; i >= 0; --i) {
      if (!IsForward(i)) continue;
      bool read = false, only_updates = true;
      for (ValueId v : ssa_.outputs(i)) {
        for (OpId reader : ssa_.uses(v)) {
          read = true;
          only_updates = only_updates && RoleOf(reader) == Role::kUpdate;
          if (!only_updates) break;
        }
      }
      if (read && only_updates) RoleOf(i) = Role::kUpdate;
    }
  }

  void FindLastForwardValues() {
    last_forward_.assign(ssa_.blobs().size(), kNoValue);
    for (ValueId v = 0; v < ssa_.values().size(); ++v) {
      const OpId def = ssa_.values()[v].def;
      if (def != kNoOp && IsForward(def)) last_forward_[BlobOf(v)] = v;
    }
    cursor_ = last_forward_;
  }

  OpId Def(ValueId value) const { return value == kNoValue ? kNoOp : ssa_.values()[value].def; }
  bool IsSound(OpId op) const { return op >= 0 && op < static_cast<OpId>(net_.ops.size()) && IsForward(op); }

  void AnchorAll() {
    OpId last_forward = kNoOp, last_anchor = kNoOp;
    for (OpId i = 0; i < static_cast<OpId>(net_.ops.size()); ++i)
      if (IsForward(i)) last_forward = i;
    for (OpId i = 0; i < static_cast<OpId>(net_.ops.size()); ++i) {
      if (IsForward(i)) continue;
      OpId anchor = kNoOp;
      if (RoleOf(i) == Role::kBackward && !origins_.empty() && IsSound(origins_[i])) {
        anchor = origins_[i];
        roles_.is_gradient_of[i] = 1;
      } else if (RoleOf(i) == Role::kBackward) {
        anchor = AnchorOfBackward(i);
        if (anchor == kNoOp) anchor = last_anchor != kNoOp ? last_anchor : last_forward;
      } else if (RoleOf(i) == Role::kUpdate) {
        anchor = AnchorOfUpdate(i);
      } else {
        anchor = AnchorOfCollective(i);
      }
      if (anchor != kNoOp) roles_.anchor[i] = last_anchor = anchor;
    }
    // What only feeds others stands with the first of them; backwards, so that chains resolve.
    for (OpId i = static_cast<OpId>(net_.ops.size()) - 1; i >= 0; --i) {
      if (IsForward(i) || roles_.anchor[i] != i) continue;
      for (ValueId v : ssa_.outputs(i)) {
        if (ssa_.uses(v).empty()) continue;
        roles_.anchor[i] = roles_.anchor[ssa_.uses(v)[0]];
        break;
      }
    }
  }

  OpId AnchorOfBackward(OpId op) {
    const bool marked =
        net_.ops[op].is_gradient_op.value_or(false) || (Traits(net_.ops[op].type) & kGradientType);
    if (!marked && IsAccumulation(op)) {
      const BlobId base = Base(BlobOf(ssa_.outputs(op)[0]));
      const OpId writer = Def(cursor_[base]);
      return writer != kNoOp ? writer : FirstForwardReader(base);
    }
    const OpId by_values = PairByValues(op);
    const OpId paired = by_values != kNoOp ? by_values : PairByNames(op);
    if (paired != kNoOp) {
      // The first gradient of all is made from nothing: it stands with its blob's writer and is nobody's
      // gradient.
      if (!marked && !ReadsGradient(op)) return paired;
      roles_.is_gradient_of[op] = 1;
      for (ValueId v : ssa_.outputs(paired)) {
        if (cursor_[BlobOf(v)] != v) continue;
        ValueId previous = ssa_.values()[v].previous;
        if (previous != kNoValue && (Def(previous) == kNoOp || !IsForward(Def(previous))))
          previous = kNoValue;
        cursor_[BlobOf(v)] = previous;
      }
      return paired;
    }
    for (ValueId v : ssa_.outputs(op)) {
      const BlobId base = Base(BlobOf(v));
      if (base == kNoBlob) continue;
      const OpId writer = Def(last_forward_[base]);
      if (writer != kNoOp) return writer;
      if (FirstForwardReader(base) != kNoOp) return FirstForwardReader(base);
    }
    for (ValueId v : ssa_.inputs(op)) {
      const OpId def = Def(v);
      if (def != kNoOp) return roles_.anchor[def];
    }
    return kNoOp;
  }

  bool ReadsGradient(OpId op) const {
    const std::span<const ValueId> inputs = ssa_.inputs(op);
    return std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) { return gradient_value_[v] != 0; });
  }

  // Contributions to one gradient come together: a Sum that writes a gradient (what it reads may bear other
  // names, where a gradient passes through a forward Sum), or an op that reads and writes gradients of one
  // blob.
  bool IsAccumulation(OpId op) {
    if (ssa_.outputs(op).size() != 1) return false;
    const BlobId base = Base(BlobOf(ssa_.outputs(op)[0]));
    if (base == kNoBlob) return false;
    if (Traits(net_.ops[op].type) & kSumType) return true;
    if (ssa_.inputs(op).size() < 2) return false;
    size_t looked = 0;
    for (ValueId v : ssa_.inputs(op)) {
      if (Base(BlobOf(v)) != base) return false;
      if (++looked == kMostLookedAt) break;
    }
    return true;
  }

  // The one op of the right type that reads or wrote all forward values that the gradient op reads; kNoOp
  // when there is none, or when there are several.
  OpId PairByValues(OpId op) {
    const Symbol wanted = TypeOf(net_.ops[op].type).forward;
    if (!wanted) return kNoOp;
    OpId found = kNoOp;
    bool several = false;
    const auto consider = [&](OpId candidate) {
      if (candidate == kNoOp || candidate == found || candidate >= op || !IsForward(candidate) ||
          net_.ops[candidate].type != wanted || !TouchesForwardInputs(op, candidate))
        return;
      several = found != kNoOp;
      found = candidate;
    };
    size_t looked = 0;
    for (ValueId v : ssa_.inputs(op)) {
      if (++looked > kMostLookedAt) break;
      if (Def(v) != kNoOp && !IsForward(Def(v))) continue;
      consider(Def(v));
      size_t readers = 0;
      for (OpId reader : ssa_.uses(v)) {
        consider(reader);
        if (++readers == kMostLookedAt) break;
      }
      if (several) return kNoOp;
      if (found != kNoOp) return found;
    }
    return kNoOp;
  }

  bool TouchesForwardInputs(OpId op, OpId candidate) const {
    const auto has = [](std::span<const ValueId> values, ValueId v) {
      for (size_t k = 0; k < std::min(values.size(), kMostLookedAt); ++k)
        if (values[k] == v) return true;
      return false;
    };
    const std::span<const ValueId> inputs = ssa_.inputs(op);
    for (size_t k = 0; k < std::min(inputs.size(), kMostLookedAt); ++k) {
      if (Def(inputs[k]) != kNoOp && !IsForward(Def(inputs[k]))) continue;
      if (!has(ssa_.inputs(candidate), inputs[k]) && !has(ssa_.outputs(candidate), inputs[k])) return false;
    }
    return true;
  }

  // The candidates are the writers of the blobs whose gradients it reads, the best one shares most names with
  // it.
  OpId PairByNames(OpId op) {
    OpId best = kNoOp;
    int best_score = 0;
    const auto consider = [&](OpId candidate, int bonus) {
      if (candidate == kNoOp || !IsForward(candidate) || candidate >= op) return;
      const int score = Score(op, candidate) + bonus;
      if (score > best_score || (score == best_score && candidate > best)) {
        best = candidate;
        best_score = score;
      }
    };
    size_t looked = 0;
    for (ValueId v : ssa_.inputs(op)) {
      const BlobId base = Base(BlobOf(v));
      if (base != kNoBlob) {
        consider(Def(cursor_[base]), 4);
        const OpId def = Def(v);  // a second gradient op of one forward op reads what the first one wrote
        if (def != kNoOp && RoleOf(def) == Role::kBackward && roles_.is_gradient_of[def])
          consider(roles_.anchor[def], 0);
      } else {
        consider(Def(v), 0);
      }
      if (++looked == kMostLookedAt) break;
    }
    return best_score >= 4 ? best : kNoOp;
  }

  int Score(OpId gradient, OpId forward) {
    const Symbol wanted = TypeOf(net_.ops[gradient].type).forward;
    int score = wanted && wanted == net_.ops[forward].type ? 100 : 0;
    const auto reads = [&](BlobId blob) {
      const std::span<const ValueId> inputs = ssa_.inputs(forward);
      for (size_t k = 0; k < std::min(inputs.size(), kMostLookedAt); ++k)
        if (BlobOf(inputs[k]) == blob) return true;
      return false;
    };
    const std::span<const ValueId> outputs = ssa_.outputs(gradient);
    for (size_t k = 0; k < std::min(outputs.size(), kMostLookedAt); ++k) {
      const BlobId base = Base(BlobOf(outputs[k]));
      if (base != kNoBlob && reads(base)) score += 4;
    }
    const std::span<const ValueId> inputs = ssa_.inputs(gradient);
    for (size_t k = 0; k < std::min(inputs.size(), kMostLookedAt); ++k) {
      if (Base(BlobOf(inputs[k])) != kNoBlob) continue;
      if (Def(inputs[k]) == forward || reads(BlobOf(inputs[k]))) ++score;
    }
    return score;
  }

  OpId AnchorOfUpdate(OpId op) {
    for (ValueId v : ssa_.outputs(op)) {
      const OpId reader = FirstForwardReader(BlobOf(v));
      if (reader == kNoOp) continue;
      roles_.trains[op] = BlobOf(v);
      return reader;
    }
    for (ValueId v : ssa_.inputs(op)) {  // after the update: stands with what it reads
      const OpId def = Def(v);
      if (def != kNoOp && RoleOf(def) == Role::kUpdate && roles_.anchor[def] != def)
        return roles_.anchor[def];
    }
    return kNoOp;
  }

  OpId AnchorOfCollective(OpId op) {
    for (ValueId v : ssa_.outputs(op)) {
      const BlobId base = Base(BlobOf(v));
      const BlobId blob = base != kNoBlob ? base : BlobOf(v);
      if (base != kNoBlob && FirstForwardReader(base) != kNoOp) return FirstForwardReader(base);
      const OpId writer = Def(last_forward_[blob]);
      if (writer != kNoOp) return writer;
      if (FirstForwardReader(blob) != kNoOp) return FirstForwardReader(blob);
    }
    for (ValueId v : ssa_.inputs(op))
      if (Def(v) != kNoOp && (IsForward(Def(v)) || roles_.anchor[Def(v)] != Def(v)))
        return roles_.anchor[Def(v)];
    return kNoOp;
  }

  const Net& net_;
  const Ssa& ssa_;
  OpLookup lookup_;
  const Columns& columns_;
  std::span<const OpId> origins_;
  SymbolMap<TypeInfo> types_;
  Roles roles_;
  std::vector<BlobId> bases_;
  std::vector<ValueId> initial_;       // BlobId -> its version 0
  std::vector<ValueId> last_forward_;  // BlobId -> the last version that a forward op wrote
  std::vector<ValueId> cursor_;  // the same, less the versions whose writers have their gradient already
  std::vector<uint8_t> gradient_value_;
};

}  // namespace

Role RoleOfType(std::string_view type, const OpDef* def) {
  if ((def != nullptr && (def->flags & kCollective)) || type.starts_with("NCCL") || type == "Allreduce")
    return Role::kCollective;
  return type.ends_with("Gradient") ? Role::kBackward : Role::kForward;
}

bool HasGradients(const Net& net) {
  SymbolMap<uint8_t> known(*net.symbols, 64, 0);
  for (const Op& op : net.ops) {
    if (op.is_gradient_op.value_or(false)) return true;
    uint8_t& seen = known[op.type];
    if (seen) continue;
    seen = 1;
    if (net.Str(op.type).ends_with("Gradient")) return true;
  }
  return false;
}

Roles FindRoles(const Net& net, const Ssa& ssa, const OpSet& ops, const Columns& columns,
                std::span<const OpId> origins) {
  return RoleFinder(net, ssa, ops, columns, origins).Find();
}

}  // namespace weft
