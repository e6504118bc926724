// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A model that was built for one device as the callbacks of Parallelize.
#include <algorithm>
#include <memory>

#include "core/base/str.h"
#include "core/pass/data_parallel.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

// The operators of `from` under the names of a replica, on its device.
class Replicator {
 public:
  Replicator(const SingleModel& model, NameRegistry& registry, const Scope& scope)
      : registry_(registry),
        symbols_(model.net.symbols),
        scope_(scope),
        nesting_(*symbols_),
        map_(*symbols_, 4 * (model.net.ops.size() + model.init.ops.size())) {
    for (Symbol blob : model.common_params) map_.Set(blob, blob);
    for (const Net* net : {&model.init, &model.net}) Enter(*net);
    for (const std::optional<Net>* net : {&model.update, &model.post_sync})
      if (*net) Enter(**net);
  }

  Symbol operator()(Symbol blob) const { return map_(blob); }
  void Set(std::string_view from, Symbol to) {
    if (to) map_.Set(symbols_->Intern(from), to);
  }

  Result<Op> Replica(const Op& op) const {
    Op replica = op;
    WEFT_TRY_VOID(RenameInOp({symbols_, map_, nesting_, &registry_, true}, replica));
    Move(replica, 0);
    return replica;
  }

 private:
  void Enter(const Net& net) {
    const auto enter = [&](Symbol blob) {
      if (!map_.has(blob)) map_.Set(blob, symbols_->Intern(scope_.name.Scoped(symbols_->Str(blob))));
    };
    for (Symbol blob : net.external_inputs) enter(blob);
    for (const Op& op : net.ops) {
      for (Symbol blob : op.inputs) enter(blob);
      for (Symbol blob : op.outputs) enter(blob);
      const NestedUses uses = UsesOfNestedNets(net, op, nesting_);
      for (Symbol blob : uses.reads) enter(blob);
      for (Symbol blob : uses.writes) enter(blob);
    }
  }

  // What is on the CPU by its own option stays there.
  void Move(Op& op, int depth) const {
    const bool stays = op.device && op.device->device_type && op.device->type() == kCpu &&
                       scope_.device.device->type() != kCpu;
    if (!stays) op.device = scope_.device.device;
    if (nesting_.Of(op.type) == Nesting::kNone || depth >= 100) return;
    std::vector<Arg> args = op.args.Copy();
    for (Arg& arg : args) {
      if ((arg.has & Arg::kHasN) == 0) continue;
      auto data = std::make_shared<ArgData>(*arg.Load());
      Net inner = *data->n;
      for (Op& nested : inner.ops) Move(nested, depth + 1);
      data->n = std::make_shared<const Net>(std::move(inner));
      arg.data = std::move(data);
      arg.encoded = nullptr;
    }
    op.args = ArgList(std::move(args));
  }

  NameRegistry& registry_;
  const SymbolTablePtr& symbols_;
  const Scope& scope_;
  const NestingTypes nesting_;
  BlobMap map_;
};

// The number of the loss's last operator when that is a Scale on itself, else -1.
int64_t ScaleOf(const Net& net, Symbol loss) {
  for (size_t i = net.ops.size(); i-- > 0;) {
    const Op& op = net.ops[i];
    if (std::find(op.outputs.begin(), op.outputs.end(), loss) == op.outputs.end()) continue;
    const bool scales = net.Str(op.type) == "Scale" && op.inputs.size() == 1 && op.inputs[0] == loss;
    return scales ? static_cast<int64_t>(i) : -1;
  }
  return -1;
}

Result<std::vector<Symbol>> BuildForward(const SingleModel& model, ModelBuilder& to, const Scope& scope,
                                         float loss_scale) {
  if (to.net.net().symbols != model.net.symbols || model.init.symbols != model.net.symbols)
    return Error{ErrorCode::kInvalidArgument,
                 "the model's nets and the new ones must share one symbol table"};
  const Replicator replica(model, to.registry, scope);
  std::vector<int64_t> scales;
  if (model.loss_scale_op) {
    for (Symbol loss : model.losses) {
      scales.push_back(ScaleOf(model.net, loss));
      if (scales.back() < 0) {
        const std::string name(model.net.Str(loss));
        return Error{ErrorCode::kInvalidArgument,
                     StrCat("the last operator that writes the loss ", name,
                            " is no Scale on it, which could carry the loss scale"),
                     -1, name};
      }
    }
  }
  const auto is_common = [&](Symbol blob) {
    return std::find(model.common_params.begin(), model.common_params.end(), blob) !=
           model.common_params.end();
  };
  for (const Op& op : model.init.ops) {
    if (std::any_of(op.outputs.begin(), op.outputs.end(), is_common)) {
      if (!to.init.BlobIsDefined(op.outputs[0])) to.init.Append(op);
      continue;
    }
    WEFT_TRY(Op copy, replica.Replica(op));
    to.init.Append(std::move(copy));
  }
  const Symbol scale = model.net.symbols->Intern("scale");
  for (Symbol blob : model.net.external_inputs)
    if (!to.net.BlobIsDefined(replica(blob))) WEFT_TRY_VOID(to.net.AddExternalInput(replica(blob)));
  for (size_t i = 0; i < model.net.ops.size(); ++i) {
    WEFT_TRY(Op copy, replica.Replica(model.net.ops[i]));
    if (std::find(scales.begin(), scales.end(), static_cast<int64_t>(i)) != scales.end()) {
      const float own = ArgFloat(*model.net.symbols, copy.args, "scale", 1);
      copy.args = WithArg(copy.args, MakeArg(scale, own * loss_scale));
    }
    to.net.Append(std::move(copy));
  }
  std::vector<Symbol> losses;
  for (Symbol loss : model.losses) {
    losses.push_back(replica(loss));
    if (model.loss_scale_op) continue;
    to.net.Add({.type = "Scale",
                .inputs = {losses.back()},
                .outputs = std::vector<BlobRef>{losses.back()},
                .args = {{"scale", loss_scale}}},
               {{}, scope.device});
  }
  for (Symbol param : model.params) to.params.push_back(replica(param));
  for (Symbol param : model.computed_params) to.computed_params.push_back(replica(param));
  return losses;
}

