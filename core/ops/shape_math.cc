// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of operators that compute element by element with broadcasting, multiply matrices or reduce.
#include <algorithm>

#include "core/base/str.h"
#include "core/ops/shape_functions.h"

namespace weft::shapes {

namespace {

std::string DimsText(const ShapeContext& c, const TensorInfo& info) {
  return c.table.Text(std::span<const Dim>(info.dims));
}

// As in NumPy, aligned at the last dimension.
DimList BroadcastDims(ShapeContext& c, const DimList& a, const DimList& b, int input) {
  const size_t n = std::max(a.size(), b.size());
  DimList dims;
  for (size_t i = 0; i < n; ++i) {
    const Dim x = i + a.size() >= n ? a[i + a.size() - n] : Dim(1);
    const Dim y = i + b.size() >= n ? b[i + b.size() - n] : Dim(1);
    if (x == Dim(1)) {
      dims.push_back(y);
    } else if (y == Dim(1)) {
      dims.push_back(x);
    } else if ((x.symbolic() || x.unknown()) && y.known()) {
      dims.push_back(y);  // whatever x is, 1 or the same
    } else {
      dims.push_back(c.Same(x, y, input, StrCat("dimension ", i, " of")));
    }
  }
  return dims;
}

}  // namespace

TensorInfo Broadcast(ShapeContext& c, std::span<const ShapeOperand> operands) {
  if (operands.size() < 2 || !operands[0].shape || !operands[1].shape) return {};
  const TensorInfo &a = *operands[0].shape, &b = *operands[1].shape;
  TensorInfo y;
  y.type = a.type;
  // The older way: B is repeated over A, whose shape stays.
  if (c.Int("broadcast", 0) != 0) {
    y = a;
    y.content = TensorInfo::kNoContent;
    if (!a.tensor() || !b.tensor() || c.table.Product(b.dims) == Dim(1)) return y;
    if (b.rank() > a.rank()) {
      c.Mismatch(1, StrCat("at most ", a.rank(), " dimensions"), DimsText(c, b));
      return y;
    }
    int64_t axis = c.Int("axis", -1);
    if (const Arg* name = c.FindArg("axis_str"); name && (name->has & Arg::kHasS)) {
      const size_t found = c.String("order", "NCHW").find(name->Load()->s);
      if (found != std::string::npos && !name->Load()->s.empty()) axis = static_cast<int64_t>(found);
    }
    const int64_t room = static_cast<int64_t>(a.rank() - b.rank());
    if (axis == -1) axis = room;
    if (axis < 0 || axis > room) {
      c.Mismatch(1, StrCat("an axis from 0 to ", room), std::to_string(axis));
      return y;
    }
    for (size_t i = 0; i < b.rank(); ++i)
      if (b.dims[i] != Dim(1))
        c.Same(a.dims[i + static_cast<size_t>(axis)], b.dims[i], 1, StrCat("dimension ", i, " of"));
    return y;
  }
  if (a.kind == TensorInfo::kDataRank || b.kind == TensorInfo::kDataRank) {
    y.kind = TensorInfo::kDataRank;
    return y;
  }
  if (!a.tensor() || !b.tensor()) return y;
  y.kind = TensorInfo::kTensor;
  y.dims = BroadcastDims(c, a.dims, b.dims, 1);
  return y;
}

void Compare(ShapeContext& c) {
  const ShapeOperand operands[] = {{.shape = &c.In(0)}, {.shape = &c.In(1)}};
  TensorInfo y = Broadcast(c, operands);
  y.type = DataType::kBool;
  c.Set(0, std::move(y));
}

void SameInputs(ShapeContext& c) {
  // The first input whose shape is known says what all have.
  size_t known = 0;
  while (known < c.num_inputs() && !c.In(known).tensor()) ++known;
  TensorInfo y = c.In(known < c.num_inputs() ? known : 0);
  y.content = TensorInfo::kNoContent;
  for (size_t i = known + 1; i < c.num_inputs(); ++i) {
    const TensorInfo& x = c.In(i);
    if (!x.tensor()) continue;
    c.SameDims(y, static_cast<int>(i));
    for (size_t d = 0; x.rank() == y.rank() && d < x.rank(); ++d)
      if (!y.dims[d].known() && !x.dims[d].unknown()) y.dims[d] = x.dims[d];
  }
  c.Set(0, std::move(y));
}

void WeightedSumGradient(ShapeContext& c) {
  // Gradients of the sum's inputs, then of the weights between them if asked for.
  const size_t n = (c.num_inputs() - std::min<size_t>(1, c.num_inputs())) / 2;
  for (size_t i = 0; i < c.num_outputs(); ++i) {
    TensorInfo info = i < n ? c.In(0) : c.In(2 + 2 * (i - n));
    info.content = TensorInfo::kNoContent;
    c.Set(i, std::move(info));
  }
}

void LayerNorm(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  c.Set(0, x);
  if (!x.tensor()) return;
  const int at = c.Axis(c.Int("axis", 1), x.rank());
  if (at < 0) return;
  DimList dims(x.dims.begin(), x.dims.begin() + at);
  dims.push_back(1);
  c.Set(1, x.type, dims);
  c.Set(2, x.type, dims);
}

void InferenceLstm(ShapeContext& c) {
  // Input [T, N, I] (or [N, T, I] with batch_first), starting states [layers * directions, N, H].
  const TensorInfo &x = c.In(0), &hidden = c.In(1);
  const Dim directions = c.Int("bidirectional", 0) != 0 ? 2 : 1;
  if (x.tensor() && x.rank() == 3) {
    const Dim width = hidden.tensor() && hidden.rank() > 0 ? hidden.dims[hidden.rank() - 1] : Dim();
    c.Set(0, x.type, {x.dims[0], x.dims[1], c.table.Multiply(width, directions)});
  }
  c.Set(1, hidden);
  c.Set(2, c.In(2));
}

void Arithmetic(ShapeContext& c) {
  const ShapeOperand operands[] = {{.shape = &c.In(0)}, {.shape = &c.In(1)}};
  TensorInfo y = Broadcast(c, operands);
  const std::span<const Dim> a = c.table.Content(c.In(0)), b = c.table.Content(c.In(1));
  const std::string_view type = c.net().Str(c.op().type);
  // Numbers may be negative, unlike what formulas come to.
  const auto small = [&](Dim dim) {
    const auto number = c.table.NumberOf(dim);
    return number == static_cast<int32_t>(number.value_or(0)) ? number : std::nullopt;
  };
  const auto compute = [&](Dim x, Dim z) {
    const auto m = small(x), n = small(z);
    if (type == "Add") return m && n ? c.table.Number(*m + *n) : c.table.Add(x, z);
    if (type == "Sub") return m && n ? c.table.Number(*m - *n) : c.table.Subtract(x, z);
    if (type == "Mul") return m && n ? c.table.Number(*m * *n) : c.table.Multiply(x, z);
    return m && n && *n != 0 ? c.table.Number(*m / *n) : c.table.Divide(x, z);
  };
  if (!a.empty() && !b.empty() && (a.size() == b.size() || a.size() == 1 || b.size() == 1)) {
    std::vector<Dim> content;
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
      content.push_back(compute(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]));
    c.table.SetContent(y, std::move(content));
  }
  c.Set(0, std::move(y));
}

