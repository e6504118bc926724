// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/recompute_model.h"

#include <algorithm>

#include "core/base/symbol_map.h"
#include "core/check/effects.h"
#include "core/roles/roles.h"

namespace weft::internal {

namespace {

constexpr uint32_t kNotMade = UINT32_MAX;

OpId FirstBackward(const Net& net, const Ssa& ssa, const OpSet& ops) {
  const OpId end = static_cast<OpId>(net.ops.size());
  if (!HasGradients(net)) return end;
  const Roles roles = FindRoles(net, ssa, ops, FindColumns(net, ssa), {});
  return static_cast<OpId>(std::find(roles.role.begin(), roles.role.end(), Role::kBackward) -
                           roles.role.begin());
}

}  // namespace

bool IsRunningStatistic(const Net& net, const Op& op, size_t input) {
  return (input == 3 || input == 4) && op.inputs.size() >= 5 && op.outputs.size() == 5 &&
         net.Str(op.type) == "SpatialBN";
}

RecomputeModel::RecomputeModel(const Net& net, const NetShapes& shapes, const LiveBytes& live,
                               ShapeTable& table, const OpSet& ops, std::span<const Symbol> keep)
    : turn_(FirstBackward(net, shapes.ssa, ops)), end_(static_cast<OpId>(net.ops.size())) {
  if (turn_ == end_) return;
  for (OpId op = 0; op < turn_; ++op)
    flops_.push_back(LiveBytes::Number(table, shapes.costs[Index(op)].flops));
  FindMade(net, shapes, live, table);
  FindWhatMayRun(net, shapes, ops, keep);
  FindPrices();
  FindBase(live, shapes, table);
}

// Values of blobs that live on after the net are not among them: they are there whenever they are needed.
void RecomputeModel::FindMade(const Net& net, const NetShapes& shapes, const LiveBytes& live,
                              ShapeTable& table) {
  const Ssa& ssa = shapes.ssa;
  std::vector<uint8_t> stays(ssa.blobs().size(), 0);
  for (const Symbol name : net.external_outputs)
    if (const BlobId blob = ssa.FindBlob(name); blob != kNoBlob) stays[blob] = 1;
  std::vector<uint32_t> index(ssa.values().size(), kNotMade);
  is_made_.assign(ssa.values().size(), 0);
  for (ValueId v = 0; v < ssa.values().size(); ++v) {
    const Value& value = ssa.values()[v];
    if (value.def == kNoOp || value.def >= turn_ || stays[value.blob] || ssa.starts_outside(value.blob))
      continue;
    index[v] = static_cast<uint32_t>(made_.size());
    is_made_[v] = 1;
    const auto uses = ssa.uses(v);
    const auto back = std::lower_bound(uses.begin(), uses.end(), turn_);
    const LiveBytes::Life life = live.lives[v];
    Made& made = made_.emplace_back();
    made.value = v;
    made.def = value.def;
    made.bytes = life.first <= life.last ? LiveBytes::Number(table, BytesOf(table, shapes.values[v])) : 0;
    made.last_forward_use = back == uses.begin() ? value.def : *(back - 1);
    made.forward_end = std::min(made.last_forward_use, std::max(value.def, life.last));
    made.first_back = back == uses.end() ? end_ : *back;
    made.last_back = back == uses.end() || life.last < turn_ ? kNoOp : life.last;
    made.taken_by = kNoOp;
    made.gone = false;
  }
  overwritten_at_.assign(ssa.values().size(), end_);
  for (const Value& value : ssa.values()) {
    if (value.previous == kNoValue) continue;
    overwritten_at_[value.previous] = value.def;
    if (index[value.previous] == kNotMade || value.def >= turn_) continue;
    const auto uses = ssa.uses(value.previous);
    if (!uses.empty() && uses.front() == value.def && uses.back() == value.def)
      made_[index[value.previous]].taken_by = value.def;
  }
  read_begin_.push_back(0);
  make_begin_.push_back(0);
  for (OpId op = 0; op < turn_; ++op) {
    const std::span<const ValueId> inputs = ssa.inputs(op);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (index[inputs[i]] != kNotMade && !IsRunningStatistic(net, net.ops[Index(op)], i))
        reads_.push_back(index[inputs[i]]);
    for (const ValueId v : ssa.outputs(op))
      if (index[v] != kNotMade) makes_.push_back(index[v]);
    read_begin_.push_back(static_cast<uint32_t>(reads_.size()));
    make_begin_.push_back(static_cast<uint32_t>(makes_.size()));
  }
}

void RecomputeModel::FindWhatMayRun(const Net& net, const NetShapes& shapes, const OpSet& ops,
                                    std::span<const Symbol> keep) {
  const Ssa& ssa = shapes.ssa;
  // The last moment when an operator can be asked to run again: what it reads must be there until then.
  std::vector<OpId> latest(Index(turn_), kNoOp), asked(Index(turn_), kNoOp);
  for (OpId op = turn_ - 1; op >= 0; --op) {
    OpId first = end_;
    for (const uint32_t m : Makes(op)) first = std::min(first, made_[m].first_back);
    latest[Index(op)] = first < end_ ? first : asked[Index(op)];
    if (latest[Index(op)] == kNoOp) continue;
    for (const uint32_t m : Reads(op)) {
      if (overwritten_at_[made_[m].value] < latest[Index(op)]) made_[m].gone = true;
      OpId& of = asked[Index(made_[m].def)];
      of = std::max(of, latest[Index(op)]);
    }
  }
  // What stays as it is: what nets inside operators may see, what shares its memory, what the backward pass
  // writes onto, what the caller wants.
  std::vector<uint8_t> pinned(ssa.blobs().size(), 0);
  const Symbol alias = net.symbols->Find("Alias");
  for (OpId op = 0; op < end_; ++op) {
    if (!HoldsNet(net.ops[Index(op)]) && net.ops[Index(op)].type != alias) continue;
    for (const auto values : {ssa.inputs(op), ssa.outputs(op)})
      for (const ValueId v : values) pinned[ssa.values()[v].blob] = 1;
  }
  for (const Symbol name : keep)
    if (const BlobId blob = ssa.FindBlob(name); blob != kNoBlob) pinned[blob] = 1;
  for (const Made& made : made_) {
    const OpId writer = overwritten_at_[made.value];
    const auto uses = ssa.uses(made.value);
    if (writer >= turn_ && std::binary_search(uses.begin(), uses.end(), writer))
      pinned[ssa.values()[made.value].blob] = 1;
  }
  OpLookup lookup(ops, *net.symbols);
  may_.assign(Index(turn_), 0);
  for (OpId id = 0; id < turn_; ++id) {
    const Op& op = net.ops[Index(id)];
    const OpDef* def = lookup(op.type);
    constexpr uint32_t kOnce = kHostOnly | kRandom | kStateful | kControlFlow | kCollective;
    const bool statistics = IsRunningStatistic(net, op, 3);
    if (!def || (def->flags & kOnce) != 0 || HoldsNet(op) || !op.control_inputs.empty() ||
        (!def->enforced.empty() && !statistics))
      continue;
    const std::span<const ValueId> inputs = ssa.inputs(id), outputs = ssa.outputs(id);
    bool may = !outputs.empty();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Value& value = ssa.values()[outputs[i]];
      if (statistics && (i == 1 || i == 2)) continue;
      may = may && value.output == i && !pinned[value.blob] && is_made_[outputs[i]];
    }
    // What it reads is there all the time, or can be made again.
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!IsRunningStatistic(net, op, i) && is_made_[inputs[i]] == 0)
        may = may && overwritten_at_[inputs[i]] >= latest[Index(id)];
    for (const uint32_t m : Reads(id)) may = may && (!made_[m].gone || may_[Index(made_[m].def)]);
    may_[Index(id)] = may;
  }
}

