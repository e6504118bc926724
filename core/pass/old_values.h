// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A branch or loop may leave a blob as it was, so what was in it before is an input. Pure, linear in the net.
#pragma once

#include "core/ir/net.h"

namespace weft {

/// Each If, AsyncIf and While lists, after its own inputs, those of its outputs that exist before it and that
/// it does not list, so that whoever removes or cuts operators keeps what made them.
Net ListOldValues(Net net);

}  // namespace weft
