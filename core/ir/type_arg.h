// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types that arguments say.
#pragma once

#include <string_view>

#include "core/ir/data_type.h"
#include "core/ir/net.h"

namespace weft {

/// The type that argument `name` says, as a TensorProto number or by name: `otherwise` when it is not there,
/// kUndefined when it is no type.
DataType ArgDataType(const SymbolTable& table, const ArgList& args, std::string_view name,
                     DataType otherwise);

}  // namespace weft
