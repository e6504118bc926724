// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Control flow, gradient markers, checks, and operators that call out of the net.
#include <vector>

#include "core/base/str.h"
#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft {

namespace {

using enum GradientPolicy;

// The gradients that the arguments grad_output_indices and grad_input_indices name, or all of them.
Result<void> PythonGradient(GradientContext& c) {
  const auto wanted = [&](std::string_view arg, size_t count) {
    std::vector<int64_t> indices = ArgInts(*c.net().symbols, c.op().args, arg);
    if (indices.empty())
      for (size_t i = 0; i < count; ++i) indices.push_back(static_cast<int64_t>(i));
    return indices;
  };
  BlobList inputs(std::span<const Symbol>(c.op().inputs)), outputs;
  inputs.Append(c.op().outputs.begin(), c.op().outputs.end());
  for (int64_t i : wanted("grad_output_indices", c.num_outputs())) {
    if (i < 0 || i >= static_cast<int64_t>(c.num_outputs()))
      return Error{ErrorCode::kSchema,
                   StrCat("grad_output_indices names output ", i, ", which is not there")};
    inputs.push_back(c.GO(static_cast<size_t>(i)));
  }
  for (int64_t i : wanted("grad_input_indices", c.num_inputs())) {
    if (i < 0 || i >= static_cast<int64_t>(c.num_inputs()))
      return Error{ErrorCode::kSchema, StrCat("grad_input_indices names input ", i, ", which is not there")};
    outputs.push_back(c.GI(static_cast<size_t>(i)));
  }
  c.Add(c.Str(c.op().type) == "Python" ? "PythonGradient" : "PythonDLPackGradient", inputs, outputs);
  return {};
}

constexpr OpDef kOps[] = {
    {.name = "Assert", .in = 1, .out = 0, .ports = "->", .args = "error_msg:string", .tier = 2},
    {.name = "AsyncIf",
     .in = {1, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "then_net:net else_net:net",
     .inplace = "*",
     .policy = kRule,
     .tier = 3,
     .flags = kControlFlow},
    {.name = "ATen", .in = {0, kAny}, .out = {0, kAny}, .ports = "->", .tier = 3},
    {.name = "Crash", .in = 0, .out = 0, .ports = "->", .tier = 3},
    {.name = "CreateScope",
     .in = 0,
     .out = 1,
     .ports = "->",
     .policy = kForbidden,
     .tier = 1,
     .flags = kStateful},
    {.name = "DataCouple", .in = {0, kAny}, .out = {0, kAny}, .ports = "->", .enforced = "i>i", .tier = 3},
    {.name = "Do",
     .in = {1, kAny},
     .out = {1, kAny},
     .ports = "->",
     .args = "net:net inner_blobs:strings outer_blobs_idx:ints saved_fwd_blobs:strings "
             "copy_external_blobs:bool=0 reuse_workspace:bool=0",
     .inplace = "*",
     .policy = kRule,
     .tier = 1,
     .flags = kControlFlow},
    {.name = "EnforceFinite", .in = 1, .out = 0, .ports = "->", .policy = kForbidden, .tier = 2},
    {.name = "Fail",
     .in = 0,
     .out = 0,
     .ports = "->",
     .args = "message:string='Exception from ThrowExceptionOp'",
     .policy = kForbidden,
     .tier = 3},
    {.name = "HasElements", .in = {1, kAny}, .out = 1, .ports = "->", .policy = kForbidden, .tier = 3},
    {.name = "HasScope",
     .in = 1,
     .out = 1,
     .ports = "->",
     .policy = kForbidden,
     .tier = 1,
     .flags = kStateful},
    {.name = "If",
     .in = {1, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "then_net:net else_net:net",
     .inplace = "*",
     .policy = kRule,
     .tier = 1,
     .flags = kControlFlow},
    {.name = "IsEmpty", .in = 1, .out = 1, .ports = "->", .policy = kForbidden, .tier = 2},
    {.name = "LogFatal",
     .in = 0,
     .out = 0,
     .ports = "->",
     .args = "message:string='Exception from ThrowExceptionOp'",
     .policy = kForbidden,
     .tier = 3},
    {.name = "NegateGradient",
     .in = 1,
     .out = 1,
     .ports = "->",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "Negative(GO0) -> GI0",
     .tier = 3},
    {.name = "Onnxifi",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "onnx_model:string initializers:strings output_resize_hints:any "
             "adjust_output_batch:int=0 adjust_quantized_offset:int=128 backend_id:int "
             "input_names:strings max_batch_size:int=0 max_seq_size:int=0 model_id:string "
             "net_pos:string netdef_str:string nominal_batch_idx:int=0 output_names:strings "
             "output_qshape_info:tensors output_qshapes_bs_:tensors output_shape_info:tensors "
             "output_shapes_bs_:tensors timeout:int=0 use_glow_aot:int=0 use_onnx:int=0 "
             "use_onnxifi_batch_size:int=0 use_passed_output_shapes:int=0",
     .tier = 2},
    {.name = "ONNXWhile",
     .in = {2, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "body:net has_trip_count:int=0 has_cond:int=0 save_scopes:int=0 disable_scopes:int=0 "
             "num_loop_carried_deps:int=-1",
     .inplace = "*",
     .tier = 2,
     .flags = kControlFlow},
    {.name = "Python",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "grad_input_indices:ints grad_output_indices:ints pass_workspace:bool=0 token:string",
     .inplace = "*",
     .policy = kRule,
     .gradient_fn = PythonGradient,
     .tier = 2,
     .flags = kStateful},
    {.name = "PythonGradient",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "grad_input_indices:ints grad_output_indices:ints pass_workspace:bool=0 token:string",
     .inplace = "*",
     .tier = 2,
     .flags = kStateful},
    {.name = "PythonDLPack",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "grad_input_indices:ints grad_output_indices:ints pass_workspace:bool=0 token:string",
     .inplace = "*",
     .policy = kRule,
     .gradient_fn = PythonGradient,
     .tier = 3,
     .flags = kStateful},
    {.name = "PythonDLPackGradient",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "grad_input_indices:ints grad_output_indices:ints pass_workspace:bool=0 token:string",
     .inplace = "*",
     .tier = 3,
     .flags = kStateful},
    {.name = "StopGradient", .in = 1, .out = 1, .ports = "->", .inplace = "0>0", .policy = kNone, .tier = 1},
    {.name = "ThrowChildThreadException",
     .in = 0,
     .out = 0,
     .ports = "->",
     .args = "message:string='Exception from ThrowExceptionOp'",
     .policy = kForbidden,
     .tier = 3},
    {.name = "ThrowException",
     .in = 0,
     .out = 0,
     .ports = "->",
     .args = "message:string='Exception from ThrowExceptionOp'",
     .policy = kForbidden,
     .tier = 3},
    {.name = "While",
     .in = {1, kAny},
     .out = {0, kAny},
     .ports = "->",
     .args = "loop_net:net cond_net:net",
     .inplace = "*",
     .policy = kRule,
     .tier = 1,
     .flags = kControlFlow},
    {.name = "ZeroGradient",
     .in = 1,
     .out = 0,
     .ports = "->",
     .policy = kRule,
     .gradient = "ConstantFill(I0) -> GI0 {value=0.0}",
     .tier = 1},
};

}  // namespace

OpFamily ControlOps() { return kOps; }

}  // namespace weft
