// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plan and Step: what is run in which order, how often, side by side or one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/net.h"

namespace weft {

struct Step {
  Symbol name;
  std::vector<Step> substeps;    // substeps or networks, never both
  std::vector<Symbol> networks;  // names of nets of the plan
  std::optional<int64_t> num_iter;
  Symbol criteria_network;  // deprecated in Caffe2, kept
  Symbol report_net;
  std::optional<int32_t> report_interval;  // seconds
  std::optional<int64_t> run_every_ms;
  std::optional<bool> concurrent_substeps;
  Symbol should_stop_blob;
  std::optional<bool> only_once;
  std::optional<bool> create_workspace;
  std::optional<int32_t> num_concurrent_instances;
  std::string unknown;
};

struct Plan {
  SymbolTablePtr symbols = std::make_shared<SymbolTable>();  // shared with all of its nets
  Symbol name;
  std::vector<Net> networks;
  std::vector<Step> steps;
  std::string unknown;

  std::string_view Str(Symbol symbol) const { return symbols->Str(symbol); }
};

}  // namespace weft
