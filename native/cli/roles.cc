// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/roles.h"

#include "inspector/arrange/roles.h"

namespace weft::cli {

std::vector<std::string_view> RoleNames(const Net& net) {
  constexpr std::string_view kNames[] = {"forward", "backward", "update", "collective"};
  const Ssa ssa(net);
  std::vector<std::string_view> names;
  for (const Role role : FindRoles(net, ssa, StandardOps(), FindColumns(net, ssa), {}).role)
    names.push_back(kNames[static_cast<size_t>(role)]);
  return names;
}

}  // namespace weft::cli
