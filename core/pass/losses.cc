// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/losses.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ops/op_columns.h"
#include "core/pass/shapes.h"

namespace weft {

namespace {

bool NamesLoss(std::string_view name) { return name.find("loss") != std::string_view::npos; }

}  // namespace

std::vector<LossCandidate> SuggestLosses(const Net& net, const OpSet& ops) {
  ShapeTable table;
  const NetShapes shapes = InferShapes(net, {}, table, {.ops = &ops});
  const Ssa& ssa = shapes.ssa;
  std::vector<LossCandidate> found;
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const auto outputs = ssa.outputs(static_cast<OpId>(i));
    for (size_t k = 0; k < op.outputs.size(); ++k) {
      const Value& value = ssa.values()[outputs[k]];
      if (ssa.latest(value.blob) != outputs[k] || !ssa.uses(outputs[k]).empty()) continue;
      LossCandidate candidate{op.outputs[k], static_cast<OpId>(i), "", true};
      const OpDef* def = ops.Find(net.Str(op.type));
      const Ports ports = def ? ParsePorts(def->ports) : Ports();
      const TensorInfo& info = shapes.values[outputs[k]];
      if (k < ports.outputs.size() && NamesLoss(ports.outputs[k].name)) {
        candidate.why = StrCat("what ", net.Str(op.type), " calls ", ports.outputs[k].name);
      } else if (info.tensor() && info.rank() == 0) {
        candidate.why = "a number that nobody reads";
      } else {
        candidate.why = "nobody reads it";
        candidate.likely = NamesLoss(net.Str(op.outputs[k]));
      }
      found.push_back(std::move(candidate));
    }
  }
  std::stable_partition(found.begin(), found.end(), [](const LossCandidate& c) { return c.likely; });
  return found;
}

}  // namespace weft
