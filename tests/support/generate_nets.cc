// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_nets.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/str.h"

namespace weft::testing {
namespace {

/// Adds operators to a net.
class Builder {
 public:
  explicit Builder(std::string_view name) { net_.name = net_.Intern(name); }

  Net Finish(Symbol output) {
    net_.external_outputs.push_back(output);
    return std::move(net_);
  }
  Symbol Name(std::string_view text) { return net_.Intern(text); }
  Symbol Input(std::string_view text) {
    net_.external_inputs.push_back(Name(text));
    return net_.external_inputs.back();
  }
  Symbol Weight(std::string_view text) {
    weights_.push_back(Input(text));
    return weights_.back();
  }
  Symbol Grad(Symbol blob) { return Name(StrCat(net_.Str(blob), "_grad")); }
  std::string_view Str(Symbol blob) const { return net_.Str(blob); }
  Arg Int(std::string_view name, int64_t value) { return MakeArg(Name(name), value); }

  void Add(std::string_view type, BlobList inputs, BlobList outputs, const ArgList& args = {}) {
    Op& op = net_.ops.emplace_back();
    op.type = Name(type);
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
    op.args = args;
  }
  void AddGradient(std::string_view type, BlobList inputs, BlobList outputs, const ArgList& args = {}) {
    Add(type, std::move(inputs), std::move(outputs), args);
    net_.ops.back().is_gradient_op = true;
  }
  /// w -= rate * gradient, for every weight.
  void AddSgd(const ArgList& rate_args) {
    const Symbol iter = Input("ITER"), one = Input("ONE"), rate = Name("LR");
    Add("Iter", {iter}, {iter});
    Add("LearningRate", {iter}, {rate}, rate_args);
    for (Symbol weight : weights_) Add("WeightedSum", {weight, one, Grad(weight), rate}, {weight});
  }

 private:
  Net net_;
  std::vector<Symbol> weights_;
};

/// The arguments that all operators of one kind share.
struct ResidualArgs {
  ArgList conv, bn, order, update;
  explicit ResidualArgs(Builder& b) {
    const Arg nchw = MakeArg(b.Name("order"), std::string("NCHW"));
    conv = ArgList({b.Int("kernel", 3), b.Int("stride", 1), b.Int("pad", 1), nchw});
    bn = ArgList(
        {MakeArg(b.Name("epsilon"), 1e-5f), MakeArg(b.Name("momentum"), 0.9f), b.Int("is_test", 0), nchw});
    order = ArgList({nchw});
    update = ArgList({MakeArg(b.Name("base_lr"), -0.1f), MakeArg(b.Name("policy"), std::string("fixed"))});
  }
};

/// Conv -> SpatialBN, with the names of both.
struct ConvBn {
  Symbol x, conv, w, bn, scale, bias, mean, inv, saved_mean, saved_inv;

  ConvBn(Builder& b, const ResidualArgs& args, Symbol input, const std::string& stem)
      : x(input),
        conv(b.Name(StrCat(stem, "_conv"))),
        w(b.Weight(StrCat(stem, "_conv_w"))),
        bn(b.Name(StrCat(stem, "_bn"))),
        scale(b.Weight(StrCat(stem, "_bn_s"))),
        bias(b.Weight(StrCat(stem, "_bn_b"))),
        mean(b.Input(StrCat(stem, "_bn_rm"))),
        inv(b.Input(StrCat(stem, "_bn_riv"))),
        saved_mean(b.Name(StrCat(stem, "_bn_sm"))),
        saved_inv(b.Name(StrCat(stem, "_bn_siv"))) {
    b.Add("Conv", {x, w}, {conv}, args.conv);
    b.Add("SpatialBN", {conv, scale, bias, mean, inv}, {bn, mean, inv, saved_mean, saved_inv}, args.bn);
  }

