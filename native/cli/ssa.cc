// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft ssa: Caffe2's get_ssa of a net.
#include "core/ssa/ssa.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "core/base/str.h"
#include "core/ssa/print.h"
#include "core/ssa/versions.h"
#include "native/cli/command.h"
#include "native/cli/load.h"

namespace weft::cli {

namespace {

// Sorted: Caffe2's answer is a set.
std::vector<std::string> Undefined(const Net& net, const Ssa& ssa) {
  std::vector<std::string> names;
  for (Symbol blob : UndefinedBlobs(ssa)) names.emplace_back(net.Str(blob));
  std::sort(names.begin(), names.end());
  return names;
}

std::string SsaJson(const Net& net, const Ssa& ssa) {
  std::string out;
  JsonWriter json(out);
  const auto values = [&](std::span<const ValueId> ids) {
    json.BeginArray();
    for (ValueId v : ids) {
      const Value& value = ssa.values()[v];
      json.BeginArray().String(net.Str(ssa.blobs()[value.blob])).Int(value.version).EndArray();
    }
    json.EndArray();
  };
  json.BeginObject().Key("ssa").BeginArray();
  for (OpId op = 0; op < static_cast<OpId>(ssa.num_ops()); ++op) {
    json.BeginArray();
    values(ssa.inputs(op));
    values(ssa.outputs(op));
    json.EndArray();
  }
  json.EndArray().Key("versions").BeginObject();
  const BlobVersions versions = VersionsOf(net, ssa);
  for (const BlobVersion& version : versions.entries()) json.Key(net.Str(version.blob)).Int(version.version);
  json.EndObject().Key("undefined").BeginArray();
  for (std::string_view blob : Undefined(net, ssa)) json.String(blob);
  json.EndArray().EndObject();
  return out;
}

int Run(Main& main, const std::string& file) {
  const Result<Net> net = LoadNet(file);
  if (!net) return main.Fail(net.error(), file);
  const Ssa ssa(*net);
  if (main.json) return PrintJson(main, SsaJson(*net, ssa));

  Stream out(STDOUT_FILENO, main.color);
  for (OpId op = 0; op < static_cast<OpId>(ssa.num_ops()); ++op) {
    out.Write(std::to_string(op), TextClass::kIndex);
    out.Write(StrCat("\t", OpSignature(*net, ssa, op), "\n"));
  }
  const std::vector<std::string> undefined = Undefined(*net, ssa);
  out.Write(StrCat("read from outside (", undefined.size(), "): ", ListNames(undefined, 20), "\n"));
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

}  // namespace

void AddSsa(CLI::App& app, Main& main) {
  auto file = std::make_shared<std::string>();
  CLI::App* command =
      AddSubcommand(app, main, "ssa", "which version of each blob an operator reads and writes",
                    [&main, file] { return Run(main, *file); });
  AddFile(*command, *file);
  AddJson(
      *command, main,
      R"({"ssa":[[[[name,version]...],[[name,version]...]]...],"versions":{name:latest},"undefined":[names]})");
}

}  // namespace weft::cli
