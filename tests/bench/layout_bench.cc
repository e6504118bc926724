// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The inspector's layout: first scene (nothing known of the net yet, as much expanded as fits the budget), a
// later one, everything expanded, and one scope opened. Files given as arguments are opened; numbers are
// sizes of generated nets.
#include <cstdio>

#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "inspector/session.h"
#include "tests/bench/bench.h"
#include "tests/support/files.h"
#include "tests/support/generate_nets.h"

namespace {

using namespace weft;

Scene Build(Session& session, NetId net, const ViewOptions& options) {
  std::unique_ptr<SceneJob> job = session.BuildScene(net, options);
  Finish(*job);
  return job->Take().value();
}

void MeasureNet(const std::string& name, const Net& net) {
  const size_t ops = net.ops.size();
  ViewOptions options;
  Scene scene;
  bench::Measure(StrCat(name, " first"), ops, [&] {
    Session session(StandardOps());
    scene = Build(session, session.Add(name, net), options);
  });
  std::printf("  %zu boxes, %.1f MB\n", scene.view().nodes().size(),
              static_cast<double>(scene.words.size()) * 4e-6);
  Session session(StandardOps());
  const NetId id = session.Add(name, net);
  Build(session, id, options);
  bench::Measure(StrCat(name, " again"), ops, [&] { scene = Build(session, id, options); });
  options.expanded = session.DefaultExpanded(id, options.mode, options.budget).value();
  for (const SceneNode& node : scene.view().nodes()) {
    if (node.kind() != NodeKind::kScope) continue;
    options.expanded->push_back(node.id);
    break;
  }
  bench::Measure(StrCat(name, " one more open"), ops, [&] { Build(session, id, options); });
  options.expand_all = true;
  bench::Measure(StrCat(name, " all, cold"), ops, [&] {
    Session cold(StandardOps());
    scene = Build(cold, cold.Add(name, net), options);
  });
  std::printf("  %zu boxes, %zu edges, %.1f MB\n", scene.view().nodes().size(), scene.view().edges().size(),
              static_cast<double>(scene.words.size()) * 4e-6);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace weft::testing;
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.find('.') == std::string::npos) {
      sizes.push_back(std::strtoull(argv[i], nullptr, 10));
      continue;
    }
    Session session(StandardOps());
    std::unique_ptr<OpenJob> open = session.Open(argument, Bytes(test::ReadFile(argument)));
    Finish(*open);
    if (const Result<DocumentId> document = open->Take(); !document) {
      std::fprintf(stderr, "%s\n", document.error().message.c_str());
      return 1;
    }
    MeasureNet(argument.substr(argument.rfind('/') + 1), *session.net(session.nets()[0].id));
  }
  if (argc == 1) sizes = {10000, 100000, 1000000};
  for (size_t size : sizes) {
    MeasureNet("training", ResidualNet(size, Pass::kTraining));
    MeasureNet("residual", ResidualNet(size));
    MeasureNet("chain", ChainNet(size));
    MeasureNet("in place", InPlaceChainNet(size));
    MeasureNet("star", StarNet(size));
    MeasureNet("ladder", LadderNet(size));
  }
}
