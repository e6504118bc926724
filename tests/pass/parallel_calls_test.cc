// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The calls on a data parallel model against what Caffe2 made of them (parallel_calls.jsonl): blobs made
// equal or summed, barriers, comparisons, memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "core/base/str.h"
#include "core/pass/memory_sizes.h"
#include "core/pass/parallel_sync.h"
#include "core/pass/parallel_tools.h"
#include "tests/pass/recorded_parallel.h"
#include "tests/run/arrays.h"
#include "tests/run/machines.h"

namespace weft::test {
namespace {

const std::vector<Json>& Recorded() {
  static const std::vector<Json> rows = ReadJsonl("caffe2/parallel_calls.jsonl");
  return rows;
}

struct Made {
  SingleModel model;
  ParallelOptions options;
  ParallelNets nets;

  explicit Made(const ParallelOptions& of) : model(ReadModel(Recorded()[0])), options(of) {
    nets = *MakeNets(model, {{"opt", "sgd"}, {"bmuf", false}}, options);
  }
};

std::vector<std::string> Names(const Json& json) { return json.get<std::vector<std::string>>(); }

// A name without the number that Caffe2 appends to the second net of a name.
std::string Unnumbered(std::string_view name) {
  const size_t end = name.find('.');
  std::string_view head = name.substr(0, end);
  const size_t last = head.rfind('_');
  if (last != std::string_view::npos && last + 1 < head.size() &&
      head.find_first_not_of("0123456789", last + 1) == std::string_view::npos)
    head = head.substr(0, last);
  return StrCat(head, end == std::string_view::npos ? "" : name.substr(end));
}

class Comparison {
 public:
  explicit Comparison(const Json& row) : row_(row), made_(ReadOptions(row)) {}

  void Run() {
    const size_t init = made_.nets.init.ops.size(), net = made_.nets.net.ops.size();
    for (const Json& call : row_.at("calls")) {
      const std::string error = Call(call.at(0), call.at(1));
      EXPECT_EQ(error.empty(), !row_.contains("error")) << error;
      if (!error.empty()) return;
    }
    Same(Appended(made_.nets.init, init), NetFromText(row_.at("init").get<std::string>()));
    Net expected = NetFromText(row_.at("net").get<std::string>());
    const Net found = Appended(made_.nets.net, net);
    ForgetOtherNetsControl(found, expected);
    Same(found, expected);
    std::vector<Net> kept;
    for (const Json& text : row_.at("kept")) {
      kept.push_back(NetFromText(text.get<std::string>()));
      if (kept.back().ops.empty())
        kept.pop_back();  // a checkpoint's init net for which nothing is left to do
    }
    ASSERT_EQ(kept_.size(), kept.size());
    for (size_t i = 0; i < kept.size(); ++i) {
      ForgetOtherNetsControl(kept_[i], kept[i]);
      Same(kept_[i], kept[i]);
    }
  }
  const std::set<std::string>& reasons() const { return reasons_; }

 private:
  std::string Call(const std::string& name, const Json& args) {
    ParallelNets& nets = made_.nets;
    const ParallelOptions& options = made_.options;
    const auto message = [](const auto& result) {
      return result.has_value() ? std::string() : result.error().message;
    };
    if (name == "AddBlobSync") return message(AddBlobSync(nets, nets.net, options, Names(args.at("blobs"))));
    if (name == "AddDistributedBlobSync")
      return message(AddDistributedBlobSync(nets, nets.net, options, Names(args.at("blobs"))));
    if (name == "Synchronize") {
      if (!kept_.empty()) return "";  // Caffe2 makes the nets once
      const auto barrier = Synchronize(nets, options, args.value("timeout_sec", 300) * 1000);
      if (!barrier.has_value() || !*barrier) return message(barrier);
      kept_ = {(*barrier)->init, (*barrier)->barrier};
      return "";
    }
    if (name == "_RunComparison") {
      const auto net = AllCompare(nets, options, args.at("blob_name"));
      if (!net.has_value() || !*net) return message(net);
      kept_ = {**net};
      // Caffe2 feeds it.
      EXPECT_EQ(kept_[0].Str(kept_[0].ops[0].type), "GivenTensorFill");
      EXPECT_EQ(kept_[0].Str(kept_[0].ops[0].outputs[0]), "compare_arr");
      kept_[0].ops.erase(kept_[0].ops.begin());
      kept_[0].external_inputs.push_back(kept_[0].Intern("compare_arr"));
      return "";
    }
    return StrCat("no test of ", name);
  }

  static Net Appended(const Net& net, size_t from) {
    Net part(net.symbols);
    part.ops.assign(net.ops.begin() + static_cast<ptrdiff_t>(from), net.ops.end());
    return part;
  }

