// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/pass/recorded_parallel.h"

#include <algorithm>
#include <cstdio>

#include "core/base/str.h"
#include "core/pass/bmuf.h"
#include "core/pass/collectives.h"
#include "core/pass/optimizer.h"
#include "proto/codec.h"

namespace weft::test {

namespace {

Symbol RateOf(ModelBuilder& model, const Scope& scope) {
  const OpArgs helper = {{"order", "NCHW"}, {"use_cudnn", 1}, {"cudnn_exhaustive_search", 0}};
  DeviceOption cpu;
  cpu.device_type = kCpu;
  cpu.device_id = 0;
  const Scope on_cpu{scope.name, DeviceScope().Enter(cpu)};
  const auto outputs = [](BlobRef blob) { return std::vector<BlobRef>{std::move(blob)}; };
  OpArgs fill = {{"shape", {1}}, {"value", 0}, {"dtype", 10}};
  fill.list.insert(fill.list.end(), helper.list.begin(), helper.list.end());
  const Symbol iter =
      model.init.Add({.type = "ConstantFill", .outputs = outputs("ITER"), .args = fill}, on_cpu)[0];
  model.net.Add({.type = "Iter", .inputs = {iter}, .outputs = outputs(iter), .args = helper}, scope);
  return model.net.Add({.type = "LearningRate",
                        .inputs = {iter},
                        .outputs = outputs("LR"),
                        .args = {{"base_lr", -0.1f}, {"policy", "fixed"}}},
                       scope)[0];
}

// The update that the recorded rows call param_update.
Result<void> ParamUpdate(ModelBuilder& model, const Scope& scope) {
  const auto outputs = [](BlobRef blob) { return std::vector<BlobRef>{std::move(blob)}; };
  const Symbol rate = RateOf(model, scope);
  const Symbol one = model.init.Add(
      {.type = "ConstantFill", .outputs = outputs("ONE"), .args = {{"shape", {1}}, {"value", 1.0f}}},
      scope)[0];
  for (const auto& [param, gradient] : model.gradients) {
    if (!model.net.net().Str(param).starts_with(scope.name.prefix)) continue;
    if (gradient.is_dense()) {
      model.net.Add(
          {.type = "WeightedSum", .inputs = {param, one, gradient.dense, rate}, .outputs = outputs(param)},
          scope);
    } else {
      model.net.Add({.type = "ScatterWeightedSum",
                     .inputs = {param, one, gradient.indices, gradient.values, rate},
                     .outputs = outputs(param)},
                    scope);
    }
  }
  return {};
}

// That of record_parallel_options.py.
Result<void> MomentumUpdate(ModelBuilder& model, const Scope& scope) {
  const Symbol rate = RateOf(model, scope);
  for (const auto& [param, gradient] : model.gradients) {
    if (!model.net.net().Str(param).starts_with(scope.name.prefix)) continue;
    const Symbol momentum = model.init.Suffixed(param, "_m");
    const Scope plain{{}, scope.device};
    model.init.Add({.type = "ConstantFill",
                    .inputs = {param},
                    .outputs = std::vector<BlobRef>{momentum},
                    .args = {{"value", 0.0f}}},
                   plain);
    model.net.Add({.type = "MomentumSGDUpdate",
                   .inputs = {gradient.dense, momentum, rate, param},
                   .outputs = std::vector<BlobRef>{gradient.dense, momentum, param},
                   .args = {{"momentum", 0.9f}}},
                  plain);
  }
  return {};
}

std::optional<Optimizer> OptimizerOf(const std::string& name) {
  const LearningRate rate{0.1f};
  if (name == "sgd") return Sgd{.rate = rate};
  if (name == "momentum")
    return Sgd{.rate = {0.1f, "step", {{"stepsize", 10}, {"gamma", 0.5}}}, .momentum = 0.9f};
  if (name == "adagrad") return Adagrad{.rate = rate};
  if (name == "adam") return Adam{.rate = rate};
  if (name == "rmsprop") return RmsProp{.rate = rate};
  return {};
}

// What the optimizers of the recording process were numbered from.
int InstanceOf(const std::string& text) {
  const size_t at = text.find("Optimizer_");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 10);
}

void SetUpdate(ParallelCallbacks& callbacks, const std::string& opt) {
  if (opt == "param_update") callbacks.param_update = ParamUpdate;
  if (opt == "momentum_update") callbacks.param_update = MomentumUpdate;
  if (const std::optional<Optimizer> optimizer = OptimizerOf(opt))
    callbacks.optimizer = [optimizer](ModelBuilder& built) {
      std::vector<TrainedParam> params;
      for (const auto& [param, gradient] : built.gradients) params.push_back({param, gradient, {}});
      return AddOptimizer(built.registry, built.net, built.init, *optimizer, params);
    };
}

// The callbacks of record_parallel_options.py.
void AddCallbacks(ParallelCallbacks& callbacks, const std::vector<std::string>& names,
                  const ParallelOptions& options) {
  const auto named = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const internal::ReplicaScopes scopes(options);
  if (named("post_sync_builder_fun"))
    callbacks.post_sync = [](ModelBuilder& model, const Scope& scope) -> Result<void> {
      for (Symbol param : model.params) {
        const std::string_view name = model.init.net().Str(param);
        if (!name.starts_with(scope.name.prefix)) continue;
        const std::string copy = StrCat("post_", name.substr(name.rfind('/') + 1));
        model.init.Add({.type = "Copy", .inputs = {param}, .outputs = std::vector<BlobRef>{copy}}, scope);
      }
      return {};
    };
  if (named("pre_grad_net_transformer_fun"))
    callbacks.before_gradients = [scopes](ModelBuilder& model) -> Result<void> {
      for (const Scope& scope : scopes.of) {
        const std::vector<BlobRef> outputs = {"loss_before"};
        model.net.Add({.type = "Copy", .inputs = {"loss"}, .outputs = outputs}, scope);
      }
      return {};
    };
  if (named("net_transformer_fun"))
    callbacks.net_transformer = [scopes](ModelBuilder& model) -> Result<void> {
      model.net.Add({.type = "Scale",
                     .inputs = {"loss"},
                     .outputs = std::vector<BlobRef>{"loss_after"},
                     .args = {{"scale", static_cast<float>(scopes.of.size())}}},
                    scopes.of[0]);
      return {};
    };
}

// One layer that all replicas share: parameters that the model has before it is replicated, "shared_...".
ParallelCallbacks SharedLayer(const SingleModel& single, ModelBuilder& model) {
  for (const auto& [name, shape] : {std::pair<const char*, std::vector<int64_t>>{"shared_w", {8, 4}},
                                    std::pair<const char*, std::vector<int64_t>>{"shared_b", {8}}})
    model.params.push_back(model.init.Add({.type = "ConstantFill",
                                           .outputs = std::vector<BlobRef>{name},
                                           .args = {{"shape", shape}, {"value", 0.5f}}})[0]);
  ParallelCallbacks callbacks;
  callbacks.forward = [&single](ModelBuilder& to, const Scope& scope,
                                float loss_scale) -> Result<std::vector<Symbol>> {
    const auto scoped = [&](Symbol blob) {
      const std::string_view name = single.net.Str(blob);
      return name.starts_with("shared_") ? blob : to.net.Intern(scope.name.Scoped(name));
    };
    const auto add = [&](NetBuilder& net, Op op) {
      for (Symbol& blob : op.inputs) blob = scoped(blob);
      for (Symbol& blob : op.outputs) blob = scoped(blob);
      op.device = scope.device.device;
      if (net.net().Str(op.type) == "Scale")
        op.args = WithArg(op.args, MakeArg(net.Intern("scale"), loss_scale));
      net.Append(std::move(op));
    };
    for (const Op& op : single.init.ops) add(to.init, op);
    for (const Op& op : single.net.ops) add(to.net, op);
    for (Symbol param : single.params) to.params.push_back(scoped(param));
    return std::vector<Symbol>{scoped(single.losses[0])};
  };
  return callbacks;
}

ModelBuilder NewModel(NameRegistry& registry, const SingleModel& model) {
  return {registry, NetBuilder(registry, model.net.Str(model.net.name), model.net.symbols),
          NetBuilder(registry, model.init.Str(model.init.name), model.net.symbols)};
}

// Caffe2 repeats fills (of a shared parameter's optimizer with another device) and copies, and its order of
// Copy operators that make replicas equal and of Free operators is that of a set: repeats dropped, runs
// sorted.
Net Canonical(Net net) {
  std::vector<Op> once;
  for (Op& op : net.ops) {
    const bool fill = net.Str(op.type) == "ConstantFill" && op.inputs.empty();
    const bool seen = fill && std::any_of(once.begin(), once.end(), [&](const Op& had) {
                        Op moved = op;
                        moved.device = had.device;
                        return SameOp(*net.symbols, had, *net.symbols, moved);
                      });
    if (!seen) once.push_back(std::move(op));
  }
  net.ops = std::move(once);
  const std::string_view name = net.Str(net.name);
  const bool is_init = name.find("init") != std::string_view::npos || name == "checkpoint_sync_net";
  const auto kind = [&](const Op& op) {
    const std::string_view type = net.Str(op.type);
    const bool made = op.device && !op.device->extra_info.empty();  // "is_auto_gen_sum_ops:1"
    return type == (is_init ? "Copy" : "Free") || (type == "Sum" && made) ? op.type : Symbol();
  };
  for (size_t i = 0; i < net.ops.size();) {
    size_t end = i;
    while (end < net.ops.size() && kind(net.ops[end]) && net.ops[end].type == net.ops[i].type) ++end;
    std::sort(net.ops.begin() + static_cast<long>(i), net.ops.begin() + static_cast<long>(end),
              [&](const Op& a, const Op& b) { return net.Str(a.outputs[0]) < net.Str(b.outputs[0]); });
    i = std::max(end, i + 1);
  }
  const auto same = [&](const Op& a, const Op& b) {
    return is_init && kind(a) && SameOp(*net.symbols, a, *net.symbols, b);
  };
  net.ops.erase(std::unique(net.ops.begin(), net.ops.end(), same), net.ops.end());
  return net;
}

Json GradientJson(const SymbolTable& table, const Gradient& gradient) {
  if (gradient.is_dense()) return std::string(table.Str(gradient.dense));
  return Json::array({std::string(table.Str(gradient.indices)), std::string(table.Str(gradient.values))});
}

Json Names(const SymbolTable& table, const std::vector<Symbol>& symbols) {
  Json names = Json::array();
  for (Symbol symbol : symbols) names.push_back(std::string(table.Str(symbol)));
  return names;
}

}  // namespace

