// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The planner runs a rule once for operators that are alike and follows its recipe for the rest. Random nets
// of few operator types over few names, in place, doubled and overwritten: the plan must be the one that is
// made when no two operators are alike, for which each gets a device option of its own of equal content.
#include <gtest/gtest.h>

#include <initializer_list>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/ops/op_set.h"
#include "proto/codec.h"

namespace weft {
namespace {

constexpr uint32_t kNets = 3000;

struct Kind {
  std::string_view type;
  uint32_t inputs, outputs;
  bool in_place;  // output 0 may be input 0
};
constexpr Kind kKinds[] = {{"Relu", 1, 1, true},         {"Tanh", 1, 1, true},
                           {"Sum", 2, 1, true},          {"Sum", 3, 1, true},
                           {"Mul", 2, 1, true},          {"FC", 3, 1, false},
                           {"Conv", 3, 1, false},        {"Conv", 2, 1, false},
                           {"Gather", 2, 1, false},      {"Concat", 2, 2, false},
                           {"Split", 1, 2, false},       {"Dropout", 1, 2, true},
                           {"BatchGather", 2, 1, false}, {"Copy", 1, 1, false},
                           {"Squeeze", 1, 1, true},      {"CopyOnDeviceLike", 2, 1, false},
                           {"ZeroGradient", 1, 0, false}};

class Builder {
 public:
  Builder(uint32_t seed, bool own_devices) : random_(seed), own_devices_(own_devices) {
    for (const int64_t axis : {0, 1}) args_.push_back(ArgList({MakeArg(net_.Intern("axis"), axis)}));
    args_.push_back(ArgList({MakeArg(net_.Intern("dims"), std::vector<int64_t>{0})}));
    args_.emplace_back();
    const size_t ops = 4 + Below(24);
    for (size_t i = 0; i < ops; ++i) Add(kKinds[Below(std::size(kKinds))], i);
  }
  Net Take() { return std::move(net_); }
  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  Symbol Any() { return net_.Intern(StrCat("b", Below(6))); }
  void Add(const Kind& kind, size_t i) {
    Op& op = net_.ops.emplace_back();
    op.type = net_.Intern(kind.type);
    for (uint32_t k = 0; k < kind.inputs; ++k) op.inputs.push_back(Any());
    for (uint32_t k = 0; k < kind.outputs; ++k) {
      const uint32_t how = Below(8);
      op.outputs.push_back(k == 0 && kind.in_place && how < 3 ? op.inputs[0]
                           : how < 6                          ? net_.Intern(StrCat("b", 6 + (i + k) % 8))
                                                              : net_.Intern(StrCat("b", Below(6), "_grad")));
    }
    op.args = kind.type == "Squeeze" ? args_[2] : args_[Below(2) == 0 ? 3 : Below(2)];
    const uint32_t place = Below(8) == 0;  // few on another device
    DevicePtr& shared = devices_[place];
    if (!shared || own_devices_) {
      DeviceOption device;
      device.device_type = kCuda;
      device.device_id = static_cast<int32_t>(place);
      shared = std::make_shared<const DeviceOption>(std::move(device));
    }
    op.device = shared;
  }

  std::mt19937 random_;
  const bool own_devices_;
  Net net_;
  std::vector<ArgList> args_;
  DevicePtr devices_[2];
};

std::string Plan(const Net& net, uint32_t seed) {
  std::mt19937 random(seed);
  GradientOptions options;
  const auto any = [&] {
    const Op& op = net.ops[net.ops.size() - 1 - random() % std::min<size_t>(4, net.ops.size())];
    return op.outputs.empty() ? op.inputs[0] : op.outputs[random() % op.outputs.size()];
  };
  options.losses.push_back({any(), {}});
  if (random() % 2) {
    const Symbol second = any();
    if (second != options.losses[0].blob) options.losses.push_back({second, {}});
  }
  if (random() % 4 == 0) options.wrt = {net.ops[0].inputs[0], net.ops[1].inputs[0]};
  options.faults = random() % 3 == 0 ? kAllFaults : kNoFaults;
  options.mixed = MixedGradients::kDense;
  options.collect_conflicts = true;
  const Result<Backward> plan = PlanGradients(net, StandardOps(), options);
  if (!plan) return StrCat("error: ", plan.error().message);
  std::string text;
  for (const Op& op : plan->ops) StrAppend(text, OpToText(*net.symbols, op), "\n");
  for (const BlobGradient& g : plan->gradients)
    StrAppend(text, net.Str(g.blob), "@", g.version, ": ", net.Str(g.gradient.dense), " ",
              net.Str(g.gradient.indices), " ", net.Str(g.gradient.values), "\n");
  for (const VersionConflict& c : plan->conflicts)
    StrAppend(text, "conflict ", c.reader, " ", c.is_output, " ", c.needed, " ", c.overwriter, "\n");
  return text;
}

TEST(Recipe, MakesWhatTheRuleMakes) {
  uint32_t planned = 0;
  for (uint32_t seed = 0; seed < kNets; ++seed) {
    const Net alike = Builder(seed, false).Take(), unlike = Builder(seed, true).Take();
    const std::string expected = Plan(unlike, seed);
    ASSERT_EQ(Plan(alike, seed), expected) << "seed " << seed;
    planned += !expected.starts_with("error");
  }
  std::cout << planned << " of " << kNets << " nets could be planned\n";
  EXPECT_GT(planned, kNets / 4);
}

}  // namespace
}  // namespace weft
