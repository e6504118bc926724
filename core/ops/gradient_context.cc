// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/gradient_context.h"

#include <algorithm>
#include <cstring>

#include "core/base/str.h"

namespace weft {

namespace {

bool HasRepeats(const BlobList& names) {
  if (names.size() > 8) {
    BlobList sorted = names;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  }
  for (const Symbol* name = names.begin(); name != names.end(); ++name)
    if (std::find(names.begin(), name, *name) != name) return true;
  return false;
}

}  // namespace

void GradientContext::Begin(const Op& op, std::span<const Gradient> output_gradients) {
  op_ = &op;
  output_gradients_ = output_gradients;
  ops_.clear();
  input_gradients_.assign(op.inputs.size(), {});
  repeats_ = HasRepeats(op.inputs);
  missing_.clear();
  overwritten_.clear();
}

void GradientContext::Missing(size_t i, std::string_view what) {
  if (missing_.empty())
    missing_ =
        StrCat("Gradient of output ", i < num_outputs() ? Str(O(i)) : std::string_view("?"), " ", what);
}

Symbol GradientContext::GO(size_t i) {
  if (!has_GO(i)) {
    Missing(i, "is not provided!");
    return kNoSymbol;
  }
  if (output_gradients_[i].is_sparse()) Missing(i, "is sparse (expected dense).");
  return output_gradients_[i].dense;
}

Symbol GradientContext::GO_indices(size_t i) {
  if (!has_GO(i))
    Missing(i, "is not provided!");
  else if (output_gradients_[i].is_dense())
    Missing(i, "is dense (expected sparse).");
  return i < output_gradients_.size() ? output_gradients_[i].indices : kNoSymbol;
}

Symbol GradientContext::GO_values(size_t i) {
  if (!has_GO(i))
    Missing(i, "is not provided!");
  else if (output_gradients_[i].is_dense())
    Missing(i, "is dense (expected sparse).");
  return i < output_gradients_.size() ? output_gradients_[i].values : kNoSymbol;
}

Symbol GradientContext::ReadInput(size_t i) {
  const Symbol name = I(i);
  if (!tracks_overwritten_ || std::find(op_->outputs.begin(), op_->outputs.end(), name) == op_->outputs.end())
    return name;
  const Symbol marked = Name(StrCat(Str(name), " as input ", i));
  overwritten_.push_back({marked, static_cast<int>(i)});
  return marked;
}

int GradientContext::OverwrittenInput(Symbol name) const {
  for (const auto& [marked, input] : overwritten_)
    if (marked == name) return input;
  return -1;
}

Symbol GradientContext::GI(size_t i) {
  Symbol& name = input_gradients_[i].dense;
  if (!name) name = HasTwin(i) ? TwinName(i) : grad_name_(I(i));
  return name;
}

Symbol GradientContext::TwinName(size_t i) { return Name(StrCat(Str(grad_name_(I(i))), "_", i)); }

bool GradientContext::is_twin(size_t i) {
  return repeats_ && separate_twins_ && input_gradients_[i].dense == TwinName(i);
}

bool GradientContext::HasTwin(size_t i) const {
  if (!repeats_ || !separate_twins_) return false;
  for (size_t k = 0; k < num_inputs(); ++k)
    if (k != i && I(k) == I(i) && input_gradients_[k].dense) return true;
  return false;
}

Symbol GradientContext::GI_indices(size_t i) {
  if (!input_gradients_[i].indices)
    input_gradients_[i].indices = Name(StrCat(Str(grad_name_(I(i))), "_indices"));
  return input_gradients_[i].indices;
}

Symbol GradientContext::GI_values(size_t i) {
  if (!input_gradients_[i].values)
    input_gradients_[i].values = Name(StrCat(Str(grad_name_(I(i))), "_values"));
  return input_gradients_[i].values;
}

void GradientContext::SetDense(size_t i, Symbol name) { input_gradients_[i] = Gradient::Dense(name); }

void GradientContext::SetSparse(size_t i, Symbol indices, Symbol values) {
  input_gradients_[i] = Gradient::Sparse(indices, values);
}

Op& GradientContext::Add(Symbol type, std::span<const Symbol> inputs, std::span<const Symbol> outputs,
                         std::span<const Arg> args, Copy copy) {
  Op& made = ops_.emplace_back();
  made.type = type;
  made.name = kEmptySymbol;
  made.inputs = BlobList(inputs);
  made.outputs = BlobList(outputs);
  made.device = op_->device;
  made.is_gradient_op = true;
  if (copy == kCopyAll || copy == kNoArgs) made.engine = op_->engine;
  if (copy == kCopyAll || copy == kNoEngine) made.args = op_->args;
  if (!args.empty()) made.args = Extended(made.args, args);
  return made;
}

ArgList GradientContext::Extended(const ArgList& base, std::span<const Arg> args) {
  const auto same = [](const Arg& a, const Arg& b) {
    return a.name == b.name && a.has == b.has && a.i == b.i && std::memcmp(&a.f, &b.f, sizeof a.f) == 0 &&
           a.data == b.data && a.encoded == b.encoded;
  };
  Extension& last =
      extensions_[(reinterpret_cast<uintptr_t>(base.begin()) / sizeof(Arg) + args[0].name.id) % kExtensions];
  if (!last.made.empty() && last.base.SameAs(base) &&
      std::equal(args.begin(), args.end(), last.args.begin(), last.args.end(), same))
    return last.made;
  last = {base, {args.begin(), args.end()}, base};
  for (const Arg& arg : args) last.made = WithArg(last.made, arg);
  return last.made;
}

Op& GradientContext::Add(std::string_view type, std::span<const Symbol> inputs,
                         std::span<const Symbol> outputs, std::span<const Arg> args, Copy copy) {
  return Add(Name(type), inputs, outputs, args, copy);
}

Op& GradientContext::Add(std::string_view type, std::initializer_list<Symbol> inputs,
                         std::initializer_list<Symbol> outputs, std::initializer_list<Arg> args, Copy copy) {
  const auto span = [](const auto& list) { return std::span(list.begin(), list.size()); };
  return Add(Name(type), span(inputs), span(outputs), span(args), copy);
}

void PrependArgs(Op& op, std::vector<Arg> args) {
  args.insert(args.end(), op.args.begin(), op.args.end());
  op.args = ArgList(std::move(args));
}

}  // namespace weft
