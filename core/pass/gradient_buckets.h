// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradient buckets: the dense gradients of a data parallel net are summed over the devices in few large
// collectives instead of one each, in the order in which the backward pass has them ready, and each
// collective stands right behind the last operator that it waits for, so that it runs while the backward pass
// goes on. Every rank cuts the same buckets and has its collectives in the same order. Linear in the net.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/pass/collectives.h"

namespace weft::internal {

/// The bytes of a blob, where they are known.
using BytesOf = std::function<std::optional<int64_t>(Symbol)>;

/// Appends to `net` the sums of `groups` over all devices and machines, as Collectives::AllReduce does, in
/// buckets of at most options.bucket_bytes and options.bucket_count (0: any). A bucket holds gradients of one
/// kind of device, and of one owner where they go to owners; sparse ones and those of unknown size go alone.
/// Then moves what was appended to where the gradients are ready; not so with options.accumulate, when it
/// belongs to the update net.
void ReduceInBuckets(ModelBuilder& model, Collectives& collectives, const ReplicaScopes& scopes,
                     std::span<const BlobGroup* const> groups, int max_concurrent,
                     const ParallelOptions& options, const BytesOf& bytes);

/// Sends parameters from their owners to all, in buckets of one owner each. `params` have dense gradients.
void SendInBuckets(ModelBuilder& model, Collectives& collectives, const ReplicaScopes& scopes,
                   std::span<const BlobGroup* const> params, int max_concurrent,
                   const ParallelOptions& options, const BytesOf& bytes);

}  // namespace weft::internal
