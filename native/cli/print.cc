// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft print: the readable listing of a file.
#include "core/ssa/print.h"

#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "core/ssa/net_json.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/io/file.h"
#include "proto/text.h"

namespace weft::cli {

namespace {

struct Options {
  std::string file;
  PrintOptions print;
};

void PrintKey(Stream& out, const std::string& key) {
  if (key.empty()) return;
  out.Write(key, TextClass::kLabel);
  out.Write(": ");
}

void WriteNames(JsonWriter& json, std::string_view key, const Net& net, const std::vector<Symbol>& names) {
  json.Key(key).BeginArray();
  for (Symbol name : names) json.String(net.Str(name));
  json.EndArray();
}

int Json(Main& main, const Document& document, const PrintOptions& print) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("kind").String(DescribeKind(document)).Key("nets").BeginArray();
  for (const auto& [key, net] : document.nets) {
    json.BeginObject().Key("key").String(key).Key("name").String(net.Str(net.name));
    json.Key("operators").Int(net.ops.size()).Key("blobs").Int(Ssa(net).blobs().size());
    WriteNames(json, "external_input", net, net.external_inputs);
    WriteNames(json, "external_output", net, net.external_outputs);
    if (print.nets) json.Key("listing").String(NetListing(net, print));
    json.EndObject();
  }
  json.EndArray().Key("plans").BeginArray();
  for (const auto& [key, plan] : document.plans) {
    json.BeginObject().Key("key").String(key).Key("name").String(plan.Str(plan.name));
    json.Key("nets").BeginArray();
    for (const Net& net : plan.networks)
      json.BeginObject()
          .Key("name")
          .String(plan.Str(net.name))
          .Key("operators")
          .Int(net.ops.size())
          .EndObject();
    json.EndArray().Key("steps");
    WriteSteps(json, plan, plan.steps);
    if (print.nets) json.Key("listing").String(PlanListing(plan, print));
    json.EndObject();
  }
  json.EndArray().EndObject();
  return PrintJson(main, out);
}

int Run(Main& main, const Options& options) {
  Result<Document> document = Load(options.file);
  if (!document) return main.Fail(document.error(), options.file);
  if (main.json) return Json(main, *document, options.print);
  Stream out(STDOUT_FILENO, main.color);
  PrintOptions print = options.print;
  print.width = out.width();

  bool first = true;
  const auto gap = [&] {
    if (!first) out.Write("\n");
    first = false;
  };
  for (const Document::NamedNet& net : document->nets) {
    if (!print.nets) break;
    gap();
    PrintKey(out, net.key);
    PrintNet(net.net, print, out.Emitter());
  }
  for (const Document::NamedPlan& plan : document->plans) {
    gap();
    PrintKey(out, plan.key);
    PrintPlan(plan.plan, print, out.Emitter());
  }
  if (document->form == Document::kMiniDb) {
    constexpr size_t kShown = 20;
    out.Write(StrCat(DescribeKind(*document), "\n"));
    for (size_t i = 0; i < document->records.size(); ++i) {
      if (!print.full && i == kShown) {
        out.Write(StrCat("  ... ", document->records.size() - i, " more\n"), TextClass::kMuted);
        break;
      }
      out.Write(StrCat("  ", document->records[i].key, "  "));
      out.Write(FormatBytes(document->records[i].value.size()), TextClass::kMuted);
      out.Write("\n");
    }
  } else if (print.nets && document->nets.empty() && document->plans.empty()) {
    out.Write(WireToText(document->message, document->wire.view(), print.full ? 0 : 8));
  }
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

}  // namespace

void AddPrint(CLI::App& app, Main& main) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddSubcommand(app, main, "print", "a readable listing of nets and plans",
                                    [&main, options] { return Run(main, *options); });
  AddFile(*command, options->file);
  command->add_flag("--ssa", options->print.ssa,
                    "the version of every blob (x@1), not only of those written more than once");
  command->add_flag("--full", options->print.full, "whole lists, strings and externals, and debug_info");
  command->add_flag("!--no-nested", options->print.nested, "leave out the nets inside operators");
  command->add_flag("!--steps", options->print.nets, "only the steps of plans, no nets");
  AddJson(
      *command, main,
      R"({"kind","nets":[{key,name,operators,blobs,external_input,external_output,listing}],)"
      R"("plans":[{key,name,nets:[{name,operators}],steps:[{name,nets,iterations,until,concurrent,...,steps}],listing}]})");
}

}  // namespace weft::cli
