// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nets inside operators: which operators hold nets whose blobs are those of the net around them, and what
// such an operator reads and writes through them. If, AsyncIf and While run their nets in the same workspace.
// A RecurrentNetwork's step net has blobs of its own, tied to outer ones by text arguments. A Do's net is
// private: only its outer inputs and outputs are seen from outside.
#pragma once

#include <span>
#include <vector>

#include "core/ir/net.h"

namespace weft {

enum class Nesting : uint8_t { kNone, kSameWorkspace, kRecurrent, kPrivate };

/// The operator types that hold nets, as symbols of one table: asking is an integer comparison.
class NestingTypes {
 public:
  explicit NestingTypes(const SymbolTable& table);
  Nesting Of(Symbol type) const;
  /// False when no net over this table can hold such an operator.
  bool any() const { return any_; }

 private:
  static constexpr int kTypes = 6;
  Symbol types_[kTypes];
  bool any_ = false;
};

/// The arguments of `op` that are nets Clone descends into: then_net, else_net of If and AsyncIf; cond_net,
/// loop_net of While (in the order in which they run); "...step_net" of RecurrentNetwork and its gradient.
bool IsNestedNetArg(Nesting nesting, std::string_view arg_name);

struct NestedUses {
  std::vector<Symbol> reads;   // outer blobs that the nets read before they write them
  std::vector<Symbol> writes;  // blobs that they write
};
/// What the nets inside `op` do to the workspace that they share with it, at any depth, each blob once, by
/// first appearance. Empty unless `op` is an If, AsyncIf or While. A blob written by one branch counts as
/// written.
NestedUses UsesOfNestedNets(const Net& net, const Op& op, const NestingTypes& types);

}  // namespace weft
