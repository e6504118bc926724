// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/scope.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft {

NameScope NameScope::Enter(std::string_view name) const {
  return name.empty() ? *this : NameScope{StrCat(prefix, name, "/")};
}

DeviceScope DeviceScope::Enter(const DeviceOption& option) const {
  DeviceOption inner = option;
  if (device) {
    if (!inner.node_name) inner.node_name = device->node_name;
    inner.extra_info.insert(inner.extra_info.end(), device->extra_info.begin(), device->extra_info.end());
  }
  std::sort(inner.extra_info.begin(), inner.extra_info.end());
  return {std::make_shared<const DeviceOption>(std::move(inner))};
}

DeviceScope DeviceScope::EnterNode(std::string_view node_name) const {
  DeviceOption option;
  option.node_name = std::string(node_name);
  return Enter(option);
}

std::string_view ScopePart(std::string_view blob) {
  const size_t slash = blob.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : blob.substr(0, slash + 1);
}

std::string_view UnscopedPart(std::string_view blob) { return blob.substr(ScopePart(blob).size()); }

}  // namespace weft
