// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for every pass, on random nets with If, While, overwritten and in-place blobs, and their
// training nets: the names at the boundary stay, no new finding is an error, doing it twice changes nothing,
// and both nets give the same values, to the bit. WEFT_RANDOM_NETS: how many.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <random>

#include "core/base/str.h"
#include "core/check/check_net.h"
#include "core/grad/repair.h"
#include "core/kernels/families.h"
#include "core/pass/dead_ops.h"
#include "core/pass/device_copies.h"
#include "core/pass/in_place.h"
#include "core/pass/inference.h"
#include "core/pass/memory_reuse.h"
#include "core/pass/merge_init.h"
#include "core/pass/predictor.h"
#include "core/pass/recompute.h"
#include "core/pass/release.h"
#include "core/pass/rename_prefix.h"
#include "core/pass/retarget.h"
#include "core/run/interpreter.h"
#include "core/ssa/form.h"
#include "proto/codec.h"
#include "tests/support/random_net.h"
#include "tests/support/random_recompute.h"

namespace weft::test {
namespace {

using Bits = std::vector<std::pair<std::string, std::string>>;  // name, bytes of the tensor

struct Ran {
  std::string error;
  Bits outputs;
  std::vector<std::pair<std::string, int64_t>> sizes;  // of every float tensor afterwards
};

Ran RunNet(const Net& net, const Feeds& feeds) {
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.op_limit = 100000;
  Workspace workspace(context);
  for (const auto& [name, tensor] : feeds.tensors) workspace.Feed(name, tensor.Clone());
  Ran ran;
  if (const Result<void> done = workspace.RunNetOnce(net); !done) {
    ran.error = done.error().message;
    return ran;
  }
  const auto bytes = [](const Tensor& tensor) {
    return static_cast<int64_t>(tensor.numel() * static_cast<int64_t>(sizeof(float)));
  };
  for (Symbol name : net.external_outputs) {
    const Tensor* tensor = workspace.FindTensor(net.Str(name));
    if (!tensor || tensor->type() != DataType::kFloat) continue;
    std::string data(static_cast<size_t>(bytes(*tensor)), '\0');
    std::memcpy(data.data(), tensor->data<float>(), data.size());
    ran.outputs.push_back({std::string(net.Str(name)), std::move(data)});
  }
  for (const std::string& name : workspace.Blobs())
    if (const Tensor* tensor = workspace.FindTensor(name); tensor && tensor->type() == DataType::kFloat)
      ran.sizes.push_back({name, bytes(*tensor)});
  return ran;
}

size_t Errors(const Net& net) {
  size_t errors = 0;
  for (const Diagnostic& finding : CheckNet(net, {.ops = &StandardOps()}))
    errors += finding.severity == Severity::kError;
  return errors;
}

std::vector<std::string> Names(const Net& net, const std::vector<Symbol>& symbols) {
  std::vector<std::string> names;
  for (Symbol symbol : symbols) names.emplace_back(net.Str(symbol));
  return names;
}

struct Case {
  Net net;
  Feeds feeds;
  std::vector<std::pair<std::string, int64_t>> sizes;
  uint32_t seed = 0;
};

std::vector<BlobBytes> SizesIn(const Net& net, const Case& one) {
  std::vector<BlobBytes> sizes;
  for (const auto& [name, bytes] : one.sizes)
    if (const Symbol blob = net.symbols->Find(name)) sizes.push_back({blob, bytes});
  return sizes;
}

std::vector<GivenBlob> GivenIn(const Net& net, const Case& one) {
  std::vector<GivenBlob> given;
  for (const auto& [name, tensor] : one.feeds.tensors) {
    GivenBlob& blob = given.emplace_back(GivenBlob{net.symbols->Intern(name), {}});
    blob.info = TensorInfo::Of(tensor.type(), {});
    for (const int64_t extent : tensor.dims()) blob.info.dims.push_back(extent);
  }
  return given;
}

// Random top-level operators on random GPUs. Those that hold nets stay on the CPU, with their workspaces.
Net OnDevices(Net net, uint32_t seed) {
  std::mt19937 random(seed);
  for (Op& op : net.ops) {
    const uint32_t where = random() % 4;
    bool holds_net = false;
    for (const Arg& arg : op.args) holds_net = holds_net || (arg.has & Arg::kHasN) != 0;
    const std::string_view type = net.Str(op.type);
    if (where == 0 || holds_net || op.inputs.empty() || type == "CreateScope" || type == "HasScope") continue;
    DeviceOption device;
    if (op.device) device = *op.device;
    device.device_type = kCuda;
    device.device_id = static_cast<int32_t>(where - 1);
    op.device = std::make_shared<const DeviceOption>(device);
  }
  return net;
}

// Every input is where its operator needs it. The nets as the interpreter, which has one device, runs them.
Net AllHere(const Net& net) {
  SymbolMap<DevicePtr> where(*net.symbols, net.ops.size(), nullptr);
  Net out = net;
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const OpDevices devices = InferOpDevices(net, op);
    const bool copy = net.Str(op.type) == "Copy";
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const bool here = SameDevice(where.Get(op.inputs[k]), devices.inputs[k]);
      EXPECT_TRUE(here || (copy && where.Get(op.inputs[k])))
          << "op " << i << " input " << net.Str(op.inputs[k]);
    }
    for (size_t k = 0; k < op.outputs.size(); ++k) where[op.outputs[k]] = devices.outputs[k];
    if (net.Str(op.type) == "CopyCPUToGPU" || net.Str(op.type) == "CopyGPUToCPU")
      out.ops[i].type = out.Intern("Copy");
    out.ops[i].device = nullptr;
  }
  return out;
}

