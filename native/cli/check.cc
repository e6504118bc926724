// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft check: findings about nets, about init and predict together, and about plans.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "core/base/str.h"
#include "core/check/check_plan.h"
#include "core/check/report.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/cli/workbench.h"
#include "native/io/file.h"

namespace weft::cli {

namespace {

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> init;
  std::vector<std::string> feed;
  std::vector<std::string> inputs;
  bool strict = false;
  bool all = false;
};

struct Report {
  std::string label;
  std::vector<Diagnostic> findings;
};

struct Checked {
  std::vector<Report> reports;
  std::vector<std::pair<std::string, Error>> unopened;
};

std::string ShortName(const std::string& path) {
  return path == "-" ? FileLabel(path) : std::filesystem::path(path).filename().string();
}

void Append(std::vector<Diagnostic>& to, std::vector<Diagnostic> from, const std::string& path = "") {
  for (Diagnostic& finding : from) {
    if (!path.empty()) finding.path = finding.path.empty() ? path : StrCat(path, ": ", finding.path);
    to.push_back(std::move(finding));
  }
}

Report CheckDocument(const std::string& label, const Document& document, const CheckOptions& check) {
  Report report{label, NotesAsFindings(document)};
  for (const Document::NamedNet& net : document.nets)
    Append(report.findings, CheckNet(net.net, check), net.key);
  for (const Document::NamedPlan& plan : document.plans)
    Append(report.findings, CheckPlan(plan.plan, check), plan.key);
  return report;
}

// Nets that share a workspace: those of --init and then each file; or, of exactly two files, an init net and
// the net that it fills, whichever way round they were named.
void CheckTogether(const std::vector<std::string>& paths, const std::vector<Document>& documents,
                   size_t num_init, const Options& options, const CheckOptions& check, Checked& checked) {
  const auto net_of = [&](size_t k) -> const Net* {
    return documents[k].nets.size() == 1 ? &documents[k].nets[0].net : nullptr;
  };
  const auto sequence = [&](std::vector<size_t> order) {
    std::vector<NamedNet> nets;
    std::string label;
    for (size_t k : order) {
      if (!net_of(k)) return;
      nets.push_back({net_of(k), ShortName(paths[k])});
      StrAppend(label, label.empty() ? "" : ", then ", ShortName(paths[k]));
    }
    std::vector<Diagnostic> findings = CheckSequence(nets, options.feed, check);
    // Who says what shape an input has will feed it.
    std::erase_if(findings, [&](const Diagnostic& finding) {
      return finding.code == FindingCode::kNotFed &&
             std::any_of(options.inputs.begin(), options.inputs.end(), [&](const std::string& input) {
               return input.substr(0, input.rfind('=')) == finding.blob;
             });
    });
    checked.reports.push_back({label, std::move(findings)});
  };
  if (num_init > 0) {
    for (size_t k = num_init; k < documents.size(); ++k) {
      std::vector<size_t> order;
      for (size_t i = 0; i < num_init; ++i) order.push_back(i);
      order.push_back(k);
      sequence(order);
    }
  } else if (documents.size() == 2 && net_of(0) && net_of(1)) {
    if (Fills(*net_of(0), *net_of(1))) {
      sequence({0, 1});
    } else if (Fills(*net_of(1), *net_of(0))) {
      sequence({1, 0});
    }
  } else if (documents.size() == 1 && !options.feed.empty()) {
    sequence({0});
  }
}

// Wrong shapes, and what is missing to know more, given those of --input and what init nets fill.
Result<void> CheckShapes(const Main& main, const std::vector<Document>& documents, size_t num_init,
                         const Options& options, Checked& checked) {
  std::vector<size_t> order;
  for (size_t k = 0; k < documents.size(); ++k) order.push_back(k);
  if (num_init == 0 && documents.size() == 2 && documents[0].nets.size() == 1 &&
      documents[1].nets.size() == 1) {
    num_init = 1;
    if (Fills(documents[1].nets[0].net, documents[0].nets[0].net)) {
      std::swap(order[0], order[1]);
    } else if (!Fills(documents[0].nets[0].net, documents[1].nets[0].net)) {
      num_init = 0;
    }
  }
  const auto symbols = std::make_shared<SymbolTable>();
  ShapeTable table;
  std::vector<const Net*> nets;
  for (const Document& document : documents) {
    for (const Document::NamedNet& net : document.nets) nets.push_back(&net.net);
    for (const Document::NamedPlan& plan : document.plans)
      for (const Net& net : plan.plan.networks) nets.push_back(&net);
  }
  WEFT_TRY(const std::vector<GivenBlob> inputs, ParseInputs(main, options.inputs, nets, *symbols, table));
  std::vector<GivenBlob> filled;
  for (size_t k = 0; k < order.size(); ++k) {
    const Document& document = documents[order[k]];
    std::vector<GivenBlob> given = filled;
    const auto infer = [&](const Net& net, const std::string& key) {
      std::vector<GivenBlob> known = given;  // what is said of an input goes before what fills it
      known.insert(known.end(), inputs.begin(), inputs.end());
      NetShapes shapes = InferShapes(Rehome(net, symbols), known, table);
      Append(checked.reports[order[k]].findings, std::move(shapes.findings), key);
      for (GivenBlob& blob : FinalShapes(shapes)) given.push_back(std::move(blob));
    };
    for (const Document::NamedNet& net : document.nets) infer(net.net, net.key);
    for (const Document::NamedPlan& plan : document.plans)
      for (const Net& net : plan.plan.networks)
        infer(net, StrCat(plan.key, plan.key.empty() ? "" : ": ", net.Str(net.name)));
    if (k < num_init) filled = std::move(given);
  }
  return {};
}

int Told(Main& main, const Options& options, const Checked& checked) {
  std::array<size_t, kNumSeverities> total{};
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject().Key("findings").BeginArray();
  Stream out(STDOUT_FILENO, main.color);
  bool first = true;
  for (const auto& [file, error] : checked.unopened) {
    ++total[0];
    writer.BeginObject().Key("file").String(FileLabel(file)).Key("severity").String("error");
    WriteError(writer, error);
    writer.Key("remedy").String("").Key("net").String("").EndObject();
    if (!main.json) main.Fail(error, file);
  }
  for (const Report& report : checked.reports) {
    const auto counts = CountSeverities(report.findings);
    for (int k = 0; k < kNumSeverities; ++k) total[static_cast<size_t>(k)] += counts[static_cast<size_t>(k)];
    if (main.json) {
      for (const Diagnostic& finding : report.findings) WriteFinding(writer, finding, report.label);
      continue;
    }
    if (!first) out.Write("\n");
    first = false;
    out.Write(report.label, TextClass::kHeading);
    out.Write(StrCat(": ", SummaryOf(counts), "\n"));
    PrintFindings(report.findings, {.width = out.width(), .per_code = options.all ? size_t{0} : size_t{5}},
                  out.Emitter());
  }
  writer.EndArray();
  writer.Key("errors").Int(total[0]).Key("warnings").Int(total[1]).Key("notes").Int(total[2]).EndObject();
  if (main.json) PrintJson(main, json);
  out.Flush();
  if (out.failed()) return kInputAtFault;
  return total[0] > 0 || (options.strict && total[1] > 0) ? kInputAtFault : kOk;
}

int Run(Main& main, const Options& options) {
  std::vector<std::string> paths = options.init;
  paths.insert(paths.end(), options.files.begin(), options.files.end());
  const CheckOptions check{.ops = &StandardOps()};
  Checked checked;
  std::vector<Document> documents;
  std::vector<std::string> opened;
  size_t num_init = options.init.size();
  for (size_t k = 0; k < paths.size(); ++k) {
    Result<Document> document = Load(paths[k]);
    if (!document) {
      if (paths.size() == 1) return main.Fail(document.error(), paths[k]);
      checked.unopened.emplace_back(paths[k], std::move(document).error());
      if (k < options.init.size()) --num_init;
      continue;
    }
    checked.reports.push_back(CheckDocument(FileLabel(paths[k]), *document, check));
    opened.push_back(paths[k]);
    documents.push_back(std::move(document).value());
  }
  if (!options.inputs.empty())
    if (const Result<void> done = CheckShapes(main, documents, num_init, options, checked); !done)
      return main.Fail(done.error());
  CheckTogether(opened, documents, num_init, options, check, checked);
  return Told(main, options, checked);
}

}  // namespace

void AddCheck(CLI::App& app, Main& main) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddSubcommand(app, main, "check", "findings about nets and plans, and what to do about them",
                    [&main, options] { return Run(main, *options); });
  command->add_option("FILE", options->files, "nets and plans; - is standard input")
      ->required()
      ->type_name("");
  AddRepeated(*command, "--init", options->init, "a net that runs before each FILE: what it fills is there")
      ->type_name("INIT");
  AddRepeated(*command, "--feed", options->feed, "a blob that will be fed")->type_name("BLOB");
  AddRepeated(*command, "--input", options->inputs,
              "a blob's shape, as in weft shapes: data=8,3,224,224[:type]; shapes are checked too")
      ->type_name("BLOB=SHAPE");
  command->add_flag("--strict", options->strict, "warnings count as errors");
  command->add_flag("--all", options->all, "every finding, not the first five of a kind");
  AddJson(*command, main, R"({"findings":[{file,severity,code,message,op,blob,remedy,net}],"errors":n,...})");
  command->footer(
      "Exit code 1 when there are errors. Two files of which one fills the other's parameters are also "
      "checked\n"
      "together, as init and predict net.");
}

}  // namespace weft::cli
