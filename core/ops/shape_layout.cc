// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of operators that lay the same elements out anew, take parts or put tensors together.
#include <algorithm>

#include "core/base/str.h"
#include "core/ops/shape_functions.h"

namespace weft::shapes {

namespace {

std::string DimsText(const ShapeContext& c, const DimList& dims) {
  return c.table.Text(std::span<const Dim>(dims));
}

std::vector<Dim> ContentOf(const ShapeContext& c, const TensorInfo& info) {
  const std::span<const Dim> content = c.table.Content(info);
  return {content.begin(), content.end()};
}

bool IsNegative(const ShapeContext& c, Dim dim) { return c.table.NumberOf(dim).value_or(0) < 0; }

// Sets output 0 to these dimensions over the elements of input 0.
void SetSameElements(ShapeContext& c, DimList dims) {
  TensorInfo y = TensorInfo::Of(c.In(0).type, std::move(dims));
  if (c.table.HasContent(c.In(0))) c.table.SetContent(y, ContentOf(c, c.In(0)));
  c.Set(0, std::move(y));
}

}  // namespace

void Reshape(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  // The old shape comes in the type of the new one.
  if (c.num_outputs() > 1) {
    TensorInfo old = TensorInfo::Of(c.num_inputs() > 1 ? c.In(1).type : DataType::kInt64,
                                    {x.tensor() ? Dim(static_cast<int64_t>(x.rank())) : Dim()});
    if (x.tensor()) c.table.SetContent(old, {x.dims.begin(), x.dims.end()});
    c.Set(1, std::move(old));
  }
  // 0 keeps an extent, unless there is no element; -1, or one that is not known, takes what is left.
  DimList dims;
  if (c.num_inputs() > 1) {
    const TensorInfo& shape = c.In(1);
    if (!c.table.HasContent(shape)) {
      if (shape.tensor() && shape.rank() == 1 && shape.dims[0].known() && shape.dims[0].code <= 16) {
        for (int64_t i = 0; i < shape.dims[0].code; ++i) dims.push_back(c.table.FromData());
        c.Set(0, x.type, dims);
      } else if (shape.kind != TensorInfo::kUnknown) {
        c.Set(0, TensorInfo::DataRank(x.type));
      }
      return;
    }
    const std::span<const Dim> content = c.table.Content(shape);
    dims.Append(content.begin(), content.end());
  } else {
    for (const int64_t extent : c.Ints("shape")) dims.push_back(extent);
  }
  Dim rest = x.tensor() ? c.table.Product(x.dims) : Dim();
  size_t open = dims.size();
  bool one_open = true;
  Dim product = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == Dim(0) && rest != Dim(0)) {
      if (x.tensor() && i >= x.rank())
        return c.Mismatch(0, StrCat("a dimension ", i, " to keep"), DimsText(c, x.dims));
      dims[i] = x.tensor() ? x.dims[i] : Dim();
    }
    if (dims[i].unknown() || IsNegative(c, dims[i])) {
      one_open = open == dims.size();
      open = i;
    } else {
      product = c.table.Multiply(product, dims[i]);
    }
  }
  if (open < dims.size()) {
    if (one_open) {
      if (rest.known() && product.known() && product.code > 0 && rest.code % product.code != 0)
        return c.Mismatch(0, StrCat("a multiple of ", product.code, " elements"), DimsText(c, x.dims));
      dims[open] = product == Dim(0) ? Dim(0) : c.table.Divide(rest, product);
    }
  } else if (x.tensor() && c.table.MustDiffer(rest, product)) {
    return c.Mismatch(0, StrCat(c.table.Text(product), " elements for ", DimsText(c, dims)),
                      DimsText(c, x.dims));
  }
  SetSameElements(c, std::move(dims));
}

