// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/recompute.h"

#include "core/pass/cost.h"
#include "core/pass/recompute_choice.h"
#include "core/pass/recompute_model.h"
#include "core/pass/recompute_write.h"

namespace weft {

using internal::RecomputeModel;

void RecomputeEach(const Net& net, std::span<const GivenBlob> given, ShapeTable& table, const OpSet& ops,
                   std::span<const RecomputeLimits> limits, std::span<const Symbol> keep,
                   const std::function<void(RecomputePlan)>& take) {
  const NetShapes shapes = InferShapes(net, given, table, {.ops = &ops});
  const NetCost cost = CostOf(net, shapes, {}, table);
  const int64_t peak = LiveBytes::Number(table, cost.live.most),
                flops = LiveBytes::Number(table, cost.total.cost.flops);
  const auto plan = [&](std::string_view nothing) {
    return RecomputePlan{
        .net = net, .peak_before = peak, .peak_after = peak, .flops = flops, .nothing = nothing};
  };
  const RecomputeModel model(net, shapes, cost.live, table, ops, keep);
  if (model.turn() == model.end()) {
    for (size_t i = 0; i < limits.size(); ++i) take(plan("the net has no backward pass"));
    return;
  }
  std::vector<internal::RecomputeBounds> bounds;
  for (const RecomputeLimits& limit : limits) {
    internal::RecomputeBounds& bound = bounds.emplace_back();
    bound.bytes = limit.budget.value_or(0);
    if (limit.most_percent)
      bound.flops = static_cast<double>(flops) / 100 * static_cast<double>(*limit.most_percent);
  }
  const std::vector<std::vector<uint8_t>> choices = internal::ChooseRecomputed(model, bounds);
  for (size_t i = 0; i < choices.size(); ++i) {
    const RecomputeModel::Trial trial = model.Try(choices[i]);
    RecomputePlan made = plan("");
    for (OpId op = 0; op < model.turn(); ++op)
      if (trial.before[static_cast<size_t>(op)] < model.end()) made.again.push_back(op);
    if (!made.again.empty()) {
      made.net = internal::WithRecomputed(net, shapes.ssa, model, trial);
      made.extra_flops = trial.flops;
      // What nets inside operators hold is only estimated above.
      made.peak_after = LiveBytes::Number(
          table, MostLive(made.net, InferShapes(made.net, given, table, {.ops = &ops}), table).most);
    }
    if (made.peak_after >= peak)
      made = plan(peak <= bounds[i].bytes ? "the net is within the budget"
                  : cost.live.unsized > 0 ? "nothing lowers the peak as far as sizes are known"
                                          : "nothing that may run again lowers the peak");
    take(std::move(made));
  }
}

RecomputePlan Recompute(const Net& net, std::span<const GivenBlob> given, ShapeTable& table, const OpSet& ops,
                        const RecomputeLimits& limits, std::span<const Symbol> keep) {
  RecomputePlan out;
  RecomputeEach(net, given, table, ops, {&limits, 1}, keep,
                [&](RecomputePlan plan) { out = std::move(plan); });
  return out;
}

}  // namespace weft
