// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Other dimensions, other order, pieces and repetitions of the same elements, whatever their type.
#include <algorithm>

#include "core/kernels/families.h"
#include "core/kernels/reducer.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// A list of integers from an input of int32 or int64.
Result<std::vector<int64_t>> Integers(const KernelContext& c, size_t input) {
  std::vector<int64_t> out;
  auto read = SwitchIndex(c, c.In(input).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    for (I v : c.In(input).values<I>()) out.push_back(v);
    return {};
  });
  if (!read) return std::move(read).error();
  return out;
}

// add_axis counts only beside axis.
bool AddsAxis(const KernelContext& c) { return c.HasArg("axis") && c.ArgB("add_axis", false); }

// `axis`, or the channels of `order`.
Result<int64_t> JoinAxis(const KernelContext& c, size_t ndim) {
  if (c.HasArg("axis")) return Axis(c, c.ArgI("axis", 0), ndim);
  return Axis(c, c.ArgS("order", "NCHW") == "NHWC" ? 3 : 1, ndim);
}

Result<void> Concat(KernelContext& c) {
  const bool add = AddsAxis(c);
  const Tensor& first = c.In(0);
  WEFT_TRY(const int64_t axis, JoinAxis(c, first.ndim() + (add ? 1 : 0)));
  const int64_t outer = first.SizeTo(axis);
  int64_t total = 0;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    const Tensor& t = c.In(i);
    WEFT_ENSURE(c, t.type() == first.type(), "all inputs must be of one type, found ",
                DataTypeName(first.type()), " and ", DataTypeName(t.type()));
    WEFT_ENSURE(c, t.ndim() == first.ndim(), "all inputs must have as many dimensions, found ",
                DimsToString(first.dims()), " and ", DimsToString(t.dims()));
    for (size_t d = 0; d < t.ndim(); ++d)
      WEFT_ENSURE(c, t.dim(d) == first.dim(d) || (!add && static_cast<int64_t>(d) == axis),
                  "Expect dimension = ", first.dim(d), " got ", t.dim(d), " at axis = ", d,
                  " for input: ", c.InName(i));
    total += add ? 1 : t.dim(axis);
  }
  Dims dims(first.dims());
  if (add) {
    dims.push_back(total);
    std::rotate(dims.begin() + axis, dims.end() - 1, dims.end());
  } else {
    dims[axis] = total;
  }
  WEFT_TRY_VOID(c.Allocate(0, first.type(), dims));
  Tensor& out = c.Out(0);
  const int64_t row = outer ? out.numel() / outer : 0;
  int64_t at = 0;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    const int64_t piece = outer ? c.In(i).numel() / outer : 0;
    for (int64_t o = 0; o < outer; ++o) CopyElements(c.In(i), o * piece, out, o * row + at, piece);
    at += piece;
  }
  if (!c.has_output(1)) return {};
  WEFT_TRY(int32_t * sizes, c.Out<int32_t>(1, {static_cast<int64_t>(c.num_inputs())}));
  for (size_t i = 0; i < c.num_inputs(); ++i) sizes[i] = add ? 1 : static_cast<int32_t>(c.In(i).dim(axis));
  return {};
}

// Cuts input 0 along `axis` into pieces of `sizes`, one per output; with `drop` pieces of 1 lose the axis.
Result<void> Cut(KernelContext& c, int64_t axis, const std::vector<int64_t>& sizes, bool drop) {
  const Tensor& in = c.In(0);
  int64_t total = 0;
  for (int64_t size : sizes) {
    WEFT_ENSURE(c, size >= 0 && (!drop || size == 1), "a piece of ", size, " cannot be cut off");
    total += size;
  }
  WEFT_ENSURE(c, sizes.size() == c.num_outputs(), "Number of splits specified: ", sizes.size(), " for ",
              c.num_outputs(), " outputs");
  WEFT_ENSURE(c, total == in.dim(axis), "Sum of split dimensions do not match: should be ", in.dim(axis),
              ", found ", total);
  const int64_t outer = in.SizeTo(axis), inner = in.SizeFrom(axis + 1), row = in.dim(axis) * inner;
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Dims dims(in.dims());
    dims[axis] = sizes[i];
    if (drop) dims.erase(dims.begin() + axis);
    WEFT_TRY_VOID(c.Allocate(i, in.type(), dims));
    for (int64_t o = 0; o < outer; ++o)
      CopyElements(in, o * row + at, c.Out(i), o * sizes[i] * inner, sizes[i] * inner);
    at += sizes[i] * inner;
  }
  return {};
}

