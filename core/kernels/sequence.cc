// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequences of different lengths: packed into rectangles and back, padded, reversed, masked, decoded.
#include <algorithm>
#include <limits>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/segments.h"

namespace weft {

namespace kernels {
namespace {

int64_t Longest(const Segments& s) {
  return s.sizes.empty() ? 0 : *std::max_element(s.sizes.begin(), s.sizes.end());
}

// Inputs lengths, data; output [sequences, longest, ...], and when asked which elements are there.
Result<void> PackSegments(KernelContext& c) {
  const Tensor& data = c.In(1);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  WEFT_ENSURE(c, data.ndim() >= 1, "DATA should be at least 1-D");
  WEFT_ENSURE(c, data.dim(0) == s.elements(), " PackSegments requires that the sum of the lengths ",
              s.elements(), " is equal to the first data dimension ", data.dim(0));
  const int64_t limit = c.ArgI("max_length", -1), longest = limit == -1 ? Longest(s) : limit;
  WEFT_ENSURE(c, longest >= 0, "max_length must not be negative");
  const bool minus_infinity = c.ArgB("pad_minf", false);
  Dims dims{s.count, longest};
  dims.Append(data.dims().begin() + 1, data.dims().end());
  const int64_t width = data.SizeFrom(1);
  WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
  Tensor& out = c.Out(0);
  ZeroElements(out, 0, out.numel());
  if (minus_infinity) {
    WEFT_ENSURE(c, data.type() == DataType::kFloat, "pad_minf needs floats");
    std::fill_n(out.mutable_data<float>(), out.numel(), -std::numeric_limits<float>::infinity());
  }
  bool* presence = nullptr;
  if (c.ArgB("return_presence_mask", false) && c.has_output(1)) {
    WEFT_TRY(presence, c.Out<bool>(1, {s.count, longest}));
    std::fill(presence, presence + s.count * longest, false);
  }
  int64_t from = 0;
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t n = std::min(s.sizes[i], longest);
    CopyElements(data, from * width, out, i * longest * width, n * width);
    if (presence) std::fill_n(presence + i * longest, n, true);
    from += s.sizes[i];
  }
  return {};
}

// Inputs lengths, packed data.
Result<void> UnpackSegments(KernelContext& c) {
  const Tensor& data = c.In(1);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  WEFT_ENSURE(c, data.ndim() >= 2 && data.dim(0) == s.count, "packed data is ", DimsToString(data.dims()),
              " for ", s.count, " lengths");
  const int64_t limit = c.ArgI("max_length", -1), longest = data.dim(1), width = data.SizeFrom(2);
  WEFT_ENSURE(c, limit == -1 || limit == longest,
              "max_length should be equal to the second dimension of the packed segments");
  int64_t total = 0;
  for (int64_t size : s.sizes) {
    WEFT_ENSURE(c, limit != -1 || size <= longest, "a length of ", size, " is larger than ", longest);
    total += std::min(size, longest);
  }
  Dims dims{total};
  dims.Append(data.dims().begin() + 2, data.dims().end());
  WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
  int64_t to = 0;
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t n = std::min(s.sizes[i], longest);
    CopyElements(data, i * longest * width, c.Out(0), to * width, n * width);
    to += n;
  }
  return {};
}

// Inputs rows of all sequences, lengths <-> [longest, sequences, ...].
template <bool pack>
Result<void> RNNSequence(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 1));
  const size_t skip = pack ? 1 : 2;
  const int64_t longest = Longest(s), width = data.SizeFrom(skip);
  WEFT_ENSURE(c, data.ndim() >= skip, "data is ", DimsToString(data.dims()));
  WEFT_ENSURE(c, pack ? data.dim(0) == s.elements() : (data.dim(0) == longest && data.dim(1) == s.count),
              "data ", DimsToString(data.dims()), " does not fit ", s.count, " lengths that add up to ",
              s.elements());
  Dims dims;
  if (pack) {
    dims = Dims{longest, s.count};
  } else {
    dims.push_back(s.elements());
  }
  dims.Append(data.dims().begin() + skip, data.dims().end());
  WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
  ZeroElements(c.Out(0), 0, c.Out(0).numel());
  int64_t row = 0;
  for (int64_t i = 0; i < s.count; ++i)
    for (int64_t t = 0; t < s.sizes[i]; ++t, ++row) {
      const int64_t packed = t * s.count + i;
      CopyElements(data, (pack ? row : packed) * width, c.Out(0), (pack ? packed : row) * width, width);
    }
  return {};
}

