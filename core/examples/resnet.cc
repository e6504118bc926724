// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/str.h"
#include "core/examples/model.h"

namespace weft {

namespace {

class ResNet : public Model {
 public:
  ResNet() : Model("resnet") {}

  std::string ConvBn(const std::string& x, const std::string& name, int64_t in, int64_t out, int64_t kernel,
                     int64_t stride) {
    const std::string w = Param(name + "_w", {out, in, kernel, kernel}, {"MSRAFill"});
    const std::string conv =
        Add("Conv", {x, w}, name, {{"kernel", kernel}, {"stride", stride}, {"pad", kernel / 2}});
    const std::string bn = name + "_bn";
    const std::string scale = Param(bn + "_s", {out}, {"ConstantFill", {{"value", 1.0}}}, ParamKind::kBias);
    const std::string bias = Param(bn + "_b", {out}, {"ConstantFill"}, ParamKind::kBias);
    const std::string mean = Param(bn + "_rm", {out}, {"ConstantFill"}, ParamKind::kComputed);
    const std::string var =
        Param(bn + "_riv", {out}, {"ConstantFill", {{"value", 1.0}}}, ParamKind::kComputed);
    net().Add({.type = "SpatialBN",
               .inputs = {conv, scale, bias, mean, var},
               .outputs = std::vector<BlobRef>{bn, mean, var, bn + "_sm", bn + "_siv"},
               .args = {{"is_test", 0}, {"epsilon", 1e-3}, {"momentum", 0.9}}});
    return bn;
  }

  // Two convolutions beside the way straight through.
  std::string Block(const std::string& x, const std::string& name, int64_t in, int64_t out, int64_t stride) {
    std::string y = ConvBn(x, name + "_a", in, out, 3, stride);
    y = ConvBn(Add("Relu", {y}, y), name + "_b", out, out, 3, 1);
    const std::string through = in == out && stride == 1 ? x : ConvBn(x, name + "_skip", in, out, 1, stride);
    const std::string sum = Add("Sum", {y, through}, name + "_sum");
    return Add("Relu", {sum}, sum);
  }
};

}  // namespace

Result<ExampleModel> ResNetExample(const OpSet& ops) {
  ResNet net;
  std::string x = net.ConvBn("data", "conv0", 3, 8, 3, 1);
  x = net.Add("Relu", {x}, x);
  x = net.Block(x, "block1", 8, 8, 1);
  x = net.Block(x, "block2", 8, 16, 2);
  x = net.Block(x, "block3", 16, 32, 2);
  x = net.Add("AveragePool", {x}, "pool", {{"global_pooling", 1}});
  x = net.Fc(x, "pred", 32, 10);
  net.net().Add({.type = "SoftmaxWithLoss",
                 .inputs = {x, "label"},
                 .outputs = std::vector<BlobRef>{"softmax", "loss"}});
  net.Add("Accuracy", {"softmax", "label"}, "accuracy");
  return net.Train(ops, "loss", {"softmax", "accuracy"},
                   Sgd{.rate = {0.05f, "step", {{"stepsize", 100}, {"gamma", 0.5}}}, .momentum = 0.9f},
                   1e-4f);
}

}  // namespace weft
