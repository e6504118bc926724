// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/versions.h"

#include "core/base/str.h"

namespace weft {

void BlobVersions::Set(Symbol blob, uint32_t version) {
  uint32_t& index = index_[blob];
  if (index == 0) {
    entries_.push_back({blob, version});
    index = static_cast<uint32_t>(entries_.size());
  } else {
    entries_[index - 1].version = version;
  }
}

void RecordVersions(const Net& net, const Ssa& ssa, BlobVersions& versions) {
  const bool record_reads = net.external_inputs.empty();
  for (BlobId blob = 0; blob < ssa.blobs().size(); ++blob) {
    const Symbol name = ssa.blobs()[blob];
    if (record_reads || ssa.declared_input(blob) || ssa.written(blob) || versions.has(name))
      versions.Set(name, ssa.values()[ssa.latest(blob)].version);
  }
}

BlobVersions VersionsOf(const Net& net, const Ssa& ssa) {
  BlobVersions versions(*net.symbols, ssa.blobs().size());
  RecordVersions(net, ssa, versions);
  return versions;
}

Result<SsaOfNets> GetSsa(std::span<const Net> nets) {
  const SymbolTable none;
  SsaOfNets out{{}, BlobVersions(nets.empty() ? none : *nets[0].symbols)};
  for (size_t i = 0; i < nets.size(); ++i) {
    if (nets[i].symbols != nets[0].symbols)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("GetSsa: net ", i, " (", nets[i].Str(nets[i].name),
                          ") has a symbol table of its own; expected that of the first net")};
    out.nets.emplace_back(nets[i], SsaOptions{.start = &out.versions});
    RecordVersions(nets[i], out.nets.back(), out.versions);
  }
  return out;
}

std::vector<Symbol> UndefinedBlobs(const Ssa& ssa) {
  std::vector<Symbol> undefined;
  std::vector<bool> listed(ssa.blobs().size(), false);
  for (size_t op = 0; op < ssa.num_ops(); ++op) {
    for (ValueId value : ssa.inputs(static_cast<OpId>(op))) {
      const Value& v = ssa.values()[value];
      if (v.version != 0 || listed[v.blob]) continue;
      listed[v.blob] = true;
      undefined.push_back(ssa.blobs()[v.blob]);
    }
  }
  return undefined;
}

ValueId FindValue(const Ssa& ssa, Symbol blob, uint32_t version) {
  const BlobId id = ssa.FindBlob(blob);
  if (id == kNoBlob) return kNoValue;
  ValueId value = ssa.latest(id);
  while (value != kNoValue && ssa.values()[value].version > version) value = ssa.values()[value].previous;
  return value != kNoValue && ssa.values()[value].version == version ? value : kNoValue;
}

ValueId FirstValue(const Ssa& ssa, BlobId blob) {
  ValueId value = ssa.latest(blob);
  while (ssa.values()[value].previous != kNoValue) value = ssa.values()[value].previous;
  return value;
}

}  // namespace weft
