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
     .doc = "Puts padding_width rows before each segment of X and end_padding_width after it: "
            "zeros, or the given rows. Segments are lengths rows long; without lengths all of X is "
            "one.",
     .in = {1, 4},
     .out = {1, 2},
     .ports = "X lengths? start_padding? end_padding? -> Y lengths_out?",
     .args = "padding_width:int=1 end_padding_width:int",
     .policy = kRule,
     .gradient = "RemovePadding(GO0, O1 if in>1) -> GI0; if in>2: GatherPadding(GO0, O1) -> GI2, GI3?",
     .shape = "add_padding",
     .tier = 2},
    {.name = "CTCBeamSearchDecoder",
     .doc = "The num_candidates most probable label sequences of each item of a CTC output [T, N, "
            "C] by prefix beam search of width beam_width.",
     .in = {1, 2},
     .out = {2, 3},
     .ports = "probabilities lengths? -> lengths_out labels scores?",
     .args = "beam_width:int=10 prune_threshold:float=0.001 num_candidates:int=1",
     .policy = kForbidden,
     .shape = "lengths_out = [probabilities.1 * @num_candidates] : int32; labels = [?] : int32; scores = "
              "[probabilities.1 * @num_candidates]",
     .tier = 3},
    {.name = "CTCGreedyDecoder",
     .doc = "The best label at each step of a CTC output [T, N, C], repeats merged, blanks left "
            "out.",
     .in = {1, 2},
     .out = 2,
     .ports = "probabilities lengths? -> lengths_out labels",
     .args = "merge_repeated:bool=1",
     .policy = kForbidden,
     .shape = "lengths_out = [probabilities.1] : int32; labels = [?] : int32",
     .tier = 3},
    {.name = "GatherPadding",
     .doc = "Sums the padding rows of all segments: the gradients of the rows that AddPadding put "
            "there.",
     .in = 2,
     .out = {1, 2},
     .ports = "X lengths -> start_sum end_sum?",
     .args = "padding_width:int=1 end_padding_width:int",
     .shape = "start_sum, end_sum = X[1:]; if @padding_width=0 and @end_padding_width=0: start_sum, end_sum "
              "= [] : int64",
     .tier = 3},
    {.name = "PackRNNSequence",
     .doc = "Rows of N sequences one after the other, [sum of lengths, ...], to [T, N, ...], T the "
            "longest, zeros behind the shorter.",
     .in = 2,
     .out = 1,
     .ports = "X lengths -> Y",
     .policy = kRule,
     .gradient = "UnpackRNNSequence(GO0, I1) -> GI0",
     .shape = "Y = [max(lengths), lengths.0, X[1:]]",
     .tier = 3},
    {.name = "PackSegments",
     .doc = "Segments one after the other, [sum of lengths, ...], to [segments, max_length or the "
            "longest, ...], zeros behind the shorter (or minus infinity with pad_minf).",
     .in = 2,
     .out = {1, 2},
     .ports = "lengths X -> Y presence_mask?",
     .args = "max_length:int=-1 pad_minf:bool=0 return_presence_mask:bool=0",
     .policy = kRule,
     .gradient = "UnpackSegments(I0, GO0) -> GI1",
     .shape = "if @max_length<0: Y = [lengths.0, max(lengths), X[1:]] : X; if @max_length>-1: Y = "
              "[lengths.0, @max_length, X[1:]] : X; if @return_presence_mask: presence_mask = Y[:2] : bool",
     .tier = 2},
    {.name = "PadEmptySamples",
     .doc = "Gives each empty example one default row in each of the features.",
     .in = {1, kAny},
     .out = {1, kAny},
     .ports = "lengths features... -> lengths_out features_out...",
     .shape = "lengths_out = lengths; features_out = [?, features[1:]] : features",
     .tier = 3},
    {.name = "RemovePadding",
     .doc = "Drops padding_width rows before and end_padding_width rows after each segment: undoes "
            "AddPadding.",
     .in = {1, 2},
     .out = {1, 2},
     .ports = "X lengths? -> Y lengths_out?",
     .args = "padding_width:int=1 end_padding_width:int",
     .policy = kRule,
     .gradient = "AddPadding(GO0, O1 if in>1) -> GI0",
     .shape = "remove_padding",
     .tier = 2},
    {.name = "ReversePackedSegs",
     .doc = "Reverses the first lengths[n] steps of each sequence of X [T, N, D]; the rest stays "
            "zero.",
     .in = 2,
     .out = 1,
     .ports = "X lengths -> Y",
     .policy = kRule,
     .gradient = "ReversePackedSegs(GO0, I1) -> GI0",
     .shape = "Y = X",
     .tier = 1},
    {.name = "SequenceMask",
     .doc = "Replaces elements of X by fill_val: behind each sequence's length, outside a window "
            "around its center, or in a triangle, by mode. With grad they become 0.",
     .in = {1, 2},
     .out = 1,
     .ports = "X lengths_or_centers? -> Y",
     .args = "mode:string axis:int=1 grad:bool=0 radius:int=10 batch:int repeat_from_axis:int=-1 "
             "fill_val:float",
     .policy = kRule,
     .gradient = "SequenceMask(GO0, I1?) -> GI0 {grad=1}",
     .shape = "Y = X",
     .tier = 1},
    {.name = "SwapBestPath",
     .doc = "Swaps, at each step of X [T, C], the best score and the score of the path's label.",
     .in = 2,
     .out = 1,
     .ports = "X path -> Y",
     .policy = kNone,
     .shape = "Y = X",
     .tier = 3},
    {.name = "UnpackRNNSequence",
     .doc = "Undoes PackRNNSequence: [T, N, ...] to [sum of lengths, ...].",
     .in = 2,
     .out = 1,
     .ports = "X lengths -> Y",
     .policy = kRule,
     .gradient = "PackRNNSequence(GO0, I1) -> GI0",
     .shape = "Y = [sum(lengths), X[2:]]",
     .tier = 3},
    {.name = "UnpackSegments",
     .doc = "Undoes PackSegments: [segments, longest, ...] to [sum of lengths, ...]; what max_length cut off "
            "stays off.",
     .in = 2,
     .out = 1,
     .ports = "lengths X -> Y",
     .args = "max_length:int=-1",
     .policy = kRule,
     .gradient = "PackSegments(I0, GO0) -> GI1",
     .shape = "Y = [sum(lengths, @max_length), X[2:]] : X",
     .tier = 2},
    {.name = "VariableLengthSequencePadding",
     .doc = "Sets what is behind the length of each sequence of X [T, N, D] to 0, in place.",
     .in = 2,
     .out = 1,
     .ports = "X lengths -> Y",
     .inplace = "0>0",
     .shape = "Y = X",
     .tier = 2},
    {.name = "ViterbiPath",
     .doc = "The best path through scores X [T, C] with transition scores [C, C]: int32 [T].",
     .in = 2,
     .out = 1,
     .ports = "X transitions -> path",
     .policy = kNone,
     .shape = "path = [X.0] : int32",
     .tier = 3},
};

}  // namespace

OpFamily SequenceOps() { return kOps; }

}  // namespace weft
