// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What Caffe2's data_parallel_model gets wrong (semantics section 8, B39-B51) and what no recorded row holds:
// right here. Collectives are in one order on all ranks; nets pass the checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "core/base/str.h"
#include "core/check/check_net.h"
#include "core/pass/bmuf.h"
#include "core/pass/comm_cost.h"
#include "core/pass/optimizer.h"
#include "core/pass/parallel_plan.h"
#include "core/pass/parallel_words.h"
#include "tests/support/compact_net.h"

namespace weft {
namespace {

using testing::CompactNet;
using testing::ToCompact;

SingleModel Model(std::string_view init, std::string_view net, std::vector<std::string_view> params,
                  std::vector<std::string_view> computed = {}) {
  SingleModel model;
  model.init = CompactNet(StrCat("name m_init; ", init));
  model.net = CompactNet(StrCat("name m; ", net), model.init.symbols);
  model.losses = {model.net.Intern("loss")};
  for (std::string_view param : params) model.params.push_back(model.net.Intern(param));
  for (std::string_view param : computed) model.computed_params.push_back(model.net.Intern(param));
  return model;
}

SingleModel Dense() {
  return Model("XavierFill() -> w; ConstantFill() -> b",
               "in x w b; FC(x, w, b) -> y; AveragedLoss(y) -> loss", {"w", "b"});
}
SingleModel Sparse() {
  return Model("UniformFill() -> table; XavierFill() -> w; ConstantFill() -> b",
               "in table rows w b; Gather(table, rows) -> x; FC(x, w, b) -> y; AveragedLoss(y) -> loss",
               {"table", "w", "b"});
}
SingleModel Normed(std::string_view order = "NCHW") {
  SingleModel model =
      Model("ConstantFill() -> s; ConstantFill() -> b; ConstantFill() -> rm; ConstantFill() -> riv",
            "in x s b rm riv; SpatialBN(x, s, b, rm, riv) -> y, rm, riv, sm, siv; AveragedLoss(y) -> loss",
            {"s", "b"}, {"rm", "riv"});
  model.net.ops[0].args = ArgList({MakeArg(model.net.Intern("is_test"), int64_t{0}),
                                   MakeArg(model.net.Intern("order"), std::string(order))});
  return model;
}

SingleModel TwoLayers() {
  return Model("XavierFill() -> w1; ConstantFill() -> b1; XavierFill() -> w2; ConstantFill() -> b2",
               "in x w1 b1 w2 b2; FC(x, w1, b1) -> h; FC(h, w2, b2) -> y; AveragedLoss(y) -> loss",
               {"w1", "b1", "w2", "b2"});
}
// Every parameter has 120 elements.
void GiveShapes(SingleModel& model) {
  for (Op& op : model.init.ops)
    op.args = ArgList({MakeArg(model.init.Intern("shape"), std::vector<int64_t>{30, 4})});
}

struct Case {
  SingleModel model = Dense();
  ParallelOptions options{};
  std::optional<BmufOptions> bmuf{};
  bool training = true;
  bool both_updates = false;

