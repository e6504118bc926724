// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/replicas.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/pass/share_gradients.h"

namespace weft::internal {

namespace {

Error Invalid(std::string message, std::string blob = {}) {
  return {ErrorCode::kInvalidArgument, std::move(message), -1, std::move(blob)};
}

// Mutexes, counters, queues: nothing that could be copied to another device.
bool MakesNoTensor(const OpDef* def) { return def && def->shape.ends_with("= object"); }

}  // namespace

Replicas::Replicas(ModelBuilder builder, const OpSet& ops, const ParallelCallbacks& callbacks,
                   const ParallelOptions& options)
    : model(std::move(builder)),
      scopes(options),
      collectives(options, scopes),
      ops_(ops),
      callbacks_(callbacks),
      options_(options),
      not_parallel_(model.params.size()) {}

Result<void> Replicas::Check(const ParallelCallbacks& callbacks, const ParallelOptions& options) {
  if (options.devices.empty()) return Invalid("devices: at least one is needed, none given");
  std::vector<int> sorted = options.devices;
  std::sort(sorted.begin(), sorted.end());
  if (sorted[0] < 0) return Invalid(StrCat("devices: there is no device ", sorted[0]));
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] == sorted[i - 1]) return Invalid(StrCat("devices: ", sorted[i], " is given twice"));
  if (!options.is_gpu() && options.device_type != kCpu && options.device_type != kIdeep)
    return Invalid(StrCat("devices: data parallel models run on CPU, CUDA, HIP and IDEEP, not on ",
                          DeviceTypeName(options.device_type)));
  if (!callbacks.forward) return Invalid("a forward callback is needed");
  if (callbacks.param_update && callbacks.optimizer)
    return Invalid("give an update for each device or one optimizer, not both");
  const bool training = callbacks.param_update || callbacks.optimizer;
  if (options.shared_model && options.is_gpu())
    return Invalid("shared_model: replicas can share parameters on CPUs only");
  if (options.shared_model && options.num_shards() > 1)
    return Invalid(StrCat("shared_model: replicas can share parameters on one machine only, num_shards is ",
                          options.num_shards()));
  if (options.combine_spatial_bn && !training)
    return Invalid("combine_spatial_bn: needs a parameter update; a forward-only model combines nothing");
  if (options.optimize_gradient_memory && options.dynamic_memory_management)
    return Invalid("optimize_gradient_memory and dynamic_memory_management exclude each other");
  if (options.accumulate < 1) return Invalid("accumulate: must be at least 1");
  if (options.accumulate > 1 && !training)
    return Invalid("accumulate: needs a parameter update; a forward-only model has no gradients");
  if (options.accumulate > 1 && options.dynamic_memory_management)
    return Invalid("accumulate and dynamic_memory_management exclude each other");
  if (options.shard_optimizer && !training)
    return Invalid("shard_optimizer: needs a parameter update; a forward-only model has no optimizer");
  if (options.shard_optimizer && options.shared_model)
    return Invalid("shard_optimizer: replicas that share parameters have one optimizer state already");
  if (options.threads_per_device < 1) return Invalid("threads_per_device: must be at least 1");
  constexpr int64_t kMostWorkers = 1'000'000;
  if (options.threads_per_device > kMostWorkers / static_cast<int64_t>(options.devices.size()))
    return Invalid(StrCat("threads_per_device: ", options.threads_per_device, " on ", options.devices.size(),
                          " devices are more than ", kMostWorkers, " workers"));
  if (options.max_concurrent_distributed_ops < 1)
    return Invalid("max_concurrent_distributed_ops: must be at least 1");
  if (const auto& meet = options.rendezvous) {
    if (meet->num_shards < 1)
      return Invalid(StrCat("rendezvous: num_shards must be at least 1, found ", meet->num_shards));
    if (meet->shard_id < 0 || meet->shard_id >= meet->num_shards)
      return Invalid(StrCat("rendezvous: shard_id must be below num_shards (", meet->num_shards, "), found ",
                            meet->shard_id));
    if (meet->engine != "GLOO" && meet->engine != "NCCL" && meet->engine != "MPI")
      return Invalid(StrCat("rendezvous: the engine is GLOO, NCCL or MPI, not ", meet->engine));
  }
  return {};
}

int Replicas::num_workers() const {
  const int own = static_cast<int>(options_.devices.size()) * options_.threads_per_device;
  return own + (options_.rendezvous ? 8 : 0);
}

void Replicas::Configure(NetBuilder& net) const {
  net.EditHead([&](Net& head) {
    head.type = head.Intern(options_.net_type);
    head.num_workers = num_workers();
  });
}

