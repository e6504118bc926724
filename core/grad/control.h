// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators that hold nets: Do, If, AsyncIf, While (semantics.md section 3). Each plans the
// backward pass of its nets and wraps it in an operator of the same type. In the default mode an outer blob
// that is updated in place, a loop-invariant input, zero iterations and sparse gradients inside are right;
// mode caffe2 repeats Caffe2.
#pragma once

#include "core/base/result.h"
#include "core/grad/gradient.h"
#include "core/ops/gradient_context.h"
#include "core/ops/op_set.h"

namespace weft::internal {

/// True for the operator types handled here.
bool IsControlFlow(const OpDef& def);

/// Makes the gradient of the control-flow operator that `context` holds. `options` are those of the net
/// around it: mode, mixed and repair pass down. With repair, `repaired` receives the forward operator with
/// its nets rewritten, when that was needed, and the gradient fits that one. Errors: kControlFlow with
/// Caffe2's text for a broken contract; whatever planning a nested net gives, with its path.
Result<void> ControlFlowGradient(GradientContext& context, const OpDef& def, const OpSet& ops,
                                 const GradientOptions& options, std::optional<Op>* repaired);

/// `op` with blob names replaced in its nets, wherever they mean blobs of the net around it: not inside a Do,
/// whose inner names are its own. `rename` returns a name's replacement, or the name itself. In a
/// RecurrentNetwork, text arguments follow, and "X_grad" follows X.
Op RenameInSubnets(const Net& net, const Op& op, const std::function<Symbol(Symbol)>& rename);

}  // namespace weft::internal
