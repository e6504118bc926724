// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/plan_builder.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/base/str.h"

namespace weft {

namespace {

Error DifferentNets(const Net& net) {
  return Error{ErrorCode::kNameConflict, StrCat("Different nets with same name: ", net.Str(net.name))};
}

void CollectNets(const Step& step, std::unordered_set<uint32_t>& seen, std::vector<Symbol>& order) {
  for (const Step& substep : step.substeps) CollectNets(substep, seen, order);
  for (Symbol net : step.networks)
    if (seen.insert(net.id).second) order.push_back(net);
  if (step.report_net && seen.insert(step.report_net.id).second) order.push_back(step.report_net);
}

// The nets of one step, by name.
class NetsOfStep {
 public:
  NetsOfStep(const SymbolTablePtr& table, std::vector<Net>& nets) : table_(table), nets_(nets) {}

  Result<Symbol> Add(const Net& net) {
    Net added = Rehome(net, table_);
    const Symbol name = added.name;
    const auto [at, is_new] = by_name_.try_emplace(name.id, nets_.size());
    if (is_new) {
      nets_.push_back(std::move(added));
    } else if (!SameNet(nets_[at->second], added)) {
      return DifferentNets(added);
    }
    return name;
  }

 private:
  const SymbolTablePtr& table_;
  std::vector<Net>& nets_;
  std::unordered_map<uint32_t, size_t> by_name_;
};

}  // namespace

Result<BuiltStep> MakeStep(NameRegistry& registry, const SymbolTablePtr& table, const StepSpec& spec,
                           std::vector<StepPart> parts) {
  if (spec.num_iter && spec.should_stop_blob)
    return Error{ErrorCode::kInvalidArgument, "Cannot set both should_stop_blob and num_iter."};
  BuiltStep out;
  NetsOfStep nets(table, out.nets);
  Step& step = out.step;
  step.name = table->Intern(spec.name.empty() ? registry.UniqueStep() : spec.name);
  step.num_iter = spec.num_iter;
  if (spec.should_stop_blob) {
    step.should_stop_blob = table->Intern(*spec.should_stop_blob);
  } else if (!spec.num_iter) {
    step.num_iter = 1;
  }
  if (spec.only_once) step.only_once = true;
  step.concurrent_substeps = spec.concurrent_substeps;
  step.num_concurrent_instances = spec.num_concurrent_instances;
  if (spec.create_workspace) step.create_workspace = true;
  step.run_every_ms = spec.run_every_ms;

  const bool all_nets = std::all_of(parts.begin(), parts.end(),
                                    [](const StepPart& part) { return std::holds_alternative<Net>(part); });
  for (StepPart& part : parts) {
    if (Net* net = std::get_if<Net>(&part)) {
      WEFT_TRY(const Symbol name, nets.Add(*net));
      if (all_nets) {
        step.networks.push_back(name);
        continue;
      }
      Step& wrapped = step.substeps.emplace_back();
      wrapped.name = table->Intern(registry.UniqueStep());
      wrapped.num_iter = 1;
      wrapped.networks = {name};
      continue;
    }
    BuiltStep& substep = std::get<BuiltStep>(part);
    if (substep.empty()) continue;
    for (const Net& net : substep.nets) WEFT_TRY_VOID(nets.Add(net));
    step.substeps.push_back(std::move(substep.step));
  }
  if (spec.report_net) {
    WEFT_TRY(step.report_net, nets.Add(*spec.report_net));
    step.report_interval = spec.report_interval;
  }
  return out;
}

std::vector<Symbol> NetsInOrder(const Step& step) {
  std::unordered_set<uint32_t> seen;
  std::vector<Symbol> order;
  CollectNets(step, seen, order);
  return order;
}

PlanBuilder::PlanBuilder(std::string_view name, SymbolTablePtr table) {
  plan_.symbols = std::move(table);
  plan_.name = plan_.symbols->Intern(name);
}

Result<void> PlanBuilder::AddStep(const BuiltStep& step) {
  if (step.empty()) return {};
  std::unordered_map<uint32_t, const Net*> given;
  for (const Net& net : step.nets) {
    if (net.symbols != plan_.symbols)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("AddStep: net ", net.Str(net.name), " has another symbol table than plan ",
                          plan_.Str(plan_.name))};
    const auto known = net_by_name_.find(net.name.id);
    if (known != net_by_name_.end() && !SameNet(plan_.networks[known->second], net))
      return DifferentNets(net);
    given.emplace(net.name.id, &net);
  }
  for (Symbol name : NetsInOrder(step.step)) {
    const auto at = given.find(name.id);
    if (at == given.end() || !net_by_name_.try_emplace(name.id, plan_.networks.size()).second) continue;
    plan_.networks.push_back(*at->second);
  }
  plan_.steps.push_back(step.step);
  return {};
}

}  // namespace weft
