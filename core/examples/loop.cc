// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/examples/model.h"
#include "core/ir/control_builder.h"

namespace weft {

namespace {

void Add(Net& net, std::string_view type, std::vector<std::string_view> inputs, std::string_view output) {
  Op& op = net.ops.emplace_back();
  op.type = net.Intern(type);
  for (std::string_view input : inputs) op.inputs.push_back(net.Intern(input));
  op.outputs.push_back(net.Intern(output));
}

Net Body(const Net& around, std::string_view name) {
  Net body(around.symbols);
  body.name = body.Intern(name);
  return body;
}

}  // namespace

Result<ExampleModel> LoopExample(const OpSet& ops) {
  Model model("loop");
  const std::string hidden = model.Fc("data", "hidden", 4, 8);
  model.Param("gate", {8}, {"ConstantFill", {{"value", 0.5}}});
  model.Add("ConstantFill", {hidden}, "sum", {{"value", 0.0}});
  for (const char* name : {"i", "one"})
    model.Add("ConstantFill", {}, name, {{"shape", {1}}, {"value", name[0] == 'i' ? 0 : 1}, {"dtype", 10}});
  Net net = model.TakeNet();

  // While i <= count: sum += tanh(hidden * gate).
  Net condition = Body(net, "condition"), body = Body(net, "body");
  Add(condition, "Add", {"i", "one"}, "i");
  Add(condition, "LE", {"i", "count"}, "more");
  Add(body, "Mul", {"hidden", "gate"}, "gated");
  body.ops.back().args = OpArgs{{"broadcast", 1}}.In(*net.symbols);
  Add(body, "Tanh", {"gated"}, "step");
  Add(body, "Add", {"sum", "step"}, "sum");
  net.external_inputs.push_back(net.Intern("count"));
  WEFT_TRY_VOID(AppendWhile(net, net.Intern("more"), condition, body));

  // If(strong) the sum, else half of it.
  Add(net, "Copy", {"sum"}, "out");
  Net strong = Body(net, "strong"), weak = Body(net, "weak");
  Add(strong, "Sigmoid", {"sum"}, "out");
  Add(weak, "Scale", {"sum"}, "out");
  weak.ops.back().args = OpArgs{{"scale", 0.5}}.In(*net.symbols);
  net.external_inputs.push_back(net.Intern("is_strong"));
  WEFT_TRY_VOID(AppendIf(net, net.Intern("is_strong"), strong, &weak));

  net.external_inputs.push_back(net.Intern("target"));
  Add(net, "SquaredL2Distance", {"out", "target"}, "distance");
  Add(net, "AveragedLoss", {"distance"}, "loss");
  return model.TrainNet(ops, std::move(net), "loss", {"out"}, Sgd{.rate = {0.05f}});
}

}  // namespace weft
