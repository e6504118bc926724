// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// grad --loss B[=G|=IDX,VAL]... [--skip N] [--mode caffe2] [--mixed dense|sparse] [--wrt B]... [--stop B]...
// [--frozen B]... [--repair] [--dedup sum|mean] [--separate]: the generated operators, what each is there
// for, and the gradient of each blob.
#include <cstdlib>

#include "core/base/str.h"
#include "core/grad/after.h"
#include "core/grad/repair.h"
#include "core/ssa/print.h"
#include "proto/codec.h"
#include "tests/golden/commands.h"

namespace weft::golden {
namespace {

Loss ReadLoss(Net& net, std::string_view text) {
  const size_t equals = text.find('=');
  Loss loss;
  loss.blob = net.Intern(text.substr(0, equals));
  if (equals == std::string_view::npos) return loss;
  const std::string_view given = text.substr(equals + 1);
  const size_t comma = given.find(',');
  loss.given = comma == std::string_view::npos ? Gradient::Dense(net.Intern(given))
                                               : Gradient::Sparse(net.Intern(given.substr(0, comma)),
                                                                  net.Intern(given.substr(comma + 1)));
  return loss;
}

std::vector<Symbol> TakeNames(Words& words, std::string_view option, Net& net) {
  std::vector<Symbol> names;
  for (const std::string& name : words.TakeValues(option)) names.push_back(net.Intern(name));
  return names;
}

std::string OriginText(const Net& net, const Origin& origin) {
  switch (origin.kind) {
    case Origin::kSeed:
      return StrCat("seed of ", net.Str(origin.blob));
    case Origin::kRule:
      return StrCat("gradient of op ", origin.forward);
    case Origin::kAccumulate:
      if (origin.forward == kNoOp) return StrCat("rows of ", net.Str(origin.blob), " once each");
      return StrCat("adds up ", net.Str(origin.blob), "@", origin.version, ", first read by op ",
                    origin.forward);
  }
  return "";
}

std::string GradientText(const Net& net, const Gradient& gradient) {
  if (gradient.is_dense()) return std::string(net.Str(gradient.dense));
  return StrCat("(", net.Str(gradient.indices), ", ", net.Str(gradient.values), ")");
}

}  // namespace

Result<std::string> Grad(Words& words, std::span<const std::string> inputs) {
  WEFT_TRY(Net net, ParseNetText(inputs[0]));
  GradientOptions options;
  for (const std::string& loss : words.TakeValues("loss")) options.losses.push_back(ReadLoss(net, loss));
  options.skip = std::strtoull(words.TakeValue("skip", "0").c_str(), nullptr, 10);
  options.repair = words.TakeFlag("repair");
  if (words.TakeValue("mode", "") == "caffe2") options.faults = kAllFaults;
  const std::string mixed = words.TakeValue("mixed", "");
  if (mixed == "dense") options.mixed = MixedGradients::kDense;
  if (mixed == "sparse") options.mixed = MixedGradients::kSparse;
  options.wrt = TakeNames(words, "wrt", net);
  options.stop = TakeNames(words, "stop", net);
  options.frozen = TakeNames(words, "frozen", net);

  const std::string dedup = words.TakeValue("dedup", "");
  const bool separate = words.TakeFlag("separate");

  WEFT_TRY(RepairedPlan plan, PlanWithRepair(net, StandardOps(), options));
  const Net& forward = plan.changed ? plan.forward : net;
  if (!dedup.empty())
    DedupSlices(forward, plan.backward, dedup == "mean" ? SliceDedup::kMean : SliceDedup::kSum);
  if (separate) return NetListing(BackwardNet(forward, plan.backward), {.full = true});
  std::string out;
  for (const std::string& change : plan.changes) StrAppend(out, "repair: ", change, "\n");
  if (plan.changed) StrAppend(out, RepairListing(net, plan), "\n");
  Net generated(net.symbols);
  generated.ops = plan.backward.ops;
  const Ssa ssa(generated);
  for (size_t i = 0; i < generated.ops.size(); ++i) {
    StrAppend(out, i, "  ", OpListing(generated, ssa, static_cast<OpId>(i), {}), "  # ",
              OriginText(net, plan.backward.origin[i]), "\n");
  }
  out += "\n";
  for (const BlobGradient& blob : plan.backward.gradients) {
    StrAppend(out, net.Str(blob.blob), "@", blob.version, ": ", GradientText(net, blob.gradient), "\n");
  }
  return out;
}

}  // namespace weft::golden