void RecomputeModel::FindPrices() {
  stored_.assign(Index(turn_), 0);
  price_.assign(Index(turn_), 0);
  std::vector<double> whole(Index(turn_), 0);  // with what must run again with it
  for (OpId op = 0; op < turn_; ++op) {
    double& flops = whole[Index(op)];
    flops = static_cast<double>(flops_[Index(op)]);
    for (const uint32_t m : Reads(op))
      if (made_[m].gone || made_[m].first_back == end_) flops += whole[Index(made_[m].def)];
    int64_t& bytes = stored_[Index(op)];
    for (const uint32_t m : Makes(op))
      if (made_[m].first_back < end_) bytes += made_[m].bytes;
    if (bytes > 0) price_[Index(op)] = flops / static_cast<double>(bytes);
  }
}

void RecomputeModel::FindBase(const LiveBytes& live, const NetShapes& shapes, ShapeTable& table) {
  const Ssa& ssa = shapes.ssa;
  // Changes at each operator: of all values, of made_, and of others where they cross to the next operator.
  std::vector<int64_t> all(Index(end_) + 2, 0), own(Index(end_) + 2, 0), cross(Index(end_) + 2, 0);
  const auto add = [](std::vector<int64_t>& to, OpId first, OpId last, int64_t bytes) {
    to[Index(first)] += bytes;
    to[Index(last) + 1] -= bytes;
  };
  uint32_t next = 0;
  for (ValueId v = 0; v < ssa.values().size(); ++v) {
    const bool is_made = next < made_.size() && made_[next].value == v;
    next += is_made;
    const LiveBytes::Life life = live.lives[v];
    if (life.first > life.last) continue;
    const int64_t bytes = LiveBytes::Number(table, BytesOf(table, shapes.values[v]));
    add(all, life.first, life.last, bytes);
    if (is_made) {
      add(own, life.first, life.last, bytes);
    } else {
      const auto uses = ssa.uses(v);
      const OpId writer = overwritten_at_[v];
      const bool in_place = writer < end_ && std::binary_search(uses.begin(), uses.end(), writer);
      const OpId last = in_place ? writer : life.last;
      if (life.first < last) add(cross, life.first + 1, last, bytes);
    }
  }
  base_.resize(Index(end_));
  between_.resize(Index(end_));
  int64_t all_now = 0, own_now = 0, cross_now = 0, rest_before = 0;
  for (size_t i = 0; i < Index(end_); ++i) {
    all_now += all[i];
    own_now += own[i];
    cross_now += cross[i];
    const int64_t rest = live.at[i] - all_now;  // what nets inside operators hold
    base_[i] = live.at[i] - own_now;
    between_[i] = cross_now + std::min(rest, rest_before);
    rest_before = rest;
  }
}