void MatMul(ShapeContext& c) {
  const TensorInfo &a = c.In(0), &b = c.In(1);
  if (c.num_inputs() > 2) {
    TensorInfo y = c.In(2);
    y.type = a.type;
    y.content = TensorInfo::kNoContent;
    return c.Set(0, std::move(y));
  }
  if (!a.tensor() || !b.tensor()) return;
  const int at_a = c.Axis(c.Int("axis_a", 1), a.rank(), 0), at_b = c.Axis(c.Int("axis_b", 1), b.rank(), 1);
  if (at_a < 0 || at_b < 0) return;
  const std::span<const Dim> da = a.dims, db = b.dims;
  Dim rows = c.table.Product(da.first(static_cast<size_t>(at_a)));
  Dim inner = c.table.Product(da.subspan(static_cast<size_t>(at_a)));
  Dim inner_b = c.table.Product(db.first(static_cast<size_t>(at_b)));
  Dim columns = c.table.Product(db.subspan(static_cast<size_t>(at_b)));
  if (c.Int("trans_a", 0) != 0) std::swap(rows, inner);
  if (c.Int("trans_b", 0) != 0) std::swap(inner_b, columns);
  c.Same(inner, inner_b, 1, "rows to multiply with:");
  c.Set(0, a.type, {rows, columns});
}