SingleModel ReadModel(const Json& single) {
  SingleModel model;
  model.init = NetFromText(single.at("init").get<std::string>());
  model.net = NetFromText(single.at("net").get<std::string>(), model.init.symbols);
  const auto names = [&](const char* key) {
    std::vector<Symbol> symbols;
    for (const Json& name : single.at(key)) symbols.push_back(model.net.Intern(name.get<std::string>()));
    return symbols;
  };
  model.losses = names("losses");
  model.params = names("params");
  model.computed_params = names("computed");
  model.loss_scale_op = true;
  return model;
}

ParallelOptions ReadOptions(const Json& row) {
  const Json& json = row.at("options");
  const std::string type = row.value("device_type", json.value("cpu_device", false) ? "cpu" : "gpu");
  ParallelOptions options;
  options.devices = json.value("devices", std::vector<int>{0, 1, 2});  // three CPUs where they were recorded
  options.device_type = type == "cpu" ? kCpu : type == "gpu" ? kCuda : type == "hip" ? kHip : kIdeep;
  options.net_type = json.value("net_type", "dag");
  options.threads_per_device = json.value("num_threads_per_device", 4);
  options.broadcast_computed_params = json.value("broadcast_computed_params", true);
  options.barrier_timeout_ms = 1000 * json.value("barrier_net_timeout_sec", 300);
  if (row.contains("peers"))
    options.peer_access = [peers = row.at("peers").get<std::vector<std::vector<int>>>()](int to, int from) {
      return peers[static_cast<size_t>(to)][static_cast<size_t>(from)] != 0;
    };
  options.use_nccl = json.value("use_nccl", false);
  options.shared_model = json.value("shared_model", false);
  options.combine_spatial_bn = json.value("combine_spatial_bn", false);
  options.optimize_gradient_memory = json.value("optimize_gradient_memory", false);
  options.dynamic_memory_management = json.value("dynamic_memory_management", false);
  options.max_concurrent_distributed_ops =
      json.value("max_concurrent_distributed_ops", row.at("bmuf").get<bool>() ? 4 : 16);
  options.blobs_to_keep = json.value("blobs_to_keep", std::vector<std::string>());
  if (json.contains("rendezvous")) {
    const Json& meet = json.at("rendezvous");
    const auto text = [&](const char* key) {
      return meet.contains(key) ? std::optional(meet.at(key).get<std::string>()) : std::nullopt;
    };
    const Json& store = meet.at("kv_handler");
    options.rendezvous = Rendezvous{.kv_handler = store.is_null() ? "" : store.get<std::string>(),
                                    .num_shards = meet.at("num_shards"),
                                    .shard_id = meet.at("shard_id"),
                                    .engine = meet.at("engine"),
                                    .transport = text("transport"),
                                    .interface = text("interface"),
                                    .mpi_rendezvous = meet.value("mpi_rendezvous", false)};
  }
  return options;
}

