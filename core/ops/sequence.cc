// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequences of different lengths packed into one tensor: padding, packing, masks, decoding.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

constexpr OpDef kOps[] = {
    {.name = "AddPadding",
     .in = {1, 4},
     .out = {1, 2},
     .ports = "->",
     .args = "padding_width:int=1 end_padding_width:int",
     .policy = kRule,
     .gradient = "if in>1 and out<2: error 'the output with the lengths is needed'; RemovePadding(GO0, "
                 "O1 if in>1) -> GI0; if in>2: GatherPadding(GO0, O1) -> GI2, GI3?",
     .tier = 2},
    {.name = "CTCBeamSearchDecoder",
     .in = {1, 2},
     .out = {2, 3},
     .ports = "->",
     .args = "beam_width:int=10 prune_threshold:float=0.001 num_candidates:int=1",
     .policy = kForbidden,
     .tier = 3},
    {.name = "CTCGreedyDecoder",
     .in = {1, 2},
     .out = 2,
     .ports = "->",
     .args = "merge_repeated:bool=1",
     .policy = kForbidden,
     .tier = 3},
    {.name = "GatherPadding",
     .in = 2,
     .out = {1, 2},
     .ports = "->",
     .args = "padding_width:int=1 end_padding_width:int",
     .tier = 3},
    {.name = "PackRNNSequence",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "UnpackRNNSequence(GO0, I1) -> GI0",
     .tier = 3},
    {.name = "PackSegments",
     .in = 2,
     .out = {1, 2},
     .ports = "->",
     .args = "max_length:int=-1 pad_minf:bool=0 return_presence_mask:bool=0",
     .policy = kRule,
     .gradient = "UnpackSegments(I0, GO0) -> GI1",
     .tier = 2},
    {.name = "PadEmptySamples", .in = {1, kAny}, .out = {1, kAny}, .ports = "->", .tier = 3},
    {.name = "RemovePadding",
     .in = {1, 2},
     .out = {1, 2},
     .ports = "->",
     .args = "padding_width:int=1 end_padding_width:int",
     .policy = kRule,
     .gradient = "if in>1 and out<2: error 'the output with the lengths is needed'; AddPadding(GO0, O1 "
                 "if in>1) -> GI0",
     .tier = 2},
    {.name = "ReversePackedSegs",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "ReversePackedSegs(GO0, I1) -> GI0",
     .tier = 1},
    {.name = "SequenceMask",
     .in = {1, 2},
     .out = 1,
     .ports = "->",
     .args = "mode:any axis:int=1 grad:bool=0 radius:int=10 batch:any repeat_from_axis:int=-1",
     .policy = kRule,
     .gradient = "SequenceMask(GO0, I1?) -> GI0 {grad=1}",
     .tier = 1},
    {.name = "SwapBestPath", .in = 2, .out = 1, .ports = "->", .policy = kNone, .tier = 3},
    {.name = "UnpackRNNSequence",
     .in = 2,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "PackRNNSequence(GO0, I1) -> GI0",
     .tier = 3},
    {.name = "UnpackSegments",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "max_length:int=-1",
     .policy = kRule,
     .gradient = "PackSegments(I0, GO0) -> GI1",
     .tier = 2},
    {.name = "VariableLengthSequencePadding", .in = 2, .out = 1, .ports = "->", .inplace = "0>0", .tier = 2},
    {.name = "ViterbiPath", .in = 2, .out = 1, .ports = "->", .policy = kNone, .tier = 3},
};

}  // namespace

OpFamily SequenceOps() { return kOps; }

}  // namespace weft
