// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/memory_reuse.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/ir/names.h"
#include "core/ir/scope.h"
#include "core/pass/saved_scopes.h"
#include "core/ssa/nested.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

using internal::Life;

bool IsGradientName(std::string_view name) {
  return name.ends_with("_grad") || name.find("_grad_autosplit_") != std::string_view::npos;
}

bool MakesGradients(const Op& op) {
  if (op.is_gradient_op.value_or(false)) return true;
  if (!op.device) return false;
  const auto& info = op.device->extra_info;
  return std::find(info.begin(), info.end(), "is_auto_gen_sum_ops:1") != info.end();
}

struct BlobLife {
  int32_t first = -1, last = -1;  // operators; first < 0: not seen
  bool read = false;
  bool alone = false;     // left alone
  bool gradient = false;  // made by a gradient operator, or called like a gradient
  DevicePtr device;
};

// What can be said of each blob by going over the operators once.
class Lives {
 public:
  Lives(const Net& net, const OpSet& ops, const MemoryOptions& options)
      : net_(net), index_(*net.symbols, net.ops.size(), 0) {
    for (const auto* names : {&net.external_inputs, &net.external_outputs, &options.keep})
      for (Symbol name : *names) At(name).alone = true;
    OpLookup lookup(ops, *net.symbols);
    const NestingTypes nesting(*net.symbols);
    const Symbol alias = net.symbols->Find("Alias");
    for (size_t i = 0; i < net.ops.size(); ++i) {
      const Op& op = net.ops[i];
      const int32_t at = static_cast<int32_t>(i);
      for (Symbol name : op.inputs) Read(name, at);
      for (Symbol name : op.control_inputs) Read(name, at);
      const Nesting kind = nesting.Of(op.type);
      if (kind == Nesting::kSameWorkspace) {
        const NestedUses nested = UsesOfNestedNets(net, op, nesting);
        for (Symbol name : nested.reads) Read(name, at);
        for (Symbol name : nested.writes) Write(name, at, op).alone = true;
      }
      const OpDef* def = lookup(op.type);
      const bool keeps = def && (def->flags & (kStateful | kHostOnly)) != 0;
      const bool pointed_at = def && (def->flags & kCollective) != 0;
      const bool in_workspaces = kind == Nesting::kSameWorkspace || kind == Nesting::kPrivate;
      for (Symbol name : op.outputs)
        Write(name, at, op).alone |= keeps || pointed_at || in_workspaces || op.type == alias;
      if (op.type == alias || pointed_at)
        for (Symbol name : op.inputs) At(name).alone = true;
      if (kind == Nesting::kRecurrent) recurrent_.push_back(i);
    }
    ForEachHeldBlob(net, [&](Symbol blob, int32_t end) {
      BlobLife& life = At(blob);
      life.last = std::max(life.last, end);
    });
    // The outputs of a RecurrentNetwork may be views of one tensor: they end together.
    const Symbol recurrent = net.symbols->Find("RecurrentNetwork");
    for (size_t i : recurrent_) {
      if (net.ops[i].type != recurrent) continue;
      int32_t last = 0;
      for (Symbol name : net.ops[i].outputs) last = std::max(last, At(name).last);
      for (Symbol name : net.ops[i].outputs) At(name).last = last;
    }
    for (BlobLife& life : lives_) {
      if (options.keep_unread && !life.read) life.alone = true;
      if (options.recycle == Recycle::kGradients && !life.gradient) life.alone = true;
    }
  }

  const std::vector<Symbol>& names() const { return names_; }
  /// Operators that hold step nets.
  const std::vector<size_t>& recurrent() const { return recurrent_; }
  BlobLife& operator[](size_t i) { return lives_[i]; }
  /// The index of a blob that the net names, or -1.
  int64_t Find(Symbol name) const { return static_cast<int64_t>(index_.Get(name)) - 1; }

 private:
  BlobLife& At(Symbol name) {
    uint32_t& index = index_[name];
    if (index == 0) {
      names_.push_back(name);
      lives_.emplace_back();
      index = static_cast<uint32_t>(names_.size());
    }
    return lives_[index - 1];
  }
  void Read(Symbol name, int32_t at) {
    BlobLife& life = At(name);
    if (life.first < 0) {
      life.first = 0;
      life.alone = true;  // it was there before
    }
    life.last = at;
    life.read = true;
  }
  BlobLife& Write(Symbol name, int32_t at, const Op& op) {
    BlobLife& life = At(name);
    const DevicePtr& device = op.device ? op.device : net_.device;
    if (life.first < 0) {
      life.first = at;
      life.device = device;
      life.gradient = MakesGradients(op) || IsGradientName(net_.Str(name));
    } else if (!SameDevice(life.device, device)) {
      life.alone = true;
    }
    life.last = at;
    return life;
  }

  const Net& net_;
  SymbolMap<uint32_t> index_;  // + 1
  std::vector<Symbol> names_;
  std::vector<BlobLife> lives_;
  std::vector<size_t> recurrent_;
};

// Blobs that may share with each other: those of one device.
struct Group {
  DevicePtr device;
  std::vector<size_t> blobs;
  std::vector<Life> lives;
};

