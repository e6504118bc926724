// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules 8 to 10: what a rule made of an operator is written down, and joins the program as it is written.
#include "core/grad/recipe.h"

#include <algorithm>
#include <utility>

#include "core/base/hash.h"
#include "core/base/str.h"
#include "core/grad/control.h"
#include "core/grad/planner.h"

namespace weft::internal {

namespace {

constexpr uint32_t kMostBlobs = 21;  // of operators that are compared: three bits for each fit in a word

// "1 2" holds 2. One digit each.
bool HasNumber(std::string_view numbers, uint32_t number) {
  return number < 10 && numbers.find(static_cast<char>('0' + number)) != std::string_view::npos;
}

// Whether the same names are equal.
bool EqualsAgree(const std::vector<Symbol>& places, const std::vector<uint32_t>& equals) {
  for (uint32_t p = 0; p < places.size(); ++p) {
    uint32_t first = 0;
    while (places[first] != places[p]) ++first;
    if (first != equals[p]) return false;
  }
  return true;
}

}  // namespace

// Lists the places that operator i has under any rule. Returns where its recipe is or is to be written, and
// whether it is there; then the places are complete.
std::pair<Recipe*, bool> Planner::FindRecipe(OpId i) {
  const Op& op = forward(i);
  places_.assign(op.inputs.begin(), op.inputs.end());
  places_.insert(places_.end(), op.outputs.begin(), op.outputs.end());
  uint64_t halves = 0, wanted = 0;
  for (const Gradient& gradient : output_gradients_) {
    for (const auto half : kHalves) {
      const Symbol name = gradient.*half;
      halves = halves << 1 | static_cast<bool>(name);
      if (name) places_.push_back(name);
    }
  }
  if (!wanted_.empty())
    for (ValueId id : ssa_.inputs(i)) wanted = wanted << 1 | wanted_[id];

  const auto address = [](const void* p) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(p)); };
  const uint64_t hash = HashMix(HashMix(op.type.id, address(op.args.begin())), address(op.device.get()));
  std::unique_ptr<Recipe>& slot = recipes_[hash % kRecipes];
  if (!slot) slot = std::make_unique<Recipe>();
  Recipe& r = *slot;
  if (r.reusable && r.type == op.type && r.engine == op.engine && r.args.SameAs(op.args) &&
      r.device == op.device && r.inputs == op.inputs.size() && r.outputs == op.outputs.size() &&
      r.halves == halves && r.wanted == wanted) {
    const size_t own = places_.size();
    for (uint32_t k : r.gradients_of) places_.push_back(GradNameOf(value(ssa_.inputs(i)[k]).blob));
    if (EqualsAgree(places_, r.equals)) return {&r, true};
    places_.resize(own);
  }
  r.reusable = false;
  r.type = op.type;
  r.engine = op.engine;
  r.args = op.args;
  r.device = op.device;
  r.inputs = op.inputs.size();
  r.outputs = op.outputs.size();
  r.halves = halves;
  r.wanted = wanted;
  return {&r, false};
}

// Which names of the forward operator a rule's operator may read: an output gradient before an output before
// an input, the first of equal names (rule 9).
void Planner::SetRoles(const Op& op) {
  roles_.Clear();
  for (uint32_t k = op.inputs.size(); k-- > 0;) roles_[op.inputs[k]] = {Role::kInput, k};
  for (uint32_t k = 0; k < op.outputs.size(); ++k) roles_[op.outputs[k]] = {Role::kOutput, k};
  for (uint32_t k = op.outputs.size(); k-- > 0;)
    for (const auto half : kHalves)
      if (const Symbol name = output_gradients_[k].*half) roles_[name] = {Role::kOutputGradient, k};
}

Role Planner::RoleOf(Symbol name) const {
  const Role* role = roles_.Find(name);
  return role ? *role : Role{};
}

