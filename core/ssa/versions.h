// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The second half of Caffe2's get_ssa: the map from blob to its latest version, which it hands back and takes
// in again, so that several nets that run one after the other share one count; and the first version of a
// blob.
#pragma once

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/base/symbol_map.h"
#include "core/ssa/ssa.h"

namespace weft {

struct BlobVersion {
  Symbol blob;
  uint32_t version;
  friend bool operator==(const BlobVersion&, const BlobVersion&) = default;
};

/// Blob -> version, in order of first record.
class BlobVersions {
 public:
  explicit BlobVersions(const SymbolTable& table, size_t expected = 0) : index_(table, expected, 0) {}

  bool has(Symbol blob) const { return index_.Get(blob) != 0; }
  /// REQUIRES: has(blob).
  uint32_t Get(Symbol blob) const { return entries_[index_.Get(blob) - 1].version; }
  void Set(Symbol blob, uint32_t version);
  const std::vector<BlobVersion>& entries() const& { return entries_; }
  void entries() && = delete;

 private:
  SymbolMap<uint32_t> index_;  // into entries_, + 1
  std::vector<BlobVersion> entries_;
};

/// Records what get_ssa records: external inputs and written blobs, and blobs that are only read when the net
/// declares no external input at all. (With external inputs, Caffe2 reads an undeclared blob at version 0 and
/// keeps no record of it.) `ssa` must have been made with `versions` as its start, or `versions` be empty.
void RecordVersions(const Net& net, const Ssa& ssa, BlobVersions& versions);
BlobVersions VersionsOf(const Net& net, const Ssa& ssa);

/// get_ssa of a list (B26): each net starts where the one before it ended.
struct SsaOfNets {
  std::vector<Ssa> nets;
  BlobVersions versions;
};
/// Errors: kInvalidArgument when the nets do not share one SymbolTable (Rehome makes them).
Result<SsaOfNets> GetSsa(std::span<const Net> nets);

/// Blobs that are read at version 0, by first read.
std::vector<Symbol> UndefinedBlobs(const Ssa& ssa);

/// The value (blob, version), or kNoValue. Walks back from the latest version.
ValueId FindValue(const Ssa& ssa, Symbol blob, uint32_t version);

/// A blob's first value: what it holds before the net runs, when it starts outside.
ValueId FirstValue(const Ssa& ssa, BlobId blob);

}  // namespace weft
