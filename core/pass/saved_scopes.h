// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What workspaces saved on a stack hold on to: a Do's workspace is bound to the blobs around it, and its
// gradient, which takes it off the stack, may read any of them without listing it (Caffe2 lists those that
// gradient operators need by value, not those whose shape a fill copies). So these blobs must live as long as
// the stack is in use. Pure, linear in the net.
#pragma once

#include <cstdint>
#include <functional>

#include "core/ir/net.h"

namespace weft {

/// Calls `hold` with each blob that operators holding nets read or write, and the number of the last operator
/// that uses a stack of workspaces (what CreateScope makes) which one of them uses, too.
void ForEachHeldBlob(const Net& net, const std::function<void(Symbol blob, int32_t last)>& hold);

}  // namespace weft
