// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator does in training. Apart from roles.h for those who only read the answer.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

enum class Role : uint8_t { kForward, kBackward, kUpdate, kCollective };
inline constexpr uint32_t kNumRoles = 4;
inline constexpr std::string_view kRoleNames[kNumRoles] = {"forward", "backward", "update", "collective"};

inline std::string_view RoleName(Role role) { return kRoleNames[static_cast<uint32_t>(role)]; }

}  // namespace weft
