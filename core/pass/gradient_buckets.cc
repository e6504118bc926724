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

// `by_owner`: a bucket goes to one owner, as far as there are any.
std::vector<Bucket> Cut(std::span<const BlobGroup* const> ready, const BlobDevices& devices,
                        const ParallelOptions& options, const BytesOf& bytes, bool by_owner) {
  std::vector<Bucket> buckets;
  std::map<std::pair<int, size_t>, int> open_of;  // by owner: the bucket that takes more
  for (const BlobGroup* group : ready) {
    const Symbol blob = group->blobs[0].dense;
    const std::optional<int64_t> size = blob ? bytes(blob) : std::nullopt;
    const Rank owner = by_owner ? group->owner.value_or(Rank{}) : Rank{};
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
  for (Bucket& bucket : buckets)
    if (by_owner) bucket.fused.owner = bucket.members[0]->owner;
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

// Puts the members that `wants` says back on the devices; each has the shape of another blob.
void Unpack(NetBuilder& net, const ReplicaScopes& scopes, const Bucket& bucket,
            const SymbolMap<Symbol>& shape_of,
            const std::function<bool(const BlobGroup& member, size_t device)>& wants) {
  for (size_t d = 0; d < scopes.of.size(); ++d) {
    if (std::none_of(bucket.members.begin(), bucket.members.end(),
                     [&](const BlobGroup* member) { return wants(*member, d); }))
      continue;
    const Symbol fused = bucket.fused.blobs[d].dense;
    std::vector<Symbol> parts;
    for (size_t m = 0; m < bucket.members.size(); ++m) parts.push_back(Part(net, scopes.of[d], bucket, m));
    Emit(net, {.type = "Split",
               .inputs = {fused, net.Suffixed(fused, "_split")},
               .outputs = parts,
               .device = scopes.device(d),
               .args = {{"axis", 0}}});
    for (size_t m = 0; m < parts.size(); ++m) {
      if (!wants(*bucket.members[m], d)) continue;
      const Symbol blob = bucket.members[m]->blobs[d].dense;
      Emit(net, {.type = "ResizeLike",
                 .inputs = {parts[m], shape_of.Get(blob)},
                 .outputs = {blob},
                 .device = scopes.device(d)});
    }
  }
}

// Packs the buckets of several members. What is to be exchanged.
std::vector<const BlobGroup*> PackAll(NetBuilder& net, const ReplicaScopes& scopes,
                                      std::vector<Bucket>& buckets, std::string_view name) {
  std::vector<const BlobGroup*> exchanged;
  size_t number = 0;
  for (Bucket& bucket : buckets) {
    const bool many = bucket.members.size() > 1;
    if (many) {
      bucket.fused.name = StrCat(name, "_", number++);
      Pack(net, scopes, bucket);
    }
    exchanged.push_back(many ? &bucket.fused : bucket.members[0]);
  }
  return exchanged;
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
  // GLOO gives the sum to all machines anyway.
  const bool by_owner = !collectives.many_machines() || options.rendezvous->engine != "GLOO";
  std::vector<Bucket> buckets =
      Cut(ready, BlobDevices(model.init.net(), net.net()), options, bytes, by_owner);
  const std::vector<const BlobGroup*> sums = PackAll(net, scopes, buckets, "bucket");
  const size_t packed = net.net().ops.size();
  collectives.AllReduce(net, model.init, BlobDevices(model.init.net(), net.net()), sums, max_concurrent);
  const size_t reduced = net.net().ops.size();
  SymbolMap<Symbol> param_of(*net.net().symbols, model.gradients.size(), Symbol());
  for (const auto& [param, gradient] : model.gradients)
    if (gradient.is_dense()) param_of[gradient.dense] = param;
  for (const Bucket& bucket : buckets)
    if (bucket.members.size() > 1)
      Unpack(net, scopes, bucket, param_of, [&](const BlobGroup& member, size_t d) {
        return !member.owner || (member.owner->shard == options.shard_id() && member.owner->device == d);
      });

  const size_t least = options.accumulate > 1 ? first : 0;
  model.EditNet([&](Net built) { return MoveForward(std::move(built), first, least, packed, reduced); });
}

void SendInBuckets(ModelBuilder& model, Collectives& collectives, const ReplicaScopes& scopes,
                   std::span<const BlobGroup* const> params, int max_concurrent,
                   const ParallelOptions& options, const BytesOf& bytes) {
  NetBuilder& net = model.net;
  std::vector<Bucket> buckets =
      Cut(params, BlobDevices(model.init.net(), net.net()), options, bytes, /*by_owner=*/true);
  std::vector<const BlobGroup*> sent = PackAll(net, scopes, buckets, "sent");
  collectives.Sync(net, model.init, BlobDevices(model.init.net(), net.net()), std::move(sent),
                   max_concurrent);
  SymbolMap<Symbol> gradient_of(*net.net().symbols, model.gradients.size(), Symbol());
  for (const auto& [param, gradient] : model.gradients) gradient_of[param] = gradient.dense;
  for (const Bucket& bucket : buckets)
    if (bucket.members.size() > 1)
      Unpack(net, scopes, bucket, gradient_of, [&](const BlobGroup& member, size_t d) {
        return member.owner->shard != options.shard_id() || member.owner->device != d;
      });
}

}  // namespace weft::internal
