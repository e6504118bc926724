// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients that share blobs where the graph of operators keeps them apart, whatever order an executor runs
// it in and whatever their sizes: Caffe2's share_grad_blobs (semantics.md 6.6). With sizes, for one order,
// memory_reuse.h does better. Pure.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/ir/net.h"

namespace weft {

struct ShareGradientsOptions {
  std::string_view scope;      // "gpu_0/": gradients in it ("..._grad", parts that are summed up too, B51)
  std::vector<Symbol> losses;  // where the backward pass starts
  std::function<bool(Symbol)> keep;  // gradients that stay as they are: those of parameters
};

/// Gradients of one scope that are passed from operator to operator share blobs named "<scope>__m0_shared",
/// ... Each keeps its own name when it shares with none. Operators run in any order that their blobs allow.
Net ShareGradients(Net net, const ShareGradientsOptions& options);

}  // namespace weft
