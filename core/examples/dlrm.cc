// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/str.h"
#include "core/examples/model.h"

namespace weft {

Result<ExampleModel> DlrmExample(const OpSet& ops) {
  constexpr int64_t kTables = 3, kRows = 50, kWidth = 8, kDense = 13;
  Model net("dlrm");
  std::string x = net.Fc("dense", "bot1", kDense, 16);
  x = net.Fc(net.Add("Relu", {x}, x), "bot2", 16, kWidth);
  const std::string bottom = net.Add("Relu", {x}, x);

  std::vector<BlobRef> features = {bottom};
  for (int64_t table = 0; table < kTables; ++table) {
    const std::string rows =
        net.Param(StrCat("emb_", table), {kRows, kWidth}, {"UniformFill", {{"min", -0.1}, {"max", 0.1}}});
    features.emplace_back(net.Add("SparseLengthsSum", {rows, StrCat("ids_", table), StrCat("lens_", table)},
                                  StrCat("bag_", table)));
  }
  // The inner products of all features with each other.
  net.net().Add({.type = "Concat",
                 .inputs = features,
                 .outputs = std::vector<BlobRef>{"features", "features_split"},
                 .args = {{"axis", 1}}});
  net.net().Add({.type = "Reshape",
                 .inputs = {"features"},
                 .outputs = std::vector<BlobRef>{"stacked", "stacked_was"},
                 .args = {{"shape", {-1, static_cast<int>(kTables + 1), static_cast<int>(kWidth)}}}});
  net.Add("BatchMatMul", {"stacked", "stacked"}, "products", {{"trans_b", 1}});
  net.Add("Flatten", {"products"}, "interactions");
  net.net().Add({.type = "Concat",
                 .inputs = {bottom, "interactions"},
                 .outputs = std::vector<BlobRef>{"joined", "joined_split"},
                 .args = {{"axis", 1}}});
  x = net.Fc("joined", "top1", kWidth + (kTables + 1) * (kTables + 1), 16);
  x = net.Fc(net.Add("Relu", {x}, x), "top2", 16, 1);
  net.Add("Sigmoid", {x}, "click");
  net.Add("SigmoidCrossEntropyWithLogits", {x, "label"}, "xent");
  net.Add("AveragedLoss", {"xent"}, "loss");
  return net.Train(ops, "loss", {"click"}, Adagrad{.rate = {0.1f}});
}

}  // namespace weft
