// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, transposed and locally connected ones, and the column form they are computed through.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

constexpr OpDef kOps[] = {
    {.name = "Col2Im",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "order:string=NCHW",
     .policy = kRule,
     .gradient = "Im2Col(GO0) -> GI0",
     .tier = 2},
    {.name = "Conv",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .policy = kRule,
     .gradient = "if in>2: ConvGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; if in<3: "
                 "ConvGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input {no_bias=1}",
     .tier = 1},
    {.name = "ConvGradient",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .tier = 1},
    {.name = "Conv1D",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .policy = kRule,
     .gradient = "if in>2: Conv1DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; if "
                 "in<3: Conv1DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input {no_bias=1}",
     .tier = 2},
    {.name = "Conv1DGradient",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .tier = 2},
    {.name = "Conv2D",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .policy = kRule,
     .gradient = "if in>2: Conv2DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; if "
                 "in<3: Conv2DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input {no_bias=1}",
     .tier = 2},
    {.name = "Conv2DGradient",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .tier = 2},
    {.name = "Conv3D",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .policy = kRule,
     .gradient = "if in>2: Conv3DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; if "
                 "in<3: Conv3DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input {no_bias=1}",
     .tier = 2},
    {.name = "Conv3DGradient",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .tier = 2},
    {.name = "ConvTranspose",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 adj:int=0 adjs:ints adj_h:int=0 adj_w:int=0 legacy_pad:int=0 "
             "order:string=NCHW group:int=1 no_bias:bool=0 no_gradient_to_input:bool=0 "
             "shared_buffer:int=0",
     .policy = kRule,
     .gradient = "if in>2: ConvTransposeGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; "
                 "if in<3: ConvTransposeGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input "
                 "{no_bias=1}",
     .tier = 1},
    {.name = "ConvTransposeGradient",
     .in = 3,
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 adj:int=0 adjs:ints adj_h:int=0 adj_w:int=0 legacy_pad:int=0 "
             "order:string=NCHW group:int=1 no_bias:bool=0 no_gradient_to_input:bool=0",
     .tier = 1},
    {.name = "Im2Col",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "order:string=NCHW",
     .policy = kRule,
     .gradient = "Col2Im(GO0, I0) -> GI0",
     .tier = 2},
    {.name = "LC",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .policy = kRule,
     .gradient = "if in>2: LCGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; if in<3: "
                 "LCGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input {no_bias=1}",
     .tier = 3},
    {.name = "LCGradient",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .tier = 3},
    {.name = "LC1D",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .policy = kRule,
     .gradient = "if in>2: LC1DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; if in<3: "
                 "LC1DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input {no_bias=1}",
     .tier = 3},
    {.name = "LC1DGradient",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .tier = 3},
    {.name = "LC2D",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .policy = kRule,
     .gradient = "if in>2: LC2DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; if in<3: "
                 "LC2DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input {no_bias=1}",
     .tier = 3},
    {.name = "LC2DGradient",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .tier = 3},
    {.name = "LC3D",
     .in = {2, 3},
     .out = 1,
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .policy = kRule,
     .gradient = "if in>2: LC3DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input; if in<3: "
                 "LC3DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input {no_bias=1}",
     .tier = 3},
    {.name = "LC3DGradient",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "->",
     .args = "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
             "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
             "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
             "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
             "no_gradient_to_input:bool=0",
     .tier = 3},
};

}  // namespace

OpFamily ConvOps() { return kOps; }

}  // namespace weft