// Writes down what the rule of `def` has made of operator i, and completes its places.
void Planner::WriteRecipe(OpId i, const OpDef& def, Recipe& recipe) {
  const Op& op = forward(i);
  const auto gradients = context_.input_gradients();
  recipe.equals.clear();
  recipe.gradients_of.clear();
  recipe.reads.clear();
  recipe.writes.clear();
  recipe.taken.clear();
  SetRoles(op);
  place_of_.Clear();
  const auto place = [&](Symbol name) {
    if (const uint32_t* known = place_of_.Find(name)) return *known;
    places_.push_back(name);
    return place_of_[name] = static_cast<uint32_t>(places_.size() - 1);
  };
  const auto list = [&](size_t p) {
    const uint32_t* known = place_of_.Find(places_[p]);
    recipe.equals.push_back(known ? *known : place_of_[places_[p]] = static_cast<uint32_t>(p));
  };
  for (size_t p = 0; p < places_.size(); ++p) list(p);
  for (uint32_t k = 0; k < gradients.size(); ++k) {
    const Symbol name = gradients[k].dense;
    if (!name || name != grad_names_[value(ssa_.inputs(i)[k]).blob]) continue;
    recipe.gradients_of.push_back(k);
    places_.push_back(name);
    list(places_.size() - 1);
  }
  const size_t known_places = places_.size();

  locals_.Clear();
  const auto source = [&](Symbol name) {
    const DefId* const local = locals_.Find(name);
    return Recipe::Source{place(name), local ? *local : kNoDef, RoleOf(name)};
  };
  DefId made_defs = 0;
  for (Op& made : context_.ops()) {
    for (uint32_t k = 0; k < made.inputs.size(); ++k) {
      Recipe::Read read;
      // An operator that works in place overwrote its input: its gradient may ask for the shape of that, not
      // for the value.
      const int overwritten = context_.OverwrittenInput(made.inputs[k]);
      if (overwritten >= 0) {
        made.inputs[k] = op.inputs[static_cast<size_t>(overwritten)];
        const OpDef* made_def = lookup_(made.type);
        if (!made_def || !HasNumber(made_def->shape_only, k)) read.overwritten = overwritten;
      }
      read.source = source(made.inputs[k]);
      const bool is_local = read.source.local != kNoDef;
      // What the rule itself made shadows the operator's names; with B13 kept it is the other way round.
      if (is_local && !Keeps(kFaultNameClash)) read.source.role = {};
      // CopyOnDeviceLike asks its second input for a place only: another version does as well.
      read.may_be_stale = (is_local && read.source.role.kind == Role::kNothing) ||
                          (k == 1 && !Keeps(kFaultCopyReads) && net_.Str(made.type) == "CopyOnDeviceLike");
      recipe.reads.push_back(read);
    }
    for (Symbol output : made.outputs) {
      locals_[output] = made_defs++;
      recipe.writes.push_back(place(output));
    }
  }
  for (const Gradient& gradient : gradients) {
    Recipe::Taken taken;
    if (gradient.dense) taken.dense = source(gradient.dense);
    if (gradient.indices) taken.indices = source(gradient.indices);
    if (gradient.values) taken.values = source(gradient.values);
    recipe.taken.push_back(taken);
  }
  recipe.ops.swap(context_.ops());
  WriteShares(recipe);
  recipe.reusable = places_.size() == known_places && recipe.inputs + recipe.outputs <= kMostBlobs &&
                    !def.gradient_fn && !IsControlFlow(def);
}

// Rule 10: which gradients of inputs the rule's operators make, and which it passes through.
void Planner::WriteShares(Recipe& recipe) {
  const auto gradients = context_.input_gradients();
  targets_.Clear();
  for (uint32_t k = static_cast<uint32_t>(gradients.size()); k-- > 0;)
    for (const auto half : kHalves)
      if (const Symbol name = gradients[k].*half) targets_[name] = k;
  generated_.assign(gradients.size(), 0);
  sparse_.clear();
  recipe.shares.clear();
  DefId def = 0;
  for (size_t t = 0; t < recipe.ops.size(); ++t) {
    const int32_t op = static_cast<int32_t>(t);
    for (uint32_t n = 0; n < recipe.ops[t].outputs.size(); ++n, ++def) {
      const Symbol output = recipe.ops[t].outputs[n];
      const uint32_t* target = targets_.Find(output);
      // A rule may use a gradient's name for its own intermediate values: only the last write is the
      // gradient. (Caffe2 counts every write, and adds the intermediate values in.)
      if (!target || (!Keeps(kFaultTemporaries) && *locals_.Find(output) != def)) continue;
      const uint32_t k = *target;
      generated_[k] = 1;
      if (gradients[k].dense == output) {
        recipe.shares.push_back({k, op, -1, n, 0, def, context_.is_twin(k)});
        continue;
      }
      auto found = std::find_if(sparse_.begin(), sparse_.end(), [&](const auto& s) { return s.input == k; });
      if (found == sparse_.end()) found = sparse_.insert(found, {k});
      if (gradients[k].indices == output) {
        found->op = op;
        found->output = n;
      } else {
        found->values_op = op;
        found->values_output = n;
      }
    }
  }
  recipe.shares.insert(recipe.shares.end(), sparse_.begin(), sparse_.end());
  for (uint32_t k = 0; k < gradients.size(); ++k) {
    const bool is_generated = std::any_of(std::begin(kHalves), std::end(kHalves), [&](auto half) {
      const Symbol name = gradients[k].*half;
      return name && generated_[*targets_.Find(name)];
    });
    if (!gradients[k].none() && !is_generated) recipe.shares.push_back({k});
  }
}

