// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft shapes: what every blob of a net is, and what the net costs.
#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "core/check/report.h"
#include "core/pass/savings.h"
#include "core/pass/shape_report.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/cli/workbench.h"

namespace weft::cli {

namespace {

struct Words {
  std::string file;
  std::vector<std::string> init, inputs;
  bool savings = false;
};

int Run(Main& main, const Words& words) {
  Result<Net> net = LoadNet(words.file);
  if (!net) return main.Fail(net.error(), words.file);
  ShapeTable table;
  std::vector<GivenBlob> given;
  std::vector<Symbol> params;
  std::vector<Diagnostic> findings;
  for (const std::string& file : words.init) {
    const Result<Net> loaded = LoadNet(file);
    if (!loaded) return main.Fail(loaded.error(), file);
    const Net init = Rehome(*loaded, net->symbols);
    NetShapes shapes = InferShapes(init, given, table);
    for (GivenBlob& blob : FinalShapes(shapes)) {
      params.push_back(blob.blob);
      given.push_back(std::move(blob));
    }
    for (Diagnostic& finding : shapes.findings) {
      finding.message = StrCat(file, ": ", finding.message);
      findings.push_back(std::move(finding));
    }
  }
  SymbolMap<uint8_t> is_input(*net->symbols, words.inputs.size());
  const Net* const known[] = {&*net};
  Result<std::vector<GivenBlob>> inputs = ParseInputs(main, words.inputs, known, *net->symbols, table);
  if (!inputs) return main.Fail(inputs.error());
  for (GivenBlob& blob : *inputs) {
    is_input[blob.blob] = 1;
    given.push_back(std::move(blob));
  }
  // Without an init net, what is declared and not given counts as parameter.
  if (words.init.empty()) params = net->external_inputs;
  std::erase_if(params, [&](Symbol blob) { return is_input.Get(blob) != 0; });

  NetShapes shapes = InferShapes(*net, given, table);
  shapes.findings.insert(shapes.findings.begin(), findings.begin(), findings.end());
  const NetCost cost = CostOf(*net, shapes, params, table);
  std::optional<Savings> savings;
  if (words.savings) {
    Result<Savings> found = FindSavings(*net, given, table, StandardOps());
    if (!found) return main.Fail(found.error(), words.file);
    savings = std::move(*found);
  }
  const bool wrong = CountSeverities(shapes.findings)[static_cast<size_t>(Severity::kError)] > 0;
  if (main.json) {
    std::string json;
    JsonWriter writer(json);
    writer.BeginObject();
    WriteShapes(writer, *net, shapes, cost, table);
    if (savings) WriteSavings(writer, *savings);
    writer.EndObject();
    const int exit = PrintJson(main, json);
    return wrong ? kInputAtFault : exit;
  }
  Stream out(STDOUT_FILENO, main.color);
  PrintShapes(*net, shapes, cost, table, out.Emitter());
  if (savings) PrintSavings(*savings, out.Emitter());
  if (!shapes.findings.empty())
    PrintFindings(shapes.findings, {.width = out.width(), .per_code = 20}, out.Emitter());
  out.Flush();
  return out.failed() || wrong ? kInputAtFault : kOk;
}

}  // namespace

void AddShapes(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command =
      AddSubcommand(app, main, "shapes", "shapes and types of every blob, operations, traffic, memory",
                    [&main, words] { return Run(main, *words); });
  AddFile(*command, words->file);
  AddRepeated(*command, "--init", words->init, "a net that runs before: what it fills is known")
      ->type_name("INIT");
  AddRepeated(*command, "--input", words->inputs,
              "a blob's shape: data=8,3,224,224[:type]; extents may be symbols (N,3,224,224), type is float "
              "when not given; queue=object is no tensor")
      ->type_name("BLOB=SHAPE");
  command->add_flag(
      "--savings", words->savings,
      "what sharing places (weft pass memory) and recomputing (weft pass recompute) would save");
  AddJson(
      *command, main,
      R"({"net","whole","blobs":[{name,version,op,net,kind,type,shape}],"operators":[{op,type,flops,...}],...})");
  command->footer(
      "A ? is an extent that depends on data. flop counts one for each arithmetic operation and elementary\n"
      "function; traffic counts each input read and each output written once; loops and branches count "
      "once,\n"
      "steps of a RecurrentNetwork each. Live bytes: each value is dropped after its last reader; blobs "
      "from\n"
      "outside and external outputs stay; an output takes the place of an input that it overwrites; what "
      "nets\n"
      "inside an operator alone hold counts while it runs, and what steps and loop bodies keep for their\n"
      "gradients until those ran (of a loop one trip; + ? for more). Symbols\n"
      "count as 64 when moments are compared.\n"
      "JSON: {\"net\",\"whole\":bool,\n"
      "  "
      "\"blobs\":[{\"name\",\"version\",\"op\":n|null,\"net\":path,\"kind\":\"tensor|object|unknown\","
      "\"type\",\"shape\":[...],\"bytes\",\"live\":[first op,last op]}],\n"
      "  \"operators\":[{\"op\",\"type\",\"flops\",\"read\",\"written\",\"parameters\"}],\n"
      "  \"nested\":[{\"net\":path,\"operators\":[{\"op\",\"type\",\"flops\",\"read\",\"written\"}]}],\n"
      "  \"scopes\":[{\"scope\",\"operators\",\"unknown\",\"flops\",\"read\",\"written\",\"parameters\"}],\n"
      "  "
      "\"total\":{\"operators\",\"unknown\",\"flops\",\"read\",\"written\",\"parameters\",\"parameter_"
      "bytes\",\"state\",\"state_bytes\"},\n"
      "  "
      "\"live\":[bytes by "
      "op],\"peak\":{\"bytes\",\"op\",\"unsized\"},\"missing_inputs\":[names],\"silent_operators\":[{\"op\","
      "\"type\",\"net\","
      "\"reason\"}],\n"
      "  \"findings\":[{\"code\",\"severity\",\"message\",\"op\",\"blob\",\"remedy\",\"net\"}],\n"
      "  with --savings \"savings\":{\"live\",\"blobs\",\"reuse\",\"flops\",\"nothing\":text|null,\n"
      "  "
      "\"recompute\":[{\"most_percent\":n|null,\"live\",\"reuse\",\"extra_flops\",\"extra_percent\","
      "\"operators\"}]}};"
      "\n  extents and sums are\n"
      "  numbers, formulas as text, \"?\" for data, or null when unknown; read and written are bytes; "
      "unknown counts\n"
      "  operators that the sums leave out, unsized values that the peak leaves out; a blob without \"live\" "
      "holds\n"
      "  nothing of its own.\n"
      "State is what would be a parameter if anything but what overwrites it read it: momentum, counters,\n"
      "running statistics.\n"
      "Savings, in bytes: live is the most at once, blobs is with a place for each blob, reuse with shared "
      "places;\n"
      "recompute is what running operators again leaves, for 1, 5, 10 and 20 percent of the net's flop at "
      "the "
      "most\n"
      "and for the lowest peak (null), without those that are no lower than the one before; nothing is why "
      "there "
      "is none.\n"
      "Exit code 1 when a shape is wrong.");
}

}  // namespace weft::cli
