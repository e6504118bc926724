// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Datasets in blobs: nested records as flat fields, and cursors over them. A field called "a:b:lengths" says
// how many elements each entry has in the domain "a:b"; the fields below that name lie in the domain. The
// records themselves are domain 0. An offset is a place in a domain, one per domain.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

struct Fields {
  std::vector<size_t> domain;   // of each field
  std::vector<size_t> lengths;  // the field that says the lengths of domain 1, 2, ...
  size_t domains() const { return lengths.size() + 1; }
};

struct Cursor {
  static constexpr std::string_view kBlobType = "std::unique_ptr<caffe2::dataset_ops::TreeCursor>";
  Fields fields;
  std::vector<int64_t> offsets;  // empty: at the beginning
};

struct Records {
  static constexpr std::string_view kBlobType = "Tensor of records";
  std::vector<std::vector<Tensor>> rows;
};

Result<Fields> ParseFields(const KernelContext& c) {
  const std::vector<std::string> names = c.ArgSs("fields");
  constexpr std::string_view kLengths = ":lengths";
  Fields out;
  std::map<std::string, size_t, std::less<>> domain_of_prefix;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].ends_with(kLengths)) continue;
    out.lengths.push_back(i);
    domain_of_prefix.emplace(names[i].substr(0, names[i].size() - kLengths.size()), out.lengths.size());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    // The longest prefix that is a domain; a lengths field does not lie in its own.
    size_t found = 0;
    std::string_view prefix = names[i];
    for (;;) {
      const auto at = domain_of_prefix.find(prefix);
      if (at != domain_of_prefix.end() && out.lengths[at->second - 1] != i) {
        found = at->second;
        break;
      }
      const size_t end = prefix.rfind(':');
      if (end == std::string_view::npos) break;
      prefix = prefix.substr(0, end);
    }
    WEFT_ENSURE(c, found == 0 || out.lengths[found - 1] < i, "Error: Field ", i, " (", names[i],
                ") depends on a field defined afterwards: ", names[out.lengths[found - 1]]);
    out.domain.push_back(found);
  }
  return out;
}

// The fields of a dataset among an operator's inputs: how long each domain is, and the lengths in it.
struct Dataset {
  const Fields* fields;
  std::vector<std::span<const int32_t>> lengths;
  std::vector<int64_t> limits;

  int64_t records() const { return limits[0]; }
};

// With `exact`, fields of one domain must be of one length; otherwise the shortest counts.
Result<Dataset> FindDataset(const KernelContext& c, const Fields& fields, size_t first, bool exact = false) {
  WEFT_ENSURE(c, !fields.domain.empty(), "the dataset has no fields");
  WEFT_ENSURE(c, c.num_inputs() == first + fields.domain.size(), "Invalid number of fields. Expected ",
              fields.domain.size(), ", got ", c.num_inputs() - std::min(first, c.num_inputs()));
  Dataset out{&fields, {}, {}};
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  out.limits.assign(fields.domains(), kNone);
  for (size_t i = 0; i < fields.domain.size(); ++i) {
    const Tensor& field = c.In(first + i);
    WEFT_ENSURE(c, field.ndim() >= 1, "field ", c.InName(first + i), " needs at least one dimension");
    int64_t& limit = out.limits[fields.domain[i]];
    WEFT_ENSURE(c, !exact || limit == kNone || limit == field.dim(0),
                "Inconsistent sizes for fields belonging to same domain. Field: ", c.InName(first + i),
                "; Previous size: ", limit, "; New size: ", field.dim(0));
    limit = std::min(limit, field.dim(0));
  }
  for (size_t field : fields.lengths) {
    const Tensor& lengths = c.In(first + field);
    WEFT_ENSURE(c, lengths.empty() || (lengths.type() == DataType::kInt32 && lengths.ndim() == 1), "lengths ",
                c.InName(first + field), " must be int32 [N], found ", DataTypeName(lengths.type()), " ",
                DimsToString(lengths.dims()));
    out.lengths.push_back(lengths.empty() ? std::span<const int32_t>() : lengths.values<int32_t>());
  }
  return out;
}

