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

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/pass/parallel_sync.h"
#include "core/pass/parallel_tools.h"
#include "proto/codec.h"
#include "tests/pass/recorded_parallel.h"

namespace weft {
namespace {

using test::Differs;
using test::DiffersFromRow;
using test::Json;
using test::MakeNets;
using test::MendBmufStart;
using test::MendFreeDevice;
using test::MendNet;
using test::NetFromText;
using test::ReadModel;
using test::ReadOptions;

// Changes a row into what is right, or returns false when it is right as it is.
using Mend = bool (*)(Json& row);

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
    const ParallelOptions options = ReadOptions(row);
    const Result<ParallelNets> nets = MakeNets(model, row, options);
    ASSERT_TRUE(nets.has_value());
    DeviceOption cpu;
    cpu.device_type = kCpu;
    cpu.device_id = 0;
    const Result<Net> found = ExtractReplicaPredictor(
        *nets, options, StandardOps(),
        {.inputs = {"data"}, .outputs = {"softmax"}, .device = std::make_shared<const DeviceOption>(cpu)});
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
    const ParallelOptions options = ReadOptions(row);
    const Result<ParallelNets> nets = MakeNets(model, row, options);
    ASSERT_TRUE(nets.has_value());
    const Result<CheckpointSync> sync = SyncAfterCheckpoint(*nets, options);
    ASSERT_TRUE(sync.has_value()) << sync.error().message;
    EXPECT_EQ(sync->sync.ops.size(), 8u);
    EXPECT_FALSE(sync->init.has_value());  // init's own common world is used again
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
  test::Tally tally;
  for (Json row : test::ReadJsonl("caffe2/data_parallel.jsonl")) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    if (!row.contains("single")) {  // an error; see SparseGradientsOnCpus
      EXPECT_EQ(row.at("error"), "AssertionError('Synchronizing gradient slices not supported')");
      tally.CountReason("B46");
      continue;
    }
    const SingleModel model = ReadModel(row.at("single"));
    ParallelOptions options = ReadOptions(row);
    std::string reason;
    for (const auto& [fault, mend] : kMends)
      if (mend(row)) reason = fault;
    // B56: the recorded plan overwrites the gradient of sq with twice its value.
    if (row.at("name") == "cpu_twice_2_rmsprop") {
      options.gradient_faults = kFaultOverwrite;
      reason = "B56";
    }
    const Result<ParallelNets> nets = MakeNets(model, row, options);
    const std::string difference =
        nets.has_value() ? DiffersFromRow(*nets, options, row) : nets.error().message;
    EXPECT_EQ(difference, "");
    tally.Count(difference, reason);
  }
  tally.Print("data parallel models");
}

}  // namespace
}  // namespace weft