Group& GroupOf(std::vector<Group>& groups, const DevicePtr& device) {
  for (Group& group : groups)
    if (SameDevice(group.device, device)) return group;
  return groups.emplace_back(Group{device, {}, {}});
}

}  // namespace

Result<MemoryPlan> ReuseMemory(const Net& net, const OpSet& ops, const MemoryOptions& options) {
  Lives lives(net, ops, options);
  std::vector<int64_t> bytes(lives.names().size(), 0);
  for (const BlobBytes& size : options.sizes) {
    const int64_t i = lives.Find(size.blob);
    if (size.bytes < 0)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("the size of ", net.Str(size.blob), " is negative: ", size.bytes), -1,
                   std::string(net.Str(size.blob))};
    if (i >= 0) bytes[static_cast<size_t>(i)] = size.bytes;
  }

  MemoryPlan plan{.net = net};
  std::vector<Group> groups;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (__builtin_add_overflow(plan.peak_before, bytes[i], &plan.peak_before))
      return Error{ErrorCode::kInvalidArgument, "the sizes together are beyond 64 bits"};
    const BlobLife& life = lives[i];
    if (life.alone || bytes[i] == 0) {
      plan.fixed += bytes[i];
      continue;
    }
    Group& group = GroupOf(groups, life.device);
    group.blobs.push_back(i);
    group.lives.push_back({life.first, life.last, bytes[i]});
  }
  plan.peak_after = plan.lower_bound = plan.least_whole = plan.fixed;

  FreshNames fresh(net.symbols, lives.names().size());
  fresh.Reserve(net);
  std::vector<Symbol> new_name(bytes.size(), kNoSymbol);
  for (const Group& group : groups) {
    plan.lower_bound += internal::LargestLiveSet(group.lives);
    plan.least_whole += internal::LeastOfPlaces(group.lives);
    const std::vector<uint32_t> places = internal::AssignPlaces(group.lives);
    std::vector<std::vector<size_t>> held;  // by place: indices into the group
    for (size_t k = 0; k < places.size(); ++k) {
      if (places[k] >= held.size()) held.resize(places[k] + 1);
      held[places[k]].push_back(k);
    }
    for (const std::vector<size_t>& place : held) {
      int64_t most = 0;
      size_t first = place[0];
      for (size_t k : place) {
        most = std::max(most, group.lives[k].bytes);
        if (group.lives[k].first < group.lives[first].first) first = k;
      }
      plan.peak_after += most;
      if (place.size() == 1) continue;
      const std::string_view scope = ScopePart(net.Str(lives.names()[group.blobs[first]]));
      const Symbol name = fresh.Make(
          StrCat(scope.starts_with("_") ? scope.substr(1) : scope, "__m", plan.places++, "_shared"));
      for (size_t k : place) new_name[group.blobs[k]] = name;
      plan.shared += place.size();
    }
  }

  BlobMap map(*net.symbols, plan.shared);
  for (size_t i = 0; i < new_name.size(); ++i) {
    if (!new_name[i]) continue;
    map.Set(lives.names()[i], new_name[i]);
    plan.renamed.push_back({lives.names()[i], new_name[i]});
  }
  const RenameContext context{
      .symbols = net.symbols, .map = map, .nesting = NestingTypes(*net.symbols), .suffix_nested = false};
  WEFT_TRY_VOID(RenameInNet(context, plan.net));
  // Recurrent operators derive names from those of their blobs, unless "BLOB.rename" tells how they are
  // called now: that of a blob, and that of the gradient of an input, which goes by the input's new name.
  for (size_t i : lives.recurrent()) {
    const Op& was = net.ops[i];
    Op& op = plan.net.ops[i];
    const auto tell = [&](std::string_view blob, Symbol now) {
      op.args =
          WithArg(op.args, MakeArg(plan.net.Intern(StrCat(blob, ".rename")), std::string(net.Str(now))));
    };
    for (const BlobList* blobs : {&was.inputs, &was.outputs})
      for (Symbol blob : *blobs)
        if (map.has(blob)) tell(net.Str(blob), map(blob));
    for (Symbol input : was.inputs) {
      const Symbol gradient = net.symbols->Find(StrCat(net.Str(input), "_grad"));
      if (map.has(input) && gradient) tell(StrCat(net.Str(map(input)), "_grad"), map(gradient));
    }
  }
  return plan;
}

std::vector<BlobBytes> SizesAfter(const MemoryPlan& plan, std::vector<BlobBytes> sizes) {
  SymbolMap<Symbol> to(*plan.net.symbols, plan.renamed.size(), kNoSymbol);
  for (const MemoryPlan::Renamed& renamed : plan.renamed) to[renamed.from] = renamed.to;
  SymbolMap<uint32_t> at(*plan.net.symbols, plan.renamed.size(), 0);  // + 1
  std::vector<BlobBytes> out;
  for (BlobBytes size : sizes) {
    if (const Symbol name = to.Get(size.blob)) size.blob = name;
    uint32_t& index = at[size.blob];
    if (index == 0) {
      out.push_back(size);
      index = static_cast<uint32_t>(out.size());
    } else {
      out[index - 1].bytes = std::max(out[index - 1].bytes, size.bytes);
    }
  }
  return out;
}

}  // namespace weft
