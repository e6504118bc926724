// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What data parallel nets compute: two or three CPU replicas, each with its part of a batch, train the same
// parameters as one replica with all of it. Dense and sparse gradients (B46), one blob read twice, combined
// batch norm, a shared model, memory options, buckets of gradients, accumulation; the models are those of
// data_parallel.jsonl.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/pass/bmuf.h"
#include "core/pass/optimizer.h"
#include "core/run/interpreter.h"
#include "tests/run/arrays.h"

namespace weft::test {
namespace {

constexpr int64_t kPart = 4;  // rows of the batch for each device

SingleModel ReadModel(const Json& single) {
  SingleModel model;
  model.init = NetFromText(single.at("init").get<std::string>());
  model.net = NetFromText(single.at("net").get<std::string>(), model.init.symbols);
  for (const Json& name : single.at("losses"))
    model.losses.push_back(model.net.Intern(name.get<std::string>()));
  for (const Json& name : single.at("params"))
    model.params.push_back(model.net.Intern(name.get<std::string>()));
  for (const Json& name : single.at("computed"))
    model.computed_params.push_back(model.net.Intern(name.get<std::string>()));
  model.loss_scale_op = true;
  return model;
}

// Rows [first, first + count) of what is fed to `name`; any numbers that repeat.
Tensor Rows(const std::string& model, const std::string& name, int64_t first, int64_t count) {
  const bool is_class =
      name == "label" && (model.find("mlp") != std::string::npos || model.find("conv") != std::string::npos);
  if (name == "indices" || is_class) {
    std::vector<int32_t> values;
    for (int64_t i = first; i < first + count; ++i) values.push_back(static_cast<int32_t>(i * 7 % 3));
    return Tensor::Of<int32_t>(std::vector<int64_t>{count}, values);
  }
  std::vector<int64_t> dims = {count};
  if (model.find("conv") != std::string::npos) {
    dims.insert(dims.end(), {3, 4, 4});
  } else {
    dims.push_back(model.find("sparse") != std::string::npos ? 1 : 4);
  }
  int64_t row = 1;
  for (size_t i = 1; i < dims.size(); ++i) row *= dims[i];
  std::vector<float> values;
  for (int64_t i = first * row; i < (first + count) * row; ++i)
    values.push_back(std::sin(static_cast<float>(i) * 1.7f + static_cast<float>(name.size())));
  return Tensor::Of<float>(dims, values);
}

struct Trial {
  RunContext context;
  std::unique_ptr<Workspace> workspace;
  ParallelNets nets;
  ParallelOptions options;

