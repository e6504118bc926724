// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Free operators after the last use of each blob, so that its memory can serve others: Caffe2's
// release_blobs_when_used. Pure, linear in the net.
#pragma once

#include <functional>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"

namespace weft {

struct ReleaseOptions {
  std::vector<Symbol> keep{};                 // never freed, besides external inputs and outputs
  std::function<bool(Symbol)> may_release{};  // when given: only these
};

/// `net` with a Free right after the last operator that uses a blob, on that operator's device (B52: Caffe2
/// gives none). Freed is what the net itself makes and somebody reads; waiting for it by control input and
/// reading it in nets inside operators are uses (B52). Not freed: sources of an Alias, whose memory lives on
/// under the other name; blobs whose first use is a read; blobs that the net frees already; what operators
/// that hold nets share with later ones through workspaces.
Net ReleaseWhenUsed(const Net& net, const ReleaseOptions& options = {});

}  // namespace weft