std::string Differs(const Net& found_net, const Net& expected_net) {
  const Net found = Canonical(found_net), expected = Canonical(expected_net);
  const auto text = [](const Net& net, size_t i) { return OpToText(*net.symbols, net.ops[i]); };
  for (size_t i = 0; i < std::max(found.ops.size(), expected.ops.size()); ++i) {
    if (i >= found.ops.size()) return "missing " + text(expected, i);
    if (i >= expected.ops.size()) return "too many: " + text(found, i);
    if (!SameOp(*found.symbols, found.ops[i], *expected.symbols, expected.ops[i]))
      return StrCat("op ", i, ":\n", text(found, i), "expected\n", text(expected, i));
  }
  Net found_head = WithoutOps(found), expected_head = WithoutOps(expected);
  if (!SameNet(found_head, expected_head))
    return StrCat(NetToText(found_head), "expected\n", NetToText(expected_head));
  return "";
}

std::string DiffersFromRow(const ParallelNets& nets, const ParallelOptions& options, const Json& row) {
  const SymbolTable& table = *nets.net.symbols;
  const auto net_differs = [&](const char* key, const Net* found) -> std::string {
    if (!row.contains(key)) return found ? StrCat(key, " is there, and should not be") : "";
    if (!found) return StrCat(key, " is missing");
    const std::string difference = Differs(*found, NetFromText(row.at(key).get<std::string>()));
    return difference.empty() ? "" : StrCat(key, ": ", difference);
  };
  const auto maybe = [](const std::optional<Net>& net) { return net ? &*net : nullptr; };
  for (const std::string& difference :
       {net_differs("init", &nets.init), net_differs("net", &nets.net),
        net_differs("global_init", maybe(nets.global_init)),
        net_differs("global_update", maybe(nets.global_update)), net_differs("warmup", maybe(nets.warmup)),
        net_differs("barrier_init", maybe(nets.barrier_init)), net_differs("barrier", maybe(nets.barrier))})
    if (!difference.empty()) return difference;

  Json groups = Json::object(), gradients = Json::object();
  for (const BlobGroup& group : nets.groups) {
    Json blobs = Json::object();
    for (size_t i = 0; i < group.blobs.size(); ++i)
      blobs[std::to_string(options.devices[i])] = GradientJson(table, group.blobs[i]);
    groups[group.name] = blobs;
  }
  for (const auto& [param, gradient] : nets.gradients)
    gradients[std::string(table.Str(param))] = GradientJson(table, gradient);
  const auto differs = [&](const char* key, const Json& found) {
    return row.contains(key) && row.at(key) != found
               ? StrCat(key, ": ", found.dump(), "\nexpected ", row.at(key).dump())
               : std::string();
  };
  for (const std::string& difference :
       {differs("groups", groups), differs("params", Names(table, nets.params)),
        differs("param_to_grad", gradients), differs("checkpoint_params", Names(table, nets.checkpoint)),
        differs("lr_blobs", Names(table, nets.learning_rates))})
    if (!difference.empty()) return difference;
  return "";
}