  Trial() {
    context.kernels = &ReferenceKernels();
    context.ops = &StandardOps();
    workspace = std::make_unique<Workspace>(context);
  }
  std::string Blob(size_t device, Symbol blob) const {
    return StrCat("cpu_", options.devices[device], "/", nets.net.Str(blob));
  }
};

Result<ParallelNets> Plan(const SingleModel& model, const ParallelOptions& options) {
  ParallelCallbacks callbacks = CallbacksOf(model);
  callbacks.optimizer = [](ModelBuilder& built) {
    std::vector<TrainedParam> params;
    for (const auto& [param, gradient] : built.gradients) params.push_back({param, gradient, {}});
    return AddOptimizer(built.registry, built.net, built.init, Sgd{.rate = {0.1f}}, params);
  };
  NameRegistry registry;
  ModelBuilder builder{registry, NetBuilder(registry, "m", model.net.symbols),
                       NetBuilder(registry, "m_init", model.net.symbols)};
  builder.params = model.common_params;
  return Parallelize(std::move(builder), StandardOps(), callbacks, options);
}

// Trains three steps with `total` rows over the devices; `start` gives the parameters.
std::string Train(const SingleModel& model, const std::string& name, int64_t total, const Trial* start,
                  Trial& run) {
  Result<ParallelNets> nets = Plan(model, run.options);
  if (!nets) return nets.error().message;
  run.nets = std::move(nets).value();
  if (auto ran = run.workspace->RunNetOnce(run.nets.init); !ran) return ran.error().message;
  const size_t devices = run.options.devices.size();
  const int64_t part = total / static_cast<int64_t>(devices);
  for (size_t i = 0; i < devices; ++i) {
    if (start)
      for (Symbol param : model.params)
        run.workspace->Feed(run.Blob(i, param),
                            start->workspace->FindTensor(StrCat("start/", model.net.Str(param)))->Clone());
    for (const char* input : {"data", "label", "indices"})
      run.workspace->Feed(StrCat("cpu_", run.options.devices[i], "/", input),
                          Rows(name, input, static_cast<int64_t>(i) * part, part));
  }
  if (!start)
    for (Symbol param : model.params)
      run.workspace->Feed(StrCat("start/", model.net.Str(param)),
                          run.workspace->FindTensor(run.Blob(0, param))->Clone());
  const int accumulate = run.options.accumulate;
  for (int step = 0; step < 3 * accumulate; ++step) {
    if (accumulate > 1)  // each iteration has its part of what the devices get
      for (size_t i = 0; i < devices; ++i)
        for (const char* input : {"data", "label"}) {
          const int64_t rows = part / accumulate;
          run.workspace->Feed(
              StrCat("cpu_", run.options.devices[i], "/", input),
              Rows(name, input, static_cast<int64_t>(i) * part + step % accumulate * rows, rows));
        }
    // A gathered index blob is overwritten in place: feed it anew, as a reader of data would.
    for (size_t i = 0; i < devices; ++i)
      run.workspace->Feed(StrCat("cpu_", run.options.devices[i], "/indices"),
                          Rows(name, "indices", static_cast<int64_t>(i) * part, part));
    if (auto ran = run.workspace->RunNetOnce(run.nets.net); !ran) return ran.error().message;
    if (!run.nets.update || (step + 1) % accumulate != 0) continue;
    if (auto ran = run.workspace->RunNetOnce(*run.nets.update); !ran) return ran.error().message;
  }
  return "";
}

TEST(DataParallelValues, ReplicasTrainAsOneDeviceWithAllOfTheBatch) {
  struct Variant {
    const char* name;
    std::vector<int> devices;
    void (*set)(ParallelOptions&);
  };
  const auto plain = [](ParallelOptions&) {};
  const Variant variants[] = {
      {"cpu_mlp_2_sgd", {0, 1}, plain},
      {"cpu_mlp_2_sgd", {0, 1, 2}, plain},
      {"cpu_mlp_2_sgd", {0, 1}, [](ParallelOptions& options) { options.shared_model = true; }},
      {"cpu_mlp_2_sgd", {1, 3}, [](ParallelOptions& options) { options.optimize_gradient_memory = true; }},
      {"cpu_mlp_2_sgd", {0, 1}, [](ParallelOptions& options) { options.dynamic_memory_management = true; }},
      {"cpu_mlp_2_sgd", {0, 1, 2}, [](ParallelOptions& options) { options.bucket_count = 3; }},
      {"cpu_mlp_2_sgd", {0, 1}, [](ParallelOptions& options) { options.bucket_bytes = 200; }},
      {"cpu_mlp_2_sgd",
       {0, 1},
       [](ParallelOptions& options) {
         options.bucket_bytes = 1 << 20;
         options.dynamic_memory_management = true;
       }},
      {"cpu_mlp_2_sgd", {0, 1}, [](ParallelOptions& options) { options.accumulate = 2; }},
      {"cpu_mlp_2_sgd",
       {0},
       [](ParallelOptions& options) {
         options.accumulate = 4;
         options.optimize_gradient_memory = true;
       }},
      {"cpu_mlp_2_sgd",
       {0, 1, 2},
       [](ParallelOptions& options) {
         options.accumulate = 2;
         options.bucket_count = 3;
         options.shared_model = true;
       }},
      {"cpu_twice_2_rmsprop", {0, 1}, plain},
      {"cpu_twice_2_rmsprop", {0, 1}, [](ParallelOptions& options) { options.bucket_count = 2; }},
      {"cpu_twice_2_rmsprop", {0, 1}, [](ParallelOptions& o) { o.optimize_gradient_memory = true; }},
      {"gpu_sparse_2", {0, 1}, plain},
      {"gpu_sparse_2", {0, 1}, [](ParallelOptions& options) { options.bucket_count = 100; }},
      {"cpu_conv_bn_combined_2", {0, 1}, [](ParallelOptions& o) { o.combine_spatial_bn = true; }},
      {"cpu_conv_bn_combined_2",
       {0, 1},
       [](ParallelOptions& o) {
         o.combine_spatial_bn = true;
         o.bucket_bytes = 1000;
       }},
      {"cpu_conv_bn_combined_2", {2, 5, 6}, [](ParallelOptions& o) { o.combine_spatial_bn = true; }},
  };
  int agree = 0;
  const std::vector<Json> rows = ReadJsonl("caffe2/data_parallel.jsonl");
  for (const Variant& variant : variants) {
    SCOPED_TRACE(StrCat(variant.name, " on ", variant.devices.size()));
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Json& of) {
      return of.at("name").get<std::string>().starts_with(variant.name);
    });
    ASSERT_TRUE(row != rows.end());
    const SingleModel model = ReadModel(row->at("single"));
    const int64_t total = kPart * static_cast<int64_t>(variant.devices.size());
    Trial one, many;
    one.options.devices = {0};
    many.options.devices = variant.devices;
    one.options.device_type = many.options.device_type = kCpu;
    variant.set(many.options);
    ASSERT_EQ(Train(model, variant.name, total, nullptr, one), "");
    ASSERT_EQ(Train(model, variant.name, total, &one, many), "");
    bool moved = false;
    for (Symbol param : model.params) {
      const Tensor& expected = *one.workspace->FindTensor(one.Blob(0, param));
      const std::string start = StrCat("start/", model.net.Str(param));
      moved = moved || Difference(*one.workspace->FindTensor(start), expected, 1e-4, 0) != "";
      for (size_t i = 0; i < (many.options.shared_model ? 1 : variant.devices.size()); ++i) {
        const std::string blob = many.Blob(i, param);
        EXPECT_EQ(Difference(*many.workspace->FindTensor(blob), expected, 2e-5, 1e-4), "") << blob;
      }
    }
    EXPECT_TRUE(moved);
    ++agree;
  }
  std::puts(StrCat("replicated runs equal one device: ", agree, " of ", std::size(variants)).c_str());
}

