// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Object detection: boxes, proposals, regions of interest.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

constexpr OpDef kOps[] = {
    {.name = "BBoxTransform",
     .in = 3,
     .out = {1, 2},
     .ports = "->",
     .args = "weights:any apply_scale:bool=1 rotated:bool=0 angle_bound_on:bool=1 "
             "angle_bound_lo:int=-90 angle_bound_hi:int=90 clip_angle_thresh:float=1.0 "
             "legacy_plus_one:bool=1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "BoxWithNMSLimit",
     .in = {2, 3},
     .out = {3, 6},
     .ports = "->",
     .args = "score_thresh:float=0.05 nms:float=0.3 detections_per_im:int=100 "
             "soft_nms_enabled:bool=0 soft_nms_method:string=linear soft_nms_sigma:float=0.5 "
             "soft_nms_min_score_thres:float=0.001 rotated:bool=0 cls_agnostic_bbox_reg:bool=0 "
             "input_boxes_include_bg_cls:bool=1 legacy_plus_one:bool=1 "
             "output_classes_include_bg_cls:bool=1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "CollectAndDistributeFpnRpnProposals",
     .in = {2, kAny},
     .out = {3, kAny},
     .ports = "->",
     .args = "roi_canonical_scale:int=224 roi_canonical_level:int=4 roi_max_level:int=5 "
             "roi_min_level:int=2 rpn_max_level:int=6 rpn_min_level:int=2 rpn_post_nms_topN:int=2000 "
             "legacy_plus_one:bool=1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "CollectRpnProposals",
     .in = {2, kAny},
     .out = 1,
     .ports = "->",
     .args = "rpn_max_level:int=6 rpn_min_level:int=2 rpn_post_nms_topN:int=2000 "
             "legacy_plus_one:bool=1",
     .policy = kForbidden,
     .tier = 2},
    {.name = "DistributeFpnProposals",
     .in = 1,
     .out = {2, kAny},
     .ports = "->",
     .args = "roi_canonical_scale:int=224 roi_canonical_level:int=4 roi_max_level:int=5 "
             "roi_min_level:int=2 legacy_plus_one:bool=1",
     .policy = kForbidden,
     .tier = 2},
    {.name = "GenerateProposals",
     .in = 4,
     .out = 2,
     .ports = "->",
     .args = "spatial_scale:float=0.0625 pre_nms_topN:int=6000 post_nms_topN:int=300 "
             "nms_thresh:float=0.7 min_size:float=16.0 angle_bound_on:bool=1 angle_bound_lo:int=-90 "
             "angle_bound_hi:int=90 clip_angle_thresh:float=1.0 legacy_plus_one:bool=1",
     .policy = kForbidden,
     .tier = 1},
    {.name = "GenerateProposalsCPP",
     .in = 4,
     .out = 2,
     .ports = "->",
     .args = "legacy_plus_one:bool=1",
     .policy = kForbidden,
     .tier = 3},
    {.name = "HeatmapMaxKeypoint",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "should_output_softmax:bool=0",
     .policy = kForbidden,
     .tier = 2},
    {.name = "RMACRegions",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "scales:int=3 overlap:float=0.4",
     .policy = kForbidden,
     .tier = 3},
    {.name = "RoIAlign",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "spatial_scale:float=1.0 pooled_h:int=1 pooled_w:int=1 sampling_ratio:int=-1 "
             "aligned:bool=0 order:string=NCHW",
     .policy = kRule,
     .gradient = "RoIAlignGradient(I0, I1, GO0) -> GI0",
     .tier = 1},
    {.name = "RoIAlignGradient",
     .in = 3,
     .out = 1,
     .ports = "->",
     .args = "aligned:bool=0 pooled_h:int=1 pooled_w:int=1 sampling_ratio:int=-1 "
             "spatial_scale:float=1.0",
     .tier = 1},
    {.name = "RoIAlignRotated",
     .in = 2,
     .out = 1,
     .ports = "->",
     .args = "spatial_scale:float=1.0 pooled_h:int=1 pooled_w:int=1 sampling_ratio:int=-1 "
             "aligned:bool=0 order:string=NCHW",
     .policy = kRule,
     .gradient = "RoIAlignRotatedGradient(I0, I1, GO0) -> GI0",
     .tier = 2},
    {.name = "RoIPool",
     .in = 2,
     .out = {0, kAny},
     .arities = "2/1 2/2",
     .ports = "->",
     .args = "is_test:any=0 order:string=NCHW pooled_h:int=1 pooled_w:int=1 spatial_scale:float=1.0",
     .policy = kRule,
     .gradient = "RoIPoolGradient(I0, I1, O1, GO0) -> GI0",
     .tier = 2},
    {.name = "RoIPoolGradient",
     .in = 4,
     .out = 1,
     .ports = "->",
     .args = "order:string=NCHW pooled_h:int=1 pooled_w:int=1 spatial_scale:float=1.0",
     .tier = 2},
};

}  // namespace

OpFamily DetectionOps() { return kOps; }

}  // namespace weft