Result<void> Split(KernelContext& c) {
  WEFT_TRY(const int64_t axis, JoinAxis(c, c.In(0).ndim()));
  std::vector<int64_t> sizes = c.ArgIs("split");
  if (c.has_input(1)) {
    WEFT_ENSURE(c, sizes.empty(),
                "If you set split with an input blob, do not pass in split in the argument.");
    WEFT_TRY(sizes, Integers(c, 1));
  }
  if (sizes.empty()) {
    const int64_t n = static_cast<int64_t>(c.num_outputs()), size = c.In(0).dim(axis);
    WEFT_ENSURE(c, n > 0 && size % n == 0,
                "If you did not specify split explicitly, the number of input channels: ", size,
                " should be divisible by the output size ", n);
    sizes.assign(n, size / n);
  }
  return Cut(c, axis, sizes, AddsAxis(c));
}

// Each output gets the sum of its share of the lengths.
Result<void> SplitByLengths(KernelContext& c) {
  WEFT_TRY(const int64_t axis, JoinAxis(c, c.In(0).ndim()));
  WEFT_TRY(const std::vector<int64_t> lengths, Integers(c, 1));
  const size_t n = c.num_outputs();
  WEFT_ENSURE(c, n > 0 && lengths.size() % n == 0, "len(Lengths) ", lengths.size(),
              " should be divisible by ", n);
  int64_t total = 0, scale = 1;
  for (int64_t length : lengths) {
    WEFT_TRY_VOID(c.CheckRoom({length}));
    WEFT_TRY_VOID(c.CheckRoom({total += length}));
  }
  if (c.ArgB("use_scaling_lengths", false)) {
    WEFT_ENSURE(c, total == 0 || c.In(0).dim(axis) % total == 0,
                "Input channel should be divisible by total length ", total);
    if (total) scale = c.In(0).dim(axis) / total;
  }
  const size_t share = lengths.size() / n;
  std::vector<int64_t> sizes(n, 0);
  for (size_t i = 0; i < lengths.size(); ++i) sizes[i / share] += lengths[i] * scale;
  return Cut(c, axis, sizes, false);
}

// Output 0 with the elements of input 0 and other dimensions.
Result<void> Redimension(KernelContext& c, const Dims& dims) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, NumElements(dims) == in.numel(), "cannot see ", DimsToString(in.dims()), " as ",
              DimsToString(dims));
  WEFT_TRY_VOID(c.CopyOut(0, in));
  c.Out(0).Reshape(dims);
  return {};
}

