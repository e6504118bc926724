// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/parallel_plan.h"

#include "core/base/str.h"
#include "core/ir/plan_builder.h"

namespace weft {

Result<Plan> PlanOf(const ParallelNets& nets, const Schedule& schedule) {
  if (schedule.iterations < 1 || schedule.blocks < 1)
    return Error{ErrorCode::kInvalidArgument, "a schedule runs the training net at least once"};
  const SymbolTablePtr& table = nets.net.symbols;
  NameRegistry registry;
  PlanBuilder plan(StrCat(nets.net.Str(nets.net.name), "_parallel"), table);
  const auto step = [&](std::string name, int64_t times, std::vector<StepPart> parts) {
    StepSpec spec{.name = std::move(name)};
    if (times > 1) spec.num_iter = times;
    return MakeStep(registry, table, spec, std::move(parts));
  };

  std::vector<StepPart> starts;
  for (const Net* net : {nets.barrier_init ? &*nets.barrier_init : nullptr, &nets.init,
                         nets.global_init ? &*nets.global_init : nullptr})
    if (net) starts.emplace_back(*net);
  WEFT_TRY(const BuiltStep init, step("init", 1, std::move(starts)));
  WEFT_TRY_VOID(plan.AddStep(init));
  if (nets.barrier) {
    WEFT_TRY(const BuiltStep barrier, step("barrier", 1, {*nets.barrier}));
    WEFT_TRY_VOID(plan.AddStep(barrier));
  }
  if (nets.warmup) {
    WEFT_TRY(BuiltStep local, step("warmup_iterations", nets.warmup_iterations, {nets.net}));
    WEFT_TRY(const BuiltStep warmup, step("warmup", 1, {std::move(local), *nets.warmup}));
    WEFT_TRY_VOID(plan.AddStep(warmup));
  }
  std::vector<StepPart> iteration = {nets.net};
  if (nets.update) {
    WEFT_TRY(BuiltStep accumulate, step("accumulate", nets.accumulate, {nets.net}));
    iteration = {std::move(accumulate), *nets.update};
  }
  WEFT_TRY(BuiltStep train, step("train", schedule.iterations, std::move(iteration)));
  if (nets.global_update) {
    WEFT_TRY(train, step("blocks", schedule.blocks, {std::move(train), *nets.global_update}));
  }
  WEFT_TRY_VOID(plan.AddStep(train));
  return std::move(plan).Finish();
}

}  // namespace weft
