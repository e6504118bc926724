// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of one backward walk. Rules cited as "rule N" are the numbered steps of semantics.md section 2.
// planner.cc walks and asks the rules, recipe.cc takes what they make, refuse.cc says no, accumulate.cc adds
// up, naming.cc names.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/scratch_map.h"
#include "core/base/symbol_map.h"
#include "core/grad/gradient.h"
#include "core/grad/naming.h"
#include "core/grad/recipe.h"
#include "core/ops/op_set.h"

namespace weft::internal {

// The gradient of one value, with the definitions behind its names.
struct Slot {
  Gradient gradient;
  DefId def = kNoDef;         // of gradient.dense or gradient.indices
  DefId values_def = kNoDef;  // of gradient.values
};

// One contribution to the gradient of a value that several operators read.
struct Contribution {
  Slot slot;
  uint32_t next = UINT32_MAX;  // in the same value's ring
  OpId forward = kNoOp;        // the forward operator it comes from
  // Where the generated halves are written (dense: the first only); kNoOp: passed through.
  int32_t op = kNoOp, values_op = kNoOp;
  uint32_t output = 0, values_output = 0;
  bool given = false;  // by the caller (B1)

  bool sparse() const { return slot.gradient.is_sparse(); }
  bool generated() const { return op != kNoOp || values_op != kNoOp; }
};

class Planner {
 public:
  Planner(const Net& net, const OpSet& ops, GradientOptions options);

  bool Step(uint64_t units);
  Progress progress() const { return {ssa_.num_ops() - static_cast<size_t>(next_), ssa_.num_ops()}; }
  Result<Backward> Take();

 private:
  bool Keeps(GradientFault fault) const { return (options_.faults & fault) != 0; }
  const Op& forward(OpId i) const {
    return own_ ? own_->ops[static_cast<size_t>(i)] : net_.ops[static_cast<size_t>(i)];
  }
  OpId NetIndex(OpId i) const { return i + static_cast<OpId>(options_.skip); }
  std::string Name(Symbol symbol) const { return std::string(net_.Str(symbol)); }
  Symbol Intern(std::string_view text) { return net_.symbols->Intern(text); }
  Symbol GradName(Symbol blob);
  Symbol GradNameOf(BlobId blob) {
    if (!grad_names_[blob]) InternGradNames(blob);
    return grad_names_[blob];
  }
  void InternGradNames(BlobId last);
  bool Failed(Result<void> result);
  const Value& value(ValueId id) const { return ssa_.values()[id]; }
  Symbol BlobOf(ValueId id) const { return ssa_.blobs()[value(id).blob]; }

  // A value's gradient; with B2 kept, that of its blob, whatever the version.
  Slot& SlotOf(ValueId id) { return slots_[Keeps(kFaultByName) ? value(id).blob : id]; }
  bool HasSeveralReaders(ValueId id) const { return ssa_.uses(id).size() + is_loss_[id] > 1; }
  bool Wanted(ValueId id) const { return wanted_.empty() || wanted_[id]; }

  // Start.
  Result<void> Start();
  Result<void> CheckStopGradients();
  Result<void> CheckFirstBackward() const;
  OpId FindBackwardOf(const Loss& loss) const;
  Result<void> FindWanted();
  void AddGiven(ValueId id, const Gradient& gradient);
  void AddSeed(Symbol blob, ValueId id);
  void SetGradient(ValueId id, const Slot& slot);

  // One forward operator.
  Result<void> Differentiate(OpId i);
  Error RuleError(OpId i, ErrorCode code, std::string_view why) const;
  std::string GradientPath(OpId i) const;
  Result<void> CheckPolicy(OpId i, const Op& op, const OpDef* def);
  Result<void> RunRule(OpId i, const OpDef& def);
  void TellApart(const Op& op);
  ValueId NeededBy(OpId i, Role role) const {
    return role.kind == Role::kInput ? ssa_.inputs(i)[role.index] : ssa_.outputs(i)[role.index];
  }
  bool IsCurrent(OpId i, Role role) const;
  Result<void> RefuseInput(OpId i, Symbol name, Role role);
  Result<void> Conflict(const VersionConflict& conflict);
  void UpdateGradients(OpId i);
  // Appends `op`; the caller appends its input definitions. Returns its first definition.
  template <typename AnOp>
  DefId Emit(AnOp&& op, Origin origin) {
    const DefId def = program_.next_def;
    program_.next_def += op.outputs.size();
    program_.first_output.push_back(def);
    program_.first_input.push_back(static_cast<uint32_t>(program_.input_defs.size()));
    program_.ops.push_back(std::forward<AnOp>(op));
    backward_.origin.push_back(origin);
    return def;
  }
  void Contribute(ValueId id, const Contribution& contribution);

