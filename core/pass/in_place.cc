// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/in_place.h"

#include <algorithm>

#include "core/base/symbol_map.h"
#include "core/check/effects.h"
#include "core/ops/op_columns.h"
#include "core/ssa/nested.h"
#include "core/ssa/ssa.h"

namespace weft {

namespace {

class Folder {
 public:
  Folder(const Net& net, const OpSet& ops, const FoldOptions& options)
      : net_(net),
        ssa_(net, {.nested = NestedNets::kReadsAndWrites}),
        lookup_(ops, *net.symbols),
        pinned_(*net.symbols, net.ops.size(), 0),
        root_(*net.symbols, net.ops.size(), kNoSymbol) {
    const auto pin = [&](const auto& blobs) {
      for (Symbol blob : blobs) pinned_[blob] = 1;
    };
    pin(net.external_inputs);
    pin(net.external_outputs);
    pin(options.keep);
    const Symbol alias = net.symbols->Find("Alias");
    const NestingTypes nesting(*net.symbols);
    for (OpId id = 0; id < static_cast<OpId>(net.ops.size()); ++id) {
      const Op& op = net.ops[static_cast<size_t>(id)];
      pin(op.control_inputs);
      if (op.type != alias && !HoldsNet(op)) continue;
      pin(op.inputs);
      pin(op.outputs);
      for (auto values : {ssa_.inputs(id), ssa_.outputs(id)})
        for (ValueId value : values) pinned_[Name(value)] = 1;
    }
  }

  FoldedNet Run() {
    FoldedNet out{net_, {}};
    for (OpId id = 0; id < static_cast<OpId>(net_.ops.size()); ++id) {
      Op& op = out.net.ops[static_cast<size_t>(id)];
      Fold(id, out.renamed);
      for (Symbol& name : op.inputs) name = Root(name);
      for (Symbol& name : op.outputs) name = Root(name);
    }
    return out;
  }

 private:
  Symbol Name(ValueId value) const { return ssa_.blobs()[ssa_.values()[value].blob]; }
  Symbol Root(Symbol name) const {
    const Symbol root = root_.Get(name);
    return root ? root : name;
  }
  const DevicePtr& DeviceOf(OpId id) const {
    const DevicePtr& own = net_.ops[static_cast<size_t>(id)].device;
    return own ? own : net_.device;
  }

  void Fold(OpId id, std::vector<FoldedNet::Renamed>& renamed) {
    const Op& op = net_.ops[static_cast<size_t>(id)];
    const OpDef* def = lookup_(op.type);
    if (!def || def->inplace.empty()) return;
    for (size_t k = 0; k < op.outputs.size(); ++k) {
      if (!MayMove(id, k)) continue;
      for (size_t j = 0; j < op.inputs.size(); ++j) {
        if (!HasPair(def->inplace, j, k) || !MayBeOverwritten(id, j)) continue;
        const Symbol to = Root(op.inputs[j]);
        // Another output may have gone there already.
        if (std::any_of(op.outputs.begin(), op.outputs.end(), [&](Symbol o) { return Root(o) == to; }))
          continue;
        root_[op.outputs[k]] = to;
        renamed.push_back({op.outputs[k], to});
        break;
      }
    }
  }

  // The output is the first value of a blob of this net's own.
  bool MayMove(OpId id, size_t k) const {
    const Symbol name = net_.ops[static_cast<size_t>(id)].outputs[k];
    const Value& value = ssa_.values()[ssa_.outputs(id)[k]];
    return !pinned_.Get(name) && value.previous == kNoValue && value.output == k &&
           !ssa_.starts_outside(value.blob);
  }

  // The input is the last value of its blob, and nobody reads it later, or twice.
  bool MayBeOverwritten(OpId id, size_t j) const {
    const ValueId value = ssa_.inputs(id)[j];
    const Value& of = ssa_.values()[value];
    if (pinned_.Get(Name(value)) || of.def == kNoOp || ssa_.latest(of.blob) != value) return false;
    const auto uses = ssa_.uses(value);
    if (uses.empty() || uses.back() != id) return false;
    if (uses.size() > 1 && uses[uses.size() - 2] == id) return false;
    return SameDevice(DeviceOf(id), DeviceOf(of.def));
  }

  const Net& net_;
  const Ssa ssa_;
  OpLookup lookup_;
  SymbolMap<uint8_t> pinned_;
  SymbolMap<Symbol> root_;  // of a blob that went where another was
};

}  // namespace

FoldedNet FoldInPlace(const Net& net, const OpSet& ops, const FoldOptions& options) {
  return Folder(net, ops, options).Run();
}

}  // namespace weft
