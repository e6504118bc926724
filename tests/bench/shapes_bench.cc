// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and costs of training nets, with known extents and with a symbolic batch, and choosing what to
// compute again: time per operator does not grow with the net.
#include "core/base/str.h"
#include "core/pass/cost.h"
#include "core/pass/recompute.h"
#include "tests/bench/bench.h"
#include "tests/support/generate_nets.h"

int main(int argc, char** argv) {
  using namespace weft;
  using namespace weft::testing;
  for (size_t size : bench::Sizes(argc, argv)) {
    const Net net = ResidualNet(size, Pass::kTraining);
    for (const bool symbolic : {false, true}) {
      const char* batch = symbolic ? "symbolic" : "known";
      ShapeTable table;
      std::vector<GivenBlob> given;
      const Dim images = symbolic ? table.Named("N") : Dim(32);
      for (const Symbol blob : net.external_inputs) {
        const std::string_view name = net.Str(blob);
        DimList dims{64};  // of batch normalisation
        if (name == "data") dims = {images, 64, 14, 14};
        if (name == "label") dims = {images};
        if (name.ends_with("_conv_w")) dims = {64, 64, 3, 3};
        if (name == "pred_w") dims = {10, 64 * 14 * 14};
        if (name == "pred_b") dims = {10};
        if (name == "ONE" || name == "LR") dims = {1};
        given.push_back({blob, TensorInfo::Of(name == "label" ? DataType::kInt32 : DataType::kFloat, dims)});
      }
      bench::Measure(StrCat("infer, batch ", batch), net.ops.size(), [&] { InferShapes(net, given, table); });
      const NetShapes shapes = InferShapes(net, given, table);
      bench::Measure(StrCat("cost, batch ", batch), net.ops.size(),
                     [&] { CostOf(net, shapes, net.external_inputs, table); });
      bench::Measure(StrCat("recompute, batch ", batch), net.ops.size(),
                     [&] { Recompute(net, given, table, StandardOps()); });
      std::printf("%zu values unknown\n", shapes.unknown_values);
    }
  }
}