  /// From the gradient of bn to that of x, which goes to `x_grad`.
  void Backward(Builder& b, const ResidualArgs& args, Symbol bn_grad, Symbol x_grad) const {
    b.AddGradient("SpatialBNGradient", {conv, scale, bn_grad, saved_mean, saved_inv},
                  {b.Grad(conv), b.Grad(scale), b.Grad(bias)}, args.bn);
    b.AddGradient("ConvGradient", {x, w, b.Grad(conv)}, {b.Grad(w), x_grad}, args.conv);
  }
};

struct Block {
  ConvBn a, b;
  Symbol sum;
};

constexpr size_t kForwardBlock = 7;
constexpr size_t kForwardHead = 2;
constexpr size_t kTrainingBlock = kForwardBlock + 7 + 6;    // gradients, updates
constexpr size_t kTrainingHead = kForwardHead + 3 + 2 + 2;  // the seed and its gradients, the rate, updates

size_t NumBlocks(size_t ops, size_t head, size_t block) {
  return ops <= head + block ? 1 : (ops - head + block / 2) / block;
}

}  // namespace

Net ResidualNet(size_t ops, Pass pass) {
  const bool training = pass == Pass::kTraining;
  const size_t num_blocks =
      NumBlocks(ops, training ? kTrainingHead : kForwardHead, training ? kTrainingBlock : kForwardBlock);
  Builder b(training ? "residual_train" : "residual");
  const ResidualArgs args(b);
  Symbol x = b.Input("data");
  const Symbol label = b.Input("label");
  std::vector<Block> blocks;
  blocks.reserve(num_blocks);
  for (size_t i = 0; i < num_blocks; ++i) {
    const std::string stem = StrCat("res", i);
    const ConvBn first(b, args, x, StrCat(stem, "_a"));
    b.Add("Relu", {first.bn}, {first.bn}, args.order);
    const ConvBn second(b, args, first.bn, StrCat(stem, "_b"));
    const Symbol sum = b.Name(StrCat(stem, "_sum"));
    b.Add("Sum", {second.bn, x}, {sum});
    b.Add("Relu", {sum}, {sum}, args.order);
    blocks.push_back({first, second, sum});
    x = sum;
  }
  const Symbol pred = b.Name("pred"), softmax = b.Name("softmax"), loss = b.Name("loss");
  const Symbol w = b.Weight("pred_w"), bias = b.Weight("pred_b");
  b.Add("FC", {x, w, bias}, {pred});
  b.Add("SoftmaxWithLoss", {pred, label}, {softmax, loss});
  if (!training) return b.Finish(loss);

  const Symbol seed = b.Name("loss_autogen_grad");
  b.AddGradient("ConstantFill", {loss}, {seed}, ArgList({MakeArg(b.Name("value"), 1.0f)}));
  b.AddGradient("SoftmaxWithLossGradient", {pred, label, softmax, seed}, {b.Grad(pred)});
  b.AddGradient("FCGradient", {x, w, b.Grad(pred)}, {b.Grad(w), b.Grad(bias), b.Grad(x)});
  for (size_t i = num_blocks; i-- > 0;) {
    const Block& block = blocks[i];
    const Symbol input = block.a.x, sum_grad = b.Grad(block.sum), middle = block.a.bn;
    const Symbol part = b.Name(StrCat("_", b.Str(b.Grad(input)), "_autosplit_1"));
    b.AddGradient("ReluGradient", {block.sum, sum_grad}, {sum_grad}, args.order);
    block.b.Backward(b, args, sum_grad, b.Grad(middle));
    b.AddGradient("ReluGradient", {middle, b.Grad(middle)}, {b.Grad(middle)}, args.order);
    block.a.Backward(b, args, b.Grad(middle), part);
    b.AddGradient("Sum", {sum_grad, part}, {b.Grad(input)});
  }
  b.AddSgd(args.update);
  return b.Finish(loss);
}

Net ChainNet(size_t ops) {
  Builder b("chain");
  Symbol x = b.Input("x_0");
  for (size_t i = 1; i <= ops; ++i) {
    const Symbol next = b.Name(StrCat("x_", i));
    b.Add("Tanh", {x}, {next});
    x = next;
  }
  return b.Finish(x);
}

Net InPlaceChainNet(size_t ops) {
  Builder b("in_place_chain");
  const Symbol x = b.Input("x");
  for (size_t i = 0; i < ops; ++i) b.Add("Tanh", {x}, {x});
  return b.Finish(x);
}

Net StarNet(size_t ops) {
  Builder b("star");
  const Symbol x = b.Input("x"), sum = b.Name("sum");
  BlobList ends;
  for (size_t i = 1; i < ops; ++i) {
    ends.push_back(b.Name(StrCat("y_", i)));
    b.Add("Tanh", {x}, {ends[i - 1]});
  }
  if (ends.empty()) ends.push_back(x);
  b.Add("Sum", std::move(ends), {sum});
  return b.Finish(sum);
}

Net LadderNet(size_t ops) {
  Builder b("ladder");
  Symbol x = b.Input("a_0");
  for (size_t i = 1; i <= std::max<size_t>(1, ops / 3); ++i) {
    const Symbol left = b.Name(StrCat("l_", i)), right = b.Name(StrCat("r_", i)),
                 next = b.Name(StrCat("a_", i));
    b.Add("Tanh", {x}, {left});
    b.Add("Sigmoid", {x}, {right});
    b.Add("Sum", {left, right}, {next});
    x = next;
  }
  return b.Finish(x);
}

}  // namespace weft::testing
