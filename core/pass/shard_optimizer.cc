// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/shard_optimizer.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "core/base/str.h"
#include "core/pass/comm_cost.h"

namespace weft::internal {

namespace {

// The group of each dense blob, -1 for none.
SymbolMap<int64_t> GroupNumbers(const Replicas& replicas) {
  const SymbolTable& table = *replicas.model.net.net().symbols;
  SymbolMap<int64_t> numbers(table, replicas.gradients_end * replicas.scopes.of.size(), -1);
  for (size_t i = 0; i < replicas.gradients_end; ++i)
    for (const Gradient& of : replicas.groups[i].blobs)
      if (of.dense) numbers[of.dense] = static_cast<int64_t>(i);
  return numbers;
}

// What init made for the updates from operator `first` on that touch one of these parameters.
std::vector<Symbol> StateOf(const ModelBuilder& model, const ReplicaScopes& scopes, size_t first) {
  const Net &net = model.net.net(), &init = model.init.net();
  enum : uint8_t { kMade = 1, kTouched = 2 };
  SymbolMap<uint8_t> flags(*net.symbols, init.ops.size() + net.ops.size() - first, 0);
  for (const Op& op : init.ops)
    for (Symbol blob : op.outputs) flags[blob] |= kMade;
  for (const auto& [param, gradient] : model.gradients)
    for (Symbol blob : {param, gradient.dense})
      if (blob) flags[blob] |= kTouched;
  std::vector<Symbol> state;
  for (size_t i = first; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const auto touched = [&](Symbol blob) { return (flags.Get(blob) & kTouched) != 0; };
    if (std::none_of(op.inputs.begin(), op.inputs.end(), touched) &&
        std::none_of(op.outputs.begin(), op.outputs.end(), touched))
      continue;
    for (Symbol blob : op.outputs) {
      if (flags.Get(blob) == kMade && scopes.ReplicaOf(net.Str(blob)) >= 0) state.push_back(blob);
      flags[blob] |= kTouched;
    }
  }
  return state;
}

}  // namespace

Result<void> DealGradients(Replicas& replicas, const ParallelOptions& options) {
  const ModelBuilder& model = replicas.model;
  const SymbolMap<int64_t> number = GroupNumbers(replicas);
  const auto bytes_of = DenseBytes(model.init.net(), model.net.net(), model.gradients);
  std::vector<int64_t> bytes(replicas.gradients_end, 0);
  for (const auto& [param, gradient] : model.gradients) {
    if (number.Get(param) < 0) continue;
    if (gradient.is_sparse()) {
      const std::string name(model.net.net().Str(param));
      return Error{ErrorCode::kUnsupported,
                   StrCat("shard_optimizer: the gradient of ", name,
                          " is sparse, and its owner would send the whole parameter to update a few rows; "
                          "expected dense gradients only"),
                   -1, name};
    }
    bytes[static_cast<size_t>(number.Get(gradient.dense))] += bytes_of(param).value_or(0);
  }

  std::vector<size_t> order;
  for (size_t i = replicas.computed_end; i < replicas.gradients_end; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  using Load = std::tuple<int64_t, int, int, size_t>;  // bytes, parameters, machine, device
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  // Whoever has nothing comes first, so only the first so many devices get anything.
  const auto ranks = static_cast<size_t>(options.num_shards()) * options.devices.size();
  for (size_t i = 0; i < std::min(ranks, order.size()); ++i)
    loads.push({0, 0, static_cast<int>(i / options.devices.size()), i % options.devices.size()});
  for (size_t i : order) {
    const auto [held, count, shard, device] = loads.top();
    loads.pop();
    replicas.groups[i].owner = Rank{shard, device};
    loads.push({held + bytes[i], count + 1, shard, device});
  }
  for (const auto& [param, gradient] : model.gradients)
    if (number.Get(param) >= 0)
      replicas.groups[static_cast<size_t>(number.Get(param))].owner =
          replicas.groups[static_cast<size_t>(number.Get(gradient.dense))].owner;
  return {};
}

Result<void> UpdateOwn(Replicas& replicas, const ParallelOptions& options) {
  ModelBuilder& model = replicas.model;
  const SymbolMap<int64_t> number = GroupNumbers(replicas);
  const auto is_others = [&](Symbol param) {
    if (number.Get(param) < 0) return false;
    const BlobGroup& group = replicas.groups[static_cast<size_t>(number.Get(param))];
    if (!group.owner) return false;  // no loss depends on it
    return group.owner->shard != options.shard_id() || group.blobs[group.owner->device].dense != param;
  };
  const std::vector<Symbol> params = model.params;
  const std::vector<ParamGradient> gradients = model.gradients;
  std::erase_if(model.params, is_others);
  std::erase_if(model.gradients, [&](const ParamGradient& of) { return is_others(of.param); });
  const size_t first = model.net.net().ops.size();
  WEFT_TRY_VOID(replicas.Update());
  replicas.own_state = StateOf(model, replicas.scopes, first);
  model.params = params;
  model.gradients = gradients;
  return {};
}

}  // namespace weft::internal
