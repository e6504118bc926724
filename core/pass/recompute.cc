// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/recompute.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ir/names.h"
#include "core/pass/cost.h"
#include "core/pass/recompute_choice.h"
#include "core/pass/recompute_model.h"

namespace weft {

namespace {

using internal::RecomputeModel;

// The net with what runs again.
class Writer {
 public:
  Writer(const Net& net, const Ssa& ssa, const RecomputeModel& model)
      : net_(net),
        ssa_(ssa),
        model_(model),
        fresh_(net.symbols, net.ops.size()),
        name_(ssa.values().size()),
        taken_by_(ssa.values().size(), kNoOp) {
    fresh_.Reserve(net);
    for (const RecomputeModel::Made& made : model.made()) taken_by_[made.value] = made.taken_by;
  }

  /// `order`: what runs again, each in front of `before` it, in the order of both.
  Net Write(const std::vector<OpId>& order, const std::vector<OpId>& before) {
    out_ = WithoutOps(net_);
    out_.ops.reserve(net_.ops.size() + order.size());
    auto next = order.begin();
    for (OpId op = 0; op < model_.end(); ++op) {
      for (; next != order.end() && before[static_cast<size_t>(*next)] == op; ++next) RunAgain(*next, op);
      Op& copy = out_.ops.emplace_back(net_.ops[static_cast<size_t>(op)]);
      if (op >= model_.turn()) Rename(copy, op);
    }
    return std::move(out_);
  }

 private:
  // True when some input is made again.
  bool Rename(Op& op, OpId id) const {
    bool any = false;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const Symbol name = name_[ssa_.inputs(id)[i]];
      if (!name) continue;
      op.inputs[i] = name;
      any = true;
    }
    return any;
  }

  void RunAgain(OpId id, OpId reader) {
    Op op = net_.ops[static_cast<size_t>(id)];
    op.is_gradient_op = true;
    if (!Rename(op, id)) WaitFor(op, reader);
    const size_t statistics = internal::RunningStatistics(net_, op);
    const std::span<const ValueId> outputs = ssa_.outputs(id);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId previous = ssa_.values()[outputs[i]].previous;
      if (statistics && (i == 1 || i == 2)) {
        op.inputs[statistics + i - 1] = op.outputs[i] = CopyOf(op, op.outputs[i]);
      } else {
        const bool in_place = previous != kNoValue && taken_by_[previous] == id;
        op.outputs[i] = name_[outputs[i]] = in_place ? name_[previous] : Fresh(op.outputs[i]);
      }
    }
    out_.ops.push_back(std::move(op));
  }

  // A gradient that the reader reads: the last one that is made.
  void WaitFor(Op& op, OpId reader) const {
    OpId last = model_.turn() - 1;
    Symbol gradient = kNoSymbol;
    for (size_t i = 0; i < net_.ops[static_cast<size_t>(reader)].inputs.size(); ++i) {
      const OpId def = ssa_.values()[ssa_.inputs(reader)[i]].def;
      if (def <= last) continue;
      last = def;
      gradient = net_.ops[static_cast<size_t>(reader)].inputs[i];
    }
    if (gradient) op.control_inputs.push_back(gradient);
  }

  Symbol CopyOf(const Op& like, Symbol blob) {
    Op& copy = out_.ops.emplace_back();
    copy.type = out_.Intern("Copy");
    copy.name = kEmptySymbol;
    copy.is_gradient_op = true;
    copy.device = like.device;
    copy.inputs.push_back(blob);
    copy.outputs.push_back(Fresh(blob));
    return copy.outputs[0];
  }
  Symbol Fresh(Symbol blob) { return fresh_.Make(StrCat(net_.Str(blob), "_recomputed")); }

  const Net& net_;
  const Ssa& ssa_;
  const RecomputeModel& model_;
  FreshNames fresh_;
  std::vector<Symbol> name_;    // by value: of what is made again
  std::vector<OpId> taken_by_;  // by value
  Net out_;
};

int64_t Number(const ShapeTable& table, Dim dim) {
  return std::max<int64_t>(0, table.At(dim, LiveBytes::kSymbolValue));
}

}  // namespace

void RecomputeEach(const Net& net, std::span<const GivenBlob> given, ShapeTable& table, const OpSet& ops,
                   std::span<const RecomputeLimits> limits, std::span<const Symbol> keep,
                   const std::function<void(RecomputePlan)>& take) {
  const NetShapes shapes = InferShapes(net, given, table, {.ops = &ops});
  const NetCost cost = CostOf(net, shapes, {}, table);
  const int64_t peak = Number(table, cost.live.most), flops = Number(table, cost.total.cost.flops);
  const auto plan = [&](std::string_view nothing) {
    return RecomputePlan{
        .net = net, .peak_before = peak, .peak_after = peak, .flops = flops, .nothing = nothing};
  };
  const RecomputeModel model(net, shapes, cost.live, table, ops, keep);
  if (model.turn() == model.end() || peak == 0) {
    for (size_t i = 0; i < limits.size(); ++i)
      take(plan(model.turn() == model.end() ? "the net has no backward pass"
                                            : "the size of no blob is known"));
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
      std::vector<OpId> order = made.again;
      std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) {
        return trial.before[static_cast<size_t>(a)] < trial.before[static_cast<size_t>(b)];
      });
      made.net = Writer(net, shapes.ssa, model).Write(order, trial.before);
      made.extra_flops = trial.flops;
      // What nets inside operators hold is only estimated above.
      made.peak_after =
          Number(table, MostLive(made.net, InferShapes(made.net, given, table, {.ops = &ops}), table).most);
    }
    if (made.peak_after >= peak)
      made = plan(peak <= bounds[i].bytes ? "the net is within the budget"
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
