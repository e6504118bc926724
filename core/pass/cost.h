// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a net whose shapes are known costs: operations and traffic of each operator and of each name scope,
// parameters, and how many bytes are live at once when each value is dropped after its last reader. All are
// Dims of the table that the shapes are over: formulas when extents are symbols.
#pragma once

#include <string>
#include <vector>

#include "core/pass/live_bytes.h"
#include "core/pass/shapes.h"

namespace weft {

struct CostSum {
  OpCost cost;
  size_t ops = 0;
  size_t unknown = 0;  // of them, those whose cost is not known: they are left out of the sums
  Dim parameters = 0;  // elements, each parameter counted once
};

struct ScopeCost {
  std::string scope;  // "" for names without one, "gpu_0/", "gpu_0/res1/"
  CostSum sum;        // with that of the scopes inside
};

struct NetCost {
  std::vector<OpCost> ops;        // by operator, with the nets inside it: branches and loop bodies once,
                                  // steps of a RecurrentNetwork each
  std::vector<Dim> parameters;    // by operator: elements of the parameters that it reads
  std::vector<ScopeCost> scopes;  // by first appearance
  CostSum total;
  Dim parameter_bytes = 0;
  // Elements and bytes of what counts as parameter but is only kept up to date: every operator that reads it
  // as it comes also overwrites it. Momentum, counters, running statistics. In no other sum.
  Dim state = 0, state_bytes = 0;
  LiveBytes live;
};

/// NetCost::ops alone. What an operator hands to the nets inside it is read and written there.
std::vector<OpCost> OpCosts(const NetShapes& shapes, ShapeTable& table);

/// `params`: blobs from outside that are parameters; what else comes from outside is input.
NetCost CostOf(const Net& net, const NetShapes& shapes, std::span<const Symbol> params, ShapeTable& table);

}  // namespace weft
