// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Devices, optimizers and the schedule of a data parallel run, as a person writes them.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/pass/bmuf.h"
#include "core/pass/optimizer.h"

namespace weft {

struct DeviceList {
  int32_t type = kCpu;
  std::vector<int> ids;
};
/// "cpu:0-3", "cuda:0,2", "cuda:0-3,8". Errors: kInvalidArgument.
Result<DeviceList> ParseDeviceList(std::string_view text);

/// "KIND" or "KIND:name=value,...", KIND one of sgd, adagrad, adam, rmsprop, adadelta, ftrl. Names are those
/// of the optimizer's options (base_lr, momentum, nesterov, epsilon, ...) and `policy`; what else there is
/// goes to the learning rate operator (stepsize=10, gamma=0.5). Errors: kInvalidArgument.
Result<Optimizer> ParseOptimizer(std::string_view text);

/// "nesterov,warmup=3,momentum=0.5,rate=1,master=0,reset_momentum,sync=BLOB", each once at most but sync; ""
/// is all defaults. Fills all but `parallel`. Errors: kInvalidArgument.
Result<void> ParseBmuf(std::string_view text, BmufOptions& options);

}  // namespace weft
