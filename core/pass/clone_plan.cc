// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/clone_plan.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/pass/rename_prefix.h"

namespace weft {

namespace {

void RenameStep(Step& step, SymbolTable& table, const ClonePlanOptions& options) {
  const auto prefixed = [&](Symbol name) {
    return name ? table.Intern(StrCat(options.prefix, table.Str(name))) : name;
  };
  step.name = prefixed(step.name);
  for (Symbol& net : step.networks) net = prefixed(net);
  step.report_net = prefixed(step.report_net);
  step.criteria_network = prefixed(step.criteria_network);
  if (std::find(options.keep.begin(), options.keep.end(), step.should_stop_blob) == options.keep.end())
    step.should_stop_blob = prefixed(step.should_stop_blob);
  for (Step& substep : step.substeps) RenameStep(substep, table, options);
}

}  // namespace

Result<Plan> ClonePlan(const Plan& plan, const ClonePlanOptions& options) {
  Plan clone = plan;
  if (options.prefix.empty()) return clone;
  SymbolTable& table = *clone.symbols;
  clone.name = table.Intern(StrCat(options.prefix, plan.Str(plan.name)));
  for (Net& net : clone.networks) {
    WEFT_TRY(net, RenamePrefix(net, {.from = "", .to = options.prefix, .keep = options.keep}));
    net.name = table.Intern(StrCat(options.prefix, table.Str(net.name)));
    for (const Net& original : plan.networks)
      if (original.name == net.name)
        return Error{ErrorCode::kNameConflict,
                     StrCat("the plan has a net ", table.Str(net.name), " already")};
  }
  for (Step& step : clone.steps) RenameStep(step, table, options);
  return clone;
}

}  // namespace weft
