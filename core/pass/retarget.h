// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A net moved to another device as a whole: Caffe2's RunAllOnGPU, and back. Pure, linear in the net.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/ir/net.h"

namespace weft {

struct RetargetOptions {
  DevicePtr device{};                   // null: the net says nothing, which is the CPU
  std::optional<std::string> engine{};  // of every operator: "CUDNN"; "" takes the engine away
  /// Operators that name a device themselves move too. Caffe2 leaves them where they are, since an operator's
  /// own device wins over its net's. An operator that says that it must be on the CPU ("device_type_override:
  /// cpu" in its extra_info) stays.
  bool all_ops = false;
};

/// The net with its device set, and the nets inside it, at any depth: those of RecurrentNetwork and its
/// gradient (Caffe2 moves step_net only), If, AsyncIf, While and Do.
Net Retarget(const Net& net, const RetargetOptions& options);

}  // namespace weft
