// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The job that builds a scene: what the net still needs to have worked out, then the layout scope by scope,
// then the records. The model must outlive it.
#pragma once

#include <memory>

#include "inspector/build/net_model.h"

namespace weft {

std::unique_ptr<SceneJob> MakeSceneJob(NetModel& model, NetId net, ViewOptions options);

}  // namespace weft
