// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of fills. Those of small integers know their elements: a net may use them as a shape.
#include <algorithm>

#include "core/base/str.h"
#include "core/ops/shape_functions.h"

namespace weft::shapes {

namespace {

// The shape of a fill, as its argument, its input or its input's elements give it.
TensorInfo FillShape(ShapeContext& c, DataType type) {
  TensorInfo y = TensorInfo::Of(type, {});
  if (c.num_inputs() == 0) {
    for (const int64_t extent : c.Ints("shape")) y.dims.push_back(extent);
    return y;
  }
  const TensorInfo& in = c.In(0);
  if (c.Int("input_as_shape", 0) != 0) {
    const ShapeOperand operand{.shape = &in};
    y = FromContent(c, {&operand, 1});
    y.type = type;
  } else {
    y.kind = in.kind;
    y.dims = in.dims;
  }
  if (y.tensor())
    for (const int64_t extent : c.Ints("extra_shape")) y.dims.push_back(extent);
  return y;
}

bool IsInteger(DataType type) { return type == DataType::kInt32 || type == DataType::kInt64; }

// The number of elements, if they are few enough to know each.
int64_t FewElements(ShapeContext& c, const TensorInfo& y) {
  if (!y.tensor()) return -1;
  const Dim count = c.table.Product(y.dims);
  return count.known() && count.code <= static_cast<int64_t>(ShapeTable::kMostContent) ? count.code : -1;
}

// What a fill is of when its row of the table does not say: the type of its value, as Caffe2 chooses.
DataType TypeOfValue(const ShapeContext& c) {
  const Arg* value = c.FindArg("value");
  if (!value) return DataType::kFloat;
  if (value->has & Arg::kHasI) return DataType::kInt64;
  return value->has & Arg::kHasS ? DataType::kString : DataType::kFloat;
}

}  // namespace

void Fill(ShapeContext& c) {
  const DataType type = c.Type("dtype", c.HasArg("dtype") ? DataType::kFloat : TypeOfValue(c));
  TensorInfo y = FillShape(c, type);
  const Arg* value = c.FindArg("value");
  if (IsInteger(type) && c.num_inputs() < 2 &&
      (!value || (value->has & Arg::kHasI) || !(value->has & Arg::kHasS))) {
    const int64_t element = value && (value->has & Arg::kHasI) ? value->i : 0;
    if (const int64_t count = FewElements(c, y); count >= 0 && (!value || (value->has & Arg::kHasI)))
      c.table.SetContent(y, std::vector<Dim>(static_cast<size_t>(count), c.table.Number(element)));
  }
  c.Set(0, std::move(y));
}

void GivenFill(ShapeContext& c) {
  constexpr std::pair<std::string_view, DataType> kTypes[] = {
      {"GivenTensorBoolFill", DataType::kBool},
      {"GivenTensorByteStringToUInt8Fill", DataType::kUint8},
      {"GivenTensorDoubleFill", DataType::kDouble},
      {"GivenTensorInt16Fill", DataType::kInt16},
      {"GivenTensorInt64Fill", DataType::kInt64},
      {"GivenTensorIntFill", DataType::kInt32},
      {"GivenTensorStringFill", DataType::kString},
      {"Float16ConstantFill", DataType::kFloat16},
      {"Float16UniformFill", DataType::kFloat16},
      {"UniformIntFill", DataType::kInt32},
      {"RangeFill", DataType::kFloat},
      {"Int8GivenTensorFill", DataType::kUint8},
      {"Int8GivenIntTensorFill", DataType::kInt32}};
  DataType type = DataType::kFloat;
  const std::string_view name = c.net().Str(c.op().type);
  for (const auto& [fill, of] : kTypes)
    if (fill == name) type = of;
  if (name == "GivenTensorFill" || name == "UniqueUniformFill")
    type = c.Type("dtype", name == "GivenTensorFill" ? DataType::kFloat : DataType::kInt32);
  TensorInfo y = FillShape(c, type);
  if (IsInteger(type) && FewElements(c, y) >= 0) {
    if (const Arg* values = c.FindArg("values"); values && (values->has & Arg::kHasInts)) {
      std::vector<Dim> content;
      for (const int64_t element : values->Load()->ints) content.push_back(c.table.Number(element));
      c.table.SetContent(y, std::move(content));
    }
  }
  c.Set(0, std::move(y));
}

int64_t RangeCount(int64_t distance, int64_t step) {
  const int64_t whole = distance / step;
  return std::max<int64_t>(0, whole + (whole * step < distance ? 1 : 0));
}

void Range(ShapeContext& c) {
  const size_t n = c.num_inputs();
  TensorInfo y = TensorInfo::Of(c.In(0).type, {});
  constexpr int64_t kFar = int64_t{1} << 60;
  int64_t bounds[3] = {0, 0, 1};
  bool known = true;
  for (size_t i = 0; i < n && i < 3; ++i) {
    if (c.In(i).kind == TensorInfo::kUnknown) {
      y.dims.push_back({});
      return c.Set(0, std::move(y));
    }
    const std::span<const Dim> content = c.table.Content(c.In(i));
    const auto bound = content.size() == 1 ? c.table.NumberOf(content[0]) : std::nullopt;
    known &= bound && -kFar < *bound && *bound < kFar;
    if (known) bounds[n == 1 ? 1 : i] = *bound;
  }
  if (!known || bounds[2] == 0) {
    y.dims.push_back(c.table.FromData());
    return c.Set(0, std::move(y));
  }
  const auto [first, last, step] = bounds;
  const int64_t count = RangeCount(last - first, step);
  y.dims.push_back(count);
  if (count <= static_cast<int64_t>(ShapeTable::kMostContent)) {
    std::vector<Dim> content;
    for (int64_t i = 0; i < count; ++i) content.push_back(c.table.Number(first + i * step));
    c.table.SetContent(y, std::move(content));
  }
  c.Set(0, std::move(y));
}

}  // namespace weft::shapes
