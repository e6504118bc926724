// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The one-line gradient rules. A rule is statements separated by ';':
//
//   ReluGradient(O0, GO0) -> GI0                         one gradient operator
//   Scale(GO0) -> GI0 {scale=2.0} !args !engine          argument set; the forward ones, engine not copied
//   XGradient(GO0) -> GI0 {pad?=0.0}                     set unless the operator itself sets it
//   FCGradient(I0, I1, GO0) -> GI1, GI2, GI0             any order
//   MaxGradient(O0, GO0, I[:]) -> GI[:]                  all inputs, all their gradients; ranges as in
//   Python:
//                                                        [first:last:step]
//   Concat(GO[:] or 0) -> GI0, '_{GI0}_dims'             a name built around others; a missing gradient is
//                                                        zeros (mode caffe2: left out)
//   LSTMUnitGradient(I[0:4], I4 if sequence_lengths) -> GI0    a condition on one item
//   ResizeNearestGradient(GO0, I0, I1?) -> GI0           I1 if there is one; GO1? if it was provided
//   XGradient(GO0, I2) -> GI0.values; GI0.indices = I1   a sparse gradient, half made, half passed through
//   GI[:] = GO0                                          pass-through
//   if in=2: XGradient(I0, GO0) -> GI0                   a condition on the statement
//   if in>1 and out<2: error 'the lengths are needed'    what can't be differentiated
//
// I input, O output, GO gradient of an output, GI gradient of an input (naming it gives the input a
// gradient; inside a built name it does not). Conditions, joined by "and", negated by "!": in, out (counts)
// and arguments, each with =, < or > and a number, an argument alone meaning "not 0" (absent arguments count
// as the operator's argument table says); GO0 (provided), GO0.sparse; GI0 (there is an input 0 and its
// gradient is wanted); inplace (output 0 is also an input); caffe2 (the mode).
#pragma once

#include "core/base/result.h"
#include "core/ops/gradient_context.h"
#include "core/ops/op_def.h"

namespace weft {

/// Runs the rule of `def` (its line or its function) on the operator that `context` holds. Policies other
/// than kRule and kPassThrough are the planner's business and never get here. The first use of a rule in a
/// context compiles it. Errors: kMissingGradient with Caffe2's text; kSchema when the operator lacks an input
/// or output that the rule reads; kUnsupported where the rule says so, or when there is no rule here (control
/// flow); whatever a gradient_fn returns.
Result<void> RunGradientRule(const OpDef& def, GradientContext& context);

/// Checks that a rule's line can be read: for tests. Errors: kParse with the column.
Result<void> CheckGradientRule(std::string_view rule);

}  // namespace weft
