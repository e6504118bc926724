// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/planner.h"

#include <algorithm>
#include <utility>

#include "core/base/str.h"
#include "core/grad/complete.h"
#include "core/grad/control.h"
#include "core/grad/element_type.h"
#include "core/grad/messages.h"
#include "core/ops/gradient_rule.h"

namespace weft::internal {

namespace {

// The operators that are differentiated, when they are not just those of the net: without the skipped ones,
// with control-flow inputs completed.
std::optional<Net> Differentiated(const Net& net, const OpSet& ops, const GradientOptions& options) {
  const size_t skip = std::min(options.skip, net.ops.size());
  const bool complete = !(options.faults & kFaultControlFlow) && HoldsControlFlow(net, ops, skip);
  if (skip == 0 && !complete) return std::nullopt;
  Net out(net.symbols);
  out.external_inputs = net.external_inputs;
  out.ops.assign(net.ops.begin() + static_cast<std::ptrdiff_t>(skip), net.ops.end());
  if (complete) CompleteControlInputs(out, ops);
  return out;
}

bool Holds(const BlobList& names, Symbol name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Planner::Planner(const Net& net, const OpSet& ops, GradientOptions options)
    : net_(net),
      ops_(ops),
      options_(std::move(options)),
      own_(Differentiated(net, ops, options_)),
      ssa_(own_ ? *own_ : net),
      lookup_(ops, *net.symbols),
      context_(names_, [this](Symbol blob) { return GradName(blob); }),
      next_(static_cast<OpId>(ssa_.num_ops())),
      grad_names_(ssa_.blobs().size()) {
  context_.set_caffe2_mode(Keeps(kFaultRules));
  context_.set_separate_twins(!Keeps(kFaultTemporaries));
  context_.set_tracks_overwritten_inputs(!Keeps(kFaultOwnInput));
  context_.set_input_type(
      [this](size_t k) { return ElementType(net_, ssa_, options_.skip, ssa_.inputs(next_)[k]); });
  context_.set_wanted([this](size_t k) { return Wanted(ssa_.inputs(next_)[k]); });
  slots_.resize(Keeps(kFaultByName) ? ssa_.blobs().size() : ssa_.values().size());
  final_.resize(ssa_.blobs().size());
  if (Keeps(kFaultByName)) frontier_.resize(ssa_.blobs().size(), kNoValue);
  last_contribution_.resize(ssa_.values().size(), UINT32_MAX);
  is_loss_.resize(ssa_.values().size(), 0);
  // Most operators have one gradient operator, every few a sum.
  const size_t expected = ssa_.num_ops() + ssa_.num_ops() / 4;
  program_.ops.reserve(expected);
  program_.first_output.reserve(expected);
  program_.first_input.reserve(expected);
  backward_.origin.reserve(expected);
}

bool Planner::Step(uint64_t units) {
  if (done_) return true;
  if (!started_) {
    started_ = true;
    if (Failed(Start())) return done_ = true;
  }
  for (; next_ > 0 && units > 0; --units) {
    --next_;
    if (Failed(Differentiate(next_)) || Failed(Accumulate(next_))) return done_ = true;
  }
  if (next_ > 0) return false;
  Conclude();
  return done_ = true;
}

Result<Backward> Planner::Take() {
  WEFT_CHECK(done_);
  if (error_) return std::move(*error_);
  return std::move(backward_);
}

bool Planner::Failed(Result<void> result) {
  if (!result) error_ = std::move(result).error();
  return error_.has_value();
}

Symbol Planner::GradName(Symbol blob) {
  const BlobId id = ssa_.FindBlob(blob);
  if (id == kNoBlob) return Intern(StrCat(net_.Str(blob), "_grad"));
  return GradNameOf(id);
}

// Names a batch of neighbours with it: the walk needs them soon, and the waits for memory overlap.
void Planner::InternGradNames(BlobId last) {
  constexpr size_t kBatch = 16;
  BlobId ids[kBatch];
  size_t ends[kBatch];  // in texts_
  uint32_t hashes[kBatch];
  size_t count = 0;
  texts_.clear();
  const auto append = [&](std::string_view text) { texts_.insert(texts_.end(), text.begin(), text.end()); };
  for (BlobId id = last; count < kBatch && last - id < 2 * kBatch; --id) {
    if (id == last || (!grad_names_[id] && !ssa_.uses(ssa_.latest(id)).empty())) {
      append(net_.Str(ssa_.blobs()[id]));
      append("_grad");
      ids[count] = id;
      ends[count++] = texts_.size();
    }
    if (id == 0) break;
  }
  const auto text = [&](size_t k) {
    const size_t begin = k == 0 ? 0 : ends[k - 1];
    return std::string_view(texts_.data() + begin, ends[k] - begin);
  };
  for (size_t k = 0; k < count; ++k) hashes[k] = SymbolTable::Hash(text(k));
  net_.symbols->Fetch(std::span(hashes, count));
  for (size_t k = 0; k < count; ++k) grad_names_[ids[k]] = net_.symbols->Intern(text(k), hashes[k]);
}

// ---- start ----

Result<void> Planner::Start() {
  if (options_.skip > net_.ops.size())
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("skip is ", options_.skip, ", but the net has only ", net_.ops.size(),
                        net_.ops.size() == 1 ? " operator" : " operators")};
  WEFT_TRY_VOID(CheckStopGradients());
  WEFT_TRY_VOID(FindWanted());
  WEFT_TRY_VOID(CheckFirstBackward());
  // Rules 5 and 6: every loss is one more reader of its value; then seeds, in order.
  std::vector<ValueId> values;
  for (const Loss& loss : options_.losses) {
    const BlobId blob = ssa_.FindBlob(loss.blob);
    if (blob == kNoBlob && !Keeps(kFaultUnknownLoss))
      return Error{ErrorCode::kNotFound,
                   StrCat("loss ", Name(loss.blob), " is no blob of this net",
                          NearestBlob(net_, ssa_, net_.Str(loss.blob))),
                   -1, Name(loss.blob)};
    values.push_back(blob == kNoBlob ? kNoValue : ssa_.latest(blob));
    if (values.back() == kNoValue) continue;
    if (is_loss_[values.back()])
      return Error{ErrorCode::kInvalidArgument, StrCat("loss ", Name(loss.blob), " is given twice"), -1,
                   Name(loss.blob)};
    is_loss_[values.back()] = 1;
  }
  for (size_t k = 0; k < values.size(); ++k)
    if (!options_.losses[k].given.none()) AddGiven(values[k], options_.losses[k].given);
  program_.next_def = static_cast<DefId>(program_.given.size());
  for (size_t k = 0; k < values.size(); ++k)
    if (options_.losses[k].given.none()) AddSeed(options_.losses[k].blob, values[k]);
  return {};
}

// With wrt, stop or frozen: which values need a gradient at all, by one forward sweep.
Result<void> Planner::FindWanted() {
  if (options_.wrt.empty() && options_.stop.empty() && options_.frozen.empty()) return {};
  const auto mark = [&](const std::vector<Symbol>& names, std::vector<bool>& set,
                        std::string_view what) -> Result<void> {
    set.resize(ssa_.blobs().size(), false);
    for (Symbol name : names) {
      const BlobId blob = ssa_.FindBlob(name);
      if (blob == kNoBlob)
        return Error{
            ErrorCode::kNotFound,
            StrCat(what, " ", Name(name), " is no blob of this net", NearestBlob(net_, ssa_, net_.Str(name))),
            -1, Name(name)};
      set[blob] = true;
    }
    return {};
  };
  std::vector<bool> wrt, stop, frozen;
  WEFT_TRY_VOID(mark(options_.wrt, wrt, "wrt"));
  WEFT_TRY_VOID(mark(options_.stop, stop, "stop"));
  WEFT_TRY_VOID(mark(options_.frozen, frozen, "frozen"));
  wanted_.resize(ssa_.values().size(), false);
  for (ValueId v = 0; v < wanted_.size(); ++v) {  // values are in order of creation
    const Value& made = value(v);
    const bool first = made.previous == kNoValue;
    bool want = first && (options_.wrt.empty() ? made.def == kNoOp && !frozen[made.blob] : wrt[made.blob]);
    if (made.def != kNoOp)
      for (ValueId input : ssa_.inputs(made.def)) want = want || wanted_[input];
    wanted_[v] = want && !stop[made.blob];
  }
  return {};
}

void Planner::AddGiven(ValueId id, const Gradient& gradient) {
  const auto define = [&](Symbol name) {
    const auto found = std::find(program_.given.begin(), program_.given.end(), name);
    if (found != program_.given.end()) return static_cast<DefId>(found - program_.given.begin());
    program_.given.push_back(name);
    return static_cast<DefId>(program_.given.size() - 1);
  };
  Slot slot{gradient, kNoDef, kNoDef};
  slot.def = define(gradient.is_dense() ? gradient.dense : gradient.indices);
  if (gradient.is_sparse()) slot.values_def = define(gradient.values);
  if (options_.nested) pinned_.push_back(slot.def);
  if (id == kNoValue) return;
  SetGradient(id, slot);
  if (Keeps(kFaultLostGiven) || !HasSeveralReaders(id)) return;
  Contribution contribution;
  contribution.slot = slot;
  contribution.given = true;
  Contribute(id, contribution);
}

void Planner::AddSeed(Symbol blob, ValueId id) {
  Op op;
  op.type = Intern("ConstantFill");
  op.name = kEmptySymbol;
  op.inputs = {blob};
  op.outputs = {Intern(StrCat(net_.Str(blob), "_autogen_grad"))};
  op.args = ArgList({MakeArg(Intern("value"), 1.0f)});
  op.device = options_.scope_device;
  if (!Keeps(kFaultSeedDevice) && id != kNoValue && value(id).def != kNoOp) {  // where the loss is made
    const DevicePtr& device = forward(value(id).def).device;
    if (device && device->type() != kCpu) op.device = device;
  }
  const Symbol name = op.outputs[0];
  const DefId def = Emit(std::move(op), {Origin::kSeed, kNoOp, blob, id == kNoValue ? 0 : value(id).version});
  program_.input_defs.push_back(kNoDef);
  if (id == kNoValue) {
    unknown_losses_.push_back({blob, Gradient::Dense(name)});
    return;
  }
  const Slot slot{Gradient::Dense(name), def, kNoDef};
  SetGradient(id, slot);
  if (!HasSeveralReaders(id)) return;
  Contribution contribution;
  contribution.slot = slot;
  contribution.op = static_cast<int32_t>(program_.ops.size() - 1);
  Contribute(id, contribution);
}

void Planner::SetGradient(ValueId id, const Slot& slot) {
  SlotOf(id) = slot;
  final_[value(id).blob] = {id, slot.gradient.none()};
  if (Keeps(kFaultByName)) frontier_[value(id).blob] = id;
}

void Planner::Contribute(ValueId id, const Contribution& contribution) {
  const uint32_t index = static_cast<uint32_t>(contributions_.size());
  contributions_.push_back(contribution);
  uint32_t& last = last_contribution_[id];
  contributions_[index].next = last == UINT32_MAX ? index : std::exchange(contributions_[last].next, index);
  last = index;
}

// ---- one forward operator (rules 7 to 11) ----

Result<void> Planner::Differentiate(OpId i) {
  const Op& op = forward(i);
  const auto inputs = ssa_.inputs(i);
  size_t gradients = 0;
  output_slots_.clear();
  output_gradients_.clear();
  for (ValueId id : ssa_.outputs(i)) {
    output_slots_.push_back(SlotOf(id));
    output_gradients_.push_back(output_slots_.back().gradient);
    gradients += !output_gradients_.back().none();
  }
  const OpDef* def = lookup_(op.type);
  if (gradients == 0 && !(def && def->name == "ZeroGradient")) return {};  // rule 7
  if (!wanted_.empty() && std::none_of(inputs.begin(), inputs.end(), [&](ValueId v) { return Wanted(v); }))
    return {};
  if (gradients > 1 && !Keeps(kFaultOverwrite)) TellApart(op);
  const auto [recipe, known] = FindRecipe(i);
  if (!known) {
    WEFT_TRY_VOID(CheckPolicy(i, op, def));
    WEFT_TRY_VOID(RunRule(i, *def));
    WriteRecipe(i, *def, *recipe);
  }
  WEFT_TRY_VOID(FollowRecipe(i, *recipe));
  UpdateGradients(i);
  return {};
}

// Gradients of two outputs may go by one name and yet be two (one is what the other was before more was
// added): inside the rule, the second has a name of its own. Its real one is decided last.
void Planner::TellApart(const Op& op) {
  targets_.Clear();
  for (uint32_t k = 0; k < output_slots_.size(); ++k) {
    Gradient& gradient = output_gradients_[k];
    Gradient& in_slot = output_slots_[k].gradient;
    for (const auto half : kHalves) {
      Symbol& name = gradient.*half;
      if (!name) continue;
      const uint32_t* before = targets_.Find(name);
      const auto def = [&](uint32_t output) {
        const Slot& slot = output_slots_[output];
        return slot.gradient.values == name ? slot.values_def : slot.def;
      };
      if (before && def(*before) != def(k)) {
        std::string own = StrCat(net_.Str(name), "_of_", net_.Str(op.outputs[k]));
        while (ssa_.FindBlob(Intern(own)) != kNoBlob) own += "_";
        name = in_slot.*half = Intern(own);
        continue;
      }
      if (!before) targets_[name] = k;
    }
  }
}

Result<void> Planner::RunRule(OpId i, const OpDef& def) {
  context_.Begin(forward(i), output_gradients_);
  if (def.policy == GradientPolicy::kNone) return {};
  std::optional<Op> repaired;
  auto made = IsControlFlow(def) ? ControlFlowGradient(context_, def, ops_, options_, &repaired)
                                 : RunGradientRule(def, context_);
  if (!made) {
    const Error& cause = made.error();
    std::string why = cause.message;
    if (cause.code == ErrorCode::kMissingGradient) why += MissingGradientRemedy(why);
    Error error = RuleError(i, cause.code, why);
    if (!cause.blob.empty()) error.blob = cause.blob;
    return error;
  }
  if (repaired) backward_.repaired_ops.push_back({NetIndex(i), std::move(*repaired)});
  return {};
}

Result<void> Planner::Conflict(const VersionConflict& conflict) {
  if (!options_.collect_conflicts && !(options_.nested && conflict.reader == conflict.overwriter))
    return VersionConflictError(net_, ssa_, options_.skip, conflict);
  backward_.conflicts.push_back(conflict);
  return {};
}

// Whether what has the role is still there after the forward net.
bool Planner::IsCurrent(OpId i, Role role) const {
  if (role.kind == Role::kNothing) return false;
  if (role.kind == Role::kOutputGradient && !Keeps(kFaultByName)) return true;
  const ValueId needed = NeededBy(i, role);
  const BlobId blob = value(needed).blob;
  return needed == (role.kind == Role::kOutputGradient ? frontier_[blob] : ssa_.latest(blob));
}

// Of an input that is not current.
Result<void> Planner::RefuseInput(OpId i, Symbol name, Role role) {
  if (role.kind == Role::kNothing)
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("Blob name \"", net_.Str(name), "\" is not in the scope of ",
                        DescribeOp(net_, static_cast<size_t>(NetIndex(i))),
                        " and is not generated by any of the local gradient operators."),
                 NetIndex(i), Name(name)};
  const bool of_input = role.kind == Role::kInput;
  const ValueId needed = NeededBy(i, role);
  const BlobId blob = value(needed).blob;
  if (role.kind == Role::kOutputGradient)
    return Caffe2VersionError(net_, ssa_, options_.skip, NetIndex(i), needed, frontier_[blob], "", name);
  const ValueId latest = ssa_.latest(blob);
  if (options_.faults == kAllFaults)
    return Caffe2VersionError(net_, ssa_, options_.skip, NetIndex(i), needed, latest,
                              of_input ? "input" : "output", {});
  ValueId next = latest;
  while (value(next).previous != needed) next = value(next).previous;
  return Conflict({NetIndex(i), !of_input, needed, NetIndex(value(next).def)});
}

// Rule 11, and the gradient frontier.
void Planner::UpdateGradients(OpId i) {
  const Op& op = forward(i);
  const auto inputs = ssa_.inputs(i);
  updates_.clear();
  for (size_t k = 0; k < inputs.size(); ++k) {
    const BlobId blob = value(inputs[k]).blob;
    if (!taken_[k].gradient.none() && Wanted(inputs[k])) {
      updates_.push_back({blob, inputs[k], taken_[k]});
      if (Keeps(kFaultByName)) frontier_[blob] = inputs[k];
    } else if (final_[blob].value == kNoValue || Holds(op.outputs, op.inputs[k])) {
      updates_.push_back({blob, inputs[k], {}});
    }
  }
  // Decided against the map as it was before this operator. Of one blob's entries the last wins; unless B60
  // is kept, the last that is not none: what the map has of this very value is from this operator.
  for (const auto& [blob, value, slot] : updates_) {
    const bool none = slot.gradient.none();
    Final& last = final_[blob];
    if (none && !Keeps(kFaultLastWins) && last.value == value && !last.none) continue;
    last = {value, none};
    if (!none || Keeps(kFaultByName)) SlotOf(value) = slot;
  }
}

// ---- end (rule 18) ----

void Planner::Conclude() {
  const auto count = std::count_if(final_.begin(), final_.end(), [](const Final& f) { return !f.none; });
  std::vector<DefId> results;
  results.reserve(static_cast<size_t>(count) * 2 + pinned_.size());
  for (const Final& f : final_) {
    if (f.none) continue;
    results.push_back(SlotOf(f.value).def);
    results.push_back(SlotOf(f.value).values_def);
  }
  if (!wanted_.empty()) DropUnwanted(results);
  const size_t num_results = results.size();
  results.insert(results.end(), pinned_.begin(), pinned_.end());
  const std::vector<Symbol> names = DecideNames(
      program_, net_, [this](Symbol name) { return IsForwardName(name); }, results, ops_, options_.faults);
  results.resize(num_results);
  NameResults(results, names);
  backward_.gradients.reserve(static_cast<size_t>(count) + unknown_losses_.size());
  for (BlobId b = 0; b < final_.size(); ++b) {
    const Final& f = final_[b];
    if (f.none || !InResult(b)) continue;
    backward_.gradients.push_back({ssa_.blobs()[b], SlotOf(f.value).gradient, value(f.value).version});
  }
  for (const BlobGradient& loss : unknown_losses_) backward_.gradients.push_back(loss);
  backward_.ops = std::move(program_.ops);
}

// With wrt, only what was asked for is reported; else everything that got a gradient.
bool Planner::InResult(BlobId b) const {
  return options_.wrt.empty() ||
         std::find(options_.wrt.begin(), options_.wrt.end(), ssa_.blobs()[b]) != options_.wrt.end();
}

void Planner::DropUnwanted(std::vector<DefId>& results) {
  size_t n = 0;
  for (BlobId b = 0; b < final_.size(); ++b) {
    if (final_[b].none) continue;
    if (!InResult(b)) results[n] = results[n + 1] = kNoDef;
    n += 2;
  }
  const std::vector<bool> kept = DropUnused(program_, results);
  size_t to = 0;
  for (size_t t = 0; t < kept.size(); ++t)
    if (kept[t]) backward_.origin[to++] = backward_.origin[t];
  backward_.origin.resize(to);
}

void Planner::NameResults(const std::vector<DefId>& results, const std::vector<Symbol>& names) {
  size_t n = 0;
  for (const Final& f : final_) {
    if (f.none) continue;
    Gradient& gradient = SlotOf(f.value).gradient;
    const DefId def = results[n], values_def = results[n + 1];
    n += 2;
    Symbol& head = gradient.is_dense() ? gradient.dense : gradient.indices;
    if (def != kNoDef) head = names[def];
    if (values_def != kNoDef) gradient.values = names[values_def];
  }
}

bool Planner::IsForwardName(Symbol name) {
  if (ssa_.FindBlob(name) != kNoBlob || (options_.reserved && options_.reserved(name))) return true;
  if (options_.skip == 0) return false;
  if (!skipped_names_) {
    skipped_names_.emplace(*net_.symbols, options_.skip);
    for (size_t i = 0; i < options_.skip; ++i) {
      for (Symbol s : net_.ops[i].inputs) (*skipped_names_)[s] = 1;
      for (Symbol s : net_.ops[i].outputs) (*skipped_names_)[s] = 1;
    }
  }
  return skipped_names_->Get(name);
}

}  // namespace weft::internal
