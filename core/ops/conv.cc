// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, transposed and locally connected ones, and the column form they are computed through.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

// Every spelling of kernel, stride, pads and dilation; the rest steers cuDNN.
constexpr std::string_view kConvArgs =
    "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
    "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
    "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
    "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
    "no_gradient_to_input:bool=0 exhaustive_search:bool=0 deterministic:bool=0 "
    "cudnn_state:int=0 force_algo_fwd:int=-1 force_algo_dgrad:int=-1 "
    "force_algo_wgrad:int=-1 ws_nbytes_limit:int shared_buffer:bool=0";

constexpr std::string_view kTransposeArgs =
    "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
    "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
    "pad_r:int=0 adj:int=0 adjs:ints adj_h:int=0 adj_w:int=0 legacy_pad:int=0 "
    "order:string=NCHW group:int=1 no_bias:bool=0 no_gradient_to_input:bool=0 "
    "exhaustive_search:bool=0 deterministic:bool=0 cudnn_state:int=0 force_algo_fwd:int=-1 "
    "force_algo_dgrad:int=-1 force_algo_wgrad:int=-1 ws_nbytes_limit:int "
    "shared_buffer:bool=0";

constexpr std::string_view kLocalArgs =
    "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
    "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
    "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
    "legacy_pad:int=0 order:string=NCHW group:int=1 no_bias:bool=0 "
    "no_gradient_to_input:bool=0";

constexpr std::string_view kColumnArgs =
    "kernel:int=0 kernels:ints kernel_h:int kernel_w:int stride:int=1 strides:ints "
    "stride_h:int stride_w:int pad:int=0 pads:ints pad_t:int=0 pad_l:int=0 pad_b:int=0 "
    "pad_r:int=0 dilation:int=1 dilations:ints dilation_h:int dilation_w:int "
    "order:string=NCHW";

