// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a data parallel net moves between devices and between machines, operator by operator: counted from the
// net and the sizes of its blobs, for any number of machines without them. Pure, linear in the net.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/pass/data_parallel.h"
#include "core/pass/shapes.h"
#include "core/ssa/ssa.h"

namespace weft {

/// One exchange of an operator: among devices of a machine, or among machines.
struct Exchange {
  enum Kind : uint8_t { kAllReduce, kReduce, kBroadcast, kAllGather, kSend };  // kSend: `ranks` - 1 in turn
  Kind kind = kSend;
  int64_t ranks = 1;  // that take part; nothing moves when there is one
  int64_t bytes = 0;  // of what each has; kSend: of all together

  /// Sent by all ranks together. An all-reduce in a ring passes each part on twice but for one step.
  int64_t SentByAll() const;
  /// One after the other in a ring.
  int64_t Messages() const;
};

struct CommOp {
  OpId op = kNoOp;
  Exchange local{}, network{};
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

/// How many bytes an operator's input number `input` is.
using BytesOfInput = std::function<std::optional<int64_t>(OpId op, size_t input)>;
/// How many bytes a blob is, whoever reads it.
using BytesOfBlob = std::function<std::optional<int64_t>(Symbol)>;

/// A blob's device is its name scope's.
CommCost CommunicationOf(const Net& net, const ParallelOptions& options, const BytesOfInput& bytes);
CommCost CommunicationOf(const Net& net, const ParallelOptions& options, const BytesOfBlob& bytes);

/// Sizes of dense parameters from the fills of the init net (4 bytes an element), of their gradients, and of
/// what the net concatenates of these.
BytesOfBlob DenseBytes(const Net& init, const Net& net, std::span<const ParamGradient> gradients);

/// From inferred shapes; a gradient of unknown shape is as large as what it is of. All must outlive the
/// function.
BytesOfInput BytesByShape(const Net& net, const NetShapes& shapes, const ShapeTable& table);

}  // namespace weft
