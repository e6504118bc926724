// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a generated net as a file, for tests and benches that need one:
//   generate_net training|forward|chain|star|ladder OPS OUT.pb
#include <cstdio>
#include <cstdlib>
#include <string>

#include "proto/codec.h"
#include "tests/support/generate_nets.h"

int main(int argc, char** argv) {
  using namespace weft::testing;
  if (argc != 4) return std::fprintf(stderr, "usage: generate_net KIND OPS OUT.pb\n"), 2;
  const std::string kind = argv[1];
  const size_t ops = std::strtoull(argv[2], nullptr, 10);
  weft::Net net;
  if (kind == "training") {
    net = ResidualNet(ops, Pass::kTraining);
  } else if (kind == "forward") {
    net = ResidualNet(ops);
  } else if (kind == "chain") {
    net = ChainNet(ops);
  } else if (kind == "star") {
    net = StarNet(ops);
  } else if (kind == "ladder") {
    net = LadderNet(ops);
  } else {
    return std::fprintf(stderr, "no such kind: %s\n", kind.c_str()), 2;
  }
  const std::string bytes = weft::SerializeNet(net);
  std::FILE* file = std::fopen(argv[3], "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fclose(file) != 0) {
    return std::fprintf(stderr, "cannot write %s\n", argv[3]), 1;
  }
  return 0;
}
