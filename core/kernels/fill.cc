// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that make tensors: constants, given values, ranges and random numbers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/kernels/families.h"
#include "core/kernels/util.h"
#include "core/ops/shape_functions.h"

namespace weft {

namespace kernels {
namespace {

// The shape of a fill: argument `shape`, or that of the input (or its values with input_as_shape) and
// extra_shape.
Result<Dims> FillShape(const KernelContext& c) {
  const std::vector<int64_t> shape = c.ArgIs("shape");
  const std::vector<int64_t> extra = c.ArgIs("extra_shape");
  const bool as_shape = c.ArgB("input_as_shape", false);
  Dims dims;
  if (c.num_inputs() == 0) {
    if (!extra.empty()) return c.Fail("Cannot set extra_shape when there is no input");
    if (as_shape) return c.Fail("An input must be given if input_as_shape is true");
    const Arg* arg = c.GetArg("shape");
    if (arg && (arg->has & Arg::kHasI)) return c.Fail("Fill 'shape' argument was a scalar, list expected");
    return Dims(shape.begin(), shape.end());
  }
  if (!shape.empty()) return c.Fail("Cannot set the shape argument and pass in an input at the same time");
  const Tensor& in = c.In(0);
  if (as_shape) {
    if (in.ndim() != 1 || in.type() != DataType::kInt64 || in.empty())
      return c.Fail("When input_as_shape is true, the input must be a 1D tensor of data type int64_t, found ",
                    DataTypeName(in.type()), " ", DimsToString(in.dims()));
    dims.Append(in.data<int64_t>(), in.data<int64_t>() + in.numel());
  } else {
    dims = Dims(in.dims());
  }
  dims.Append(extra.begin(), extra.end());
  return dims;
}

// The element type of a fill: argument `dtype`, else that of `value`, else float.
Result<DataType> FillType(const KernelContext& c) {
  if (const Arg* dtype = c.GetArg("dtype"); dtype && (dtype->has & (Arg::kHasI | Arg::kHasS))) {
    const auto type =
        dtype->has & Arg::kHasI ? DataTypeFromNumber(dtype->i) : ParseDataType(c.ArgS("dtype", ""));
    if (!type) return c.Fail("argument dtype is no element type");
    return *type;
  }
  if (const Arg* value = c.GetArg("value")) {
    if (value->has & Arg::kHasF) return DataType::kFloat;
    if (value->has & Arg::kHasI) return DataType::kInt64;
    if (value->has & Arg::kHasS) return DataType::kString;
  }
  return DataType::kFloat;
}

// A number argument as T, whichever field it is in.
template <typename T>
T NumberArg(const KernelContext& c, std::string_view name, T otherwise) {
  const Arg* arg = c.GetArg(name);
  if (arg && (arg->has & Arg::kHasF)) return static_cast<T>(arg->f);
  if (arg && (arg->has & Arg::kHasI)) return static_cast<T>(arg->i);
  return otherwise;
}

template <typename T>
void FillValue(const KernelContext& c, T* out, int64_t count) {
  T value{};
  if constexpr (std::is_same_v<T, std::string>) {
    value = c.ArgS("value", "");
  } else if constexpr (std::is_same_v<T, Half>) {
    value = FloatToHalf(NumberArg<float>(c, "value", 0));
  } else {
    value = NumberArg<T>(c, "value", T(0));
  }
  std::fill(out, out + count, value);
}

Result<void> ConstantFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  WEFT_TRY(const DataType type, FillType(c));
  return SwitchAny(c, type, [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(T * out, c.Out<T>(0, dims));
    if (c.num_inputs() == 2) {
      WEFT_ENSURE(c, c.In(1).numel() == 1 && c.In(1).type() == type, "value must be one ",
                  DataTypeName(type));
      std::fill(out, out + NumElements(dims), c.In<T>(1)[0]);
    } else {
      FillValue(c, out, NumElements(dims));
    }
    return {};
  });
}

Result<void> DiagonalFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  WEFT_TRY(const DataType type, FillType(c));
  WEFT_ENSURE(c, dims.size() >= 2, "Input shape must be >= 2D");
  WEFT_ENSURE(c, NumElements(dims) >= 0, "cannot fill ", DimsToString(dims));
  int64_t step = 0, shortest = dims[0];
  for (size_t i = 0; i < dims.size(); ++i) {
    WEFT_ENSURE(c, dims.size() == 2 || dims[i] == dims[0], "All dimensions of input must be of equal length");
    step = step * dims[i] + 1;
    shortest = std::min(shortest, dims[i]);
  }
  return SwitchAny(c, type, [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    WEFT_TRY(T * out, c.Out<T>(0, dims));
    std::fill(out, out + NumElements(dims), T{});
    for (int64_t i = 0; i < shortest; ++i) FillValue(c, out + i * step, 1);
    return {};
  });
}

template <typename T>
Result<void> GivenTensorFill(KernelContext& c) {
  if constexpr (std::is_same_v<T, float>) {  // the float fill alone obeys `dtype`
    WEFT_TRY(const DataType type, FillType(c));
    if (c.HasArg("dtype") && type != DataType::kFloat) {
      return Switch<int32_t, int64_t, bool, double, std::string, int16_t>(
          c, type, [&](auto tag) { return GivenTensorFill<typename decltype(tag)::type>(c); });
    }
  }
  WEFT_TRY(const Dims dims, FillShape(c));
  const Arg* arg = c.GetArg("values");
  WEFT_ENSURE(c, arg, "argument values is missing");
  const ArgDataPtr data = arg->Load();
  WEFT_TRY(T * out, c.Out<T>(0, dims));
  const int64_t count = NumElements(dims);
  const auto fill = [&](const auto& values, auto convert) -> Result<void> {
    WEFT_ENSURE(c, static_cast<int64_t>(values.size()) == count, "output size: ", count,
                " given size: ", values.size());
    for (int64_t i = 0; i < count; ++i) out[i] = convert(values[i]);
    return {};
  };
  if constexpr (std::is_same_v<T, std::string>) {
    return fill(data->strings, [](const std::string& v) { return v; });
  } else {
    const auto number = [](auto v) { return static_cast<T>(v); };
    return !data->floats.empty() ? fill(data->floats, number) : fill(data->ints, number);
  }
}

Result<void> GivenTensorByteString(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  const std::vector<std::string> values = c.ArgSs("values");
  const int64_t count = NumElements(dims);
  WEFT_ENSURE(c, values.size() == 1 && static_cast<int64_t>(values[0].size()) == count,
              "expected one string of ", count, " bytes");
  WEFT_TRY(uint8_t * out, c.Out<uint8_t>(0, dims));
  std::copy(values[0].begin(), values[0].end(), out);
  return {};
}

template <typename T>
Result<std::pair<T, T>> Bounds(const KernelContext& c, T low, T high) {
  if (c.num_inputs() == 3) {
    const Tensor& a = c.In(1);
    const Tensor& b = c.In(2);
    if (a.type() != DataTypeOf<T> || b.type() != DataTypeOf<T> || a.numel() != 1 || b.numel() != 1)
      return c.Fail("min and max must be scalars of type ", DataTypeName(DataTypeOf<T>));
    return std::pair(a.data<T>()[0], b.data<T>()[0]);
  }
  return std::pair(NumberArg<T>(c, "min", low), NumberArg<T>(c, "max", high));
}

Result<void> UniformFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  WEFT_TRY(const auto bounds, Bounds<float>(c, 0, 1));
  WEFT_ENSURE(c, bounds.first <= bounds.second, "Max value should be bigger than min value");
  WEFT_TRY(float* out, c.Out<float>(0, dims));
  const int64_t count = NumElements(dims);
  for (int64_t i = 0; i < count; ++i) out[i] = c.random().Uniform(bounds.first, bounds.second);
  return {};
}

