// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The SSA form of one net: every (blob, version) is a dense ValueId, with its definition and its uses.
// Versions are Caffe2's get_ssa numbers: an external input, and anything read before it is written, starts at
// 0; every write adds one, so the first write of a fresh blob is version 1. An op that writes one blob twice
// makes one value. Nested nets are entered only when asked. Linear in the net.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/symbol_map.h"
#include "core/ir/net.h"

namespace weft {

using OpId = int32_t;     // index into Net::ops, -1 = none
using BlobId = uint32_t;  // dense, by first appearance: external inputs, then op by op, inputs before outputs
using ValueId = uint32_t;

inline constexpr OpId kNoOp = -1;
inline constexpr BlobId kNoBlob = UINT32_MAX;
inline constexpr ValueId kNoValue = UINT32_MAX;

struct Value {
  BlobId blob;
  uint32_t version;
  OpId def;          // the op that wrote it, kNoOp when it comes from outside
  uint32_t output;   // which output of `def`
  ValueId previous;  // the version that it overwrote, kNoValue for none
};

class BlobVersions;  // ssa/versions.h

/// What the nets inside If, AsyncIf and While do to blobs that the op does not list itself.
enum class NestedNets : uint8_t {
  kOpaque,          // nothing: Caffe2's get_ssa
  kReads,           // blobs that they read from outside follow the op's inputs
  kReadsAndWrites,  // and blobs that they write follow its outputs
};

struct SsaOptions {
  const BlobVersions* start = nullptr;  // where blobs start; those not in it at 0
  NestedNets nested = NestedNets::kOpaque;
};

class Ssa {
 public:
  explicit Ssa(const Net& net, const SsaOptions& options = {});

  size_t num_ops() const { return input_begin_.size() - 1; }
  const std::vector<Symbol>& blobs() const { return blobs_; }   // BlobId -> name
  const std::vector<Value>& values() const { return values_; }  // ValueId -> value, in order of creation
  std::span<const ValueId> inputs(OpId op) const { return Range(inputs_, input_begin_, op); }
  std::span<const ValueId> outputs(OpId op) const { return Range(outputs_, output_begin_, op); }
  /// True when some op writes the blob.
  bool written(BlobId blob) const { return values_[latest_[blob]].def != kNoOp; }
  /// Ops that read `value`, in order; an op that reads it twice appears twice. Control inputs do not count.
  std::span<const OpId> uses(ValueId value) const { return Range(uses_, use_begin_, value); }
  /// The id of a blob; kNoBlob when the net does not name it.
  BlobId FindBlob(Symbol name) const { return ids_.Get(name); }
  /// The last value of a blob; always there.
  ValueId latest(BlobId blob) const { return latest_[blob]; }
  /// True when the blob exists before the net runs: it is an external input, is read before it is written, or
  /// SsaOptions::start has it.
  bool starts_outside(BlobId blob) const { return starts_outside_[blob]; }
  /// True when the net declares the blob as external input.
  bool declared_input(BlobId blob) const { return blob < num_declared_; }

 private:
  template <typename T>
  static std::span<const T> Range(const std::vector<T>& items, const std::vector<uint32_t>& begin, size_t i) {
    return {items.data() + begin[i], begin[i + 1] - begin[i]};
  }

  SymbolMap<BlobId> ids_;
  std::vector<Symbol> blobs_;
  std::vector<Value> values_;
  std::vector<ValueId> latest_;
  std::vector<bool> starts_outside_;
  std::vector<uint32_t> input_begin_, output_begin_, use_begin_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<OpId> uses_;
  BlobId num_declared_ = 0;
};

/// "x@2": how a value is written everywhere.
std::string ValueName(const Net& net, const Ssa& ssa, ValueId value);

}  // namespace weft
