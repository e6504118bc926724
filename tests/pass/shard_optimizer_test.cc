// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sharded optimizer state: replicas on one machine and on several train as one device does, each parameter's
// state is in one place, machines come to the same collectives, and what can't be combined is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "core/base/str.h"
#include "core/check/check_net.h"
#include "core/pass/bmuf.h"
#include "core/pass/optimizer.h"
#include "core/pass/parallel_sync.h"
#include "core/pass/parallel_words.h"
#include "tests/run/arrays.h"
#include "tests/run/machines.h"

namespace weft::test {
namespace {

constexpr int64_t kPart = 4;  // rows of the batch for each device
constexpr int kSteps = 4;

SingleModel ReadModel(std::string_view name) {
  static const std::vector<Json> rows = ReadJsonl("caffe2/data_parallel.jsonl");
  for (const Json& row : rows) {
    if (row.at("name") != name) continue;
    const Json& single = row.at("single");
    SingleModel model;
    model.init = NetFromText(single.at("init").get<std::string>());
    model.net = NetFromText(single.at("net").get<std::string>(), model.init.symbols);
    for (const Json& blob : single.at("losses"))
      model.losses.push_back(model.net.Intern(blob.get<std::string>()));
    for (const Json& blob : single.at("params"))
      model.params.push_back(model.net.Intern(blob.get<std::string>()));
    model.loss_scale_op = true;
    return model;
  }
  ADD_FAILURE() << name;
  return {};
}

Tensor Rows(std::string_view input, int64_t first, int64_t count) {
  if (input == "label") {
    std::vector<int32_t> values;
    for (int64_t i = first; i < first + count; ++i) values.push_back(static_cast<int32_t>(i * 7 % 3));
    return Tensor::Of<int32_t>(std::vector<int64_t>{count}, values);
  }
  std::vector<float> values;
  for (int64_t i = first * 4; i < (first + count) * 4; ++i)
    values.push_back(std::sin(static_cast<float>(i) * 1.7f));
  return Tensor::Of<float>(std::vector<int64_t>{count, 4}, values);
}

// An update of its own for each parameter, with a momentum that the init net makes.
void AddUpdateNet(SingleModel& model) {
  NameRegistry registry;
  NetBuilder net(registry, "update", model.net.symbols), init(registry, std::move(model.init));
  std::vector<TrainedParam> params;
  for (Symbol param : model.params)
    params.push_back({param, Gradient::Dense(net.Suffixed(param, "_grad")), {}});
  for (const TrainedParam& param : params) WEFT_CHECK(net.AddExternalInput(param.gradient.dense));
  WEFT_CHECK(AddOptimizer(registry, net, init, Sgd{.rate = {0.1f}, .momentum = 0.9f}, params));
  model.update = std::move(net).Finish();
  model.init = std::move(init).Finish();
}

Result<ParallelNets> Plan(const SingleModel& model, const std::string& optimizer,
                          const ParallelOptions& options) {
  ParallelCallbacks callbacks = CallbacksOf(model);
  if (!model.update)
    callbacks.optimizer = [&](ModelBuilder& built) -> Result<void> {
      std::vector<TrainedParam> params;
      for (const auto& [param, gradient] : built.gradients) params.push_back({param, gradient, {}});
      WEFT_TRY(const Optimizer made, ParseOptimizer(optimizer));
      return AddOptimizer(built.registry, built.net, built.init, made, params);
    };
  NameRegistry registry;
  return Parallelize({registry, NetBuilder(registry, "m", model.net.symbols),
                      NetBuilder(registry, "m_init", model.net.symbols)},
                     StandardOps(), callbacks, options);
}

struct Layout {
  const char* devices = "cpu:0";
  int machines = 1;
  const char* engine = "GLOO";
  void (*set)(ParallelOptions&) = [](ParallelOptions&) {};
};

struct Trial {
  std::vector<SingleModel> models;
  std::vector<ParallelOptions> options;
  std::vector<ParallelNets> nets;
  Machines machines;

