// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/record.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft {

namespace {

void CollectFields(const Record& record, const std::string& path, std::vector<FieldRef>& out) {
  if (record.kind == Record::kScalar) {
    out.push_back({path, &record});
    return;
  }
  for (const auto& [name, field] : record.fields)
    CollectFields(field, path.empty() ? name : StrCat(path, ":", name), out);
}

constexpr std::string_view kKindNames[] = {"scalar", "struct", "list", "map"};

}  // namespace

Record ScalarField(DataType type, std::optional<std::vector<int64_t>> shape, Symbol blob) {
  Record record;
  record.type = type;
  record.shape = std::move(shape);
  record.blob = blob;
  return record;
}

Record StructField(RecordFields fields) {
  Record record;
  record.kind = Record::kStruct;
  record.fields = std::move(fields);
  return record;
}

Record ListField(Record values) {
  Record record;
  record.kind = Record::kList;
  record.fields.push_back({"lengths", ScalarField(DataType::kInt32, std::vector<int64_t>())});
  record.fields.push_back({"values", std::move(values)});
  return record;
}

Record MapField(Record keys, Record values) {
  RecordFields pair;
  pair.push_back({"keys", std::move(keys)});
  pair.push_back({"values", std::move(values)});
  Record record = ListField(StructField(std::move(pair)));
  record.kind = Record::kMap;
  return record;
}

std::vector<FieldRef> FieldsOf(const Record& record) {
  std::vector<FieldRef> fields;
  CollectFields(record, "", fields);
  return fields;
}

const Record* FindField(const Record& record, std::string_view path) {
  const Record* at = &record;
  for (std::string_view name : StrSplit(path, ':')) {
    const auto found = std::find_if(at->fields.begin(), at->fields.end(),
                                    [&](const auto& field) { return field.name == name; });
    if (found == at->fields.end()) return nullptr;
    at = &found->record;
  }
  return at;
}

bool SameSchema(const Record& a, const Record& b) {
  if (a.kind != b.kind || a.type != b.type || a.shape != b.shape || a.fields.size() != b.fields.size())
    return false;
  for (size_t i = 0; i < a.fields.size(); ++i)
    if (a.fields[i].name != b.fields[i].name || !SameSchema(a.fields[i].record, b.fields[i].record))
      return false;
  return true;
}

Record MapBlobs(Record record, const std::function<Symbol(Symbol)>& to) {
  if (record.blob) record.blob = to(record.blob);
  for (auto& [name, field] : record.fields) field = MapBlobs(std::move(field), to);
  return record;
}

std::string RecordText(const SymbolTable& table, const Record& record) {
  std::string out(kKindNames[record.kind]);
  if (record.kind == Record::kScalar) {
    if (record.type != DataType::kUndefined) StrAppend(out, " ", DataTypeName(record.type));
    if (record.shape) {
      std::vector<std::string> extents;
      for (int64_t extent : *record.shape) extents.push_back(StrCat(extent));
      StrAppend(out, " [", StrJoin(extents, ","), "]");
    }
    if (record.blob) StrAppend(out, " = ", table.Str(record.blob));
    return out;
  }
  std::vector<std::string> fields;
  for (const auto& [name, field] : record.fields)
    fields.push_back(StrCat(name, ": ", RecordText(table, field)));
  return StrCat(out, " {", StrJoin(fields, ", "), "}");
}

Result<void> CheckRecord(const Record& record) {
  for (size_t i = 0; i < record.fields.size(); ++i) {
    const std::string& name = record.fields[i].name;
    if (name.empty() || name.find(':') != std::string::npos)
      return Error{ErrorCode::kInvalidArgument, StrCat("'", name, "' is no name of a field")};
    for (size_t k = 0; k < i; ++k)
      if (record.fields[k].name == name)
        return Error{ErrorCode::kInvalidArgument, StrCat("two fields are called ", name)};
    WEFT_TRY_VOID(CheckRecord(record.fields[i].record));
  }
  return {};
}

Result<Record> NewRecord(NetBuilder& net, const Record& schema, const NameScope& scope) {
  WEFT_TRY_VOID(CheckRecord(schema));
  std::vector<Symbol> blobs;
  for (const FieldRef& field : FieldsOf(schema))
    blobs.push_back(net.NextScopedBlob(field.path.empty() ? "unnamed_scalar" : field.path, scope));
  Record record = schema;
  size_t next = 0;
  std::function<void(Record&)> bind = [&](Record& at) {
    if (at.kind == Record::kScalar) at.blob = blobs[next++];
    for (auto& [name, field] : at.fields) bind(field);
  };
  bind(record);
  return record;
}

}  // namespace weft
