// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check/diagnostic.h"

#include <algorithm>
#include <iterator>

#include "core/base/str.h"
#include "core/ir/net.h"

namespace weft {

namespace {

constexpr std::string_view kCodeNames[] = {
    "lenient",          "no_name",          "no_external_inputs", "no_external_outputs", "repeated_external",
    "unused_input",     "undeclared_input", "missing_output",     "helper_output",       "read_before_write",
    "dead_write",       "double_fill",      "repeated_output",    "unknown_operator",    "schema",
    "in_place",         "control_late",     "control_cycle",      "control_unknown",     "node_name",
    "not_portable",     "nested_too_deep",  "wrong_shape",        "shape_unknown",       "not_fed",
    "never_filled",     "run_order",        "wrong_type",         "unused_parameter",    "undefined_net",
    "repeated_net",     "unused_net",       "substeps_and_nets",  "empty_step",          "step_options",
    "concurrent_write", "concurrent_read",
};
static_assert(std::size(kCodeNames) == kNumFindingCodes);

}  // namespace

std::string_view FindingCodeName(FindingCode code) { return kCodeNames[static_cast<size_t>(code)]; }

std::string_view SeverityName(Severity severity) {
  constexpr std::string_view kNames[] = {"error", "warning", "note"};
  return kNames[static_cast<size_t>(severity)];
}

void Findings::SortFrom(size_t first) {
  std::stable_sort(list_.begin() + static_cast<ptrdiff_t>(first), list_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.op < b.op; });
}

void Findings::MoveFrom(size_t first, std::vector<Diagnostic>& to) {
  const auto begin = list_.begin() + static_cast<ptrdiff_t>(first);
  to.insert(to.end(), std::make_move_iterator(begin), std::make_move_iterator(list_.end()));
  list_.erase(begin, list_.end());
}

std::vector<Diagnostic> Findings::Take() {
  for (int code = 0; code < kNumFindingCodes; ++code) {
    if (seen_[static_cast<size_t>(code)] <= per_code_) continue;
    const auto name = static_cast<FindingCode>(code);
    list_.push_back({.code = name,
                     .severity = Severity::kNote,
                     .message = StrCat("and ", seen_[static_cast<size_t>(code)] - per_code_, " more ",
                                       FindingCodeName(name), " findings, left out")});
  }
  return std::move(list_);
}

std::string OpLabel(const Net& net, int32_t op) {
  const Op& o = net.ops[static_cast<size_t>(op)];
  std::string label = StrCat("op ", op, " ", o.type ? net.Str(o.type) : "(no type)");
  if (!net.Str(o.name).empty()) StrAppend(label, " ", QuoteBytes(net.Str(o.name)));
  return label;
}

std::string ListNames(const std::vector<std::string>& names, size_t most) {
  std::string out;
  // One name more costs no more room than "and 1 more".
  const size_t shown = names.size() <= most + 1 ? names.size() : most;
  for (size_t i = 0; i < shown; ++i) StrAppend(out, i == 0 ? "" : ", ", names[i]);
  if (shown < names.size()) StrAppend(out, " and ", names.size() - shown, " more");
  return out;
}

}  // namespace weft