  // Caffe2's first broadcast waits for blobs that the last one in the init net wrote.
  void ForgetOtherNetsControl(const Net& found, Net& expected) {
    for (size_t i = 0; i < std::min(found.ops.size(), expected.ops.size()); ++i) {
      const bool first =
          expected.Str(expected.ops[i].type) == "Broadcast" && found.ops[i].control_inputs.empty();
      if (!first || expected.ops[i].control_inputs.empty()) continue;
      expected.ops[i].control_inputs = {};
      reasons_.insert("control inputs of another net");
      return;
    }
  }

  void Same(Net found, Net expected) {
    if (made_.options.device_type == kCpu && made_.options.rendezvous &&
        made_.options.rendezvous->engine == "MPI") {
      const size_t before = expected.ops.size();
      OnCpusSendFromThere(expected);
      if (expected.ops.size() != before) reasons_.insert("B47");
    }
    if (expected.name) expected.name = expected.Intern(Unnumbered(expected.Str(expected.name)));
    for (Op& op : expected.ops)
      if (expected.Str(op.type) == "CreateCommonWorld")
        op.name = expected.Intern(Unnumbered(expected.Str(op.name)));
    EXPECT_EQ(Differs(found, expected), "");
  }

  // B47: what is on the CPU already needs no copies from and to a GPU.
  static void OnCpusSendFromThere(Net& net) {
    std::map<std::string, Symbol> masters;
    for (const Op& op : net.ops)
      if (net.Str(op.type) == "CopyGPUToCPU") masters[std::string(net.Str(op.outputs[0]))] = op.inputs[0];
    std::erase_if(net.ops, [&](const Op& op) {
      return net.Str(op.type) == "CopyGPUToCPU" || net.Str(op.type) == "CopyCPUToGPU";
    });
    const auto master = [&](Symbol blob) {
      const auto found = masters.find(std::string(net.Str(blob)));
      return found == masters.end() ? blob : found->second;
    };
    for (Op& op : net.ops) {
      for (Symbol& blob : op.inputs) blob = master(blob);
      for (Symbol& blob : op.outputs) blob = master(blob);
      for (Symbol& blob : op.control_inputs) blob = master(blob);
    }
  }

