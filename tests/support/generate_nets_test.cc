// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_nets.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/ssa/ssa.h"

namespace weft::testing {
namespace {

/// Every blob is declared or written before it is read, and the output is written.
void ExpectSound(const Net& net) {
  const Ssa ssa(net);
  for (BlobId blob = 0; blob < ssa.blobs().size(); ++blob) {
    EXPECT_EQ(ssa.starts_outside(blob), ssa.declared_input(blob)) << net.Str(ssa.blobs()[blob]);
  }
  ASSERT_EQ(net.external_outputs.size(), 1u);
  EXPECT_NE(ssa.values()[ssa.latest(ssa.FindBlob(net.external_outputs[0]))].def, kNoOp);
}

TEST(GenerateNets, AreSoundAndOfTheSizeAskedFor) {
  for (const size_t ops : {1u, 2u, 10u, 100u, 9999u}) {
    for (const Net& net : {ResidualNet(ops), ResidualNet(ops, Pass::kTraining), ChainNet(ops),
                           InPlaceChainNet(ops), StarNet(ops), LadderNet(ops)}) {
      SCOPED_TRACE(net.Str(net.name));
      ExpectSound(net);
      const long off = std::labs(static_cast<long>(net.ops.size()) - static_cast<long>(ops));
      EXPECT_LE(off, ops < 100 ? 30 : 10) << net.ops.size() << " of " << ops;
    }
  }
}

TEST(GenerateNets, TrainingUpdatesEveryWeightOnce) {
  const Net net = ResidualNet(1000, Pass::kTraining);
  const Ssa ssa(net);
  int updates = 0;
  for (OpId op = 0; op < static_cast<OpId>(net.ops.size()); ++op) {
    if (net.Str(net.ops[op].type) != "WeightedSum") continue;
    ++updates;
    EXPECT_EQ(ssa.values()[ssa.outputs(op)[0]].version, 1u);
    EXPECT_NE(ssa.values()[ssa.inputs(op)[2]].def, kNoOp) << "a gradient nobody computes";
  }
  EXPECT_EQ(updates % 6, 2);
  EXPECT_GT(updates, 200);
}

}  // namespace
}  // namespace weft::testing
