// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole pipeline on generated nets: bytes -> IR -> SSA -> backward pass -> bytes, beside what
// protobuf-lite's generated classes need to parse and serialise the same bytes. Chains, stars and ladders
// show that planning is linear.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/ops/op_set.h"
#include "proto/codec.h"
#ifndef __EMSCRIPTEN__
#include "proto/caffe2.pb.h"
#endif
#include "tests/bench/bench.h"
#include "tests/support/generate_nets.h"

namespace {

using namespace weft;

GradientOptions LossOf(const Net& net) {
  GradientOptions options;
  options.losses.push_back({net.ops.back().outputs[0], {}});
  return options;
}

// Returns the seconds of the whole pipeline per forward operator. It is measured first: as one who opens a
// file meets it, with nothing warm.
double Pipeline(std::string_view what, const Net& generated) {
  const size_t size = generated.ops.size();
  const Bytes file(SerializeNet(generated));
  std::printf("%.*s, %zu forward ops, %s\n", static_cast<int>(what.size()), what.data(), size,
              FormatBytes(file.size()).c_str());
  std::optional<Net> net;
  std::optional<Backward> backward;
  std::string out;
  const auto parse = [&] { net.emplace(std::move(ParseNet(file)).value()); };
  const auto plan = [&] {
    auto planned = PlanGradients(*net, StandardOps(), LossOf(*net));
    if (!planned) {
      std::fprintf(stderr, "%s\n", planned.error().message.c_str());
      std::abort();
    }
    backward.emplace(std::move(planned).value());
  };
  const double seconds = bench::Measure("the whole pipeline", size, [&] {
    parse();
    plan();
    out = SerializeNet(*net, backward->ops);
    backward.reset();
    net.reset();
  });
  bench::Measure("parse", size, parse);
  bench::Measure("SSA + backward plan", size, plan);
  backward.reset();
  net.reset();
#ifndef __EMSCRIPTEN__
  const double theirs = bench::Measure("protobuf-lite parse + serialise", size, [&] {
    caffe2::NetDef message;
    if (!message.ParseFromArray(file.view().data(), static_cast<int>(file.size()))) std::abort();
    if (message.SerializeAsString().size() != file.size()) std::abort();
  });
  std::printf("%-32s %28.2f of protobuf-lite's time\n", "", seconds / theirs);
#endif
  return seconds / static_cast<double>(size);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace weft::testing;
  const std::vector<size_t> sizes = weft::bench::Sizes(argc, argv);
  double first = 0;
  for (const size_t size : sizes) {
    const double per_op = Pipeline("residual", ResidualNet(size));
    if (first == 0)
      first = per_op;
    else
      std::printf("%-32s %28.2f times the time per op at %zu\n", "", per_op / first, sizes[0]);
    Pipeline("chain", ChainNet(size));
    Pipeline("star", StarNet(size));
    Pipeline("ladder", LadderNet(size));
  }
}