struct Property {
  std::string_view name;
  std::function<Result<Net>(const Net& net, const Case& one)> pass;
  bool idempotent = true;
};

int recomputed = 0, exact = 0;  // nets in which something runs again; whose peak is told to the byte
size_t recomputed_ops = 0;      // by chance

std::vector<Property> Properties() {
  const OpSet& ops = StandardOps();
  const auto memory = [&ops](Recycle recycle, bool keep_unread) {
    return [&ops, recycle, keep_unread](const Net& net, const Case& one) -> Result<Net> {
      MemoryOptions options{.recycle = recycle, .keep_unread = keep_unread};
      options.sizes = SizesIn(net, one);
      WEFT_TRY(MemoryPlan plan, ReuseMemory(net, ops, options));
      EXPECT_LE(plan.peak_after, plan.peak_before);
      EXPECT_LE(plan.lower_bound, plan.peak_after);
      return std::move(plan.net);
    };
  };
  return {
      {"dead_ops", [&ops](const Net& net, const Case&) { return RemoveDeadOps(net, ops); }},
      {"fold", [&ops](const Net& net, const Case&) -> Result<Net> { return FoldInPlace(net, ops).net; }},
      {"unfold",
       [&ops](const Net& net, const Case&) -> Result<Net> {
         WEFT_TRY(SsaForm form, ToSsaForm(net, ops, {.keep = {}, .keep_updates = true}));
         return std::move(form.net);
       }},
      {"fold after unfold",
       [&ops](const Net& net, const Case&) -> Result<Net> {
         WEFT_TRY(SsaForm form, ToSsaForm(net, ops, {.keep = {}, .keep_updates = true}));
         return FoldInPlace(form.net, ops).net;
       },
       false},
      {"release", [](const Net& net, const Case&) -> Result<Net> { return ReleaseWhenUsed(net); }},
      {"retarget",
       [](const Net& net, const Case&) -> Result<Net> {
         DeviceOption cuda;
         cuda.device_type = kCuda;
         return Retarget(net, {.device = std::make_shared<const DeviceOption>(cuda), .engine = "CUDNN"});
       }},
      {"memory", memory(Recycle::kAll, true)},
      {"memory, unread too", memory(Recycle::kAll, false)},
      {"memory of gradients", memory(Recycle::kGradients, false)},
      {"recompute",
       [&ops](const Net& net, const Case& one) -> Result<Net> {
         ShapeTable table;
         RecomputePlan plan = Recompute(net, GivenIn(net, one), table, ops);
         EXPECT_EQ(plan.nothing.empty(), plan.peak_after < plan.peak_before);
         EXPECT_EQ(plan.nothing.empty(), !SameNet(plan.net, net));
         recomputed += plan.nothing.empty();
         return std::move(plan.net);
       },
       false},  // a second time it may go further
      {"recompute by chance",
       [](const Net& net, const Case& one) -> Result<Net> {
         const RandomlyRecomputed made = RecomputeByChance(net, GivenIn(net, one), one.seed);
         if (made.exact) {
           EXPECT_EQ(made.told, made.live);
         }
         exact += made.exact;
         recomputed_ops += made.again;
         return made.net;
       },
       false},
      {"inference",
       [&ops](const Net& net, const Case&) -> Result<Net> { return StripForInference(net, ops).net; },
       false},  // a Copy may be free to go once another has gone
      {"predictor",
       [&ops](const Net& net, const Case&) -> Result<Net> {
         WEFT_TRY(Predictor made, ExtractPredictor(net, nullptr, ops));
         made.net.external_inputs = net.external_inputs;  // it lists what is needed
         return std::move(made.net);
       },
       false},  // as inference
      {"prefix there and back",
       [](const Net& net, const Case&) -> Result<Net> {
         WEFT_TRY(const Net there, RenamePrefix(net, {.from = "", .to = "a/b/", .keep = {}}));
         EXPECT_EQ(CommonScope(there), "a/b/");
         return RenamePrefix(there);
       }},
      {"merge with an empty init",
       [](const Net& net, const Case&) { return MergeInit(Net(net.symbols), net); }},
  };
}

