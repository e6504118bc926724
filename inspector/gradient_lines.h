// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a gradient rule says about one operator, for people: gradient_rule.h has the rules' own notation.
#pragma once

#include <string>
#include <vector>

#include "core/ir/net.h"
#include "core/ops/op_def.h"

namespace weft {

struct GradientLine {
  std::string when;       // "y_grad is sparse"; empty where it always holds
  std::string text;       // "ReluGradient(y, y_grad) -> x_grad"
  bool sentence = false;  // the text is one: "no gradient: the flow stops here"
};

/// What asking for the gradient of `op`, an operator of `net`, gives: a line per statement of its rule, with
/// the blobs of the operator and their gradients ("x_grad") put in. What its arguments, inputs and outputs
/// decide is decided; a condition is what each plan decides. Where it says nothing, gradients are all there,
/// dense, and wanted.
std::vector<GradientLine> GradientLines(const OpDef& def, const Net& net, const Op& op);

}  // namespace weft
