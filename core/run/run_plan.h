// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The serial plan interpreter (semantics 5.3). Steps run one after the other in one thread: concurrent
// substeps and instances in their order, once each per iteration of their step; what reports while others run
// (run_every_ms, report_net) runs once, after them. Each is an order that Caffe2's threads may take, too, but
// a plan whose substeps wait for one another does not end.
#pragma once

#include "core/base/result.h"
#include "core/ir/plan.h"
#include "core/run/workspace.h"

namespace weft {

/// Runs all steps of the plan. Nets that the workspace has already under the same name are made anew. Errors:
/// kNameConflict (two nets of one name), kNotFound (a step's net or its should_stop_blob), kInvalidArgument
/// (a step that contradicts itself), and those of nets; the message starts with the path of steps to the
/// error.
Result<void> RunPlan(const Plan& plan, Workspace& workspace);

}  // namespace weft