Result<void> Reshape(KernelContext& c) {
  const Dims old(c.In(0).dims());
  std::vector<int64_t> wanted = c.ArgIs("shape");
  if (c.has_input(1)) {
    WEFT_ENSURE(c, !c.HasArg("shape"),
                "New shape is specified by the input blob, do not pass in the argument `shape`.");
    WEFT_TRY(wanted, Integers(c, 1));
  } else {
    WEFT_ENSURE(c, c.HasArg("shape"), "Argument `shape` is missing.");
  }
  Dims dims;
  int64_t known = 1;
  std::optional<size_t> unknown;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t d = wanted[i];
    WEFT_ENSURE(c, d >= -1, "The dimensions in argument `shape` must not be a negative number.");
    if (d == 0 && c.In(0).numel() != 0) {
      WEFT_ENSURE(c, i < old.size(),
                  "Argument `shape` has a dimension set to zero that exceeds the original dimension size.");
      d = old[i];
    }
    if (d == -1) {
      WEFT_ENSURE(c, !unknown, "Argument `shape` has more than one missing dimension.");
      unknown = i;
    } else {
      WEFT_TRY_VOID(c.CheckRoom({known, d}));
      known *= d;
    }
    dims.push_back(d);
  }
  if (unknown) {
    WEFT_ENSURE(c, known != 0 || c.In(0).numel() == 0, "New shape at dim ", *unknown,
                " can not be inferred.");
    WEFT_ENSURE(c, known == 0 || c.In(0).numel() % known == 0,
                "Argument `shape` does not agree with the input data. (", c.In(0).numel(), " vs ", known,
                ")");
    dims[*unknown] = known ? c.In(0).numel() / known : 0;
  }
  // The old shape comes in the type of the new one.
  if (c.has_output(1)) {
    const DataType type = c.has_input(1) ? c.In(1).type() : DataType::kInt64;
    WEFT_TRY_VOID(SwitchIndex(c, type, [&](auto tag) -> Result<void> {
      using I = typename decltype(tag)::type;
      WEFT_TRY(I * out, c.Out<I>(1, {static_cast<int64_t>(old.size())}));
      for (size_t i = 0; i < old.size(); ++i) out[i] = static_cast<I>(old[i]);
      return {};
    }));
  }
  return Redimension(c, dims);
}

Result<void> Flatten(KernelContext& c) {
  const Tensor& in = c.In(0);
  const int64_t axis = c.ArgI("axis", 1), n = static_cast<int64_t>(in.ndim());
  WEFT_ENSURE(c, axis >= 0 && n >= axis, "The rank of the tensor must be >= axis.");
  return Redimension(c, Dims{in.SizeTo(axis), in.SizeFrom(axis)});
}

Result<void> FlattenToVec(KernelContext& c) {
  WEFT_ENSURE(c, c.In(0).ndim() >= 1, "The rank of the tensor must be >= 1.");
  return Redimension(c, Dims{c.In(0).numel()});
}

Result<void> ResizeLike(KernelContext& c) { return Redimension(c, Dims(c.In(1).dims())); }

// The argument `dims`, sorted, each once.
Result<std::vector<int64_t>> SortedDims(const KernelContext& c) {
  std::vector<int64_t> dims = c.ArgIs("dims");
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  if (dims.empty() || dims[0] < 0) return c.Fail("Dimension ids must be given and non-negative.");
  return dims;
}

Result<void> ExpandDims(KernelContext& c) {
  WEFT_TRY(const std::vector<int64_t> at, SortedDims(c));
  const Dims old(c.In(0).dims());
  WEFT_ENSURE(c, static_cast<int64_t>(old.size() + at.size()) >= at.back() + 1, "Input needs at least ",
              at.back() + 1 - static_cast<int64_t>(at.size()), " dimensions given `dims`.");
  Dims dims;
  size_t next = 0, from = 0;
  while (dims.size() < old.size() + at.size()) {
    if (next < at.size() && at[next] == static_cast<int64_t>(dims.size())) {
      dims.push_back(1);
      ++next;
    } else {
      dims.push_back(old[from++]);
    }
  }
  return Redimension(c, dims);
}

Result<void> Squeeze(KernelContext& c) {
  WEFT_TRY(const std::vector<int64_t> at, SortedDims(c));
  const Dims old(c.In(0).dims());
  WEFT_ENSURE(c, at.back() < static_cast<int64_t>(old.size()), "Input needs at least ", at.back() + 1,
              " dimensions.");
  Dims dims;
  for (size_t i = 0; i < old.size(); ++i) {
    if (!std::binary_search(at.begin(), at.end(), static_cast<int64_t>(i))) {
      dims.push_back(old[i]);
    } else {
      WEFT_ENSURE(c, old[i] == 1, "Dimension ", i, " of input must be 1 instead of ", old[i], ".");
    }
  }
  return Redimension(c, dims);
}

Result<void> MergeDim(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() >= 2, "needs at least 2 dimensions");
  Dims dims{in.dim(0) * in.dim(1)};
  dims.Append(in.dims().begin() + 2, in.dims().end());
  return Redimension(c, dims);
}

