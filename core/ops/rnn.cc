// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Recurrent networks: the step units and the operator that unrolls a step net.
#include "core/base/str.h"
#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft {

namespace {

using enum GradientPolicy;

// What makes a recurrent network: its step nets, how blobs of the steps join those outside, what is kept.
constexpr std::string_view kNetworkArgs =
    "step_net:net backward_step_net:net recurrent_states:strings "
    "initial_recurrent_state_ids:ints link_internal:strings link_external:strings "
    "link_offset:ints link_window:ints alias_src:strings alias_dst:strings "
    "alias_offset:ints timestep:string=timestep outputs_with_grads:ints param:ints "
    "param_grads:strings backward_link_internal:strings backward_link_external:strings "
    "backward_link_offset:ints recompute_blobs_on_backward:strings "
    "backward_alias_src:strings enable_rnn_executor:bool=0 num_workspaces:int=4";

// The builder put the step net's backward pass into the arguments; one operator runs it over all steps. It
// reads the gradients of the outputs named by `outputs_with_grads`, all inputs and all outputs; input 0, the
// parameters and the initial states get gradients.
Result<void> RecurrentNetworkGradient(GradientContext& c) {
  const auto ids = [&](std::string_view name) { return ArgInts(*c.net().symbols, c.op().args, name); };
  const auto in_range = [](int64_t id, size_t size) { return id >= 0 && static_cast<size_t>(id) < size; };
  const std::vector<int64_t> with_gradients = ids("outputs_with_grads");
  if (with_gradients.empty())
    return Error{ErrorCode::kUnsupported, "RecurrentNetwork names no output in outputs_with_grads"};
  std::vector<Symbol> inputs, outputs;
  for (int64_t id : with_gradients) {
    if (!in_range(id, c.num_outputs()))
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("outputs_with_grads names output ", id, " of ", c.num_outputs())};
    inputs.push_back(c.GO(static_cast<size_t>(id)));
  }
  inputs.insert(inputs.end(), c.op().inputs.begin(), c.op().inputs.end());
  inputs.insert(inputs.end(), c.op().outputs.begin(), c.op().outputs.end());
  std::vector<int64_t> targets = {0};
  for (std::string_view arg : {"param", "initial_recurrent_state_ids"})
    for (int64_t id : ids(arg)) targets.push_back(id);
  for (int64_t id : targets) {
    if (!in_range(id, c.num_inputs()))
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("RecurrentNetwork names input ", id, " of ", c.num_inputs())};
    outputs.push_back(c.GI(static_cast<size_t>(id)));
  }
  c.Add("RecurrentNetworkGradient", std::span<const Symbol>(inputs), std::span<const Symbol>(outputs));
  return {};
}

