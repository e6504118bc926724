// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The passes as a list: what each is called, what it takes and does. The command line, the golden files and
// pages offer what is listed here; code calls the typed functions in the passes' own headers. Rows are data;
// running one is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"

namespace weft {

struct PassOption {
  std::string_view name;   // "keep"
  std::string_view value;  // "BLOB": what it takes, any number of times; empty: a flag
  std::string_view what;
  bool required = false;
};

/// Option values as text, in the order given.
struct PassWords {
  std::vector<std::pair<std::string, std::string>> given;  // option, value ("" for a flag)

  bool Has(std::string_view option) const;
  std::vector<std::string> Values(std::string_view option) const;
  std::string Value(std::string_view option, std::string_view otherwise = "") const;  // the last one
};

/// Something to tell besides the net: "peak_before" 1024.
struct PassFact {
  std::string_view name;
  std::variant<int64_t, std::string, std::vector<std::string>> value;
};

struct PassOutcome {
  Net net;
  std::vector<PassFact> facts{};
  std::optional<Net> init{};  // of passes that change an init net too
};

struct PassDef {
  std::string_view name;  // "dead-ops"
  std::string_view what;
  std::string_view
      nets;  // "NET", "INIT NET": what it takes, separated by spaces; "NET INIT?" may be left out
  std::span<const PassOption> options;
  /// The nets share one symbol table.
  Result<PassOutcome> (*run)(std::span<const Net> nets, const OpSet& ops, const PassWords& words);
};

std::span<const PassDef> Passes();
/// Errors: kNotFound naming the nearest.
Result<const PassDef*> FindPass(std::string_view name);
/// Runs a pass. Errors: kInvalidArgument for an option or a number of nets that the pass does not take, and
/// those of the pass.
Result<PassOutcome> RunPass(const PassDef& pass, std::span<const Net> nets, const OpSet& ops,
                            const PassWords& words);

}  // namespace weft