// Moves `offsets` over up to `count` records; how much of each domain that is.
Result<std::vector<int64_t>> Advance(const KernelContext& c, const Dataset& data,
                                     std::vector<int64_t>& offsets, int64_t count) {
  const Fields& fields = *data.fields;
  if (offsets.empty()) offsets.assign(fields.domains(), 0);
  WEFT_ENSURE(c, offsets.size() == fields.domains() && offsets[0] <= data.limits[0],
              "Tried to advance past end of cursor.");
  std::vector<int64_t> sizes(fields.domains()), moved = offsets;
  sizes[0] = std::min(data.limits[0] - offsets[0], count);
  moved[0] += sizes[0];
  for (size_t d = 1; d < fields.domains(); ++d) {
    const size_t parent = fields.domain[fields.lengths[d - 1]];
    const std::span<const int32_t> lengths = data.lengths[d - 1];
    WEFT_ENSURE(c, moved[parent] <= static_cast<int64_t>(lengths.size()), "domain ", d, " has ",
                lengths.size(), " lengths, expected ", moved[parent]);
    for (int64_t i = offsets[parent]; i < moved[parent]; ++i) {
      WEFT_ENSURE(c, lengths[i] >= 0, "lengths must not be negative, found ", lengths[i]);
      sizes[d] += lengths[i];
    }
    WEFT_ENSURE(c, sizes[d] <= data.limits[d] - offsets[d],
                "Inconsistent field length: tried to advance past the end of field ", d);
    moved[d] += sizes[d];
  }
  offsets = std::move(moved);
  return sizes;
}

Result<Cursor*> FindCursor(KernelContext& c) {
  Cursor* cursor = c.MutableInBlob(0).GetMutable<Cursor>();
  if (!cursor)
    return c.Fail(c.InName(0), " holds ", c.InBlob(0).type_name(), ", expected ", Cursor::kBlobType);
  return cursor;
}

Dims WithRows(const Tensor& like, int64_t rows) {
  Dims dims(like.dims());
  dims[0] = rows;
  return dims;
}

Result<void> CreateTreeCursor(KernelContext& c) {
  WEFT_TRY(Fields fields, ParseFields(c));
  c.OutBlob(0).Set(Cursor{std::move(fields), {}});
  return {};
}
Result<void> ResetCursor(KernelContext& c) {
  WEFT_TRY(Cursor * cursor, FindCursor(c));
  cursor->offsets.clear();
  return {};
}
Result<void> GetCursorOffset(KernelContext& c) {
  WEFT_TRY(Cursor * cursor, FindCursor(c));
  WEFT_TRY(int32_t * out, c.Out<int32_t>(0, {static_cast<int64_t>(cursor->offsets.size())}));
  for (int64_t offset : cursor->offsets) *out++ = static_cast<int32_t>(offset);
  return {};
}

Result<void> ReadNextBatch(KernelContext& c) {
  WEFT_TRY(Cursor * cursor, FindCursor(c));
  WEFT_TRY(const Dataset data, FindDataset(c, cursor->fields, 1));
  WEFT_ENSURE(c, c.num_outputs() == cursor->fields.domain.size(), "expected ", cursor->fields.domain.size(),
              " outputs, found ", c.num_outputs());
  const int64_t batch = c.ArgI("batch_size", 1);
  WEFT_ENSURE(c, batch >= 0, "batch_size must not be negative, found ", batch);
  std::vector<int64_t> from = cursor->offsets;
  if (from.empty()) from.assign(cursor->fields.domains(), 0);
  WEFT_TRY(std::vector<int64_t> sizes, Advance(c, data, cursor->offsets, batch));
  // What is left over makes no batch: the empty one tells the end.
  if (c.ArgB("enforce_batch_size", false) && sizes[0] < batch) sizes.assign(sizes.size(), 0);
  for (size_t i = 0; i < c.num_outputs(); ++i) {
    const size_t domain = cursor->fields.domain[i];
    const Tensor& in = c.In(i + 1);
    WEFT_TRY_VOID(c.Allocate(i, in.type(), WithRows(in, sizes[domain])));
    CopyElements(in, from[domain] * in.SizeFrom(1), c.Out(i), 0, sizes[domain] * in.SizeFrom(1));
  }
  return {};
}

