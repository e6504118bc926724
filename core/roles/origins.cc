// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/roles/origins.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/base/hash.h"
#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/grad/stored.h"

namespace weft {

namespace {

uint64_t KeyOf(const Op& op) {
  uint64_t key = HashMix(op.outputs.size(), op.type.id);
  for (Symbol output : op.outputs) key = HashMix(key, output.id);
  return key;
}

bool SameNames(const Op& a, const Op& b) {
  return a.type == b.type &&
         std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end());
}

}  // namespace

std::vector<OpId> FindOrigins(const Net& net, const OpSet& ops) {
  const auto begins = [&](const Op& op) {
    return IsGenerated(net, op) || net.Str(op.type).ends_with("Gradient");
  };
  const auto begin = std::find_if(net.ops.begin(), net.ops.end(), begins);
  if (begin == net.ops.begin() || begin == net.ops.end()) return {};
  Net forward(net.symbols);
  forward.ops.assign(net.ops.begin(), begin);
  forward.device = net.device;
  forward.external_inputs = net.external_inputs;
  GradientOptions options;
  // A data-parallel model fills its start gradients itself; others leave that to the planner.
  for (const Op& op : forward.ops)
    if (IsSeed(net, op, "_grad")) options.losses.push_back({op.inputs[0], Gradient::Dense(op.outputs[0])});
  for (auto op = begin; op != net.ops.end(); ++op) {
    if (!IsSeed(net, *op, "_autogen_grad")) continue;
    options.losses.push_back({op->inputs[0], {}});
    options.scope_device = op->device;
  }
  if (options.losses.empty()) return {};
  options.faults = kAllFaults;  // most nets that bring their gradients were made by Caffe2
  Result<Backward> plan = PlanGradients(forward, ops, options);
  if (!plan) {
    options.faults = kNoFaults;
    plan = PlanGradients(forward, ops, options);
    if (!plan) return {};
  }

  // Ops of one name come back in the order in which they were planned.
  std::unordered_map<uint64_t, std::vector<uint32_t>> planned;  // key -> ops of the plan; only looked up
  for (uint32_t k = static_cast<uint32_t>(plan->ops.size()); k-- > 0;)
    if (plan->origin[k].kind == Origin::kRule) planned[KeyOf(plan->ops[k])].push_back(k);
  std::vector<OpId> origins(net.ops.size(), kNoOp);
  for (size_t i = static_cast<size_t>(begin - net.ops.begin()); i < net.ops.size(); ++i) {
    const auto found = planned.find(KeyOf(net.ops[i]));
    if (found == planned.end() || found->second.empty()) continue;
    const uint32_t k = found->second.back();
    if (!SameNames(plan->ops[k], net.ops[i])) continue;
    origins[i] = plan->origin[k].forward;
    found->second.pop_back();
  }
  return origins;
}

}  // namespace weft
