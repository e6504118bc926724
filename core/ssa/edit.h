// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Edits that keep a net whole: appending a net, inserting an operator, leading a blob through a new one,
// seeds. Each takes the net by value and gives the edited one back (move it in to save the copy); external
// lists are kept right. Linear in the net.
#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ssa/ssa.h"

namespace weft {

struct AppendNetOptions {
  DevicePtr device = nullptr;  // when given, every appended op runs there, those of nested nets too (B20)
};

/// Appends the ops of `other`. First its external inputs that `net` neither has nor makes, then its external
/// outputs that `net` does not list; blobs keep their names. What `net` makes is read from its ops at this
/// moment (B25).
Net AppendNet(Net net, const Net& other, const AppendNetOptions& options = {});

/// Inserts `op` before op number `at` (at the end when `at` is the number of ops). Inputs that nothing before
/// it makes become external inputs; outputs that nothing after it reads become external outputs (B28).
/// Errors: kInvalidArgument when there is no such place.
Result<Net> InsertOp(Net net, const Op& op, OpId at);

struct RerouteOptions {
  Symbol blob;                        // what is led through the new op
  std::optional<uint32_t> version{};  // which version of it, the latest when unset
  Op producer{};                      // reads `blob`; its first output takes the place of `blob`
  std::optional<std::vector<OpId>>
      readers{};  // ops that may be changed; all that read this version when unset
};

struct Rerouted {
  Net net;
  OpId inserted;  // where `producer` is
  int changed;    // how many readers were led to the new blob
};

/// Caffe2's reroute_tensor: puts `producer` right after the last op that makes any of its inputs and lets
/// readers of that version of `blob`, and no others, read producer.outputs[0] instead; external outputs too
/// when it is the latest version. (Caffe2 changes no reader at all when none are named.) Errors: kNotFound
/// for a blob or version that is not there; kInvalidArgument when `producer` does not read `blob` or writes
/// nothing; kNameConflict when its first output is a blob of the net; kVersionConflict when `blob` is
/// overwritten before the place, or a reader comes before it; kControlFlow when a reader's nested nets write
/// `blob`.
Result<Rerouted> RerouteBlob(Net net, const RerouteOptions& options);

/// Puts `op` on one edge: between the maker of input number `input` of op `reader` and that op alone.
/// op.inputs must hold that blob. Errors: as RerouteBlob.
Result<Rerouted> InsertOnEdge(Net net, OpId reader, uint32_t input, const Op& op);

struct RandSeedOptions {
  uint32_t seed = 100;
  bool sequence_seed = true;    // op i gets seed + i
  bool seed_on_op_def = false;  // an op gets a hash of itself and the seed
};
/// Caffe2's set_rand_seed: writes random_seed into the device option of each op. With neither switch all get
/// `seed`. The hash is our own (Caffe2's changes from run to run) and never changes. Errors: kInvalidArgument
/// when both switches are on.
Result<Net> SetRandSeed(Net net, const RandSeedOptions& options = {});

/// Each If, AsyncIf and While lists, after its own inputs, what its nets read from outside and it did not
/// list, so that whoever orders ops by their inputs sees those edges.
Net ExposeNestedInputs(Net net);

}  // namespace weft
