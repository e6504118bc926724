// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/base/str.h"
#include "core/examples/model.h"
#include "core/grad/gradient.h"
#include "core/ssa/clone.h"

namespace weft {

namespace {

using Words = std::vector<std::string>;
constexpr int64_t kIn = 8, kHidden = 16, kClasses = 8;

Words operator+(const Words& words, const std::string& more) {
  Words all = words;
  all.push_back(more);
  return all;
}

// What happens at one step: the gates from the state before and this step's input, then the new state.
Net StepNet(const SymbolTablePtr& symbols) {
  NameRegistry names;
  NetBuilder step(names, "lstm_step", symbols);
  for (const char* input :
       {"input_t", "timestep", "hidden_t_prev", "cell_t_prev", "gates_t_w", "gates_t_b", "lengths"})
    (void)step.AddExternalInput(step.Intern(input));
  step.Add({.type = "FC",
            .inputs = {"hidden_t_prev", "gates_t_w", "gates_t_b"},
            .outputs = std::vector<BlobRef>{"gates_t"},
            .args = {{"axis", 2}}});
  step.Add({.type = "Sum", .inputs = {"gates_t", "input_t"}, .outputs = std::vector<BlobRef>{"gates_t"}});
  step.Add({.type = "LSTMUnit",
            .inputs = {"hidden_t_prev", "cell_t_prev", "gates_t", "lengths", "timestep"},
            .outputs = std::vector<BlobRef>{"hidden_t", "cell_t"},
            .args = {{"forget_bias", 0.0}, {"drop_states", 0}, {"sequence_lengths", 1}}});
  Net net = std::move(step).Finish();
  net.type = net.Intern("simple");
  net.external_outputs = {net.Intern("hidden_t"), net.Intern("cell_t")};
  return net;
}

Result<Net> BackwardStepNet(const Net& step, const OpSet& ops) {
  Net names = step;
  GradientOptions options;
  for (const char* output : {"hidden_t", "cell_t"})
    options.losses.push_back({names.Intern(output), Gradient::Dense(names.Intern(StrCat(output, "_grad")))});
  WEFT_TRY(Backward backward, PlanGradients(step, ops, options));
  Net net(step.symbols);
  net.name = net.Intern("lstm_step_backward");
  net.type = step.type;
  net.ops = std::move(backward.ops);
  UpdateExternalLists(net);
  net.external_outputs.clear();
  return net;
}

}  // namespace

Result<ExampleModel> LstmExample(const OpSet& ops) {
  Model model("lstm");
  const SymbolTablePtr symbols = model.net().net().symbols;
  model.Fc("seq", "gates_in", kIn, 4 * kHidden, 2);
  model.Param("gates_t_w", {4 * kHidden, kHidden});
  model.Param("gates_t_b", {4 * kHidden}, {"ConstantFill"}, ParamKind::kBias);
  const Net step = StepNet(symbols);
  WEFT_TRY(const Net back, BackwardStepNet(step, ops));

  const std::string hidden = "hidden_t_prev_states", cell = "cell_t_prev_states";
  const Words states = {hidden, hidden, cell, cell};
  Words state_grads;
  for (const std::string& state : states) state_grads.push_back(state + "_grad");
  model.net().Add(
      {.type = "RecurrentNetwork",
       .inputs = {"gates_in", "h0", "c0", "gates_t_w", "gates_t_b", "lengths"},
       .outputs = std::vector<BlobRef>{"hidden_all", "hidden_last", "cell_all", "cell_last", "workspaces"},
       .args = {{"alias_src", states},
                {"alias_dst", Words{"hidden_all", "hidden_last", "cell_all", "cell_last"}},
                {"alias_offset", {1, -1, 1, -1}},
                {"recurrent_states", Words{hidden, cell}},
                {"initial_recurrent_state_ids", {1, 2}},
                {"link_internal", Words{"hidden_t_prev", "hidden_t", "cell_t_prev", "cell_t", "input_t"}},
                {"link_external", states + "gates_in"},
                {"link_offset", {0, 1, 0, 1, 0}},
                {"step_net", std::make_shared<const Net>(step)},
                {"timestep", "timestep"},
                {"param", {3, 4}},
                {"backward_link_internal", Words{"hidden_t_grad", "hidden_t_prev_grad", "cell_t_grad",
                                                 "cell_t_prev_grad", "gates_t_grad"}},
                {"backward_link_external", state_grads + "gates_in_grad"},
                {"backward_link_offset", {1, 0, 1, 0, 0}},
                {"outputs_with_grads", {0}},
                {"recompute_blobs_on_backward", Words()},
                {"param_grads", Words{"gates_t_w_grad", "gates_t_b_grad"}},
                {"backward_step_net", std::make_shared<const Net>(back)}}});
  model.Fc("hidden_all", "pred", kHidden, kClasses, 2);
  model.net().Add({.type = "Reshape",
                   .inputs = {"pred"},
                   .outputs = std::vector<BlobRef>{"flat", "flat_was"},
                   .args = {{"shape", {-1, static_cast<int>(kClasses)}}}});
  model.net().Add({.type = "SoftmaxWithLoss",
                   .inputs = {"flat", "label"},
                   .outputs = std::vector<BlobRef>{"softmax", "loss"}});
  return model.Train(ops, "loss", {"softmax"}, Adam{.rate = {0.02f}});
}

}  // namespace weft
