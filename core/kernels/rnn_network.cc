// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// RecurrentNetwork and its gradient. A state lives in one tensor of all time steps; a step net runs once per
// step in a workspace of its own, where link operators let inner names share the elements of their step. The
// workspaces stay in the last output, so that the gradient finds the inner values of each step; it runs the
// backward step net from the last step to the first. All workspaces of a network share a parent that holds
// the states and their gradients.
#include <algorithm>
#include <memory>
#include <optional>

#include "core/kernels/families.h"
#include "core/kernels/rows.h"
#include "core/kernels/util.h"
#include "core/run/interpreter.h"

namespace weft {

namespace kernels {
namespace {

struct StepWorkspaces {
  static constexpr std::string_view kBlobType = "caffe2::detail::ScratchWorkspaces";
  std::shared_ptr<Workspace> shared;
  std::vector<std::shared_ptr<Workspace>> steps;

  StepWorkspaces() = default;
  StepWorkspaces(StepWorkspaces&&) = default;
  StepWorkspaces& operator=(StepWorkspaces&&) = default;
  // Steps have nets that point into `shared`.
  ~StepWorkspaces() { steps.clear(); }
};

struct Link {
  std::string inner, outer;
  int64_t offset, window;
};
// An outer name that shows a state from a time step on; negative offsets count from the end.
struct View {
  std::string source, target;
  int64_t offset;
};

struct Network {
  static constexpr std::string_view kBlobType = "RecurrentNetwork";
  std::shared_ptr<const Net> step;
  std::string timestep;
  std::vector<std::string> states;
  std::vector<int64_t> initial;  // inputs that the states start from
  std::vector<View> views;
};

struct ParamGradient {
  std::string param, inner;  // `inner` is what the step net writes, summed into the output
  size_t input;
};
struct StateGradient {
  std::string state, gradient;
  std::optional<size_t> all, last;  // inputs with the gradients of outputs that show the state
};
struct NetworkGradient {
  static constexpr std::string_view kBlobType = "RecurrentNetworkGradient";
  std::shared_ptr<const Net> step;
  std::string timestep, sequence_gradient;
  size_t gradients = 0;  // inputs that are gradients; the forward inputs follow
  size_t forward_inputs = 0;
  std::vector<ParamGradient> params;
  std::vector<StateGradient> states;
  std::vector<int64_t> initial;
};

Result<std::vector<Link>> FindLinks(const KernelContext& c, const std::string& prefix) {
  const std::vector<std::string> inner = c.ArgSs(prefix + "_internal"), outer = c.ArgSs(prefix + "_external");
  const std::vector<int64_t> offset = c.ArgIs(prefix + "_offset");
  std::vector<int64_t> window = c.ArgIs(prefix + "_window");
  if (window.empty()) window.assign(inner.size(), 1);
  if (inner.size() != outer.size() || inner.size() != offset.size() || inner.size() != window.size())
    return c.Fail(prefix, " arguments have different lengths");
  std::vector<Link> links;
  for (size_t i = 0; i < inner.size(); ++i) links.push_back({inner[i], outer[i], offset[i], window[i]});
  return links;
}

Result<std::vector<View>> FindViews(const KernelContext& c) {
  const std::vector<std::string> source = c.ArgSs("alias_src"), target = c.ArgSs("alias_dst");
  const std::vector<int64_t> offset = c.ArgIs("alias_offset");
  if (source.size() != target.size() || source.size() != offset.size())
    return c.Fail("alias arguments have different lengths");
  std::vector<View> views;
  for (size_t i = 0; i < source.size(); ++i) views.push_back({source[i], target[i], offset[i]});
  return views;
}

Op MakeOp(Net& net, std::string_view type, std::initializer_list<std::string_view> inputs,
          std::initializer_list<std::string_view> outputs, std::vector<Arg> args) {
  Op op;
  op.type = net.Intern(type);
  for (std::string_view name : inputs) op.inputs.push_back(net.Intern(name));
  for (std::string_view name : outputs) op.outputs.push_back(net.Intern(name));
  op.args = ArgList(std::move(args));
  return op;
}

// Undeclared names (states, gradients that are summed) are found in the workspaces, so no sources are asked
// for.
Net StepNet(const Net& given) {
  Net net = given;
  net.external_inputs.clear();
  net.external_outputs.clear();
  return net;
}

void PrependLinks(Net& net, const std::vector<Link>& links, std::string_view timestep) {
  std::vector<Op> ops;
  for (const Link& link : links)
    ops.push_back(
        MakeOp(net, "rnn_internal_apply_link", {timestep, link.outer}, {link.inner, link.outer},
               {MakeArg(net.Intern("offset"), link.offset), MakeArg(net.Intern("window"), link.window)}));
  net.ops.insert(net.ops.begin(), ops.begin(), ops.end());
}

Result<void> RunStep(const std::shared_ptr<const Net>& net, Workspace& workspace, const std::string& timestep,
                     int64_t t) {
  const int32_t step = static_cast<int32_t>(t);
  const int64_t one = 1;
  Tensor& tensor = workspace.CreateLocalBlob(timestep).Ensure<Tensor>();
  WEFT_CHECK(tensor.Allocate(DataType::kInt32, std::span(&one, 1)));
  tensor.mutable_data<int32_t>()[0] = step;
  PreparedNet* prepared = workspace.FindNet(net->Str(net->name));
  if (!prepared || &prepared->net() != net.get()) {
    WEFT_TRY(prepared, workspace.CreateNet(net, /*overwrite=*/true));
  }
  return prepared->Run();
}

Result<void> PrepareNetwork(KernelContext& c) {
  Network n;
  const NetPtr step = c.ArgNet("step_net");
  if (!step) return Error{ErrorCode::kControlFlow, "step_net is missing"};
  n.timestep = c.ArgS("timestep", "timestep");
  n.states = c.ArgSs("recurrent_states");
  n.initial = c.ArgIs("initial_recurrent_state_ids");
  if (n.states.size() != n.initial.size())
    return Error{ErrorCode::kControlFlow,
                 "recurrent_states and initial_recurrent_state_ids differ in length"};
  for (int64_t id : n.initial)
    if (id < 0 || id >= static_cast<int64_t>(c.num_inputs()))
      return Error{ErrorCode::kControlFlow, StrCat("no input ", id, " for a recurrent state")};
  WEFT_TRY(n.views, FindViews(c));
  WEFT_TRY(const std::vector<Link> links, FindLinks(c, "link"));
  Net net = StepNet(*step);
  if (net.Str(net.name).empty()) net.name = net.Intern("step");
  PrependLinks(net, links, n.timestep);
  n.step = std::make_shared<const Net>(std::move(net));
  c.State<Network>() = std::move(n);
  return {};
}

Result<const Tensor*> FloatsIn(const KernelContext& c, size_t input) {
  const Tensor* t = c.has_input(input) ? c.InBlob(input).Get<Tensor>() : nullptr;
  if (!t || t->type() != DataType::kFloat) return c.Fail("input ", input, " must be a tensor of floats");
  return t;
}

// What a blob of the gradient is called by now: sharing memory among gradients leaves "BLOB.rename"
// arguments.
std::string RenamedTo(const KernelContext& c, const std::string& name) {
  return c.ArgS(name + ".rename", name);
}

// The state over all steps, with its first step (or steps) from `initial`: [.., batch, size], or [size] for
// all.
Result<void> StartState(const KernelContext& c, Workspace& shared, const std::string& name,
                        const Tensor& initial, int64_t steps, int64_t batch) {
  if (initial.ndim() < 1) return c.Fail("the initial state of ", name, " has no dimensions");
  const int64_t size = initial.dim(initial.ndim() - 1);
  const int64_t length = initial.ndim() == 3 ? initial.dim(0) : 1;
  if (initial.ndim() > 3 || (initial.ndim() >= 2 && initial.dim(initial.ndim() - 2) != batch))
    return c.Fail("the initial state of ", name, " is ", DimsToString(initial.dims()), " for a batch of ",
                  batch);
  const int64_t dims[] = {steps + length, batch, size};
  Tensor state;  // a fresh one: views of the last run stay as they were
  if (!state.Allocate(DataType::kFloat, dims)) return c.Fail("no memory for the state ", name);
  if (initial.ndim() >= 2) {
    CopyElements(initial, 0, state, 0, length * batch * size);
  } else {
    for (int64_t b = 0; b < batch; ++b) CopyElements(initial, 0, state, b * size, size);
  }
  shared.CreateLocalBlob(name).Set(std::move(state));
  return {};
}

Result<void> RunNetwork(KernelContext& c) {
  Network& n = c.State<Network>();
  WEFT_TRY(const Tensor* sequence, FloatsIn(c, 0));
  WEFT_ENSURE(c, sequence->ndim() >= 2, "the sequence is ", DimsToString(sequence->dims()),
              ", expected [steps, batch, ...]");
  const int64_t steps = sequence->dim(0), batch = sequence->dim(1);
  StepWorkspaces& scratch = c.OutBlob(c.num_outputs() - 1).Ensure<StepWorkspaces>();
  if (!scratch.shared) scratch.shared = std::make_shared<Workspace>(c.workspace());
  for (size_t i = 0; i < n.states.size(); ++i) {
    WEFT_TRY(const Tensor* initial, FloatsIn(c, n.initial[i]));
    WEFT_TRY_VOID(StartState(c, *scratch.shared, n.states[i], *initial, steps, batch));
  }
  for (int64_t t = 0; t < steps; ++t) {
    if (static_cast<int64_t>(scratch.steps.size()) <= t)
      scratch.steps.push_back(std::make_shared<Workspace>(*scratch.shared));
    WEFT_TRY_VOID(RunStep(n.step, *scratch.steps[t], n.timestep, t));
  }
  for (const View& view : n.views) {
    const Tensor* source = scratch.shared->FindTensor(view.source);
    Blob* target = c.workspace().FindBlob(view.target);
    WEFT_ENSURE(c, source && source->ndim() > 0 && target, "cannot show ", view.source, " as ", view.target);
    const int64_t first = view.offset < 0 ? source->dim(0) + view.offset : view.offset;
    WEFT_ENSURE(c, first >= 0 && first <= source->dim(0), "offset ", view.offset, " is outside of ",
                view.source);
    Dims dims(source->dims());
    dims[0] -= first;
    target->Ensure<Tensor>() = source->View(first * source->SizeFrom(1), dims);
  }
  return {};
}

Result<void> PrepareNetworkGradient(KernelContext& c) {
  NetworkGradient n;
  const NetPtr step = c.ArgNet("backward_step_net");
  if (!step) return Error{ErrorCode::kControlFlow, "backward_step_net is missing"};
  n.timestep = c.ArgS("timestep", "timestep");
  n.initial = c.ArgIs("initial_recurrent_state_ids");
  const std::vector<int64_t> with_gradient = c.ArgIs("outputs_with_grads");
  n.gradients = with_gradient.size();
  const std::vector<int64_t> params = c.ArgIs("param");
  std::vector<std::string> param_gradients = c.ArgSs("param_grads");
  const std::vector<std::string> states = c.ArgSs("recurrent_states");
  WEFT_TRY(const std::vector<View> views, FindViews(c));
  WEFT_TRY(std::vector<Link> links, FindLinks(c, "backward_link"));
  for (Link& link : links) {
    link.inner = RenamedTo(c, link.inner);
    link.outer = RenamedTo(c, link.outer);
  }
  if (c.num_inputs() <= n.gradients) return Error{ErrorCode::kControlFlow, "the forward inputs are missing"};
  if (!param_gradients.empty() && param_gradients.size() != params.size())
    return Error{ErrorCode::kControlFlow, "param and param_grads differ in length"};
  if (states.size() != n.initial.size() || c.num_outputs() < 1 + params.size() + states.size())
    return Error{ErrorCode::kControlFlow, "outputs do not match parameters and states"};

  Net net = StepNet(*step);
  if (net.Str(net.name).empty()) net.name = net.Intern("backward_step");
  PrependLinks(net, links, n.timestep);
  n.sequence_gradient = RenamedTo(c, StrCat(c.InName(n.gradients), "_grad"));
  for (const std::string& state : states) {
    StateGradient g{state, RenamedTo(c, state + "_grad"), {}, {}};
    for (size_t v = 0; v < views.size(); ++v) {
      if (views[v].source != state) continue;
      const auto at = std::find(with_gradient.begin(), with_gradient.end(), static_cast<int64_t>(v));
      if (at == with_gradient.end()) continue;
      const size_t input = static_cast<size_t>(at - with_gradient.begin());
      if (views[v].offset == 1) {
        g.all = input;
        net.ops.insert(net.ops.begin(), MakeOp(net, "rnn_internal_accumulate_gradient_input",
                                               {n.timestep, c.InName(input), g.gradient}, {g.gradient},
                                               {MakeArg(net.Intern("offset"), int64_t{1})}));
      } else if (views[v].offset == -1) {
        g.last = input;
      } else {
        return Error{ErrorCode::kControlFlow, "only views from step 1 and of the last step have gradients"};
      }
    }
    n.states.push_back(std::move(g));
  }
  for (size_t p = 0; p < params.size(); ++p) {
    const int64_t input = params[p] + static_cast<int64_t>(n.gradients);
    if (params[p] < 0 || input >= static_cast<int64_t>(c.num_inputs()))
      return Error{ErrorCode::kControlFlow, StrCat("no input ", params[p], " for a parameter")};
    ParamGradient g{std::string(c.InName(input)), {}, static_cast<size_t>(input)};
    const std::string written =
        param_gradients.empty() ? g.param + "_grad" : RenamedTo(c, param_gradients[p]);
    g.inner = written + "_tmpstep";
    const Symbol from = net.Intern(written), to = net.Intern(g.inner);
    for (Op& op : net.ops)
      for (Symbol& name : op.outputs)
        if (name == from) name = to;
    // The sum goes to the output of this operator, whatever it is called by now.
    const std::string sum(c.OutName(1 + p));
    net.ops.push_back(MakeOp(net, "Sum", {sum, g.inner}, {sum}, {}));
    n.params.push_back(std::move(g));
  }
  n.step = std::make_shared<const Net>(std::move(net));
  c.State<NetworkGradient>() = std::move(n);
  return {};
}

Result<void> ZeroLike(KernelContext& c, size_t output, const Tensor& like) {
  WEFT_TRY(float* out, c.Out<float>(output, Dims(like.dims())));
  std::fill(out, out + like.numel(), 0.0f);
  return {};
}

Result<void> RunNetworkGradient(KernelContext& c) {
  NetworkGradient& n = c.State<NetworkGradient>();
  WEFT_TRY(const Tensor* sequence, FloatsIn(c, n.gradients));
  WEFT_ENSURE(c, sequence->ndim() >= 2, "the sequence is ", DimsToString(sequence->dims()));
  const int64_t steps = sequence->dim(0), batch = sequence->dim(1);
  StepWorkspaces* scratch = c.MutableInBlob(c.num_inputs() - 1).GetMutable<StepWorkspaces>();
  WEFT_ENSURE(c, scratch && scratch->shared && static_cast<int64_t>(scratch->steps.size()) >= steps,
              "the last input must hold the steps of the forward network");
  Workspace& shared = *scratch->shared;
  WEFT_TRY_VOID(ZeroLike(c, 0, *sequence));
  for (size_t p = 0; p < n.params.size(); ++p) {
    WEFT_TRY(const Tensor* param, FloatsIn(c, n.params[p].input));
    WEFT_TRY_VOID(ZeroLike(c, 1 + p, *param));
  }
  // Links call the sequence's gradient by its usual name; the output may have another.
  if (c.OutName(0) != n.sequence_gradient) shared.CreateLocalBlob(n.sequence_gradient).Set(Tensor(c.Out(0)));
  for (const StateGradient& g : n.states) {
    const Tensor* state = shared.FindTensor(g.state);
    WEFT_ENSURE(c, state && state->ndim() == 3 && state->type() == DataType::kFloat, "the state ", g.state,
                " is missing");
    Tensor gradient;
    WEFT_ENSURE(c, gradient.Allocate(DataType::kFloat, state->dims()), "no memory for ", g.gradient);
    if (g.last) {
      WEFT_TRY(const Tensor* last, FloatsIn(c, *g.last));
      const int64_t size = state->SizeFrom(1), first = gradient.numel() - size;
      WEFT_ENSURE(c, last->numel() == size && first >= 0, c.InName(*g.last), " is ",
                  DimsToString(last->dims()));
      CopyElements(*last, 0, gradient, first, size);
    }
    shared.CreateLocalBlob(g.gradient).Set(std::move(gradient));
  }
  for (int64_t t = steps - 1; t >= 0; --t) WEFT_TRY_VOID(RunStep(n.step, *scratch->steps[t], n.timestep, t));
  for (size_t s = 0; s < n.states.size(); ++s) {
    WEFT_TRY(const Tensor* initial, FloatsIn(c, n.gradients + n.initial[s]));
    const Tensor* gradient = shared.FindTensor(n.states[s].gradient);
    const size_t output = 1 + n.params.size() + s;
    WEFT_TRY(float* out, c.Out<float>(output, Dims(initial->dims())));
    const float* from = gradient->data<float>();
    if (initial->ndim() >= 2) {
      WEFT_ENSURE(c, gradient->numel() >= initial->numel(), "the gradient of the state is too small");
      std::copy_n(from, initial->numel(), out);
    } else {
      for (int64_t k = 0; k < initial->numel(); ++k) {
        double sum = 0;
        for (int64_t b = 0; b < batch; ++b) sum += from[b * initial->numel() + k];
        out[k] = static_cast<float>(sum);
      }
    }
  }
  return {};
}

// Inputs timestep, outer; outputs inner, outer: inner shares `window` steps of outer.
Result<void> ApplyLink(KernelContext& c) {
  const Tensor* timestep = c.InBlob(0).Get<Tensor>();
  const Tensor* outer = c.InBlob(1).Get<Tensor>();
  WEFT_ENSURE(c,
              timestep && timestep->type() == DataType::kInt32 && timestep->numel() == 1 && outer &&
                  outer->ndim() > 0,
              "expected a timestep and a tensor");
  const int64_t first = timestep->data<int32_t>()[0] + c.ArgI("offset", 0), window = c.ArgI("window", 1);
  WEFT_ENSURE(c, first >= 0 && window >= 0 && first + window <= outer->dim(0), "steps ", first, " to ",
              first + window, " of ", c.InName(1), " ", DimsToString(outer->dims()), " do not exist");
  Dims dims(outer->dims());
  dims[0] = window;
  const Tensor view = outer->View(first * outer->SizeFrom(1), dims);
  c.Out(0) = view;
  return {};
}

// Inputs timestep, a gradient of all steps, the gradient of a state: adds the step's part into the state's.
Result<void> AccumulateInput(KernelContext& c) {
  const Tensor* timestep = c.InBlob(0).Get<Tensor>();
  const Tensor* from = c.InBlob(1).Get<Tensor>();
  WEFT_ENSURE(c,
              timestep && timestep->type() == DataType::kInt32 && timestep->numel() == 1 && from &&
                  from->type() == DataType::kFloat,
              "expected a timestep and a gradient");
  Tensor& to = c.Out(0);
  WEFT_ENSURE(c, to.type() == DataType::kFloat && to.ndim() > 0, "the state's gradient is missing");
  const int64_t t = timestep->data<int32_t>()[0], size = to.SizeFrom(1),
                at = (t + c.ArgI("offset", 0)) * size;
  WEFT_ENSURE(c, t >= 0 && at >= 0 && at + size <= to.numel() && (t + 1) * size <= from->numel(), "step ", t,
              " does not exist");
  float* sum = to.mutable_data<float>() + at;
  const float* add = from->data<float>() + t * size;
  for (int64_t i = 0; i < size; ++i) sum[i] += add[i];
  return {};
}

// The tensors of each step as blobs called by prefix, name and step.
Result<void> FetchSteps(KernelContext& c) {
  const StepWorkspaces* scratch = c.InBlob(0).Get<StepWorkspaces>();
  WEFT_ENSURE(c, scratch, c.InName(0), " holds ", c.InBlob(0).type_name(), ", expected ",
              StepWorkspaces::kBlobType);
  const std::string prefix = c.ArgS("prefix", "rnn");
  std::vector<std::string> names;
  for (size_t i = 0; i < scratch->steps.size(); ++i)
    for (const std::string& name : scratch->steps[i]->LocalBlobs()) {
      const Tensor* tensor = scratch->steps[i]->FindTensor(name);
      if (!tensor || !tensor->has_type()) continue;
      names.push_back(StrCat(prefix, "_", name, "_", i));
      c.workspace().CreateBlob(names.back()).Set(tensor->Clone());
    }
  WEFT_TRY(std::string * out, c.Out<std::string>(0, {static_cast<int64_t>(names.size())}));
  std::copy(names.begin(), names.end(), out);
  return {};
}

constexpr KernelRow kRows[] = {
    {"RecurrentNetwork", RunNetwork, "B", kInPlace, PrepareNetwork},
    {"RecurrentNetworkGradient", RunNetworkGradient, "B", kInPlace, PrepareNetworkGradient},
    {"RecurrentNetworkBlobFetcher", FetchSteps, "B"},
    {"rnn_internal_apply_link", ApplyLink, "B", kInPlace},
    {"rnn_internal_accumulate_gradient_input", AccumulateInput, "B", kInPlace},
};

}  // namespace
}  // namespace kernels

KernelFamily RnnNetworkKernels() { return kernels::kRows; }

}  // namespace weft