Result<void> Replicas::Build() {
  Configure(model.net);
  const double parts = static_cast<double>(options_.devices.size()) *
                       static_cast<double>(options_.num_shards()) * static_cast<double>(options_.accumulate);
  const auto loss_scale = static_cast<float>(1 / parts);
  for (const Scope& scope : scopes.of) {
    if (callbacks_.input) WEFT_TRY_VOID(callbacks_.input(model, scope));
    WEFT_TRY(const std::vector<Symbol> losses, callbacks_.forward(model, scope, loss_scale));
    if (training() && losses.empty()) return Invalid("the model has no loss, so it can't be trained");
    losses_.insert(losses_.end(), losses.begin(), losses.end());
  }
  // B43: by name, so that the message says which.
  std::vector<std::string> names;
  for (Symbol param : model.params) names.emplace_back(model.net.net().Str(param));
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    return Invalid(StrCat("the model has the parameter ", *twice, " twice"), *twice);

  WEFT_TRY_VOID(Group(std::span(model.params).subspan(not_parallel_)));
  params_end = groups.size();
  WEFT_TRY_VOID(Group(model.computed_params));
  computed_end = gradients_end = groups.size();
  return {};
}

std::string Replicas::Ungrouped(Symbol blob) const {
  const std::string_view name = model.net.net().Str(blob);
  return std::string(name.substr(name.find('/') + 1));
}

void Replicas::AddToGroup(const std::string& name, size_t replica, Gradient blob) {
  const auto [at, is_new] = by_name_.emplace(name, groups.size());
  if (is_new) groups.push_back({name, std::vector<Gradient>(scopes.of.size())});
  groups[at->second].blobs[replica] = blob;
}

Result<void> Replicas::Group(std::span<const Symbol> blobs) {
  for (Symbol blob : blobs) {
    const std::string_view name = model.net.net().Str(blob);
    const int replica = scopes.ReplicaOf(name);
    if (replica < 0)
      return Invalid(
          StrCat("the parameter ", name, " is in no device's scope, such as ", scopes.of[0].name.prefix),
          std::string(name));
    AddToGroup(Ungrouped(blob), static_cast<size_t>(replica), Gradient::Dense(blob));
  }
  for (const BlobGroup& group : groups)
    for (size_t i = 0; i < group.blobs.size(); ++i)
      if (group.blobs[i].none())
        return Invalid(StrCat("the parameter ", group.name, " is missing on ", scopes.of[i].name.prefix),
                       group.name);
  return {};
}

Result<void> Replicas::AddGradients() {
  GradientOptions options;
  options.faults = options_.gradient_faults;
  for (Symbol loss : losses_) {
    const int replica = scopes.ReplicaOf(model.net.net().Str(loss));
    const Scope scope = replica < 0 ? Scope() : scopes.of[static_cast<size_t>(replica)];
    const Symbol seed = model.net.Suffixed(loss, "_grad");
    Emit(model.net, {.type = "ConstantFill",
                     .inputs = {loss},
                     .outputs = {seed},
                     .device = scope.device.device,
                     .args = {{"value", 1.0f}}});
    options.losses.push_back({loss, Gradient::Dense(seed)});
  }
  WEFT_TRY(Backward backward, PlanGradients(model.net.net(), ops_, options));
  SymbolMap<Gradient> of(*model.net.net().symbols, backward.gradients.size());
  for (const BlobGradient& gradient : backward.gradients) of[gradient.blob] = gradient.gradient;
  for (Symbol param : model.params)
    if (const Gradient gradient = of.Get(param); !gradient.none())
      model.gradients.push_back({param, gradient});
  model.EditNet([&](Net net) { return AppendBackward(std::move(net), std::move(backward)); });
  return {};
}

Result<void> Replicas::GroupGradients() {
  size_t next = 0;
  for (size_t i = 0; i < model.params.size(); ++i) {
    const Symbol param = model.params[i];
    const bool has = next < model.gradients.size() && model.gradients[next].param == param;
    const Gradient gradient = has ? model.gradients[next++].gradient : Gradient();
    const std::string name(model.net.net().Str(param));
    if (i < not_parallel_ && gradient.none())
      return Error{ErrorCode::kNotFound,
                   StrCat("the losses do not depend on ", name, ", a parameter that the replicas share"), -1,
                   name};
    if (i < not_parallel_ && options_.num_shards() > 1)
      return Error{ErrorCode::kUnsupported,
                   StrCat("the gradient of ", name,
                          ", a parameter that the replicas share, would stay on its machine: "
                          "num_shards must be 1, found ",
                          options_.num_shards()),
                   -1, name};
    if (i < not_parallel_ || gradient.none()) continue;  // no loss depends on it: it stays as it is
    const std::string group = gradient.is_sparse()
                                  ? StrCat(Ungrouped(gradient.indices), ":", Ungrouped(gradient.values))
                                  : Ungrouped(gradient.dense);
    AddToGroup(group, static_cast<size_t>(scopes.ReplicaOf(name)), gradient);
  }
  gradients_end = groups.size();
  return {};
}

