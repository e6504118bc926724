// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check/report.h"

#include <algorithm>
#include <vector>

#include "core/base/str.h"

namespace weft {

namespace {

constexpr size_t kIndent = 9;  // as wide as "warning  "

TextClass ClassOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return TextClass::kError;
    case Severity::kWarning:
      return TextClass::kWarning;
    case Severity::kNote:
      return TextClass::kNote;
  }
  return TextClass::kPlain;
}

// Words into lines of `width` columns, each behind the same indent.
class Paragraph {
 public:
  Paragraph(size_t width, size_t indent, const EmitPiece& emit)
      : width_(width), indent_(indent), at_(indent), emit_(emit) {}

  void Add(std::string_view text, TextClass text_class) {
    for (std::string_view word : StrSplit(text, ' ')) {
      if (!first_ && width_ > 0 && at_ + 1 + word.size() > width_ && at_ > indent_) {
        emit_({StrCat("\n", std::string(indent_, ' '))});
        at_ = indent_;
        first_ = true;
      }
      if (!first_) {
        emit_({" "});
        ++at_;
      }
      emit_({word, text_class});
      at_ += word.size();
      first_ = false;
    }
  }

 private:
  size_t width_, indent_, at_;
  bool first_ = true;
  const EmitPiece& emit_;
};

void PrintOne(const Diagnostic& finding, const ReportOptions& options, const EmitPiece& emit) {
  const size_t width = static_cast<size_t>(std::max(options.width, 0));
  const std::string_view severity = SeverityName(finding.severity);
  emit({severity, ClassOf(finding.severity)});
  emit({std::string(kIndent - severity.size(), ' ')});
  Paragraph text(width, kIndent, emit);
  if (!finding.path.empty()) text.Add(StrCat(finding.path, ":"), TextClass::kHeading);
  text.Add(finding.message, TextClass::kPlain);
  text.Add(StrCat("[", FindingCodeName(finding.code), "]"), TextClass::kMuted);
  emit({"\n"});
  if (finding.remedy.empty()) return;
  emit({std::string(kIndent, ' ')});
  Paragraph remedy(width, kIndent + 3, emit);
  remedy.Add("->", TextClass::kMuted);
  remedy.Add(finding.remedy, TextClass::kPlain);
  emit({"\n"});
}

}  // namespace

std::array<size_t, kNumSeverities> CountSeverities(std::span<const Diagnostic> findings) {
  std::array<size_t, kNumSeverities> counts{};
  for (const Diagnostic& finding : findings) ++counts[static_cast<size_t>(finding.severity)];
  return counts;
}

std::string SummaryOf(const std::array<size_t, kNumSeverities>& counts) {
  std::string out;
  for (int k = 0; k < kNumSeverities; ++k) {
    const size_t count = counts[static_cast<size_t>(k)];
    if (count == 0) continue;
    StrAppend(out, out.empty() ? "" : ", ", count, " ", SeverityName(static_cast<Severity>(k)),
              count == 1 ? "" : "s");
  }
  return out.empty() ? "no findings" : out;
}

void PrintFindings(std::span<const Diagnostic> findings, const ReportOptions& options,
                   const EmitPiece& emit) {
  std::array<size_t, kNumFindingCodes> shown{}, left_out{};
  for (int k = 0; k < kNumSeverities; ++k) {
    for (const Diagnostic& finding : findings) {
      if (finding.severity != static_cast<Severity>(k)) continue;
      const size_t code = static_cast<size_t>(finding.code);
      if (options.per_code > 0 && shown[code] == options.per_code) {
        ++left_out[code];
        continue;
      }
      ++shown[code];
      PrintOne(finding, options, emit);
    }
  }
  for (size_t code = 0; code < left_out.size(); ++code)
    if (left_out[code] > 0)
      emit({StrCat(std::string(kIndent, ' '), "and ", left_out[code], " more ",
                   FindingCodeName(static_cast<FindingCode>(code)), "\n"),
            TextClass::kMuted});
}

std::string FindingsListing(std::span<const Diagnostic> findings, const ReportOptions& options) {
  std::string text;
  PrintFindings(findings, options, [&text](const Piece& piece) { text.append(piece.text); });
  return text;
}

void WriteFinding(JsonWriter& json, const Diagnostic& finding, std::string_view file) {
  json.BeginObject();
  if (!file.empty()) json.Key("file").String(file);
  json.Key("severity").String(SeverityName(finding.severity));
  json.Key("code").String(FindingCodeName(finding.code));
  json.Key("message").String(finding.message);
  json.Key("op");
  finding.op >= 0 ? json.Int(finding.op) : json.Null();
  json.Key("blob");
  finding.blob.empty() ? json.Null() : json.String(finding.blob);
  json.Key("remedy").String(finding.remedy);
  json.Key("net").String(finding.path);
  json.EndObject();
}

}  // namespace weft
