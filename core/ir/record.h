// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Records: named, nested fields over blobs, as Caffe2's schema has them. A field is a scalar (one blob with
// its type and shape), a struct of named fields, a list (lengths, and values of any kind) or a map (a list of
// keys and values). Fields are named by their path: "user:clicks:values". Values; a record of one net names
// symbols of that net's table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/data_type.h"
#include "core/ir/net_builder.h"

namespace weft {

struct RecordField;
using RecordFields = std::vector<RecordField>;

struct Record {
  enum Kind : uint8_t { kScalar, kStruct, kList, kMap };
  Kind kind = kScalar;
  // Of a scalar.
  Symbol blob;                                // unset: a schema, not yet bound to a net
  DataType type = DataType::kUndefined;       // undefined: nothing is said
  std::optional<std::vector<int64_t>> shape;  // of one item, without the batch; unset: nothing is said
  // Of the others: a list has "lengths" and "values", a map has "lengths", and in "values" a struct of "keys"
  // and "values".
  RecordFields fields;
};

struct RecordField {
  std::string name;
  Record record;
};

Record ScalarField(DataType type = DataType::kUndefined, std::optional<std::vector<int64_t>> shape = {},
                   Symbol blob = {});
Record StructField(RecordFields fields);
Record ListField(Record values);
Record MapField(Record keys, Record values);

/// One scalar of a record: its path and itself.
struct FieldRef {
  std::string path;
  const Record* scalar;
};
/// The scalars, in order. The pointers live as long as `record` is not changed. A record that is one scalar
/// has the path "".
std::vector<FieldRef> FieldsOf(const Record& record);
/// The field at a path, of any kind; null when there is none.
const Record* FindField(const Record& record, std::string_view path);
/// Same kinds, names, types and shapes; blobs don't count.
bool SameSchema(const Record& a, const Record& b);
/// `record` with every blob replaced.
Record MapBlobs(Record record, const std::function<Symbol(Symbol)>& to);
/// `{a: scalar float [3] = blob, b: list {...}}`, for people.
std::string RecordText(const SymbolTable& table, const Record& record);

/// `schema` bound to new blobs of the net: each is NextScopedBlob of its path ("unnamed_scalar" for a single
/// one). Errors: kInvalidArgument for two fields of one name, a name with ':' or without letters.
Result<Record> NewRecord(NetBuilder& net, const Record& schema, const NameScope& scope = {});
/// Errors as NewRecord.
Result<void> CheckRecord(const Record& record);

}  // namespace weft
