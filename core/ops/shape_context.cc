// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shape_context.h"

#include <cstdlib>

#include "core/base/str.h"
#include "core/ir/type_arg.h"
#include "core/ops/op_columns.h"

namespace weft {

const TensorInfo ShapeContext::kNothing{};

void ShapeTable::SetContent(TensorInfo& info, std::vector<Dim> elements) {
  info.content = TensorInfo::kNoContent;
  if (elements.size() > kMostContent || !info.tensor()) return;
  if (Product(info.dims) != Dim(static_cast<int64_t>(elements.size()))) return;
  info.content = static_cast<uint32_t>(contents_.size());
  contents_.push_back(std::move(elements));
}

Dim ShapeTable::Product(std::span<const Dim> dims) {
  Dim product = 1;
  for (const Dim dim : dims) product = Multiply(product, dim);
  return product;
}

bool ShapeTable::Whole(const TensorInfo& info) const {
  if (info.kind == TensorInfo::kObject) return true;
  if (info.kind == TensorInfo::kUnknown || info.type == DataType::kUndefined) return false;
  for (const Dim dim : info.dims)
    if (dim.unknown()) return false;
  return true;
}

bool ShapeTable::DependsOnData(const TensorInfo& info) const {
  if (info.kind == TensorInfo::kDataRank) return true;
  for (const Dim dim : info.dims)
    if (DependsOnData(dim)) return true;
  return false;
}

std::string ShapeTable::Text(std::span<const Dim> dims) const {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) StrAppend(out, i ? ", " : "", Text(dims[i]));
  return out + "]";
}

std::string ShapeTable::Text(const TensorInfo& info) const {
  const std::string type = info.type == DataType::kUndefined ? "" : StrCat(DataTypeName(info.type), " ");
  switch (info.kind) {
    case TensorInfo::kUnknown:
      return StrCat(type, "unknown");
    case TensorInfo::kTensor:
      return StrCat(type, Text(std::span<const Dim>(info.dims)));
    case TensorInfo::kDataRank:
      return StrCat(type, "[?...]");
    case TensorInfo::kObject:
      return "object";
  }
  return "";
}

const Arg* ShapeContext::FindArg(std::string_view name) const {
  // The lists are short: comparing texts beats hashing one.
  for (const Arg& arg : op_.args)
    if (net_.Str(arg.name) == name) return &arg;
  return nullptr;
}

int64_t ShapeContext::Int(std::string_view name, int64_t otherwise) const {
  const Arg* arg = FindArg(name);
  return arg && (arg->has & Arg::kHasI) ? arg->i : otherwise;
}

float ShapeContext::Float(std::string_view name, float otherwise) const {
  const Arg* arg = FindArg(name);
  return arg && (arg->has & Arg::kHasF) ? arg->f : otherwise;
}

std::vector<int64_t> ShapeContext::Ints(std::string_view name) const {
  const Arg* arg = FindArg(name);
  return arg && (arg->has & Arg::kHasInts) ? arg->Load()->ints : std::vector<int64_t>();
}

std::string ShapeContext::String(std::string_view name, std::string_view otherwise) const {
  const Arg* arg = FindArg(name);
  return arg && (arg->has & Arg::kHasS) ? arg->Load()->s : std::string(otherwise);
}

bool ShapeContext::StringIs(std::string_view name, std::string_view text, std::string_view otherwise) const {
  const Arg* arg = FindArg(name);
  if (!arg || !(arg->has & Arg::kHasS)) return text == otherwise;
  return arg->data ? arg->data->s == text : arg->Load()->s == text;
}

int64_t ShapeContext::IntOrDefault(std::string_view name) const {
  const Arg* arg = FindArg(name);
  if (arg && (arg->has & Arg::kHasI)) return arg->i;
  for (const ArgSpec& spec : ParseArgs(def_.args))
    if (spec.name == name && !spec.fallback.empty())
      return std::strtoll(std::string(spec.fallback).c_str(), nullptr, 10);
  return 0;
}

DataType ShapeContext::Type(std::string_view name, DataType otherwise) const {
  return ArgDataType(*net_.symbols, op_.args, name, otherwise);
}

int ShapeContext::Axis(int64_t axis, size_t rank, int input) {
  const int64_t n = static_cast<int64_t>(rank);
  if (axis >= -n && axis < n) return static_cast<int>(axis < 0 ? axis + n : axis);
  Mismatch(input, StrCat("a dimension ", axis), StrCat(n, " dimensions"));
  return -1;
}

void ShapeContext::Mismatch(int input, std::string expected, std::string given) {
  problems_.push_back({input, std::move(expected), std::move(given)});
}

Dim ShapeContext::Same(Dim expected, Dim given, int input, std::string_view what) {
  if (table.MustDiffer(expected, given))
    Mismatch(input, StrCat(what, " ", table.Text(expected)), table.Text(given));
  if (expected.unknown() || (table.DependsOnData(expected) && !given.unknown()) ||
      (given.known() && !expected.known()))
    return given;
  return expected;
}

void ShapeContext::SameDims(const TensorInfo& expected, int input) {
  const TensorInfo& given = In(static_cast<size_t>(input));
  if (!expected.tensor() || !given.tensor()) return;
  bool same = expected.rank() == given.rank();
  for (size_t i = 0; same && i < given.rank(); ++i) same = !table.MustDiffer(expected.dims[i], given.dims[i]);
  if (!same)
    Mismatch(input, table.Text(std::span<const Dim>(expected.dims)),
             table.Text(std::span<const Dim>(given.dims)));
}

}  // namespace weft