Result<void> Replicas::Update() {
  if (callbacks_.optimizer) return callbacks_.optimizer(model);
  for (const Scope& scope : scopes.of) WEFT_TRY_VOID(callbacks_.param_update(model, scope));
  if (model.unneeded.empty()) return {};
  SymbolMap<uint8_t> unneeded(*model.init.net().symbols, model.unneeded.size(), 0);
  for (Symbol blob : model.unneeded) unneeded[blob] = 1;
  model.EditInit([&](Net init) {
    std::erase_if(init.ops, [&](const Op& op) {
      return !op.outputs.empty() && std::all_of(op.outputs.begin(), op.outputs.end(),
                                                [&](Symbol blob) { return unneeded.Get(blob) != 0; });
    });
    return init;
  });
  return {};
}

Result<void> Replicas::PostSync() {
  if (!callbacks_.post_sync) return {};
  const size_t before = model.init.net().ops.size();
  for (const Scope& scope : scopes.of) WEFT_TRY_VOID(callbacks_.post_sync(model, scope));
  const Net& init = model.init.net();
  for (size_t i = before; i < init.ops.size(); ++i)
    for (Symbol blob : init.ops[i].outputs)
      if (scopes.ReplicaOf(init.Str(blob)) == 0 &&
          std::find(initial_first_.begin(), initial_first_.end(), blob) == initial_first_.end())
        initial_first_.push_back(blob);
  return {};
}

Result<void> Replicas::FindInitialBlobs(bool add_groups) {
  const Net& init = model.init.net();
  struct Made {
    std::string_view name;
    std::vector<std::pair<int, Symbol>> blobs{};  // by replica
  };
  std::vector<Made> made;
  std::unordered_map<std::string_view, size_t> number;  // looked up, never walked
  SymbolMap<uint8_t> seen(*init.symbols, init.ops.size(), 0);
  OpLookup find(ops_, *init.symbols);
  for (const Op& op : init.ops)
    for (Symbol blob : op.outputs) {
      const std::string_view name = init.Str(blob);
      const int replica = scopes.ReplicaOf(name);
      if (replica < 0 || MakesNoTensor(find(op.type)) || seen.Get(blob)) continue;
      seen[blob] = 1;
      const std::string_view own = name.substr(name.find('/') + 1);
      const auto [at, is_new] = number.emplace(own, made.size());
      if (is_new) made.push_back({own});
      made[at->second].blobs.push_back({replica, blob});
    }
  for (Symbol param : model.params)
    if (const std::string_view name = init.Str(param); !seen.Get(param) && scopes.ReplicaOf(name) >= 0)
      return Error{ErrorCode::kNotFound, StrCat("the init net does not make the parameter ", name), -1,
                   std::string(name)};
  std::sort(made.begin(), made.end(), [](const Made& a, const Made& b) { return a.name < b.name; });
  SymbolMap<uint8_t> is_own(*init.symbols, own_state.size(), 0);
  for (Symbol blob : own_state) is_own[blob] = 1;
  for (const Made& of : made) {
    const std::string& name = initial.emplace_back(of.name);
    for (const auto& [replica, blob] : of.blobs) {
      if (replica == 0 || is_own.Get(blob)) initial_first_.push_back(blob);
      if (add_groups) AddToGroup(name, static_cast<size_t>(replica), Gradient::Dense(blob));
    }
  }
  return {};
}

