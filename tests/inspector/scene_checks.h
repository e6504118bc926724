// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every scene, whatever the net: used by the inspector's tests on real and generated nets.
#pragma once

#include <string>

#include "inspector/session.h"

namespace weft::test {

/// Builds a scene to the end; the test program stops when there is an error.
Scene BuildScene(Session& session, NetId net, const ViewOptions& options);
/// Opens a file under tests/data and returns its first net.
NetId OpenModel(Session& session, const std::string& name);
/// All nets inside the operators of a net, at any depth.
std::vector<NetId> NetsInside(Session& session, NetId net);
/// The node that shows an op, null when none does.
const SceneNode* NodeOf(const SceneView& view, OpId op);

/// Boxes that overlap, chips outside their box, boxes outside their group, wrong indices: the first fault in
/// words, or "".
std::string FaultOfBoxes(const SceneView& view);
/// Edges that do not lead from the writer's box to a reader's box.
std::string FaultOfEdges(const SceneView& view, const Net& net, const Ssa& ssa);

}  // namespace weft::test
