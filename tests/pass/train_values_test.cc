// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorded training nets (train.jsonl: fully connected, convolutions, batch norm, embeddings, an LSTM,
// every optimizer) through the passes that keep what a net computes: losses and parameters after three steps
// are the same, to the bit.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/pass/dead_ops.h"
#include "core/pass/in_place.h"
#include "core/pass/memory_reuse.h"
#include "core/pass/memory_sizes.h"
#include "core/pass/recompute.h"
#include "core/pass/release.h"
#include "core/pass/rename_prefix.h"
#include "core/run/interpreter.h"
#include "core/ssa/form.h"
#include "tests/run/arrays.h"
#include "tests/support/random_recompute.h"

namespace weft::test {
namespace {

struct Trained {
  std::string error;
  std::string bits;  // of the losses and final parameters
  std::vector<std::pair<std::string, int64_t>> sizes;
  std::vector<std::pair<std::string, TensorInfo>> shapes;
};

Trained Train(const Json& row, Net net) {
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  Workspace workspace(context);
  Trained out;
  const auto failed = [&](const Error& error) {
    out.error = error.message;
    return out;
  };
  if (auto ran = workspace.RunNetOnce(NetFromText(row.at("init_net").get<std::string>())); !ran)
    return failed(ran.error());
  for (const auto& [name, array] : row.at("init").items()) workspace.Feed(name, TensorFromJson(array));
  net.name = net.Intern("train");
  const Result<PreparedNet*> prepared = workspace.CreateNet(std::make_shared<const Net>(net));
  if (!prepared) return failed(prepared.error());
  const auto keep = [&](const std::string& name) {
    const Tensor* tensor = workspace.FindTensor(name);
    if (!tensor || tensor->type() != DataType::kFloat) return;
    out.bits.append(reinterpret_cast<const char*>(tensor->data<float>()),
                    static_cast<size_t>(tensor->numel()) * sizeof(float));
  };
  for (int step = 0; step < 3; ++step) {
    if (auto ran = (*prepared)->Run(); !ran) return failed(ran.error());
    keep(row.at("loss"));
  }
  for (const auto& [name, array] : row.at("final").items()) keep(name);
  for (const std::string& name : workspace.Blobs())
    if (const Tensor* tensor = workspace.FindTensor(name); tensor && tensor->has_type()) {
      out.sizes.push_back({name, tensor->numel() * static_cast<int64_t>(DataTypeSize(tensor->type()))});
      out.shapes.push_back({name, TensorInfo::Of(tensor->type(), {})});
      for (const int64_t extent : tensor->dims()) out.shapes.back().second.dims.push_back(extent);
    }
  return out;
}

TEST(TrainingNets, KeepTheirValues) {
  int runs = 0, lower = 0;
  size_t again = 0;
  for (const Json& row : ReadJsonl("caffe2/train.jsonl")) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    Net net = NetFromText(row.at("train_net").get<std::string>());
    net.external_outputs = {net.Intern(row.at("loss").get<std::string>())};
    const Trained expected = Train(row, net);
    ASSERT_EQ(expected.error, "");
    const auto check = [&](std::string_view pass, const Result<Net>& made) {
      SCOPED_TRACE(std::string(pass));
      ASSERT_TRUE(made.has_value()) << made.error().message;
      const Trained found = Train(row, *made);
      EXPECT_EQ(found.error, "");
      EXPECT_TRUE(found.bits == expected.bits);
      ++runs;
    };
    const OpSet& ops = StandardOps();
    check("dead ops", RemoveDeadOps(net, ops));
    check("release", ReleaseWhenUsed(net));
    check("fold", FoldInPlace(net, ops).net);
    const Result<SsaForm> form = ToSsaForm(net, ops, {.keep = {}, .keep_updates = true});
    check("unfold", form ? Result<Net>(form->net) : Result<Net>(form.error()));
    ShapeTable table;
    std::vector<GivenBlob> given;
    for (const Symbol blob : net.external_inputs)
      for (const auto& [name, info] : expected.shapes)
        if (name == net.Str(blob)) given.push_back({blob, info});
    const RecomputePlan plan = Recompute(net, given, table, ops);
    EXPECT_EQ(plan.nothing.empty(), plan.peak_after < plan.peak_before);
    lower += plan.nothing.empty();
    check("recompute", plan.net);
    for (uint32_t seed = 0; seed < 4; ++seed) {
      const RandomlyRecomputed made = RecomputeByChance(net, given, seed);
      if (made.exact) {
        EXPECT_EQ(made.told, made.live);
      }
      again += made.again;
      check("recompute by chance", made.net);
      MemoryOptions options{.recycle = Recycle::kGradientsAndActivations, .keep_unread = false};
      options.sizes = SizesOf(InferShapes(made.net, given, table), table, 1);
      const Result<MemoryPlan> reused = ReuseMemory(made.net, ops, options);
      check("then memory", reused ? Result<Net>(reused->net) : Result<Net>(reused.error()));
    }
    for (Recycle recycle : {Recycle::kGradients, Recycle::kGradientsAndActivations}) {
      MemoryOptions options{.recycle = recycle, .keep_unread = false};
      for (const auto& [name, bytes] : expected.sizes)
        if (const Symbol blob = net.symbols->Find(name)) options.sizes.push_back({blob, bytes});
      const Result<MemoryPlan> plan = ReuseMemory(net, ops, options);
      EXPECT_TRUE(!plan || plan->shared > 0);
      check(recycle == Recycle::kGradients ? "memory of gradients" : "memory",
            plan ? Result<Net>(plan->net) : Result<Net>(plan.error()));
    }
  }
  std::puts(StrCat(runs, " runs agree; recomputing lowers the peak of ", lower, "; by chance ", again,
                   " operators run twice")
                .c_str());
}

}  // namespace
}  // namespace weft::test
