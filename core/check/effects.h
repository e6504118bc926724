// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What running a net does to its workspace, by name: the blobs it reads from outside and the blobs it writes.
// Nets inside control operators count with the operator that runs them. Findings about several nets (init and
// predict, plans, concurrent steps) are made from these; values, linear to compute.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/ir/net.h"
#include "core/ssa/nested.h"
#include "core/ssa/ssa.h"

namespace weft {

/// Nets nest at most this deep; what is deeper is not entered.
inline constexpr int kMaxNesting = 100;

/// One blob and the operator of this net that touches it first (for reads: reads it before any write).
struct Effect {
  Symbol blob;
  OpId op;
};

struct NetEffects {
  std::vector<Effect> reads;   // from outside, in order of first read, each blob once
  std::vector<Effect> writes;  // in order of first write, each blob once
};

/// True when `op` holds a net. Cheap: no argument is decoded.
bool HoldsNet(const Op& op);

/// Calls `visit` with each net inside `op` and the name of its place: "loop_net", "nets[1]". The net lives
/// during the call.
void ForEachNestedNet(const Net& net, const Op& op,
                      const std::function<void(const Net& nested, std::string_view place)>& visit);

/// What `op`, whose nested nets have these effects, adds to `effects` of its own net. `seen` starts as zeros:
/// bit 1 read from outside, bit 2 written.
void AddEffects(const Op& op, OpId id, const std::vector<NetEffects>& nested, SymbolMap<uint8_t>& seen,
                NetEffects& effects);

/// The effects of a whole net. Nets nested deeper than kMaxNesting are left out.
NetEffects EffectsOf(const Net& net);

/// The part of a nested net's effects that the surrounding workspace sees: of a Do only what it lists itself,
/// of a RecurrentNetwork what its steps read; everything of the others, whatever they are.
NetEffects Visible(NetEffects effects, Nesting nesting);

}  // namespace weft
