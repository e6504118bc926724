// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft convert: binary <-> text; nets as DOT and JSON.
#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "core/check/report.h"
#include "core/roles/roles.h"
#include "core/ssa/net_json.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/io/file.h"

namespace weft::cli {

namespace {

struct Options {
  std::string in, out;
  std::string to;
};

// The nets of a document, those of its plans too.
std::vector<const Net*> NetsOf(const Document& document) {
  std::vector<const Net*> nets;
  for (const Document::NamedNet& net : document.nets) nets.push_back(&net.net);
  for (const Document::NamedPlan& plan : document.plans)
    for (const Net& net : plan.plan.networks) nets.push_back(&net);
  return nets;
}

std::vector<Role> RolesOfNet(const Net& net) {
  const Ssa ssa(net);
  return FindRoles(net, ssa, StandardOps(), FindColumns(net, ssa), {}).role;
}

std::string JsonOf(const Document& document) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("kind").String(DescribeKind(document)).Key("nets").BeginArray();
  for (const auto& [key, net] : document.nets) {
    json.BeginObject().Key("key").String(key);
    WriteNet(json, net, RolesOfNet);
    json.EndObject();
  }
  json.EndArray().Key("plans").BeginArray();
  for (const auto& [key, plan] : document.plans) {
    json.BeginObject()
        .Key("key")
        .String(key)
        .Key("name")
        .String(plan.Str(plan.name))
        .Key("nets")
        .BeginArray();
    for (const Net& net : plan.networks) {
      json.BeginObject();
      WriteNet(json, net, RolesOfNet);
      json.EndObject();
    }
    json.EndArray().Key("steps");
    WriteSteps(json, plan, plan.steps);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return out + "\n";
}

Result<std::string> BytesOf(const Document& document, const std::string& form) {
  if (form == "text" || form == "binary")
    return Save(document, form == "text" ? Document::kText : Document::kBinary);
  const std::vector<const Net*> nets = NetsOf(document);
  if (nets.empty())
    return Error{ErrorCode::kInvalidArgument, StrCat("only nets and plans can be written as ", form,
                                                     "; this is a ", DescribeKind(document))};
  return form == "dot" ? DotOf(nets, RolesOfNet) : JsonOf(document);
}

std::string FormOf(const std::string& name) {
  if (name.ends_with(".dot") || name.ends_with(".gv")) return "dot";
  if (name.ends_with(".json")) return "json";
  return IsTextName(name) ? "text" : "binary";
}

// FILE, or one net of it: FILE#NET.
Result<Document> LoadWhole(const std::string& path) {
  Result<Document> document = Load(path);
  if (document || document.error().code != ErrorCode::kNotFound || path.find('#') == std::string::npos)
    return document;
  WEFT_TRY(Net net, LoadNet(path));
  return Open(Bytes(SerializeNet(net)));
}

int Run(Main& main, const Options& options) {
  const Result<Document> document = LoadWhole(options.in);
  if (!document) return main.Fail(document.error(), options.in);
  const Result<std::string> bytes = BytesOf(*document, options.to.empty() ? FormOf(options.out) : options.to);
  if (!bytes) return main.Fail(bytes.error(), options.in);
  const Result<void> written = WriteFile(options.out, *bytes);
  if (!written) return main.Fail(written.error());
  if (main.json && options.out != "-") {
    std::string json;
    JsonWriter writer(json);
    writer.BeginObject().Key("kind").String(DescribeKind(*document)).Key("out").String(options.out);
    writer.Key("bytes").Int(bytes->size()).Key("notes").BeginArray();
    for (const Diagnostic& note : NotesAsFindings(*document)) writer.String(note.message);
    writer.EndArray().EndObject();
    return PrintJson(main, json);
  }
  // What was read leniently is now written as Caffe2 writes it; the user should know where the two differ.
  Stream err(STDERR_FILENO, main.color);
  const std::vector<Diagnostic> notes = NotesAsFindings(*document);
  PrintFindings(notes, {.width = err.width()}, err.Emitter());
  return kOk;
}

}  // namespace

void AddConvert(CLI::App& app, Main& main) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddSubcommand(
      app, main, "convert", "binary to text and back, for any of Caffe2's messages; nets as DOT and JSON",
      [&main, options] { return Run(main, *options); });
  command->add_option("IN", options->in, "a file in either format; - is standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("OUT", options->out,
                   "by its name: text (.pbtxt, .prototxt, .txt), a drawing for Graphviz (.dot, .gv), JSON "
                   "(.json), binary "
                   "otherwise; - is standard output, as text")
      ->required()
      ->type_name("");
  command->add_option("--to", options->to, "text, binary, dot or json, whatever OUT is called")
      ->check(CLI::IsMember({"text", "binary", "dot", "json"}))
      ->type_name("FORM");
  AddJson(*command, main, R"({"kind","out","bytes","notes":[...]})");
  command->footer(
      "JSON of a net: "
      "{\"kind\",\"nets\":[NET],\"plans\":[{\"key\",\"name\",\"nets\":[NET],\"steps\":[STEP]}]};\n"
      "NET: "
      "{\"key\",\"name\",\"type\",\"external_input\":[names],\"external_output\":[names],\"operators\":[OP]};"
      "\n"
      "OP: {\"op\",\"type\",\"role\",\"inputs\":[[blob,version]],\"outputs\":[[blob,version]]} and, where "
      "the file has\n"
      "them, name, engine, device, is_gradient_op, control_inputs, debug_info, domain, op_version and "
      "\"args\":\n"
      "[{\"name\", then what is set of f, i, s, floats, ints, strings, n:NET, nets:[NET], t_bytes}];\n"
      "STEP: {\"name\",\"nets\":[names],\"steps\":[STEP]} and iterations, until, concurrent, instances, "
      "only_once,\n"
      "own_workspace, every_ms, report_net, report_seconds, criteria_net where the file has them. The "
      "contents of\n"
      "tensors are left out of both. DOT is for Graphviz: dot -Tsvg NET.dot.");
}

}  // namespace weft::cli
