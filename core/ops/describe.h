// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A row of the operator table as a page for people, as Markdown and as JSON. The table is the only place
// where an operator is described; these are views of it. Stateless.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/ops/op_set.h"

namespace weft {

/// "rule", "pass_through", "none", "forbidden", "not_implemented", "unregistered".
std::string_view GradientPolicyName(GradientPolicy policy);
/// "host_only", "random", ... of the flags that are set.
std::vector<std::string_view> FlagNames(uint32_t flags);
/// "3", "1 to 3", "1 or more".
std::string ArityText(Arity arity);
/// What asking for a gradient gives, in a few words: "ReluGradient(O0, GO0) -> GI0", "none: flow stops here".
std::string GradientText(const OpDef& def);

/// How the shapes of its outputs follow: the rule, or why there is none; "" without outputs.
std::string ShapeText(const OpDef& def);

/// The page of one operator, lines of at most `width` columns.
std::string OpPage(const OpDef& def, int width = 100);
std::string OpMarkdown(const OpDef& def);
void WriteOp(JsonWriter& json, const OpDef& def);

/// Operators whose name or text holds `word` (case does not count): those by name first.
std::vector<const OpDef*> SearchOps(const OpSet& ops, std::string_view word);

}  // namespace weft
