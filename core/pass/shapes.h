// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and types of everything in a net, from those of its inputs: one walk in the order of the operators,
// through nets inside If, While, Do and RecurrentNetwork. Extents may be symbols; what depends on data says
// so. A net is never refused: what does not fit is a finding, what can't be known names the input or operator
// that is missing. The results are values over one ShapeTable, which must outlive them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/check/diagnostic.h"
#include "core/ops/op_set.h"
#include "core/ops/shape_context.h"
#include "core/ops/shape_rule.h"
#include "core/ssa/ssa.h"

namespace weft {

/// What is known of a blob before a net runs.
struct GivenBlob {
  Symbol blob;
  TensorInfo info;
};

/// An operator that does not say what its outputs are.
struct SilentOp {
  OpId op;
  Symbol type;
  std::string path;    // as in Diagnostic
  std::string reason;  // "unknown operator", "what is in the database", ...
};

struct NetShapes {
  Ssa ssa;                             // with what nested nets read and write
  std::vector<TensorInfo> values;      // by ValueId
  std::vector<OpCost> costs;           // by operator, without the nets inside it
  std::vector<Diagnostic> findings;    // wrong shapes; what is missing, as notes
  std::vector<Symbol> missing_inputs;  // blobs from outside that are read and about which too little is known
  std::vector<SilentOp> silent_ops;    // whose outputs stay unknown although their inputs are known

  struct Nested {
    OpId op;
    std::string_view arg;  // "then_net"
    NetPtr net;
    std::unique_ptr<NetShapes> shapes;
    Dim times = 1;  // how often it runs: the steps of a RecurrentNetwork; 1 for others, loops too
  };
  std::vector<Nested> nested;  // by operator, in the order of its arguments

  explicit NetShapes(const Net& net) : ssa(net, {.nested = NestedNets::kReadsAndWrites}) {}
  /// Every value is known, be it that it depends on data.
  bool whole() const { return missing_inputs.empty() && silent_ops.empty() && unknown_values == 0; }
  size_t unknown_values = 0;  // written by operators, at any depth
};

struct ShapeOptions {
  const OpSet* ops = &StandardOps();
  size_t per_code = 1000;  // findings kept of one kind
};

/// Shapes of `net`; `given` and the names in it belong to its symbol table.
NetShapes InferShapes(const Net& net, std::span<const GivenBlob> given, ShapeTable& table,
                      const ShapeOptions& options = {});

/// The first finding that is an error, or null.
const Diagnostic* FirstError(const NetShapes& shapes);

/// Reads "data=8,3,224,224:float": a blob, its extents (numbers or symbols, none for a scalar) and its type
/// (float when not given); "queue=object" is no tensor. Errors: kInvalidArgument.
Result<GivenBlob> ParseGivenBlob(std::string_view text, SymbolTable& symbols, ShapeTable& table);

/// The last values of all blobs that an init net writes, to be given to the net that runs after it.
std::vector<GivenBlob> FinalShapes(const NetShapes& shapes);

}  // namespace weft