// The definition that a source means to operator i.
DefId Planner::DefinitionOf(const Recipe::Source& source, DefId first_def) const {
  if (source.local != kNoDef) return first_def + source.local;
  if (source.role.kind != Role::kOutputGradient) return kNoDef;
  const Slot& slot = output_slots_[source.role.index];
  return slot.gradient.values == places_[source.place] ? slot.values_def : slot.def;
}

// Rule 9, then the operators join the program; what they make for the inputs is in taken_.
Result<void> Planner::FollowRecipe(OpId i, const Recipe& recipe) {
  const int32_t first_op = static_cast<int32_t>(program_.ops.size());
  const DefId first_def = program_.next_def;
  const Recipe::Read* read = recipe.reads.data();
  const uint32_t* write = recipe.writes.data();
  for (const Op& made : recipe.ops) {
    Emit(made, {Origin::kRule, NetIndex(i), {}, 0});
    Op& op = program_.ops.back();
    for (uint32_t k = 0; k < op.inputs.size(); ++k)
      if (const int input = read[k].overwritten; input >= 0)
        WEFT_TRY_VOID(
            Conflict({NetIndex(i), false, ssa_.inputs(i)[static_cast<size_t>(input)], NetIndex(i)}));
    for (Symbol& name : op.inputs) {
      const Recipe::Source& source = read->source;
      name = places_[source.place];
      if (!read->may_be_stale && !IsCurrent(i, source.role)) WEFT_TRY_VOID(RefuseInput(i, name, source.role));
      program_.input_defs.push_back(DefinitionOf(source, first_def));
      ++read;
    }
    for (Symbol& name : op.outputs) name = places_[*write++];
  }

  taken_.clear();
  const auto name = [&](const Recipe::Source& s) {
    return s.place == UINT32_MAX ? kNoSymbol : places_[s.place];
  };
  for (const Recipe::Taken& taken : recipe.taken) {
    Slot& slot = taken_.emplace_back();
    slot.gradient = {name(taken.dense), name(taken.indices), name(taken.values)};
    if (slot.gradient.none()) continue;
    slot.def = DefinitionOf(slot.gradient.is_dense() ? taken.dense : taken.indices, first_def);
    if (slot.gradient.is_sparse()) slot.values_def = DefinitionOf(taken.values, first_def);
  }

  // Only values with several readers keep a list of contributions; the others just take their gradient.
  for (const Recipe::Share& share : recipe.shares) {
    const ValueId id = ssa_.inputs(i)[share.input];
    if (!HasSeveralReaders(id) || !Wanted(id)) continue;
    Contribution contribution;
    contribution.slot = taken_[share.input];
    contribution.forward = i;
    if (share.op >= 0) contribution.op = first_op + share.op;
    if (share.values_op >= 0) contribution.values_op = first_op + share.values_op;
    contribution.output = share.output;
    contribution.values_output = share.values_output;
    if (share.local != kNoDef) contribution.slot.def = first_def + share.local;
    if (share.is_twin) contribution.slot.gradient.dense = GradNameOf(value(id).blob);
    Contribute(id, contribution);
  }
  return {};
}

}  // namespace weft::internal
