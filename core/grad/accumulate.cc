// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules 12 to 17: what several readers of one value contribute is added up, at the value's first reader.
#include <algorithm>

#include "core/base/str.h"
#include "core/grad/control.h"
#include "core/grad/planner.h"

namespace weft::internal {

namespace {

constexpr std::string_view kAutoSumTag = "is_auto_gen_sum_ops:1";
constexpr std::string_view kOnlyAutoSumTag = "only_keep_is_auto_gen_sum_ops_tag:1";
constexpr size_t kMostShown = 6;  // contributions listed in a message

std::string PlaceName(const DevicePtr& device) {
  const std::string name = DeviceToString(device);
  return name.empty() ? "cpu" : name;
}

bool HasTag(const DevicePtr& device, std::string_view tag) {
  return device &&
         std::find(device->extra_info.begin(), device->extra_info.end(), tag) != device->extra_info.end();
}

}  // namespace

Result<void> Planner::Accumulate(OpId i) {
  for (ValueId id : ssa_.inputs(i)) {
    const uint32_t last = last_contribution_[id];
    if (last == UINT32_MAX || ssa_.uses(id)[0] != i) continue;
    group_.clear();
    for (uint32_t c = contributions_[last].next; c != last; c = contributions_[c].next) group_.push_back(c);
    group_.push_back(last);
    last_contribution_[id] = UINT32_MAX;
    WEFT_TRY_VOID(AddUp(i, id));
  }
  return {};
}

Result<void> Planner::AddUp(OpId i, ValueId id) {
  const Symbol blob = BlobOf(id);
  const auto fail = [&](ErrorCode code, std::string_view why) {
    return Error{code, StrCat("Gradients for param ''", net_.Str(blob), "'' failed to verify: ", why),
                 NetIndex(i), Name(blob)};
  };
  const auto is_sparse = [&](uint32_t c) { return contributions_[c].sparse(); };
  const size_t sparse = static_cast<size_t>(std::count_if(group_.begin(), group_.end(), is_sparse));
  if (sparse != 0 && sparse != group_.size()) {
    // Do, If and While make dense what is sparse inside them; that is no mix of the user's making.
    const bool by_control = std::all_of(group_.begin(), group_.end(), [&](uint32_t c) {
      return contributions_[c].sparse() ||
             (contributions_[c].op != kNoOp && IsMadeByControl(contributions_[c].op));
    });
    if (options_.mixed == MixedGradients::kError && !by_control)
      return fail(
          ErrorCode::kMixedGradients,
          StrCat("Automatic aggregation of a mix of sparse and dense gradients is not supported yet. ",
                 sparse, " of its ", group_.size(), " contributions ", sparse == 1 ? "is" : "are",
                 " sparse:\n", DescribeGroup(), "Remedy: let them be summed as dense (--mixed dense) or as ",
                 "sparse gradients (--mixed sparse)."));
    Unmix(i, id, by_control || options_.mixed == MixedGradients::kDense);
  }
  if (group_.size() < 2) return {};
  const Contribution* first = nullptr;
  for (uint32_t c : group_) {
    if (contributions_[c].given) continue;
    if (first && !AgreeOnDevice(DeviceOf(*first), DeviceOf(contributions_[c])))
      return fail(ErrorCode::kDeviceMismatch,
                  StrCat("Unexpected behavior: not all grad ops have the same device option. They are:\n",
                         DescribeGroup(), "Remedy: let readers elsewhere read a copy of ", net_.Str(blob),
                         ", made by a copy operator on ", PlaceName(DeviceOf(*first)),
                         ": its gradient is made there too."));
    if (!first) first = &contributions_[c];
  }
  return is_sparse(group_[0]) ? AddUpSparse(i, id) : AddUpDense(i, id);
}

bool Planner::IsMadeByControl(int32_t op) {
  const OpDef* def = lookup_(program_.ops[static_cast<size_t>(op)].type);
  return !Keeps(kFaultControlFlow) && def && IsControlFlow(*def);
}

const DevicePtr& Planner::DeviceOf(const Contribution& c) const {
  if (c.op != kNoOp) return program_.ops[static_cast<size_t>(c.op)].device;
  if (c.values_op != kNoOp) return program_.ops[static_cast<size_t>(c.values_op)].device;
  return forward(c.forward).device;
}

bool Planner::AgreeOnDevice(const DevicePtr& a, const DevicePtr& b) const {
  if (!Keeps(kFaultDeviceType)) return SameDevice(a, b);
  const bool cpu_a = !a || a->type() == kCpu;
  const bool cpu_b = !b || b->type() == kCpu;
  if (cpu_a || cpu_b) return cpu_a && cpu_b;
  return a->id() == b->id();  // B15: whatever their types
}

// "  dense  w_grad, from op 3 FC on cuda:1", a line each.
std::string Planner::DescribeGroup() const {
  std::string text;
  for (size_t n = 0; n < group_.size(); ++n) {
    if (n == kMostShown) {
      StrAppend(text, "  ... ", group_.size() - n, " more\n");
      break;
    }
    const Contribution& c = contributions_[group_[n]];
    const Gradient& g = c.slot.gradient;
    if (c.sparse()) {
      StrAppend(text, "  sparse  (", net_.Str(g.indices), ", ", net_.Str(g.values), ")");
    } else {
      StrAppend(text, "  dense   ", net_.Str(g.dense));
    }
    if (c.given) {
      text += ", given\n";
      continue;
    }
    if (c.forward == kNoOp)
      StrAppend(text, ", start gradient of the loss");
    else
      StrAppend(text, ", from op ", NetIndex(c.forward), " ", net_.Str(forward(c.forward).type));
    StrAppend(text, " on ", PlaceName(DeviceOf(c)), "\n");
  }
  return text;
}

// Rule 14.
Symbol Planner::BaseName(ValueId id) {
  for (uint32_t c : group_) {
    const Contribution& contribution = contributions_[c];
    const Gradient& g = contribution.slot.gradient;
    if (!contribution.generated()) continue;
    if (!contribution.sparse()) return g.dense;
    const bool has_indices = contribution.op != kNoOp;
    std::string_view name = net_.Str(has_indices ? g.indices : g.values);
    const std::string_view suffix = has_indices ? "_indices" : "_values";
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    return Intern(std::string(name));
  }
  return GradName(BlobOf(id));
}

Symbol Planner::Autosplit(Symbol name, int k) {
  return Intern(StrCat("_", net_.Str(name), "_autosplit_", k));
}

Symbol Planner::RenameOutput(int32_t op, uint32_t output, Symbol name) {
  Op& made = program_.ops[static_cast<size_t>(op)];
  const Symbol from = made.outputs[output];
  if (from == name) return name;
  made.outputs[output] = name;
  const OpDef* def = lookup_(made.type);
  if (!def || !IsControlFlow(*def)) return name;
  if (Keeps(kFaultShallowRename)) {
    RenameFirstLevel(made, from, name);
  } else {
    made = RenameInSubnets(net_, made, [&](Symbol s) { return s == from ? name : s; });
  }
  // A loop updates its sums in place: who started them follows.
  for (uint32_t k = 0; k < made.inputs.size(); ++k) {
    if (made.inputs[k] != from) continue;
    made.inputs[k] = name;
    const DefId def = program_.input_defs[program_.first_input[static_cast<size_t>(op)] + k];
    if (def == kNoDef || def < program_.given.size()) continue;
    const auto& first = program_.first_output;
    const auto maker = std::upper_bound(first.begin(), first.end(), def) - first.begin() - 1;
    program_.ops[static_cast<size_t>(maker)].outputs[def - first[static_cast<size_t>(maker)]] = name;
  }
  return name;
}

// Caffe2: when an output of an If is renamed, its first-level nets follow; nothing else does.
void Planner::RenameFirstLevel(Op& op, Symbol from, Symbol to) const {
  if (net_.Str(op.type) != "If") return;
  std::vector<Arg> args = op.args.Copy();
  for (Arg& arg : args) {
    if (!(arg.has & Arg::kHasN)) continue;
    Net subnet = *arg.Load()->n;
    for (Op& inner : subnet.ops)
      for (Symbol& output : inner.outputs)
        if (output == from) output = to;
    arg = MakeArg(arg.name, std::make_shared<const Net>(std::move(subnet)));
  }
  op.args = ArgList(std::move(args));
}

Error Planner::SameNameError(ValueId id, Symbol name) const {
  return {
      ErrorCode::kNameConflict,
      StrCat("The gradient output of empty gradient op can not be the same as the normal name of the current "
             "input gradient: ",
             net_.Str(name), " of ", net_.Str(BlobOf(id)), "."),
      -1, Name(BlobOf(id))};
}

Result<void> Planner::AddUpDense(OpId i, ValueId id) {  // rule 15
  const Symbol base = BaseName(id);
  BlobList inputs;
  SmallVec<DefId, 5> defs;
  // The first generated one keeps its name; beside a given gradient none does.
  bool keep = std::none_of(group_.begin(), group_.end(), [&](uint32_t c) { return contributions_[c].given; });
  int split = 0;
  for (uint32_t c : group_) {
    const Contribution& contribution = contributions_[c];
    Symbol name = contribution.slot.gradient.dense;
    if (contribution.op != kNoOp) {
      name = RenameOutput(contribution.op, contribution.output, keep ? name : Autosplit(name, split++));
      keep = false;
    } else if (contribution.given) {
      pinned_.push_back(contribution.slot.def);
    } else if (Keeps(kFaultNameClash) && name == base) {
      return SameNameError(id, name);
    }
    inputs.push_back(name);
    defs.push_back(contribution.slot.def);
  }
  const auto first = std::find(inputs.begin(), inputs.end(), base);
  if (first != inputs.end()) {
    std::swap(defs[0], defs[static_cast<size_t>(first - inputs.begin())]);
    std::swap(inputs[0], *first);
  }
  const DefId def = EmitPlain(i, id, "Sum", inputs, defs, {base}, {}, AccumulationDevice());
  SlotOf(id) = {Gradient::Dense(base), def, kNoDef};
  final_[value(id).blob] = {id, false};
  return {};
}

Result<void> Planner::AddUpSparse(OpId i, ValueId id) {  // rule 16
  const std::string base = Name(BaseName(id));
  BlobList indices, values;
  std::vector<DefId> indices_defs, values_defs;
  int indices_split = 0, values_split = 0;
  const Symbol normal[] = {Intern(StrCat(base, "_indices")), Intern(StrCat(base, "_values"))};
  for (uint32_t c : group_) {
    const Contribution& contribution = contributions_[c];
    Gradient g = contribution.slot.gradient;
    if (contribution.op != kNoOp)
      g.indices = RenameOutput(contribution.op, contribution.output, Autosplit(g.indices, indices_split++));
    if (contribution.values_op != kNoOp)
      g.values = RenameOutput(contribution.values_op, contribution.values_output,
                              Autosplit(g.values, values_split++));
    if (Keeps(kFaultNameClash) && !contribution.generated())
      for (Symbol name : normal)
        if (g.indices == name || g.values == name) return SameNameError(id, name);
    indices.push_back(g.indices);
    values.push_back(g.values);
    indices_defs.push_back(contribution.slot.def);
    values_defs.push_back(contribution.slot.values_def);
  }
  const DevicePtr device = AccumulationDevice();
  Slot slot;
  const auto concat = [&](const BlobList& inputs, const std::vector<DefId>& defs, std::string_view half,
                          Symbol* output) {
    *output = Intern(StrCat(base, half, "_concat"));
    return EmitPlain(i, id, "Concat", inputs, defs, {*output, Intern(StrCat(base, half, "_concat_split"))},
                     {MakeArg(Intern("axis"), int64_t{0})}, device);
  };
  slot.def = concat(indices, indices_defs, "_indices", &slot.gradient.indices);
  slot.values_def = concat(values, values_defs, "_values", &slot.gradient.values);
  SlotOf(id) = slot;
  final_[value(id).blob] = {id, false};
  return {};
}

DefId Planner::EmitPlain(OpId i, ValueId id, std::string_view type, const BlobList& inputs,
                         std::span<const DefId> defs, std::initializer_list<Symbol> outputs,
                         std::vector<Arg> args, DevicePtr device) {
  Op op;
  op.type = Intern(type);
  op.name = kEmptySymbol;
  op.inputs = inputs;
  op.outputs = BlobList(outputs);
  op.args = ArgList(std::move(args));
  op.device = std::move(device);
  const DefId def = Emit(std::move(op), {Origin::kAccumulate, NetIndex(i), BlobOf(id), value(id).version});
  program_.input_defs.insert(program_.input_defs.end(), defs.begin(), defs.end());
  return def;
}

// Rule 17: where the first contribution is made, tagged. A tag may ask that the other tags be dropped; the
// place stays.
DevicePtr Planner::AccumulationDevice() {
  DevicePtr first;
  bool have_first = false, only_tag = false;
  for (uint32_t c : group_) {
    if (contributions_[c].given) continue;
    const DevicePtr& device = DeviceOf(contributions_[c]);
    if (!have_first) first = device;
    have_first = true;
    only_tag |= HasTag(device, kOnlyAutoSumTag);
  }
  auto& made = accumulation_devices_[only_tag];
  for (const auto& [from, to] : made)
    if (from == first) return to;
  DeviceOption option;
  if (first && !only_tag) option = *first;
  if (first && only_tag && !Keeps(kFaultTagDevice)) {
    option.device_type = first->device_type;
    option.device_id = first->device_id;
  }
  option.extra_info.emplace_back(kAutoSumTag);
  if (made.size() > 64) made.clear();  // a net whose operators share no device options: stay linear
  return made.emplace_back(first, std::make_shared<const DeviceOption>(std::move(option))).second;
}

// Brings all contributions of the group to one kind.
void Planner::Unmix(OpId i, ValueId id, bool to_dense) {
  int made = 0;
  for (uint32_t& c : group_) {
    if (contributions_[c].sparse() != to_dense) continue;
    Contribution changed;
    changed.forward = contributions_[c].forward == kNoOp ? i : contributions_[c].forward;
    changed.slot = to_dense ? EmitDensify(changed.forward, id, contributions_[c].slot, made)
                            : EmitSparsify(changed.forward, id, contributions_[c].slot, made);
    ++made;
    c = static_cast<uint32_t>(contributions_.size());
    contributions_.push_back(changed);
  }
}

// Rows scattered and added into zeros shaped like the blob.
Slot Planner::EmitDensify(OpId i, ValueId id, const Slot& sparse, int k) {
  const Symbol name = Intern(StrCat("_", net_.Str(GradName(BlobOf(id))), "_dense_", k));
  const DefId defs[] = {sparse.def, sparse.values_def, kNoDef};
  const DefId def =
      EmitPlain(i, id, "SparseToDense", {sparse.gradient.indices, sparse.gradient.values, BlobOf(id)}, defs,
                {name}, {}, forward(i).device);
  return {Gradient::Dense(name), def, kNoDef};
}

// Every row of the dense gradient, in order: indices 0 .. rows-1.
Slot Planner::EmitSparsify(OpId i, ValueId id, const Slot& dense, int k) {
  const std::string base = StrCat("_", net_.Str(GradName(BlobOf(id))), "_rows_", k);
  const Symbol count = Intern(StrCat(base, "_count")), count32 = Intern(StrCat(base, "_count32")),
               rows = Intern(base);
  const DevicePtr& device = forward(i).device;
  DefId def = EmitPlain(i, id, "Shape", {dense.gradient.dense}, std::span(&dense.def, 1), {count},
                        {MakeArg(Intern("axes"), std::vector<int64_t>{0})}, device);
  def = EmitPlain(i, id, "Cast", {count}, std::span(&def, 1), {count32}, {MakeArg(Intern("to"), int64_t{2})},
                  device);
  def = EmitPlain(i, id, "LengthsRangeFill", {count32}, std::span(&def, 1), {rows}, {}, device);
  return {Gradient::Sparse(rows, dense.gradient.dense), def, dense.def};
}

}  // namespace weft::internal