void Check(const Property& property, const Case& one, const Ran& expected) {
  SCOPED_TRACE(std::string(property.name));
  const Result<Net> made = property.pass(one.net, one);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(Names(*made, made->external_inputs), Names(one.net, one.net.external_inputs));
  EXPECT_EQ(Names(*made, made->external_outputs), Names(one.net, one.net.external_outputs));
  EXPECT_LE(Errors(*made), Errors(one.net));
  const Ran ran = RunNet(*made, one.feeds);
  EXPECT_EQ(ran.error, "");
  EXPECT_TRUE(ran.outputs == expected.outputs) << NetToText(*made);
  if (!property.idempotent) return;
  Case again = one;
  again.net = *made;
  for (const auto& [name, bytes] : ran.sizes) again.sizes.push_back({name, bytes});
  const Result<Net> twice = property.pass(*made, again);
  ASSERT_TRUE(twice.has_value()) << twice.error().message;
  EXPECT_TRUE(SameNet(*made, *twice)) << NetToText(*made) << "------\n" << NetToText(*twice);
}

void CheckDevices(const Case& one, const Ran& expected, uint32_t seed) {
  SCOPED_TRACE("device_copies");
  const Net spread = OnDevices(one.net, seed);
  const Result<Net> made = AddDeviceCopies(spread);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(Names(*made, made->external_inputs), Names(one.net, one.net.external_inputs));
  EXPECT_EQ(Names(*made, made->external_outputs), Names(one.net, one.net.external_outputs));
  const Ran ran = RunNet(AllHere(*made), one.feeds);
  EXPECT_EQ(ran.error, "");
  EXPECT_TRUE(ran.outputs == expected.outputs) << NetToText(*made);
  const Result<Net> twice = AddDeviceCopies(*made);
  ASSERT_TRUE(twice.has_value()) << twice.error().message;
  EXPECT_TRUE(SameNet(*made, *twice)) << NetToText(*made) << "------\n" << NetToText(*twice);
}

