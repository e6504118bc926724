// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/model_helper.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft {

ModelHelper::ModelHelper(NameRegistry& registry, std::string_view name)
    : init_(registry, StrCat(name, "_init")), net_(registry, name, init_.net().symbols) {}

Result<Symbol> ModelHelper::AddParam(const BlobRef& name, std::vector<int64_t> shape, const Filler& filler,
                                     ParamKind kind, const Scope& scope) {
  const Symbol blob = name.symbol ? name.symbol : init_.Intern(scope.name.Scoped(name.text));
  const std::string text(init_.net().Str(blob));
  if (init_.BlobIsDefined(blob) || net_.BlobIsDefined(blob))
    return Error{ErrorCode::kNameConflict, StrCat("there is a blob ", text, " already"), -1, text};
  if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; }))
    return Error{ErrorCode::kInvalidArgument, StrCat("parameter ", text, " has a negative extent"), -1, text};
  OpArgs args = {{"shape", shape}};
  args.list.insert(args.list.end(), filler.args.list.begin(), filler.args.list.end());
  init_.Add({.type = filler.type, .outputs = std::vector<BlobRef>{blob}, .args = std::move(args)}, scope);
  WEFT_TRY_VOID(net_.AddExternalInput(blob));
  params_.push_back({blob, std::move(shape), kind});
  return blob;
}

}  // namespace weft
