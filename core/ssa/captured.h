// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the nets inside operators take from the net around them: each blob that such a net reads from outside,
// or writes for others, with the outer blob behind it and the version of it that the operator sees. Names are
// the same in an If, AsyncIf or While; a Do binds its blobs, a RecurrentNetwork links its steps'. Pure,
// linear in the nets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ssa/ssa.h"

namespace weft {

struct CapturedBlob {
  Symbol inner;                     // its name inside
  Symbol outer;                     // its name in the net around the operator
  std::optional<uint32_t> version;  // of `outer` when the operator begins; empty when it is not there yet
  std::optional<uint32_t> after;    // of `outer` once it ran, where the operator lists it as an output
  bool reads = false, writes = false;
};

struct NestedNetInfo {
  std::string path;  // "4.loop_net/0.then_net", as in Diagnostic
  OpId op;           // in the net around it
  NetPtr net;
  std::vector<CapturedBlob> captured;  // by first appearance inside
};

/// All nets inside the operators of `net`, outer before inner, in the order of operators and arguments. Nets
/// nested deeper than 100 are left out.
std::vector<NestedNetInfo> FindNestedNets(const Net& net);

}  // namespace weft