// Fills of some inputs in an init net, merged: the same values without feeding these.
bool CheckMerge(const Case& one, const Ran& expected, uint32_t seed) {
  SCOPED_TRACE("merge_init");
  std::mt19937 random(seed);
  Net init(one.net.symbols);
  Feeds left;
  for (const auto& [name, tensor] : one.feeds.tensors) {
    if (tensor.type() != DataType::kFloat || random() % 2 == 0) {
      left.tensors.push_back({name, tensor.Clone()});
      continue;
    }
    Op& fill = init.ops.emplace_back();
    fill.type = init.Intern("GivenTensorFill");
    fill.name = init.Intern("");
    fill.outputs.push_back(init.Intern(name));
    const auto dims = tensor.dims();
    fill.args =
        WithArg(fill.args, MakeArg(init.Intern("shape"), std::vector<int64_t>(dims.begin(), dims.end())));
    const float* data = tensor.data<float>();
    fill.args =
        WithArg(fill.args, MakeArg(init.Intern("values"), std::vector<float>(data, data + tensor.numel())));
  }
  const Result<Net> merged = MergeInit(init, one.net);
  if (!merged) {  // a net that updates what the init net fills
    EXPECT_NE(merged.error().message.find("each run would start it anew"), std::string::npos)
        << merged.error().message;
    return false;
  }
  for (const Op& fill : init.ops)
    for (Symbol name : merged->external_inputs) EXPECT_NE(name, fill.outputs[0]);
  EXPECT_EQ(Names(*merged, merged->external_outputs), Names(one.net, one.net.external_outputs));
  EXPECT_LE(Errors(*merged), Errors(one.net));
  const Ran ran = RunNet(*merged, left);
  EXPECT_EQ(ran.error, "");
  EXPECT_TRUE(ran.outputs == expected.outputs) << NetToText(*merged);
  return true;
}

TEST(Passes, KeepWhatANetMeans) {
  const char* wanted = std::getenv("WEFT_RANDOM_NETS");
  const uint32_t count = wanted ? static_cast<uint32_t>(std::atoi(wanted)) : 150;
  const std::vector<Property> properties = Properties();
  int forward = 0, training = 0, no_run = 0, merged = 0;
  for (uint32_t seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Case one{RandomNet(seed), RandomFeeds(seed + 1000003), {}, seed};
    one.net.external_outputs = {one.net.Intern("total"), one.net.Intern("loss")};
    GradientOptions options;
    options.losses.push_back({one.net.Intern("loss"), {}});
    options.repair = true;
    const Result<RepairedPlan> plan = PlanWithRepair(one.net, StandardOps(), options);
    std::vector<Case> cases = {one};
    if (plan) {
      Case train = one;
      train.net = AppendBackward(plan->changed ? plan->forward : one.net, plan->backward);
      for (const BlobGradient& of : plan->backward.gradients)
        if (of.gradient.is_dense() && of.version == 0 && one.net.Str(of.blob).starts_with("x"))
          train.net.external_outputs.push_back(of.gradient.dense);
      cases.push_back(std::move(train));
    }
    for (size_t k = 0; k < cases.size(); ++k) {
      SCOPED_TRACE(k ? "training net" : "forward net");
      Ran expected = RunNet(cases[k].net, cases[k].feeds);
      if (!expected.error.empty()) {
        ++no_run;
        continue;
      }
      cases[k].sizes = expected.sizes;
      for (const Property& property : properties) Check(property, cases[k], expected);
      CheckDevices(cases[k], expected, seed);
      merged += CheckMerge(cases[k], expected, seed);
      ++(k ? training : forward);
    }
  }
  std::cout << forward << " forward and " << training << " training nets through " << properties.size() + 1
            << " passes, " << merged << " of them merged with fills, " << recomputed
            << " with values made again (and by chance " << recomputed_ops << " operators twice, " << exact
            << " peaks foretold); " << no_run << " that do not run\n";
  EXPECT_GT(merged, forward / 4);
  EXPECT_GT(recomputed_ops, count / 6);
  EXPECT_GT(exact, 0);
}

}  // namespace
}  // namespace weft::test
