// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sharded optimizer state (ZeRO, stage 1): each parameter has one owner among the devices of all machines.
// Gradients are summed to their owners, an owner updates its parameters with a state that nobody else has,
// and sends them to all.
//
// What is dealt is whole parameters, the largest first, each to the owner that has the fewest bytes so far.
// Flat buckets cut into equal parts would be balanced to the byte, but an update would no longer see
// parameters: Adagrad's weight decay asks for a parameter's shape, an update net for its name, and a
// checkpoint would hold parts that fit one number of owners. Whole parameters keep every optimizer, every
// update net, and a state that is named and shaped as without sharding, so a checkpoint may be read by any
// number of owners. The price: nobody holds less than the largest parameter.
//
// Between devices a gradient goes to its owner by Sum, or NCCLReduce with NCCL, and the parameter comes back
// by Copy or NCCLBroadcast: the bytes of an all-reduce. Between machines MPI has Reduce, with the same bytes.
// GLOO has none (its ReduceScatter cuts equal parts, and on CPUs only), so there gradients are all-reduced
// and parameters sent on top: half as many bytes again. With buckets an owner gets its gradients, and sends
// its parameters, in few messages. Owners are chosen by sizes alone and every machine has the same
// collectives in the same order; only the updates between them differ. Functions of one Replicas.
#pragma once

#include "core/pass/replicas.h"

namespace weft::internal {

/// Gives each parameter and its gradient an owner (BlobGroup::owner). Parameters that share a gradient share
/// the owner. Errors: kUnsupported for a sparse gradient.
Result<void> DealGradients(Replicas& replicas, const ParallelOptions& options);

/// The update of what this machine's devices own, and of parameters that are on no device; fills
/// replicas.own_state. Errors: those of the callbacks.
Result<void> UpdateOwn(Replicas& replicas, const ParallelOptions& options);

}  // namespace weft::internal