  explicit Trial(const Layout& layout) : machines(static_cast<size_t>(layout.machines)) {
    const Result<DeviceList> list = ParseDeviceList(layout.devices);
    for (int shard = 0; shard < layout.machines; ++shard) {
      ParallelOptions of;
      of.devices = list->ids;
      of.device_type = list->type;
      of.shard_optimizer = true;
      if (layout.machines > 1)
        of.rendezvous = {.num_shards = layout.machines, .shard_id = shard, .engine = layout.engine};
      layout.set(of);
      options.push_back(std::move(of));
    }
  }
  std::string Blob(size_t device, std::string_view blob) const {
    return StrCat(options[0].prefix(), "_", options[0].devices[device], "/", blob);
  }
  size_t devices() const { return options[0].devices.size(); }
  std::string RunAll(const std::function<const Net*(const ParallelNets&)>& which) {
    std::vector<const Net*> all;
    for (const ParallelNets& of : nets) all.push_back(which(of));
    return machines.Run(all);
  }
  // The places, "machine/blob", where a blob of that name is.
  std::vector<std::string> PlacesOf(std::string_view blob) {
    std::vector<std::string> places;
    for (size_t m = 0; m < machines.size(); ++m)
      for (size_t d = 0; d < devices(); ++d)
        if (machines[m].HasBlob(Blob(d, blob))) places.push_back(StrCat(m, "/", Blob(d, blob)));
    return places;
  }
};

// Trains with all of the batch; `start` has the parameters to start with, and gets them when it is empty.
std::string Train(bool update_net, const std::string& optimizer, int64_t rows, Trial& run,
                  std::vector<Tensor>& start) {
  for (const ParallelOptions& options : run.options) {
    run.models.push_back(ReadModel("cpu_mlp_2_sgd"));
    if (update_net) AddUpdateNet(run.models.back());
    Result<ParallelNets> nets = Plan(run.models.back(), optimizer, options);
    if (!nets) return nets.error().message;
    run.nets.push_back(std::move(nets).value());
  }
  if (auto failed = run.RunAll([](const ParallelNets& of) { return &of.init; }); !failed.empty())
    return failed;
  const SingleModel& model = run.models[0];
  if (start.empty())
    for (Symbol param : model.params)
      start.push_back(run.machines[0].FindTensor(run.Blob(0, model.net.Str(param)))->Clone());
  for (size_t m = 0; m < run.machines.size(); ++m)
    for (size_t d = 0; d < run.devices(); ++d)
      for (size_t p = 0; p < start.size(); ++p) {
        const std::string blob = run.Blob(d, model.net.Str(model.params[p]));
        if (!run.machines[m].HasBlob(blob)) return StrCat("init does not make ", blob);
        run.machines[m].Feed(blob, start[p].Clone());
      }
  const int accumulate = run.options[0].accumulate;
  const int64_t replicas = static_cast<int64_t>(run.machines.size() * run.devices());
  const int64_t part = rows / replicas / accumulate;
  for (int step = 0; step < kSteps * accumulate; ++step) {
    int64_t first = step % accumulate * (rows / accumulate);
    for (size_t m = 0; m < run.machines.size(); ++m)
      for (size_t d = 0; d < run.devices(); ++d, first += part)
        for (const char* input : {"data", "label"})
          run.machines[m].Feed(run.Blob(d, input), Rows(input, first, part));
    std::string failed = run.RunAll([](const ParallelNets& of) { return &of.net; });
    if (failed.empty() && accumulate > 1 && (step + 1) % accumulate == 0)
      failed = run.RunAll([](const ParallelNets& of) { return &*of.update; });
    if (!failed.empty()) return failed;
  }
  return "";
}

struct Kind {
  std::string optimizer;             // "" for an update net
  std::vector<std::string> state{};  // endings of a parameter's state
};
const Kind kKinds[] = {{"sgd:base_lr=0.1,momentum=0.9", {"_momentum"}},
                       {"adam:base_lr=0.01", {"_first_moment", "_second_moment"}},
                       {"adagrad:base_lr=0.1,weight_decay=0.01", {"_squared_sum"}},
                       {"rmsprop:base_lr=0.01,momentum=0.5", {"_grad_o", "_mean_squares", "_momentum"}},
                       {"", {"_momentum"}}};

const Layout kLayouts[] = {
    {"cpu:0-1"},
    {"cpu:1,3,4"},
    {"cpu:0-7"},
    {"cpu:0-1", 1, "", [](ParallelOptions& o) { o.bucket_count = 2; }},
    {"cpu:0-1", 1, "", [](ParallelOptions& o) { o.bucket_bytes = 1 << 20; }},
    {"cpu:0-1", 1, "", [](ParallelOptions& o) { o.accumulate = 2; }},
    {"cpu:0-1", 1, "", [](ParallelOptions& o) { o.optimize_gradient_memory = true; }},
    {"cpu:0-1", 1, "", [](ParallelOptions& o) { o.dynamic_memory_management = true; }},
    {"cuda:0-2"},
    {"cuda:0-3"},
    {"cuda:0-3", 1, "", [](ParallelOptions& o) { o.use_nccl = true; }},
    {"cuda:2,5", 1, "",
     [](ParallelOptions& o) {
       o.use_nccl = true;
       o.bucket_count = 3;
     }},
    {"cpu:0", 2},
    {"cpu:0-1", 3},
    {"cpu:0-1", 2, "MPI"},
    {"cuda:0-1", 2},
    {"cuda:0-1", 3, "MPI"},
    {"cuda:0-1", 2, "MPI", [](ParallelOptions& o) { o.use_nccl = true; }},
    {"cpu:0-1", 2, "GLOO",
     [](ParallelOptions& o) {
       o.bucket_count = 2;
       o.accumulate = 2;
     }},
    {"cuda:0-1", 2, "MPI", [](ParallelOptions& o) { o.bucket_count = 2; }},
    {"cpu:0-1", 2, "GLOO", [](ParallelOptions& o) { o.bucket_bytes = 1 << 20; }},
    {"cuda:0-1", 1, "",
     [](ParallelOptions& o) {
       o.use_nccl = o.dynamic_memory_management = true;
       o.bucket_bytes = 1 << 20;
     }},
    {"cpu:0", 2, "MPI", [](ParallelOptions& o) { o.bucket_count = 4; }},
    {"cpu:0", 2, "GLOO",
     [](ParallelOptions& o) {
       o.bucket_bytes = 1 << 20;
       o.optimize_gradient_memory = true;
     }},
};

TEST(ShardOptimizer, TrainsAsOneDeviceAndKeepsEachStateOnce) {
  int agree = 0;
  for (const Layout& layout : kLayouts)
    for (const Kind& kind : kKinds) {
      Trial one{Layout{}}, many(layout);
      SCOPED_TRACE(StrCat(layout.devices, " x ", layout.machines, " ", layout.engine, " ", kind.optimizer,
                          " buckets ", many.options[0].bucket_count));
      one.options[0].shard_optimizer = false;
      const int64_t rows =
          kPart * static_cast<int64_t>(many.devices() * many.machines.size()) * many.options[0].accumulate;
      std::vector<Tensor> start;
      ASSERT_EQ(Train(kind.optimizer.empty(), kind.optimizer, rows, one, start), "");
      ASSERT_EQ(Train(kind.optimizer.empty(), kind.optimizer, rows, many, start), "");
      const SingleModel& model = one.models[0];
      std::set<std::string> owned;
      for (size_t p = 0; p < model.params.size(); ++p) {
        const std::string param(model.net.Str(model.params[p]));
        const Tensor& expected = *one.machines[0].FindTensor(one.Blob(0, param));
        EXPECT_NE(Difference(start[p], expected, 1e-4, 0), "") << param << " did not move";
        for (size_t m = 0; m < many.machines.size(); ++m)
          for (size_t d = 0; d < many.devices(); ++d)
            EXPECT_EQ(Difference(*many.machines[m].FindTensor(many.Blob(d, param)), expected, 3e-5, 3e-4), "")
                << m << "/" << many.Blob(d, param);
        for (const std::string& ending : kind.state) {
          const std::vector<std::string> places = many.PlacesOf(param + ending);
          EXPECT_EQ(places.size(), 1u) << param << ending << " is at " << StrJoin(places, " ");
          owned.insert(places.begin(), places.end());
        }
      }
      std::set<std::string> listed, saved;
      for (size_t m = 0; m < many.nets.size(); ++m) {
        const SymbolTable& table = *many.nets[m].net.symbols;
        for (Symbol blob : many.nets[m].own_state) listed.insert(StrCat(m, "/", table.Str(blob)));
        for (Symbol blob : many.nets[m].checkpoint) saved.insert(StrCat(m, "/", table.Str(blob)));
      }
      EXPECT_EQ(listed, owned);
      EXPECT_TRUE(std::includes(saved.begin(), saved.end(), owned.begin(), owned.end()));
      ++agree;
    }
  std::puts(StrCat("sharded runs equal one device: ", agree, " of ", std::size(kLayouts) * std::size(kKinds))
                .c_str());
}

TEST(ShardOptimizer, NetsPassTheChecks) {
  for (const Layout& layout : kLayouts)
    for (const Kind& kind : kKinds) {
      Trial of(layout);
      SCOPED_TRACE(StrCat(layout.devices, " x ", layout.machines, " ", layout.engine, " ", kind.optimizer));
      for (const ParallelOptions& options : of.options) {
        SingleModel model = ReadModel("cpu_mlp_2_sgd");
        if (kind.optimizer.empty()) AddUpdateNet(model);
        const Result<ParallelNets> nets = Plan(model, kind.optimizer, options);
        ASSERT_TRUE(nets.has_value()) << nets.error().message;
        std::vector<const Net*> all = {&nets->init, &nets->net};
        if (nets->update) all.push_back(&*nets->update);
        for (const Net* net : all)
          for (const Diagnostic& finding : CheckNet(*net, {.ops = &StandardOps()}))
            EXPECT_TRUE(finding.code == FindingCode::kNoExternalOutputs ||
                        finding.severity == Severity::kNote)
                << net->Str(net->name) << ": " << finding.message << " [" << FindingCodeName(finding.code)
                << "]";
      }
    }
}

// With buckets each of two owners gets its gradients at once, and sends its parameters at once.
TEST(ShardOptimizer, ExchangesBuckets) {
  const auto collectives = [](const char* devices, int machines, const char* engine, bool nccl) {
    Trial of(Layout{devices, machines, engine});
    of.options[0].use_nccl = nccl;
    of.options[0].bucket_bytes = 1 << 20;
    const SingleModel model = ReadModel("cpu_mlp_2_sgd");
    const Result<ParallelNets> nets = Plan(model, "adam", of.options[0]);
    std::map<std::string, int> count;
    for (const Op& op : nets->net.ops)
      if (const std::string type(nets->net.Str(op.type));
          type.starts_with("NCCL") || type == "Reduce" || type == "Allreduce" || type == "Broadcast")
        ++count[type];
    std::string text;
    for (const auto& [type, times] : count) StrAppend(text, type, ":", times, " ");
    return text;
  };
  EXPECT_EQ(collectives("cuda:0-1", 1, "", true), "NCCLBroadcast:2 NCCLReduce:2 ");
  EXPECT_EQ(collectives("cpu:0", 2, "MPI", false), "Broadcast:2 Reduce:2 ");
  EXPECT_EQ(collectives("cpu:0", 2, "GLOO", false), "Allreduce:1 Broadcast:2 ");
}

TEST(ShardOptimizer, DealsParametersByBytes) {
  ParallelOptions options;
  options.device_type = kCpu;
  options.devices = {0, 1};
  options.shard_optimizer = true;
  const SingleModel model = ReadModel("cpu_mlp_2_sgd");
  const Result<ParallelNets> nets = Plan(model, "adam", options);
  ASSERT_TRUE(nets.has_value());
  // fc1_w has 32 elements, fc2_w 24, fc1_b 8, fc2_b 3.
  std::string dealt;
  for (const BlobGroup& group : nets->groups)
    if (group.owner) StrAppend(dealt, group.name, ":", group.owner->device, " ");
  EXPECT_EQ(dealt, "fc1_w:0 fc1_b:1 fc2_w:1 fc2_b:0 fc1_w_grad:0 fc1_b_grad:1 fc2_w_grad:1 fc2_b_grad:0 ");
  // Of billions of machines the first few get something.
  options.rendezvous = Rendezvous{.num_shards = std::numeric_limits<int>::max()};
  const Result<ParallelNets> many = Plan(model, "adam", options);
  ASSERT_TRUE(many.has_value());
  dealt.clear();
  for (const BlobGroup& group : many->groups)
    if (group.owner && !group.name.ends_with("_grad"))
      StrAppend(dealt, group.name, ":", group.owner->shard, "/", group.owner->device, " ");
  EXPECT_EQ(dealt, "fc1_w:0/0 fc1_b:1/0 fc2_w:0/1 fc2_b:1/1 ");
  // A checkpoint that is read gives the parameters to all; the state stays where it is.
  const Result<CheckpointSync> sync = SyncAfterCheckpoint(*nets, options);
  ASSERT_TRUE(sync.has_value()) << sync.error().message;
  EXPECT_EQ(sync->sync.ops.size(), 4u);
}

// A parameter that no loss depends on has no owner, and stays as it is.
TEST(ShardOptimizer, LeavesFrozenParameters) {
  for (const bool update_net : {false, true}) {
    SingleModel model = ReadModel("cpu_mlp_2_sgd");
    model.init.ops.push_back(model.init.ops[0]);
    model.init.ops.back().outputs = {model.init.Intern("frozen")};
    model.params.insert(model.params.begin(), model.init.Intern("frozen"));
    if (update_net) AddUpdateNet(model);
    ParallelOptions options;
    options.device_type = kCpu;
    options.devices = {0, 1};
    options.shard_optimizer = true;
    const Result<ParallelNets> nets = Plan(model, "sgd:momentum=0.9", options);
    ASSERT_TRUE(nets.has_value()) << nets.error().message;
    EXPECT_FALSE(nets->groups[0].owner.has_value());
    for (const Op& op : nets->net.ops)
      for (Symbol blob : op.outputs) EXPECT_FALSE(nets->net.Str(blob).ends_with("frozen"));
  }
}

TEST(ShardOptimizer, IsRefusedWhereItMakesNoSense) {
  const SingleModel model = ReadModel("cpu_mlp_2_sgd");
  ParallelOptions options;
  options.device_type = kCpu;
  options.devices = {0, 1};
  options.shard_optimizer = true;
  const auto message = [](const Result<ParallelNets>& nets) {
    return nets.has_value() ? std::string() : nets.error().message;
  };
  ParallelOptions shared = options;
  shared.shared_model = true;
  EXPECT_EQ(message(Plan(model, "sgd", shared)),
            "shard_optimizer: replicas that share parameters have one optimizer state already");
  SingleModel sparse = ReadModel("gpu_sparse_2");
  EXPECT_EQ(message(Plan(sparse, "sgd", options)).substr(0, 39), "shard_optimizer: the gradient of cpu_0/");
  const auto parallelize = [&](bool bmuf, const ParallelCallbacks& callbacks) {
    NameRegistry registry;
    ModelBuilder builder{registry, NetBuilder(registry, "m", model.net.symbols),
                         NetBuilder(registry, "m_init", model.net.symbols)};
    if (!bmuf) return Parallelize(std::move(builder), StandardOps(), callbacks, options);
    BmufOptions of;
    of.parallel = options;
    return ParallelizeBmuf(std::move(builder), StandardOps(), callbacks, of);
  };
  ParallelCallbacks callbacks = CallbacksOf(model);
  EXPECT_EQ(message(parallelize(false, callbacks)),
            "shard_optimizer: needs a parameter update; a forward-only model has no optimizer");
  callbacks.param_update = [](ModelBuilder&, const Scope&) -> Result<void> { return {}; };
  EXPECT_EQ(message(parallelize(true, callbacks)),
            "BMUF: each device steps alone within a block, with an optimizer state of its own: no sharding");

  // An update that mixes parameters can't be dealt.
  SingleModel mixed = ReadModel("cpu_mlp_2_sgd");
  mixed.update =
      NetFromText(R"(name: "u" op { input: "fc1_w_grad" input: "fc2_w_grad" output: "norm" type: "Sum" })",
                  mixed.net.symbols);
  EXPECT_EQ(message(Plan(mixed, "", options)),
            "the update's op 0 Sum belongs to parameters that different replicas update");
}

}  // namespace
}  // namespace weft::test