  // Recipes (recipe.cc).
  std::pair<Recipe*, bool> FindRecipe(OpId i);
  void WriteRecipe(OpId i, const OpDef& def, Recipe& recipe);
  void WriteShares(Recipe& recipe);
  void SetRoles(const Op& op);
  Role RoleOf(Symbol name) const;
  DefId DefinitionOf(const Recipe::Source& source, DefId first_def) const;
  Result<void> FollowRecipe(OpId i, const Recipe& recipe);

  // Adding up (accumulate.cc).
  Result<void> Accumulate(OpId i);
  Result<void> AddUp(OpId i, ValueId id);
  Result<void> AddUpDense(OpId i, ValueId id);
  Result<void> AddUpSparse(OpId i, ValueId id);
  void Unmix(OpId i, ValueId id, bool to_dense);
  bool IsMadeByControl(int32_t op);
  Slot EmitDensify(OpId i, ValueId id, const Slot& sparse, int k);
  Slot EmitSparsify(OpId i, ValueId id, const Slot& dense, int k);
  DefId EmitPlain(OpId i, ValueId id, std::string_view type, const BlobList& inputs,
                  std::span<const DefId> defs, std::initializer_list<Symbol> outputs, std::vector<Arg> args,
                  DevicePtr device);
  const DevicePtr& DeviceOf(const Contribution& c) const;
  bool AgreeOnDevice(const DevicePtr& a, const DevicePtr& b) const;
  DevicePtr AccumulationDevice();
  std::string DescribeGroup() const;
  Symbol BaseName(ValueId id);
  Symbol Autosplit(Symbol name, int k);
  Symbol RenameOutput(int32_t op, uint32_t output, Symbol name);
  void RenameFirstLevel(Op& op, Symbol from, Symbol to) const;
  Error SameNameError(ValueId id, Symbol name) const;

  // End.
  void Conclude();
  bool InResult(BlobId b) const;
  void DropUnwanted(std::vector<DefId>& results);
  void NameResults(const std::vector<DefId>& results, const std::vector<Symbol>& names);
  bool IsForwardName(Symbol name);

  const Net& net_;
  const OpSet& ops_;
  const GradientOptions options_;
  const std::optional<Net>
      own_;                  // the operators that are differentiated, when they are not just those of net_
  Net names_{net_.symbols};  // an empty net that lends its symbol table
  const Ssa ssa_;
  OpLookup lookup_;
  GradientContext context_;
  OpId next_;  // operators from here on are done
  bool started_ = false, done_ = false;
  std::optional<Error> error_;
  Backward backward_;
  GeneratedProgram program_;

  std::vector<Symbol> grad_names_;  // per blob
  std::vector<Slot> slots_;         // per value; per blob when B2 is kept
  struct Final {
    ValueId value = kNoValue;  // kNoValue: nothing
    bool none = true;          // no gradient; else that of the value
  };
  std::vector<Final> final_;       // per blob: what the result map says now
  std::vector<ValueId> frontier_;  // when B2 is kept, per blob: the version its gradient belongs to
  std::vector<bool> wanted_;       // per value; empty: all
  std::vector<uint8_t> is_loss_;   // per value
  std::vector<BlobGradient> unknown_losses_;  // when B4 is kept

  std::vector<Contribution> contributions_;
  std::vector<uint32_t> last_contribution_;  // per value
  std::vector<uint32_t> group_;              // contributions being added up
  std::vector<DefId> pinned_;                // given gradients that must survive

  // Scratch of one operator.
  std::vector<Slot> output_slots_;
  std::vector<Slot> taken_;  // per input: the gradient its rule made
  std::vector<Gradient> output_gradients_;
  std::vector<Symbol> places_;  // Recipe's
  ScratchMap<Role> roles_;
  ScratchMap<uint32_t> place_of_;   // the first place of a name
  ScratchMap<DefId> locals_;        // the last definition of a name by the rule itself
  ScratchMap<uint32_t> targets_;    // gradient name -> the first input whose gradient it is
  std::vector<uint8_t> generated_;  // per input: some half of its gradient is made by the rule
  std::vector<Recipe::Share> sparse_;
  struct Update {
    BlobId blob;
    ValueId value;
    Slot slot;
  };
  std::vector<Update> updates_;
  std::vector<char> texts_;  // of names to be interned

  static constexpr size_t kRecipes = 256;  // remembered ones
  std::vector<std::unique_ptr<Recipe>> recipes_ = std::vector<std::unique_ptr<Recipe>>(kRecipes);

  // Devices of accumulations by the device of their first contribution, which is kept alive; [1]: tags
  // dropped.
  std::vector<std::pair<DevicePtr, DevicePtr>> accumulation_devices_[2];
  std::optional<SymbolMap<uint8_t>> skipped_names_;
};

}  // namespace weft::internal
