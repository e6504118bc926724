// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/clone.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ssa/path.h"
#include "core/ssa/versions.h"

namespace weft {

namespace {

Result<Net> CloneOps(const Net& net, const std::string& name, const BlobMap& map,
                     const std::optional<std::vector<OpId>>& mask, NameRegistry* registry) {
  Net out = WithoutOps(net);
  const size_t count = mask ? mask->size() : net.ops.size();
  out.ops.reserve(count);
  for (size_t k = 0; k < count; ++k) {
    const int64_t id = mask ? (*mask)[k] : static_cast<int64_t>(k);
    if (id < 0 || id >= static_cast<int64_t>(net.ops.size()))
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("Clone: there is no op ", id, " in net ", net.Str(net.name), ", which has ",
                          net.ops.size(), " ops"),
                   id};
    out.ops.push_back(net.ops[id]);
  }
  const NestingTypes nesting(*net.symbols);
  WEFT_TRY_VOID(RenameInNet({net.symbols, map, nesting, registry}, out));
  out.name = out.Intern(registry ? registry->UniqueNet(name) : name);
  return out;
}

Error NotDefined(const Net& net, const Ssa& ssa, Symbol blob) {
  std::vector<std::string_view> names;
  for (Symbol other : ssa.blobs())
    if (other != blob) names.push_back(net.Str(other));
  const auto near = NearestNames(net.Str(blob), names, 1);
  return Error{ErrorCode::kNotFound,
               StrCat(net.Str(blob), " is not defined in net ", net.Str(net.name),
                      near.empty() ? "" : StrCat("; did you mean ", near[0], "?")),
               -1, std::string(net.Str(blob))};
}

// The first op that is needed for the outputs and would also make a given input, or kNoOp.
OpId FirstCommon(std::span<const OpId> a, std::span<const OpId> b) {
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] == b[k]) return a[i];
    if (a[i] < b[k]) {
      ++i;
    } else {
      ++k;
    }
  }
  return kNoOp;
}

// Index of the first of `values` that depends on what `maker` writes. REQUIRES: there is one.
size_t FirstMadeBy(const Ssa& ssa, OpId maker, std::span<const ValueId> values) {
  std::vector<bool> depends(ssa.values().size(), false);
  for (OpId op = maker; op < static_cast<OpId>(ssa.num_ops()); ++op) {
    const auto inputs = ssa.inputs(op);
    if (op != maker && std::none_of(inputs.begin(), inputs.end(), [&](ValueId v) { return depends[v]; }))
      continue;
    for (ValueId value : ssa.outputs(op)) depends[value] = true;
  }
  size_t k = 0;
  while (!depends[values[k]]) ++k;
  return k;
}

}  // namespace

Result<Net> Clone(const Net& net, const CloneOptions& options) {
  WEFT_TRY(const BlobMap map, BlobMap::Make(*net.symbols, options.rename));
  WEFT_TRY(Net out, CloneOps(net, options.name, map, options.ops, options.registry));
  if (options.update_external_list) UpdateExternalLists(out);
  return out;
}

void UpdateExternalLists(Net& net) {
  net.external_inputs.clear();
  net.external_outputs.clear();
  const Ssa ssa(net, {.nested = NestedNets::kReads});
  for (BlobId blob = 0; blob < ssa.blobs().size(); ++blob) {
    if (ssa.starts_outside(blob)) net.external_inputs.push_back(ssa.blobs()[blob]);
    if (ssa.written(blob) && ssa.uses(ssa.latest(blob)).empty())
      net.external_outputs.push_back(ssa.blobs()[blob]);
  }
}

