// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps and plans as Caffe2's execution_step and Plan build them. A step under construction carries the nets
// that it runs, as copies taken when they were given; adding it to a plan puts them there in order of use.
// What was built is a value: adding it copies it, so nothing that is done to it later reaches the plan.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/ir/names.h"
#include "core/ir/net.h"
#include "core/ir/plan.h"

namespace weft {

struct StepSpec {
  std::string name{};  // as it is; "step", "step_1", ... when empty
  std::optional<int64_t> num_iter{};
  std::optional<std::string> should_stop_blob{};
  std::optional<bool> concurrent_substeps{};
  bool only_once = false;  // false is the same as not given (B29)
  bool create_workspace = false;
  std::optional<int32_t> num_concurrent_instances{};
  std::optional<int64_t> run_every_ms{};
  std::optional<Net> report_net{};
  int32_t report_interval = 0;  // seconds; goes with report_net
};

/// A step, and the nets that it and its substeps run.
struct BuiltStep {
  Step step;
  std::vector<Net> nets;
  bool empty() const { return step.networks.empty() && step.substeps.empty(); }
};

/// What a step is made of: a net, or a step.
using StepPart = std::variant<Net, BuiltStep>;

/// A step of nets when all parts are nets, else one of substeps, where each net becomes a step of its own and
/// empty steps are left out. With neither num_iter nor should_stop_blob it runs once. Names go into `table`,
/// which the plan must share. Errors: kInvalidArgument when both are given; kNameConflict when two different
/// nets have one name.
Result<BuiltStep> MakeStep(NameRegistry& registry, const SymbolTablePtr& table, const StepSpec& spec,
                           std::vector<StepPart> parts);

/// Names of the nets that a step runs, in the order in which a plan lists them: depth first through the
/// substeps, then its own nets, its report net last; each once.
std::vector<Symbol> NetsInOrder(const Step& step);

/// A plan in the making. A class because it guards that one name means one net.
class PlanBuilder {
 public:
  PlanBuilder(std::string_view name, SymbolTablePtr table);

  /// Adds the step and those of its nets that the plan does not have yet; an empty step is left out. Errors:
  /// kNameConflict when the plan has another net of that name; kInvalidArgument for another symbol table.
  /// Then nothing is added.
  Result<void> AddStep(const BuiltStep& step);
  const Plan& plan() const { return plan_; }
  Plan Finish() && { return std::move(plan_); }

 private:
  Plan plan_;
  std::unordered_map<uint32_t, size_t> net_by_name_;  // symbol -> index into plan_.networks
};

}  // namespace weft
