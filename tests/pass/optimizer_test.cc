// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizers against recorded ones: the planner, the builder and the optimizer make each training net of
// train.jsonl from its forward net, and the update operators of optimizers.jsonl, op for op.
#include "core/pass/optimizer.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/ops/op_set.h"
#include "proto/codec.h"
#include "tests/support/compact_net.h"
#include "tests/support/golden.h"

namespace weft {
namespace {

using test::Json;
using test::NetFromText;

struct Made {
  Net train, init;
};

// The parameters' own fills: what the init net holds before an optimizer came.
Net ParamFills(Net init) {
  size_t end = 0;
  const auto is_state = [&](const Op& op) {
    const std::string_view name = init.Str(op.outputs[0]);
    return name == "optimizer_iteration" || name.starts_with("ONE_") || name.starts_with("wd_") ||
           name.ends_with("_ftrl_nz");
  };
  while (end < init.ops.size() && !is_state(init.ops[end])) ++end;
  init.ops.resize(end);
  return init;
}

Result<Made> Build(NameRegistry& registry, const Json& row, const std::string& loss,
                   const Optimizer& optimizer, float decay, std::vector<std::string> names,
                   uint32_t faults = kNoFaults) {
  const auto symbols = std::make_shared<SymbolTable>();
  Net forward = NetFromText(row.at("forward").get<std::string>(), symbols);
  GradientOptions options;
  options.losses = {{symbols->Intern(loss), {}}};
  options.faults = faults;
  WEFT_TRY(Backward backward, PlanGradients(forward, StandardOps(), options));
  std::vector<TrainedParam> params, weights;
  for (const std::string& name : names) {
    TrainedParam param{symbols->Intern(name), {}, {}};
    for (const BlobGradient& of : backward.gradients)
      if (of.blob == param.blob) param.gradient = of.gradient;
    if (name.ends_with("_w")) weights.push_back(param);
    params.push_back(std::move(param));
  }
  NetBuilder net(registry, AppendBackward(std::move(forward), std::move(backward)));
  NetBuilder init(registry, ParamFills(NetFromText(row.at("init_net").get<std::string>(), symbols)));
  if (decay > 0) WEFT_TRY_VOID(AddWeightDecay(net, init, decay, weights));
  WEFT_TRY_VOID(AddOptimizer(registry, net, init, optimizer, params));
  return Made{std::move(net).Finish(), std::move(init).Finish()};
}

// Caffe2 repeats the fills that all parameters share.
Net Deduplicated(const Net& net) {
  Net out = WithoutOps(net);
  for (const Op& op : net.ops) {
    bool seen = false;
    for (const Op& had : out.ops) seen = seen || SameOp(*net.symbols, had, *net.symbols, op);
    if (!seen) out.ops.push_back(op);
  }
  return out;
}

std::string Text(const Net& net, const Op& op) { return OpToText(*net.symbols, op); }

// "" or the first difference.
std::string Differs(const Net& found, const Net& expected) {
  for (size_t i = 0; i < std::max(found.ops.size(), expected.ops.size()); ++i) {
    if (i >= found.ops.size()) return "missing " + Text(expected, expected.ops[i]);
    if (i >= expected.ops.size()) return "too many: " + Text(found, found.ops[i]);
    if (!SameOp(*found.symbols, found.ops[i], *expected.symbols, expected.ops[i]))
      return StrCat("op ", i, ":\n", Text(found, found.ops[i]), "expected\n",
                    Text(expected, expected.ops[i]));
  }
  const auto inputs = [](const Net& net) {
    std::vector<std::string> names;
    for (Symbol name : net.external_inputs) names.emplace_back(net.Str(name));
    return StrJoin(names, " ");
  };
  if (inputs(found) != inputs(expected))
    return StrCat("inputs ", inputs(found), "\nexpected ", inputs(expected));
  return found.Str(found.name) == expected.Str(expected.name) ? "" : "another name";
}

struct TrainRow {
  std::string_view name;
  Optimizer optimizer;
  float decay = 0;
};

const TrainRow kTrainRows[] = {
    {"mlp_sgd", Sgd{.rate = {0.1f}}},
    {"mlp_sgd_step", Sgd{.rate = {0.1f, "step", {{"stepsize", 5}, {"gamma", 0.5}}}}},
    {"mlp_momentum", Sgd{.rate = {0.05f}, .momentum = 0.9f}},
    {"mlp_adagrad", Adagrad{.rate = {0.1f}}},
    {"mlp_adam", Adam{.rate = {0.02f}}},
    {"mlp_rmsprop", RmsProp{.rate = {0.01f}}},
    {"mlp_adadelta", Adadelta{.rate = {0.5f}}},
    {"mlp_wd", Sgd{.rate = {0.1f}}, 0.01f},
    {"lenet_momentum", Sgd{.rate = {0.002f}, .momentum = 0.9f}},
    {"resnet_tiny", Sgd{.rate = {0.05f}, .momentum = 0.9f}},
    {"embedding_sgd", Sgd{.rate = {0.1f}}},
    {"embedding_adagrad", Adagrad{.rate = {0.1f}}},
    {"embedding_adam", Adam{.rate = {0.02f}}},
    {"gated_shared", Adam{.rate = {0.02f}}},
    {"lstm", Sgd{.rate = {0.1f}}},
};

TEST(Optimizer, TrainingNetsAreCaffe2s) {
  NameRegistry registry;
  int agree = 0;
  const std::vector<Json> rows = test::ReadJsonl("caffe2/train.jsonl");
  ASSERT_EQ(rows.size(), std::size(kTrainRows));
  for (size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    const TrainRow& made_by = kTrainRows[i];
    SCOPED_TRACE(std::string(made_by.name));
    ASSERT_EQ(row.at("name"), made_by.name);
    const Result<Made> made = Build(registry, row, row.at("loss"), made_by.optimizer, made_by.decay,
                                    row.at("params").get<std::vector<std::string>>());
    ASSERT_TRUE(made.has_value()) << made.error().message;
    const std::string difference = Differs(made->train, NetFromText(row.at("train_net").get<std::string>()));
    EXPECT_EQ(difference, "");
    EXPECT_EQ(Differs(made->init, Deduplicated(NetFromText(row.at("init_net").get<std::string>()))), "");
    agree += difference.empty();
  }
  std::puts(StrCat("training nets made from their forward nets: ", agree, " of ", rows.size()).c_str());
}

float Float(const Json& options, const char* name, float otherwise) {
  return options.contains(name) ? options.at(name).get<float>() : otherwise;
}

Optimizer FromOptions(const std::string& kind, const Json& options) {
  LearningRate rate;
  rate.base = Float(options, "base_learning_rate", 0.01f);
  rate.policy = options.value("policy", "fixed");
  for (const char* name : {"stepsize", "gamma", "power"}) {
    if (!options.contains(name)) continue;
    const Json& value = options.at(name);
    rate.args.push_back(value.is_number_integer() ? OpArg(name, value.get<int64_t>())
                                                  : OpArg(name, value.get<double>()));
  }
  const std::string aggregator = options.value("sparse_dedup_aggregator", "");
  const RowMerge merge = aggregator == "sum"    ? RowMerge::kSum
                         : aggregator == "mean" ? RowMerge::kMean
                                                : RowMerge::kNone;
  const std::string engine = options.value("engine", "");
  if (kind == "build_sgd")
    return Sgd{rate, Float(options, "momentum", 0), options.value("nesterov", true), merge};
  if (kind == "build_adagrad")
    return Adagrad{rate,
                   Float(options, "epsilon", 1e-4f),
                   Float(options, "decay", 1),
                   Float(options, "weight_decay", 0),
                   options.value("rowWise", false),
                   merge,
                   engine};
  if (kind == "build_adam")
    return Adam{rate,  Float(options, "beta1", 0.9f),   0.999f,
                1e-8f, options.value("rowWise", false), options.value("enableRAdam", false),
                merge};
  if (kind == "build_rms_prop")
    return RmsProp{rate, Float(options, "decay", 0.9f), Float(options, "momentum", 0), 1e-5f, engine};
  if (kind == "build_adadelta") return Adadelta{rate, 1e-4f, 0.95f, merge, engine};
  return Ftrl{Float(options, "alpha", 0.01f),
              Float(options, "beta", 1e-4f),
              Float(options, "lambda1", 0),
              Float(options, "lambda2", 0),
              merge,
              engine};
}

TEST(Optimizer, UpdatesAreCaffe2s) {
  int rows = 0;
  for (const Json& row : test::ReadJsonl("caffe2/optimizers.jsonl")) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    NameRegistry registry;
    const float decay = row.at("weight_decay").is_null() ? 0 : row.at("weight_decay").get<float>();
    const Result<Made> made =
        Build(registry, row, "loss", FromOptions(row.at("kind"), row.at("options")), decay,
              row.at("params").get<std::vector<std::string>>(), kFaultSeedDevice);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ(Differs(made->train, NetFromText(row.at("train_net").get<std::string>())), "");
    EXPECT_EQ(Differs(made->init, Deduplicated(NetFromText(row.at("init_net").get<std::string>()))), "");
    ++rows;
  }
  EXPECT_EQ(rows, 44);
}

TEST(Optimizer, RefusesWhatMakesNoSense) {
  NameRegistry registry;
  NetBuilder net(registry, testing::CompactNet("name n; FC(x, w, b) -> y"));
  NetBuilder init(registry, "init", net.net().symbols);
  const Symbol w =
      init.Add({.type = "XavierFill", .outputs = std::vector<BlobRef>{"w"}, .args = {{"shape", {3, 2}}}})[0];
  const Symbol grad = net.Intern("w_grad"), rows = net.Intern("rows");
  const TrainedParam dense{w, Gradient::Dense(grad), {}}, sparse{w, Gradient::Sparse(rows, grad), {}};
  const auto message = [&](const Optimizer& optimizer, std::vector<TrainedParam> params) {
    const Result<void> made = AddOptimizer(registry, net, init, optimizer, params);
    return made.has_value() ? std::string() : made.error().message;
  };
  EXPECT_EQ(message(Sgd{.rate = {0}}, {dense}), "a learning rate must be above zero, found 0");
  EXPECT_TRUE(message(Sgd{.rate = {1, "stp"}}, {dense})
                  .starts_with("there is no learning rate policy stp; there is fixed"));
  EXPECT_EQ(message(Sgd{}, {dense, dense}), "the parameter w is given twice");
  EXPECT_EQ(message(Sgd{}, {{w, {}, {}}}), "parameter w has no gradient");
  EXPECT_EQ(message(RmsProp{}, {sparse}), "parameter w has a sparse gradient, which RmsProp does not take");
  EXPECT_EQ(message(Adagrad{.row_wise = true}, {dense}),
            "parameter w has a dense gradient: row-wise Adagrad needs a sparse one");
  EXPECT_EQ(message(Adagrad{.decay = 0.5f}, {sparse}),
            "parameter w has a sparse gradient: Adagrad's decay must be 1 then");
  EXPECT_EQ(message(Sgd{}, {{net.Intern("v"), Gradient::Dense(grad), {}}}),
            "no operator makes the parameter v or its gradient: its device is unknown");
  const Result<void> decay = AddWeightDecay(net, init, 0.1f, std::vector<TrainedParam>{sparse});
  ASSERT_FALSE(decay.has_value());
  EXPECT_EQ(decay.error().message, "parameter w has a sparse gradient, which weight decay does not take");
}

}  // namespace
}  // namespace weft