// Inputs data [steps, sequences, ...], lengths: each sequence backwards within its length.
Result<void> ReversePackedSegs(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_ENSURE(c, data.ndim() >= 2 && c.In(1).numel() == data.dim(1), "data ", DimsToString(data.dims()),
              " needs a length per sequence");
  const int64_t steps = data.dim(0), batch = data.dim(1), width = data.SizeFrom(2);
  return SwitchIndex(c, c.In(1).type(), [&](auto tag) -> Result<void> {
    using I = typename decltype(tag)::type;
    WEFT_TRY_VOID(c.Allocate(0, data.type(), data.dims()));
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = c.In<I>(1)[b];
      WEFT_ENSURE(c, length >= 0 && length <= steps, "length ", length, " is not in [0, ", steps, "]");
      for (int64_t t = 0; t < steps; ++t) {
        const int64_t from = t < length ? length - 1 - t : t;
        CopyElements(data, (from * batch + b) * width, c.Out(0), (t * batch + b) * width, width);
      }
    }
    return {};
  });
}

struct Padding {
  Segments s;
  int64_t start, end, width;
};
Result<Padding> FindPadding(const KernelContext& c) {
  Padding p;
  p.start = c.ArgI("padding_width", 1);
  p.end = c.ArgI("end_padding_width", -1);
  if (p.end < 0) p.end = p.start;
  if (p.start < 0) return c.Fail("padding_width must not be negative");
  WEFT_TRY_VOID(c.CheckRoom({p.start}));
  WEFT_TRY_VOID(c.CheckRoom({p.end}));
  const Tensor& data = c.In(0);
  if (data.ndim() < 1) return c.Fail("data must have rows");
  p.width = data.SizeFrom(1);
  WEFT_TRY_VOID(c.CheckRoom({data.dim(0)}));
  if (c.has_input(1)) {
    WEFT_TRY(p.s, SegmentsFromLengths(c, 1));
  } else {
    p.s.count = 1;
    p.s.sizes.assign(1, data.dim(0));
    p.s.of.assign(data.dim(0), 0);
  }
  WEFT_TRY_VOID(c.CheckRoom({p.s.count, p.start + p.end}));
  if (p.s.elements() != data.dim(0))
    return c.Fail("lengths add up to ", p.s.elements(), ", data has ", data.dim(0), " rows");
  return p;
}
Result<void> WriteLengths(KernelContext& c, const Padding& p, int64_t change) {
  if (!c.has_output(1)) return {};
  WEFT_TRY(int32_t * out, c.Out<int32_t>(1, {p.s.count}));
  for (int64_t i = 0; i < p.s.count; ++i) out[i] = static_cast<int32_t>(p.s.sizes[i] + change);
  return {};
}

// Inputs data, perhaps lengths, perhaps the rows to pad with.
Result<void> AddPadding(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_TRY(const Padding p, FindPadding(c));
  for (size_t i = 2; i < c.num_inputs(); ++i)
    WEFT_ENSURE(c, c.In(i).numel() == p.width && c.In(i).type() == data.type(),
                "padding must be a row of the data");
  Dims dims(data.dims());
  dims[0] = p.s.elements() + p.s.count * (p.start + p.end);
  WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
  Tensor& out = c.Out(0);
  int64_t from = 0, to = 0;
  const auto pad = [&](int64_t rows, size_t input) {
    for (int64_t k = 0; k < rows; ++k, ++to) {
      if (c.has_input(input)) {
        CopyElements(c.In(input), 0, out, to * p.width, p.width);
      } else {
        ZeroElements(out, to * p.width, p.width);
      }
    }
  };
  for (int64_t i = 0; i < p.s.count; ++i) {
    pad(p.start, 2);
    CopyElements(data, from * p.width, out, to * p.width, p.s.sizes[i] * p.width);
    from += p.s.sizes[i];
    to += p.s.sizes[i];
    pad(p.end, c.has_input(3) ? 3 : 2);
  }
  return WriteLengths(c, p, p.start + p.end);
}

Result<void> RemovePadding(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_TRY(const Padding p, FindPadding(c));
  Dims dims(data.dims());
  dims[0] -= p.s.count * (p.start + p.end);
  for (int64_t size : p.s.sizes)
    WEFT_ENSURE(c, size >= p.start + p.end, "a length of ", size, " is smaller than the padding");
  WEFT_TRY_VOID(c.Allocate(0, data.type(), dims));
  int64_t from = 0, to = 0;
  for (int64_t i = 0; i < p.s.count; ++i) {
    const int64_t n = p.s.sizes[i] - p.start - p.end;
    CopyElements(data, (from + p.start) * p.width, c.Out(0), to * p.width, n * p.width);
    from += p.s.sizes[i];
    to += n;
  }
  return WriteLengths(c, p, -p.start - p.end);
}