Result<void> UniformIntFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  WEFT_TRY(const auto bounds, Bounds<int32_t>(c, 0, 1));
  WEFT_ENSURE(c, bounds.first <= bounds.second, "Max value should be bigger than min value");
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, dims));
  const int64_t count = NumElements(dims);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<int32_t>(c.random().UniformInt(bounds.first, bounds.second));
  return {};
}

template <typename T>
Result<void> UniqueUniform(KernelContext& c, const Dims& dims) {
  const T low = NumberArg<T>(c, "min", 0), high = NumberArg<T>(c, "max", 0);
  const int64_t count = NumElements(dims);
  std::set<T> taken;
  if (c.num_inputs() > 1) {
    WEFT_ENSURE(c, c.In(1).type() == DataTypeOf<T>, "the values to avoid have another type");
    for (T v : c.In(1).values<T>()) {
      WEFT_ENSURE(c, taken.insert(v).second, "Duplicate value to avoid: ", v);
    }
  }
  WEFT_ENSURE(c, low < high, "Max value should be bigger than min value.");
  int64_t room = 0;
  WEFT_ENSURE(c,
              !__builtin_sub_overflow(int64_t{high}, int64_t{low}, &room) &&
                  !__builtin_add_overflow(room, int64_t{1}, &room),
              "min ", low, " and max ", high, " are too far apart");
  for (T v : taken) room -= v >= low && v <= high;
  WEFT_ENSURE(c, room >= count, "cannot draw ", count, " different numbers from ", room);
  WEFT_TRY(T * out, c.Out<T>(0, dims));
  for (int64_t i = 0; i < count; ++i) {
    do {
      out[i] = static_cast<T>(c.random().UniformInt(low, high));
    } while (!taken.insert(out[i]).second);
  }
  return {};
}

Result<void> UniqueUniformFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  DataType type = DataType::kInt32;
  if (c.HasArg("dtype")) {
    WEFT_TRY(type, FillType(c));
  }
  return SwitchIndex(c, type, [&](auto tag) { return UniqueUniform<typename decltype(tag)::type>(c, dims); });
}

Result<void> GaussianFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  const float mean = c.ArgF("mean", 0), deviation = c.ArgF("std", 1);
  WEFT_ENSURE(c, deviation > 0, "Standard deviation should be nonnegative.");
  WEFT_TRY(float* out, c.Out<float>(0, dims));
  NormalDistribution normal(mean, deviation);
  const int64_t count = NumElements(dims);
  for (int64_t i = 0; i < count; ++i) out[i] = normal(c.random());
  return {};
}

