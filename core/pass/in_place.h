// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Folding: an operator that may work in place writes onto an input that nobody needs any more. (The way back,
// one name for each value, is ToSsaForm in ssa/form.h.) Pure, linear in the net.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"

namespace weft {

struct FoldOptions {
  std::vector<Symbol> keep{};  // keep their names, besides external inputs and outputs
};

struct FoldedNet {
  Net net;
  struct Renamed {
    Symbol from, to;
  };
  std::vector<Renamed> renamed;  // blobs that are gone, and the blob that their values are in now
};

/// An output goes where an input was when the operator's schema allows it, the operator is the last reader of
/// that input's last value, both are made and used inside the net, on one device, and neither is seen by
/// nets inside operators or waited for by control inputs. Fold nets that are done: a net whose gradient is
/// still to be planned may need what folding overwrites.
FoldedNet FoldInPlace(const Net& net, const OpSet& ops, const FoldOptions& options = {});

}  // namespace weft
