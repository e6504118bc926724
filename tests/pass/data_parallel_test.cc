// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Data parallel nets against the recorded ones of data_parallel.jsonl: all that Parallelize and
// ParallelizeBmuf make of a single-device model, op for op. Rows that Caffe2 gets wrong are listed with the
// fault (semantics section 8) and compared with the right value.
#include "core/pass/data_parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/pass/bmuf.h"
#include "core/pass/optimizer.h"
#include "core/pass/parallel_tools.h"
#include "proto/codec.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using test::Json;
using test::NetFromText;

// The update that the recorded rows call param_update.
Result<void> ParamUpdate(ModelBuilder& model, const Scope& scope) {
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
  const Symbol rate = model.net.Add({.type = "LearningRate",
                                     .inputs = {iter},
                                     .outputs = outputs("LR"),
                                     .args = {{"base_lr", -0.1f}, {"policy", "fixed"}}},
                                    scope)[0];
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

ParallelCallbacks Callbacks(const SingleModel& model, const std::string& opt) {
  ParallelCallbacks callbacks = CallbacksOf(model);
  if (opt == "param_update") callbacks.param_update = ParamUpdate;
  if (const std::optional<Optimizer> optimizer = OptimizerOf(opt))
    callbacks.optimizer = [optimizer](ModelBuilder& built) {
      std::vector<TrainedParam> params;
      for (const auto& [param, gradient] : built.gradients) params.push_back({param, gradient, {}});
      return AddOptimizer(built.registry, built.net, built.init, *optimizer, params);
    };
  return callbacks;
}

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

ParallelOptions ReadOptions(const Json& json) {
  ParallelOptions options;
  options.devices = json.at("devices").get<std::vector<int>>();
  options.device_type = json.value("cpu_device", false) ? kCpu : kCuda;
  options.use_nccl = json.value("use_nccl", false);
  options.shared_model = json.value("shared_model", false);
  options.combine_spatial_bn = json.value("combine_spatial_bn", false);
  options.optimize_gradient_memory = json.value("optimize_gradient_memory", false);
  options.dynamic_memory_management = json.value("dynamic_memory_management", false);
  options.max_concurrent_distributed_ops = json.value("max_concurrent_distributed_ops", 16);
  options.blobs_to_keep = json.value("blobs_to_keep", std::vector<std::string>());
  if (json.contains("rendezvous")) {
    const Json& meet = json.at("rendezvous");
    options.rendezvous = Rendezvous{.kv_handler = meet.at("kv_handler"),
                                    .num_shards = meet.at("num_shards"),
                                    .shard_id = meet.at("shard_id"),
                                    .engine = meet.at("engine"),
                                    .transport = meet.at("transport").get<std::string>(),
                                    .interface = meet.at("interface").get<std::string>()};
  }
  return options;
}

ModelBuilder NewModel(NameRegistry& registry, const SingleModel& model) {
  return {registry, NetBuilder(registry, model.net.Str(model.net.name), model.net.symbols),
          NetBuilder(registry, model.init.Str(model.init.name), model.net.symbols)};
}

// Caffe2 repeats fills, and its order of Copy operators that make replicas equal and of Free operators is
// that of a set: repeats dropped, runs sorted.
Net Canonical(Net net) {
  std::vector<Op> once;
  for (Op& op : net.ops) {
    const bool fill = net.Str(op.type) == "ConstantFill" && op.inputs.empty();
    const bool seen = fill && std::any_of(once.begin(), once.end(), [&](const Op& had) {
                        return SameOp(*net.symbols, had, *net.symbols, op);
                      });
    if (!seen) once.push_back(std::move(op));
  }
  net.ops = std::move(once);
  const bool is_init = net.Str(net.name).find("init") != std::string_view::npos;
  const std::string_view sorted = is_init ? "Copy" : "Free";
  for (size_t i = 0; i < net.ops.size();) {
    size_t end = i;
    while (end < net.ops.size() && net.Str(net.ops[end].type) == sorted) ++end;
    std::sort(net.ops.begin() + static_cast<long>(i), net.ops.begin() + static_cast<long>(end),
              [&](const Op& a, const Op& b) { return net.Str(a.outputs[0]) < net.Str(b.outputs[0]); });
    i = std::max(end, i + 1);
  }
  return net;
}

// "" or the first difference.
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

Json GradientJson(const SymbolTable& table, const Gradient& gradient) {
  if (gradient.is_dense()) return std::string(table.Str(gradient.dense));
  return Json::array({std::string(table.Str(gradient.indices)), std::string(table.Str(gradient.values))});
}

Json Names(const SymbolTable& table, const std::vector<Symbol>& symbols) {
  Json names = Json::array();
  for (Symbol symbol : symbols) names.push_back(std::string(table.Str(symbol)));
  return names;
}

// The first part of a row that is not as recorded, "" when all is.
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

Result<ParallelNets> Make(const SingleModel& model, const Json& row, const ParallelOptions& options) {
  const std::string opt = row.at("opt").is_null() ? "" : row.at("opt").get<std::string>();
  NameRegistry registry;
  for (const char* kind : {"SgdOptimizer", "AdagradOptimizer", "AdamOptimizer", "RmsPropOptimizer"})
    for (int i = InstanceOf(row.at("net")); i > 0; --i) registry.NextInstance(kind);
  const ParallelCallbacks callbacks = Callbacks(model, opt);
  if (!row.at("bmuf").get<bool>())
    return Parallelize(NewModel(registry, model), StandardOps(), callbacks, options);
  BmufOptions bmuf;
  bmuf.parallel = options;
  bmuf.parallel.max_concurrent_distributed_ops = 4;
  bmuf.nesterov = row.at("options").at("nesterov");
  return ParallelizeBmuf(NewModel(registry, model), StandardOps(), callbacks, bmuf);
}

// Changes a row into what is right, or returns false when it is right as it is.
using Mend = bool (*)(Json& row);

Json MendNet(const Json& text, const std::function<void(Net&)>& edit) {
  Net net = NetFromText(text.get<std::string>());
  edit(net);
  return NetToText(net);
}

// B40: the recorded devices start from different random parameters.
bool MendBmufStart(Json& row) {
  if (!row.at("bmuf").get<bool>()) return false;
  row["init"] = MendNet(row.at("init"), [&](Net& net) {
    for (const auto& [name, blobs] : row.at("groups").items()) {
      Op copy;
      copy.type = net.Intern("Copy");
      copy.name = net.Intern("");
      for (const auto& [device, blob] : blobs.items())
        (copy.inputs.empty() ? copy.inputs : copy.outputs).push_back(net.Intern(blob.get<std::string>()));
      const bool cpu = row.at("options").at("cpu_device");
      for (const Op& op : net.ops)
        if (op.outputs[0] == (cpu ? copy.inputs[0] : copy.outputs[0])) copy.device = op.device;
      net.ops.push_back(std::move(copy));
    }
  });
  return true;
}

// B52: a recorded Free has no device.
bool MendFreeDevice(Json& row) {
  if (!row.at("options").value("dynamic_memory_management", false)) return false;
  row["net"] = MendNet(row.at("net"), [](Net& net) {
    for (size_t i = 1; i < net.ops.size(); ++i)
      if (net.Str(net.ops[i].type) == "Free") net.ops[i].device = net.ops[i - 1].device;
  });
  return true;
}

constexpr std::pair<std::string_view, Mend> kMends[] = {{"B40", MendBmufStart}, {"B52", MendFreeDevice}};

// The recorded cut goes to the last operator that writes an output, and a Free counts as one: the backward
// pass and the other device come along. Right is the forward part of the first device alone.
bool MendPredictorFrees(Json& row) {
  if (!row.at("options").value("dynamic_memory_management", false)) return false;
  row["predictor"] = MendNet(row.at("predictor"), [](Net& net) {
    std::erase_if(net.ops, [&](const Op& op) { return net.Str(op.type) == "Free"; });
    net.ops.resize(4);
    std::erase_if(net.external_inputs, [&](Symbol blob) { return net.Str(blob).starts_with("gpu_1/"); });
  });
  return true;
}

TEST(DataParallel, PredictorsAreCaffe2s) {
  int agree = 0, mended = 0;
  for (Json row : test::ReadJsonl("caffe2/data_parallel.jsonl")) {
    if (!row.contains("predictor")) continue;
    SCOPED_TRACE(row.at("name").get<std::string>());
    const SingleModel model = ReadModel(row.at("single"));
    const ParallelOptions options = ReadOptions(row.at("options"));
    const Result<ParallelNets> nets = Make(model, row, options);
    ASSERT_TRUE(nets.has_value());
    const Result<Net> found =
        ExtractReplicaPredictor(*nets, options, StandardOps(), {.inputs = {"data"}, .outputs = {"softmax"}});
    ASSERT_TRUE(found.has_value()) << found.error().message;
    mended += MendPredictorFrees(row);
    // External inputs are in the order of a set there.
    Net expected = NetFromText(row.at("predictor").get<std::string>()), sorted = *found;
    for (Net* net : {&expected, &sorted})
      std::sort(net->external_inputs.begin(), net->external_inputs.end(),
                [&](Symbol a, Symbol b) { return net->Str(a) < net->Str(b); });
    const std::string difference = Differs(sorted, expected);
    EXPECT_EQ(difference, "");
    agree += difference.empty();
  }
  std::puts(StrCat("predictors: ", agree, " agree, of them ", mended, " with Free operators mended").c_str());
}

TEST(DataParallel, CheckpointsReachAllReplicas) {
  for (const Json& row : test::ReadJsonl("caffe2/data_parallel.jsonl")) {
    if (row.at("name") != "dist_gpu_GLOO" && row.at("name") != "gpu_mlp_2_nccl0") continue;
    const SingleModel model = ReadModel(row.at("single"));
    const ParallelOptions options = ReadOptions(row.at("options"));
    const Result<ParallelNets> nets = Make(model, row, options);
    ASSERT_TRUE(nets.has_value());
    const Result<CheckpointSync> sync = SyncAfterCheckpoint(*nets, options);
    ASSERT_TRUE(sync.has_value()) << sync.error().message;
    EXPECT_EQ(sync->sync.ops.size(), 8u);
    EXPECT_EQ(sync->init.has_value(), options.rendezvous.has_value());
    EXPECT_EQ(sync->sync.Str(sync->sync.ops[0].type), options.rendezvous ? "Broadcast" : "Copy");
    EXPECT_FALSE(SyncAfterCheckpoint(*nets, options, {"nothing"}).has_value());
  }
}

TEST(DataParallel, NetsAreConvertedForADevice) {
  Net net = NetFromText(
      R"(name: "n" op { input: "x" output: "y" type: "Relu" control_input: "t" } external_input: "x")");
  DeviceOption gpu;
  gpu.device_type = kCuda;
  gpu.device_id = 3;
  const Result<Net> made =
      ConvertNetForDevice(std::move(net), {NameScope().Enter("gpu_3"), DeviceScope().Enter(gpu)});
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(NetToText(*made),
            NetToText(NetFromText(
                R"(name: "n" op { input: "gpu_3/x" output: "gpu_3/y" type: "Relu" control_input: "gpu_3/t"
                device_option { device_type: 1 device_id: 3 } } external_input: "gpu_3/x")")));
}

TEST(DataParallel, NetsAreCaffe2s) {
  int agree = 0, wrong = 0;
  std::map<std::string, int> reasons;
  for (Json row : test::ReadJsonl("caffe2/data_parallel.jsonl")) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    if (!row.contains("single")) {  // an error; see SparseGradientsOnCpus
      EXPECT_EQ(row.at("error"), "AssertionError('Synchronizing gradient slices not supported')");
      ++reasons["B46"];
      continue;
    }
    const SingleModel model = ReadModel(row.at("single"));
    ParallelOptions options = ReadOptions(row.at("options"));
    std::string reason;
    for (const auto& [fault, mend] : kMends)
      if (mend(row)) reason = fault;
    // B56: the recorded plan overwrites the gradient of sq with twice its value.
    if (row.at("name") == "cpu_twice_2_rmsprop") {
      options.gradient_faults = kFaultOverwrite;
      reason = "B56";
    }
    const Result<ParallelNets> nets = Make(model, row, options);
    const std::string difference =
        nets.has_value() ? DiffersFromRow(*nets, options, row) : nets.error().message;
    EXPECT_EQ(difference, "");
    if (!difference.empty()) {
      ++wrong;
    } else if (reason.empty()) {
      ++agree;
    } else {
      ++reasons[reason];
    }
  }
  std::string listed;
  for (const auto& [reason, rows] : reasons) listed += StrCat(", ", rows, " for ", reason);
  std::puts(StrCat("data parallel models: ", agree, " agree, differ with a reason:", listed.substr(1), "; ",
                   wrong, " wrong")
                .c_str());
}

}  // namespace
}  // namespace weft