void BatchMatMul(ShapeContext& c) {
  const TensorInfo &a = c.In(0), &b = c.In(1);
  if (!a.tensor() || !b.tensor() || a.rank() == 0 || b.rank() == 0) return;
  DimList da = a.dims, db = b.dims;
  if (a.rank() == 1) da = {1, a.dims[0]};
  if (b.rank() == 1) db = {b.dims[0], 1};
  const size_t na = da.size(), nb = db.size();
  Dim rows = da[na - 2], inner = da[na - 1], inner_b = db[nb - 2], columns = db[nb - 1];
  if (a.rank() > 1 && c.Int("trans_a", 0) != 0) std::swap(rows, inner);
  if (b.rank() > 1 && c.Int("trans_b", 0) != 0) std::swap(inner_b, columns);
  c.Same(inner, inner_b, 1, "rows to multiply with:");
  DimList dims = BroadcastDims(c, DimList(da.begin(), da.end() - 2), DimList(db.begin(), db.end() - 2), 1);
  if (a.rank() > 1) dims.push_back(rows);
  if (b.rank() > 1) dims.push_back(columns);
  if (a.rank() == 1 && b.rank() == 1) dims.push_back(1);
  c.Set(0, a.type, std::move(dims));
}

TensorInfo Inner(ShapeContext& c, std::span<const ShapeOperand>) {
  const TensorInfo& a = c.In(0);
  if (!a.tensor() || a.rank() == 0) return {};
  if (c.net().Str(c.op().type) == "MatMul") {
    const int at = c.Axis(c.Int("axis_a", 1), a.rank());
    if (at < 0) return {};
    return TensorInfo::Of(a.type, c.Int("trans_a", 0) != 0 ? DimList(a.dims.begin(), a.dims.begin() + at)
                                                           : DimList(a.dims.begin() + at, a.dims.end()));
  }
  const bool trans = a.rank() > 1 && c.Int("trans_a", 0) != 0;
  return TensorInfo::Of(a.type, {a.dims[a.rank() - (trans ? 2 : 1)]});
}

void Reduce(ShapeContext& c) {
  const TensorInfo& x = c.In(0);
  if (!x.tensor()) return;
  const bool keep = c.Int("keepdims", 1) != 0;
  std::vector<int64_t> axes = c.Ints("axes");
  if (const Arg* axis = c.FindArg("axis"); axis && (axis->has & Arg::kHasI)) axes = {axis->i};
  SmallVec<bool, 8> reduced;
  for (size_t i = 0; i < x.rank(); ++i) reduced.push_back(axes.empty());
  for (const int64_t axis : axes) {
    const int at = c.Axis(axis, x.rank());
    if (at < 0) return;
    reduced[static_cast<size_t>(at)] = true;
  }
  DimList dims;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) {
      dims.push_back(x.dims[i]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  for (size_t i = 0; i < c.num_outputs(); ++i) c.Set(i, x.type, dims);
}

}  // namespace weft::shapes
