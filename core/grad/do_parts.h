// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A Do operator taken apart: which inner name stands for which blob of the net around it.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"

namespace weft::internal {

struct DoParts {
  NetPtr net;
  std::vector<Symbol> inner;            // per binding
  std::vector<Symbol> outer;            // per binding
  std::vector<Symbol> inputs, outputs;  // outer blobs, without the workspace
  Symbol workspace;

  /// The other name of a binding, kNoSymbol when there is none.
  Symbol InnerOf(Symbol outer_name) const;
  Symbol OuterOf(Symbol inner_name) const;
};

enum class Aliases : uint8_t {
  kMerge,   // an outer blob with two inner names: `net` uses the first only
  kRefuse,  // as Caffe2
};

/// Errors: kControlFlow, in Caffe2's words (semantics.md 3.2 step 1), when the operator breaks its contract.
Result<DoParts> TakeApart(const Net& net, const Op& op, Aliases aliases = Aliases::kMerge);

}  // namespace weft::internal
