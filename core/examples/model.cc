// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/examples/model.h"

#include "core/base/str.h"
#include "core/grad/repair.h"

namespace weft {

std::string Model::Param(const std::string& name, std::vector<int64_t> shape, const Filler& filler,
                         ParamKind kind) {
  const Result<Symbol> made = builder_.AddParam(name, std::move(shape), filler, kind);
  if (!made && !error_) error_ = made.error();
  return name;
}

std::string Model::Add(std::string_view type, std::vector<BlobRef> inputs, const std::string& output,
                       OpArgs args) {
  net().Add({.type = type,
             .inputs = std::move(inputs),
             .outputs = std::vector<BlobRef>{output},
             .args = std::move(args)});
  return output;
}

std::string Model::Fc(const std::string& x, const std::string& name, int64_t in, int64_t out, int64_t axis) {
  const std::string w = Param(name + "_w", {out, in});
  const std::string b = Param(name + "_b", {out}, {"ConstantFill"}, ParamKind::kBias);
  return Add("FC", {x, w, b}, name, axis == 1 ? OpArgs() : OpArgs{{"axis", axis}});
}

Result<ExampleModel> Model::Train(const OpSet& ops, const std::string& loss, std::vector<std::string> outputs,
                                  const Optimizer& optimizer, float weight_decay) {
  return TrainNet(ops, TakeNet(), loss, std::move(outputs), optimizer, weight_decay);
}

Result<ExampleModel> Model::TrainNet(const OpSet& ops, Net forward, const std::string& loss,
                                     std::vector<std::string> outputs, const Optimizer& optimizer,
                                     float weight_decay) {
  if (error_) return *error_;
  forward.external_outputs = {forward.Intern(loss)};
  for (const std::string& output : outputs) forward.external_outputs.push_back(forward.Intern(output));
  GradientOptions options;
  options.losses = {{forward.Intern(loss), {}}};
  WEFT_TRY(RepairedPlan plan, PlanWithRepair(forward, ops, options));

  std::vector<TrainedParam> params, weights;
  for (const ModelParam& param : builder_.params()) {
    if (param.kind == ParamKind::kComputed) continue;
    TrainedParam trained{param.blob, {}, param.shape};
    for (const BlobGradient& of : plan.backward.gradients)
      if (of.blob == param.blob) trained.gradient = of.gradient;
    if (param.kind == ParamKind::kWeight && trained.gradient.is_dense()) weights.push_back(trained);
    params.push_back(std::move(trained));
  }
  Net whole = AppendBackward(plan.changed ? plan.forward : forward, std::move(plan.backward));
  whole.name = whole.Intern(StrCat(forward.Str(forward.name), "_train"));
  NetBuilder train(registry_, std::move(whole));
  if (weight_decay > 0) WEFT_TRY_VOID(AddWeightDecay(train, builder_.init(), weight_decay, weights));
  WEFT_TRY_VOID(AddOptimizer(registry_, train, builder_.init(), optimizer, params));

  ExampleModel model{std::move(builder_.init()).Finish(), std::move(forward), std::move(train).Finish()};
  for (const Op& op : model.init.ops) model.init.external_outputs.push_back(op.outputs[0]);
  return model;
}

}  // namespace weft