Result<void> Replicas::CheckForeignBlobs() const {
  const Net& net = model.net.net();
  std::unordered_map<const DeviceOption*, int> replicas;  // looked up, never walked
  for (size_t i = 0; i < scopes.of.size(); ++i) replicas.emplace(scopes.device(i).get(), static_cast<int>(i));
  for (size_t k = 0; k < net.ops.size(); ++k) {
    const Op& op = net.ops[k];
    const std::string_view type = net.Str(op.type);
    // Those that move values between replicas, by their nature.
    if (type.starts_with("NCCL") || type.find("Copy") != std::string_view::npos ||
        type.find("Concat") != std::string_view::npos || type == "Sum" || type == "Allreduce" ||
        type == "Broadcast" || type == "Reduce" || type == "Allgather" || type == "SpatialBN")
      continue;
    const auto own = replicas.find(op.device.get());
    if (own == replicas.end()) continue;
    for (const BlobList* blobs : {&op.inputs, &op.outputs})
      for (Symbol blob : *blobs) {
        const int replica = scopes.ReplicaOf(net.Str(blob));
        if (replica < 0 || replica == own->second) continue;
        const std::string& expected = scopes.of[static_cast<size_t>(own->second)].name.prefix;
        return Error{ErrorCode::kDeviceMismatch,
                     StrCat("Blob ", net.Str(blob), " of op ", type, ", should have namescope ",
                            expected.substr(0, expected.size() - 1)),
                     static_cast<int64_t>(k), std::string(net.Str(blob))};
      }
  }
  return {};
}

Result<std::vector<BlobGroup>> Replicas::GroupsNamed(std::span<const std::string> names) const {
  std::vector<BlobGroup> out;
  for (const std::string& name : names) {
    if (scopes.ReplicaOf(name) >= 0)
      return Invalid(StrCat("blobs to sync are named without the device's scope, found ", name), name);
    BlobGroup group{name, {}};
    for (const Scope& scope : scopes.of) {
      const Symbol blob = model.net.net().symbols->Intern(scope.name.Scoped(name));
      const bool known = model.net.BlobIsDefined(blob) || model.init.BlobIsDefined(blob);
      if (!known)
        return Error{ErrorCode::kNotFound, StrCat("there is no blob ", scope.name.Scoped(name)), -1, name};
      group.blobs.push_back(Gradient::Dense(blob));
    }
    out.push_back(std::move(group));
  }
  return out;
}

void Replicas::ShareGradientMemory() {
  SymbolMap<uint8_t> of_params(*model.net.net().symbols, model.gradients.size(), 0);
  for (const auto& [param, gradient] : model.gradients)
    for (Symbol blob : {gradient.dense, gradient.indices, gradient.values})
      if (blob) of_params[blob] = 1;
  for (size_t i = 0; i < scopes.of.size(); ++i) {
    ShareGradientsOptions options{
        scopes.of[i].name.prefix, {}, [&](Symbol blob) { return of_params.Get(blob) != 0; }};
    for (Symbol loss : losses_)
      if (scopes.ReplicaOf(model.net.net().Str(loss)) == static_cast<int>(i)) options.losses.push_back(loss);
    model.EditNet([&](Net net) { return ShareGradients(std::move(net), options); });
  }
}

const BlobGroup* Replicas::FindGroup(std::string_view name) const {
  const auto at = by_name_.find(std::string(name));
  return at == by_name_.end() ? nullptr : &groups[at->second];
}

std::vector<const BlobGroup*> Replicas::Groups(size_t begin, size_t end) const {
  std::vector<const BlobGroup*> out;
  for (size_t i = begin; i < end; ++i) out.push_back(&groups[i]);
  return out;
}

ParallelNets Replicas::Finish() && {
  ParallelNets nets;
  const SymbolTable& table = *model.net.net().symbols;
  if (training() && !options_.shared_model) {
    nets.checkpoint = std::move(initial_first_);
  } else {
    for (size_t i = options_.shared_model ? params_end : 0; i < computed_end; ++i)
      nets.checkpoint.push_back(groups[i].blobs[0].dense);
  }
  const Symbol iter = table.Find("Iter"), atomic = table.Find("AtomicIter"),
               rate = table.Find("LearningRate");
  for (const Op& op : model.net.net().ops) {
    if (rate && op.type == rate) nets.learning_rates.push_back(op.outputs[0]);
    if (!((iter && op.type == iter) || (atomic && op.type == atomic))) continue;
    if (scopes.ReplicaOf(table.Str(op.outputs[0])) < 0) nets.checkpoint.push_back(op.outputs[0]);
  }
  std::sort(nets.checkpoint.begin(), nets.checkpoint.end(),
            [&](Symbol a, Symbol b) { return table.Str(a) < table.Str(b); });
  nets.params = std::move(model.params);
  nets.computed_params = std::move(model.computed_params);
  nets.losses = std::move(losses_);
  nets.gradients = std::move(model.gradients);
  nets.groups = std::move(groups);
  nets.own_state = std::move(own_state);
  nets.init = std::move(model.init).Finish();
  nets.net = std::move(model.net).Finish();
  return nets;
}

}  // namespace weft::internal
