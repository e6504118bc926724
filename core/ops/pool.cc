// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Pooling: average, maximum and p-norm over windows.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

constexpr OpDef kOps[] = {
    {.name = "AveragePool",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0",
     .policy = kRule,
     .gradient = "AveragePoolGradient(I0, O0, GO0) -> GI0",
     .tier = 1},
    {.name = "AveragePoolGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0",
     .tier = 1},
    {.name = "AveragePool1D",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0",
     .policy = kRule,
     .gradient = "AveragePool1DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "AveragePool1DGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0",
     .tier = 2},
    {.name = "AveragePool2D",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0",
     .policy = kRule,
     .gradient = "AveragePool2DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "AveragePool2DGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0",
     .tier = 2},
    {.name = "AveragePool3D",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0",
     .policy = kRule,
     .gradient = "AveragePool3DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "AveragePool3DGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 count_include_pad:bool=0",
     .tier = 2},
    {.name = "LpPool",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 p:float=2.0",
     .policy = kRule,
     .gradient = "LpPoolGradient(I0, O0, GO0) -> GI0",
     .tier = 3},
    {.name = "LpPoolGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0 p:float=2.0",
     .tier = 3},
    {.name = "MaxPool",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0",
     .policy = kRule,
     .gradient = "MaxPoolGradient(I0, O0, GO0) -> GI0",
     .tier = 1},
    {.name = "MaxPoolGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0",
     .tier = 1},
    {.name = "MaxPool1D",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0",
     .policy = kRule,
     .gradient = "MaxPool1DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "MaxPool1DGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0",
     .tier = 2},
    {.name = "MaxPool2D",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0",
     .policy = kRule,
     .gradient = "MaxPool2DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "MaxPool2DGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0",
     .tier = 2},
    {.name = "MaxPool3D",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0",
     .policy = kRule,
     .gradient = "MaxPool3DGradient(I0, O0, GO0) -> GI0",
     .tier = 2},
    {.name = "MaxPool3DGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW global_pooling:bool=0",
     .tier = 2},
};

}  // namespace

OpFamily PoolOps() { return kOps; }

}  // namespace weft
