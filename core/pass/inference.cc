// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/inference.h"

#include <algorithm>

#include "core/ops/op_columns.h"
#include "core/pass/old_values.h"
#include "core/ssa/nested.h"

namespace weft {

namespace {

// Operators that write only their first output when is_test is set.
constexpr std::string_view kTestModeTypes[] = {"Dropout", "SpatialBN", "RoIPool"};
// Operators whose first output is their input when nothing is learnt.
constexpr std::string_view kPassingTypes[] = {"Dropout", "StopGradient", "Copy"};

template <size_t N>
std::vector<Symbol> Find(const SymbolTable& table, const std::string_view (&names)[N]) {
  std::vector<Symbol> symbols;
  for (std::string_view name : names)
    if (const Symbol symbol = table.Find(name)) symbols.push_back(symbol);
  return symbols;
}

bool Holds(std::span<const Symbol> list, Symbol symbol) {
  return std::find(list.begin(), list.end(), symbol) != list.end();
}

class Stripper {
 public:
  Stripper(const Net& net, const OpSet& ops)
      : net_(net),
        ssa_(net, {.nested = NestedNets::kReads}),
        lookup_(ops, *net.symbols),
        nesting_(*net.symbols),
        test_mode_(Find(*net.symbols, kTestModeTypes)),
        passing_(Find(*net.symbols, kPassingTypes)),
        is_(ssa_.values().size()),
        next_(ssa_.values().size(), kNoValue),
        pinned_(ssa_.blobs().size(), false) {
    for (ValueId value = 0; value < is_.size(); ++value) {
      is_[value] = value;
      if (const ValueId previous = ssa_.values()[value].previous; previous != kNoValue)
        next_[previous] = value;
    }
    const auto pin = [&](Symbol name) {
      if (const BlobId blob = ssa_.FindBlob(name); blob != kNoBlob) pinned_[blob] = true;
    };
    for (Symbol name : net.external_outputs) pin(name);
    for (const Op& op : net.ops)
      for (Symbol name : op.control_inputs) pin(name);
  }

  InferenceNet Run() {
    InferenceNet out{WithoutOps(net_), {}, {}, {}};
    for (OpId id = 0; id < static_cast<OpId>(net_.ops.size()); ++id) {
      const Op& op = net_.ops[id];
      const bool rest_unused = OnlyFirstIsUsed(id);
      if (Holds(passing_, op.type)) {
        if (rest_unused && CanPass(id)) {
          is_[ssa_.outputs(id)[0]] = is_[ssa_.inputs(id)[0]];
          out.removed.push_back(id);
          continue;
        }
        out.kept.push_back(id);
      }
      Op& made = out.net.ops.emplace_back(op);
      for (size_t k = 0; k < op.inputs.size(); ++k) made.inputs[k] = Name(is_[ssa_.inputs(id)[k]]);
      if (!Holds(test_mode_, op.type)) continue;
      if (!rest_unused) {
        if (out.kept.empty() || out.kept.back() != id) out.kept.push_back(id);
        continue;
      }
      made.outputs = {op.outputs[0]};
      made.args = WithArg(op.args, MakeArg(net_.symbols->Intern("is_test"), int64_t{1}));
      out.test_mode.push_back(id);
    }
    return out;
  }

 private:
  Symbol Name(ValueId value) const { return ssa_.blobs()[ssa_.values()[value].blob]; }

  // Outputs behind the first have no reader; statistics that the op updates in place do not count as outputs.
  bool OnlyFirstIsUsed(OpId id) const {
    const auto outputs = ssa_.outputs(id);
    if (outputs.empty()) return false;
    for (size_t k = 1; k < outputs.size(); ++k) {
      const Value& value = ssa_.values()[outputs[k]];
      if (!ssa_.uses(outputs[k]).empty()) return false;
      const bool last = ssa_.latest(value.blob) == outputs[k];
      if (last && pinned_[value.blob] && value.previous == kNoValue) return false;
    }
    return true;
  }

  // The readers of output 0 may read the input instead.
  bool CanPass(OpId id) {
    const Op& op = net_.ops[id];
    if (ssa_.inputs(id).empty() || CrossesDevices(id)) return false;
    const ValueId output = ssa_.outputs(id)[0];
    const ValueId source = is_[ssa_.inputs(id)[0]];
    const bool same_blob = Name(source) == op.outputs[0];
    if (pinned_[ssa_.values()[output].blob] && !same_blob) return false;
    // The blob of the input must hold it until the last reader.
    ValueId overwriting = next_[source];
    while (overwriting != kNoValue && (overwriting == output || is_[overwriting] == source))
      overwriting = next_[overwriting];
    const OpId end =
        overwriting == kNoValue ? static_cast<OpId>(net_.ops.size()) : ssa_.values()[overwriting].def;
    for (OpId reader : ssa_.uses(output)) {
      if (reader > end) return false;
      if (reader == end && !MayWriteInPlace(net_.ops[reader], op.outputs[0], Name(source))) return false;
      if (nesting_.Of(net_.ops[reader].type) != Nesting::kNone && !same_blob) return false;
      if (!same_blob && MustWriteInPlace(net_.ops[reader], op.outputs[0])) return false;
    }
    return true;
  }

  // A Copy from one accelerator to another does something.
  bool CrossesDevices(OpId id) const {
    const Op& op = net_.ops[id];
    if (net_.Str(op.type) != "Copy") return false;
    const OpId maker = ssa_.values()[ssa_.inputs(id)[0]].def;
    const DevicePtr here = op.device ? op.device : net_.device;
    if (maker == kNoOp) return !SameDevice(here, nullptr);
    return !SameDevice(here, net_.ops[maker].device ? net_.ops[maker].device : net_.device);
  }

  // Reading `source` instead of `blob`, the op would overwrite what it reads.
  bool MayWriteInPlace(const Op& op, Symbol blob, Symbol source) {
    const OpDef* def = lookup_(op.type);
    for (size_t i = 0; i < op.inputs.size(); ++i)
      for (size_t k = 0; k < op.outputs.size(); ++k)
        if (op.inputs[i] == blob && op.outputs[k] == source && (!def || !HasPair(def->inplace, i, k)))
          return false;
    return true;
  }

  bool MustWriteInPlace(const Op& op, Symbol blob) {
    const OpDef* def = lookup_(op.type);
    for (size_t i = 0; i < op.inputs.size(); ++i)
      for (size_t k = 0; k < op.outputs.size(); ++k)
        if (op.inputs[i] == blob && op.outputs[k] == blob && (!def || HasPair(def->enforced, i, k)))
          return true;
    return false;
  }

  const Net& net_;
  const Ssa ssa_;
  OpLookup lookup_;
  const NestingTypes nesting_;
  const std::vector<Symbol> test_mode_, passing_;
  std::vector<ValueId> is_;    // per value: the one that its readers read
  std::vector<ValueId> next_;  // per value: the one that overwrites it
  std::vector<bool> pinned_;   // per blob: its name is looked at from outside or by control inputs
};

}  // namespace

InferenceNet StripForInference(const Net& net, const OpSet& ops) {
  const Net whole = ListOldValues(net);
  return Stripper(whole, ops).Run();
}

}  // namespace weft
