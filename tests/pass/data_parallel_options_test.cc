// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Data parallel nets with the options that no row of data_parallel.jsonl sets, against what Caffe2 made with
// them (record_parallel_options.py). Rows that Caffe2 gets wrong are listed with the fault and compared with
// the right value.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/str.h"
#include "core/pass/collectives.h"
#include "core/pass/parallel_sync.h"
#include "core/pass/parallel_tools.h"
#include "proto/codec.h"
#include "tests/pass/recorded_parallel.h"

namespace weft {
namespace {

using test::Differs;
using test::Json;
using test::MendNet;
using test::NetFromText;

bool Has(const Json& row, std::string_view part) {
  return row.at("name").get<std::string>().find(part) != std::string::npos;
}

bool OnGpu(const Op& op) { return op.device && (op.device->type() == kCuda || op.device->type() == kHip); }

// B47: what is on the CPU is copied from a GPU that is none, and summed there by NCCL.
bool MendCpuBlobs(Json& row) {
  if (!Has(row, "_mpi")) return false;
  const ParallelOptions options = test::ReadOptions(row);
  const internal::ReplicaScopes scopes(options);
  const DevicePtr place = options.device_type == kIdeep ? scopes.ideep : scopes.cpu;
  bool mended = false;
  for (const char* key : {"init", "net"})
    row[key] = MendNet(row.at(key), [&](Net& net) {
      std::vector<Op> ops;
      std::map<std::string, std::string> host;  // the recorded copies of blobs that are on the CPU already
      for (Op& op : net.ops) {
        const std::string type(net.Str(op.type));
        const bool gpu = OnGpu(op);
        if (type == "CopyGPUToCPU" && !gpu) {
          host[std::string(net.Str(op.outputs[0]))] = net.Str(op.inputs[0]);
          mended = true;
          continue;
        }
        if (type == "CopyCPUToGPU" && !gpu) continue;
        if (type == "NCCLAllreduce" && !gpu) {
          op.type = net.Intern("Sum");
          op.outputs = {op.outputs[0]};
          op.control_inputs = {};
          op.device = place;
        }
        const auto own = [&](auto& blobs) {
          for (Symbol& blob : blobs)
            if (const auto at = host.find(std::string(net.Str(blob))); at != host.end())
              blob = net.Intern(at->second);
        };
        own(op.inputs);
        own(op.outputs);
        own(op.control_inputs);
        ops.push_back(std::move(op));
      }
      net.ops = std::move(ops);
    });
  return mended;
}

// The copies on the CPU that machines make equal belong to no checkpoint.
bool MendCheckpoint(Json& row) {
  if (!Has(row, "_mpi")) return false;
  Json kept = Json::array();
  for (const Json& name : row.at("checkpoint_params"))
    if (!name.get<std::string>().ends_with("cpu")) kept.push_back(name);
  const bool mended = kept != row.at("checkpoint_params");
  row["checkpoint_params"] = kept;
  return mended;
}

// B48: the statistics are not told the order.
bool MendOrder(Json& row) {
  if (!Has(row, "_nhwc")) return false;
  row["net"] = MendNet(row.at("net"), [](Net& net) {
    for (Op& op : net.ops)
      if (net.Str(op.type) == "ChannelStats" || net.Str(op.type) == "ChannelBackpropStats")
        op.args = ArgList({MakeArg(net.Intern("order"), std::string("NHWC"))});
  });
  return true;
}

// B39: what NCCL sums of the global model, and what is copied and filled for its sums, is in the training
// net.
bool MendGlobalSums(Json& row) {
  if (!Has(row, "bmuf_gpu_nccl") && !Has(row, "bmuf_gpu_peers") && !Has(row, "bmuf_gpu_mpi")) return false;
  Net global = NetFromText(row.at("global_update").get<std::string>());
  size_t summed = 0;
  row["net"] = MendNet(row.at("net"), [&](Net& net) {
    std::vector<Op> kept;
    for (Op& op : net.ops) {
      const std::string_view type = net.Str(op.type), output = net.Str(op.outputs[0]);
      const bool nccl = type == "NCCLAllreduce";
      if (!nccl && !output.ends_with("_copy") && !output.ends_with("_red")) {
        kept.push_back(std::move(op));
        continue;
      }
      const Op moved = test::OpFromText(OpToText(*net.symbols, op), global.symbols);
      const Symbol read = output.ends_with("_red") ? moved.inputs[0] : moved.outputs[0];
      const auto reader = std::find_if(global.ops.begin(), global.ops.end(), [&](const Op& other) {
        return std::find(other.inputs.begin(), other.inputs.end(), read) != other.inputs.end();
      });
      global.ops.insert(nccl ? global.ops.begin() + static_cast<long>(summed++) : reader, moved);
    }
    net.ops = std::move(kept);
  });
  global.external_inputs = {};
  std::set<uint32_t> known;
  for (const Op& op : global.ops) {
    for (Symbol blob : op.inputs)
      if (known.insert(blob.id).second) global.external_inputs.push_back(blob);
    for (Symbol blob : op.outputs) known.insert(blob.id);
  }
  row["global_update"] = NetToText(global);
  return true;
}

// The order of blobs that are kept equal besides is that of a set.
void SortSynced(Json& row) {
  if (!Has(row, "_sync_blobs") || row.at("options").contains("rendezvous")) return;
  row["global_update"] = MendNet(row.at("global_update"), [](Net& net) {
    std::sort(net.ops.end() - 2, net.ops.end(),
              [&](const Op& a, const Op& b) { return net.Str(a.outputs[0]) < net.Str(b.outputs[0]); });
    std::sort(net.external_inputs.end() - 2, net.external_inputs.end(),
              [&](Symbol a, Symbol b) { return net.Str(a) < net.Str(b); });
  });
}

// The values that devices get are the first device's, not those of the master, which alone are filtered.
bool MendMaster(Json& row) {
  if (!row.at("options").contains("master_device")) return false;
  const ParallelOptions options = test::ReadOptions(row);
  const internal::ReplicaScopes scopes(options);
  const auto master = row.at("options").at("master_device").get<size_t>();  // its number is its place
  row["global_update"] = MendNet(row.at("global_update"), [&](Net& net) {
    const size_t others = options.devices.size() - 1;
    for (size_t at = net.ops.size() - others * row.at("single").at("params").size(); at < net.ops.size();
         at += others) {
      const std::string_view first = net.Str(net.ops[at].inputs[0]);
      const std::string name(first.substr(scopes.of[0].name.prefix.size()));
      size_t to = 0;
      for (size_t k = at; k < at + others; ++k, ++to) {
        if (to == master) ++to;
        net.ops[k].inputs = {net.Intern(scopes.of[master].name.prefix + name)};
        net.ops[k].outputs = {net.Intern(scopes.of[to].name.prefix + name)};
        net.ops[k].device = options.is_gpu() ? scopes.device(to) : scopes.cpu;
      }
    }
  });
  return true;
}

// The last operators of the warm-up net are no control inputs of those of the net behind it.
bool MendControl(Json& row) {
  if (!Has(row, "_warmup_gloo")) return false;
  row["global_update"] = MendNet(row.at("global_update"), [](Net& net) {
    std::vector<Symbol> worlds;
    for (Op& op : net.ops) {
      if (net.Str(op.type) != "Broadcast") continue;
      if (std::find(worlds.begin(), worlds.end(), op.inputs[0]) != worlds.end()) continue;
      worlds.push_back(op.inputs[0]);
      op.control_inputs = {};
    }
  });
  return true;
}

// The recorded nets read sums in scopes of GPUs that nobody makes. IDEEP replicas add up on the CPU.
bool IsIdeepCombined(const Json& row) { return Has(row, "ideep_bn_combined"); }

// Recorded errors: what the right answer is. A part of the message where it is an error, "" where a fault
// (B46, B48, B41) stops what can be done.
struct Failure {
  std::string_view name, message, fault;
};
constexpr Failure kFailures[] = {
    {"_both_memory", "exclude each other", ""},
    {"gpu_shared_model", "share parameters on CPUs only", ""},
    {"_shared_layer", "not all grad ops have the same device option", ""},
    {"_gloo_sparse", "", "B46"},
    {"_bn_combined_ids", "", "B48"},
    {"bmuf_cpu_devices_none", "", "B41"},
};

TEST(DataParallelOptions, NetsAreCaffe2s) {
  test::Tally tally;
  for (Json row : test::ReadJsonl("caffe2/data_parallel_options.jsonl")) {
    if (row.contains("convert")) continue;
    SCOPED_TRACE(row.at("name").get<std::string>());
    const SingleModel model = test::ReadModel(row.at("single"));
    const ParallelOptions options = test::ReadOptions(row);
    const Result<ParallelNets> nets = test::MakeNets(model, row, options);
    std::string reason, difference;
    if (row.contains("error")) {
      const auto known = std::find_if(std::begin(kFailures), std::end(kFailures),
                                      [&](const Failure& of) { return Has(row, of.name); });
      ASSERT_NE(known, std::end(kFailures));
      reason = known->fault;
      if (known->message.empty()) {
        difference = nets.has_value() ? "" : nets.error().message;
      } else if (nets.has_value() || nets.error().message.find(known->message) == std::string::npos) {
        difference = "fails in another way";
      }
    } else {
      SortSynced(row);
      if (test::MendBmufStart(row)) reason = "B40";
      if (test::MendFreeDevice(row)) reason = "B52";
      if (MendCheckpoint(row)) reason = "copies in the checkpoint";
      if (MendCpuBlobs(row)) reason = "B47";
      if (MendOrder(row)) reason = "B48";
      if (MendGlobalSums(row)) reason = "B39";
      if (MendMaster(row)) reason = "the first device instead of the master";
      if (MendControl(row)) reason = "control inputs of another net";
      if (IsIdeepCombined(row)) reason = "IDEEP reads what GPUs would make";
      if (!nets.has_value()) {
        difference = nets.error().message;
      } else if (IsIdeepCombined(row)) {
        for (const Op& op : nets->net.ops)
          for (Symbol blob : op.inputs)
            if (!nets->net.Str(blob).starts_with("ideep_") &&
                nets->net.Str(blob).find('/') != std::string::npos)
              difference = nets->net.Str(blob);
      } else {
        difference = test::DiffersFromRow(*nets, options, row);
      }
    }
    EXPECT_EQ(difference, "");
    tally.Count(difference, reason);
  }
  tally.Print("data parallel options");
}

Scope ScopeOf(const Json& device, std::string_view prefix) {
  DeviceOption option;
  option.device_type = device[0].get<int>();
  option.device_id = device[1].get<int>();
  return {NameScope().Enter(prefix), DeviceScope().Enter(option)};
}

TEST(DataParallelOptions, PredictorsAreCaffe2s) {
  int agree = 0;
  for (const Json& row : test::ReadJsonl("caffe2/data_parallel_options.jsonl")) {
    if (!row.contains("predict")) continue;
    SCOPED_TRACE(row.at("name").get<std::string>());
    const SingleModel model = test::ReadModel(row.at("single"));
    const ParallelOptions options = test::ReadOptions(row);
    const Result<ParallelNets> nets = test::MakeNets(model, row, options);
    ASSERT_TRUE(nets.has_value());
    const Json& asked = row.at("predict");
    ReplicaPredictorOptions wanted{.inputs = asked.at("inputs"), .outputs = asked.at("outputs")};
    if (!asked.at("device").is_null()) wanted.device = ScopeOf(asked.at("device"), "").device.device;
    const Result<Net> found = ExtractReplicaPredictor(*nets, options, StandardOps(), wanted);
    if (row.contains("predictor_error")) {
      EXPECT_FALSE(found.has_value()) << row.at("predictor_error");
      continue;
    }
    ASSERT_TRUE(found.has_value()) << found.error().message;
    Net expected = NetFromText(row.at("predictor").get<std::string>()), sorted = *found;
    for (Net* net : {&expected, &sorted})  // in the order of sets there
      for (std::vector<Symbol>* list : {&net->external_inputs, &net->external_outputs})
        std::sort(list->begin(), list->end(), [&](Symbol a, Symbol b) { return net->Str(a) < net->Str(b); });
    EXPECT_EQ(Differs(sorted, expected), "");
    ++agree;
  }
  EXPECT_EQ(agree, 5);
}

TEST(DataParallelOptions, CheckpointNetsAreCaffe2s) {
  int agree = 0;
  for (const Json& row : test::ReadJsonl("caffe2/data_parallel_options.jsonl")) {
    if (!row.contains("checkpoint")) continue;
    SCOPED_TRACE(row.at("name").get<std::string>());
    const SingleModel model = test::ReadModel(row.at("single"));
    const ParallelOptions options = test::ReadOptions(row);
    const Result<ParallelNets> nets = test::MakeNets(model, row, options);
    ASSERT_TRUE(nets.has_value());
    const Json& asked = row.at("checkpoint");
    std::vector<std::string> blobs;
    if (!asked.at("blobs").is_null())
      for (const Json& blob : asked.at("blobs"))  // with the first device's scope there
        blobs.push_back(blob.get<std::string>().substr(blob.get<std::string>().find('/') + 1));
    const Result<CheckpointSync> sync = SyncAfterCheckpoint(*nets, options, blobs, asked.at("cpu_mode"));
    ASSERT_TRUE(sync.has_value()) << sync.error().message;
    EXPECT_FALSE(sync->init.has_value());  // the recorded one is empty
    if (asked.contains("init")) {
      ASSERT_TRUE(NetFromText(asked.at("init").get<std::string>()).ops.empty());
    }
    // What another net wrote last is no control input.
    const Json expected = MendNet(asked.at("sync"), [](Net& net) {
      if (net.Str(net.ops[0].type) == "Broadcast") net.ops[0].control_inputs = {};
    });
    Net found = sync->sync, recorded = NetFromText(expected.get<std::string>());
    for (Net* net : {&found, &recorded})  // in the order of a set there
      std::sort(net->external_inputs.begin(), net->external_inputs.end(),
                [&](Symbol a, Symbol b) { return net->Str(a) < net->Str(b); });
    EXPECT_EQ(Differs(found, recorded), "");
    ++agree;
  }
  EXPECT_EQ(agree, 8);
}

TEST(DataParallelOptions, NetsAreConvertedAsByCaffe2) {
  int agree = 0;
  for (const Json& row : test::ReadJsonl("caffe2/data_parallel_options.jsonl")) {
    if (!row.contains("convert")) continue;
    SCOPED_TRACE(row.at("name").get<std::string>());
    const int type = row.at("device")[0].get<int>();
    const std::string_view kind = type == kCpu ? "cpu" : type == kIdeep ? "ideep" : "gpu";
    const Result<Net> found =
        ConvertNetForDevice(NetFromText(row.at("convert").get<std::string>()),
                            ScopeOf(row.at("device"), StrCat(kind, "_", row.at("device")[1].get<int>())));
    if (row.contains("converted_error")) {
      EXPECT_FALSE(found.has_value());
      continue;
    }
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(Differs(*found, NetFromText(row.at("converted").get<std::string>())), "");
    ++agree;
  }
  EXPECT_EQ(agree, 4);
}

}  // namespace
}  // namespace weft