constexpr OpDef kOps[] = {
    {.name = "GRUUnit",
     .doc = "One step of a gated recurrent unit: hidden_prev [1, N, D] and gates [1, N, 3D] "
            "(update, reset, output) to hidden; a sequence that has ended keeps its state, or drops "
            "it with drop_states.",
     .in = {3, 4},
     .out = 1,
     .ports = "hidden_prev gates sequence_lengths? timestep -> hidden",
     .args = "sequence_lengths:bool=1 drop_states:bool=0 forget_bias:float=0.0",
     .policy = kRule,
     .gradient = "GRUUnitGradient(I0, I1, I2, I3 if sequence_lengths, O0, GO0) -> GI0, GI1",
     .shape = "hidden = hidden_prev",
     .cost = "12*|hidden_prev|",
     .tier = 1},
    {.name = "GRUUnitGradient",
     .doc = "Gradients of GRUUnit.",
     .in = {5, 6},
     .out = 2,
     .ports = "hidden_prev gates sequence_lengths? timestep hidden dhidden -> dhidden_prev dgates",
     .args = "sequence_lengths:bool=1 drop_states:bool=0 forget_bias:float=0.0",
     .shape = "dhidden_prev = hidden_prev; dgates = gates",
     .cost = "24*|hidden|",
     .tier = 1},
    {.name = "InferenceLSTM",
     .doc = "A whole LSTM for inference, of num_layers layers, in one or both directions: the "
            "input, the starting states and the weights in, all outputs and the last states out.",
     .in = {1, kAny},
     .out = 3,
     .ports = "inputs... -> output hidden cell",
     .args = "num_layers:int=1 has_biases:bool=1 batch_first:bool=0 bidirectional:bool=0",
     .policy = kNone,
     .shape = "inference_lstm",
     .tier = 2},
    {.name = "LSTMUnit",
     .doc = "One step of a long short-term memory: states [1, N, D] and gates [1, N, 4D] (input, "
            "forget with forget_bias, output, candidate) to the new states; a sequence that has "
            "ended keeps them, or drops them with drop_states.",
     .in = {4, 5},
     .out = 2,
     .ports = "hidden_prev cell_prev gates sequence_lengths? timestep -> hidden cell",
     .args = "sequence_lengths:bool=1 drop_states:bool=0 forget_bias:float=0.0",
     .policy = kRule,
     .gradient = "LSTMUnitGradient(I[0:4], I4 if sequence_lengths, O0, O1, GO0, GO1) -> GI0, GI1, GI2",
     .shape = "hidden = hidden_prev; cell = cell_prev; check gates.-1 = 4 * hidden_prev.-1",
     .cost = "20*|hidden_prev|",
     .tier = 1},
    {.name = "LSTMUnitGradient",
     .doc = "Gradients of LSTMUnit.",
     .in = {8, 9},
     .out = 3,
     .ports = "hidden_prev cell_prev gates sequence_lengths? timestep hidden cell dhidden dcell -> "
              "dhidden_prev dcell_prev dgates",
     .args = "sequence_lengths:bool=1 drop_states:bool=0 forget_bias:float=0.0",
     .shape = "dhidden_prev = hidden_prev; dcell_prev = cell_prev; dgates = gates",
     .cost = "40*|hidden|",
     .tier = 1},
    {.name = "RecurrentNetwork",
     .doc = "Runs step_net once for each time step, each in its own workspace; links say which "
            "slices of outer blobs the inner ones are, aliases name parts of the results.",
     .in = {1, kAny},
     .out = {2, kAny},
     .ports = "inputs... -> outputs... step_workspaces",
     .args = kNetworkArgs,
     .policy = kRule,
     .gradient_fn = RecurrentNetworkGradient,
     .shape = "nested",
     .tier = 1,
     .flags = kControlFlow},
    {.name = "RecurrentNetworkGradient",
     .doc = "Runs backward_step_net over the kept steps, last to first, and adds up the gradients "
            "of what every step used.",
     .in = {0, kAny},
     .out = {0, kAny},
     .ports = "inputs... -> grads...",
     .args = kNetworkArgs,
     .shape = "nested",
     .tier = 1,
     .flags = kControlFlow},
    {.name = "RecurrentNetworkBlobFetcher",
     .doc = "Copies the blobs of every step's workspace out, under names with prefix and step, and "
            "lists the names.",
     .in = 1,
     .out = 1,
     .ports = "step_workspaces -> names",
     .args = "prefix:string=rnn",
     .policy = kForbidden,
     .shape = "names = [?] : string",
     .tier = 2,
     .flags = kStateful},
    {.name = "rnn_internal_accumulate_gradient_input",
     .doc = "Adds the gradient of a state at this time step to the slice of the external gradient: "
            "a part of the unrolled backward net.",
     .in = 3,
     .out = {1, kAny},
     .ports = "timestep state_grad external_grad -> external_grad others...",
     .enforced = "2>0",
     .shape = "external_grad = external_grad; others = ??",
     .tier = 1},
    {.name = "rnn_internal_apply_link",
     .doc = "Makes internal a view of the slice of external that belongs to the time step.",
     .in = 2,
     .out = 2,
     .ports = "timestep external -> internal external",
     .args = "offset:int=-1 window:int=-1",
     .enforced = "1>1",
     .shape = "internal = [@window, external[1:]] : external; external = external",
     .tier = 1},
};

}  // namespace

OpFamily RnnOps() { return kOps; }

}  // namespace weft
