// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/gradient_buckets.h"

#include <algorithm>
#include <map>

#include "core/base/str.h"

namespace weft::internal {

namespace {

// Where a blob is mentioned last, as the number of the operator; -1 nowhere. Nets inside operators count as
// their operator.
class LastMention {
 public:
  explicit LastMention(const Net& net) : nesting_(*net.symbols), at_(*net.symbols, 2 * net.ops.size(), -1) {
    for (size_t i = 0; i < net.ops.size(); ++i) Note(net, net.ops[i], static_cast<int32_t>(i));
  }
  void Note(const Net& net, const Op& op, int32_t at) {
    for (Symbol blob : op.inputs) at_[blob] = std::max(at_.Get(blob), at);
    for (Symbol blob : op.outputs) at_[blob] = std::max(at_.Get(blob), at);
    if (nesting_.Of(op.type) == Nesting::kNone) return;
    const NestedUses uses = UsesOfNestedNets(net, op, nesting_);
    for (const std::vector<Symbol>* blobs : {&uses.reads, &uses.writes})
      for (Symbol blob : *blobs) at_[blob] = std::max(at_.Get(blob), at);
  }
  int32_t Of(Symbol blob) const { return at_.Get(blob); }
  int32_t Of(const BlobGroup& group) const {
    int32_t last = -1;
    for (const Gradient& of : group.blobs)
      for (Symbol blob : {of.dense, of.indices, of.values})
        if (blob) last = std::max(last, Of(blob));
    return last;
  }

