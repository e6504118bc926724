// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that look at tensors to stop a run or to say something about them, those that only matter to
// gradients, and ONNX's loop.
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"
#include "core/run/interpreter.h"

namespace weft {

namespace kernels {
namespace {

Result<void> Assert(KernelContext& c) {
  return Switch<bool, int32_t, int64_t>(c, c.In(0).type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < c.In(0).numel(); ++i) {
      const T value = c.In<T>(0)[i];
      WEFT_ENSURE(c, value, "Assert failed for element ", i,
                  " in tensor, value: ", static_cast<int64_t>(value), " ", c.ArgS("error_msg", ""));
    }
    return {};
  });
}

Result<void> AllFinite(const KernelContext& c, const Tensor& t, size_t input) {
  return SwitchFloat(c, t.type(), [&](auto tag) -> Result<void> {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < t.numel(); ++i)
      WEFT_ENSURE(c, std::isfinite(t.data<T>()[i]), "Index ", i,
                  " is not finite (e.g., NaN, Inf): ", t.data<T>()[i], " in ", c.InName(input));
    return {};
  });
}

Result<void> EnforceFinite(KernelContext& c) { return AllFinite(c, c.In(0), 0); }

// Further inputs only wait.
Result<void> NanCheck(KernelContext& c) {
  WEFT_TRY_VOID(AllFinite(c, c.In(0), 0));
  return c.CopyOut(0, c.In(0));
}

Result<void> IsEmpty(KernelContext& c) {
  WEFT_TRY(bool* out, c.Out<bool>(0, {}));
  *out = c.In(0).numel() == 0;
  return {};
}

Result<void> HasElements(KernelContext& c) {
  bool any = false;
  for (size_t i = 0; i < c.num_inputs(); ++i) any |= c.In(i).numel() > 0;
  WEFT_TRY(bool* out, c.Out<bool>(0, {}));
  *out = any;
  return {};
}

Result<void> CopyAll(KernelContext& c) {
  for (size_t i = 0; i < std::min(c.num_inputs(), c.num_outputs()); ++i) WEFT_TRY_VOID(c.CopyOut(i, c.In(i)));
  return {};
}

Result<void> Fail(KernelContext& c) {
  return c.Fail(c.ArgS("message", StrCat("Exception from ", c.Str(c.op().type))));
}

// ONNX's Loop: the body's inputs are the count, the condition and the values that are carried on; its outputs
// the next condition, the next values, and values that are collected over all runs.
struct Body {
  static constexpr std::string_view kBlobType = "ONNXWhile";
  std::shared_ptr<const Net> net;
  std::unique_ptr<Workspace> workspace;
};

Result<void> PrepareOnnxWhile(KernelContext& c) {
  const NetPtr body = c.ArgNet("body");
  if (!body) return Error{ErrorCode::kControlFlow, "body must be specified in ONNXWhile operator"};
  Net net = *body;
  if (net.Str(net.name).empty()) net.name = net.Intern("loop_body");
  // Names that the body only takes over from outside are found in the workspace around it.
  c.State<Body>().net = std::make_shared<const Net>(std::move(net));
  return {};
}

