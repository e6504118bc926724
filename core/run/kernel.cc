// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/kernel.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft {

namespace {

// What a message calls the letter's types: "float, double or float16".
std::string LetterName(char letter) {
  const std::span<const DataType> types = KernelInputTypes(letter);
  if (types.empty()) return "a tensor";
  std::string text;
  for (size_t i = 0; i < types.size(); ++i)
    StrAppend(text, i == 0 ? "" : i + 1 < types.size() ? ", " : " or ", DataTypeName(types[i]));
  return text;
}

// '*' takes a tensor of any type, '?' also one that has none yet.
bool Accepts(char letter, DataType type) {
  if (letter == '?') return true;
  const std::span<const DataType> types = KernelInputTypes(letter);
  return letter == '*' ? type != DataType::kUndefined
                       : std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

std::span<const DataType> KernelInputTypes(char letter) {
  using enum DataType;
  static constexpr DataType kTypes[] = {kFloat, kDouble, kFloat16, kInt32, kInt64,
                                        kUint8, kInt8,   kBool,    kString};
  static constexpr DataType kNumbers[] = {kFloat, kDouble, kInt32, kInt64};
  const std::span<const DataType> types(kTypes);
  switch (letter) {
    case 'I':
      return types.subspan(3, 2);
    case 'F':
      return types.first(2);
    case 'R':
      return types.first(3);
    case 'N':
      return kNumbers;
    default:
      break;
  }
  const size_t at = std::string_view("fdhilucbs").find(letter);
  return at == std::string_view::npos ? std::span<const DataType>() : types.subspan(at, 1);
}

KernelSet::KernelSet(std::span<const KernelFamily> families) {
  for (const KernelFamily& family : families)
    for (const KernelRow& row : family) sorted_.push_back(&row);
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [](const KernelRow* a, const KernelRow* b) { return a->type < b->type; });
  // Of several rows for one type the last stands.
  size_t kept = 0;
  for (size_t i = 0; i < sorted_.size(); ++i)
    if (i + 1 == sorted_.size() || sorted_[i + 1]->type != sorted_[i]->type) sorted_[kept++] = sorted_[i];
  sorted_.resize(kept);
}

const KernelRow* KernelSet::Find(std::string_view type) const {
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), type,
                                   [](const KernelRow* row, std::string_view t) { return row->type < t; });
  return at != sorted_.end() && (*at)->type == type ? *at : nullptr;
}

Result<void> KernelContext::Bind(const KernelRow& row) {
  row_ = &row;
  for (Symbol name : op_.inputs) {
    Blob* blob = workspace_.FindBlob(Str(name));
    if (!blob)
      return Error{ErrorCode::kNotFound, StrCat("Encountered a non-existing input blob: ", Str(name)), -1,
                   std::string(Str(name))};
    inputs_.push_back(blob);
  }
  for (Symbol name : op_.outputs) outputs_.push_back(&workspace_.CreateBlob(Str(name)));
  if (row.prepare) return row.prepare(*this);
  return {};
}

Result<void> KernelContext::BeforeRun() {
  in_.clear();
  copies_.clear();
  copies_.reserve(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const char letter = row_->letter(i);
    if (letter == 'B') {
      in_.push_back(inputs_[i]->Get<Tensor>());
      continue;
    }
    const Tensor* tensor = inputs_[i]->Get<Tensor>();
    if (!tensor)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("input ", i, " (", InName(i), "): blob holds ", inputs_[i]->type_name(),
                          ", expected a Tensor"),
                   -1, std::string(InName(i))};
    if (!Accepts(letter, tensor->type()))
      return Error{ErrorCode::kInvalidArgument,
                   tensor->has_type()
                       ? StrCat("input ", i, " (", InName(i), ") has type ", DataTypeName(tensor->type()),
                                ", expected ", LetterName(letter))
                       : StrCat("input ", i, " (", InName(i), ") was never written"),
                   -1, std::string(InName(i))};
    if (!(row_->flags & kInPlace)) {
      for (Blob* output : outputs_) {
        const Tensor* out = output->Get<Tensor>();
        if (!out || (out != tensor && !out->Overlaps(*tensor))) continue;
        copies_.push_back(tensor->Clone());
        tensor = &copies_.back();
        break;
      }
    }
    in_.push_back(tensor);
  }
  return {};
}

Result<void> KernelContext::Allocate(size_t i, DataType type, std::span<const int64_t> dims) {
  // An empty tensor is held to the limit by its other dimensions: kernels size tables by them.
  const int64_t count = NumElementsUnlessEmpty(dims);
  if (count < 0 || count > run().element_limit || !Out(i).Allocate(type, dims))
    return Error{count < 0 ? ErrorCode::kInvalidArgument : ErrorCode::kLimit,
                 StrCat("output ", i, " (", OutName(i), ") cannot have dimensions ", DimsToString(dims)), -1,
                 std::string(OutName(i))};
  return {};
}

Result<void> KernelContext::CheckRoom(std::initializer_list<int64_t> counts) const {
  const std::span<const int64_t> dims(counts.begin(), counts.size());
  const int64_t count = NumElementsUnlessEmpty(dims);
  if (count >= 0 && count <= workspace_.context().element_limit) return {};
  return Error{count < 0 ? ErrorCode::kInvalidArgument : ErrorCode::kLimit,
               StrCat("this would take a table of dimensions ", DimsToString(dims), ", at most ",
                      workspace_.context().element_limit, " elements are possible")};
}

Result<void> KernelContext::CheckInputs(size_t first, size_t last) const {
  if (last >= num_inputs())
    return Error{ErrorCode::kInvalidArgument, StrCat("expected ", last + 1, " inputs, found ", num_inputs())};
  for (size_t i = first + 1; i <= last; ++i)
    if (In(i).type() != In(first).type())
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("input ", i, " (", InName(i), ") has type ", DataTypeName(In(i).type()),
                          ", expected ", DataTypeName(In(first).type()), " as ", InName(first), " has"),
                   -1, std::string(InName(i))};
  return {};
}

Result<void> KernelContext::CopyOut(size_t i, const Tensor& from) {
  Tensor& out = Out(i);
  if (&out == &from) return {};
  if (!from.has_type()) {
    out = from;
    return {};
  }
  WEFT_TRY_VOID(Allocate(i, from.type(), from.dims()));
  if (out.raw() == from.raw()) return {};
  if (from.type() == DataType::kString) {
    std::copy(from.data<std::string>(), from.data<std::string>() + from.numel(),
              out.mutable_data<std::string>());
  } else if (from.numel() > 0) {
    std::memmove(out.mutable_raw(), from.raw(), from.nbytes());
  }
  return {};
}

RandomGenerator& KernelContext::random() {
  if (!random_) {
    uint32_t seed;
    if (op_.device && op_.device->random_seed) {
      seed = *op_.device->random_seed;
    } else {
      // Spread, so that neighbouring operators do not get neighbouring seeds.
      uint64_t mixed = (run().seed + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u + ++run().unseeded;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      seed = static_cast<uint32_t>(mixed >> 32);
    }
    random_ = std::make_unique<RandomGenerator>(seed);
  }
  return *random_;
}

}  // namespace weft