// Where every record begins in each domain, and where the last one ends.
Result<void> ComputeOffset(KernelContext& c) {
  WEFT_TRY(Cursor * cursor, FindCursor(c));
  WEFT_TRY(const Dataset data, FindDataset(c, cursor->fields, 1));
  const int64_t domains = static_cast<int64_t>(cursor->fields.domains());
  WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {data.records() + 1, domains}));
  std::vector<int64_t>& offsets = cursor->offsets;
  if (offsets.empty()) offsets.assign(cursor->fields.domains(), 0);
  for (int64_t i = 0; i <= data.records(); ++i) {
    out = std::copy(offsets.begin(), offsets.end(), out);
    WEFT_TRY_VOID(Advance(c, data, offsets, 1));
  }
  offsets.assign(cursor->fields.domains(), 0);
  return {};
}

// Inputs cursor, order of records, offsets as of ComputeOffset, fields. The cursor counts in the order.
Result<void> ReadRandomBatch(KernelContext& c) {
  WEFT_TRY(Cursor * cursor, FindCursor(c));
  const Fields& fields = cursor->fields;
  WEFT_ENSURE(c, c.num_inputs() == fields.domain.size() + 3 && c.num_outputs() == fields.domain.size(),
              "expected a cursor, an order, offsets and ", fields.domain.size(), " fields");
  const std::span<const int64_t> order = c.In(1).values<int64_t>();
  const Tensor& offsets = c.In(2);
  const int64_t domains = static_cast<int64_t>(fields.domains());
  WEFT_ENSURE(c, offsets.ndim() == 2 && offsets.dim(1) == domains, "expected offsets [records + 1, ", domains,
              "], found ", DimsToString(offsets.dims()));
  const int64_t batch = c.ArgI("batch_size", 1), count = static_cast<int64_t>(order.size());
  WEFT_ENSURE(c, batch >= 0 && batch <= INT32_MAX, "batch_size must be positive, found ", batch);
  cursor->offsets.resize(1);
  int64_t first = cursor->offsets[0];
  WEFT_ENSURE(c, first >= 0 && first <= std::numeric_limits<int64_t>::max() / 2, "the cursor is at ", first);
  if (c.ArgB("enforce_batch_size", false) && first + batch > count) first = count;
  if (c.ArgB("loop_over", false) && first >= count) cursor->offsets[0] = first = 0;
  cursor->offsets[0] += batch;
  const int64_t last = std::min(first + batch, count);
  for (size_t i = 0; i < c.num_outputs(); ++i) {
    const Tensor& in = c.In(i + 3);
    WEFT_ENSURE(c, in.ndim() >= 1, "field ", c.InName(i + 3), " needs at least one dimension");
    // Rows of the field that record `at` has: [begin, end).
    const auto range = [&](int64_t at) -> Result<std::pair<int64_t, int64_t>> {
      const int64_t record = order[at];
      WEFT_ENSURE(c, record >= 0 && record < offsets.dim(0) - 1, "record ", record, " of ",
                  offsets.dim(0) - 1, " does not exist");
      const int64_t* row = offsets.data<int64_t>() + record * domains + fields.domain[i];
      WEFT_ENSURE(c, 0 <= row[0] && row[0] <= row[domains] && row[domains] <= in.dim(0), "offsets ", row[0],
                  " to ", row[domains], " are not in ", c.InName(i + 3), " ", DimsToString(in.dims()));
      return std::pair(row[0], row[domains]);
    };
    int64_t rows = 0;
    for (int64_t at = first; at < last; ++at) {
      WEFT_TRY(const auto r, range(at));
      rows += r.second - r.first;
      WEFT_TRY_VOID(c.CheckRoom({rows}));
    }
    WEFT_TRY_VOID(c.Allocate(i, in.type(), WithRows(in, rows)));
    const int64_t width = in.SizeFrom(1);
    rows = 0;
    for (int64_t at = first; at < last; ++at) {
      WEFT_TRY(const auto r, range(at));
      CopyElements(in, r.first * width, c.Out(i), rows * width, (r.second - r.first) * width);
      rows += r.second - r.first;
    }
  }
  return {};
}

// The generator and the shuffle that Caffe2 takes from its C++ library (GCC 10): always the same order.
class Shuffler {
 public:
  template <typename T>
  void Shuffle(std::span<T> items) {
    const uint64_t n = items.size();
    if (n == 0) return;
    if (kRange / n < n) {
      for (uint64_t i = 1; i < n; ++i) std::swap(items[i], items[Below(i + 1)]);
      return;
    }
    uint64_t i = 1;
    if (n % 2 == 0) {
      std::swap(items[i], items[Below(2)]);
      ++i;
    }
    while (i < n) {  // two places from one number
      const uint64_t range = i + 1, both = Below(range * (range + 1));
      std::swap(items[i], items[both / (range + 1)]);
      std::swap(items[i + 1], items[both % (range + 1)]);
      i += 2;
    }
  }

