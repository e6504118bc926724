// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Renaming blobs in one operator, as Clone does it: inputs, outputs, control inputs, and the nets and text
// arguments inside it that name the same blobs. Argument lists of operators without nets stay shared.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/base/symbol_map.h"
#include "core/ir/names.h"
#include "core/ir/net.h"
#include "core/ssa/nested.h"

namespace weft {

struct BlobRename {
  Symbol from, to;
  friend bool operator==(const BlobRename&, const BlobRename&) = default;
};

class BlobMap {
 public:
  BlobMap(const SymbolTable& table, size_t expected) : to_(table, expected, kNoSymbol) {}
  /// Errors: kInvalidArgument when one blob is given two names.
  static Result<BlobMap> Make(const SymbolTable& table, std::span<const BlobRename> renames);

  bool has(Symbol from) const { return to_.Get(from).id != 0; }
  void Set(Symbol from, Symbol to) { to_[from] = to; }
  /// The new name, or `from` itself.
  Symbol operator()(Symbol from) const {
    const Symbol to = to_.Get(from);
    return to ? to : from;
  }
  template <typename List>
  void Apply(List& list) const {
    for (Symbol& name : list) name = (*this)(name);
  }

 private:
  SymbolMap<Symbol> to_;
};

struct RenameContext {
  const SymbolTablePtr& symbols;
  const BlobMap& map;
  const NestingTypes& nesting;
  NameRegistry* registry = nullptr;  // makes the names of nested nets unique, as Caffe2 does
  bool suffix_nested = true;         // nested nets are clones: "<name>_remapped", "cloned_sub_net"
};

/// Renames in `op`, and in the nets inside it that share or mirror its blobs: then_net, else_net, loop_net,
/// cond_net; for RecurrentNetwork and its gradient every "...step_net", the text lists, `timestep`, and both
/// names of each "BLOB.rename", which says what BLOB is called by now. A Do's net is private and stays.
/// Errors: kControlFlow when an argument that must hold a net holds none.
Result<void> RenameInOp(const RenameContext& context, Op& op);

/// The text arguments of a RecurrentNetwork (or its gradient) that name blobs, renamed.
ArgList RenameRecurrentTexts(SymbolTable& symbols, const ArgList& args,
                             const std::function<Symbol(Symbol)>& rename);

/// The same for a whole net: its operators and external lists, not its name.
Result<void> RenameInNet(const RenameContext& context, Net& net);

}  // namespace weft
