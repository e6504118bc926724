// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A sliding window over the spatial dimensions of an image, as convolutions and poolings describe it by their
// arguments (kernel, stride, pad, dilation in all of Caffe2's spellings), for any number of dimensions and
// both storage orders.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernels/matrix.h"
#include "core/ops/window_args.h"
#include "core/run/kernel.h"

namespace weft::kernels {

struct Window : WindowArgs {
  bool channels_last = false;  // NHWC
  bool global = false;         // the window is the whole image
  int64_t legacy_pad = 0;      // 0 as given, 1 valid, 2 same, 3 Caffe's pooling
  Dims in, out;                // spatial sizes before and after
  int64_t batch = 0, channels = 0;
  int64_t in_size = 0, out_size = 0, kernel_size = 0;  // products

  /// Where element `spatial` of channel `c` of image `n` is, in a tensor with `count` spatial elements.
  int64_t At(int64_t n, int64_t c, int64_t spatial, int64_t count, int64_t of_channels) const {
    return channels_last ? (n * count + spatial) * of_channels + c : (n * of_channels + c) * count + spatial;
  }
  /// For each kernel position, and within it for each place of the window, the spatial element that it
  /// covers; -1 in the padding.
  std::vector<int64_t> Offsets() const;
  /// Dimensions of a tensor with these channels and spatial sizes.
  Dims TensorDims(int64_t of_channels, const Dims& spatial) const;
};

/// Reads the arguments and the sizes of `x` (with its channels), and computes the output sizes. Errors:
/// dimensions that do not fit, windows larger than the padded image. `columns`: see ReadWindowArgs.
Result<Window> FindWindow(const KernelContext& c, const Tensor& x, bool columns = false);

/// The window whose input sizes are what a transposed convolution makes out of `x`: `in` and `out` are
/// exchanged.
Result<Window> FindTransposedWindow(const KernelContext& c, const Tensor& x);

}  // namespace weft::kernels