Result<void> PrependDim(KernelContext& c) {
  const Tensor& in = c.In(0);
  const int64_t size = c.ArgI("dim_size", 0);
  WEFT_ENSURE(c, size > 0 && in.ndim() > 0 && in.dim(0) % size == 0,
              "First dimension must be multiple of prepend_dim ", size);
  Dims dims{size, in.dim(0) / size};
  dims.Append(in.dims().begin() + 1, in.dims().end());
  return Redimension(c, dims);
}

Result<void> Shape(KernelContext& c) {
  const Tensor& in = c.In(0);
  std::vector<int64_t> axes = c.ArgIs("axes");
  if (axes.empty())
    for (size_t i = 0; i < in.ndim(); ++i) axes.push_back(static_cast<int64_t>(i));
  for (int64_t axis : axes)
    WEFT_ENSURE(c, axis >= 0 && axis < static_cast<int64_t>(in.ndim()), "Axis out of bound: ", axis);
  WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {static_cast<int64_t>(axes.size())}));
  for (size_t i = 0; i < axes.size(); ++i) out[i] = in.dim(axes[i]);
  return {};
}

Result<void> Size(KernelContext& c) {
  WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {}));
  *out = c.In(0).numel();
  return {};
}

Result<void> LengthsToShape(KernelContext& c) {
  const std::span<const int32_t> lengths = c.In(0).values<int32_t>();
  WEFT_ENSURE(c, !lengths.empty(), "lengths must not be empty");
  for (int32_t length : lengths) WEFT_ENSURE(c, length == lengths[0], "All elements must be the same");
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {2}));
  out[0] = static_cast<int32_t>(lengths.size());
  out[1] = lengths[0];
  return {};
}

// Copies elements where the strides of the source say; `map.a_stride` steps through input 0.
Result<void> CopyStrided(KernelContext& c, const Dims& dims, const Dims& strides, int64_t first) {
  WEFT_TRY_VOID(c.Allocate(0, c.In(0).type(), dims));
  Tensor& out = c.Out(0);
  Broadcast map{dims, strides, strides};
  map.ForEach([&](int64_t to, int64_t from, int64_t) { CopyElements(c.In(0), first + from, out, to, 1); });
  return {};
}

Result<void> Transpose(KernelContext& c) {
  const Tensor& in = c.In(0);
  std::vector<int64_t> axes = c.ArgIs("axes");
  if (axes.empty())
    for (size_t i = in.ndim(); i-- > 0;) axes.push_back(static_cast<int64_t>(i));
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  WEFT_ENSURE(c, axes.size() == in.ndim(), "axes has ", axes.size(), " entries for ", in.ndim(),
              " dimensions");
  for (size_t i = 0; i < sorted.size(); ++i)
    WEFT_ENSURE(c, sorted[i] == static_cast<int64_t>(i), "axes must name every dimension once");
  const Dims natural = RepeatStrides(in.dims(), in.dims());
  Dims dims, strides;
  for (int64_t axis : axes) {
    dims.push_back(in.dim(axis));
    strides.push_back(natural[axis]);
  }
  return CopyStrided(c, dims, strides, 0);
}

struct Range {
  std::vector<int64_t> start, end;
};
// Inputs 1 and 2, or the arguments. Negative numbers count from the end, -1 being behind the last.
Result<Range> FindRange(const KernelContext& c, bool inputs) {
  Range r{c.ArgIs("starts"), c.ArgIs("ends")};
  if (inputs) {
    WEFT_TRY(r.start, Integers(c, 1));
    WEFT_TRY(r.end, Integers(c, 2));
  }
  const Tensor& in = c.In(0);
  if (r.start.size() != r.end.size() || r.start.size() > in.ndim())
    return c.Fail("starts and ends have ", r.start.size(), " and ", r.end.size(), " entries for ", in.ndim(),
                  " dimensions");
  for (size_t i = 0; i < in.ndim(); ++i) {
    const int64_t size = in.dim(i);
    if (i >= r.start.size()) {
      r.start.push_back(0);
      r.end.push_back(size);
      continue;
    }
    if (r.start[i] < 0) r.start[i] += size + 1;
    if (r.end[i] < 0) r.end[i] += size + 1;
    r.start[i] = std::min(r.start[i], size);
    r.end[i] = std::min(r.end[i], size);
    if (r.start[i] < 0 || r.end[i] < r.start[i])
      return c.Fail("the slice [", r.start[i], ", ", r.end[i], ") of dimension ", i, " is wrong");
  }
  return r;
}