 private:
  static constexpr uint64_t kModulus = 2147483647, kRange = kModulus - 2;
  uint64_t Next() { return (state_ = state_ * 16807 % kModulus) - 1; }
  uint64_t Below(uint64_t n) {
    if (n > kRange) return Next() % n;
    const uint64_t scale = kRange / n;
    for (;;)
      if (const uint64_t drawn = Next(); drawn < scale * n) return drawn / scale;
  }
  uint64_t state_ = 1;
};

Result<void> SortAndShuffle(KernelContext& c) {
  WEFT_TRY(Cursor * cursor, FindCursor(c));
  const Fields& fields = cursor->fields;
  WEFT_ENSURE(c, c.num_inputs() == fields.domain.size() + 1, "expected a cursor and ", fields.domain.size(),
              " fields");
  const int64_t field = c.ArgI("sort_by_field_idx", 1), batch = c.ArgI("batch_size", 1);
  int64_t shuffle = c.ArgI("shuffle_size", 1);
  WEFT_ENSURE(c, field >= -1 && field < static_cast<int64_t>(fields.domain.size()), "there is no field ",
              field);
  WEFT_ENSURE(c, batch > 0 && shuffle > 0 && batch <= INT32_MAX && shuffle <= INT32_MAX,
              "batch_size and shuffle_size must be positive, found ", batch, " and ", shuffle);
  const Tensor& by = c.In(static_cast<size_t>(std::max<int64_t>(field, 0)) + 1);
  WEFT_ENSURE(c, by.ndim() >= 1, "the field needs at least one dimension");
  const int64_t size = by.dim(0);
  WEFT_TRY(int64_t * out, c.Out<int64_t>(0, {size}));
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (field != -1) {
    WEFT_ENSURE(c, by.type() == DataType::kInt32 && by.ndim() == 1 && fields.domain[field] == 0,
                "the field to sort by must be int32 [records]");
    const int32_t* keys = by.data<int32_t>();
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
  }
  if (batch * shuffle > size) shuffle = size / batch;
  const int64_t block = batch * shuffle;
  if (block > 1)
    for (int64_t at = 0; at + block < size; at += block)
      Shuffler().Shuffle(std::span(order.data() + at, static_cast<size_t>(block)));
  std::vector<int64_t> batches(static_cast<size_t>(size / batch));
  std::iota(batches.begin(), batches.end(), int64_t{0});
  Shuffler().Shuffle(std::span(batches));
  for (int64_t b : batches) out = std::copy_n(order.begin() + b * batch, batch, out);
  std::copy(order.begin() + static_cast<int64_t>(batches.size()) * batch, order.end(), out);
  return {};
}

Result<void> CheckDatasetConsistency(KernelContext& c) {
  WEFT_TRY(const Fields fields, ParseFields(c));
  WEFT_TRY(const Dataset data, FindDataset(c, fields, 0, true));
  std::vector<int64_t> offsets;
  WEFT_TRY_VOID(Advance(c, data, offsets, data.records()));
  for (size_t d = 0; d < offsets.size(); ++d)
    WEFT_ENSURE(c, offsets[d] == data.limits[d], "the lengths of domain ", d, " add up to ", offsets[d],
                ", its fields have ", data.limits[d]);
  return {};
}

Result<void> TrimDataset(KernelContext& c) {
  WEFT_TRY(const Fields fields, ParseFields(c));
  WEFT_TRY(const Dataset data, FindDataset(c, fields, 0));
  const int64_t multiple = c.ArgI("multiple_of", 1), kept = data.records() / std::max<int64_t>(multiple, 1);
  WEFT_ENSURE(c, multiple >= 1, "multiple_of must be positive, found ", multiple);
  WEFT_ENSURE(c, c.num_outputs() == c.num_inputs(), "expected as many outputs as fields");
  if (kept * multiple == data.records()) return {};
  std::vector<int64_t> offsets;
  WEFT_TRY_VOID(Advance(c, data, offsets, kept * multiple));
  for (size_t i = 0; i < fields.domain.size(); ++i) {
    const Tensor& field = c.In(i);
    WEFT_TRY_VOID(c.Allocate(i, field.type(), WithRows(field, offsets[fields.domain[i]])));
  }
  return {};
}

