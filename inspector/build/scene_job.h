// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The job that builds a scene: what the net still needs to have worked out, then the layout scope by scope,
// then the records. The model must outlive it.
#pragma once

#include <memory>

#include "inspector/build/inner_net.h"

namespace weft {

/// `shown`: the outermost net, then those to be drawn in boxes, outer before inner, in the order of their
/// ops.
std::unique_ptr<SceneJob> MakeSceneJob(NetModel& model, NetId net, ViewOptions options,
                                       std::vector<ShownNet> shown);

}  // namespace weft
