// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Planning resnet50 on 512 ranks: one of 512 machines with a device each, one of 64 with eight, and all 512
// devices in one net.
#include <cstdio>

#include "core/pass/comm_cost.h"
#include "tests/bench/bench.h"
#include "tests/support/train_models.h"

int main(int argc, char** argv) {
  using namespace weft;
  // CTest's "1000" asks for a small one.
  const int ranks = argc > 1 && std::atoi(argv[1]) <= 1000 ? 16 : 512;
  struct Row {
    const char* name;
    int shards, devices;
    bool nccl;
    int64_t bucket_bytes;
    bool sharded = false;  // the optimizer's state
  };
  const Row rows[] = {{"machines with 1 device", ranks, 1, false, 0},
                      {"machines with 8 devices", ranks / 8, 8, true, 0},
                      {"the same, in 25 MB buckets", ranks / 8, 8, true, 25 << 20},
                      {"the same, sharded", ranks / 8, 8, true, 25 << 20, true},
                      {"all devices in one net, NCCL", 1, ranks, true, 0},
                      {"all devices in one net, copies", 1, ranks, false, 0},
                      {"the same, sharded", 1, ranks, false, 0, true}};
  for (const Row& row : rows) {
    size_t ops = 0;
    bench::Measure(row.name, static_cast<size_t>(ranks), [&] {
      const SingleModel model = test::ForwardModel("resnet50_train");
      ParallelOptions options;
      for (int i = 0; i < row.devices; ++i) options.devices.push_back(i);
      options.use_nccl = row.nccl;
      options.bucket_bytes = row.bucket_bytes;
      options.shard_optimizer = row.sharded;
      if (row.shards > 1) options.rendezvous = Rendezvous{.num_shards = row.shards};
      const Result<ParallelNets> nets = test::Replicate(model, options);
      if (!nets) std::abort();
      const CommCost cost =
          CommunicationOf(nets->net, options, DenseBytes(nets->init, nets->net, nets->gradients));
      ops = nets->net.ops.size() + nets->init.ops.size() + (cost.ops.empty() ? 1 : 0);
    });
    std::printf("  %zu operators\n", ops);
  }
}