// The sums of all padding rows at the starts, and at the ends (or of both in one).
Result<void> GatherPadding(KernelContext& c) {
  const Tensor& data = c.In(0);
  WEFT_TRY(const Padding p, FindPadding(c));
  if (p.start == 0 && p.end == 0) {
    for (size_t i = 0; i < c.num_outputs(); ++i) {
      WEFT_TRY(int64_t * out, c.Out<int64_t>(i, {}));
      *out = 0;
    }
    return {};
  }
  for (int64_t size : p.s.sizes)
    WEFT_ENSURE(c, size >= p.start + p.end, "a length of ", size, " is smaller than the padding");
  return SwitchNumber(c, data.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    std::vector<Acc<T>> sums[2];
    sums[0].assign(p.width, 0);
    sums[1].assign(p.width, 0);
    const size_t last = c.has_output(1) ? 1 : 0;
    int64_t from = 0;
    for (int64_t i = 0; i < p.s.count; ++i) {
      for (int64_t r = 0; r < p.s.sizes[i]; ++r, ++from) {
        if (r >= p.start && r < p.s.sizes[i] - p.end) continue;
        std::vector<Acc<T>>& sum = sums[r < p.start ? 0 : last];
        for (int64_t k = 0; k < p.width; ++k) sum[k] += data.data<T>()[from * p.width + k];
      }
    }
    for (size_t o = 0; o <= last; ++o) {
      WEFT_TRY(T * out, c.Out<T>(o, data.dims().subspan(1)));
      for (int64_t k = 0; k < p.width; ++k) out[k] = static_cast<T>(sums[o][k]);
    }
    return {};
  });
}

// Inputs lengths, features: samples without elements get one of zeros.
Result<void> PadEmptySamples(KernelContext& c) {
  WEFT_TRY(const Segments s, SegmentsFromLengths(c, 0));
  const int64_t added = std::count(s.sizes.begin(), s.sizes.end(), 0);
  WEFT_TRY(int32_t * lengths, c.Out<int32_t>(0, {s.count}));
  for (int64_t i = 0; i < s.count; ++i) lengths[i] = static_cast<int32_t>(std::max<int64_t>(s.sizes[i], 1));
  for (size_t f = 1; f < c.num_inputs(); ++f) {
    const Tensor& data = c.In(f);
    WEFT_ENSURE(c, data.ndim() >= 1 && data.dim(0) == s.elements() && c.has_output(f), "feature ", f,
                " does not fit");
    Dims dims(data.dims());
    dims[0] += added;
    const int64_t width = data.SizeFrom(1);
    WEFT_TRY_VOID(c.Allocate(f, data.type(), dims));
    int64_t from = 0, to = 0;
    for (int64_t i = 0; i < s.count; ++i) {
      if (s.sizes[i] == 0) ZeroElements(c.Out(f), to++ * width, width);
      CopyElements(data, from * width, c.Out(f), to * width, s.sizes[i] * width);
      from += s.sizes[i];
      to += s.sizes[i];
    }
  }
  return {};
}

// Masks entry (row, column) of a matrix, or of each matrix of a batch, by one of several rules.
Result<void> SequenceMask(KernelContext& c) {
  const Tensor& in = c.In(0);
  const std::string mode = c.ArgS("mode", "");
  WEFT_TRY(const int64_t axis, Axis(c, c.ArgI("axis", 1), in.ndim()));
  const float fill = c.ArgB("grad", false) ? 0 : c.ArgF("fill_val", -std::numeric_limits<float>::infinity());
  int64_t batches = 1, rows = in.SizeTo(axis), columns = in.SizeFrom(axis), repeats = 1;
  if (c.HasArg("batch")) {
    WEFT_TRY(const int64_t batch, Axis(c, c.ArgI("batch", 0), in.ndim()));
    WEFT_ENSURE(c, batch < axis, "batch axis must be before the masked axis");
    batches = in.SizeTo(batch + 1);
    rows = batches ? in.SizeTo(axis) / batches : 0;
  }
  if (c.HasArg("repeat_from_axis") && c.ArgI("repeat_from_axis", -1) != 0) {
    WEFT_TRY(const int64_t repeat, Axis(c, c.ArgI("repeat_from_axis", -1), in.ndim()));
    WEFT_ENSURE(c, repeat >= axis, "repeat_from_axis must not be before axis");
    repeats = in.SizeFrom(repeat);
    columns = repeats ? columns / repeats : 0;
  }
  const int32_t* given = nullptr;
  const bool sequence = mode == "sequence", window = mode == "window";
  if (sequence || window) {
    WEFT_ENSURE(c, c.has_input(1) && c.In(1).type() == DataType::kInt32 && c.In(1).numel() >= rows, "mode ",
                mode, " needs an int32 for each of ", rows, " rows");
    given = c.In<int32_t>(1);
  }
  const int64_t radius = c.ArgI("radius", 10);
  WEFT_ENSURE(
      c,
      sequence || window || mode == "upper" || mode == "lower" || mode == "upperdiag" || mode == "lowerdiag",
      "Unsupported mode for SequenceMaskOp: ", mode);
  const auto masked = [&](int64_t i, int64_t j) {
    if (sequence) return j >= given[i];
    if (window) return j < given[i] - radius || j > given[i] + radius;
    if (mode == "upper") return j > i;
    if (mode == "lower") return j < i;
    if (mode == "upperdiag") return j >= i;
    return j <= i;
  };
  const float* x = in.data<float>();
  WEFT_TRY(float* y, c.Out<float>(0, in.dims()));
  int64_t at = 0;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const bool hidden = masked(i, j);
        for (int64_t r = 0; r < repeats; ++r, ++at) y[at] = hidden ? fill : x[at];
      }
  return {};
}

