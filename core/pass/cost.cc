// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/cost.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/symbol_map.h"
#include "core/ir/scope.h"

namespace weft {

namespace {

// Costs being added up.
struct Adding {
  DimSum flops, read, written, parameters;
  size_t ops = 0, unknown = 0;

  // Unknown costs are left out, and counted.
  void Add(const OpCost& cost, Dim times, ShapeTable& table) {
    ++ops;
    if (cost.flops.unknown() || cost.read.unknown() || cost.written.unknown()) {
      ++unknown;
      return;
    }
    flops.Add(table.Multiply(cost.flops, times), table);
    read.Add(table.Multiply(cost.read, times), table);
    written.Add(table.Multiply(cost.written, times), table);
  }
  CostSum Take(ShapeTable& table) const {
    return {{flops.Take(table), read.Take(table), written.Take(table)}, ops, unknown, parameters.Take(table)};
  }
};

}  // namespace

std::vector<OpCost> OpCosts(const NetShapes& shapes, ShapeTable& table) {
  std::vector<OpCost> costs = shapes.costs;
  for (size_t i = 0; i < shapes.nested.size();) {
    const OpId op = shapes.nested[i].op;
    Adding sum;
    for (; i < shapes.nested.size() && shapes.nested[i].op == op; ++i)
      for (const OpCost& cost : OpCosts(*shapes.nested[i].shapes, table))
        sum.Add(cost, shapes.nested[i].times, table);
    const CostSum taken = sum.Take(table);
    costs[static_cast<size_t>(op)] = taken.unknown > 0 ? OpCost{Dim(), Dim(), Dim()} : taken.cost;
  }
  return costs;
}

namespace {

// "a/b/c" is in "a/b/" and in "a/"; names without a slash are in "".
class Scopes {
 public:
  /// Calls f(sum) for each scope that the name is in.
  template <typename F>
  void ForEach(std::string_view name, F f) {
    std::string_view scope = ScopePart(name);
    if (scope.empty()) return f(Find(scope));
    for (size_t end = scope.find('/'); end != std::string_view::npos; end = scope.find('/', end + 1))
      f(Find(scope.substr(0, end + 1)));
  }
  void Take(ShapeTable& table, std::vector<ScopeCost>& out) const {
    for (const auto& [name, sum] : scopes_) out.push_back({name, sum.Take(table)});
  }

 private:
  Adding& Find(std::string_view scope) {
    const auto [at, is_new] = places_.emplace(std::string(scope), scopes_.size());
    if (is_new) scopes_.push_back({std::string(scope), {}});
    return scopes_[at->second].second;
  }

  std::vector<std::pair<std::string, Adding>> scopes_;
  std::unordered_map<std::string, size_t> places_;  // looked up, never walked
};

// By blob: 1 when each operator that reads it as it comes from outside overwrites it.
std::vector<uint8_t> OnlyKeptUp(const Ssa& ssa, size_t num_ops) {
  std::vector<uint8_t> kept_up(ssa.blobs().size(), 1);
  std::vector<OpId> writer(ssa.blobs().size(), kNoOp);
  for (OpId op = 0; op < static_cast<OpId>(num_ops); ++op) {
    for (const ValueId v : ssa.outputs(op)) writer[ssa.values()[v].blob] = op;
    for (const ValueId v : ssa.inputs(op)) {
      const Value& value = ssa.values()[v];
      if (value.def == kNoOp && writer[value.blob] != op) kept_up[value.blob] = 0;
    }
  }
  return kept_up;
}

}  // namespace

NetCost CostOf(const Net& net, const NetShapes& shapes, std::span<const Symbol> params, ShapeTable& table) {
  NetCost out;
  const Ssa& ssa = shapes.ssa;
  out.ops = OpCosts(shapes, table);
  out.parameters.assign(net.ops.size(), Dim(0));
  enum : uint8_t { kParam = 1, kCounted = 2 };
  SymbolMap<uint8_t> seen(*net.symbols, params.size());
  for (const Symbol name : params) seen[name] = kParam;
  Scopes scopes;
  Adding total;
  DimSum parameter_bytes, state, state_bytes;
  const std::vector<uint8_t> kept_up = OnlyKeptUp(ssa, net.ops.size());
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const OpId id = static_cast<OpId>(i);
    Dim fresh = 0;
    for (const ValueId v : ssa.inputs(id)) {
      const Value& value = ssa.values()[v];
      const Symbol blob = ssa.blobs()[value.blob];
      if (value.def != kNoOp || !(seen.Get(blob) & kParam) || shapes.values[v].kind == TensorInfo::kObject)
        continue;
      if (!shapes.values[v].tensor()) continue;
      const Dim elements = table.Product(shapes.values[v].dims);
      if (kept_up[value.blob]) {
        if (!(seen.Get(blob) & kCounted)) {
          state.Add(elements, table);
          state_bytes.Add(BytesOf(table, shapes.values[v]), table);
        }
        seen[blob] = kParam | kCounted;
        continue;
      }
      out.parameters[i] = table.Add(out.parameters[i], elements);
      if (seen.Get(blob) & kCounted) continue;
      seen[blob] = kParam | kCounted;
      fresh = table.Add(fresh, elements);
      parameter_bytes.Add(BytesOf(table, shapes.values[v]), table);
    }
    const auto add = [&](Adding& sum) {
      sum.Add(out.ops[i], 1, table);
      sum.parameters.Add(fresh, table);
    };
    add(total);
    const Symbol name = !op.outputs.empty() ? op.outputs[0] : !op.inputs.empty() ? op.inputs[0] : kNoSymbol;
    scopes.ForEach(net.Str(name), add);
  }
  out.total = total.Take(table);
  scopes.Take(table, out.scopes);
  out.parameter_bytes = parameter_bytes.Take(table);
  out.state = state.Take(table);
  out.state_bytes = state_bytes.Take(table);
  out.live = MostLive(net, shapes, table);
  return out;
}

}  // namespace weft
