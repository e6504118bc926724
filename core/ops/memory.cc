// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies between devices, aliases, and the life of blobs.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

constexpr OpDef kOps[] = {
    {.name = "Alias",
     .in = 1,
     .out = 1,
     .ports = "->",
     .policy = kPassThrough,
     .gradient = "GI0 = GO0",
     .tier = 1},
    {.name = "AliasWithName",
     .in = 1,
     .out = 1,
     .ports = "->",
     .args = "name:string=invalid_name is_backward:bool=0",
     .inplace = "0>0",
     .tier = 3},
    {.name = "Copy",
     .in = 1,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "CopyOnDeviceLike(GO0, I0) -> GI0",
     .tier = 1},
    {.name = "CopyCPUToGPU",
     .in = 1,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "if !GO0.sparse: CopyGPUToCPU(GO0) -> GI0; if GO0.sparse: CopyGPUToCPU(GO0.indices) -> "
                 "GI0.indices; if GO0.sparse: CopyGPUToCPU(GO0.values) -> GI0.values",
     .tier = 1,
     .flags = kGpuOnly},
    {.name = "CopyFromCPUInput", .in = 1, .out = 1, .ports = "->", .tier = 1},
    {.name = "CopyGPUToCPU",
     .in = 1,
     .out = 1,
     .ports = "->",
     .policy = kRule,
     .gradient = "if !GO0.sparse: CopyCPUToGPU(GO0) -> GI0; if GO0.sparse: CopyCPUToGPU(GO0.indices) -> "
                 "GI0.indices; if GO0.sparse: CopyCPUToGPU(GO0.values) -> GI0.values",
     .tier = 1,
     .flags = kGpuOnly},
    {.name = "CopyOnDeviceLike", .in = 2, .out = 1, .ports = "->", .tier = 1},
    {.name = "EnsureClipped",
     .in = {1, 3},
     .out = 1,
     .ports = "->",
     .args = "max:float=0.0 min:float=0.0",
     .inplace = "0>0",
     .policy = kForbidden,
     .tier = 2},
    {.name = "EnsureCPUOutput", .in = 1, .out = 1, .ports = "->", .policy = kNone, .tier = 1},
    {.name = "FeedBlob",
     .in = 0,
     .out = 1,
     .ports = "->",
     .args = "value:string",
     .policy = kForbidden,
     .tier = 2,
     .flags = kStateful},
    {.name = "Free",
     .in = {1, kAny},
     .out = {1, kAny},
     .arities = "n/n",
     .ports = "->",
     .enforced = "i>i",
     .policy = kForbidden,
     .tier = 1,
     .flags = kStateful},
    {.name = "GetAllBlobNames",
     .in = 0,
     .out = 1,
     .ports = "->",
     .args = "include_shared:int=1",
     .tier = 2,
     .flags = kStateful},
};

}  // namespace

OpFamily MemoryOps() { return kOps; }

}  // namespace weft