RecomputeModel::Trial RecomputeModel::Try(std::vector<uint8_t> again) const {
  Trial out;
  out.before.assign(Index(turn_), end_);
  std::vector<OpId> next(Index(turn_), kNoOp), first(Index(end_), kNoOp);  // lists of what runs in front
  for (OpId op = turn_ - 1; op >= 0; --op) {
    OpId& before = out.before[Index(op)];
    if (!again[Index(op)]) {
      before = end_;
      continue;
    }
    for (const uint32_t m : Makes(op)) before = std::min(before, made_[m].first_back);
    if (before == end_) continue;
    out.flops += flops_[Index(op)];
    next[Index(op)] = first[Index(before)];
    first[Index(before)] = op;
    for (const uint32_t m : Reads(op)) {
      const size_t maker = Index(made_[m].def);
      if (made_[m].gone) again[maker] = 1;
      if (again[maker]) out.before[maker] = std::min(out.before[maker], before);
    }
  }
  out.at.assign(Index(turn_), -1);
  out.last_read.assign(made_.size(), -1);
  std::vector<int32_t> moment_of(Index(end_));  // of operators from the turn on
  int32_t moment = turn_;
  out.live.assign(base_.begin(), base_.begin() + turn_);
  for (OpId t = turn_; t < end_; ++t) {
    for (OpId op = first[Index(t)]; op != kNoOp; op = next[Index(op)]) {
      out.at[Index(op)] = moment;
      for (const uint32_t m : Reads(op)) out.last_read[m] = moment;
      out.live.push_back(between_[Index(t)]);
      ++moment;
    }
    moment_of[Index(t)] = moment++;
    out.live.push_back(base_[Index(t)]);
  }
  std::vector<int64_t> change(out.live.size() + 1, 0);
  const auto add = [&](int32_t from, int32_t to, int64_t bytes) {
    if (to < from) return;
    change[static_cast<size_t>(from)] += bytes;
    change[static_cast<size_t>(to) + 1] -= bytes;
  };
  for (size_t m = 0; m < made_.size(); ++m) {
    const Made& made = made_[m];
    if (made.bytes == 0) continue;
    int32_t last = out.last_read[m];
    if (made.last_back != kNoOp) last = std::max(last, moment_of[Index(made.last_back)]);
    const int32_t begin = out.at[Index(made.def)];
    if (begin < 0) {
      add(made.def, std::max(last, made.forward_end), made.bytes);
      continue;
    }
    if (made.taken_by != kNoOp && out.at[Index(made.taken_by)] >= 0) last = out.at[Index(made.taken_by)] - 1;
    add(made.def, made.forward_end, made.bytes);
    add(begin, std::max(last, begin), made.bytes);
  }
  int64_t now = 0;
  for (size_t i = 0; i < out.live.size(); ++i) {
    now += change[i];
    out.live[i] += now;
    out.peak = std::max(out.peak, out.live[i]);
  }
  return out;
}

}  // namespace weft::internal
