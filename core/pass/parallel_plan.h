// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How the nets of a data parallel model are run, as a plan.
#pragma once

#include "core/ir/plan.h"
#include "core/pass/data_parallel.h"

namespace weft {

struct Schedule {
  int64_t iterations = 1;  // of the training net, in all; with BMUF in each block; with `accumulate` updates
  int64_t blocks = 1;      // BMUF
};

/// Step "init": the barrier's common world, init, global_init, each once. Step "barrier", once however often
/// the training net runs (B45). Step "warmup". Step "train".
/// Errors: kInvalidArgument for a count below 1; those of MakeStep.
Result<Plan> PlanOf(const ParallelNets& nets, const Schedule& schedule);

}  // namespace weft
