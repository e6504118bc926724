// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Names last. While a backward pass is planned, every output of a generated operator is a definition (DefId)
// and every input knows which definition it means; the Symbols in the operators are only the names that
// Caffe2 would give. Here each definition gets that name unless taking it would overwrite a blob of the
// forward net (B13) or another definition that is still to be read (B56), a gradient given by the caller
// included; then it gets "<name>_auto_<k>".
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/ir/net.h"
#include "core/ops/op_set.h"

namespace weft::internal {

using DefId = uint32_t;
inline constexpr DefId kNoDef = UINT32_MAX;  // a blob of the forward net, or nothing

/// The generated operators as a straight-line program over definitions. Definitions 0 .. given.size()-1 are
/// the caller's gradients; then come the outputs of the operators, in order.
struct GeneratedProgram {
  std::vector<Op> ops;
  std::vector<DefId> first_output;    // per op: the definition of its output 0
  std::vector<uint32_t> first_input;  // per op: where its inputs begin in `input_defs`
  std::vector<DefId> input_defs;
  std::vector<Symbol> given;  // names of the caller's gradients

  DefId num_defs() const { return next_def; }
  DefId next_def = 0;
};

/// Decides the names in place. `is_forward`: names that the forward net uses. `results`: definitions that the
/// caller will read afterwards; they are never overwritten. `faults`: GradientFault bits. Returns the name of
/// each definition.
std::vector<Symbol> DecideNames(GeneratedProgram& program, const Net& net,
                                const std::function<bool(Symbol)>& is_forward,
                                const std::vector<DefId>& results, const OpSet& ops, uint32_t faults);

/// Removes operators none of whose outputs is a result or is read by a kept operator. Returns, per old op,
/// whether it was kept; definitions are renumbered in `program` and `results`.
std::vector<bool> DropUnused(GeneratedProgram& program, std::vector<DefId>& results);

}  // namespace weft::internal
