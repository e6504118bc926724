// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a step of a data parallel net takes on hardware that one does not have: operators by a roofline
// (the slower of computing and of moving memory), exchanges by the alpha-beta model (a time for each message,
// and one for each byte: Hockney, "The communication challenge for MPP", 1994). Costs of collectives as in
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", 2005. Not
// counted: starting operators, adding up what is received, contention, waiting for the slowest. Pure, linear
// in the net.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/pass/comm_cost.h"

namespace weft {

/// Alpha and beta.
struct Link {
  double latency = 5e-6;    // seconds for a message
  double bandwidth = 5e10;  // bytes a second, each way
  double SecondsOf(double messages, double bytes) const { return messages * latency + bytes / bandwidth; }
};

struct Hardware {
  // The defaults are round numbers of a machine with eight GPUs of 2017 to 2020, their links, and a network
  // of 100 Gbit/s.
  double flops = 1e13;   // a second, that a device sustains
  double memory = 8e11;  // bytes a second, read and written
  Link local{};          // between devices of a machine
  Link network{2e-5, 1.25e10};
  // How ranks exchange: in a ring, which needs many messages; in a tree (an all-reduce by halving and
  // doubling, of a power of two); or, as libraries do, in whichever is faster.
  enum Algorithm : uint8_t { kFastest, kRing, kTree } algorithm = kFastest;
};

/// "flops=1e13,memory=8e11,latency=5e-6,bandwidth=5e10,net_latency=2e-5,net_bandwidth=1.25e10,algorithm=ring",
/// each once at most, "" is all defaults. Errors: kInvalidArgument.
Result<Hardware> ParseHardware(std::string_view text);

/// With p ranks and n bytes, in a ring, or in a tree with lg p rounded up:
///   all-reduce   2 (p-1) alpha + 2 (p-1)/p n beta     2 lg p alpha + 2 (p-1)/p n beta
///   reduce, broadcast   (p-1 + lg p) alpha + 2 (p-1)/p n beta     lg p (alpha + n beta)
///   all-gather   (p-1) (alpha + n beta)      lg p alpha + (p-1) n beta
/// Sends are one after the other.
double SecondsOf(const Exchange& exchange, const Link& link, Hardware::Algorithm algorithm);
double SecondsOf(const CommOp& op, const Hardware& hardware);

struct StepTime {
  double step = 0;
  double compute = 0;        // what the busiest device computes
  double communication = 0;  // all exchanges, one after the other
  double hidden = 0;         // of it, while the devices compute
  size_t unknown = 0;        // operators without a known cost, which count as nothing
};

/// What an operator does; -1: unknown.
struct Work {
  double flops = 0, bytes = 0;
};

/// A step of `net`, whose operators do `work` (by operator; empty: unknown) and move `moved`. Each device
/// computes one operator at a time, and the links serve one exchange at a time beside that; each takes, of
/// what waits for nothing, the first in the net. In a net of type "simple" all is one after the other. n log
/// n.
StepTime PredictStep(const Net& net, const ParallelOptions& options, std::span<const Work> work,
                     const CommCost& moved, const Hardware& hardware);

/// The work of a net's operators, symbols in shapes counting as 64.
std::vector<Work> WorkOf(const NetShapes& shapes, ShapeTable& table);

}  // namespace weft