void Concat(ShapeContext& c) {
  const bool add_axis = c.HasArg("axis") && c.Int("add_axis", 0) != 0;
  c.Set(1, DataType::kInt32, {static_cast<int64_t>(c.num_inputs())});
  // Any input whose rank is known says the rest.
  const TensorInfo* first = nullptr;
  bool content = true;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    if (!first && c.In(i).tensor()) first = &c.In(i);
    content &= c.table.HasContent(c.In(i));
    if (c.In(i).kind == TensorInfo::kDataRank && !first) return c.Set(0, TensorInfo::DataRank(c.In(0).type));
  }
  if (!first) return;
  const size_t rank = first->rank();
  int64_t axis = c.Int("axis", -1);
  if (!c.HasArg("axis")) axis = c.channels_last() ? static_cast<int64_t>(rank) - 1 : 1;
  const int at = c.Axis(axis, rank + add_axis);
  if (at < 0) return;
  DimList dims = first->dims;
  Dim sum = 0;
  std::vector<Dim> lengths;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    const TensorInfo& x = c.In(i);
    if (!x.tensor()) {
      sum = {};
      lengths.push_back({});
      continue;
    }
    if (x.rank() != rank)
      return c.Mismatch(static_cast<int>(i), StrCat(rank, " dimensions"), DimsText(c, x.dims));
    for (size_t d = 0; d < rank; ++d) {
      if (add_axis || d != static_cast<size_t>(at))
        dims[d] = c.Same(dims[d], x.dims[d], static_cast<int>(i), StrCat("dimension ", d, " of"));
    }
    lengths.push_back(add_axis ? Dim(1) : x.dims[static_cast<size_t>(at)]);
    sum = c.table.Add(sum, lengths.back());
  }
  if (add_axis) {
    DimList with;
    with.Append(dims.begin(), dims.begin() + at);
    with.push_back(static_cast<int64_t>(c.num_inputs()));
    with.Append(dims.begin() + at, dims.end());
    dims = std::move(with);
  } else {
    dims[static_cast<size_t>(at)] = sum;
  }
  TensorInfo y = TensorInfo::Of(c.In(0).type, std::move(dims));
  if (content && rank == 1 && !add_axis) {
    std::vector<Dim> all;
    for (size_t i = 0; i < c.num_inputs(); ++i)
      for (const Dim dim : c.table.Content(c.In(i))) all.push_back(dim);
    c.table.SetContent(y, std::move(all));
  }
  c.Set(0, std::move(y));
  if (c.num_outputs() > 1) {
    TensorInfo split = c.Out(1);
    c.table.SetContent(split, std::move(lengths));
    c.Set(1, std::move(split));
  }
}

namespace {

void SplitAt(ShapeContext& c, int64_t axis, bool add_axis) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  const int at = c.Axis(axis, x.rank());
  if (at < 0) return;
  const size_t n = c.num_outputs();
  std::vector<Dim> parts;
  if (c.num_inputs() > 1) {
    parts = ContentOf(c, c.In(1));
    if (parts.size() != n) {
      parts.clear();
      for (size_t i = 0; i < n; ++i)
        parts.push_back(c.In(1).kind == TensorInfo::kUnknown ? Dim() : c.table.FromData());
    }
  } else if (const std::vector<int64_t> split = c.Ints("split"); !split.empty()) {
    if (split.size() != n) return c.Mismatch(-1, StrCat("a split into ", n, " parts"), StrCat(split.size()));
    int64_t sum = 0;
    for (const int64_t part : split) {
      parts.push_back(part);
      sum += part;
    }
    c.Same(sum, x.dims[static_cast<size_t>(at)], 0, StrCat("dimension ", at, " of"));
  } else {
    const Dim whole = x.dims[static_cast<size_t>(at)];
    if (whole.known() && n > 0 && whole.code % static_cast<int64_t>(n) != 0)
      return c.Mismatch(0, StrCat("dimension ", at, " to be a multiple of ", n), DimsText(c, x.dims));
    parts.assign(n, c.table.Divide(whole, static_cast<int64_t>(n)));
  }
  for (size_t i = 0; i < n; ++i) {
    DimList dims = x.dims;
    dims[static_cast<size_t>(at)] = parts[i];
    if (add_axis) dims.erase(dims.begin() + at);
    c.Set(i, x.type, std::move(dims));
  }
}

}  // namespace

