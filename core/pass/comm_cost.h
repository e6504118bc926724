// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a data parallel net moves between devices and between machines, operator by operator, and how long
// that takes in the alpha-beta model (a fixed time for each message, and a time for each byte): a plan for
// any number of machines without them. Collectives are rings. Pure, linear in the net.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/pass/data_parallel.h"
#include "core/ssa/ssa.h"

namespace weft {

struct CommOp {
  OpId op = kNoOp;
  int64_t local_bytes = 0;    // between the devices of this machine, all of them together
  int64_t network_bytes = 0;  // sent by this machine
  int64_t local_messages = 0, network_messages = 0;  // one after the other
};

struct CommCost {
  std::vector<CommOp> ops;  // those that move something
  int64_t local_bytes = 0, network_bytes = 0;
  int64_t local_messages = 0, network_messages = 0;
  size_t unknown = 0;  // operators left out because nobody knows a size
  std::vector<OpId> unknown_ops;
};

/// `bytes`: how large a blob is. A blob's device is its name scope's.
CommCost CommunicationOf(const Net& net, const ParallelOptions& options,
                         const std::function<std::optional<int64_t>(Symbol)>& bytes);

/// Sizes of dense parameters from the fills of the init net (4 bytes an element), of their gradients, and of
/// what the net concatenates of these.
std::function<std::optional<int64_t>(Symbol)> DenseBytes(const Net& init, const Net& net,
                                                         std::span<const ParamGradient> gradients);

struct Link {
  double seconds_per_message = 5e-6;
  double bytes_per_second = 1e10;
};
/// One collective after the other, nothing hidden behind computation: an upper bound.
double SecondsOf(const CommCost& cost, const Link& local, const Link& network);

}  // namespace weft
