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
     .doc = "Moves and scales proposals [N, 4] (5 for rotated ones, and a batch index first) by "
            "predicted deltas for each class, cut to the image; roi_batch_splits counts boxes for "
            "each image.",
     .in = 3,
     .out = {1, 2},
     .ports = "rois deltas im_info -> boxes roi_batch_splits?",
     .args = "weights:floats apply_scale:bool=1 rotated:bool=0 angle_bound_on:bool=1 "
             "angle_bound_lo:int=-90 angle_bound_hi:int=90 clip_angle_thresh:float=1.0 "
             "correct_transform_coords:bool=0 legacy_plus_one:bool=1",
     .policy = kForbidden,
     .shape = "boxes = deltas; roi_batch_splits = [?] : rois",
     .cost = "20*|deltas|",
     .tier = 1},
    {.name = "BoxWithNMSLimit",
     .doc = "For each class: boxes above score_thresh after non-maximum suppression (hard or soft), "
            "at most detections_per_im for each image.",
     .in = {2, 3},
     .out = {3, 6},
     .ports = "scores boxes batch_splits? -> scores boxes classes batch_splits? keeps? keeps_size?",
     .args = "score_thresh:float=0.05 nms:float=0.3 detections_per_im:int=100 "
             "soft_nms_enabled:bool=0 soft_nms_method:string=linear soft_nms_sigma:float=0.5 "
             "soft_nms_min_score_thres:float=0.001 rotated:bool=0 cls_agnostic_bbox_reg:bool=0 "
             "input_boxes_include_bg_cls:bool=1 legacy_plus_one:bool=1 "
             "output_classes_include_bg_cls:bool=1",
     .policy = kForbidden,
     .shape = "scores, classes = [?]; if @rotated: boxes = [?, 5]; if !@rotated: boxes = [?, 4]; "
              "batch_splits = batch_splits; keeps = [?] : int32; if nin>2: keeps_size = [I2.0, I0.1] : "
              "int32; if nin<3: keeps_size = [1, I0.1] : int32",
     .tier = 1},
    {.name = "CollectAndDistributeFpnRpnProposals",
     .doc = "Collects the proposals of all pyramid levels, keeps the rpn_post_nms_topN best, and "
            "distributes them to the levels that fit their size; restore undoes the distribution.",
     .in = {2, kAny},
     .out = {3, kAny},
     .ports = "rois_and_scores... -> rois rois_by_level... restore",
     .args = "roi_canonical_scale:int=224 roi_canonical_level:int=4 roi_max_level:int=5 "
             "roi_min_level:int=2 rpn_max_level:int=6 rpn_min_level:int=2 rpn_post_nms_topN:int=2000 "
             "legacy_plus_one:bool=1",
     .policy = kForbidden,
     .shape = "rois, rois_by_level = [?, 5]; restore = [?] : int32",
     .tier = 1},
    {.name = "CollectRpnProposals",
     .doc = "Collects the proposals of all pyramid levels and keeps the rpn_post_nms_topN best.",
     .in = {2, kAny},
     .out = 1,
     .ports = "rois_and_scores... -> rois",
     .args = "rpn_max_level:int=6 rpn_min_level:int=2 rpn_post_nms_topN:int=2000 "
             "legacy_plus_one:bool=1",
     .policy = kForbidden,
     .shape = "rois = [?, 5]",
     .tier = 2},
    {.name = "DistributeFpnProposals",
     .doc = "Distributes proposals to the pyramid levels that fit their size; restore undoes it.",
     .in = 1,
     .out = {2, kAny},
     .ports = "rois -> rois_by_level... restore",
     .args = "roi_canonical_scale:int=224 roi_canonical_level:int=4 roi_max_level:int=5 "
             "roi_min_level:int=2 legacy_plus_one:bool=1",
     .policy = kForbidden,
     .shape = "rois_by_level = [?, rois.1]; restore = [rois.0] : int32",
     .tier = 2},
    {.name = "GenerateProposals",
     .doc = "Region proposals: anchors at each place of scores [N, A, H, W], moved by deltas, cut "
            "to the image, without small ones, the best after non-maximum suppression.",
     .in = 4,
     .out = 2,
     .ports = "scores deltas im_info anchors -> rois probabilities",
     .args = "spatial_scale:float=0.0625 pre_nms_topN:int=6000 post_nms_topN:int=300 "
             "nms_thresh:float=0.7 min_size:float=16.0 correct_transform_coords:bool=0 "
             "angle_bound_on:bool=1 angle_bound_lo:int=-90 angle_bound_hi:int=90 "
             "clip_angle_thresh:float=1.0 legacy_plus_one:bool=1",
     .policy = kForbidden,
     .shape = "rois = [?, anchors.1 + 1]; probabilities = [?] : scores",
     .tier = 1},
    {.name = "GenerateProposalsCPP",
     .doc = "An older name of GenerateProposals.",
     .in = 4,
     .out = 2,
     .ports = "scores deltas im_info anchors -> rois probabilities",
     .args = "spatial_scale:float=0.0625 pre_nms_topN:int=6000 post_nms_topN:int=300 "
             "nms_thresh:float=0.7 min_size:float=16.0 correct_transform_coords:bool=0 "
             "angle_bound_on:bool=1 angle_bound_lo:int=-90 angle_bound_hi:int=90 "
             "clip_angle_thresh:float=1.0 legacy_plus_one:bool=1",
     .policy = kForbidden,
     .shape = "rois = [?, anchors.1 + 1]; probabilities = [?] : scores",
     .tier = 3},
    {.name = "HeatmapMaxKeypoint",
     .doc = "For each box and keypoint: place and score of the maximum of its heatmap, refined to "
            "parts of a pixel: [N, 4, K].",
     .in = 2,
     .out = 1,
     .ports = "heatmaps boxes -> keypoints",
     .args = "should_output_softmax:bool=0",
     .policy = kForbidden,
     .shape = "keypoints = [heatmaps.0, 4, heatmaps.1]",
     .tier = 2},
    {.name = "RMACRegions",
     .doc = "The regions of R-MAC pooling: overlapping squares at scales sizes over the plane of X, "
            "as boxes with a batch index.",
     .in = 1,
     .out = 1,
     .ports = "X -> rois",
     .args = "scales:int=3 overlap:float=0.4",
     .policy = kForbidden,
     .shape = "rois = [?, 5] : X",
     .tier = 3},
    {.name = "RoIAlign",
     .doc = "For each region a pooled_h x pooled_w grid of means of X, sampled at exact places with "
            "bilinear interpolation: [regions, C, pooled_h, pooled_w].",
     .in = 2,
     .out = 1,
     .ports = "X rois -> Y",
     .args = "spatial_scale:float=1.0 pooled_h:int=1 pooled_w:int=1 sampling_ratio:int=-1 "
             "aligned:bool=0 order:string=NCHW",
     .policy = kRule,
     .gradient = "RoIAlignGradient(I0, I1, GO0) -> GI0",
     .shape = "roi",
     .cost = "|Y|",
     .tier = 1},
    {.name = "RoIAlignGradient",
     .doc = "Spreads dY over the elements of X that each sample was interpolated from.",
     .in = 3,
     .out = 1,
     .ports = "X rois dY -> dX",
     .args = "aligned:bool=0 pooled_h:int=1 pooled_w:int=1 sampling_ratio:int=-1 "
             "spatial_scale:float=1.0",
     .shape = "dX = X",
     .tier = 1},
    {.name = "RoIAlignRotated",
     .doc = "RoIAlign for rotated regions: center, size and angle.",
     .in = 2,
     .out = 1,
     .ports = "X rois -> Y",
     .args = "spatial_scale:float=1.0 pooled_h:int=1 pooled_w:int=1 sampling_ratio:int=-1 "
             "aligned:bool=0 order:string=NCHW",
     .policy = kRule,
     .gradient = "RoIAlignRotatedGradient(I0, I1, GO0) -> GI0",
     .shape = "roi",
     .cost = "|Y|",
     .tier = 2},
    {.name = "RoIPool",
     .doc = "For each region a pooled_h x pooled_w grid of maxima of X, over whole pixels; argmaxes "
            "says where they were.",
     .in = 2,
     .out = {0, kAny},
     .arities = "2/1 2/2",
     .ports = "X rois -> Y argmaxes?",
     .args = "is_test:int=0 order:string=NCHW pooled_h:int=1 pooled_w:int=1 spatial_scale:float=1.0",
     .policy = kRule,
     .gradient = "RoIPoolGradient(I0, I1, O1, GO0) -> GI0",
     .shape = "roi",
     .cost = "|Y|",
     .tier = 2},
    {.name = "RoIPoolGradient",
     .doc = "Adds dY to the places of the maxima.",
     .in = 4,
     .out = 1,
     .ports = "X rois argmaxes dY -> dX",
     .args = "order:string=NCHW pooled_h:int=1 pooled_w:int=1 spatial_scale:float=1.0",
     .shape = "dX = X",
     .tier = 2},
};

}  // namespace

OpFamily DetectionOps() { return kOps; }

}  // namespace weft
