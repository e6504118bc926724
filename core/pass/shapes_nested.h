// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of shape inference that know nets inside operators. Internal to core/pass.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/ops/shape_program.h"
#include "core/pass/shapes.h"

namespace weft::internal {

/// Rules by operator type, compiled when first met.
class ShapePrograms {
 public:
  ShapePrograms(const OpSet& ops, const SymbolTable& symbols) : lookup_(ops, symbols) {}
  /// The program and the row of a type; null when the operator is unknown.
  const ShapeProgram* Find(Symbol type, const OpDef*& def);

 private:
  OpLookup lookup_;
  std::vector<std::unique_ptr<ShapeProgram>> programs_;  // by symbol
};

/// What one inference keeps over all nets that it walks.
struct Inference {
  ShapeTable& table;
  ShapePrograms programs;
  Findings findings;
  int depth = 0;

  Inference(ShapeTable& shapes, const OpSet& ops, const SymbolTable& symbols, size_t per_code)
      : table(shapes), programs(ops, symbols), findings(per_code) {}

  NetShapes Walk(const Net& net, std::span<const GivenBlob> given, std::string path);
};

/// Infers the nets inside operator `op` and sets its outputs, and what the nets write, in `out`.
void InferNested(Inference& inference, const Net& net, OpId op, const std::string& path, NetShapes& out);

/// Adds what `shapes` lacks.
void ReportMissing(const Net& net, const NetShapes& shapes, Findings& findings);

}  // namespace weft::internal