// Inputs [steps, sequences, labels], perhaps lengths: the likeliest label of each step, without blanks (0)
// and, unless told otherwise, without repetitions.
Result<void> CTCGreedyDecoder(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() == 3, "needs three dimensions, found ", DimsToString(in.dims()));
  const int64_t steps = in.dim(0), batch = in.dim(1), labels = in.dim(2);
  const bool merge = c.ArgB("merge_repeated", true);
  WEFT_ENSURE(c, labels > 0 && (!c.has_input(1) || c.In(1).numel() == batch),
              "expected labels, and a length per sequence");
  WEFT_TRY(int32_t * lengths, c.Out<int32_t>(0, {batch}));
  std::vector<int32_t> values;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t n = c.has_input(1) ? c.In<int32_t>(1)[b] : steps;
    WEFT_ENSURE(c, n >= 0 && n <= steps, "length ", n, " is not in [0, ", steps, "]");
    int64_t before = 0;
    const size_t first = values.size();
    for (int64_t t = 0; t < n; ++t) {
      const float* row = in.data<float>() + (t * batch + b) * labels;
      const int64_t label = std::max_element(row, row + labels) - row;
      if (label != 0 && !(merge && label == before)) values.push_back(static_cast<int32_t>(label));
      before = label;
    }
    lengths[b] = static_cast<int32_t>(values.size() - first);
  }
  WEFT_TRY(int32_t * out, c.Out<int32_t>(1, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), out);
  return {};
}

// X [T, N, D] with zeros behind the lengths [N].
Result<void> VariableLengthSequencePadding(KernelContext& c) {
  const Tensor& in = c.In(0);
  WEFT_ENSURE(c, in.ndim() == 3, "expected [T, N, D], found ", DimsToString(in.dims()));
  const int64_t steps = in.dim(0), batch = in.dim(1), width = in.dim(2);
  WEFT_ENSURE(c, c.In(1).numel() == batch, "expected ", batch, " lengths, found ", c.In(1).numel());
  const Tensor lengths = c.In(1);
  for (int32_t n : lengths.values<int32_t>())
    WEFT_ENSURE(c, n >= 0 && n <= steps, "length ", n, " is not in 0 to ", steps);
  WEFT_TRY_VOID(c.CopyOut(0, in));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = lengths.data<int32_t>()[b]; t < steps; ++t)
      ZeroElements(c.Out(0), (t * batch + b) * width, width);
  return {};
}

constexpr KernelRow kRows[] = {
    {"PackSegments", PackSegments, "I*"},
    {"UnpackSegments", UnpackSegments, "I*"},
    {"PackRNNSequence", RNNSequence<true>, "*I"},
    {"UnpackRNNSequence", RNNSequence<false>, "*I"},
    {"ReversePackedSegs", ReversePackedSegs, "*I"},
    {"AddPadding", AddPadding, "*I*"},
    {"RemovePadding", RemovePadding, "*I"},
    {"GatherPadding", GatherPadding, "NI"},
    {"PadEmptySamples", PadEmptySamples, "I*"},
    {"SequenceMask", SequenceMask, "f*", kInPlace},
    {"CTCGreedyDecoder", CTCGreedyDecoder, "fi"},
    {"VariableLengthSequencePadding", VariableLengthSequencePadding, "fi", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily SequenceKernels() { return kernels::kRows; }

}  // namespace weft
