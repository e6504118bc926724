// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Pooling: average, maximum and p-norm over windows.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

// Every spelling of kernel, stride, pads and dilation.
constexpr std::string_view kMaxArgs =
    "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
    "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
    "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
    "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 deterministic:bool=0";

constexpr std::string_view kAverageArgs =
    "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
    "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
    "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
    "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0";

constexpr std::string_view kLpArgs =
    "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
    "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
    "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
    "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 p:float=2.0";

constexpr OpDef kOps[] = {
    {.name = "AveragePool",
     .doc = "Mean of each window of X [N, C, H, W] (or [N, H, W, C]), over the elements inside the "
            "image, or over the whole window with count_include_pad. global_pooling takes the whole "
            "plane as one window.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kAverageArgs,
     .policy = kRule,
     .gradient = "AveragePoolGradient(I0, O0, GO0) -> GI0",
     .tier = 1},
    {.name = "AveragePoolGradient",
     .doc = "Spreads each element of dY evenly over its window.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kAverageArgs,
     .tier = 1},
    {.name = "AveragePool1D",
     .doc = "AveragePool for one spatial dimension.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kAverageArgs,
     .policy = kRule,
     .gradient = "AveragePool1DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "AveragePool1DGradient",
     .doc = "Gradient of AveragePool1D.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kAverageArgs,
     .tier = 2},
    {.name = "AveragePool2D",
     .doc = "AveragePool for two spatial dimensions.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kAverageArgs,
     .policy = kRule,
     .gradient = "AveragePool2DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "AveragePool2DGradient",
     .doc = "Gradient of AveragePool2D.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kAverageArgs,
     .tier = 2},
    {.name = "AveragePool3D",
     .doc = "AveragePool for three spatial dimensions.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kAverageArgs,
     .policy = kRule,
     .gradient = "AveragePool3DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "AveragePool3DGradient",
     .doc = "Gradient of AveragePool3D.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kAverageArgs,
     .tier = 2},
    {.name = "LpPool",
     .doc = "p-norm of each window of X [N, C, H, W]: (sum of abs(x)^p)^(1/p).",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kLpArgs,
     .policy = kRule,
     .gradient = "LpPoolGradient(I0, O0, GO0) -> GI0",
     .tier = 3},
    {.name = "LpPoolGradient",
     .doc = "For each window: dY x abs(x)^(p-2) / Y^(p-1), added up where windows overlap.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kLpArgs,
     .tier = 3},
    {.name = "MaxPool",
     .doc = "Maximum of each window of X [N, C, H, W] (or [N, H, W, C]). global_pooling takes the "
            "whole plane as one window.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kMaxArgs,
     .policy = kRule,
     .gradient = "MaxPoolGradient(I0, O0, GO0) -> GI0",
     .tier = 1},
    {.name = "MaxPoolGradient",
     .doc = "Adds each element of dY to the places of its window where X equals Y.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kMaxArgs,
     .tier = 1},
    {.name = "MaxPool1D",
     .doc = "MaxPool for one spatial dimension.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kMaxArgs,
     .policy = kRule,
     .gradient = "MaxPool1DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "MaxPool1DGradient",
     .doc = "Gradient of MaxPool1D.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kMaxArgs,
     .tier = 2},
    {.name = "MaxPool2D",
     .doc = "MaxPool for two spatial dimensions.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kMaxArgs,
     .policy = kRule,
     .gradient = "MaxPool2DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "MaxPool2DGradient",
     .doc = "Gradient of MaxPool2D.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kMaxArgs,
     .tier = 2},
    {.name = "MaxPool3D",
     .doc = "MaxPool for three spatial dimensions.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kMaxArgs,
     .policy = kRule,
     .gradient = "MaxPool3DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "MaxPool3DGradient",
     .doc = "Gradient of MaxPool3D.",
     .in = 3,
     .out = 1,
     .ports = "X Y dY -> dX",
     .args = kMaxArgs,
     .tier = 2},
};

}  // namespace

OpFamily PoolOps() { return kOps; }

}  // namespace weft