// Appends the update net's operators, but those of parameters that have no gradient here: another replica
// updates these (shard_optimizer, a shared model), or no loss depends on them. The state of such parameters
// leaves the init net.
Result<void> AppendUpdate(const SingleModel& model, const Replicator& replica,
                          const SymbolMap<Gradient>& gradients, ModelBuilder& to) {
  enum : uint8_t { kHere = 1, kElsewhere = 2 };
  const Net& update = *model.update;
  SymbolMap<uint8_t> where(*update.symbols, 2 * update.ops.size(), 0);
  for (Symbol param : model.params) {
    const uint8_t place = gradients.Get(replica(param)).none() ? kElsewhere : kHere;
    where[param] |= place;
    for (std::string_view suffix : {"_grad", "_grad_indices", "_grad_values"})
      if (const Symbol blob = update.symbols->Find(StrCat(update.Str(param), suffix))) where[blob] |= place;
  }
  for (size_t i = 0; i < update.ops.size(); ++i) {
    const Op& op = update.ops[i];
    uint8_t places = 0;
    for (const BlobList* blobs : {&op.inputs, &op.outputs})
      for (Symbol blob : *blobs) places |= where.Get(blob);
    if (places == (kHere | kElsewhere))
      return Error{ErrorCode::kUnsupported,
                   StrCat("the update's op ", i, " ", update.Str(op.type),
                          " belongs to parameters that different replicas update"),
                   static_cast<int64_t>(i)};
    for (Symbol blob : op.outputs) {
      if (places == kElsewhere && !where.Get(blob)) to.unneeded.push_back(replica(blob));
      where[blob] |= places;
    }
    if (places == kElsewhere) continue;
    WEFT_TRY(Op copy, replica.Replica(op));
    to.net.Append(std::move(copy));
  }
  return {};
}

Result<void> BuildUpdate(const SingleModel& model, ModelBuilder& to, const Scope& scope) {
  if (!model.common_params.empty())
    return Error{ErrorCode::kUnsupported,
                 StrCat("an update net would update ", model.net.Str(model.common_params[0]),
                        ", which all replicas share, once for each: give an optimizer"),
                 -1, std::string(model.net.Str(model.common_params[0]))};
  Replicator replica(model, to.registry, scope);
  SymbolMap<Gradient> of(*model.net.symbols, to.gradients.size());
  for (const auto& [param, gradient] : to.gradients) of[param] = gradient;
  for (Symbol param : model.params) {
    const Gradient gradient = of.Get(replica(param));
    const std::string name = StrCat(model.net.Str(param), "_grad");
    replica.Set(name, gradient.dense);
    replica.Set(StrCat(name, "_indices"), gradient.indices);
    replica.Set(StrCat(name, "_values"), gradient.values);
  }
  return AppendUpdate(model, replica, of, to);
}

}  // namespace

ParallelCallbacks CallbacksOf(const SingleModel& model) {
  ParallelCallbacks callbacks;
  callbacks.forward = [&model](ModelBuilder& to, const Scope& scope, float loss_scale) {
    return BuildForward(model, to, scope, loss_scale);
  };
  if (model.update)
    callbacks.param_update = [&model](ModelBuilder& to, const Scope& scope) {
      return BuildUpdate(model, to, scope);
    };
  if (model.post_sync)
    callbacks.post_sync = [&model](ModelBuilder& to, const Scope& scope) -> Result<void> {
      const Replicator replica(model, to.registry, scope);
      for (const Op& op : model.post_sync->ops) {
        WEFT_TRY(Op copy, replica.Replica(op));
        to.init.Append(std::move(copy));
      }
      return {};
    };
  return callbacks;
}

}  // namespace weft
