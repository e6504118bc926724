// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The colours that a host gives the renderer. The page's list (web/src/theme.ts) has the same order.
#pragma once

#include <array>
#include <cstdint>

#include "inspector/render/quad.h"

namespace weft::render {

enum class ThemeColor : uint32_t {
  kPaper,
  kInk,
  kInk2,
  kInk3,
  kRule,
  kBox,
  kBoxBorder,
  kGroup,
  kGroupBorder,
  kForward,
  kBackward,
  kUpdate,
  kCollective,
  kEdge,
  kStash,
  kSelect,
  kMatch,
  kError,
  kChip,
  kPanel,
};
inline constexpr uint32_t kNumThemeColors = 20;

struct Theme {
  std::array<Color, kNumThemeColors> colors{};
  Color operator[](ThemeColor color) const { return colors[static_cast<uint32_t>(color)]; }
};

}  // namespace weft::render
