// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Name scopes and device scopes as plain values: entering one makes a new value, and whoever builds passes
// the scope that it wants. There is no current scope. An empty scope is Caffe2's EmptyNameScope or
// EmptyDeviceScope.
#pragma once

#include <string>
#include <string_view>

#include "core/ir/device.h"

namespace weft {

struct NameScope {
  std::string prefix;  // "" or "a/b/"

  /// The scope inside this one; an empty name adds nothing. A scope that starts anew is
  /// NameScope().Enter(name).
  NameScope Enter(std::string_view name) const;
  std::string Scoped(std::string_view name) const { return prefix + std::string(name); }
};

struct DeviceScope {
  DevicePtr device;  // null: operators say nothing

  /// The scope inside this one: `option` as given, with the outer node name when it has none and the outer
  /// extra_info added, sorted.
  DeviceScope Enter(const DeviceOption& option) const;
  /// The same for a node alone.
  DeviceScope EnterNode(std::string_view node_name) const;
};

struct Scope {
  NameScope name;
  DeviceScope device;
};

/// The scope part of a name: up to and including the last '/', "" without one.
std::string_view ScopePart(std::string_view blob);
/// The rest of it.
std::string_view UnscopedPart(std::string_view blob);

}  // namespace weft
