// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradient accumulation: the training net only adds its gradients to sums, and a second net, run after every
// so many iterations, reduces the sums over devices and machines, updates the parameters and clears the sums.
// What a batch too large for a device would have given, and one reduction where there were many.
#pragma once

#include <vector>

#include "core/pass/collectives.h"

namespace weft::internal {

/// Makes a sum for the gradient of each parameter, zero at first: model.gradients are the sums from now on.
/// Gives the gradients of one iteration. Errors: kUnsupported for a sparse one.
Result<std::vector<ParamGradient>> MakeSums(ModelBuilder& model, const ReplicaScopes& scopes);

/// Appends what adds the gradients of this iteration. All that is appended later belongs to the update net.
void AddToSums(ModelBuilder& model, const ReplicaScopes& scopes, const std::vector<ParamGradient>& gradients);

/// Takes what stands behind AddToSums out of the training net, as a net that clears the sums at its end:
/// those of all devices, also where a shared model updates only one.
Net TakeUpdateNet(ModelBuilder& model, const ReplicaScopes& scopes,
                  const std::vector<ParamGradient>& gradients);

}  // namespace weft::internal
