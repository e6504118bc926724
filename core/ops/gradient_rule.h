// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The one-line gradient rules. A rule is statements separated by ';':
//
//   ReluGradient(O0, GO0) -> GI0                     one gradient operator
//   Scale(GO0) -> GI0 {scale=2.0} !args              arguments set; forward arguments or engine not copied
//   (!args !engine) FCGradient(I0, I1, GO0) -> GI1, GI2, GI0         any order MergeGradient(I*, GO0) -> GI*
//   all inputs, all their gradients Concat(GO*) -> GI0, '_{GI0}_dims'                a name of its own, built
//   around others XGradient(GO0, I2) -> GI0.values; GI0.indices = I1    half of a sparse gradient made, half
//   passed through GI0 = GO0                                        pass-through
//
// I input, O output, GO gradient of an output, GI gradient of an input.
#pragma once

#include "core/base/result.h"
#include "core/ops/gradient_context.h"
#include "core/ops/op_def.h"

namespace weft {

/// Runs the rule of `def` (its line or its function) on the operator that `context` holds. Policies other
/// than kRule and kPassThrough are the planner's business and never get here. Errors: kMissingGradient with
/// Caffe2's text; whatever a gradient_fn returns.
Result<void> RunGradientRule(const OpDef& def, GradientContext& context);

/// Checks that a rule's line can be read: for tests. Errors: kParse with the column.
Result<void> CheckGradientRule(std::string_view rule);

}  // namespace weft
