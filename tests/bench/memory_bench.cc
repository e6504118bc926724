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
    for (const auto& [name, net] :
         {std::pair("reuse, chain", testing::ChainNet(size)),
          std::pair("reuse, star", testing::StarNet(size)),
          std::pair("reuse, residual training", testing::ResidualNet(size, testing::Pass::kTraining))}) {
      MemoryOptions options{.recycle = Recycle::kAll};
      int64_t bytes = 1;
      for (const Op& op : net.ops)
        for (Symbol blob : op.outputs) options.sizes.push_back({blob, bytes = bytes * 7 % 1009});
      bench::Measure(name, net.ops.size(), [&] {
        if (!ReuseMemory(net, StandardOps(), options)) std::abort();
      });
    }
  }
}
