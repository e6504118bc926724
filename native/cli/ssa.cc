// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft ssa: Caffe2's get_ssa of a net.
#include "core/ssa/ssa.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "core/base/str.h"
#include "core/ssa/captured.h"
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

std::string NestedJson(const Net& net) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("nested").BeginArray();
  for (const NestedNetInfo& nested : FindNestedNets(net)) {
    json.BeginObject().Key("path").String(nested.path).Key("op").Int(nested.op);
    json.Key("operators").Int(nested.net->ops.size()).Key("captured").BeginArray();
    for (const CapturedBlob& blob : nested.captured) {
      json.BeginObject().Key("inner").String(net.Str(blob.inner)).Key("outer").String(net.Str(blob.outer));
      const auto version = [&](std::string_view key, const std::optional<uint32_t>& value) {
        json.Key(key);
        value ? json.Int(*value) : json.Null();
      };
      version("version", blob.version);
      version("after", blob.after);
      json.Key("reads").Bool(blob.reads).Key("writes").Bool(blob.writes).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return out;
}

int Nested(Main& main, const Net& net) {
  if (main.json) return PrintJson(main, NestedJson(net));
  Stream out(STDOUT_FILENO, main.color);
  for (const NestedNetInfo& nested : FindNestedNets(net)) {
    out.Write(nested.path, TextClass::kLabel);
    out.Write(
        StrCat("  ", nested.net->ops.size(), nested.net->ops.size() == 1 ? " operator\n" : " operators\n"),
        TextClass::kMuted);
    for (const CapturedBlob& blob : nested.captured) {
      const auto name = [&](const std::optional<uint32_t>& version) {
        return StrCat(net.Str(blob.outer), version ? StrCat("@", *version) : "");
      };
      out.Write(StrCat("  ", net.Str(blob.inner)), TextClass::kInput);
      if (blob.reads) out.Write(StrCat("  reads ", name(blob.version)));
      if (blob.writes) out.Write(StrCat("  writes ", name(blob.after)));
      out.Write("\n");
    }
  }
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

int Run(Main& main, const std::string& file, bool nested) {
  const Result<Net> net = LoadNet(file);
  if (!net) return main.Fail(net.error(), file);
  if (nested) return Nested(main, *net);
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
  struct Words {
    std::string file;
    bool nested = false;
  };
  auto words = std::make_shared<Words>();
  CLI::App* command =
      AddSubcommand(app, main, "ssa", "which version of each blob an operator reads and writes",
                    [&main, words] { return Run(main, words->file, words->nested); });
  AddFile(*command, words->file);
  command->add_flag(
      "--nested", words->nested,
      "instead: the nets inside operators, and which blobs, in which version, each takes from around");
  AddJson(
      *command, main,
      R"({"ssa":[[[[name,version]...],[[name,version]...]]...],"versions":{name:latest},"undefined":[names]}; with --nested )"
      R"({"nested":[{path,op,operators,captured:[{inner,outer,version,after,reads,writes}]}]})");
}

}  // namespace weft::cli