  const Json& row_;
  Made made_;
  std::vector<Net> kept_;
  std::set<std::string> reasons_;
};

TEST(ParallelCalls, AreCaffe2s) {
  int agree = 0;
  std::map<std::string, int> reasons;
  for (const Json& row : Recorded()) {
    if (!row.contains("calls") || row.contains("made")) continue;
    SCOPED_TRACE(row.at("name").get<std::string>());
    Comparison comparison(row);
    comparison.Run();
    for (const std::string& reason : comparison.reasons()) ++reasons[reason];
    agree += comparison.reasons().empty();
  }
  std::string listed;
  for (const auto& [reason, rows] : reasons) listed += StrCat("; ", rows, " but for ", reason);
  std::puts(StrCat("calls on data parallel models: ", agree, " agree", listed).c_str());
}

// The bytes of all blobs that the net makes for itself.
int64_t BytesOf(const Net& net, const Net& init, const std::vector<GivenBlob>& given, size_t& blobs) {
  std::map<uint32_t, int64_t> sizes;
  for (const BlobBytes& size : InferSizes(net, &init, given, StandardOps())) sizes[size.blob.id] = size.bytes;
  std::set<uint32_t> made;
  int64_t bytes = 0;
  for (const Op& op : net.ops)
    for (Symbol blob : op.outputs)
      if (made.insert(blob.id).second) bytes += sizes[blob.id];
  blobs = made.size();
  return bytes;
}

TEST(ParallelCalls, GradientMemoryIsNotMoreThanCaffe2s) {
  for (const Json& row : Recorded()) {
    if (!row.contains("calls") || !row.contains("made")) continue;
    SCOPED_TRACE(row.at("name").get<std::string>());
    const Made made(ReadOptions(row));
    const Json& args = row.at("calls").at(0).at(1);
    const bool shapes = !args.at("input_shapes").is_null();
    SymbolTable& table = *made.nets.net.symbols;
    const std::vector<GivenBlob> inputs = {
        {table.Intern("data"), TensorInfo::Of(DataType::kFloat, {Dim(32), Dim(4)})},
        {table.Intern("label"), TensorInfo::Of(DataType::kInt32, {Dim(32)})}};
    ReplicaMemoryOptions wanted{.recycle_activations = args.at("recycle_activations")};
    if (shapes) wanted.input_shapes = inputs;
    // Caffe2 shares excluded gradients all the same; here they stay.
    const auto has = [&](const Net& net) {
      return std::any_of(net.ops.begin(), net.ops.end(),
                         [&](const Op& op) { return net.Str(op.outputs.back()).ends_with("_0/relu2_grad"); });
    };
    EXPECT_FALSE(has(*OptimizeGradientMemory(made.nets, made.options, StandardOps(), wanted)));
    wanted.excluded = Names(args.at("excluded_blobs"));
    EXPECT_TRUE(has(*OptimizeGradientMemory(made.nets, made.options, StandardOps(), wanted)));
    wanted.excluded.clear();
    const Result<Net> found = OptimizeGradientMemory(made.nets, made.options, StandardOps(), wanted);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    const Net theirs = NetFromText(row.at("made").get<std::string>(), made.nets.net.symbols);
    std::vector<GivenBlob> given;
    for (const char* scope : {"cpu_0/", "cpu_1/", "gpu_0/", "gpu_1/"})
      for (const GivenBlob& input : inputs)
        given.push_back({table.Intern(StrCat(scope, table.Str(input.blob))), input.info});
    size_t our_blobs = 0, their_blobs = 0;
    const int64_t our_bytes = BytesOf(*found, made.nets.init, given, our_blobs),
                  their_bytes = BytesOf(theirs, made.nets.init, given, their_blobs);
    std::puts(StrCat(row.at("name").get<std::string>(), ": ", our_bytes, " bytes in ", our_blobs, ", Caffe2 ",
                     their_bytes, " in ", their_blobs)
                  .c_str());
    const bool more = shapes ? our_bytes > their_bytes : our_blobs > their_blobs;
    EXPECT_FALSE(more);
  }
}

TEST(ParallelCalls, ErrorsNameTheBlob) {
  ParallelOptions options;
  options.device_type = kCpu;
  options.devices = {0, 1};
  Made made(options);
  const auto sync = [&](std::vector<std::string> blobs) {
    const Result<void> added = AddBlobSync(made.nets, made.nets.net, options, blobs);
    return added.has_value() ? "" : added.error().message;
  };
  EXPECT_EQ(sync({"nothing"}), "there is no blob cpu_0/nothing");
  EXPECT_EQ(sync({"cpu_0/fc1"}), "blobs to sync are named without the device's scope, found cpu_0/fc1");
  EXPECT_EQ(sync({"fc1", "fc1", "data"}), "");
  EXPECT_FALSE(AllCompare(made.nets, options, "nothing").has_value());
}

// Two machines whose replicas differ: what the calls leave.
TEST(ParallelCalls, DoWhatTheySay) {
  Machines machines(2);
  std::vector<std::unique_ptr<Made>> made;
  std::vector<Net> calls, compares;
  for (int shard = 0; shard < 2; ++shard) {
    ParallelOptions options;
    options.device_type = kCpu;
    options.devices = {0, 1};
    options.rendezvous = {.num_shards = 2, .shard_id = shard};
    made.push_back(std::make_unique<Made>(options));
    Made& of = *made.back();
    Net net(of.nets.net.symbols);
    net.name = net.Intern("calls");
    ASSERT_TRUE(AddDistributedBlobSync(of.nets, net, of.options, std::vector<std::string>{"cpu_0/fc1_b"}));
    ASSERT_TRUE(AddBlobSync(of.nets, net, of.options, std::vector<std::string>{"fc2_b"}));
    calls.push_back(std::move(net));
    compares.push_back(**AllCompare(of.nets, of.options, "cpu_1/fc3_b"));
    for (const char* param : {"fc1_b", "fc2_b", "fc3_b"})
      for (const char* device : {"cpu_0/", "cpu_1/"})
        machines[static_cast<size_t>(shard)].Feed(
            StrCat(device, param),
            Tensor::Of<float>(std::vector<int64_t>{1},
                              std::vector<float>{static_cast<float>(10 * shard + 1 + (device[4] == '1'))}));
  }
  const auto run = [&](const std::vector<Net>& nets) {
    const Net* all[] = {&nets[0], &nets[1]};
    return machines.Run(all);
  };
  const auto value = [&](size_t machine, std::string_view blob, int64_t i = 0) {
    return machines[machine].FindTensor(blob)->data<float>()[i];
  };
  ASSERT_EQ(run(calls), "");
  for (size_t machine = 0; machine < 2; ++machine) {
    EXPECT_EQ(value(machine, "cpu_0/fc1_b"), 1 + 11);  // summed over machines
    EXPECT_EQ(value(machine, "cpu_1/fc1_b"), machine == 0 ? 2 : 12);
    EXPECT_EQ(value(machine, "cpu_0/fc2_b"), 1);  // all follow the first device of the first machine
    EXPECT_EQ(value(machine, "cpu_1/fc2_b"), 1);
  }
  ASSERT_EQ(run(compares), "");
  for (size_t machine = 0; machine < 2; ++machine) {
    EXPECT_EQ(value(machine, "cpu_1/fc3_b_gather", 0), 2 * 2);
    EXPECT_EQ(value(machine, "cpu_1/fc3_b_gather", 1), 12 * 12);
  }
}

}  // namespace
}  // namespace weft::test