Result<PartialClone> ClonePartial(const Net& net, const ClonePartialOptions& options) {
  const Ssa ssa(net, {.nested = NestedNets::kReads});
  for (Symbol output : options.outputs) {
    const BlobId blob = ssa.FindBlob(output);
    if (blob == kNoBlob || !(ssa.written(blob) || ssa.declared_input(blob)))
      return NotDefined(net, ssa, output);
  }
  std::vector<Symbol> given_names;
  for (const BlobRename& input : options.inputs) given_names.push_back(input.from);
  WEFT_TRY(const std::vector<ValueId> given, LatestValues(net, ssa, given_names, "input"));
  WEFT_TRY(const std::vector<ValueId> wanted, LatestValues(net, ssa, options.outputs, "output"));

  std::vector<OpId> ops = OpsBetween(ssa, given, wanted);
  const OpId clash = FirstCommon(ops, OpsBetween(ssa, {}, given));
  if (clash != kNoOp) {
    const Symbol blob = given_names[FirstMadeBy(ssa, clash, given)];
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("Cannot partially clone net ", net.Str(net.name),
                        ": some of the ops required would generate the given input. Op ", clash, " (",
                        net.Str(net.ops[clash].type), ") is needed for the outputs and for the given input ",
                        net.Str(blob)),
                 clash, std::string(net.Str(blob))};
  }

  WEFT_TRY(BlobMap map, BlobMap::Make(*net.symbols, options.inputs));
  std::vector<Symbol> external_inputs;
  std::vector<bool> is_given(ssa.blobs().size(), false), outside(ssa.blobs().size(), false);
  for (Symbol name : given_names) {
    const BlobId blob = ssa.FindBlob(name);
    if (!is_given[blob]) external_inputs.push_back(map(name));
    is_given[blob] = true;
  }
  for (OpId op : ops) {
    for (ValueId value : ssa.inputs(op)) {
      const Value& v = ssa.values()[value];
      if (v.version != 0 || is_given[v.blob] || outside[v.blob]) continue;
      outside[v.blob] = true;
      external_inputs.push_back(ssa.blobs()[v.blob]);
    }
  }
  const std::string prefix = options.name.empty() ? std::string() : StrCat(options.name, "/");
  for (BlobId blob = 0; blob < ssa.blobs().size(); ++blob) {
    if (is_given[blob] || outside[blob]) continue;
    const Symbol name = ssa.blobs()[blob];
    map.Set(name, net.symbols->Intern(StrCat(prefix, net.Str(name))));
  }

  PartialClone out;
  WEFT_TRY(out.net, CloneOps(net, options.name, map, ops, options.registry));
  out.net.external_inputs = std::move(external_inputs);
  for (Symbol output : options.outputs) out.outputs.push_back(map(output));
  out.net.external_outputs = out.outputs;
  out.ops = std::move(ops);
  return out;
}

Result<BoundClone> CloneAndBind(const Net& net, const CloneAndBindOptions& options) {
  WEFT_TRY(BlobMap map, BlobMap::Make(*net.symbols, options.rename));
  const Ssa ssa(net, {.nested = NestedNets::kReads});
  std::vector<bool> outside(ssa.blobs().size(), false);
  for (Symbol blob : UndefinedBlobs(ssa)) outside[ssa.FindBlob(blob)] = true;

  BoundClone out;
  const BlobVersions versions = VersionsOf(net, ssa);
  out.rename.reserve(versions.entries().size());
  for (const BlobVersion& entry : versions.entries()) {
    if (!map.has(entry.blob)) {
      map.Set(entry.blob, outside[ssa.FindBlob(entry.blob)]
                              ? entry.blob
                              : net.symbols->Intern(StrCat(options.prefix, net.Str(entry.blob))));
    }
    out.rename.push_back({entry.blob, map(entry.blob)});
  }
  for (const BlobRename& rename : options.rename)
    if (!versions.has(rename.from)) out.rename.push_back(rename);
  WEFT_TRY(out.net, CloneOps(net, options.name, map, std::nullopt, options.registry));
  return out;
}

Result<Net> BindInputs(Net net, std::span<const Symbol> record) {
  SymbolMap<uint8_t> in_record(*net.symbols, record.size(), 0);
  std::vector<Symbol> bound;
  for (Symbol blob : record) {
    if (in_record.Get(blob)) continue;
    in_record[blob] = 1;
    bound.push_back(blob);
  }
  for (size_t i = 0; i < net.ops.size(); ++i) {
    for (Symbol blob : net.ops[i].outputs) {
      if (!in_record.Get(blob)) continue;
      return Error{
          ErrorCode::kInvalidArgument,
          StrCat("record blob ", net.Str(blob), " is written by op ", i, " (", net.Str(net.ops[i].type),
                 ") of net ", net.Str(net.name), "; an input record names blobs that come from outside"),
          static_cast<int64_t>(i), std::string(net.Str(blob))};
    }
  }
  // Record blobs that are external inputs already give up their places to the record in its order.
  size_t next = 0, kept = 0;
  for (Symbol blob : net.external_inputs) {
    if (!in_record.Get(blob)) {
      net.external_inputs[kept++] = blob;
    } else if (next < bound.size() && in_record.Get(blob) == 1) {
      in_record[blob] = 2;
      net.external_inputs[kept++] = bound[next++];
    }
  }
  net.external_inputs.resize(kept);
  net.external_inputs.insert(net.external_inputs.end(), bound.begin() + static_cast<ptrdiff_t>(next),
                             bound.end());
  return net;
}

}  // namespace weft