Result<void> Slice(KernelContext& c) {
  WEFT_TRY(const Range r, FindRange(c, c.num_inputs() == 3));
  const Dims strides = RepeatStrides(c.In(0).dims(), c.In(0).dims());
  Dims dims;
  int64_t first = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    dims.push_back(r.end[i] - r.start[i]);
    first += r.start[i] * strides[i];
  }
  return CopyStrided(c, dims, strides, first);
}

// Inputs data, perhaps starts and ends, dY.
Result<void> SliceGradient(KernelContext& c) {
  WEFT_ENSURE(c, c.num_inputs() >= 2 && c.num_outputs() == 1, "expected 2 or 4 inputs and 1 output, found ",
              c.num_inputs(), " and ", c.num_outputs());
  WEFT_TRY(const Range r, FindRange(c, c.num_inputs() == 4));
  const Tensor& grad = c.In(c.num_inputs() - 1);
  const Dims strides = RepeatStrides(c.In(0).dims(), c.In(0).dims());
  Dims dims;
  int64_t first = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    dims.push_back(r.end[i] - r.start[i]);
    first += r.start[i] * strides[i];
  }
  WEFT_ENSURE(c, NumElements(dims) == grad.numel(), "dY is ", DimsToString(grad.dims()), ", expected ",
              DimsToString(dims));
  WEFT_TRY_VOID(c.Allocate(0, grad.type(), c.In(0).dims()));
  Tensor& out = c.Out(0);
  ZeroElements(out, 0, out.numel());
  Broadcast map{dims, strides, strides};
  map.ForEach([&](int64_t from, int64_t to, int64_t) { CopyElements(grad, from, out, first + to, 1); });
  return {};
}

struct Tiles {
  int64_t tiles, axis;
};
Result<Tiles> FindTiles(const KernelContext& c) {
  Tiles t{c.ArgI("tiles", 1), c.ArgI("axis", 0)};
  const auto one = [&](size_t input, int64_t& to) -> Result<void> {
    if (!c.has_input(input)) return {};
    WEFT_TRY(const std::vector<int64_t> v, Integers(c, input));
    WEFT_ENSURE(c, v.size() == 1, c.InName(input), " must be one number");
    to = v[0];
    return {};
  };
  WEFT_TRY_VOID(one(1, t.tiles));
  WEFT_TRY_VOID(one(2, t.axis));
  WEFT_TRY(t.axis, Axis(c, t.axis, c.In(0).ndim()));
  if (t.tiles < 0) return c.Fail("tiles must not be negative");
  return t;
}

Result<void> Tile(KernelContext& c) {
  WEFT_TRY(const Tiles t, FindTiles(c));
  const Tensor& in = c.In(0);
  Dims dims(in.dims());
  WEFT_TRY_VOID(c.CheckRoom({dims[t.axis], t.tiles}));
  dims[t.axis] *= t.tiles;
  const int64_t outer = in.SizeTo(t.axis), inner = in.SizeFrom(t.axis);
  WEFT_TRY_VOID(c.Allocate(0, in.type(), dims));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < t.tiles; ++k)
      CopyElements(in, o * inner, c.Out(0), (o * t.tiles + k) * inner, inner);
  return {};
}