Result<void> XavierFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  const int64_t count = NumElements(dims);
  WEFT_ENSURE(c, !dims.empty() && dims[0] > 0, "needs a shape with rows, found ", DimsToString(dims));
  WEFT_TRY(float* out, c.Out<float>(0, dims));
  const float scale = std::sqrt(3.0f / static_cast<float>(count / dims[0]));
  for (int64_t i = 0; i < count; ++i) out[i] = c.random().Uniform(-scale, scale);
  return {};
}

Result<void> MSRAFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  const int64_t count = NumElements(dims);
  WEFT_ENSURE(c, dims.size() >= 2 && dims[1] > 0, "needs a shape with columns, found ", DimsToString(dims));
  WEFT_TRY(float* out, c.Out<float>(0, dims));
  NormalDistribution normal(0, std::sqrt(2.0f / static_cast<float>(count / dims[1])));
  for (int64_t i = 0; i < count; ++i) out[i] = normal(c.random());
  return {};
}

Result<void> LengthsRangeFill(KernelContext& c) {
  const Tensor& lengths = c.In(0);
  int64_t total = 0;
  for (int32_t n : lengths.values<int32_t>()) {
    WEFT_ENSURE(c, n >= 0, "negative length ", n);
    total += n;
  }
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {total}));
  for (int32_t n : lengths.values<int32_t>())
    for (int32_t i = 0; i < n; ++i) *out++ = i;
  return {};
}

template <typename T>
Result<void> RangeOf(KernelContext& c) {
  const auto scalar = [&](size_t i) -> Result<T> {
    if (c.In(i).numel() != 1 || c.In(i).type() != DataTypeOf<T>)
      return c.Fail("All inputs must be scalar/1D tensor of one type");
    return c.In<T>(i)[0];
  };
  const size_t n = c.num_inputs();
  WEFT_TRY(const T first, scalar(0));
  T start = 0, stop = first, step = 1;
  if (n >= 2) {
    start = first;
    WEFT_TRY(stop, scalar(1));
  }
  if (n == 3) {
    WEFT_TRY(step, scalar(2));
  }
  WEFT_ENSURE(c, step != 0, "Step size cannot be 0.");
  const double span = static_cast<double>(stop) - static_cast<double>(start);
  int64_t count = 0;
  if constexpr (std::is_integral_v<T>) {
    int64_t distance = 0;
    WEFT_ENSURE(c,
                !__builtin_sub_overflow(int64_t{stop}, int64_t{start}, &distance) &&
                    distance != std::numeric_limits<int64_t>::min(),
                "the range from ", start, " to ", stop, " by ", step, " is too long");
    count = shapes::RangeCount(distance, step);
  } else {
    count = static_cast<int64_t>(std::max(0.0, std::ceil(span / static_cast<double>(step))));
  }
  WEFT_TRY(T * out, c.Out<T>(0, {count}));
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(start + static_cast<T>(i) * step);
  return {};
}

Result<void> Range(KernelContext& c) {
  return SwitchNumber(c, c.In(0).type(), [&](auto tag) { return RangeOf<typename decltype(tag)::type>(c); });
}

Result<void> RangeFill(KernelContext& c) {
  WEFT_TRY(const Dims dims, FillShape(c));
  WEFT_TRY(float* out, c.Out<float>(0, dims));
  for (int64_t i = 0; i < NumElements(dims); ++i) out[i] = static_cast<float>(i);
  return {};
}

constexpr KernelRow kRows[] = {
    {"ConstantFill", ConstantFill, "?"},
    {"DiagonalFill", DiagonalFill, "?"},
    {"GivenTensorFill", GivenTensorFill<float>, "?"},
    {"GivenTensorIntFill", GivenTensorFill<int32_t>, "?"},
    {"GivenTensorInt64Fill", GivenTensorFill<int64_t>, "?"},
    {"GivenTensorInt16Fill", GivenTensorFill<int16_t>, "?"},
    {"GivenTensorBoolFill", GivenTensorFill<bool>, "?"},
    {"GivenTensorDoubleFill", GivenTensorFill<double>, "?"},
    {"GivenTensorStringFill", GivenTensorFill<std::string>, "?"},
    {"GivenTensorByteStringToUInt8Fill", GivenTensorByteString, "?"},
    {"UniformFill", UniformFill, "?"},
    {"UniformIntFill", UniformIntFill, "?"},
    {"UniqueUniformFill", UniqueUniformFill, "?"},
    {"GaussianFill", GaussianFill, "?"},
    {"XavierFill", XavierFill, "?"},
    {"MSRAFill", MSRAFill, "?"},
    {"LengthsRangeFill", LengthsRangeFill, "i"},
    {"Range", Range, "N"},
    {"RangeFill", RangeFill, "?"},
};

}  // namespace
}  // namespace kernels

KernelFamily FillKernels() { return kernels::kRows; }

}  // namespace weft
