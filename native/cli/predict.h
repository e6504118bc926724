// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What weft parallel predicts of the nets that it makes: bytes by operator, and the time of a step on more
// devices than there are. Values; no state.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/pass/step_time.h"
#include "native/cli/terminal.h"

namespace weft::cli {

/// Shapes of what the model reads from outside, "data=32,3,224,224", of one replica.
using Inputs = std::vector<std::string>;

struct Counted {
  CommCost moved;
  std::vector<Work> work;  // by operator; empty without inputs
};
/// Of one of the nets that are made. Without inputs only what does not depend on them is known. Errors: an
/// input that can't be read.
Result<Counted> Count(const ParallelNets& nets, const Net& net, const ParallelOptions& options,
                      const Inputs& inputs);

/// A number of devices in all, and a step there.
struct RankRow {
  int64_t machines = 1, devices = 1;  // devices of each machine
  StepTime time{};
  int64_t ranks() const { return machines * devices; }
};
struct RankRequest {
  std::vector<int64_t> ranks;
  bool asked = false;  // else ranks that the options do not allow are left out
  Hardware hardware;
  int64_t iterations = 1;  // of a block, with BMUF
};
using Planner = std::function<Result<ParallelNets>(const ParallelOptions&)>;
/// `ranks` devices are machines with all of options.devices, or one machine with the first of them; rounded
/// up to whole machines.
Result<std::vector<RankRow>> PredictRanks(const Planner& plan, const ParallelOptions& options,
                                          const RankRequest& request, const Inputs& inputs);

/// "ops" and "by_type" of what moves, and its totals.
void WriteMoved(JsonWriter& json, const Net& net, const CommCost& moved, const Hardware& hardware);
void WriteRanks(JsonWriter& json, const std::vector<RankRow>& rows);
void PrintRanks(Stream& out, const std::vector<RankRow>& rows);

}  // namespace weft::cli
