// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/gradient.h"

#include <algorithm>
#include <iterator>

#include "core/grad/planner.h"

namespace weft {

GradientPlanner::GradientPlanner(const Net& net, const OpSet& ops, GradientOptions options)
    : planner_(std::make_unique<internal::Planner>(net, ops, std::move(options))) {}
GradientPlanner::~GradientPlanner() = default;
bool GradientPlanner::Step(uint64_t units) { return planner_->Step(units); }
Progress GradientPlanner::progress() const { return planner_->progress(); }
Result<Backward> GradientPlanner::Take() { return planner_->Take(); }

Result<Backward> PlanGradients(const Net& net, const OpSet& ops, const GradientOptions& options) {
  GradientPlanner planner(net, ops, options);
  while (!planner.Step(1 << 12)) {  // WebAssembly engines change to their faster code only between calls
  }
  return planner.Take();
}

Net AppendBackward(Net net, Backward backward) {
  for (auto& [index, op] : backward.repaired_ops) net.ops[static_cast<size_t>(index)] = std::move(op);
  net.ops.reserve(net.ops.size() + backward.ops.size());
  std::move(backward.ops.begin(), backward.ops.end(), std::back_inserter(net.ops));
  return net;
}

}  // namespace weft
