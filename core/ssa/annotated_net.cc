// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/annotated_net.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ir/plan_builder.h"

namespace weft {

namespace {

Result<std::vector<Symbol>> BlobsOf(const Net& net, const Record& record) {
  WEFT_TRY_VOID(CheckRecord(record));
  std::vector<Symbol> blobs;
  for (const FieldRef& field : FieldsOf(record)) {
    if (!field.scalar->blob)
      return Error{ErrorCode::kInvalidArgument, StrCat("field ", field.path, " of the record of net ",
                                                       net.Str(net.name), " names no blob")};
    blobs.push_back(field.scalar->blob);
  }
  return blobs;
}

bool Holds(const std::vector<Symbol>& list, Symbol blob) {
  return std::find(list.begin(), list.end(), blob) != list.end();
}

Result<void> SameAsBefore(const Net& net, const std::optional<Record>& before, std::vector<Symbol> blobs,
                          std::string_view which) {
  if (!before) return {};
  WEFT_TRY(std::vector<Symbol> old, BlobsOf(net, *before));
  const auto by_id = [](Symbol a, Symbol b) { return a.id < b.id; };
  std::sort(old.begin(), old.end(), by_id);
  std::sort(blobs.begin(), blobs.end(), by_id);
  if (old == blobs) return {};
  return Error{ErrorCode::kInvalidArgument,
               StrCat("net ", net.Str(net.name), " has an ", which, " record of other blobs already")};
}

std::vector<Attribute> Gather(std::span<const Symbol> order, const SymbolTable& table,
                              std::span<const AnnotatedNet> nets, std::string_view list) {
  std::vector<Attribute> all;
  for (Symbol name : order)
    for (const AnnotatedNet& net : nets) {
      if (net.net.Str(net.net.name) != table.Str(name)) continue;
      const auto values = AttributesOf(net, list);
      all.insert(all.end(), values.begin(), values.end());
      break;
    }
  return all;
}

// What `net` says, about its clone, whose blobs are called `to(...)`.
AnnotatedNet Renamed(const AnnotatedNet& net, Net clone, const std::function<Symbol(Symbol)>& to) {
  AnnotatedNet out{std::move(clone), {}, {}, net.attributes};
  if (net.input) out.input = MapBlobs(*net.input, to);
  if (net.output) out.output = MapBlobs(*net.output, to);
  for (AttributeList& list : out.attributes)
    for (Attribute& value : list.values)
      if (Symbol* blob = std::get_if<Symbol>(&value)) *blob = to(*blob);
  return out;
}

}  // namespace

Result<void> SetInputRecord(AnnotatedNet& annotated, Record record) {
  Net& net = annotated.net;
  WEFT_TRY(const std::vector<Symbol> blobs, BlobsOf(net, record));
  WEFT_TRY_VOID(SameAsBefore(net, annotated.input, blobs, "input"));
  for (size_t i = 0; i < net.ops.size(); ++i)
    for (Symbol blob : net.ops[i].outputs)
      if (Holds(blobs, blob) && !Holds(net.external_inputs, blob))
        return Error{ErrorCode::kInvalidArgument,
                     StrCat("op ", i, " (", net.Str(net.ops[i].type), ") writes ", net.Str(blob),
                            ", which the input record says comes from outside"),
                     static_cast<int64_t>(i), std::string(net.Str(blob))};
  for (Symbol blob : blobs)
    if (!Holds(net.external_inputs, blob)) net.external_inputs.push_back(blob);
  annotated.input = std::move(record);
  return {};
}

Result<void> SetOutputRecord(AnnotatedNet& annotated, Record record) {
  Net& net = annotated.net;
  WEFT_TRY(const std::vector<Symbol> blobs, BlobsOf(net, record));
  WEFT_TRY_VOID(SameAsBefore(net, annotated.output, blobs, "output"));
  std::vector<bool> defined(net.symbols->size() + 1, false);
  for (Symbol blob : net.external_inputs) defined[blob.id] = true;
  for (const Op& op : net.ops)
    for (Symbol blob : op.outputs) defined[blob.id] = true;
  for (Symbol blob : blobs)
    if (!defined[blob.id])
      return Error{ErrorCode::kNotFound, StrCat(net.Str(blob), " is not defined in net ", net.Str(net.name)),
                   -1, std::string(net.Str(blob))};
  for (Symbol blob : blobs)
    if (!Holds(net.external_outputs, blob)) net.external_outputs.push_back(blob);
  annotated.output = std::move(record);
  return {};
}

Result<void> AppendOutputField(AnnotatedNet& annotated, std::string name, Record record) {
  if (!annotated.output || annotated.output->kind != Record::kStruct)
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("net ", annotated.net.Str(annotated.net.name), " has no output record to append to")};
  Record whole = *annotated.output;
  whole.fields.push_back({std::move(name), std::move(record)});
  WEFT_TRY_VOID(CheckRecord(whole));
  AnnotatedNet changed = annotated;
  changed.output.reset();
  WEFT_TRY_VOID(SetOutputRecord(changed, std::move(whole)));
  annotated = std::move(changed);
  return {};
}

