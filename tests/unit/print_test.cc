// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/print.h"

#include <gtest/gtest.h>

#include "tests/support/compact_net.h"

namespace weft {
namespace {

using testing::CompactNet;

TEST(Print, ListsANetWithItsNestedNets) {
  Net net = CompactNet("name outer; in x; out y; Relu(x) -> y; While(c, y) -> y");
  auto body = std::make_shared<Net>(CompactNet("name body; in y; Tanh(y) -> y", net.symbols));
  DeviceOption device;
  device.device_type = kCuda;
  device.device_id = 1;
  net.ops[0].device = std::make_shared<const DeviceOption>(device);
  net.ops[0].args =
      ArgList({MakeArg(net.Intern("alpha"), 1.0f), MakeArg(net.Intern("order"), std::string("NCHW")),
               MakeArg(net.Intern("dims"), std::vector<int64_t>(40, 3))});
  net.ops[1].args = ArgList({MakeArg(net.Intern("loop_net"), NetPtr(body))});
  net.ops[1].is_gradient_op = true;
  EXPECT_EQ(NetListing(net, {}), R"(net outer  2 operators, 3 blobs
  external_input (1)   x
  external_output (1)  y

  0  Relu(x) -> y@1        alpha=1.0 order=NCHW dims=[3, 3, 3, 3, ... 40 ints]  @cuda:1
  1  While(c, y@1) -> y@2  [G]
     loop_net body  1 operator, 1 blob
       external_input (1)  y
       0  Tanh(y) -> y@1
)");
}

TEST(Print, PiecesSayWhatTheyAre) {
  const Net net = CompactNet("Relu(x) -> x");
  const Ssa ssa(net);
  std::string out;
  PrintOp(net, ssa, 0, {}, [&](const Piece& piece) {
    if (piece.text_class == TextClass::kOutput) {
      EXPECT_EQ(piece.value, ssa.outputs(0)[0]);
    }
    out += piece.text;
    out += '|';
  });
  EXPECT_EQ(out, "Relu|(|x|)| -> |x|@1|");
  EXPECT_EQ(OpSignature(net, ssa, 0), "Relu(x@0) -> x@1");
}

TEST(Print, StepsAreATree) {
  Plan plan;
  plan.name = plan.symbols->Intern("train");
  plan.networks.push_back(CompactNet("name body; Relu(x) -> y", plan.symbols));
  Step inner, outer;
  inner.name = plan.symbols->Intern("epoch");
  inner.networks = {plan.networks[0].name};
  inner.num_iter = 100;
  outer.name = plan.symbols->Intern("all");
  outer.should_stop_blob = plan.symbols->Intern("done");
  outer.substeps = {inner};
  plan.steps = {outer};
  EXPECT_EQ(PlanListing(plan, {.ssa = true}), R"(plan train  1 net, 1 step
  step all  until done
    step epoch  num_iter 100
      net body

net body  1 operator, 2 blobs

  0  Relu(x@0) -> y@1
)");
}

}  // namespace
}  // namespace weft
