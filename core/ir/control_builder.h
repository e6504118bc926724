// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Structured control flow: If and While blocks written as plain nets become the If, While, Do and CreateScope
// operators that Caffe2's NetBuilder makes (semantics.md 3.1). Inside a block, a name that the net around it
// defines means that blob; every other name is private to one execution of the block, so that its gradient
// finds the values it needs.
#pragma once

#include <span>

#include "core/base/result.h"
#include "core/ir/net.h"

namespace weft {

/// `around`, here and below: blobs of the nets around `net`, when it is a body itself.
/// Appends `If(cond) { then_body } else { else_body }`. `cond` must be a blob of `net` that holds one bool.
/// The bodies share the net's symbol table; blobs of `net` that they write are outputs of the If. Errors:
/// kNotFound when `cond` is no blob of `net`; kInvalidArgument when a body has another symbol table.
Result<void> AppendIf(Net& net, Symbol cond, const Net& then_body, const Net* else_body = nullptr,
                      std::span<const Symbol> around = {});

/// Appends `While: run condition_body, stop unless cond, run body`. `condition_body` must write `cond`, which
/// is made (false) before the loop when the net does not have it. Blobs that the body updates keep their
/// value from one iteration to the next; with zero iterations they stay as they are. Errors: kInvalidArgument
/// when `condition_body` does not write `cond`, or a body has another symbol table.
Result<void> AppendWhile(Net& net, Symbol cond, const Net& condition_body, const Net& body,
                         std::span<const Symbol> around = {});

}  // namespace weft