Result<ParallelNets> MakeNets(const SingleModel& model, const Json& row, const ParallelOptions& options) {
  const std::string opt = row.at("opt").is_null() ? "" : row.at("opt").get<std::string>();
  NameRegistry registry;
  for (const char* kind : {"SgdOptimizer", "AdagradOptimizer", "AdamOptimizer", "RmsPropOptimizer"})
    for (int i = InstanceOf(row.value("net", "")); i > 0; --i) registry.NextInstance(kind);
  ModelBuilder builder = NewModel(registry, model);
  const bool shared = row.value("model", "") == "shared";
  ParallelCallbacks callbacks = shared ? SharedLayer(model, builder) : weft::CallbacksOf(model);
  SetUpdate(callbacks, opt);
  AddCallbacks(callbacks, row.value("callbacks", std::vector<std::string>()), options);
  if (!row.at("bmuf").get<bool>()) return Parallelize(std::move(builder), StandardOps(), callbacks, options);
  const Json& given = row.at("options");
  BmufOptions bmuf;
  bmuf.parallel = options;
  bmuf.nesterov = given.value("nesterov", false);
  bmuf.block_learning_rate = given.value("block_learning_rate", 1.0f);
  bmuf.reset_momentum_sgd = given.value("reset_momentum_sgd", false);
  bmuf.add_blobs_to_sync = given.value("add_blobs_to_sync", std::vector<std::string>());
  if (given.contains("block_momentum")) bmuf.block_momentum = given.at("block_momentum");
  if (given.contains("warmup_iterations")) bmuf.warmup_iterations = given.at("warmup_iterations");
  if (given.contains("master_device")) bmuf.master_device = given.at("master_device");
  return ParallelizeBmuf(std::move(builder), StandardOps(), callbacks, bmuf);
}

