// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Databases, files, checkpoints, image and text readers, printing.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

constexpr OpDef kOps[] = {
    {.name = "Checkpoint",
     .doc = "Save every `every` iterations, to a name that the iteration number is printed into (db "
            "= \"model_%08d\").",
     .in = {1, kAny},
     .out = 0,
     .ports = "iter blobs... ->",
     .args = "absolute_path:int=0 db:string db_type:string every:int=1 db_options:string",
     .policy = kForbidden,
     .tier = 1,
     .flags = kHostOnly | kStateful},
    {.name = "CreateBlobsQueueDB",
     .doc = "A database reader whose records come out of a blob queue: key and value are its blobs "
            "number key_blob_index and value_blob_index.",
     .in = 1,
     .out = 1,
     .ports = "queue -> reader",
     .args = "key_blob_index:int=-1 value_blob_index:int=0 timeout_secs:float=0.0",
     .policy = kForbidden,
     .shape = "reader = object",
     .tier = 3,
     .flags = kHostOnly | kStateful},
    {.name = "CreateDB",
     .doc = "Opens the database db of type db_type for reading, or its part shard_id of num_shards.",
     .in = 0,
     .out = 1,
     .ports = "-> reader",
     .args = "db:string db_type:string=leveldb num_shards:int=1 shard_id:int=0",
     .policy = kNone,
     .shape = "reader = object",
     .tier = 1,
     .flags = kHostOnly | kStateful},
    {.name = "CreateTextFileReader",
     .doc = "Opens a text file of tab-separated columns, to be read num_passes times; field_types "
            "says how many columns and of what type.",
     .in = 0,
     .out = 1,
     .ports = "-> reader",
     .args = "filename:string num_passes:int=1 field_types:ints",
     .policy = kNone,
     .shape = "reader = object",
     .tier = 2,
     .flags = kHostOnly | kStateful},
    {.name = "DBExists",
     .doc = "True when there is a database of that name and type.",
     .in = 0,
     .out = 1,
     .ports = "-> exists",
     .args = "absolute_path:int=0 db_name:string db_type:string db_options:string",
     .policy = kForbidden,
     .shape = "exists = [] : bool",
     .tier = 2,
     .flags = kHostOnly | kStateful},
    {.name = "ImageInput",
     .doc = "Reads batch_size images from a database, decodes, scales, crops, mirrors, jitters and "
            "normalises them as its arguments say: float [N, H, W, 3] and their labels.",
     .in = {0, 1},
     .out = {2, kAny},
     .ports = "reader? -> images labels outputs...",
     .args = "batch_size:int=0 color:int=1 color_jitter:int=0 img_saturation:float=0.4 "
             "img_brightness:float=0.4 img_contrast:float=0.4 color_lighting:int=0 "
             "color_lighting_std:float=0.1 scale_jitter_type:int=0 label_type:int=0 scale:int=-1 "
             "minsize:int=-1 warp:int=0 crop:int=-1 mirror:int=0 mean:float=0.0 "
             "mean_per_channel:floats std:float=1.0 std_per_channel:floats bounding_ymin:int=-1 "
             "bounding_xmin:int=-1 bounding_height:int=-1 bounding_width:int=-1 is_test:any=0! "
             "use_caffe_datum:int=0 use_gpu_transform:int=0 decode_threads:int=4 "
             "output_type:string=unknown db:string db_type:string=leveldb output_sizes:ints "
             "random_scale:ints max_decode_error_ratio:float=1.0 num_labels:int=0",
     .policy = kNone,
     .shape = "if @color: images = [@batch_size, @crop, @crop, 3] : float; if !@color: images = "
              "[@batch_size, @crop, @crop, 1] : float; if @label_type=0: labels = [@batch_size] : int32; "
              "outputs = [@batch_size, ?] : int32",
     .tier = 2,
     .flags = kRandom | kHostOnly | kStateful},
    {.name = "Load",
     .doc = "Reads blobs from a database or several, by their names, with prefixes added or "
            "stripped; load_all takes all that is there.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "readers... -> blobs...",
     .args = "absolute_path:int=0 add_prefix:string strip_prefix:string db:string dbs:strings "
             "db_type:string keep_device:int=0 load_all:int=0 allow_incomplete:bool=0 "
             "source_blob_names:strings db_options:string",
     .policy = kNone,
     .shape_reason = "what is in the file",
     .tier = 1,
     .flags = kHostOnly | kStateful},
    {.name = "Print",
     .doc = "Prints a tensor (its first limit elements) every every_n runs, or appends it to a file "
            "with to_file.",
     .in = 1,
     .out = 0,
     .ports = "X ->",
     .args = "to_file:int=0 limit:int=0 every_n:int=1",
     .policy = kForbidden,
     .tier = 1,
     .flags = kHostOnly},
    {.name = "Save",
     .doc = "Writes blobs into a new database under their names, tensors in chunks of chunk_size "
            "elements.",
     .in = {1, kAny},
     .out = 0,
     .ports = "blobs... ->",
     .args = "absolute_path:int=0 strip_prefix:string blob_name_overrides:strings db:string "
             "db_type:string chunk_size:int=-1 db_options:string",
     .policy = kForbidden,
     .tier = 1,
     .flags = kHostOnly | kStateful},
    {.name = "Snapshot",
     .doc = "An older name of Checkpoint.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "iter blobs... ->",
     .args = "absolute_path:int=0 db:string db_type:string every:int=1 db_options:string",
     .policy = kForbidden,
     .tier = 2,
     .flags = kHostOnly | kStateful},
    {.name = "TensorProtosDBInput",
     .doc = "Reads batch_size records of the database, each a TensorProtos, and stacks their "
            "tensors: one output for each.",
     .in = 1,
     .out = {1, kAny},
     .ports = "reader -> outputs...",
     .args = "batch_size:int=0",
     .policy = kNone,
     .shape_reason = "what is in the database",
     .tier = 1,
     .flags = kHostOnly | kStateful},
    {.name = "TextFileReaderRead",
     .doc = "Reads up to batch_size lines of a text file: a tensor for each column.",
     .in = 1,
     .out = {1, kAny},
     .ports = "reader -> columns...",
     .args = "batch_size:int=1",
     .policy = kNone,
     .shape_reason = "what is in the file",
     .tier = 2,
     .flags = kHostOnly | kStateful},
    {.name = "VideoInput",
     .doc = "Reads videos from a database or files, decodes, samples, scales and crops them to "
            "clips of frames (and optical flow) as its arguments say.",
     .in = {0, 1},
     .out = {2, 5},
     .ports = "reader? -> clips labels flow? ids? starts?",
     .args = "batch_size:int=0 channels_of:int=2 channels_rgb:int=3 clip_per_video:int=1 "
             "clip_start_positions:ints crop_per_clip:int=1 crop_size:int=-1 decode_type:int=0 "
             "do_flow_aggregation:bool=1 do_multi_label:bool=0 flow_alg_type:int=0 "
             "flow_data_type:int=0 frame_gap_of:int=1 get_optical_flow:bool=0 get_rgb:bool=1 "
             "get_start_frame:bool=0 get_video_id:bool=0 image_as_input:bool=0 jitter_scales:ints "
             "length_of:int=0 length_rgb:int=0 num_decode_threads:int=4 num_of_class:int=0 "
             "random_crop:bool=1 random_mirror:bool=1 random_sampling_rate:int=0 "
             "sampling_rate_of:int=1 sampling_rate_rgb:int=1 scale_h:int=0 scale_w:int=0 "
             "short_edge:int=0 use_local_file:bool=0 video_res_type:int=0",
     .policy = kNone,
     .shape_reason = "the video files decide",
     .tier = 2,
     .flags = kRandom | kHostOnly | kStateful},
};

}  // namespace

OpFamily IoOps() { return kOps; }

}  // namespace weft
