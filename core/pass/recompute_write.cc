// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/recompute_write.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ir/names.h"

namespace weft::internal {

namespace {

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

  Net Write(const std::vector<OpId>& before) {
    std::vector<OpId> order;  // what runs again
    for (OpId op = 0; op < model_.turn(); ++op)
      if (before[static_cast<size_t>(op)] < model_.end()) order.push_back(op);
    std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) {
      return before[static_cast<size_t>(a)] < before[static_cast<size_t>(b)];
    });
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
    const std::span<const ValueId> outputs = ssa_.outputs(id);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId previous = ssa_.values()[outputs[i]].previous;
      if (IsRunningStatistic(net_, op, i + 2)) {
        op.inputs[i + 2] = op.outputs[i] = CopyOf(op, op.outputs[i]);
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

}  // namespace

Net WithRecomputed(const Net& net, const Ssa& ssa, const RecomputeModel& model,
                   const RecomputeModel::Trial& trial) {
  return Writer(net, ssa, model).Write(trial.before);
}

}  // namespace weft::internal