void Split(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  int64_t axis = c.Int("axis", 1);
  if (!c.HasArg("axis")) axis = c.channels_last() ? static_cast<int64_t>(x.rank()) - 1 : 1;
  SplitAt(c, axis, c.HasArg("axis") && c.Int("add_axis", 0) != 0);
}

void SplitByLengths(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  const int at = c.Axis(c.HasArg("axis") ? c.Int("axis", 0) : c.channels_last() ? -1 : 1, x.rank());
  if (at < 0) return;
  const std::span<const Dim> lengths = c.table.Content(c.In(1));
  const size_t n = c.num_outputs(), each = n ? lengths.size() / n : 0;
  const bool scaled = c.Int("use_scaling_lengths", 0) != 0;
  Dim total = 0;
  for (const Dim length : lengths) total = c.table.Add(total, length);
  for (size_t i = 0; i < n; ++i) {
    Dim sum = 0;
    for (size_t j = 0; j < each; ++j) sum = c.table.Add(sum, lengths[i * each + j]);
    if (each == 0) {
      sum = c.In(1).kind == TensorInfo::kUnknown ? Dim() : c.table.FromData();
    } else if (scaled) {
      sum = c.table.Divide(c.table.Multiply(sum, x.dims[static_cast<size_t>(at)]), total);
    }
    DimList dims = x.dims;
    dims[static_cast<size_t>(at)] = sum;
    c.Set(i, x.type, std::move(dims));
  }
}

void Transpose(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  const std::vector<int64_t> axes = c.Ints("axes");
  DimList dims;
  if (axes.empty()) {
    for (size_t i = x.rank(); i-- > 0;) dims.push_back(x.dims[i]);
  } else {
    if (axes.size() != x.rank())
      return c.Mismatch(0, StrCat(axes.size(), " dimensions, as many as axes"), DimsText(c, x.dims));
    for (const int64_t axis : axes) {
      const int at = c.Axis(axis, x.rank());
      if (at < 0) return;
      dims.push_back(x.dims[static_cast<size_t>(at)]);
    }
  }
  c.Set(0, x.type, std::move(dims));
}

void Slice(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  // Int8Slice may name one dimension and its range.
  std::vector<int64_t> starts = c.Ints("starts"), ends = c.Ints("ends");
  if (c.HasArg("dim") && starts.empty()) {
    const int at = c.Axis(c.Int("dim", 0), x.rank());
    if (at < 0) return;
    starts.assign(x.rank(), 0);
    ends.assign(x.rank(), -1);
    starts[static_cast<size_t>(at)] = c.Int("start_idx", 0);
    ends[static_cast<size_t>(at)] = c.Int("end_idx", -1);
  }
  std::vector<Dim> from, to;
  const bool computed = c.num_inputs() > 1;
  if (computed) {
    from = ContentOf(c, c.In(1));
    to = ContentOf(c, c.In(2));
    if (from.empty()) from.resize(x.rank());
  } else {
    for (const int64_t at : starts) from.push_back(c.table.Number(at));
    for (const int64_t at : ends) to.push_back(c.table.Number(at));
  }
  // A negative end counts from behind, -1 being the end itself.
  const auto place = [&](Dim extent, Dim at) {
    return IsNegative(c, at) ? c.table.Add(c.table.Add(extent, 1), at) : at;
  };
  TensorInfo y = TensorInfo::Of(x.type, x.dims);
  for (size_t i = 0; i < x.rank() && i < from.size(); ++i) {
    if (i >= to.size() || from[i].unknown() || to[i].unknown()) {
      if (computed) y.dims[i] = c.table.FromData();
      continue;
    }
    const Dim extent = x.dims[i];
    if (from[i].known() && to[i].known()) {
      const int64_t last = extent.known() ? std::min(to[i].code, extent.code) : to[i].code;
      y.dims[i] = std::max<int64_t>(0, last - from[i].code);
    } else {
      y.dims[i] = c.table.Subtract(place(extent, to[i]), place(extent, from[i]));
    }
  }
  const std::span<const Dim> content = c.table.Content(x);
  if (!content.empty() && x.rank() == 1 && y.dims[0].known()) {
    const int64_t first = from.empty() ? 0 : place(x.dims[0], from[0]).code, last = first + y.dims[0].code;
    if (first >= 0 && last <= static_cast<int64_t>(content.size()))
      c.table.SetContent(y, {content.begin() + first, content.begin() + last});
  }
  c.Set(0, std::move(y));
}

