// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/tensor_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/str.h"

namespace weft {

double NumberAt(const Tensor& t, int64_t i) {
  switch (t.type()) {
    case DataType::kFloat:
      return t.data<float>()[i];
    case DataType::kDouble:
      return t.data<double>()[i];
    case DataType::kFloat16:
      return HalfToFloat(t.data<Half>()[i]);
    case DataType::kInt32:
      return t.data<int32_t>()[i];
    case DataType::kInt64:
      return static_cast<double>(t.data<int64_t>()[i]);
    case DataType::kUint8:
      return t.data<uint8_t>()[i];
    case DataType::kInt8:
      return t.data<int8_t>()[i];
    case DataType::kUint16:
      return t.data<uint16_t>()[i];
    case DataType::kInt16:
      return t.data<int16_t>()[i];
    case DataType::kBool:
      return t.data<bool>()[i];
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

std::string ElementText(const Tensor& t, int64_t i) {
  switch (t.type()) {
    case DataType::kFloat:
      return FormatFloat(t.data<float>()[i]);
    case DataType::kFloat16:
      return FormatFloat(HalfToFloat(t.data<Half>()[i]));
    case DataType::kInt64:
      return StrCat(t.data<int64_t>()[i]);
    case DataType::kBool:
      return t.data<bool>()[i] ? "true" : "false";
    case DataType::kString:
      return QuoteBytes(t.data<std::string>()[i]);
    default:
      return FormatDouble(NumberAt(t, i));
  }
}

std::string TensorSummary(const Tensor& tensor, int64_t most) {
  std::string out = StrCat(DataTypeName(tensor.type()), " ", DimsToString(tensor.dims()));
  if (!tensor.has_type()) return out;
  const int64_t count = tensor.numel(), shown = std::min(count, most);
  if (count > 0) out += " ";
  for (int64_t i = 0; i < shown; ++i) StrAppend(out, " ", ElementText(tensor, i));
  if (shown == count) return out;
  out += " ...";
  if (tensor.type() == DataType::kString) return out;
  double least = INFINITY, largest = -INFINITY, sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = NumberAt(tensor, i);
    if (!std::isfinite(value)) continue;
    ++finite;
    sum += value;
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  out += "  (";
  if (finite > 0)
    StrAppend(out, "min ", FormatFloat(static_cast<float>(least)), ", mean ",
              FormatFloat(static_cast<float>(sum / static_cast<double>(finite))), ", max ",
              FormatFloat(static_cast<float>(largest)));
  if (finite < count) StrAppend(out, finite > 0 ? ", " : "", count - finite, " not finite");
  return out + ")";
}

}  // namespace weft