Result<void> TileGradient(KernelContext& c) {
  WEFT_TRY(const Tiles t, FindTiles(c));
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, t.tiles > 0 && in.dim(t.axis) % t.tiles == 0, "dY ", DimsToString(in.dims()), " is no ",
              t.tiles, " tiles");
  Dims dims(in.dims());
  dims[t.axis] /= t.tiles;
  const int64_t outer = in.SizeTo(t.axis), inner = in.SizeFrom(t.axis) / t.tiles;
  return SwitchNumber(c, in.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    const T* dy = in.data<T>();
    WEFT_TRY(T * dx, c.Out<T>(0, dims));
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        Acc<T> sum = 0;
        for (int64_t k = 0; k < t.tiles; ++k) sum += dy[(o * t.tiles + k) * inner + i];
        dx[o * inner + i] = static_cast<T>(sum);
      }
    return {};
  });
}

Result<void> NumpyTile(KernelContext& c) {
  WEFT_TRY(const std::vector<int64_t> repeats, Integers(c, 1));
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, repeats.size() == in.ndim(), "repeats has ", repeats.size(), " entries for ", in.ndim(),
              " dimensions");
  // Seen as [r0, d0, r1, d1, ...], where the repetitions do not move in the source.
  const Dims natural = RepeatStrides(in.dims(), in.dims());
  Dims dims, seen, strides;
  for (size_t i = 0; i < repeats.size(); ++i) {
    WEFT_ENSURE(c, repeats[i] >= 0, "repeats must not be negative");
    dims.push_back(repeats[i] * in.dim(i));
    seen.push_back(repeats[i]);
    seen.push_back(in.dim(i));
    strides.push_back(0);
    strides.push_back(natural[i]);
  }
  WEFT_TRY_VOID(CopyStrided(c, seen, strides, 0));
  c.Out(0).Reshape(dims);
  return {};
}

Result<void> Expand(KernelContext& c) {
  WEFT_TRY(const std::vector<int64_t> shape, Integers(c, 1));
  WEFT_TRY(const Broadcast map, MakeBroadcast(c, c.In(0).dims(), shape));
  return CopyStrided(c, map.dims, map.a_stride, 0);
}

// Inputs dY, X.
Result<void> ExpandGradient(KernelContext& c) {
  const Tensor& grad = c.In(0);
  WEFT_TRY(const Broadcast map, MakeBroadcast(c, c.In(1).dims(), grad.dims()));
  WEFT_ENSURE(c, NumElements(map.dims) == grad.numel(), "dY ", DimsToString(grad.dims()),
              " is smaller than X");
  return SwitchNumber(c, grad.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    std::vector<Acc<T>> sum(c.In(1).numel(), 0);
    map.ForEach([&](int64_t from, int64_t to, int64_t) { sum[to] += grad.data<T>()[from]; });
    WEFT_TRY(T * dx, c.Out<T>(0, c.In(1).dims()));
    for (size_t i = 0; i < sum.size(); ++i) dx[i] = static_cast<T>(sum[i]);
    return {};
  });
}

constexpr KernelRow kRows[] = {
    {"Concat", Concat},
    {"DepthConcat", Concat},
    {"Split", Split, "*I"},
    {"DepthSplit", Split, "*I"},
    {"SplitByLengths", SplitByLengths, "*I"},
    {"Reshape", Reshape, "*I", kInPlace},
    {"Flatten", Flatten, "*", kInPlace},
    {"FlattenToVec", FlattenToVec, "*", kInPlace},
    {"ResizeLike", ResizeLike, "*?", kInPlace},
    {"ExpandDims", ExpandDims, "*", kInPlace},
    {"Squeeze", Squeeze, "*", kInPlace},
    {"MergeDim", MergeDim, "*", kInPlace},
    {"PrependDim", PrependDim, "*", kInPlace},
    {"Shape", Shape, "?"},
    {"Size", Size, "?"},
    {"LengthsToShape", LengthsToShape, "i"},
    {"Transpose", Transpose},
    {"Slice", Slice, "*I"},
    {"SliceGradient", SliceGradient, "*"},
    {"Tile", Tile, "*I"},
    {"TileGradient", TileGradient, "NI"},
    {"NumpyTile", NumpyTile, "*I"},
    {"Expand", Expand, "*I"},
    {"ExpandGradient", ExpandGradient, "N*"},
};

}  // namespace
}  // namespace kernels

KernelFamily ShapeKernels() { return kernels::kRows; }

}  // namespace weft
