// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Resizing, padding and rearranging feature maps and images.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

constexpr OpDef kOps[] = {
    {.name = "BatchToSpace",
     .doc = "Moves blocks from the batch to the plane: [N block^2, C, H, W] to [N, C, H block - "
            "pads, W block - pads].",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "block_size:int=2 pad:int=0 pad_t:int=0 pad_l:int=0 pad_b:int=0 pad_r:int=0 "
             "order:string=NCHW",
     .policy = kRule,
     .gradient = "SpaceToBatch(GO0) -> GI0",
     .tier = 3},
    {.name = "BRGNCHWCToPackedInt8BGRAStylizerDeprocess",
     .doc = "Adds the mean of each of the three channels to X [N, 3, H, W], rounds and cuts to "
            "bytes, and gives packed uint8 BGRA pixels [N, H, W, 4].",
     .in = 2,
     .out = 1,
     .ports = "X mean -> Y",
     .args = "noise_size:int=491 noise_std:float=10.0",
     .tier = 3},
    {.name = "ChannelShuffle",
     .doc = "Regroups the channels of X: taken as a matrix of group rows, they are read by column. "
            "Same shape.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "group:int=1 order:string=NCHW",
     .policy = kRule,
     .gradient = "ChannelShuffleGradient(GO0) -> GI0",
     .tier = 2},
    {.name = "ChannelShuffleGradient",
     .doc = "Puts the channels back in their order.",
     .in = 1,
     .out = 1,
     .ports = "dY -> dX",
     .args = "group:int=1 order:string=NCHW",
     .tier = 2},
    {.name = "IntegralImage",
     .doc = "Y [N, C, H+1, W+1] holds at each place the sum of X [N, C, H, W] over all that is "
            "above and left of it.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .policy = kRule,
     .gradient = "IntegralImageGradient(I0, GO0) -> GI0",
     .tier = 3},
    {.name = "IntegralImageGradient",
     .doc = "For each element of X: the sum of dY over all places below and right of it.",
     .in = 2,
     .out = 1,
     .ports = "X dY -> dX",
     .tier = 3},
    {.name = "NCHW2NHWC",
     .doc = "Moves the channel axis last: [N, C, ...] to [N, ..., C].",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .policy = kRule,
     .gradient = "NHWC2NCHW(GO0) -> GI0",
     .tier = 2},
    {.name = "NHWC2NCHW",
     .doc = "Moves the channel axis second: [N, ..., C] to [N, C, ...].",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .policy = kRule,
     .gradient = "NCHW2NHWC(GO0) -> GI0",
     .tier = 2},
    {.name = "NormalizePlanarYUV",
     .doc = "Y = (X - mean[n, c]) / std[n, c] for each plane of X [N, C, H, W]; mean and std are "
            "[N, C].",
     .in = 3,
     .out = 1,
     .ports = "X mean std -> Y",
     .inplace = "0>0",
     .tier = 3},
    {.name = "PackedInt8BGRANHWCToNCHWCStylizerPreprocess",
     .doc = "Unpacks uint8 BGRA pixels [N, H, W, 4] into floats [N, 3, H, W], subtracting the mean "
            "of each channel and adding noise of noise_std.",
     .in = 2,
     .out = 1,
     .ports = "X mean -> Y",
     .args = "noise_size:int=491 noise_std:float=10.0",
     .tier = 3},
    {.name = "PadImage",
     .doc = "Pads the plane of X [N, C, H, W] by pad_t, pad_l, pad_b, pad_r with value, or by "
            "reflecting, or by repeating the edge, by mode.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 pad_r:int=0 "
             "mode:string=constant value:float=0.0 order:string=NCHW",
     .policy = kRule,
     .gradient = "PadImageGradient(GO0) -> GI0",
     .tier = 2},
    {.name = "PadImageGradient",
     .doc = "Adds the gradient of every padded copy to the element that it was made from.",
     .in = 1,
     .out = 1,
     .ports = "dY -> dX",
     .args = "pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 pad_r:int=0 "
             "mode:string=constant order:string=NCHW value:float=0.0",
     .tier = 2},
    {.name = "ResizeNearest",
     .doc = "Resizes the plane of X [N, C, H, W] by height_scale and width_scale (or by the two "
            "numbers of the second input), taking the nearest element.",
     .in = {1, 2},
     .out = 1,
     .ports = "X scale? -> Y",
     .args = "width_scale:float=1.0 height_scale:float=1.0 order:string=NCHW",
     .policy = kRule,
     .gradient = "ResizeNearestGradient(GO0, I0, I1?) -> GI0",
     .tier = 1},
    {.name = "ResizeNearestGradient",
     .doc = "Adds each element of dY to the element of X that it was taken from.",
     .in = {2, 3},
     .out = 1,
     .ports = "dY X scale? -> dX",
     .args = "width_scale:float=1.0 height_scale:float=1.0 order:string=NCHW",
     .tier = 1},
    {.name = "ResizeNearest3D",
     .doc = "Resizes X [N, C, T, H, W] by temporal_scale, height_scale and width_scale, taking the "
            "nearest element.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "temporal_scale:float=1.0 width_scale:float=1.0 height_scale:float=1.0 "
             "order:string=NCHW",
     .policy = kRule,
     .gradient = "ResizeNearest3DGradient(GO0, I0) -> GI0",
     .tier = 3},
    {.name = "ResizeNearest3DGradient",
     .doc = "Adds each element of dY to the element of X that it was taken from.",
     .in = 2,
     .out = 1,
     .ports = "dY X -> dX",
     .args = "temporal_scale:float=1.0 width_scale:float=1.0 height_scale:float=1.0 "
             "order:string=NCHW",
     .tier = 3},
    {.name = "SpaceToBatch",
     .doc = "Moves blocks of the padded plane to the batch: [N, C, H, W] to [N block^2, C, (H + "
            "pads) / block, (W + pads) / block].",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "block_size:int=2 pad:int=0 pad_t:int=0 pad_l:int=0 pad_b:int=0 pad_r:int=0 "
             "order:string=NCHW",
     .policy = kRule,
     .gradient = "BatchToSpace(GO0) -> GI0",
     .tier = 3},
    {.name = "UpsampleBilinear",
     .doc = "Resizes the plane of X [N, C, H, W] by height_scale and width_scale (or by the two "
            "numbers of the second input) with bilinear interpolation, corners on corners.",
     .in = {1, 2},
     .out = 1,
     .ports = "X scale? -> Y",
     .args = "width_scale:float=1.0 height_scale:float=1.0",
     .policy = kRule,
     .gradient = "UpsampleBilinearGradient(GO0, I0, I1?) -> GI0",
     .tier = 2},
    {.name = "UpsampleBilinearGradient",
     .doc = "Spreads each element of dY over the four that it was interpolated from.",
     .in = {2, 3},
     .out = 1,
     .ports = "dY X scale? -> dX",
     .args = "width_scale:float=1.0 height_scale:float=1.0",
     .tier = 2},
};

}  // namespace

OpFamily ImageOps() { return kOps; }

}  // namespace weft