void Squeeze(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  std::vector<int64_t> drop = c.Ints("dims");
  DimList dims;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (std::find(drop.begin(), drop.end(), static_cast<int64_t>(i)) == drop.end()) {
      dims.push_back(x.dims[i]);
    } else {
      c.Same(1, x.dims[i], 0, StrCat("dimension ", i, " of"));
    }
  }
  SetSameElements(c, std::move(dims));
}

void ExpandDims(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  std::vector<int64_t> places = c.Ints("dims");
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  DimList dims;
  size_t next = 0, place = 0;
  for (size_t i = 0; i < x.rank() + places.size(); ++i) {
    if (place < places.size() && places[place] == static_cast<int64_t>(i)) {
      dims.push_back(1);
      ++place;
    } else if (next < x.rank()) {
      dims.push_back(x.dims[next++]);
    } else {
      return c.Mismatch(0, StrCat("at least ", places[place] - static_cast<int64_t>(place), " dimensions"),
                        DimsText(c, x.dims));
    }
  }
  SetSameElements(c, std::move(dims));
}

void Expand(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  const std::span<const Dim> content = c.table.Content(c.In(1));
  if (!x.tensor() || !c.table.HasContent(c.In(1))) {
    if (c.In(1).kind != TensorInfo::kUnknown) c.Set(0, TensorInfo::DataRank(x.type));
    return;
  }
  // As in NumPy, from the last dimension on; 1 and -1 keep the extent of X.
  const size_t n = std::max(x.rank(), content.size());
  DimList dims;
  for (size_t i = 0; i < n; ++i) {
    const Dim a = i + x.rank() >= n ? x.dims[i + x.rank() - n] : Dim(1);
    Dim b = i + content.size() >= n ? content[i + content.size() - n] : Dim(1);
    if (IsNegative(c, b)) b = 1;
    dims.push_back(a == Dim(1) ? b : b == Dim(1) ? a : c.Same(a, b, 1, StrCat("dimension ", i, " of")));
  }
  c.Set(0, x.type, std::move(dims));
}

namespace {

void TileBy(ShapeContext& c, bool gradient) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  // How often and where come as arguments or inputs.
  const auto number = [&](size_t input, std::string_view name, int64_t otherwise) {
    if (c.num_inputs() <= input) return Dim(c.Int(name, otherwise));
    const std::span<const Dim> content = c.table.Content(c.In(input));
    if (content.size() == 1) return content[0];
    return c.In(input).kind == TensorInfo::kUnknown ? Dim() : c.table.FromData();
  };
  const Dim tiles = number(1, "tiles", 1);
  DimList dims = x.dims;
  const bool from_input = c.num_inputs() > 2;
  const Dim axis = from_input ? number(2, "axis", 0) : Dim(0);
  if (!axis.known()) {
    for (Dim& dim : dims) dim = axis;
    return c.Set(0, x.type, std::move(dims));
  }
  const int at = c.Axis(from_input ? axis.code : c.Int("axis", 0), x.rank());
  if (at < 0) return;
  Dim& dim = dims[static_cast<size_t>(at)];
  dim = gradient ? c.table.Divide(dim, tiles) : c.table.Multiply(dim, tiles);
  c.Set(0, x.type, std::move(dims));
}

}  // namespace