 private:
  NestingTypes nesting_;
  SymbolMap<int32_t> at_;
};

struct Bucket {
  std::vector<const BlobGroup*> members{};
  int64_t bytes = 0;
  BlobGroup fused{};  // of more than one member: one blob per device that holds them all
};

std::vector<Bucket> Cut(std::vector<const BlobGroup*> ready, const BlobDevices& devices,
                        const ParallelOptions& options, const BytesOf& bytes) {
  std::vector<Bucket> buckets;
  std::map<std::pair<int, size_t>, int> open_of;  // by owner: the bucket that takes more
  for (const BlobGroup* group : ready) {
    const Symbol blob = group->blobs[0].dense;
    const std::optional<int64_t> size = blob ? bytes(blob) : std::nullopt;
    const Rank owner = group->owner.value_or(Rank{});
    int& open = open_of.try_emplace({owner.shard, owner.device}, -1).first->second;
    const auto fits = [&](const Bucket& bucket) {
      return (options.bucket_bytes == 0 || bucket.bytes + *size <= options.bucket_bytes) &&
             (options.bucket_count == 0 ||
              bucket.members.size() < static_cast<size_t>(options.bucket_count)) &&
             devices.TypeOf(bucket.members[0]->blobs[0].dense) == devices.TypeOf(blob);
    };
    if (!size) {
      buckets.push_back({.members = {group}});
    } else if (open >= 0 && fits(buckets[static_cast<size_t>(open)])) {
      buckets[static_cast<size_t>(open)].members.push_back(group);
      buckets[static_cast<size_t>(open)].bytes += *size;
    } else {
      open = static_cast<int>(buckets.size());
      buckets.push_back({.members = {group}, .bytes = *size});
    }
  }
  return buckets;
}

Symbol Part(NetBuilder& net, const Scope& scope, const Bucket& bucket, size_t member) {
  return net.Intern(StrCat(scope.name.prefix, bucket.fused.name, "_", member));
}

void Pack(NetBuilder& net, const ReplicaScopes& scopes, Bucket& bucket) {
  for (size_t d = 0; d < scopes.of.size(); ++d) {
    std::vector<Symbol> flat;
    for (size_t m = 0; m < bucket.members.size(); ++m) {
      flat.push_back(Part(net, scopes.of[d], bucket, m));
      Emit(net, {.type = "FlattenToVec",
                 .inputs = {bucket.members[m]->blobs[d].dense},
                 .outputs = {flat.back()},
                 .device = scopes.device(d)});
    }
    const Symbol fused = net.Intern(StrCat(scopes.of[d].name.prefix, bucket.fused.name));
    Emit(net, {.type = "Concat",
               .inputs = flat,
               .outputs = {fused, net.Suffixed(fused, "_split")},
               .device = scopes.device(d),
               .args = {{"axis", 0}}});
    bucket.fused.blobs.push_back(Gradient::Dense(fused));
  }
}

// A gradient has the shape of its parameter.
void Unpack(NetBuilder& net, const ReplicaScopes& scopes, const Bucket& bucket,
            const SymbolMap<Symbol>& param_of, int shard) {
  const std::optional<Rank>& owner = bucket.fused.owner;
  const auto wanted = [&](size_t d) { return !owner || (owner->shard == shard && owner->device == d); };
  for (size_t d = 0; d < scopes.of.size(); ++d) {
    if (!wanted(d)) continue;
    const Symbol fused = bucket.fused.blobs[d].dense;
    std::vector<Symbol> parts;
    for (size_t m = 0; m < bucket.members.size(); ++m) parts.push_back(Part(net, scopes.of[d], bucket, m));
    Emit(net, {.type = "Split",
               .inputs = {fused, net.Suffixed(fused, "_split")},
               .outputs = parts,
               .device = scopes.device(d),
               .args = {{"axis", 0}}});
    for (size_t m = 0; m < parts.size(); ++m) {
      const Symbol gradient = bucket.members[m]->blobs[d].dense;
      Emit(net, {.type = "ResizeLike",
                 .inputs = {parts[m], param_of.Get(gradient)},
                 .outputs = {gradient},
                 .device = scopes.device(d)});
    }
  }
}

// Moves the operators from `first` on to right behind the last one that mentions one of their blobs, but not
// before `least`. Those
// of [begin, end) keep their order among themselves.
Net MoveForward(Net net, size_t first, size_t least, size_t begin, size_t end) {
  LastMention last([&] {
    Net head(net.symbols);
    head.ops.assign(net.ops.begin(), net.ops.begin() + static_cast<ptrdiff_t>(first));
    return head;
  }());
  std::vector<std::vector<Op>> behind(first + 1);  // [i + 1]: what follows operator i
  int32_t previous = -1;
  for (size_t i = first; i < net.ops.size(); ++i) {
    Op& op = net.ops[i];
    int32_t at = static_cast<int32_t>(least) - 1;
    for (const std::span<const Symbol> blobs :
         {std::span<const Symbol>(op.inputs), std::span<const Symbol>(op.outputs),
          std::span<const Symbol>(op.control_inputs)})
      for (Symbol blob : blobs) at = std::max(at, last.Of(blob));
    if (i >= begin && i < end) at = previous = std::max(at, previous);
    last.Note(net, op, at);
    behind[static_cast<size_t>(at + 1)].push_back(std::move(op));
  }
  std::vector<Op> ops;
  ops.reserve(net.ops.size());
  for (size_t i = 0; i <= first; ++i) {
    if (i > 0) ops.push_back(std::move(net.ops[i - 1]));
    std::move(behind[i].begin(), behind[i].end(), std::back_inserter(ops));
  }
  net.ops = std::move(ops);
  return net;
}

}  // namespace

void ReduceInBuckets(ModelBuilder& model, Collectives& collectives, const ReplicaScopes& scopes,
                     std::span<const BlobGroup* const> groups, int max_concurrent,
                     const ParallelOptions& options, const BytesOf& bytes) {
  NetBuilder& net = model.net;
  const size_t first = net.net().ops.size();
  std::vector<const BlobGroup*> ready(groups.begin(), groups.end());
  const LastMention last(net.net());
  std::stable_sort(ready.begin(), ready.end(),
                   [&](const BlobGroup* a, const BlobGroup* b) { return last.Of(*a) < last.Of(*b); });
  std::vector<Bucket> buckets =
      Cut(std::move(ready), BlobDevices(model.init.net(), net.net()), options, bytes);
  std::vector<const BlobGroup*> sums;
  size_t number = 0;
  for (Bucket& bucket : buckets) {
    const bool many = bucket.members.size() > 1;
    if (many) {
      bucket.fused.name = StrCat("bucket_", number++);
      bucket.fused.owner = bucket.members[0]->owner;
      Pack(net, scopes, bucket);
    }
    sums.push_back(many ? &bucket.fused : bucket.members[0]);
  }
  const size_t packed = net.net().ops.size();
  collectives.AllReduce(net, model.init, BlobDevices(model.init.net(), net.net()), sums, max_concurrent);
  const size_t reduced = net.net().ops.size();
  SymbolMap<Symbol> param_of(*net.net().symbols, model.gradients.size(), Symbol());
  for (const auto& [param, gradient] : model.gradients)
    if (gradient.is_dense()) param_of[gradient.dense] = param;
  for (const Bucket& bucket : buckets)
    if (bucket.members.size() > 1) Unpack(net, scopes, bucket, param_of, options.shard_id());

  const size_t least = options.accumulate > 1 ? first : 0;
  model.EditNet([&](Net built) { return MoveForward(std::move(built), first, least, packed, reduced); });
}

}  // namespace weft::internal
