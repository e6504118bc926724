// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Do, If, While and their stack of workspaces (semantics 3.1). If and While run their nets in the workspace
// that they are in; Do runs its net in a workspace of its own, where some names are bound to blobs outside
// and all others are private. The forward Do pushes that workspace on a stack blob, its gradient pops it and
// so finds the private values of that very run.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/kernels/families.h"
#include "core/kernels/util.h"
#include "core/run/interpreter.h"

namespace weft {

namespace {

/// Workspaces of Do runs that wait for their gradient. Popped ones stay and serve again.
struct ScopeStack {
  static constexpr std::string_view kBlobType = "caffe2::detail::WorkspaceStack";

  struct Level {
    std::shared_ptr<Workspace> workspace;
    Workspace* outer = nullptr;
    Workspace::Bindings bindings;
  };
  std::vector<Level> levels;
  size_t depth = 0;  // levels[0 .. depth) are pushed

  Result<std::shared_ptr<Workspace>> Bound(size_t at, Workspace& outer, const Workspace::Bindings& bindings) {
    if (at == levels.size()) levels.emplace_back();
    Level& level = levels[at];
    if (level.workspace && level.outer == &outer && level.bindings == bindings) {
      level.workspace->UncopyBound();
      return level.workspace;
    }
    level.outer = &outer;
    level.bindings = bindings;
    level.workspace = std::make_shared<Workspace>(outer.context());
    WEFT_TRY_VOID(level.workspace->Bind(outer, bindings));
    return level.workspace;
  }
};

struct DoState {
  static constexpr std::string_view kBlobType = "Do";
  std::shared_ptr<const Net> net;
  Workspace::Bindings bindings;
  bool copy = false, reuse = false, gradient = false;
};

Error ControlError(std::string message) { return Error{ErrorCode::kControlFlow, std::move(message)}; }

Result<void> PrepareDo(KernelContext& c) {
  DoState state;
  state.net = c.ArgNet("net");
  if (!state.net) return ControlError("net must be specified in Do operator");
  state.gradient = c.op().is_gradient_op.value_or(false);
  state.copy = c.ArgB("copy_external_blobs", false);
  state.reuse = c.ArgB("reuse_workspace", false);
  if (state.gradient && state.reuse) return ControlError("Gradient Do op requires use of stacked workspaces");
  if (state.copy && state.reuse)
    return ControlError("Reuse workspace and copy external blobs simultaneously in Do op");
  if (c.num_inputs() == 0 || c.num_outputs() == 0)
    return ControlError("Expected at least one input and output blob: the workspace blob");
  if (c.op().inputs.back() != c.op().outputs.back())
    return ControlError(StrCat("Expected same input/output workspace blob, found ",
                               c.InName(c.num_inputs() - 1), " and ", c.OutName(c.num_outputs() - 1)));
  std::vector<Symbol> outer(c.op().inputs.begin(), c.op().inputs.end() - 1);
  outer.insert(outer.end(), c.op().outputs.begin(), c.op().outputs.end() - 1);

  const std::vector<std::string> inner = c.ArgSs("inner_blobs");
  const std::vector<int64_t> index = c.ArgIs("outer_blobs_idx");
  if (inner.size() != index.size())
    return ControlError(
        StrCat("Invalid blob bindings: ", inner.size(), " inner and ", index.size(), " outer blobs"));
  std::vector<Symbol> used;
  std::vector<std::string> names = inner;
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return ControlError(StrCat("Invalid blob bindings: redefinition of inner blob ", *twice));
  for (size_t i = 0; i < inner.size(); ++i) {
    if (index[i] < 0 || index[i] >= static_cast<int64_t>(outer.size()))
      return ControlError(StrCat("Invalid blob bindings: outer blob index (", index[i],
                                 ", inner name: ", inner[i], ") is out of bounds [0, ",
                                 static_cast<int64_t>(outer.size()) - 1, "]"));
    used.push_back(outer[index[i]]);
    state.bindings.emplace_back(inner[i], std::string(c.Str(outer[index[i]])));
  }
  std::sort(used.begin(), used.end());  // one outer blob may have two inner names (Caffe2 refuses it)
  for (Symbol name : outer)
    if (!std::binary_search(used.begin(), used.end(), name))
      return ControlError(StrCat("Not all outer names are used in blob bindings: ", c.Str(name)));
  c.State<DoState>() = std::move(state);
  return {};
}

Result<void> Do(KernelContext& c) {
  DoState& state = c.State<DoState>();
  ScopeStack& stack = c.OutBlob(c.num_outputs() - 1).Ensure<ScopeStack>();
  std::shared_ptr<Workspace> inner;
  if (state.gradient) {
    if (stack.depth == 0)
      return ControlError("Failed to initialize Do op workspace: the stack of workspaces is empty");
    inner = stack.levels[--stack.depth].workspace;
    WEFT_TRY_VOID(inner->Bind(c.workspace(), state.bindings, /*skip_defined=*/true));
  } else if (state.reuse) {
    if (stack.depth == 0) {
      WEFT_TRY(inner, stack.Bound(0, c.workspace(), state.bindings));
      stack.depth = 1;
    } else {
      inner = stack.levels[stack.depth - 1].workspace;
    }
  } else {
    WEFT_TRY(inner, stack.Bound(stack.depth, c.workspace(), state.bindings));
    ++stack.depth;
  }
  PreparedNet* net = inner->FindNet(state.net->Str(state.net->name));
  if (!net || &net->net() != state.net.get()) {
    WEFT_TRY(net, inner->CreateNet(state.net, /*overwrite=*/true));
  }
  WEFT_TRY_VOID(net->Run());
  if (!state.gradient && state.copy) WEFT_TRY_VOID(inner->CopyBound(state.bindings));
  return {};
}

Result<void> CreateScope(KernelContext& c) {
  c.OutBlob(0).Ensure<ScopeStack>().depth = 0;
  return {};
}

Result<void> HasScope(KernelContext& c) {
  const ScopeStack* stack = c.InBlob(0).Get<ScopeStack>();
  if (!stack) return ControlError(StrCat(c.InName(0), " holds ", c.InBlob(0).type_name(), ", not a scope"));
  WEFT_TRY(bool* out, c.Out<bool>(0, {1}));
  *out = stack->depth > 0;
  return {};
}

struct NetsState {
  static constexpr std::string_view kBlobType = "nets";
  std::unique_ptr<PreparedNet> first, second;  // then and else; body and condition
};

Result<bool> Condition(const KernelContext& c, std::string_view op) {
  const Tensor* tensor = c.InBlob(0).Get<Tensor>();
  if (!tensor || tensor->type() != DataType::kBool || tensor->numel() != 1)
    return ControlError(
        StrCat("Invalid condition tensor in ", op, " operator: single bool value expected, found ",
               !tensor ? std::string(c.InBlob(0).type_name())
                       : StrCat(DataTypeName(tensor->type()), " ", DimsToString(tensor->dims()))));
  return tensor->data<bool>()[0];
}

Result<void> PrepareIf(KernelContext& c) {
  NetPtr then_net = c.ArgNet("then_net");
  if (!then_net) return ControlError("then_net must be specified in If operator");
  NetsState state;
  WEFT_TRY(state.first, PreparedNet::Create(then_net, c.workspace()));
  if (NetPtr else_net = c.ArgNet("else_net")) {
    WEFT_TRY(state.second, PreparedNet::Create(else_net, c.workspace()));
  }
  c.State<NetsState>() = std::move(state);
  return {};
}

Result<void> If(KernelContext& c) {
  WEFT_TRY(const bool condition, Condition(c, "If"));
  NetsState& nets = c.State<NetsState>();
  PreparedNet* net = (condition ? nets.first : nets.second).get();
  return net ? net->Run() : Result<void>();
}

Result<void> PrepareWhile(KernelContext& c) {
  NetPtr body = c.ArgNet("loop_net");
  if (!body) return ControlError("loop_net must be specified in While operator");
  NetsState state;
  WEFT_TRY(state.first, PreparedNet::Create(body, c.workspace()));
  if (NetPtr condition = c.ArgNet("cond_net")) {
    WEFT_TRY(state.second, PreparedNet::Create(condition, c.workspace()));
  }
  c.State<NetsState>() = std::move(state);
  return {};
}

Result<void> While(KernelContext& c) {
  NetsState& nets = c.State<NetsState>();
  while (true) {
    if (nets.second) WEFT_TRY_VOID(nets.second->Run());
    WEFT_TRY(const bool condition, Condition(c, "While"));
    if (!condition) return {};
    WEFT_TRY_VOID(nets.first->Run());
    if (!c.run().Count())
      return Error{ErrorCode::kLimit, StrCat("stopped after ", c.run().op_limit, " operators")};
  }
}

constexpr KernelRow kRows[] = {
    {"CreateScope", CreateScope, "B"},         {"HasScope", HasScope, "B"},
    {"Do", Do, "B", kInPlace, PrepareDo},      {"If", If, "B", kInPlace, PrepareIf},
    {"AsyncIf", If, "B", kInPlace, PrepareIf}, {"While", While, "B", kInPlace, PrepareWhile},
};

}  // namespace

KernelFamily ControlKernels() { return kRows; }

}  // namespace weft
