// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/captured.h"

#include <algorithm>
#include <utility>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/ssa/nested.h"

namespace weft {

namespace {

constexpr int kMostDepth = 100;
constexpr uint32_t kNotYet = UINT32_MAX;

using Bindings = std::vector<std::pair<Symbol, Symbol>>;  // inner, outer

class Finder {
 public:
  std::vector<NestedNetInfo> found;

  void Walk(const Net& net, const std::string& path, int depth) {
    const Ssa ssa(net);
    const NestingTypes types(*net.symbols);
    // The version of each blob before the operator that is looked at.
    std::vector<uint32_t> current(ssa.blobs().size());
    for (BlobId blob = 0; blob < current.size(); ++blob)
      current[blob] = ssa.starts_outside(blob) ? 0 : kNotYet;
    for (OpId id = 0; id < static_cast<OpId>(net.ops.size()); ++id) {
      const Op& op = net.ops[static_cast<size_t>(id)];
      for (const Arg& arg : op.args) {
        if (!(arg.has & Arg::kHasN)) continue;
        const NetPtr inside = arg.Load()->n;
        if (!inside || inside->symbols != net.symbols) continue;
        const std::string own = StrCat(path, path.empty() ? "" : "/", id, ".", net.Str(arg.name));
        found.push_back({own, id, inside, Capture(net, ssa, current, id, types.Of(op.type), *inside)});
        if (depth < kMostDepth) Walk(*inside, own, depth + 1);
      }
      for (ValueId v : ssa.outputs(id)) current[ssa.values()[v].blob] = ssa.values()[v].version;
    }
  }

 private:
  static Bindings BindingsOf(const Net& net, const Op& op, Nesting nesting) {
    Bindings bindings;
    const SymbolTable& table = *net.symbols;
    const auto strings = [&](std::string_view name) { return ArgStrings(table, op.args, name); };
    if (nesting == Nesting::kPrivate) {
      // Indices count the inputs, then the outputs, each without the workspace at its end.
      std::vector<Symbol> around;
      for (size_t i = 0; i + 1 < op.inputs.size(); ++i) around.push_back(op.inputs[i]);
      for (size_t i = 0; i + 1 < op.outputs.size(); ++i) around.push_back(op.outputs[i]);
      const std::vector<std::string> inner = strings("inner_blobs");
      const std::vector<int64_t> index = ArgInts(table, op.args, "outer_blobs_idx");
      for (size_t i = 0; i < inner.size() && i < index.size(); ++i)
        if (index[i] >= 0 && index[i] < static_cast<int64_t>(around.size()))
          bindings.emplace_back(table.Find(inner[i]), around[static_cast<size_t>(index[i])]);
    }
    if (nesting == Nesting::kRecurrent) {
      // A state starts as one of the inputs; links show a step of a state, or of the sequence.
      Bindings states;
      const std::vector<std::string> names = strings("recurrent_states");
      const std::vector<int64_t> initial = ArgInts(table, op.args, "initial_recurrent_state_ids");
      // A gradient operator has the gradients of outputs before the inputs.
      const size_t first = table.Str(op.type) == "RecurrentNetworkGradient"
                               ? ArgInts(table, op.args, "outputs_with_grads").size()
                               : 0;
      for (size_t i = 0; i < names.size() && i < initial.size(); ++i) {
        const int64_t at = static_cast<int64_t>(first) + initial[i];
        if (at >= 0 && at < static_cast<int64_t>(op.inputs.size()))
          states.emplace_back(table.Find(names[i]), op.inputs[static_cast<size_t>(at)]);
      }
      for (const char* prefix : {"link", "backward_link"}) {
        const std::vector<std::string> inner = strings(StrCat(prefix, "_internal")),
                                       outer = strings(StrCat(prefix, "_external"));
        for (size_t i = 0; i < inner.size() && i < outer.size(); ++i) {
          const Symbol behind = table.Find(outer[i]);
          const auto state =
              std::find_if(states.begin(), states.end(), [&](const auto& s) { return s.first == behind; });
          bindings.emplace_back(table.Find(inner[i]), state == states.end() ? behind : state->second);
        }
      }
    }
    return bindings;
  }

  static std::vector<CapturedBlob> Capture(const Net& net, const Ssa& ssa,
                                           const std::vector<uint32_t>& current, OpId id, Nesting nesting,
                                           const Net& inside) {
    const Op& op = net.ops[static_cast<size_t>(id)];
    SymbolMap<Symbol> bound(*net.symbols, 16, kNoSymbol);
    for (const auto& [inner, outer] : BindingsOf(net, op, nesting))
      if (inner && !bound.Get(inner)) bound[inner] = outer;
    const auto has = [](const auto& list, Symbol blob) {
      return std::find(list.begin(), list.end(), blob) != list.end();
    };
    const Ssa own(inside, {.nested = NestedNets::kReadsAndWrites});
    std::vector<CapturedBlob> captured;
    for (BlobId blob = 0; blob < own.blobs().size(); ++blob) {
      CapturedBlob c{.inner = own.blobs()[blob], .outer = bound.Get(own.blobs()[blob])};
      const bool private_names = nesting == Nesting::kPrivate || nesting == Nesting::kRecurrent;
      if (!c.outer && !(nesting == Nesting::kPrivate)) {
        const BlobId same = ssa.FindBlob(c.inner);
        // Nets of the same workspace reach further out than the net around them.
        const bool reaches = !private_names && own.starts_outside(blob);
        if (has(op.inputs, c.inner) || has(op.outputs, c.inner) || (!private_names && same != kNoBlob) ||
            reaches)
          c.outer = c.inner;
      }
      if (!c.outer) continue;
      c.reads = own.starts_outside(blob);
      c.writes = own.written(blob) && (!private_names || has(op.outputs, c.outer));
      if (!c.reads && !c.writes) continue;
      const BlobId around = ssa.FindBlob(c.outer);
      if (around == kNoBlob) {
        c.version = 0;
      } else {
        if (current[around] != kNotYet) c.version = current[around];
        for (ValueId v : ssa.outputs(id))
          if (ssa.values()[v].blob == around) c.after = ssa.values()[v].version;
      }
      captured.push_back(c);
    }
    return captured;
  }
};

}  // namespace

std::vector<NestedNetInfo> FindNestedNets(const Net& net) {
  Finder finder;
  finder.Walk(net, "", 0);
  return std::move(finder.found);
}

}  // namespace weft
