// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/ssa.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

Op MakeOp(Net& net, std::string_view type, std::initializer_list<const char*> in,
          std::initializer_list<const char*> out) {
  Op op;
  op.type = net.Intern(type);
  for (const char* name : in) op.inputs.push_back(net.Intern(name));
  for (const char* name : out) op.outputs.push_back(net.Intern(name));
  return op;
}

TEST(Ssa, CountsVersionsAsGetSsaDoes) {
  Net net;
  net.external_inputs = {net.Intern("x")};
  net.ops = {MakeOp(net, "Relu", {"x"}, {"y"}), MakeOp(net, "Add", {"y", "w"}, {"y"}),
             MakeOp(net, "Mul", {"y", "y"}, {"x"})};
  const Ssa ssa(net);
  EXPECT_EQ(ValueName(net, ssa, ssa.inputs(0)[0]), "x@0");
  EXPECT_EQ(ValueName(net, ssa, ssa.outputs(0)[0]), "y@1");
  EXPECT_EQ(ValueName(net, ssa, ssa.inputs(1)[1]), "w@0");
  EXPECT_EQ(ValueName(net, ssa, ssa.outputs(1)[0]), "y@2");
  EXPECT_EQ(ValueName(net, ssa, ssa.outputs(2)[0]), "x@1");
  EXPECT_EQ(ssa.uses(ssa.outputs(1)[0]).size(), 2u);
  EXPECT_EQ(ssa.values()[ssa.outputs(1)[0]].previous, ssa.outputs(0)[0]);
  const BlobId w = ssa.FindBlob(net.symbols->Find("w"));
  EXPECT_TRUE(ssa.starts_outside(w));
  EXPECT_FALSE(ssa.declared_input(w));
}

}  // namespace
}  // namespace weft
