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

// With the nets inside, for each operator: what the operator hands to them is read and written there.
std::vector<OpCost> WithNested(const NetShapes& shapes, ShapeTable& table) {
  std::vector<OpCost> costs = shapes.costs;
  for (size_t i = 0; i < shapes.nested.size();) {
    const OpId op = shapes.nested[i].op;
    Adding sum;
    for (; i < shapes.nested.size() && shapes.nested[i].op == op; ++i)
      for (const OpCost& cost : WithNested(*shapes.nested[i].shapes, table))
        sum.Add(cost, shapes.nested[i].times, table);
    const CostSum taken = sum.Take(table);
    costs[static_cast<size_t>(op)] = taken.unknown > 0 ? OpCost{Dim(), Dim(), Dim()} : taken.cost;
  }
  return costs;
}

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

void FindPeak(const Net& net, const NetShapes& shapes, ShapeTable& table, NetCost& out) {
  // Each value lives from one operator to another, both included.
  const Ssa& ssa = shapes.ssa;
  const size_t n = ssa.values().size();
  const OpId end = static_cast<OpId>(net.ops.size());
  std::vector<OpId> first(n), last(n);
  for (ValueId v = 0; v < n; ++v) {
    const OpId def = ssa.values()[v].def;
    const std::span<const OpId> uses = ssa.uses(v);
    first[v] = std::max(def, 0);
    last[v] = def == kNoOp ? end : uses.empty() ? def : uses.back();
  }
  for (const Symbol name : net.external_outputs)
    if (const BlobId blob = ssa.FindBlob(name); blob != kNoBlob) last[ssa.latest(blob)] = end;
  for (ValueId v = 0; v < n; ++v) {
    // What is overwritten in place gives its place away; a blob from outside stays under its last value.
    const Value& value = ssa.values()[v];
    if (value.def == kNoOp || value.previous == kNoValue) continue;
    const std::span<const ValueId> inputs = ssa.inputs(value.def);
    if (std::find(inputs.begin(), inputs.end(), value.previous) == inputs.end()) continue;
    if (last[value.previous] == end) last[v] = end;
    last[value.previous] = value.def - 1;
  }
  std::vector<int64_t> change(static_cast<size_t>(end) + 2, 0);
  for (ValueId v = 0; v < n; ++v) {
    if (last[v] < first[v]) continue;
    const int64_t size =
        std::max<int64_t>(0, table.At(BytesOf(table, shapes.values[v]), NetCost::kSymbolValue));
    change[static_cast<size_t>(first[v])] += size;
    change[static_cast<size_t>(last[v]) + 1] -= size;
  }
  int64_t live = 0, most = -1;
  for (OpId op = 0; op < end; ++op) {
    live += change[static_cast<size_t>(op)];
    if (live > most) {
      most = live;
      out.peak_op = op;
    }
  }
  DimSum peak;
  for (ValueId v = 0; v < n; ++v) {
    const Dim size = BytesOf(table, shapes.values[v]);
    out.unsized += size.unknown();
    if (first[v] <= out.peak_op && out.peak_op <= last[v] && !size.unknown()) peak.Add(size, table);
  }
  out.peak = peak.Take(table);
}

}  // namespace

NetCost CostOf(const Net& net, const NetShapes& shapes, std::span<const Symbol> params, ShapeTable& table) {
  NetCost out;
  const Ssa& ssa = shapes.ssa;
  out.ops = WithNested(shapes, table);
  out.parameters.assign(net.ops.size(), Dim(0));
  enum : uint8_t { kParam = 1, kCounted = 2 };
  SymbolMap<uint8_t> seen(*net.symbols, params.size());
  for (const Symbol name : params) seen[name] = kParam;
  Scopes scopes;
  Adding total;
  DimSum parameter_bytes;
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
  if (!net.ops.empty()) FindPeak(net, shapes, table, out);
  return out;
}

}  // namespace weft
