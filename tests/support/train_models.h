// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The forward part of a training net of tests/data/models, as a model for one device.
#pragma once

#include <string_view>

#include "core/pass/data_parallel.h"

namespace weft::test {

/// "resnet50_train": what models/resnet50_train.pb does before its backward pass, with its init net, its
/// losses and its parameters (computed ones are those that the net writes).
SingleModel ForwardModel(std::string_view name);

/// That model for many devices, trained by plain SGD.
Result<ParallelNets> Replicate(const SingleModel& model, const ParallelOptions& options);

}  // namespace weft::test