// One bias is made once, and read by all replicas under its own name.
TEST(DataParallelValues, ReplicasShareCommonParameters) {
  const std::vector<Json> rows = ReadJsonl("caffe2/data_parallel.jsonl");
  const auto row =
      std::find_if(rows.begin(), rows.end(), [](const Json& of) { return of.at("name") == "cpu_mlp_2_sgd"; });
  SingleModel model = ReadModel(row->at("single"));
  const SingleModel alone = model;
  model.common_params = {model.params.back()};  // zeros at first
  model.params.pop_back();
  model.post_sync =
      NetFromText(R"(name: "p" op { input: "fc1_w" output: "start_w" type: "Copy" })", model.net.symbols);
  Trial one, many;
  one.options.device_type = many.options.device_type = kCpu;
  one.options.devices = {0};
  many.options.devices = {0, 1, 2};
  ASSERT_EQ(Train(alone, "cpu_mlp_2_sgd", 3 * kPart, nullptr, one), "");
  ASSERT_EQ(Train(model, "cpu_mlp_2_sgd", 3 * kPart, &one, many), "");
  EXPECT_EQ(
      Difference(*many.workspace->FindTensor("fc2_b"), *one.workspace->FindTensor("cpu_0/fc2_b"), 2e-5, 1e-4),
      "");
  EXPECT_EQ(Difference(*many.workspace->FindTensor("cpu_2/fc1_w"), *one.workspace->FindTensor("cpu_0/fc1_w"),
                       2e-5, 1e-4),
            "");
  for (const char* device : {"cpu_0/", "cpu_2/"}) {
    EXPECT_FALSE(many.workspace->HasBlob(StrCat(device, "fc2_b")));
    EXPECT_TRUE(many.workspace->HasBlob(StrCat(device, "start_w")));
  }
  many.options.rendezvous = Rendezvous{.num_shards = 2};
  EXPECT_EQ(Plan(model, many.options).error().message,
            "the gradient of fc2_b, a parameter that the replicas share, would stay on its machine: "
            "num_shards must "
            "be 1, found 2");
}

}  // namespace
}  // namespace weft::test
