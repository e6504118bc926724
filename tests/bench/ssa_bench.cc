// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Making, copying and numbering nets of every generated shape: time per operator grows with cache misses
// only.
#include <cstdio>

#include "core/base/str.h"
#include "core/ssa/ssa.h"
#include "tests/bench/bench.h"
#include "tests/support/generate_nets.h"

int main(int argc, char** argv) {
  using namespace weft;
  using namespace weft::testing;
  for (size_t size : bench::Sizes(argc, argv)) {
    bench::Measure("make residual", size, [&] { ResidualNet(size); });
    for (const Net& net : {ResidualNet(size), ResidualNet(size, Pass::kTraining), ChainNet(size),
                           InPlaceChainNet(size), StarNet(size), LadderNet(size)}) {
      bench::Measure(StrCat("copy ", net.Str(net.name)), size, [&] { Net copy = net; });
      bench::Measure(StrCat("ssa ", net.Str(net.name)), size, [&] { Ssa ssa(net); });
    }
  }
}