Result<void> PackRecords(KernelContext& c) {
  WEFT_TRY(const Fields fields, ParseFields(c));
  WEFT_TRY(const Dataset data, FindDataset(c, fields, 0));
  WEFT_TRY_VOID(c.CheckRoom({data.records(), static_cast<int64_t>(fields.domain.size())}));
  const bool whole = c.ArgB("pack_to_single_shared_ptr", false);
  Records records;
  std::vector<int64_t> offsets(fields.domains());
  while (offsets[0] < data.records()) {
    const std::vector<int64_t> from = offsets;
    WEFT_TRY(const std::vector<int64_t> sizes, Advance(c, data, offsets, whole ? data.records() : 1));
    std::vector<Tensor>& row = records.rows.emplace_back();
    for (size_t i = 0; i < fields.domain.size(); ++i) {
      const Tensor& in = c.In(i);
      const size_t domain = fields.domain[i];
      Tensor& piece = row.emplace_back();
      WEFT_ENSURE(c, piece.Allocate(in.type(), WithRows(in, sizes[domain])), "no memory for a record");
      CopyElements(in, from[domain] * in.SizeFrom(1), piece, 0, piece.numel());
    }
  }
  c.OutBlob(0).Set(std::move(records));
  return {};
}

// Inputs records and, for when there are none, a tensor like each field.
Result<void> UnPackRecords(KernelContext& c) {
  const Records* records = c.InBlob(0).Get<Records>();
  WEFT_ENSURE(c, records, c.InName(0), " holds ", c.InBlob(0).type_name(), ", expected ", Records::kBlobType);
  const size_t fields = c.ArgSs("fields").size();
  WEFT_ENSURE(c, !records->rows.empty() || c.num_inputs() > 1,
              "Unpacking empty record without shape will leave output blobs in undefined state.");
  WEFT_ENSURE(c, c.num_outputs() == fields && (c.num_inputs() == 1 || c.num_inputs() == fields + 1),
              "expected ", fields, " outputs, and as many examples or none");
  for (size_t i = 0; i < fields; ++i) {
    const auto piece = [&](const std::vector<Tensor>& row) { return i < row.size() ? &row[i] : nullptr; };
    const Tensor* like = c.num_inputs() > 1 ? &c.In(i + 1) : piece(records->rows[0]);
    WEFT_ENSURE(c, like && like->ndim() >= 1, "there is no field ", i);
    int64_t total = 0;
    for (const std::vector<Tensor>& row : records->rows) {
      const Tensor* from = piece(row);
      WEFT_ENSURE(c,
                  from && from->type() == like->type() && from->ndim() == like->ndim() &&
                      std::equal(from->dims().begin() + 1, from->dims().end(), like->dims().begin() + 1),
                  "field ", i, " of a record is not like ", DimsToString(like->dims()));
      total += from->dim(0);
    }
    WEFT_TRY_VOID(c.Allocate(i, like->type(), WithRows(*like, total)));
    int64_t at = 0;
    for (const std::vector<Tensor>& row : records->rows) {
      CopyElements(row[i], 0, c.Out(i), at, row[i].numel());
      at += row[i].numel();
    }
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"CreateTreeCursor", CreateTreeCursor},       {"ResetCursor", ResetCursor, "B"},
    {"GetCursorOffset", GetCursorOffset, "B"},    {"ReadNextBatch", ReadNextBatch, "B*"},
    {"ReadRandomBatch", ReadRandomBatch, "Bll*"}, {"ComputeOffset", ComputeOffset, "B*"},
    {"SortAndShuffle", SortAndShuffle, "B*"},     {"CheckDatasetConsistency", CheckDatasetConsistency},
    {"TrimDataset", TrimDataset, "*", kInPlace},  {"PackRecords", PackRecords},
    {"UnPackRecords", UnPackRecords, "B*"},
};

}  // namespace
}  // namespace kernels

KernelFamily DatasetKernels() { return kernels::kRows; }

}  // namespace weft
