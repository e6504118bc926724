// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings as text for people, and as JSON for programs. Text comes in pieces with classes, as listings do.
#pragma once

#include <array>
#include <span>
#include <string>

#include "core/base/json.h"
#include "core/check/diagnostic.h"
#include "core/ssa/print.h"

namespace weft {

struct ReportOptions {
  int width = 0;        // lines are broken to so many columns; 0: not at all
  size_t per_code = 5;  // findings of one code beyond these are counted; 0: all are shown
};

/// How many findings of each severity.
std::array<size_t, kNumSeverities> CountSeverities(std::span<const Diagnostic> findings);
/// "1 error, 2 warnings, 4 notes"; "no findings" for none.
std::string SummaryOf(const std::array<size_t, kNumSeverities>& counts);

/// One entry for each finding, errors first: severity, message, code, and the remedy on a line of its own.
void PrintFindings(std::span<const Diagnostic> findings, const ReportOptions& options, const EmitPiece& emit);
std::string FindingsListing(std::span<const Diagnostic> findings, const ReportOptions& options);

/// {"code","severity","message","op","blob","remedy","net"}; op and blob are null where there is none.
/// `file` is added when it is not empty.
void WriteFinding(JsonWriter& json, const Diagnostic& finding, std::string_view file);

}  // namespace weft
