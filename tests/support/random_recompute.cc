// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_recompute.h"

#include <algorithm>
#include <random>

#include "core/pass/recompute_write.h"

namespace weft::test {

RandomlyRecomputed RecomputeByChance(const Net& net, std::span<const GivenBlob> given, uint32_t seed) {
  ShapeTable table;
  std::vector<GivenBlob> known(given.begin(), given.end());
  const NetShapes shapes = InferShapes(net, known, table);
  const internal::RecomputeModel model(net, shapes, MostLive(net, shapes, table), table, StandardOps(), {});
  RandomlyRecomputed out{.net = net};
  if (model.turn() == model.end()) return out;
  std::mt19937 random(seed);
  const uint32_t of_four = 1 + seed % 4;
  std::vector<uint8_t> again;
  for (OpId op = 0; op < model.turn(); ++op) again.push_back(model.may(op) && random() % 4 < of_four);
  const internal::RecomputeModel::Trial trial = model.Try(again);
  for (const OpId before : trial.before) out.again += before < model.end();
  out.net = internal::WithRecomputed(net, shapes.ssa, model, trial);
  const NetShapes made = InferShapes(out.net, known, table);
  out.told = trial.peak;
  out.live = table.At(MostLive(out.net, made, table).most, LiveBytes::kSymbolValue);
  out.exact = shapes.nested.empty() && out.net.ops.size() == net.ops.size() + out.again;
  return out;
}

}  // namespace weft::test