void Tile(ShapeContext& c) { TileBy(c, false); }
void TileGradient(ShapeContext& c) { TileBy(c, true); }

void NumpyTile(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  const std::span<const Dim> repeats = c.table.Content(c.In(1));
  DimList dims;
  for (size_t i = 0; i < x.rank(); ++i)
    dims.push_back(i < repeats.size() ? c.table.Multiply(x.dims[i], repeats[i]) : c.table.FromData());
  c.Set(0, x.type, std::move(dims));
}

void ShapeOf(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  const std::vector<int64_t> axes = c.Ints("axes");
  TensorInfo y = TensorInfo::Of(DataType::kInt64, {});
  if (!x.tensor()) {
    y.dims = {!axes.empty()                     ? Dim(static_cast<int64_t>(axes.size()))
              : x.kind == TensorInfo::kDataRank ? c.table.FromData()
                                                : Dim()};
    return c.Set(0, std::move(y));
  }
  std::vector<Dim> content;
  if (axes.empty()) content.assign(x.dims.begin(), x.dims.end());
  for (const int64_t axis : axes) {
    const int at = c.Axis(axis, x.rank());
    if (at < 0) return;
    content.push_back(x.dims[static_cast<size_t>(at)]);
  }
  y.dims = {static_cast<int64_t>(content.size())};
  c.table.SetContent(y, std::move(content));
  c.Set(0, std::move(y));
}

TensorInfo FromContent(ShapeContext& c, std::span<const ShapeOperand> operands) {
  if (operands.empty() || !operands[0].shape) return {};
  const TensorInfo& shape = *operands[0].shape;
  if (c.table.HasContent(shape)) {
    const std::span<const Dim> content = c.table.Content(shape);
    return TensorInfo::Of(c.In(0).type, DimList(content));
  }
  if (shape.kind == TensorInfo::kUnknown) return {};
  if (shape.tensor() && shape.rank() == 1 && shape.dims[0].known() && shape.dims[0].code <= 16) {
    DimList dims;
    for (int64_t i = 0; i < shape.dims[0].code; ++i) dims.push_back(c.table.FromData());
    return TensorInfo::Of(c.In(0).type, std::move(dims));
  }
  return TensorInfo::DataRank(c.In(0).type);
}

TensorInfo Copy(ShapeContext&, std::span<const ShapeOperand> operands) {
  return operands.empty() || !operands[0].shape ? TensorInfo() : *operands[0].shape;
}

namespace {

// The operand's shape with the axis that the second names, or -1.
int AxisOf(ShapeContext& c, std::span<const ShapeOperand> operands, size_t more, TensorInfo& info) {
  if (operands.size() < 2 || !operands[0].shape) return -1;
  info = *operands[0].shape;
  info.content = TensorInfo::kNoContent;
  if (!info.tensor()) return -1;
  return c.Axis(operands[1].number, info.rank() + more);
}

}  // namespace

TensorInfo Drop(ShapeContext& c, std::span<const ShapeOperand> operands) {
  TensorInfo info;
  const int at = AxisOf(c, operands, 0, info);
  if (at >= 0) info.dims.erase(info.dims.begin() + at);
  return info;
}

TensorInfo With(ShapeContext& c, std::span<const ShapeOperand> operands) {
  TensorInfo info;
  const int at = AxisOf(c, operands, 0, info);
  if (at >= 0 && operands.size() > 2) info.dims[static_cast<size_t>(at)] = operands[2].dim;
  return info;
}

TensorInfo Insert(ShapeContext& c, std::span<const ShapeOperand> operands) {
  TensorInfo info;
  const int at = AxisOf(c, operands, 1, info);
  if (at < 0 || operands.size() < 3) return info;
  DimList dims(info.dims.begin(), info.dims.begin() + at);
  dims.push_back(operands[2].dim);
  dims.Append(info.dims.begin() + at, info.dims.end());
  info.dims = std::move(dims);
  return info;
}

}  // namespace weft::shapes
