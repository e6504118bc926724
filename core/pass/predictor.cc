// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/predictor.h"

#include <algorithm>

#include "core/base/symbol_map.h"
#include "core/pass/inference.h"
#include "core/pass/old_values.h"
#include "core/ssa/cut.h"

namespace weft {

Result<Predictor> ExtractPredictor(const Net& net, const Net* init, const OpSet& ops,
                                   const PredictorOptions& options) {
  CutOptions cut;
  for (Symbol blob : options.inputs) cut.inputs.emplace_back(blob);
  for (Symbol blob : options.outputs.empty() ? net.external_outputs : options.outputs)
    cut.outputs.emplace_back(blob);
  if (cut.outputs.empty())
    return Error{ErrorCode::kInvalidArgument,
                 "the net declares no external output: say which blobs the predictor is to give"};
  WEFT_TRY(CutNet part, Cut(ListOldValues(net), cut));
  InferenceNet stripped = StripForInference(part.net, ops);
  Predictor predictor{.net = std::move(stripped.net),
                      .init = {},
                      .missing = {},
                      .removed = stripped.removed.size(),
                      .test_mode = stripped.test_mode.size()};
  if (!init) return predictor;
  const Net home = Rehome(*init, net.symbols);
  WEFT_TRY(Net trimmed, TrimInit(home, predictor.net));
  SymbolMap<uint8_t> known(*net.symbols, trimmed.ops.size(), 0);
  for (Symbol blob : options.inputs) known[blob] = 1;
  for (const Op& op : trimmed.ops)
    for (Symbol blob : op.outputs) known[blob] = 1;
  for (Symbol blob : predictor.net.external_inputs)
    if (!known.Get(blob)) predictor.missing.push_back(blob);
  predictor.init = std::move(trimmed);
  return predictor;
}

}  // namespace weft
