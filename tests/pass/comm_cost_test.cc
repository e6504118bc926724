// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is predicted of a data parallel net: bytes against those counted here, operator by operator, from the
// net and the shapes of what its operators read; times against ones computed by hand.
#include "core/pass/comm_cost.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "core/base/str.h"
#include "core/pass/bmuf.h"
#include "core/pass/parallel_words.h"
#include "core/pass/step_time.h"
#include "tests/support/compact_net.h"
#include "tests/support/train_models.h"

namespace weft {
namespace {

// What each of `n` ranks sends in an all-reduce of `bytes` in a ring, all together: the parts that they pass
// on.
int64_t RingAllReduce(int64_t n, int64_t bytes) {
  std::vector<int64_t> parts(static_cast<size_t>(n), bytes / n);
  for (int64_t k = 0; k < bytes % n; ++k) ++parts[static_cast<size_t>(k)];
  int64_t sent = 0;
  for (int round = 0; round < 2; ++round)  // add up, then tell
    for (int64_t step = 0; step < n - 1; ++step)
      for (int64_t rank = 0; rank < n; ++rank) sent += parts[static_cast<size_t>((rank + n - step) % n)];
  return sent;
}

// "gpu_1/" of "gpu_1/conv1_w" and of "_gpu_1/x_grad_autosplit_0".
std::string DeviceOf(std::string_view blob) {
  if (blob.starts_with('_')) blob.remove_prefix(1);
  return std::string(blob.substr(0, blob.find('/') + 1));
}

struct Bytes {
  int64_t local = 0, network = 0;
  bool operator==(const Bytes& other) const { return local == other.local && network == other.network; }
};

// By each operator's meaning.
std::map<OpId, Bytes> CountBytes(const Net& net, const NetShapes& shapes, const ShapeTable& table,
                                 int64_t machines) {
  std::map<OpId, Bytes> counted;
  std::map<uint32_t, int64_t>
      gathered;  // what an Allgather makes has no known shape: that depends on the machines
  const auto bytes_of = [&](OpId op, size_t input) {
    const auto all = gathered.find(net.ops[static_cast<size_t>(op)].inputs[input].id);
    if (all != gathered.end()) return all->second;
    const TensorInfo& info = shapes.values[shapes.ssa.inputs(op)[input]];
    EXPECT_TRUE(info.tensor()) << "op " << op << " " << net.Str(net.ops[static_cast<size_t>(op)].type)
                               << " input " << net.Str(net.ops[static_cast<size_t>(op)].inputs[input]);
    auto bytes = static_cast<int64_t>(DataTypeSize(info.type));
    for (Dim dim : info.dims) bytes *= table.At(dim, 1);
    return bytes;
  };
  const std::set<std::string_view> kMoving = {"Copy", "CopyGPUToCPU", "CopyCPUToGPU", "Sum", "Concat"};
  for (OpId id = 0; id < static_cast<OpId>(net.ops.size()); ++id) {
    const Op& op = net.ops[static_cast<size_t>(id)];
    const std::string_view type = net.Str(op.type);
    Bytes bytes;
    if (type == "NCCLAllreduce") {
      bytes.local = RingAllReduce(static_cast<int64_t>(op.inputs.size()), bytes_of(id, 0));
    } else if (type == "NCCLReduce" || type == "NCCLBroadcast") {
      for (size_t k = 1; k < op.inputs.size(); ++k) bytes.local += bytes_of(id, k);  // to or from one of them
    } else if (type == "Allreduce") {
      // Input 0 is the common world. The machine's own blobs go to the first and come back.
      for (size_t k = 2; k < op.inputs.size(); ++k) bytes.local += 2 * bytes_of(id, k);
      if (machines > 1) bytes.network = RingAllReduce(machines, bytes_of(id, 1)) / machines;
    } else if (type == "Broadcast") {
      for (size_t k = 2; k < op.inputs.size(); ++k) bytes.local += bytes_of(id, k);
      if (machines > 1) bytes.network = bytes_of(id, 1);  // passed on
    } else if (type == "Reduce") {
      if (machines > 1) bytes.network = bytes_of(id, 1);
    } else if (type == "Allgather") {
      for (int64_t step = 0; step < machines - 1; ++step) bytes.network += bytes_of(id, 1);
      gathered[op.outputs[0].id] = machines * bytes_of(id, 1);
    } else if (kMoving.contains(type)) {
      for (size_t k = 0; k < op.inputs.size(); ++k)
        if (DeviceOf(net.Str(op.inputs[k])) != DeviceOf(net.Str(op.outputs[0])))
          bytes.local += bytes_of(id, k);
    }
    if (bytes.local > 0 || bytes.network > 0) counted[id] = bytes;
  }
  return counted;
}

struct Request {
  const char* name;
  const char* devices;
  int shards = 1;
  const char* engine = "GLOO";
  void (*set)(ParallelOptions&) = [](ParallelOptions&) {};
  bool bmuf = false;
};

constexpr Request kRequests[] = {
    {"nccl", "cuda:0-7", 1, "", [](ParallelOptions& o) { o.use_nccl = true; }},
    {"copies", "cuda:0-7"},
    {"three", "cuda:1,3,5"},
    {"no peers", "cuda:0-3", 1, "",
     [](ParallelOptions& o) { o.peer_access = [](int, int) { return false; }; }},
    {"cpu", "cpu:0-3"},
    {"shared", "cpu:0-3", 1, "", [](ParallelOptions& o) { o.shared_model = true; }},
    {"gloo", "cuda:0-1", 4},
    {"gloo one", "cuda:0", 512},
    {"mpi", "cuda:0-3", 3, "MPI"},
    {"nccl buckets", "cuda:0-7", 1, "",
     [](ParallelOptions& o) {
       o.use_nccl = true;
       o.bucket_bytes = 25 << 20;
     }},
    {"gloo buckets", "cuda:0-1", 7, "GLOO", [](ParallelOptions& o) { o.bucket_count = 5; }},
    {"accumulate", "cuda:0-3", 2, "GLOO", [](ParallelOptions& o) { o.accumulate = 4; }},
    {"sharded state", "cuda:0-3", 2, "GLOO", [](ParallelOptions& o) { o.shard_optimizer = true; }},
    {"combined bn", "cuda:0-3", 1, "", [](ParallelOptions& o) { o.combine_spatial_bn = true; }},
    {"bmuf", "cuda:0-3", 2, "GLOO", [](ParallelOptions&) {}, true},
};

Result<ParallelNets> Plan(const SingleModel& model, const ParallelOptions& options, bool bmuf) {
  if (!bmuf) return test::Replicate(model, options);
  ParallelCallbacks callbacks = CallbacksOf(model);
  callbacks.param_update = [](ModelBuilder&, const Scope&) -> Result<void> { return {}; };
  NameRegistry registry;
  ModelBuilder builder{registry, NetBuilder(registry, "m", model.net.symbols),
                       NetBuilder(registry, "m_init", model.net.symbols)};
  BmufOptions of;
  of.parallel = options;
  return ParallelizeBmuf(std::move(builder), StandardOps(), callbacks, of);
}

void CompareBytes(std::string_view model_name, const std::vector<std::string>& inputs, bool sparse) {
  size_t compared = 0, nets_compared = 0;
  for (const Request& request : kRequests) {
    SCOPED_TRACE(StrCat(model_name, ", ", request.name));
    const SingleModel model = test::ForwardModel(model_name);
    ParallelOptions options;
    const Result<DeviceList> devices = ParseDeviceList(request.devices);
    options.devices = devices->ids;
    options.device_type = devices->type;
    if (request.shards > 1)
      options.rendezvous = Rendezvous{.num_shards = request.shards, .engine = request.engine};
    request.set(options);
    const Result<ParallelNets> nets = Plan(model, options, request.bmuf);
    // Rows of a table are neither shared out, nor added up in a net of its own.
    if (sparse && !nets.has_value()) continue;
    ASSERT_TRUE(nets.has_value()) << nets.error().message;
    ShapeTable table;
    std::vector<GivenBlob> given;
    for (const std::string& input : inputs)
      for (int id : options.devices)
        given.push_back(
            *ParseGivenBlob(StrCat(options.prefix(), "_", id, "/", input), *model.net.symbols, table));
    for (const Net* net :
         {&nets->init, nets->global_init ? &*nets->global_init : nullptr, &nets->net,
          nets->update ? &*nets->update : nullptr, nets->global_update ? &*nets->global_update : nullptr}) {
      if (!net) continue;
      const NetShapes shapes = InferShapes(*net, given, table);
      const CommCost predicted = CommunicationOf(*net, options, BytesByShape(*net, shapes, table));
      EXPECT_EQ(predicted.unknown, 0u);
      const std::map<OpId, Bytes> counted = CountBytes(*net, shapes, table, request.shards);
      std::map<OpId, Bytes> found;
      Bytes total;
      for (const CommOp& op : predicted.ops) {
        if (op.local_bytes + op.network_bytes > 0) found[op.op] = {op.local_bytes, op.network_bytes};
        total.local += op.local_bytes;
        total.network += op.network_bytes;
      }
      ASSERT_EQ(found.size(), counted.size());
      for (const auto& [op, bytes] : counted) {
        ASSERT_TRUE(found.contains(op)) << op;
        EXPECT_TRUE(found[op] == bytes)
            << op << " " << net->Str(net->ops[static_cast<size_t>(op)].type) << ": " << found[op].local
            << " and " << found[op].network << ", counted " << bytes.local << " and " << bytes.network;
      }
      EXPECT_TRUE((total == Bytes{predicted.local_bytes, predicted.network_bytes}));
      compared += counted.size();
      ++nets_compared;
      for (GivenBlob& blob : FinalShapes(shapes)) given.push_back(std::move(blob));
    }
  }
  EXPECT_GT(compared, 100u);
  std::puts(
      StrCat(model_name, ": bytes of ", compared, " operators of ", nets_compared, " nets are as counted")
          .c_str());
}

TEST(CommCost, BytesAreThoseOfTheOperators) {
  CompareBytes("resnet50_train", {"data=2,3,224,224", "label=2:int32"}, false);
  CompareBytes("alexnet_train", {"data=2,3,224,224", "label=2:int32"}, false);
  CompareBytes("inception_train", {"data=2,3,224,224", "label=2:int32"}, false);
  std::vector<std::string> inputs = {"dense=4,13", "label=4,1"};
  for (int i = 0; i < 26; ++i) {
    inputs.push_back(StrCat("ids_", i, "=", 9 + i, ":int64"));
    inputs.push_back(StrCat("lens_", i, "=4:int32"));
  }
  CompareBytes("dlrm_26", inputs, true);
}

constexpr Link kUnit{.latency = 1, .bandwidth = 2};  // a second for a message, half a second for a byte

TEST(StepTime, ExchangesCostWhatTheModelSays) {
  const auto seconds = [](Exchange::Kind kind, int64_t ranks, int64_t bytes, Hardware::Algorithm algorithm) {
    return SecondsOf(Exchange{kind, ranks, bytes}, kUnit, algorithm);
  };
  // Eight ranks, 16 bytes: 14 messages, or 6 by halving and doubling; 2 * 7/8 * 16 = 28 bytes.
  EXPECT_DOUBLE_EQ(seconds(Exchange::kAllReduce, 8, 16, Hardware::kRing), 14 + 14);
  EXPECT_DOUBLE_EQ(seconds(Exchange::kAllReduce, 8, 16, Hardware::kTree), 6 + 14);
  EXPECT_DOUBLE_EQ(seconds(Exchange::kAllReduce, 8, 16, Hardware::kFastest), 6 + 14);
  // Six are no power of two: a ring.
  EXPECT_DOUBLE_EQ(seconds(Exchange::kAllReduce, 6, 12, Hardware::kTree), 10 + 10);
  // Broadcast of 16 bytes: parts to all, then a ring (7 + 3 messages, 28 bytes); or three times all of it.
  EXPECT_DOUBLE_EQ(seconds(Exchange::kBroadcast, 8, 16, Hardware::kRing), 10 + 14);
  EXPECT_DOUBLE_EQ(seconds(Exchange::kBroadcast, 8, 16, Hardware::kTree), 3 + 24);
  EXPECT_DOUBLE_EQ(seconds(Exchange::kReduce, 8, 16, Hardware::kFastest), 24);
  EXPECT_DOUBLE_EQ(seconds(Exchange::kReduce, 8, 2, Hardware::kFastest), 3 + 3);
  EXPECT_DOUBLE_EQ(seconds(Exchange::kAllGather, 8, 4, Hardware::kRing), 7 + 14);
  EXPECT_DOUBLE_EQ(seconds(Exchange::kAllGather, 8, 4, Hardware::kTree), 3 + 14);
  EXPECT_DOUBLE_EQ(seconds(Exchange::kSend, 3, 10, Hardware::kFastest), 2 + 5);
  for (const auto kind :
       {Exchange::kAllReduce, Exchange::kReduce, Exchange::kBroadcast, Exchange::kAllGather})
    EXPECT_EQ(seconds(kind, 1, 100, Hardware::kFastest), 0);
}

// Two devices, each four operators of 3 s; two sums, of 4 s each, of what the first and the third make.
StepTime Step(std::string_view type, double flops) {
  const Net net =
      testing::CompactNet(StrCat("in gpu_0/x gpu_1/x; Relu(gpu_0/x) -> gpu_0/a; Relu(gpu_1/x) -> gpu_1/a; "
                                 "Relu(gpu_0/a) -> gpu_0/b; Relu(gpu_1/a) -> gpu_1/b; Relu(gpu_0/b) -> "
                                 "gpu_0/c; Relu(gpu_1/b) -> gpu_1/c; "
                                 "NCCLAllreduce(gpu_0/b, gpu_1/b) -> gpu_0/b, gpu_1/b; "
                                 "NCCLAllreduce(gpu_0/c, gpu_1/c) -> gpu_0/c, gpu_1/c; "
                                 "Relu(gpu_0/c) -> gpu_0/d; Relu(gpu_1/c) -> gpu_1/d"));
  Net typed = net;
  typed.type = typed.Intern(type);
  ParallelOptions options;
  options.devices = {0, 1};
  const CommCost moved =
      CommunicationOf(typed, options, BytesOfBlob([](Symbol) { return std::optional<int64_t>(4); }));
  Hardware hardware{.flops = 1, .memory = 1, .local = kUnit};
  return PredictStep(typed, options, std::vector<Work>(typed.ops.size(), {flops, 2}), moved, hardware);
}

TEST(StepTime, ExchangesHideBehindComputing) {
  // a: 0-3, b: 3-6, c: 6-9 beside the sum of b, which waits for c's reading of it: 9-13. The sum of c 13-17,
  // d 17-20.
  StepTime step = Step("dag", 3);
  EXPECT_DOUBLE_EQ(step.compute, 12);
  EXPECT_DOUBLE_EQ(step.communication, 8);
  EXPECT_DOUBLE_EQ(step.step, 20);
  EXPECT_DOUBLE_EQ(step.hidden, 0);
  EXPECT_EQ(step.unknown, 0u);
  // Memory is slower than computing: 2 s for each operator. One after the other: both devices', and the sums.
  step = Step("simple", 1);
  EXPECT_DOUBLE_EQ(step.compute, 8);
  EXPECT_DOUBLE_EQ(step.step, 16 + 8);
  EXPECT_DOUBLE_EQ(Step("dag", -1).compute, 0);
  EXPECT_EQ(Step("dag", -1).unknown, 8u);
}

TEST(StepTime, BucketsHide) {
  const SingleModel model = test::ForwardModel("resnet50_train");
  const auto predict = [&](int64_t bucket_bytes, const char* hardware) {
    ParallelOptions options;
    options.devices = {0, 1, 2, 3, 4, 5, 6, 7};
    options.use_nccl = true;
    options.broadcast_computed_params = false;  // many small copies, in both
    options.bucket_bytes = bucket_bytes;
    const Result<ParallelNets> nets = test::Replicate(model, options);
    EXPECT_TRUE(nets.has_value());
    ShapeTable table;
    std::vector<GivenBlob> given;
    for (int id : options.devices)
      for (const char* input : {"data=32,3,224,224", "label=32:int32"})
        given.push_back(*ParseGivenBlob(StrCat("gpu_", id, "/", input), *model.net.symbols, table));
    for (GivenBlob& blob : FinalShapes(InferShapes(nets->init, given, table)))
      given.push_back(std::move(blob));
    const NetShapes shapes = InferShapes(nets->net, given, table);
    return PredictStep(nets->net, options, WorkOf(shapes, table),
                       CommunicationOf(nets->net, options, BytesByShape(nets->net, shapes, table)),
                       *ParseHardware(hardware));
  };
  const StepTime apart = predict(0, "flops=1e14,memory=2e12,latency=1e-4");
  const StepTime fused = predict(25 << 20, "flops=1e14,memory=2e12,latency=1e-4");
  EXPECT_EQ(apart.unknown, 0u);
  EXPECT_LT(fused.communication, apart.communication / 5);
  EXPECT_LT(fused.step, apart.step);
  EXPECT_GT(fused.hidden, 0.5 * fused.communication);
  // 25.5 million parameters in four bytes each, seven eighths twice, with nothing for messages.
  const StepTime bytes = predict(0, "latency=0,bandwidth=1e9");
  EXPECT_NEAR(bytes.communication, 25.557032e6 * 4 * 2 * 7 / 8 / 1e9, 0.02 * bytes.communication);
  // The forward pass of a picture is 4 G multiply-adds, and the backward pass twice that.
  EXPECT_NEAR(predict(0, "flops=1e9,memory=1e18").compute, 32 * 3 * 2 * 4.09, 0.1 * 32 * 3 * 2 * 4.09);
}

TEST(StepTime, HardwareIsRead) {
  const Result<Hardware> some = ParseHardware("flops=2e13,net_latency=0,algorithm=ring");
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(some->flops, 2e13);
  EXPECT_EQ(some->network.latency, 0);
  EXPECT_EQ(some->algorithm, Hardware::kRing);
  EXPECT_EQ(some->memory, Hardware().memory);
  for (const auto& [text, message] :
       {std::pair<const char*, const char*>{"flops=0",
                                            "hardware: flops: expected a number above 0, found \"0\""},
        {"latency=-1", "hardware: latency: expected a number of seconds, found \"-1\""},
        {"memory=x", "hardware: memory: expected a number above 0, found \"x\""},
        {"flops", "hardware: flops: expected a number above 0, found \"\""},
        {"algorithm=star", "hardware: algorithm: expected fastest, ring or tree, found \"star\""},
        {"speed=1",
         "hardware has no \"speed\"; there is flops, memory, latency, bandwidth, net_latency, "
         "net_bandwidth, algorithm"}}) {
    const Result<Hardware> wrong = ParseHardware(text);
    ASSERT_FALSE(wrong.has_value()) << text;
    EXPECT_EQ(wrong.error().message, message);
  }
}

}  // namespace
}  // namespace weft