constexpr OpDef kOps[] = {
    {.name = "Col2Im",
     .doc = "Adds the columns of Im2Col back to where they came from; Z lends its shape [N, C, H, "
            "W].",
     .in = 2,
     .out = 1,
     .ports = "X Z -> Y",
     .args = kColumnArgs,
     .policy = kRule,
     .gradient = "Im2Col(GO0) -> GI0",
     .shape = "Y = Z : X",
     .cost = "|X|",
     .tier = 2},
    {.name = "Conv",
     .doc = "Convolution of X [N, C, H, W] (or [N, H, W, C] by order) with filters W [M, C / group, "
            "kH, kW] and bias b [M], in one to three spatial dimensions. Y is [N, M, H', W'] with "
            "H' = (H + pads - dilation (kH - 1) - 1) / stride + 1.",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kConvArgs,
     .policy = kRule,
     .gradient =
         "if GI2: ConvGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; if !GI2: "
         "ConvGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 {no_bias=1}",
     .shape = "conv",
     .cost = "2*|Y|*|W[1:]|",
     .tier = 1},
    {.name = "ConvGradient",
     .doc = "Gradients of the filters, of the bias unless no_bias, and of X unless "
            "no_gradient_to_input.",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "X W? dY -> dW db? dX?",
     .args = kConvArgs,
     .shape = "conv_gradient",
     .cost = "4*|dY|*|W[1:]|",
     .tier = 1},
    {.name = "Conv1D",
     .doc = "Conv for one spatial dimension: X [N, C, L].",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kConvArgs,
     .policy = kRule,
     .gradient = "if GI2: Conv1DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; if "
                 "!GI2: Conv1DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 {no_bias=1}",
     .shape = "conv",
     .cost = "2*|Y|*|W[1:]|",
     .tier = 2},
    {.name = "Conv1DGradient",
     .doc = "Gradients of Conv1D, as in ConvGradient.",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "X W? dY -> dW db? dX?",
     .args = kConvArgs,
     .shape = "conv_gradient",
     .cost = "4*|dY|*|W[1:]|",
     .tier = 2},
    {.name = "Conv2D",
     .doc = "Conv for two spatial dimensions: X [N, C, H, W].",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kConvArgs,
     .policy = kRule,
     .gradient = "if GI2: Conv2DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; if "
                 "!GI2: Conv2DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 {no_bias=1}",
     .shape = "conv",
     .cost = "2*|Y|*|W[1:]|",
     .tier = 2},
    {.name = "Conv2DGradient",
     .doc = "Gradients of Conv2D, as in ConvGradient.",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "X W? dY -> dW db? dX?",
     .args = kConvArgs,
     .shape = "conv_gradient",
     .cost = "4*|dY|*|W[1:]|",
     .tier = 2},
    {.name = "Conv3D",
     .doc = "Conv for three spatial dimensions: X [N, C, T, H, W].",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kConvArgs,
     .policy = kRule,
     .gradient = "if GI2: Conv3DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; if "
                 "!GI2: Conv3DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 {no_bias=1}",
     .shape = "conv",
     .cost = "2*|Y|*|W[1:]|",
     .tier = 2},
    {.name = "Conv3DGradient",
     .doc = "Gradients of Conv3D, as in ConvGradient.",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "X W? dY -> dW db? dX?",
     .args = kConvArgs,
     .shape = "conv_gradient",
     .cost = "4*|dY|*|W[1:]|",
     .tier = 2},
    {.name = "ConvTranspose",
     .doc = "Transposed convolution: spreads X [N, M, H, W] through filters [M, C / group, kH, kW] "
            "to [N, C, H', W'] with H' = (H - 1) stride + kH + adj - pads, plus bias b [C].",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kTransposeArgs,
     .policy = kRule,
     .gradient =
         "if GI2: ConvTransposeGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; "
         "if !GI2: ConvTransposeGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 "
         "{no_bias=1}",
     .shape = "conv_transpose",
     .cost = "2*|X|*|W[1:]|",
     .tier = 1},
    {.name = "ConvTransposeGradient",
     .doc = "Gradients of ConvTranspose: filters, bias unless no_bias, X unless "
            "no_gradient_to_input.",
     .in = 3,
     .out = {1, 3},
     .ports = "X W dY -> dW db? dX?",
     .args = kTransposeArgs,
     .shape = "conv_gradient",
     .cost = "4*|X|*|W[1:]|",
     .tier = 1},
    {.name = "Im2Col",
     .doc = "Copies every window of X [N, C, H, W] into a column: Y is [N, C kH kW, H', W'].",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = kColumnArgs,
     .policy = kRule,
     .gradient = "Col2Im(GO0, I0) -> GI0",
     .shape = "im2col",
     .tier = 2},
    {.name = "LC",
     .doc = "Locally connected layer: a convolution with filters of their own at each output "
            "position, W [H', W', M, C / group, kH, kW] and b [H', W', M].",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kLocalArgs,
     .policy = kRule,
     .gradient =
         "if GI2: LCGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; if !GI2: "
         "LCGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 {no_bias=1}",
     .shape = "locally_connected",
     .cost = "2*X.0*|W|",
     .tier = 3},
    {.name = "LCGradient",
     .doc = "Gradients of LC: filters, bias unless no_bias, X unless no_gradient_to_input.",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "X W? dY -> dW db? dX?",
     .args = kLocalArgs,
     .shape = "locally_connected_gradient",
     .cost = "4*X.0*|W|",
     .tier = 3},
    {.name = "LC1D",
     .doc = "LC for one spatial dimension.",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kLocalArgs,
     .policy = kRule,
     .gradient =
         "if GI2: LC1DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; if !GI2: "
         "LC1DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 {no_bias=1}",
     .shape = "locally_connected",
     .cost = "2*X.0*|W|",
     .tier = 3},
    {.name = "LC1DGradient",
     .doc = "Gradients of LC1D, as in LCGradient.",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "X W? dY -> dW db? dX?",
     .args = kLocalArgs,
     .shape = "locally_connected_gradient",
     .cost = "4*X.0*|W|",
     .tier = 3},
    {.name = "LC2D",
     .doc = "LC for two spatial dimensions.",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kLocalArgs,
     .policy = kRule,
     .gradient =
         "if GI2: LC2DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; if !GI2: "
         "LC2DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 {no_bias=1}",
     .shape = "locally_connected",
     .cost = "2*X.0*|W|",
     .tier = 3},
    {.name = "LC2DGradient",
     .doc = "Gradients of LC2D, as in LCGradient.",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "X W? dY -> dW db? dX?",
     .args = kLocalArgs,
     .shape = "locally_connected_gradient",
     .cost = "4*X.0*|W|",
     .tier = 3},
    {.name = "LC3D",
     .doc = "LC for three spatial dimensions.",
     .in = {2, 3},
     .out = 1,
     .ports = "X W b? -> Y",
     .args = kLocalArgs,
     .policy = kRule,
     .gradient =
         "if GI2: LC3DGradient(I0, I1, GO0) -> GI1, GI2, GI0 if !no_gradient_to_input and GI0; if !GI2: "
         "LC3DGradient(I0, I1, GO0) -> GI1, GI0 if !no_gradient_to_input and GI0 {no_bias=1}",
     .shape = "locally_connected",
     .cost = "2*X.0*|W|",
     .tier = 3},
    {.name = "LC3DGradient",
     .doc = "Gradients of LC3D, as in LCGradient.",
     .in = {2, 3},
     .out = {1, 3},
     .ports = "X W? dY -> dW db? dX?",
     .args = kLocalArgs,
     .shape = "locally_connected_gradient",
     .cost = "4*X.0*|W|",
     .tier = 3},
};

}  // namespace

OpFamily ConvOps() { return kOps; }

}  // namespace weft
