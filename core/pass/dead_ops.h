// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators whose results nobody needs, taken out. Pure, linear in the net.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"

namespace weft {

struct DeadOpsOptions {
  std::vector<Symbol> keep{};  // wanted besides the external outputs
};

/// The net without operators that neither its external outputs, nor `keep`, nor blobs from outside that it
/// writes (parameters that it updates) need. Operators that do something besides writing blobs stay: unknown
/// ones, those without outputs, stateful, collective and host-only ones. A Free stays when what it frees is
/// still made. External lists stay as they are. Errors: kInvalidArgument when nothing is wanted at all;
/// kNotFound for a blob of `keep` that the net does not define.
Result<Net> RemoveDeadOps(const Net& net, const OpSet& ops, const DeadOpsOptions& options = {});

}  // namespace weft
