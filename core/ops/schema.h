// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Caffe2's OpSchema::Verify: does an operator keep to its row of the table? The checks in Caffe2's order, in
// its words (semantics section 4). Stateless.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/base/symbol_map.h"
#include "core/ir/net.h"
#include "core/ops/op_def.h"

namespace weft {

/// The first thing wrong with `op`, an operator of `net` whose row is `def`. Errors: kSchema with Caffe2's
/// message; `blob` is set for in-place breaches. Cheap for operators that are right.
Result<void> VerifySchema(const OpDef& def, const Net& net, const Op& op);

/// VerifySchema for operator after operator of one net: one that is like an operator that passed, but for
/// names, passes unread.
class SchemaVerifier {
 public:
  explicit SchemaVerifier(const Net& net) : net_(net), passed_(*net.symbols, /*expected=*/0) {}
  /// REQUIRES: operators of one type are always given the same row.
  Result<void> operator()(const OpDef& def, const Op& op);

 private:
  // All that a schema looks at.
  struct Likeness {
    uint32_t inputs = 0, outputs = 0;
    uint64_t in_place = 0;  // a bit for each input with each output: whether they are one blob
    ArgList args;
    bool is_set = false;
  };
  const Net& net_;
  SymbolMap<Likeness> passed_;  // by type: the one that passed last
};

/// Everything wrong with it, in the same order; empty when nothing is.
std::vector<Error> SchemaErrors(const OpDef& def, const Net& net, const Op& op);

}  // namespace weft
