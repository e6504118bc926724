// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and costs of a net as text for people, and as JSON for programs.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/pass/cost.h"
#include "core/ssa/print.h"

namespace weft {

/// A line for each value that an operator writes, nets inside operators below it; then totals, by scope too.
/// Findings are not shown.
void PrintShapes(const Net& net, const NetShapes& shapes, const NetCost& cost, const ShapeTable& table,
                 const EmitPiece& emit);
std::string ShapesListing(const Net& net, const NetShapes& shapes, const NetCost& cost,
                          const ShapeTable& table);

/// The members net, whole, blobs, operators, nested (operators of the nets inside, by path), scopes, total,
/// live, peak, missing_inputs, silent_operators and findings of an object. Extents and sums are numbers, or
/// formulas as text; null when they are unknown; extents that depend on data are "?".
void WriteShapes(JsonWriter& json, const Net& net, const NetShapes& shapes, const NetCost& cost,
                 ShapeTable& table);

/// One extent or sum, as there.
void WriteDim(JsonWriter& json, const ShapeTable& table, Dim dim);

}  // namespace weft
