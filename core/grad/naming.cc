// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/naming.h"

#include <algorithm>
#include <optional>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/grad/control.h"
#include "core/ops/op_columns.h"

namespace weft::internal {

namespace {

constexpr uint32_t kNever = 0;            // last_use of a definition nobody reads
constexpr uint32_t kAlways = UINT32_MAX;  // ... that must survive the program

// Per definition, 1 + the index of the last operator that reads it.
std::vector<uint32_t> LastUses(const GeneratedProgram& program, const SymbolMap<DefId>& given,
                               const std::vector<DefId>& results) {
  std::vector<uint32_t> last_use(program.num_defs(), kNever);
  for (uint32_t t = 0; t < program.ops.size(); ++t) {
    const DefId* input_def = program.input_defs.data() + program.first_input[t];
    for (const Symbol input : program.ops[t].inputs) {
      DefId def = *input_def++;
      if (def == kNoDef) def = given.Get(input);  // a caller's gradient that is a forward blob, too
      if (def != kNoDef) last_use[def] = t + 1;
    }
  }
  for (DefId def : results)
    if (def != kNoDef) last_use[def] = kAlways;
  return last_use;
}

// The nets of a control-flow operator follow its new names (B6).
void RenameNets(const Net& net, Op& op, const BlobList& old_inputs, const BlobList& old_outputs) {
  SymbolMap<Symbol> renamed(*net.symbols, old_inputs.size() + old_outputs.size());
  for (uint32_t k = 0; k < old_inputs.size(); ++k) renamed[old_inputs[k]] = op.inputs[k];
  for (uint32_t k = 0; k < old_outputs.size(); ++k) renamed[old_outputs[k]] = op.outputs[k];
  op = RenameInSubnets(net, op, [&](Symbol name) {
    const Symbol to = renamed.Get(name);
    return to ? to : name;
  });
}

// Would output k, named `chosen`, make the operator work in place where it can't?
bool BreaksInPlace(const OpDef* def, const Op& op, Symbol chosen, uint32_t k) {
  if (!def) return false;
  uint32_t i = 0;
  for (const Symbol input : op.inputs) {
    if (input == chosen && !HasPair(def->inplace, i, k) && !HasPair(def->enforced, i, k)) return true;
    ++i;
  }
  return false;
}

}  // namespace

std::vector<Symbol> DecideNames(GeneratedProgram& program, const Net& net,
                                const std::function<bool(Symbol)>& is_forward,
                                const std::vector<DefId>& results, const OpSet& ops, uint32_t faults) {
  const bool may_clash = (faults & kFaultNameClash) != 0, may_overwrite = (faults & kFaultOverwrite) != 0;
  const bool keeps_readers = (faults & kFaultTemporaries) != 0;
  std::vector<bool> was_taken(program.num_defs(), false);
  SymbolTable& table = *net.symbols;
  OpLookup lookup(ops, table);
  SymbolMap<DefId> given(table, program.given.size(), kNoDef);
  for (DefId def = 0; def < program.given.size(); ++def) given[program.given[def]] = def;
  const std::vector<uint32_t> last_use = LastUses(program, given, results);
  std::vector<Symbol> name(program.num_defs());
  SymbolMap<DefId> holder(table, program.num_defs(), kNoDef);  // the definition that a name holds now
  for (DefId def = 0; def < program.given.size(); ++def) {
    name[def] = program.given[def];
    holder[name[def]] = def;
  }

  // Names that some definition would like; looked at only when one has to give way.
  std::optional<SymbolMap<uint8_t>> wanted;
  const auto is_wanted = [&](Symbol candidate) {
    if (!wanted) {
      wanted.emplace(table, program.num_defs());
      for (const Op& op : program.ops)
        for (Symbol output : op.outputs) (*wanted)[output] = 1;
    }
    return wanted->Get(candidate) != 0;
  };

  for (uint32_t t = 0; t < program.ops.size(); ++t) {
    Op& op = program.ops[t];
    const OpDef* def_of_type = lookup(op.type);
    const bool holds_nets = def_of_type && (def_of_type->flags & kControlFlow) && IsControlFlow(*def_of_type);
    BlobList old_inputs, old_outputs;
    if (holds_nets) {
      old_inputs = op.inputs;
      old_outputs = op.outputs;
    }
    const DefId* input_def = program.input_defs.data() + program.first_input[t];
    for (Symbol& input : op.inputs) {
      const DefId def = *input_def++;
      // Caffe2 renames what a rule makes, but not where the rule itself reads it.
      if (def != kNoDef && (!keeps_readers || was_taken[def])) input = name[def];
    }
    // A definition read last by this very operator may be overwritten by it; not so when the operator runs
    // nets, which may write before they read. An earlier output of this operator must stay, too.
    const uint32_t last_free = t + (holds_nets ? 0 : 1);
    for (uint32_t k = 0; k < op.outputs.size(); ++k) {
      const DefId def = program.first_output[t] + k;
      const auto is_taken = [&](Symbol candidate) {
        if (!may_clash && given.Get(candidate) == kNoDef && is_forward(candidate)) return true;
        const DefId held = holder.Get(candidate);
        return !may_overwrite && held != kNoDef &&
               (last_use[held] > last_free || held >= program.first_output[t]);
      };
      Symbol chosen = op.outputs[k];
      // What a net-holding operator both reads and writes (a workspace, the state of a loop) is one blob.
      const auto in_place = std::find(old_inputs.begin(), old_inputs.end(), chosen);
      const bool passes_through = holds_nets && in_place != old_inputs.end();
      if (passes_through) chosen = op.inputs[static_cast<size_t>(in_place - old_inputs.begin())];
      if (!passes_through &&
          (is_taken(chosen) || (!may_overwrite && BreaksInPlace(def_of_type, op, chosen, k)))) {
        was_taken[def] = true;
        const std::string base(table.Str(chosen));
        for (int suffix = 0;; ++suffix) {
          chosen = table.Intern(StrCat(base, "_auto_", suffix));
          // Working in place is the rule's choice: an operator may not know how.
          const bool reads = std::find(op.inputs.begin(), op.inputs.end(), chosen) != op.inputs.end();
          if (!reads && !is_wanted(chosen) && !is_taken(chosen)) break;
        }
      }
      op.outputs[k] = name[def] = chosen;
      holder[chosen] = def;
    }
    if (holds_nets && (op.inputs != old_inputs || op.outputs != old_outputs))
      RenameNets(net, op, old_inputs, old_outputs);
  }
  return name;
}

std::vector<bool> DropUnused(GeneratedProgram& program, std::vector<DefId>& results) {
  std::vector<bool> needed(program.num_defs(), false);
  for (DefId def : results)
    if (def != kNoDef) needed[def] = true;
  std::vector<bool> kept(program.ops.size(), false);
  for (size_t t = program.ops.size(); t-- > 0;) {
    for (uint32_t k = 0; k < program.ops[t].outputs.size(); ++k)
      if (needed[program.first_output[t] + k]) kept[t] = true;
    if (!kept[t]) continue;
    for (uint32_t k = 0; k < program.ops[t].inputs.size(); ++k) {
      const DefId def = program.input_defs[program.first_input[t] + k];
      if (def != kNoDef) needed[def] = true;
    }
  }

  GeneratedProgram out;
  out.given = std::move(program.given);
  out.next_def = static_cast<DefId>(out.given.size());
  std::vector<DefId> moved(program.num_defs(), kNoDef);
  for (DefId def = 0; def < out.next_def; ++def) moved[def] = def;
  for (size_t t = 0; t < program.ops.size(); ++t) {
    if (!kept[t]) continue;
    out.first_input.push_back(static_cast<uint32_t>(out.input_defs.size()));
    for (uint32_t k = 0; k < program.ops[t].inputs.size(); ++k) {
      const DefId def = program.input_defs[program.first_input[t] + k];
      out.input_defs.push_back(def == kNoDef ? kNoDef : moved[def]);
    }
    out.first_output.push_back(out.next_def);
    for (uint32_t k = 0; k < program.ops[t].outputs.size(); ++k)
      moved[program.first_output[t] + k] = out.next_def++;
    out.ops.push_back(std::move(program.ops[t]));
  }
  for (DefId& def : results)
    if (def != kNoDef) def = moved[def];
  program = std::move(out);
  return kept;
}

}  // namespace weft::internal