void AddAttribute(AnnotatedNet& net, std::string_view list, Attribute value) {
  for (AttributeList& known : net.attributes)
    if (known.name == list) return known.values.push_back(std::move(value));
  net.attributes.push_back({std::string(list), {std::move(value)}});
}

std::span<const Attribute> AttributesOf(const AnnotatedNet& net, std::string_view list) {
  for (const AttributeList& known : net.attributes)
    if (known.name == list) return known.values;
  return {};
}

std::vector<Attribute> GatherAttributes(const Step& step, std::span<const AnnotatedNet> nets,
                                        std::string_view list) {
  if (nets.empty()) return {};
  return Gather(NetsInOrder(step), *nets[0].net.symbols, nets, list);
}

std::vector<Attribute> GatherAttributes(const Plan& plan, std::span<const AnnotatedNet> nets,
                                        std::string_view list) {
  std::vector<Symbol> order;
  for (const Net& net : plan.networks) order.push_back(net.name);
  return Gather(order, *plan.symbols, nets, list);
}

Result<AnnotatedNet> CloneAnnotated(const AnnotatedNet& net, const CloneOptions& options) {
  WEFT_TRY(const BlobMap map, BlobMap::Make(*net.net.symbols, options.rename));
  WEFT_TRY(Net clone, Clone(net.net, options));
  return Renamed(net, std::move(clone), [&](Symbol blob) { return map(blob); });
}

Result<BoundToRecord> CloneAndBindRecord(const AnnotatedNet& net, CloneAndBindOptions options,
                                         const Record& inputs) {
  const std::string_view name = net.net.Str(net.net.name);
  if (!net.input) return Error{ErrorCode::kInvalidArgument, StrCat("net ", name, " has no input record")};
  WEFT_TRY_VOID(BlobsOf(net.net, inputs));
  const std::vector<FieldRef> given = FieldsOf(inputs), wanted = FieldsOf(*net.input);
  const auto find = [](const std::vector<FieldRef>& fields, const std::string& path) {
    return std::find_if(fields.begin(), fields.end(), [&](const FieldRef& f) { return f.path == path; });
  };
  std::vector<std::string> missing, extra;
  for (const FieldRef& field : given)
    if (find(wanted, field.path) == wanted.end()) extra.push_back(field.path);
  for (const FieldRef& field : wanted) {
    const auto found = find(given, field.path);
    if (found == given.end()) {
      missing.push_back(field.path);
      continue;
    }
    options.rename.push_back({field.scalar->blob, found->scalar->blob});
  }
  if (!missing.empty())
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("net ", name, " reads fields that are not given: ", StrJoin(missing, ", "),
                        extra.empty() ? "" : StrCat("; given and not read: ", StrJoin(extra, ", ")))};
  WEFT_TRY(BoundClone bound, CloneAndBind(net.net, options));
  WEFT_TRY(const BlobMap map, BlobMap::Make(*net.net.symbols, bound.rename));
  return BoundToRecord{Renamed(net, std::move(bound.net), [&](Symbol blob) { return map(blob); }),
                       std::move(bound.rename), std::move(extra)};
}

}  // namespace weft
