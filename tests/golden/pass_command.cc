// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// pass NAME [--OPTION VALUE]...: the facts that a pass tells, then the net that it makes as a listing with
// all arguments, then the init net if it gives one.
#include "core/base/str.h"
#include "core/pass/passes.h"
#include "core/ssa/print.h"
#include "proto/codec.h"
#include "tests/golden/commands.h"

namespace weft::golden {

Result<std::string> Pass(Words& words, std::span<const std::string> inputs) {
  const std::string name = words.TakeFirst();
  WEFT_TRY(const PassDef* pass, FindPass(name));
  PassWords given;
  for (const PassOption& option : pass->options) {
    if (option.value.empty()) {
      if (words.TakeFlag(option.name)) given.given.push_back({std::string(option.name), ""});
    } else {
      for (const std::string& value : words.TakeValues(option.name))
        given.given.push_back({std::string(option.name), value});
    }
  }
  std::vector<Net> nets;
  for (const std::string& input : inputs) {
    WEFT_TRY(Net net, ParseNetText(input));
    nets.push_back(std::move(net));
  }
  WEFT_TRY(const PassOutcome outcome, RunPass(*pass, nets, StandardOps(), given));
  std::string out;
  for (const PassFact& fact : outcome.facts) {
    StrAppend(out, fact.name, ":");
    if (const int64_t* number = std::get_if<int64_t>(&fact.value)) {
      StrAppend(out, " ", *number);
    } else if (const std::string* text = std::get_if<std::string>(&fact.value)) {
      StrAppend(out, " ", *text);
    } else {
      for (const std::string& item : std::get<std::vector<std::string>>(fact.value))
        StrAppend(out, " [", item, "]");
    }
    out += "\n";
  }
  out += NetListing(outcome.net, {.full = true});
  if (outcome.init) out += NetListing(*outcome.init, {.full = true});
  return out;
}

}  // namespace weft::golden