Json MendNet(const Json& text, const std::function<void(Net&)>& edit) {
  Net net = NetFromText(text.get<std::string>());
  edit(net);
  return NetToText(net);
}

Op MakeOp(Net& net, const OpWords& words) {
  Op op;
  op.type = net.Intern(words.type);
  op.name = net.Intern(words.name);
  for (const std::string& blob : words.inputs) op.inputs.push_back(net.Intern(blob));
  for (const std::string& blob : words.outputs) op.outputs.push_back(net.Intern(blob));
  for (const std::string& blob : words.control) op.control_inputs.push_back(net.Intern(blob));
  if (!words.engine.empty()) op.engine = net.Intern(words.engine);
  op.device = words.device;
  return op;
}

bool MendBmufStart(Json& row) {
  if (!row.at("bmuf").get<bool>()) return false;
  const ParallelOptions options = ReadOptions(row);
  const internal::ReplicaScopes scopes(options);
  const std::vector<int>& ids = options.devices;
  const auto master = std::find(ids.begin(), ids.end(), row.at("options").value("master_device", ids[0]));
  const auto root = static_cast<size_t>(master - ids.begin());
  // Running means of a batch norm start equal, too.
  for (const Json& name : row.at("single").at("computed"))
    for (size_t i = 0; i < ids.size(); ++i)
      row["groups"][name.get<std::string>()][std::to_string(ids[i])] =
          StrCat(scopes.of[i].name.prefix, name.get<std::string>());
  row["init"] = MendNet(row.at("init"), [&](Net& net) {
    const DevicePtr place = options.is_gpu() ? scopes.device(0) : scopes.cpu;
    const std::string engine = options.rendezvous ? options.rendezvous->engine : "";
    const auto count = static_cast<size_t>(std::count_if(net.ops.begin(), net.ops.end(), [&](const Op& op) {
      return net.Str(op.outputs[0]).starts_with("broadcast_");
    }));
    std::vector<std::vector<std::string>> last(count);  // what the last user of each common world wrote
    size_t uses = 0;  // of them so far, by the nets that make replicas equal later
    for (const char* key : {"warmup", "global_update"}) {
      const std::string text = row.value(key, "");
      for (size_t at = 0; (at = text.find("type: \"Broadcast\"", at)) != std::string::npos; ++at) ++uses;
    }
    const std::vector<std::string> more =
        row.at("options").value("add_blobs_to_sync", std::vector<std::string>());
    for (const auto& group : row.at("groups").items()) {
      const std::string& name = group.key();
      if (std::find(more.begin(), more.end(), name) != more.end()) continue;
      std::vector<std::string> of = {scopes.of[root].name.prefix + name};
      for (size_t i = 0; i < ids.size(); ++i)
        if (i != root) of.push_back(scopes.of[i].name.prefix + name);
      const auto broadcast = [&](std::vector<std::string> sent, const DevicePtr& device) {
        const size_t slot = uses++ % count;
        OpWords words{"Broadcast", {StrCat("broadcast_", slot, "_cw")}, sent, device, name, engine,
                      last[slot]};
        words.inputs.insert(words.inputs.end(), sent.begin(), sent.end());
        last[slot] = std::move(sent);
        net.ops.push_back(MakeOp(net, words));
      };
      if (engine == "GLOO") {
        broadcast(of, place);
        continue;
      }
      if (!engine.empty()) {
        const std::string host = of[0] + "cpu";
        net.ops.push_back(MakeOp(net, {"CopyGPUToCPU", {of[0]}, {host}, place}));
        broadcast({host}, scopes.cpu);
        net.ops.push_back(MakeOp(net, {"CopyCPUToGPU", {host}, {of[0]}, place}));
      }
      for (size_t i = 0; i < ids.size(); ++i)
        if (i != root)
          net.ops.push_back(MakeOp(net, {"Copy",
                                         {of[0]},
                                         {scopes.of[i].name.prefix + name},
                                         options.is_gpu() ? scopes.device(i) : scopes.cpu}));
    }
  });
  return true;
}

bool MendFreeDevice(Json& row) {
  if (!row.at("options").value("dynamic_memory_management", false)) return false;
  row["net"] = MendNet(row.at("net"), [](Net& net) {
    for (size_t i = 1; i < net.ops.size(); ++i)
      if (net.Str(net.ops[i].type) == "Free") net.ops[i].device = net.ops[i - 1].device;
  });
  return true;
}

void Tally::Count(const std::string& difference, const std::string& reason) {
  if (!difference.empty()) {
    ++wrong_;
  } else if (reason.empty()) {
    ++agree_;
  } else {
    ++reasons_[reason];
  }
}

void Tally::Print(const std::string& what) const {
  std::string text = StrCat(what, ": ", agree_, " agree, differ with a reason:");
  const char* before = " ";
  for (const auto& [reason, rows] : reasons_) {
    text += StrCat(before, rows, " for ", reason);
    before = ", ";
  }
  std::puts(StrCat(text, "; ", wrong_, " wrong").c_str());
}

}  // namespace weft::test
