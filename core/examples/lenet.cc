// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/str.h"
#include "core/examples/examples.h"
#include "core/grad/gradient.h"
#include "core/ir/net_builder.h"

namespace weft {

namespace {

using Args = std::vector<Arg>;

// The init net and the net that reads what it fills, built side by side.
class LeNet {
 public:
  LeNet() : init_(registry_, "lenet_init"), net_(registry_, "lenet", init_.net().symbols) {}

  std::string Conv(const std::string& x, const std::string& name, int64_t in, int64_t out) {
    return Layer("Conv", x, name, {out, in, 5, 5}, {Int("kernel", 5)});
  }
  std::string Pool(const std::string& x, const std::string& name) {
    net_.Add({.type = "MaxPool",
              .inputs = {x},
              .outputs = Names({name}),
              .args = {Int("kernel", 2), Int("stride", 2)}});
    return name;
  }
  std::string Fc(const std::string& x, const std::string& name, int64_t in, int64_t out) {
    return Layer("FC", x, name, {out, in}, {});
  }
  std::string Add(std::string_view type, std::vector<BlobRef> inputs, const std::string& name) {
    net_.Add({.type = type, .inputs = std::move(inputs), .outputs = Names({name})});
    return name;
  }

  Result<ExampleModel> Train(const std::string& loss, const OpSet& ops) {
    const Symbol loss_blob = net_.Intern(loss);
    WEFT_TRY_VOID(net_.AddExternalOutput(loss_blob));
    WEFT_TRY_VOID(net_.AddExternalOutput(net_.Intern("accuracy")));
    Net forward = std::move(net_).Finish();
    GradientOptions options;
    options.losses = {{loss_blob, {}}};
    WEFT_TRY(const Backward backward, PlanGradients(forward, ops, options));

    NameRegistry registry;
    Net whole = AppendBackward(forward, backward);
    whole.name = whole.Intern("lenet_train");
    NetBuilder train(registry, std::move(whole));
    Update(train, backward);
    ExampleModel model{std::move(init_).Finish(), std::move(forward), std::move(train).Finish()};
    for (const Op& op : model.init.ops) model.init.external_outputs.push_back(op.outputs[0]);
    return model;
  }

 private:
  Arg Int(std::string_view name, int64_t value) { return MakeArg(net_.Intern(name), value); }
  static OutputSpec Names(std::vector<BlobRef> names) { return names; }

  void Fill(std::string_view type, const std::string& name, std::vector<int64_t> shape, Args more = {}) {
    Args args = {MakeArg(init_.Intern("shape"), std::move(shape))};
    args.insert(args.end(), more.begin(), more.end());
    init_.Add({.type = type, .outputs = Names({name}), .args = std::move(args)});
  }

  std::string Layer(std::string_view type, const std::string& x, const std::string& name,
                    const std::vector<int64_t>& weights, Args args) {
    Fill("XavierFill", name + "_w", weights);
    Fill("ConstantFill", name + "_b", {weights[0]});
    params_.push_back(name + "_w");
    params_.push_back(name + "_b");
    net_.Add({.type = type,
              .inputs = {x, name + "_w", name + "_b"},
              .outputs = Names({name}),
              .args = std::move(args)});
    return name;
  }

  // w += LR * gradient, with LR below zero: the tutorial's plain SGD.
  void Update(NetBuilder& train, const Backward& backward) {
    Fill("ConstantFill", "ONE", {1}, {MakeArg(init_.Intern("value"), 1.0f)});
    init_.Add({.type = "ConstantFill",
               .outputs = Names({"iter"}),
               .args = {MakeArg(init_.Intern("shape"), std::vector<int64_t>{1}),
                        MakeArg(init_.Intern("value"), int64_t{0}),
                        MakeArg(init_.Intern("dtype"), int64_t{10})}});  // int64
    train.Add({.type = "Iter", .inputs = {"iter"}, .outputs = Names({"iter"})});
    train.Add(
        {.type = "LearningRate",
         .inputs = {"iter"},
         .outputs = Names({"LR"}),
         .args = {MakeArg(train.Intern("base_lr"), -0.1f),
                  MakeArg(train.Intern("policy"), std::string("step")),
                  MakeArg(train.Intern("stepsize"), int64_t{1}), MakeArg(train.Intern("gamma"), 0.999f)}});
    for (const std::string& param : params_) {
      const Symbol blob = train.Intern(param);
      for (const BlobGradient& of : backward.gradients)
        if (of.blob == blob)
          train.Add({.type = "WeightedSum",
                     .inputs = {param, "ONE", of.gradient.dense, "LR"},
                     .outputs = Names({param})});
    }
  }

  NameRegistry registry_;
  NetBuilder init_, net_;
  std::vector<std::string> params_;
};

}  // namespace

Result<ExampleModel> LeNetExample(const OpSet& ops) {
  LeNet net;
  std::string x = net.Pool(net.Conv("data", "conv1", 1, 20), "pool1");
  x = net.Pool(net.Conv(x, "conv2", 20, 50), "pool2");
  x = net.Add("Relu", {net.Fc(x, "fc3", 50 * 4 * 4, 500)}, "fc3");
  const std::string softmax = net.Add("Softmax", {net.Fc(x, "pred", 500, 10)}, "softmax");
  const std::string xent = net.Add("LabelCrossEntropy", {softmax, "label"}, "xent");
  const std::string loss = net.Add("AveragedLoss", {xent}, "loss");
  net.Add("Accuracy", {softmax, "label"}, "accuracy");
  return net.Train(loss, ops);
}

}  // namespace weft
