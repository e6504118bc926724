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
    {.name = "Assert",
     .doc = "Fails with error_msg unless every element of the bool (or integer) input is true.",
     .in = 1,
     .out = 0,
     .ports = "condition ->",
     .args = "error_msg:string",
     .tier = 2},
    {.name = "AsyncIf",
     .doc = "If, its chosen net run without waiting for it.",
     .in = {1, kAny},
     .out = {0, kAny},
     .ports = "condition inputs... -> outputs...",
     .args = "then_net:net else_net:net",
     .inplace = "*",
     .policy = kRule,
     .shape = "nested",
     .tier = 3,
     .flags = kControlFlow},
    {.name = "ATen",
     .doc = "Calls the function called operator of another tensor library.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> outputs...",
     .args = "operator:string overload_name:string",
     .shape_reason = "the operator that an argument names decides",
     .tier = 3},
    {.name = "Crash",
     .doc = "Ends the process at once: a test of what others do then.",
     .in = 0,
     .out = 0,
     .ports = "->",
     .tier = 3},
    {.name = "CreateScope",
     .doc = "An empty stack of workspaces, for Do.",
     .in = 0,
     .out = 1,
     .ports = "-> workspaces",
     .policy = kForbidden,
     .shape = "workspaces = object",
     .tier = 1,
     .flags = kStateful},
    {.name = "DataCouple",
     .doc = "Passes tensors on in place, so that all of them wait for each other.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> outputs...",
     .enforced = "i>i",
     .shape = "outputs = inputs",
     .tier = 3},
    {.name = "Do",
     .doc = "Runs net in a workspace of its own, pushed on the stack; inner_blobs are aliases of "
            "the outer blobs that outer_blobs_idx names, all others are private.",
     .in = {1, kAny},
     .out = {1, kAny},
     .ports = "inputs... workspaces -> outputs... workspaces",
     .args = "net:net inner_blobs:strings outer_blobs_idx:ints saved_fwd_blobs:strings "
             "copy_external_blobs:bool=0 reuse_workspace:bool=0",
     .inplace = "*",
     .policy = kRule,
     .shape = "nested",
     .tier = 1,
     .flags = kControlFlow},
    {.name = "EnforceFinite",
     .doc = "Fails when X holds a value that is infinite or not a number.",
     .in = 1,
     .out = 0,
     .ports = "X ->",
     .policy = kForbidden,
     .tier = 2},
    {.name = "Fail",
     .doc = "Always fails.",
     .in = 0,
     .out = 0,
     .ports = "->",
     .args = "message:string='Exception from ThrowExceptionOp'",
     .policy = kForbidden,
     .tier = 3},
    {.name = "HasElements",
     .doc = "True when one of the inputs has an element.",
     .in = {1, kAny},
     .out = 1,
     .ports = "inputs... -> result",
     .policy = kForbidden,
     .shape = "result = [] : bool",
     .tier = 3},
    {.name = "HasScope",
     .doc = "True while the stack of workspaces is not empty.",
     .in = 1,
     .out = 1,
     .ports = "workspaces -> result",
     .policy = kForbidden,
     .shape = "result = [] : bool",
     .tier = 1,
     .flags = kStateful},
    {.name = "If",
     .doc = "Runs then_net when the one-element bool condition is true, else_net (if there is one) "
            "when it is not, in the same workspace.",
     .in = {1, kAny},
     .out = {0, kAny},
     .ports = "condition inputs... -> outputs...",
     .args = "then_net:net else_net:net",
     .inplace = "*",
     .policy = kRule,
     .shape = "nested",
     .tier = 1,
     .flags = kControlFlow},
    {.name = "IsEmpty",
     .doc = "True when the tensor has no elements.",
     .in = 1,
     .out = 1,
     .ports = "X -> result",
     .policy = kForbidden,
     .shape = "result = [] : bool",
     .tier = 2},
    {.name = "LogFatal",
     .doc = "Ends the process with a message: a test of what others do then.",
     .in = 0,
     .out = 0,
     .ports = "->",
     .args = "message:string='Exception from ThrowExceptionOp'",
     .policy = kForbidden,
     .tier = 3},
    {.name = "NegateGradient",
     .doc = "Copies X; the gradient comes back negated.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .inplace = "0>0",
     .policy = kRule,
     .gradient = "Negative(GO0) -> GI0",
     .shape = "Y = copy(X)",
     .tier = 3},
    {.name = "Onnxifi",
     .doc = "Runs an ONNX model (or a net) on an accelerator behind the ONNXIFI interface.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> outputs...",
     .args = "onnx_model:string initializers:strings output_resize_hints:any "
             "adjust_output_batch:int=0 adjust_quantized_offset:int=128 backend_id:int "
             "input_names:strings max_batch_size:int=0 max_seq_size:int=0 model_id:string "
             "net_pos:string netdef_str:string nominal_batch_idx:int=0 output_names:strings "
             "output_qshape_info:tensors output_qshapes_bs_:tensors output_shape_info:tensors "
             "output_shapes_bs_:tensors timeout:int=0 use_glow_aot:int=0 use_onnx:int=0 "
             "use_onnxifi_batch_size:int=0 use_passed_output_shapes:int=0",
     .shape_reason = "the operator that an argument names decides",
     .tier = 2},
    {.name = "ONNXWhile",
     .doc = "ONNX's Loop: runs body with the iteration number, the condition and carried values "
            "until the count or the condition ends it.",
     .in = {2, kAny},
     .out = {0, kAny},
     .ports = "max_trip_count condition initial_values... -> final_values...",
     .args = "body:net has_trip_count:int=0 has_cond:int=0 save_scopes:int=0 disable_scopes:int=0 "
             "num_loop_carried_deps:int=-1",
     .inplace = "*",
     .shape = "nested",
     .tier = 2,
     .flags = kControlFlow},
    {.name = "Python",
     .doc = "Calls a Python function: token (or a pickled builder) says which.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> outputs...",
     .args = "grad_input_indices:ints grad_output_indices:ints pass_workspace:bool=0 token:string",
     .inplace = "*",
     .policy = kRule,
     .gradient_fn = PythonGradient,
     .shape_reason = "what the Python function returns",
     .tier = 2,
     .flags = kStateful},
    {.name = "PythonGradient",
     .doc = "Calls the gradient function of a Python operator.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> grads...",
     .args = "grad_input_indices:ints grad_output_indices:ints pass_workspace:bool=0 token:string",
     .inplace = "*",
     .shape_reason = "what the Python function returns",
     .tier = 2,
     .flags = kStateful},
    {.name = "PythonDLPack",
     .doc = "Python, tensors passed as DLPack.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> outputs...",
     .args = "grad_input_indices:ints grad_output_indices:ints pass_workspace:bool=0 token:string",
     .inplace = "*",
     .policy = kRule,
     .gradient_fn = PythonGradient,
     .shape_reason = "what the Python function returns",
     .tier = 3,
     .flags = kStateful},
    {.name = "PythonDLPackGradient",
     .doc = "Calls the gradient function of a PythonDLPack operator.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> grads...",
     .args = "grad_input_indices:ints grad_output_indices:ints pass_workspace:bool=0 token:string",
     .inplace = "*",
     .shape_reason = "what the Python function returns",
     .tier = 3,
     .flags = kStateful},
    {.name = "StopGradient",
     .doc = "Passes X on; no gradient comes back through it.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .inplace = "0>0",
     .policy = kNone,
     .shape = "Y = copy(X)",
     .tier = 1},
    {.name = "ThrowChildThreadException",
     .doc = "Always fails, in a thread of its own: a test of what others do then.",
     .in = 0,
     .out = 0,
     .ports = "->",
     .args = "message:string='Exception from ThrowExceptionOp'",
     .policy = kForbidden,
     .tier = 3},
    {.name = "ThrowException",
     .doc = "Always fails with message: a test of what others do then.",
     .in = 0,
     .out = 0,
     .ports = "->",
     .args = "message:string='Exception from ThrowExceptionOp'",
     .policy = kForbidden,
     .tier = 3},
    {.name = "While",
     .doc = "Runs cond_net (if there is one), stops when the one-element bool condition is false, "
            "runs loop_net, and starts over.",
     .in = {1, kAny},
     .out = {0, kAny},
     .ports = "condition inputs... -> outputs...",
     .args = "loop_net:net cond_net:net",
     .inplace = "*",
     .policy = kRule,
     .shape = "nested",
     .tier = 1,
     .flags = kControlFlow},
    {.name = "ZeroGradient",
     .doc = "Uses X without a result; its gradient is zeros, so that X always has one.",
     .in = 1,
     .out = 0,
     .ports = "X ->",
     .policy = kRule,
     .gradient = "ConstantFill(I0) -> GI0 {value=0.0}",
     .tier = 1},
};

}  // namespace

OpFamily ControlOps() { return kOps; }

}  // namespace weft