  explicit Case(SingleModel of, std::string_view devices = "cpu:0-1") : model(std::move(of)) {
    const Result<DeviceList> list = ParseDeviceList(devices);
    options.devices = list->ids;
    options.device_type = list->type;
  }
  Result<ParallelNets> Make() {
    ParallelCallbacks callbacks = CallbacksOf(model);
    const auto per_device = [](ModelBuilder& built, const Scope& scope) -> Result<void> {
      for (const auto& [param, gradient] : built.gradients) {
        if (!built.net.net().Str(param).starts_with(scope.name.prefix)) continue;
        built.net.Add({.type = "WeightedSum",
                       .inputs = {param, "one", gradient.dense, "rate"},
                       .outputs = std::vector<BlobRef>{param}},
                      scope);
      }
      return {};
    };
    const auto whole = [](ModelBuilder& built) {
      std::vector<TrainedParam> params;
      for (const auto& [param, gradient] : built.gradients) params.push_back({param, gradient, {}});
      return AddOptimizer(built.registry, built.net, built.init, Sgd{.momentum = 0.9f}, params);
    };
    if (training && (bmuf || both_updates)) callbacks.param_update = per_device;
    if (training && !bmuf) callbacks.optimizer = whole;
    NameRegistry registry;
    ModelBuilder builder{registry, NetBuilder(registry, "m", model.net.symbols),
                         NetBuilder(registry, "m_init", model.net.symbols)};
    if (!bmuf) return Parallelize(std::move(builder), StandardOps(), callbacks, options);
    bmuf->parallel = options;
    return ParallelizeBmuf(std::move(builder), StandardOps(), callbacks, *bmuf);
  }
  std::string Message() {
    const Result<ParallelNets> made = Make();
    return made.has_value() ? "" : made.error().message;
  }
};

// "Type(inputs) -> outputs" of the operators of these types.
std::vector<std::string> OpsOf(const Net& net, std::vector<std::string_view> types) {
  std::vector<std::string> out;
  Net one = WithoutOps(net);
  one.external_inputs.clear();
  for (const Op& op : net.ops) {
    if (std::find(types.begin(), types.end(), net.Str(op.type)) == types.end()) continue;
    one.ops = {op};
    out.push_back(ToCompact(one));
  }
  return out;
}
bool Contains(const std::vector<std::string>& list, std::string_view part) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

Rendezvous Meet(std::string engine, int shards = 2, int shard = 0) {
  return {.num_shards = shards, .shard_id = shard, .engine = std::move(engine)};
}

TEST(DataParallelFaults, B39GlobalNetReducesForItself) {
  for (const bool nccl : {true, false}) {
    Case of(Dense(), "cuda:0-1");
    of.bmuf.emplace();
    of.options.use_nccl = nccl;
    of.options.peer_access = [](int, int) { return false; };
    const Result<ParallelNets> nets = of.Make();
    ASSERT_TRUE(nets.has_value()) << nets.error().message;
    EXPECT_TRUE(OpsOf(nets->net, {"NCCLAllreduce", "Copy"}).empty());
    const auto global = OpsOf(*nets->global_update, {"NCCLAllreduce", "Copy"});
    EXPECT_TRUE(Contains(global, nccl ? "NCCLAllreduce(gpu_0/w, gpu_1/w) -> gpu_0/w, gpu_1/w"
                                      : "Copy(gpu_1/w) -> gpu_0/w_gpu1_copy"))
        << StrJoin(global, "\n");
  }
}

TEST(DataParallelFaults, B40BmufStartsEqual) {
  Case of(Dense());
  of.bmuf.emplace();
  const Result<ParallelNets> nets = of.Make();
  ASSERT_TRUE(nets.has_value());
  EXPECT_TRUE(Contains(OpsOf(nets->init, {"Copy"}), "Copy(cpu_0/w) -> cpu_1/w"));
}

TEST(DataParallelFaults, BmufMasterGivesItsModelToAll) {
  Case of(Dense());
  of.bmuf.emplace();
  of.bmuf->master_device = 1;
  of.bmuf->warmup_iterations = 3;
  of.bmuf->reset_momentum_sgd = true;
  const Result<ParallelNets> nets = of.Make();
  ASSERT_TRUE(nets.has_value()) << nets.error().message;
  const auto copies = OpsOf(*nets->global_update, {"Copy"});
  EXPECT_TRUE(Contains(copies, "Copy(cpu_1/w) -> cpu_0/w")) << StrJoin(copies, "\n");
  EXPECT_EQ(OpsOf(*nets->warmup, {"Copy"}).size(), 4u);
  EXPECT_EQ(nets->warmup_iterations, 3);
  of.bmuf->master_device = 7;
  EXPECT_EQ(of.Message(), "master_device: 7 is none of the devices");
}

TEST(DataParallelFaults, B42AndOthersAreRefusedUpFront) {
  Case shared(Dense());
  shared.options.shared_model = true;
  shared.options.rendezvous = Meet("GLOO");
  EXPECT_EQ(shared.Message(),
            "shared_model: replicas can share parameters on one machine only, num_shards is 2");
  shared = Case(Dense(), "cuda:0-1");
  shared.options.shared_model = true;
  EXPECT_EQ(shared.Message(), "shared_model: replicas can share parameters on CPUs only");
  Case forward(Normed());
  forward.options.combine_spatial_bn = true;
  forward.training = false;
  EXPECT_EQ(forward.Message(),
            "combine_spatial_bn: needs a parameter update; a forward-only model combines nothing");
  Case memory(Dense());
  memory.options.optimize_gradient_memory = memory.options.dynamic_memory_management = true;
  EXPECT_EQ(memory.Message(), "optimize_gradient_memory and dynamic_memory_management exclude each other");
  Case both(Dense());
  both.both_updates = true;
  EXPECT_EQ(both.Message(), "give an update for each device or one optimizer, not both");
  Case none(Dense());
  none.options.devices = {};
  EXPECT_EQ(none.Message(), "devices: at least one is needed, none given");
  none.options.devices = {1, 0, 1};
  EXPECT_EQ(none.Message(), "devices: 1 is given twice");
  Case shard(Dense());
  shard.options.rendezvous = Meet("GLOO", 2, 2);
  EXPECT_EQ(shard.Message(), "rendezvous: shard_id must be below num_shards (2), found 2");
}

TEST(DataParallelFaults, B43ParametersTwiceAreNamed) {
  Case of(Model("XavierFill() -> w", "in x w; MatMul(x, w) -> y; AveragedLoss(y) -> loss", {"w", "w"}));
  EXPECT_EQ(of.Message(), "the model has the parameter cpu_0/w twice");
  of = Case(Model("", "in x w; MatMul(x, w) -> y; AveragedLoss(y) -> loss", {"w"}));
  EXPECT_EQ(of.Message(), "the init net does not make the parameter cpu_0/w");
}

TEST(DataParallelFaults, B44LearningRatesWhateverMadeThem) {
  Case of(Dense());
  const Result<ParallelNets> nets = of.Make();
  ASSERT_TRUE(nets.has_value());
  ASSERT_EQ(nets->learning_rates.size(), 1u);
  EXPECT_EQ(nets->net.Str(nets->learning_rates[0]), "SgdOptimizer_0_lr_cpu");
}

TEST(DataParallelFaults, B45BarrierRunsOnce) {
  Case of(Dense());
  of.options.rendezvous = Meet("GLOO");
  const Result<ParallelNets> nets = of.Make();
  ASSERT_TRUE(nets.has_value());
  const Result<Plan> plan = PlanOf(*nets, {.iterations = 100});
  ASSERT_TRUE(plan.has_value());
  std::string steps;
  for (const Step& step : plan->steps) {
    StrAppend(steps, plan->Str(step.name), " x", step.num_iter.value_or(1), ":");
    for (Symbol net : step.networks) StrAppend(steps, " ", plan->Str(net));
    steps += "; ";
  }
  EXPECT_EQ(steps, "init x1: barrier_init_net m_init; barrier x1: pre_training_barrier_net; train x100: m; ");
}

TEST(DataParallelFaults, B46SparseGradientsOnCpusAndAcrossMachines) {
  Case of(Sparse());
  Result<ParallelNets> nets = of.Make();
  ASSERT_TRUE(nets.has_value()) << nets.error().message;
  const std::vector<std::string> gathered = {
      "Concat(cpu_0/rows, cpu_1/rows) -> cpu_0/rows:x_grad_index_concat, cpu_0/rows:x_grad_index_splitinfo",
      "Concat(cpu_0/x_grad, cpu_1/x_grad) -> cpu_0/rows:x_grad_val_concat, cpu_0/rows:x_grad_val_splitinfo"};
  EXPECT_EQ(OpsOf(nets->net, {"Concat"}), gathered);
  EXPECT_TRUE(Contains(OpsOf(nets->net, {"Copy"}), "Copy(cpu_0/rows:x_grad_val_concat) -> cpu_1/x_grad"));
  of.options.rendezvous = Meet("GLOO");
  nets = of.Make();
  ASSERT_TRUE(nets.has_value()) << nets.error().message;
  EXPECT_EQ(OpsOf(nets->net, {"Allgather"}).size(), 2u);
}

TEST(DataParallelFaults, B47CpuBlobsAreSentFromTheCpu) {
  Case of(Dense(), "cpu:0-1");
  of.options.rendezvous = Meet("MPI");
  of.options.rendezvous->kv_handler.clear();
  Result<ParallelNets> nets = of.Make();
  ASSERT_TRUE(nets.has_value());
  EXPECT_TRUE(OpsOf(nets->init, {"CopyGPUToCPU", "CopyCPUToGPU"}).empty());
  EXPECT_TRUE(Contains(OpsOf(nets->init, {"Broadcast"}), "cpu_0/w) -> cpu_0/w"));
  EXPECT_FALSE(nets->barrier.has_value());
  Case gpu(Dense(), "cuda:0-1");
  gpu.options.rendezvous = of.options.rendezvous;
  nets = gpu.Make();
  EXPECT_TRUE(Contains(OpsOf(nets->init, {"CopyGPUToCPU"}), "CopyGPUToCPU(gpu_0/w) -> gpu_0/wcpu"));
  EXPECT_TRUE(Contains(OpsOf(nets->net, {"Allreduce"}), "gpu_0/w_grad_red) -> gpu_0/w_grad_red"));
}

TEST(DataParallelFaults, B48AnyDevicesAndOrders) {
  Case of(Normed("NHWC"), "cuda:2,5");
  of.options.combine_spatial_bn = true;
  const Result<ParallelNets> nets = of.Make();
  ASSERT_TRUE(nets.has_value()) << nets.error().message;
  int stats = 0;
  for (const Op& op : nets->net.ops)
    if (nets->net.Str(op.type).starts_with("Channel"))
      stats += ArgString(*nets->net.symbols, op.args, "order", "NCHW") == "NHWC";
  EXPECT_EQ(stats, 4);
  EXPECT_TRUE(Contains(OpsOf(nets->net, {"CopyGPUToCPU"}), "gpu_5/x_sums) -> cpu_0/x_sums_gpu_5_copy"));
}

TEST(DataParallelFaults, B50ForeignBlobsAreReportedOnCpusToo) {
  Case of(Dense());
  ParallelCallbacks callbacks = CallbacksOf(of.model);
  const auto plain = callbacks.forward;
  callbacks.forward = [&](ModelBuilder& to, const Scope& scope, float scale) {
    to.net.Add({.type = "Relu", .inputs = {to.net.Intern("cpu_0/x")}, .outputs = std::vector<BlobRef>{"z"}},
               scope);
    return plain(to, scope, scale);
  };
  callbacks.param_update = [](ModelBuilder&, const Scope&) -> Result<void> { return {}; };
  NameRegistry registry;
  const Result<ParallelNets> nets = Parallelize({registry, NetBuilder(registry, "m", of.model.net.symbols),
                                                 NetBuilder(registry, "m_init", of.model.net.symbols)},
                                                StandardOps(), callbacks, of.options);
  ASSERT_FALSE(nets.has_value());
  EXPECT_EQ(nets.error().message, "Blob cpu_0/x of op Relu, should have namescope cpu_1");
}

TEST(DataParallelFaults, B51PartsOfSumsShareMemory) {
  Case of(Model("XavierFill() -> w; ConstantFill() -> b",
                "in x w b; FC(x, w, b) -> y; Tanh(y) -> t; Sigmoid(y) -> u; Mul(t, u) -> v; "
                "AveragedLoss(v) -> loss",
                {"w", "b"}));
  of.options.optimize_gradient_memory = true;
  const Result<ParallelNets> nets = of.Make();
  ASSERT_TRUE(nets.has_value());
  std::string made;
  for (const Op& op : nets->net.ops)
    for (Symbol blob : op.outputs) StrAppend(made, " ", nets->net.Str(blob));
  EXPECT_NE(made.find("cpu_0/__m0_shared"), std::string::npos);
  EXPECT_EQ(made.find("autosplit"), std::string::npos) << made;
}

// The collectives of a net, in order: those that all ranks must enter together.
std::vector<std::string> Collectives(const ParallelNets& nets) {
  std::vector<std::string> out;
  const auto add = [&](const Net& net) {
    for (const Op& op : net.ops) {
      const std::string_view type = net.Str(op.type);
      if (type == "Allreduce" || type == "Broadcast" || type == "Allgather" || type == "Barrier" ||
          type == "Reduce" || type.find("CommonWorld") != std::string_view::npos || type.starts_with("NCCL"))
        out.push_back(StrCat(type, " ", net.Str(op.name)));
    }
  };
  for (const std::optional<Net>* net : {&nets.barrier_init, &nets.barrier})
    if (*net) add(**net);
  add(nets.init);
  add(nets.net);
  if (nets.update) add(*nets.update);
  if (nets.global_update) add(*nets.global_update);
  return out;
}

// Each option that changes what is exchanged, and some together.
using SetOptions = void (*)(ParallelOptions&);
const SetOptions kOptions[] = {
    [](ParallelOptions&) {},
    [](ParallelOptions& o) { o.use_nccl = true; },
    [](ParallelOptions& o) { o.combine_spatial_bn = true; },
    [](ParallelOptions& o) { o.broadcast_computed_params = false; },
    [](ParallelOptions& o) { o.optimize_gradient_memory = true; },
    [](ParallelOptions& o) { o.dynamic_memory_management = true; },
    [](ParallelOptions& o) { o.bucket_count = 2; },
    [](ParallelOptions& o) { o.bucket_bytes = 500; },
    [](ParallelOptions& o) { o.accumulate = 2; },
    [](ParallelOptions& o) { o.max_concurrent_distributed_ops = 2; },
    [](ParallelOptions& o) { o.shard_optimizer = true; },
    [](ParallelOptions& o) { o.shard_optimizer = o.use_nccl = o.combine_spatial_bn = true; },
    [](ParallelOptions& o) {
      o.shard_optimizer = true;
      o.bucket_count = o.accumulate = 2;
    },
    [](ParallelOptions& o) {
      o.shard_optimizer = o.dynamic_memory_management = true;
      o.max_concurrent_distributed_ops = 1;
    },
    [](ParallelOptions& o) {
      o.bucket_count = o.accumulate = 2;
      o.use_nccl = true;
    },
};

TEST(DataParallel, CollectivesComeInOneOrderOnAllRanks) {
  int made = 0, refused = 0;
  for (const char* engine : {"GLOO", "NCCL", "MPI"})
    for (const char* devices : {"cpu:0-2", "cuda:0-1"})
      for (size_t options = 0; options < std::size(kOptions); ++options)
        for (const bool bmuf : {false, true})
          for (const bool sparse : {false, true}) {
            if (bmuf && sparse) continue;
            SCOPED_TRACE(
                StrCat(engine, " ", devices, " ", options, bmuf ? " bmuf" : "", sparse ? " sparse" : ""));
            std::vector<std::string> first;
            for (int shard = 0; shard < 4; ++shard) {
              Case of(sparse ? Sparse() : Normed(), devices);
              if (!sparse) GiveShapes(of.model);
              if (bmuf) of.bmuf.emplace();
              kOptions[options](of.options);
              of.options.rendezvous = Meet(engine, 4, shard);
              const Result<ParallelNets> nets = of.Make();
              refused += !nets.has_value();
              if (!nets.has_value() && (bmuf || sparse)) break;  // together they make no sense
              ASSERT_TRUE(nets.has_value()) << nets.error().message;
              ++made;
              const std::vector<std::string> found = Collectives(*nets);
              EXPECT_GT(found.size(), 3u);
              if (shard == 0) first = found;
              EXPECT_EQ(found, first);
            }
          }
  std::puts(
      StrCat("collectives in one order: ", made, " plans of ranks, ", refused, " requests refused").c_str());
}

TEST(DataParallel, NetsPassTheChecks) {
  for (const char* devices : {"cpu:0-1", "cuda:0-3"})
    for (const char* engine : {"", "GLOO", "MPI"})
      for (int kind = 0; kind < 10; ++kind) {
        Case of(kind == 1 || kind == 6 ? Sparse() : kind == 2 ? Normed() : Dense(), devices);
        of.options.combine_spatial_bn = kind == 2;
        of.options.optimize_gradient_memory = kind == 3;
        if (kind == 4) of.bmuf.emplace();
        if (kind == 5) of.options.bucket_count = 2;
        if (kind == 6) of.options.bucket_bytes = 1 << 20;
        if (kind == 7) of.options.accumulate = 2;
        if (kind >= 8) of.options.shard_optimizer = true;
        if (kind == 9) of.options.bucket_count = of.options.accumulate = 2;
        if (*engine) of.options.rendezvous = Meet(engine);
        SCOPED_TRACE(StrCat(devices, " ", engine, " ", kind));
        const Result<ParallelNets> nets = of.Make();
        ASSERT_TRUE(nets.has_value()) << nets.error().message;
        std::vector<const Net*> all = {&nets->init, &nets->net};
        for (const auto* net :
             {&nets->update, &nets->global_init, &nets->global_update, &nets->barrier_init, &nets->barrier})
          if (*net) all.push_back(&**net);
        for (const Net* net : all)
          for (const Diagnostic& finding : CheckNet(*net, {.ops = &StandardOps()})) {
            // As in Caffe2: no net of a model says what it gives, and the global net of BMUF copies the sum
            // to all devices before it copies the new parameters there.
            const bool known = finding.code == FindingCode::kNoExternalOutputs ||
                               (finding.code == FindingCode::kDeadWrite && net == &*nets->global_update);
            EXPECT_TRUE(known || finding.severity == Severity::kNote)
                << net->Str(net->name) << ": " << finding.message << " [" << FindingCodeName(finding.code)
                << "]";
          }
      }
}

// The second layer's gradients are summed while the first layer's still wait, in one order on all machines.
TEST(GradientBuckets, AreReducedWhileTheBackwardPassStillRuns) {
  std::vector<std::vector<std::string>> orders;
  for (int shard = 0; shard < 3; ++shard) {
    Case of(TwoLayers(), "cuda:0-1");
    GiveShapes(of.model);
    of.options.bucket_count = 2;
    of.options.rendezvous = Meet("GLOO", 3);
    of.options.rendezvous->shard_id = shard;
    const Result<ParallelNets> nets = of.Make();
    ASSERT_TRUE(nets.has_value()) << nets.error().message;
    size_t first_sum = nets->net.ops.size(), last_gradient = 0;
    orders.emplace_back();
    for (size_t i = 0; i < nets->net.ops.size(); ++i) {
      const Op& op = nets->net.ops[i];
      if (nets->net.Str(op.type) == "Allreduce") {
        first_sum = std::min(first_sum, i);
        orders.back().emplace_back(nets->net.Str(op.outputs[0]));
      }
      if (op.is_gradient_op) last_gradient = i;
    }
    EXPECT_LT(first_sum, last_gradient);
  }
  EXPECT_EQ(orders[0].size(), 2u);
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_EQ(orders[0], orders[2]);
}

TEST(GradientBuckets, MoveTheSameBytesInFewerMessages) {
  const auto cost = [](int count) {
    Case of(TwoLayers(), "cuda:0-3");
    GiveShapes(of.model);
    of.options.bucket_count = count;
    of.options.rendezvous = Meet("MPI", 8);
    const Result<ParallelNets> nets = of.Make();
    EXPECT_TRUE(nets.has_value());
    return CommunicationOf(nets->net, of.options, DenseBytes(nets->init, nets->net, nets->gradients));
  };
  const CommCost apart = cost(0), fused = cost(2);
  EXPECT_EQ(fused.unknown, 0u);
  EXPECT_EQ(apart.unknown, 0u);
  EXPECT_EQ(fused.network_bytes, apart.network_bytes);
  EXPECT_EQ(fused.network_messages * 2, apart.network_messages);
}

TEST(CommCost, CountsWhatMoves) {
  const auto cost = [](std::string_view devices, bool nccl, int shards, bool sharded = false) {
    Case of(Dense(), devices);
    GiveShapes(of.model);
    of.options.use_nccl = nccl;
    of.options.shard_optimizer = sharded;
    if (shards > 1) of.options.rendezvous = Meet("GLOO", shards);
    const Result<ParallelNets> nets = of.Make();
    return CommunicationOf(nets->net, of.options, DenseBytes(nets->init, nets->net, nets->gradients));
  };
  // Two gradients of 480 bytes. Two devices: one sum over, one copy back.
  const CommCost pair = cost("cuda:0-1", false, 1);
  EXPECT_EQ(pair.local_bytes, 2 * (480 + 480));
  EXPECT_EQ(pair.ops.size(), 4u);
  EXPECT_EQ(pair.unknown, 0u);
  // Sharded: over to the owner, and the parameter back. With NCCL the bytes of a ring.
  EXPECT_EQ(cost("cuda:0-1", false, 1, true).local_bytes, pair.local_bytes);
  EXPECT_EQ(cost("cuda:0-3", true, 1, true).local_bytes, 2 * 4 * 720);
  // A ring of four: each device sends 2 * 3/4 of a gradient.
  EXPECT_EQ(cost("cuda:0-3", true, 1).local_bytes, 2 * 4 * 720);
  // Across machines the bytes that one sends grow to twice the gradient, the messages with the machines.
  for (const int shards : {8, 64, 512}) {
    const CommCost many = cost("cuda:0", false, shards);
    EXPECT_EQ(many.network_bytes, 2 * (2 * (shards - 1) * 480 / shards));
    EXPECT_EQ(many.network_messages, 2 * 2 * (shards - 1));
    EXPECT_EQ(many.local_bytes, 0);
  }
}

TEST(ParallelWords, AreRead) {
  EXPECT_EQ(ParseDeviceList("cuda:0-2,7")->ids, (std::vector<int>{0, 1, 2, 7}));
  EXPECT_EQ(ParseDeviceList("cpu").error().message,
            "devices: expected a kind and numbers such as cpu:0-3 or cuda:0,2, found \"cpu\"");
  EXPECT_EQ(ParseDeviceList("cpu:3-1").error().message,
            "devices: expected a number or a range such as 0-3, found \"3-1\"");
  EXPECT_EQ(ParseDeviceList("cuda:2147483646-2147483647")->ids, (std::vector<int>{2147483646, 2147483647}));
  EXPECT_EQ(ParseDeviceList("cpu:0-65535")->ids.size(), 65536u);
  EXPECT_EQ(ParseDeviceList("cpu:0-65536").error().message,
            "devices: expected at most 65536 in a range, found \"0-65536\"");
  const Result<Optimizer> sgd = ParseOptimizer("sgd:base_lr=0.1,momentum=0.9,policy=step,stepsize=10");
  ASSERT_TRUE(sgd.has_value());
  EXPECT_EQ(std::get<Sgd>(*sgd).momentum, 0.9f);
  EXPECT_EQ(std::get<Sgd>(*sgd).rate.args.size(), 1u);
  EXPECT_EQ(ParseOptimizer("sgd:momentun=1").error().message,
            "sgd has no option momentun; did you mean momentum?");
  EXPECT_EQ(ParseOptimizer("adam:beta1=x").error().message, "beta1: expected a number, found \"x\"");
  for (const char* word : {"nan", "inf", "-1e400"})
    EXPECT_FALSE(ParseOptimizer(StrCat("sgd:momentum=", word)).has_value()) << word;
  BmufOptions bmuf;
  ASSERT_TRUE(ParseBmuf("", bmuf).has_value());
  ASSERT_TRUE(ParseBmuf("nesterov,warmup=3,momentum=0.5,master=1", bmuf).has_value());
  EXPECT_TRUE(bmuf.nesterov);
  EXPECT_EQ(bmuf.warmup_iterations, 3);
  EXPECT_EQ(bmuf.block_momentum, 0.5f);
  EXPECT_FALSE(ParseBmuf("speed=1", bmuf).has_value());
}

}  // namespace
}  // namespace weft
