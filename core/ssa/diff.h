// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The difference of two nets by what they compute. Values are compared by how they are made, from external
// inputs on: renamed blobs and reordered independent operators are no difference. One operator changed is one
// difference, not one per operator behind it. Deterministic; linear in the two nets. Stateless.
#pragma once

#include <string>
#include <vector>

#include "core/ir/net.h"
#include "core/ssa/ssa.h"

namespace weft {

struct ArgChange {
  enum Kind : uint8_t { kOnlyInA, kOnlyInB, kChanged };
  Kind kind;
  Symbol name;
  friend bool operator==(const ArgChange&, const ArgChange&) = default;
};

/// The same operator in both nets, but not quite.
struct ChangedOp {
  OpId a, b;
  std::vector<ArgChange> args{};   // in A's order, then those only in B
  std::vector<uint32_t> inputs{};  // inputs, by place, that are other values
  bool outputs = false;            // another number of outputs
  bool device = false;
  bool engine = false;
  bool control_inputs = false;
};

/// One value under two names.
struct RenamedBlob {
  Symbol a, b;
  friend bool operator==(const RenamedBlob&, const RenamedBlob&) = default;
};

struct NetDiff {
  std::vector<OpId> only_a, only_b;
  std::vector<ChangedOp> changed;                      // by A's op
  std::vector<RenamedBlob> renamed;                    // each pair once, in A's order
  std::vector<Symbol> inputs_only_a, inputs_only_b;    // external inputs without a counterpart
  std::vector<Symbol> outputs_only_a, outputs_only_b;  // external outputs without a counterpart
  std::vector<OpId> match_a;                           // A's op -> B's op or kNoOp

  /// Nothing but names and order differs.
  bool same() const {
    return only_a.empty() && only_b.empty() && changed.empty() && inputs_only_a.empty() &&
           inputs_only_b.empty() && outputs_only_a.empty() && outputs_only_b.empty();
  }
};

/// Compares. Names of `b` are interned into A's table, and all symbols in the answer are A's. Operator names,
/// debug info and the gradient mark do not count; a missing device is the net's, or the CPU. External inputs
/// correspond by name; those that do not, by how they are used.
NetDiff DiffNets(const Net& a, const Net& b);

}  // namespace weft
