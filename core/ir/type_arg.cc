// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/type_arg.h"

namespace weft {

DataType ArgDataType(const SymbolTable& table, const ArgList& args, std::string_view name,
                     DataType otherwise) {
  const Arg* arg = FindArg(table, args, name);
  if (!arg || !(arg->has & (Arg::kHasI | Arg::kHasS))) return otherwise;
  return (arg->has & Arg::kHasS ? ParseDataType(arg->Load()->s) : DataTypeFromNumber(arg->i))
      .value_or(DataType::kUndefined);
}

}  // namespace weft
