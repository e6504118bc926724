// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory reuse: bytes that the nets of tests/data/models need, beside Caffe2's memonger and the lower bound,
// and how long it takes on chains and on a star, where all blobs live at once.
#include "core/pass/memory_reuse.h"
#include "tests/bench/bench.h"
#include "tests/support/generate_nets.h"
#include "tests/support/memory_table.h"

int main(int argc, char** argv) {
  using namespace weft;
  std::fputs(test::MemoryTableText(test::MemoryTable()).c_str(), stdout);
  for (size_t size : bench::Sizes(argc, argv)) {
    const Net nets[] = {testing::ChainNet(size), testing::StarNet(size),
                        testing::ResidualNet(size, testing::Pass::kTraining)};
    const char* const names[] = {"reuse, chain", "reuse, star", "reuse, residual training"};
    for (size_t k = 0; k < std::size(nets); ++k) {
      const Net& net = nets[k];
      MemoryOptions options{.recycle = Recycle::kAll};
      int64_t bytes = 1;
      for (const Op& op : net.ops)
        for (Symbol blob : op.outputs) options.sizes.push_back({blob, bytes = bytes * 7 % 1009});
      bench::Measure(names[k], net.ops.size(), [&] {
        if (!ReuseMemory(net, StandardOps(), options)) std::abort();
      });
    }
  }
}