Result<void> OnnxWhile(KernelContext& c) {
  Body& body = c.State<Body>();
  const Net& net = *body.net;
  const size_t carried = c.num_inputs() >= 2 ? c.num_inputs() - 2 : 0;
  if (c.num_inputs() < 2 || net.external_inputs.size() < 2 + carried ||
      net.external_outputs.size() < 1 + carried || net.external_outputs.size() != 1 + c.num_outputs())
    return Error{ErrorCode::kControlFlow, "inputs and outputs of the body do not match those of the loop"};
  const bool has_count = c.ArgB("has_trip_count", false), has_condition = c.ArgB("has_cond", false);
  int64_t count = 0;
  bool condition = true;
  if (has_count) {
    const Tensor* t = c.InBlob(0).Get<Tensor>();
    WEFT_ENSURE(c, t && t->type() == DataType::kInt64 && t->numel() == 1, "the trip count must be one int64");
    count = t->data<int64_t>()[0];
  }
  if (has_condition) {
    const Tensor* t = c.InBlob(1).Get<Tensor>();
    WEFT_ENSURE(c, t && t->type() == DataType::kBool && t->numel() == 1, "the condition must be one bool");
    condition = t->data<bool>()[0];
  }
  body.workspace = std::make_unique<Workspace>(c.workspace());
  Workspace& w = *body.workspace;
  const auto local = [&](Symbol name) -> Blob& { return w.CreateLocalBlob(net.Str(name)); };
  for (size_t i = 0; i < carried; ++i) {
    const Tensor* t = c.InBlob(2 + i).Get<Tensor>();
    WEFT_ENSURE(c, t && t->has_type(), c.InName(2 + i), " must be a tensor");
    local(net.external_inputs[2 + i]).Set(t->Clone());
  }
  const size_t collected = net.external_outputs.size() - 1 - carried;
  std::vector<std::vector<Tensor>> scans(collected);
  local(net.external_inputs[0]).Set(Tensor::Scalar<int64_t>(0));
  local(net.external_inputs[1]).Set(Tensor::Scalar<bool>(condition));
  for (Symbol name : net.external_outputs) local(name);
  WEFT_TRY(PreparedNet * prepared, w.CreateNet(body.net, true));
  for (int64_t i = 0; condition && (!has_count || i < count); ++i) {
    if (!c.run().Count())
      return Error{ErrorCode::kLimit, StrCat("stopped after ", c.run().op_limit, " operators")};
    local(net.external_inputs[0]).Ensure<Tensor>() = Tensor::Scalar<int64_t>(i);
    WEFT_TRY_VOID(prepared->Run());
    const Tensor* next = w.FindTensor(net.Str(net.external_outputs[0]));
    if (has_condition) {
      WEFT_ENSURE(c, next && next->type() == DataType::kBool && next->numel() == 1,
                  "the body's condition must be one bool");
      condition = next->data<bool>()[0];
      local(net.external_inputs[1]).Ensure<Tensor>() = Tensor::Scalar<bool>(condition);
    }
    std::vector<Tensor> values;
    for (size_t k = 0; k < carried + collected; ++k) {
      const Tensor* t = w.FindTensor(net.Str(net.external_outputs[1 + k]));
      WEFT_ENSURE(c, t && t->has_type(), "output ", k, " of the body must be a tensor");
      values.push_back(t->Clone());
    }
    for (size_t k = 0; k < carried; ++k)
      local(net.external_inputs[2 + k]).Ensure<Tensor>() = std::move(values[k]);
    for (size_t k = 0; k < collected; ++k) scans[k].push_back(std::move(values[carried + k]));
  }
  for (size_t k = 0; k < carried; ++k)
    WEFT_TRY_VOID(c.CopyOut(k, *w.FindTensor(net.Str(net.external_inputs[2 + k]))));
  for (size_t k = 0; k < collected; ++k) {
    if (scans[k].empty()) {
      WEFT_TRY(int32_t * nothing, c.Out<int32_t>(carried + k, {0}));
      (void)nothing;
      continue;
    }
    Dims dims{static_cast<int64_t>(scans[k].size())};
    dims.Append(scans[k][0].dims().begin(), scans[k][0].dims().end());
    WEFT_TRY_VOID(c.Allocate(carried + k, scans[k][0].type(), dims));
    for (size_t i = 0; i < scans[k].size(); ++i) {
      WEFT_ENSURE(c, SameDims(scans[k][i], scans[k][0]) && scans[k][i].type() == scans[k][0].type(),
                  "collected values differ in shape");
      CopyElements(scans[k][i], 0, c.Out(carried + k), static_cast<int64_t>(i) * scans[k][0].numel(),
                   scans[k][0].numel());
    }
  }
  return {};
}

constexpr KernelRow kRows[] = {
    {"Assert", Assert},
    {"EnforceFinite", EnforceFinite, "F"},
    {"NanCheck", NanCheck, "F?", kInPlace},
    {"IsEmpty", IsEmpty, "?"},
    {"HasElements", HasElements, "?"},
    {"DataCouple", CopyAll, "*", kInPlace},
    {"NegateGradient", CopyAll, "*", kInPlace},
    {"StopGradient", CopyAll, "*", kInPlace},
    {"ZeroGradient", CopyAll, "*", kInPlace},
    {"Fail", Fail, "B"},
    {"ThrowException", Fail, "B"},
    {"ONNXWhile", OnnxWhile, "B", kInPlace, PrepareOnnxWhile},
};

}  // namespace
}  // namespace kernels

KernelFamily ControlChecksKernels() { return kernels::kRows; }

}  // namespace weft
