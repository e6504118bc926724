// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory reuse: blobs whose lives do not overlap share one blob, as Caffe2's memonger does it. Lives are
// counted in the order of the operators; executors that run operators side by side keep that order where two
// values share a blob. Pure; n log n in the net, bounded work for the closer search.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"

namespace weft {

/// How many bytes a blob holds at most.
struct BlobBytes {
  Symbol blob;
  int64_t bytes;
};

enum class Recycle : uint8_t {
  kAll,        // whatever the net makes for itself: nets that only run forward
  kGradients,  // what gradient operators and the sums of gradients make (B51: those called autosplit too)
  kGradientsAndActivations,  // and what the forward operators make: all, in a net with a backward pass
};

struct MemoryOptions {
  Recycle recycle = Recycle::kAll;
  std::vector<BlobBytes> sizes{};  // blobs without one, or of no bytes, are left alone
  std::vector<Symbol> keep{};      // left alone, besides external inputs and outputs
  /// A blob that nobody reads is left alone, since somebody may look at it from outside. Off: it may go where
  /// another blob was, and then only its last holder can be looked at.
  bool keep_unread = true;
};

struct MemoryPlan {
  Net net;
  int64_t fixed = 0;        // bytes of blobs that are left alone
  int64_t peak_before = 0;  // all bytes, each blob in a place of its own
  int64_t peak_after = 0;
  int64_t lower_bound = 0;  // the largest sum of what must be there at once, at any operator
  int64_t least_whole = 0;  // what sharing whole blobs needs at the least: the lower bound or more
  size_t shared = 0;        // blobs that went into a shared one
  size_t places = 0;        // how many of those there are
  struct Renamed {
    Symbol from, to;
  };
  std::vector<Renamed> renamed;  // in order of first appearance
};

/// Shared blobs are called "<scope>__m<k>_shared", with the scope of the first that goes there. Two blobs
/// share only on one device (type and id). Left alone: external inputs and outputs, blobs read before they
/// are written, blobs without a size, sources and results of Alias, what stateful and host-only operators
/// write, outputs of If, While and Do, and, when gradients alone are
/// recycled, everything that forward operators make. A net that comes out goes in again unchanged, given the
/// sizes of its shared blobs. Errors: kInvalidArgument for a negative size, or bytes beyond int64.
Result<MemoryPlan> ReuseMemory(const Net& net, const OpSet& ops, const MemoryOptions& options);

/// The sizes of a plan's blobs from those of the original net: a shared blob is as large as its largest.
std::vector<BlobBytes> SizesAfter(const MemoryPlan& plan, std::vector<BlobBytes> sizes);

namespace internal {
/// A life: from operator `first` to operator `last`, both included.
struct Life {
  int32_t first, last;
  int64_t bytes;
};
/// The place of each life, so that no two lives of a place overlap; places are numbered by first use.
std::vector<uint32_t> AssignPlaces(const std::vector<Life>& lives);
/// The largest sum of bytes at one time.
int64_t LargestLiveSet(const std::vector<Life>& lives);
/// What places that hold whole lives need at the least: of places of b bytes or more there must be as many as
/// there are lives of b bytes or more at one time, for every b. Never below LargestLiveSet.
int64_t LeastOfPlaces(const std::vector<Life>& lives);
}  // namespace internal

}  // namespace weft
