// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/commands.h"

#include "core/base/str.h"
#include "core/check/check_plan.h"
#include "core/check/report.h"
#include "core/ssa/print.h"
#include "proto/document.h"

namespace weft::golden {
namespace {

/// A file's content, as any other user of the codec opens it.
Result<Document> OpenText(const std::string& text) { return Open(Bytes(text)); }

/// print [--ssa] [--full]: the readable listing.
Result<std::string> Print(Words& words, std::span<const std::string> inputs) {
  PrintOptions options;
  options.ssa = words.TakeFlag("ssa");
  options.full = words.TakeFlag("full");
  WEFT_TRY(const Document document, OpenText(inputs[0]));
  std::string out;
  for (const Document::NamedNet& net : document.nets) out += NetListing(net.net, options);
  for (const Document::NamedPlan& plan : document.plans) out += PlanListing(plan.plan, options);
  return out;
}

/// convert: what was read, as protobuf's text format, then what was lenient about it as comments.
Result<std::string> Convert(Words&, std::span<const std::string> inputs) {
  WEFT_TRY(const Document document, OpenText(inputs[0]));
  WEFT_TRY(std::string out, Save(document, Document::kText));
  for (const Note& note : document.notes) {
    StrAppend(out, "# ");
    if (note.line > 0) StrAppend(out, note.line, ":", note.column, ": ");
    StrAppend(out, note.message);
    if (note.times > 1) StrAppend(out, " (", note.times, " times)");
    out += "\n";
  }
  return out;
}

/// check [--feed B]...: findings about each net and plan; several nets also as a sequence in one workspace.
Result<std::string> Check(Words& words, std::span<const std::string> inputs) {
  const CheckOptions options{.ops = &StandardOps()};
  const std::vector<std::string> fed = words.TakeValues("feed");
  std::string out;
  std::vector<Document> documents;
  for (const std::string& input : inputs) {
    WEFT_TRY(Document document, OpenText(input));
    for (const Document::NamedNet& net : document.nets)
      out += FindingsListing(CheckNet(net.net, options), {.per_code = 0});
    for (const Document::NamedPlan& plan : document.plans)
      out += FindingsListing(CheckPlan(plan.plan, options), {.per_code = 0});
    documents.push_back(std::move(document));
  }
  std::vector<NamedNet> nets;
  for (const Document& document : documents)
    for (const Document::NamedNet& net : document.nets)
      nets.push_back({&net.net, std::string(net.net.Str(net.net.name))});
  if (nets.size() > 1 || !fed.empty())
    StrAppend(out, "together:\n", FindingsListing(CheckSequence(nets, fed, options), {.per_code = 0}));
  return out.empty() ? "no findings" : out;
}

constexpr Command kCommands[] = {
    {"print", Print}, {"check", Check}, {"convert", Convert},
    {"grad", Grad},   {"pass", Pass},   {"shapes", Shapes},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace weft::golden
