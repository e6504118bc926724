// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The arguments by which convolutions and poolings describe a sliding window, in all of Caffe2's spellings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/small_vec.h"
#include "core/ir/net.h"

namespace weft {

/// One number for each spatial dimension; padding at its beginning and at its end.
struct WindowArgs {
  using Sizes = SmallVec<int64_t, 6>;
  Sizes kernel, stride, dilation, adjust, pad_head, pad_tail;
};

/// What is wrong with them.
struct WrongWindow {
  std::string expected, given;
};

/// More than any image has: sums and products of two stay in 64 bits.
inline constexpr int64_t kMostWindow = int64_t{1} << 30;

/// Reads them for `n` spatial dimensions: the list ("kernels"), else the one number ("kernel"), else the
/// sides
/// ("kernel_h" and "kernel_w", "pad_t" to "pad_r"), which count only together. `columns`: as Im2Col and
/// Col2Im do, a side comes before the one number, there are no lists, and one pad is for all. Returns what is
/// wrong: a list of another length, a number beyond kMostWindow.
std::optional<WrongWindow> ReadWindowArgs(const SymbolTable& table, const ArgList& args, size_t n,
                                          bool columns, WindowArgs& out);

}  // namespace weft
