// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// An OpSet is a set of operators, built from families and passed to whoever needs one; it is never a global,
// so that toy operators can test the planner. Immutable once built: share it between threads.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/symbol_map.h"
#include "core/ops/op_def.h"

namespace weft {

class OpSet {
 public:
  /// REQUIRES: no two rows of one name, and rows that can be read: those of Weft and of its tests.
  explicit OpSet(std::span<const OpFamily> families);
  /// The same of rows that a user brings along, beside StandardFamilies() or not. The rows must outlive the
  /// set. Errors: kNameConflict for a name twice; kInvalidArgument or kParse, naming the operator, for a
  /// column or a rule that can't be read and for a gradient rule that its policy does not go with.
  static Result<OpSet> Create(std::span<const OpFamily> families);

  /// The operator called `type`, or null. Engine variants (Conv with engine EIGEN) share the row of their
  /// operator.
  const OpDef* Find(std::string_view type) const;
  /// All rows, sorted by name.
  std::span<const OpDef* const> all() const { return sorted_; }
  /// The up to three nearest names, for "did you mean".
  std::vector<std::string_view> Nearest(std::string_view type) const;

 private:
  std::vector<const OpDef*> sorted_;
  std::vector<uint32_t> slots_;  // open addressing over sorted_, index + 1
};

/// Every operator that Weft knows. Built on first use; read-only.
const OpSet& StandardOps();

/// Finds rows by Symbol, asking the OpSet once per name: for loops over a net.
class OpLookup {
 public:
  OpLookup(const OpSet& ops, const SymbolTable& table)
      : ops_(ops), table_(table), found_(table, /*expected=*/0, &kNotAsked) {}
  const OpDef* operator()(Symbol type) {
    const OpDef*& found = found_[type];
    if (found == &kNotAsked) found = ops_.Find(table_.Str(type));
    return found;
  }

 private:
  static constexpr OpDef kNotAsked{};

  const OpSet& ops_;
  const SymbolTable& table_;
  SymbolMap<const OpDef*> found_;
};

}  // namespace weft
