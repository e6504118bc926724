// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ToSsaForm renames blobs so that each is written once. Names seen from outside stay: an external input at
// version 0, an external output at its last version. Where an operator must write in place, its output keeps
// the name of its input, so such a blob is still written more than once. Linear in the net.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"
#include "core/ssa/ssa.h"

namespace weft {

struct SsaFormOptions {
  std::vector<Symbol> keep{};  // like external outputs: their last version keeps the name
  /// An external input that the net writes keeps its name at the last version too: parameters that a training
  /// net updates live on in the next run.
  bool keep_updates = false;
};

struct SsaForm {
  struct Renamed {
    Symbol blob;
    uint32_t version;
    Symbol name;
    friend bool operator==(const Renamed&, const Renamed&) = default;
  };
  Net net;
  std::vector<Renamed>
      renamed;  // values of this net (not of nested ones) with a new name, in order of writing
};

/// A new name is "<blob>_<version>", with more behind it where that is taken by any blob, external name or
/// text argument of the net or its nested nets. Operators that `ops` does not know keep writing in place. An
/// If, While, Do or RecurrentNetwork keeps writing the blob that was there before it, since it may leave it
/// as it was; names inside the nets of If, AsyncIf, While and RecurrentNetwork follow the version that is
/// visible at the op, and the nets of the first three are brought into the same form with all last versions
/// kept. A net in this form comes back unchanged. Errors: kControlFlow for a net argument that holds no net.
Result<SsaForm> ToSsaForm(const Net& net, const OpSet& ops, const SsaFormOptions& options = {});

}  // namespace weft
