// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sets with operators that a user brings along: what Weft's own rows are tested for is an error here.
#include <algorithm>

#include "core/base/str.h"
#include "core/ops/gradient_rule.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_set.h"
#include "core/ops/shape_program.h"

namespace weft {

namespace {

Result<void> CheckRow(const OpDef& def) {
  const auto refuse = [&](std::string why) {
    return Error{ErrorCode::kInvalidArgument, StrCat("operator ", def.name, ": ", why)};
  };
  if (def.name.empty()) return Error{ErrorCode::kInvalidArgument, "an operator has no name"};
  if (def.in.min < 0 || def.in.max < def.in.min || def.out.min < 0 || def.out.max < def.out.min)
    return refuse("the least number of inputs or outputs is above the largest, or below 0");
  const bool has_rule = !def.gradient.empty() || def.gradient_fn != nullptr;
  const bool wants_rule = def.policy == GradientPolicy::kRule || def.policy == GradientPolicy::kPassThrough;
  if (has_rule && !wants_rule) return refuse("it has a gradient rule, and its policy is another");
  if (!has_rule && wants_rule && !(def.flags & kControlFlow))
    return refuse("its policy is a gradient rule, and it has none");
  OpDef named = def;
  if (named.ports.empty()) named.ports = "->";  // nobody asks for names
  WEFT_TRY_VOID(CheckColumns(named));
  if (!def.gradient.empty())
    if (const Result<void> read = CheckGradientRule(def.gradient); !read) return refuse(read.error().message);
  const Result<ShapeProgram> shapes = CompileShapeRule(def);
  return shapes ? Result<void>() : Result<void>(shapes.error());
}

}  // namespace

Result<OpSet> OpSet::Create(std::span<const OpFamily> families) {
  std::vector<std::string_view> names;
  for (const OpFamily& family : families)
    for (const OpDef& def : family) {
      WEFT_TRY_VOID(CheckRow(def));
      names.push_back(def.name);
    }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return Error{ErrorCode::kNameConflict, StrCat("two operators are called ", *twice)};
  return OpSet(families);
}

}  // namespace weft
