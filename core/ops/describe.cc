// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/describe.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ops/op_columns.h"

namespace weft {

namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Words in lines of `width` columns, each behind `indent` blanks; the first line starts at `at`.
void AppendWrapped(std::string& out, std::string_view text, size_t indent, size_t width, size_t at) {
  bool first = true;
  for (std::string_view word : StrSplit(text, ' ')) {
    if (!first && at + 1 + word.size() > width) {
      StrAppend(out, "\n", std::string(indent, ' '));
      at = indent;
      first = true;
    }
    StrAppend(out, first ? "" : " ", word);
    at += word.size() + !first;
    first = false;
  }
  out += '\n';
}

std::string PortText(const std::vector<PortSpec>& ports) {
  std::string out;
  for (const PortSpec& port : ports)
    StrAppend(out, out.empty() ? "" : ", ", port.name, port.optional ? "?" : "", port.repeated ? "..." : "");
  return out;
}

// "input 0 may be output 0": pairs in words.
std::string PairText(std::string_view pairs, std::string_view verb) {
  std::string out;
  for (std::string_view pair : StrSplit(pairs, ' ')) {
    if (pair.empty()) continue;
    StrAppend(out, out.empty() ? "" : "; ");
    const size_t arrow = pair.find('>');
    if (pair == "*") {
      StrAppend(out, "any input ", verb, " any output");
    } else if (arrow != std::string_view::npos) {
      StrAppend(out, "input ", pair.substr(0, arrow), " ", verb, " output ", pair.substr(arrow + 1));
    }
  }
  return out;
}

std::string FlagText(const OpDef& def) {
  std::string out = StrCat("tier ", def.tier);
  for (std::string_view flag : FlagNames(def.flags)) {
    std::string words(flag);
    std::replace(words.begin(), words.end(), '_', ' ');
    StrAppend(out, ", ", words);
  }
  return out;
}

}  // namespace

std::string_view GradientPolicyName(GradientPolicy policy) {
  constexpr std::string_view kNames[] = {"unregistered", "rule",      "pass_through",
                                         "none",         "forbidden", "not_implemented"};
  return kNames[static_cast<size_t>(policy)];
}

std::vector<std::string_view> FlagNames(uint32_t flags) {
  constexpr std::pair<uint32_t, std::string_view> kNames[] = {
      {kHostOnly, "host_only"}, {kGpuOnly, "gpu_only"},         {kRandom, "random"},
      {kStateful, "stateful"},  {kControlFlow, "control_flow"}, {kCollective, "collective"}};
  std::vector<std::string_view> out;
  for (const auto& [flag, name] : kNames)
    if (flags & flag) out.push_back(name);
  return out;
}

std::string ArityText(Arity arity) {
  if (arity.max == kAny) return arity.min == 0 ? "any number" : StrCat(arity.min, " or more");
  return arity.min == arity.max ? std::to_string(arity.min) : StrCat(arity.min, " to ", arity.max);
}

std::string GradientText(const OpDef& def) {
  switch (def.policy) {
    case GradientPolicy::kRule:
      return def.gradient.empty() ? "built for each use" : std::string(def.gradient);
    case GradientPolicy::kPassThrough:
      return def.gradient.empty() ? "the incoming gradient, passed on" : std::string(def.gradient);
    case GradientPolicy::kNone:
      return "none: flow stops here";
    case GradientPolicy::kForbidden:
      return "must not be asked for";
    case GradientPolicy::kNotImplemented:
      return "has one that Caffe2 never wrote";
    case GradientPolicy::kUnregistered:
      return "unknown to Caffe2";
  }
  return "";
}

std::string ShapeText(const OpDef& def) {
  if (!def.shape.empty()) return std::string(def.shape);
  return def.shape_reason.empty() ? "" : StrCat("not known: ", def.shape_reason);
}

std::string OpPage(const OpDef& def, int width) {
  constexpr size_t kColumn = 14;
  const size_t columns = static_cast<size_t>(std::max(width, 40));
  std::string out = StrCat(def.name, "\n");
  if (!def.doc.empty()) {
    out += "  ";
    AppendWrapped(out, def.doc, 2, columns, 2);
  }
  out += '\n';
  const auto line = [&](std::string_view label, std::string_view text) {
    if (text.empty()) return;
    StrAppend(out, "  ", label, std::string(kColumn - 2 - label.size(), ' '));
    AppendWrapped(out, text, kColumn, columns, kColumn);
  };
  const Ports ports = ParsePorts(def.ports);
  const auto counted = [](Arity arity, const std::string& names) {
    return names.empty() ? ArityText(arity) : StrCat(ArityText(arity), ": ", names);
  };
  line("inputs", counted(def.in, PortText(ports.inputs)));
  line("outputs", counted(def.out, PortText(ports.outputs)));
  line("together", def.arities);
  line("in place", PairText(def.inplace, "may be"));
  line("", PairText(def.enforced, "must be"));
  std::string_view label = "arguments";
  const std::vector<ArgSpec> args = ParseArgs(def.args);
  size_t name_width = 0;
  for (const ArgSpec& arg : args) name_width = std::max(name_width, arg.name.size());
  for (const ArgSpec& arg : args) {
    StrAppend(out, "  ", label, std::string(kColumn - 2 - label.size(), ' '), arg.name,
              std::string(name_width - arg.name.size() + 2, ' '), arg.type);
    if (arg.required) StrAppend(out, "  required");
    if (!arg.fallback.empty()) StrAppend(out, " = ", arg.fallback);
    out += '\n';
    label = "";
  }
  line("gradient", GradientText(def));
  line("shapes", ShapeText(def));
  line("cost", def.cost);
  line("", FlagText(def));
  return out;
}

std::string OpMarkdown(const OpDef& def) {
  std::string out = StrCat("## ", def.name, "\n\n");
  if (!def.doc.empty()) StrAppend(out, def.doc, "\n\n");
  const Ports ports = ParsePorts(def.ports);
  const auto counted = [&](std::string_view label, Arity arity, const std::string& names) {
    StrAppend(out, "- ", label, ": ", ArityText(arity), names.empty() ? "" : StrCat(" (", names, ")"), "\n");
  };
  counted("inputs", def.in, PortText(ports.inputs));
  counted("outputs", def.out, PortText(ports.outputs));
  if (!def.arities.empty()) StrAppend(out, "- inputs/outputs together: ", def.arities, "\n");
  if (!def.inplace.empty()) StrAppend(out, "- in place: ", PairText(def.inplace, "may be"), "\n");
  if (!def.enforced.empty()) StrAppend(out, "- in place: ", PairText(def.enforced, "must be"), "\n");
  StrAppend(out, "- gradient: `", GradientText(def), "`\n");
  if (!def.shape.empty()) StrAppend(out, "- shapes: `", def.shape, "`\n");
  if (!def.shape_reason.empty()) StrAppend(out, "- shapes: ", ShapeText(def), "\n");
  if (!def.cost.empty()) StrAppend(out, "- cost: `", def.cost, "`\n");
  StrAppend(out, "- ", FlagText(def), "\n");
  const std::vector<ArgSpec> args = ParseArgs(def.args);
  if (args.empty()) return out;
  StrAppend(out, "\n| argument | type | default |\n|---|---|---|\n");
  for (const ArgSpec& arg : args)
    StrAppend(out, "| `", arg.name, "` | ", arg.type, " | ", arg.required ? "required" : arg.fallback,
              " |\n");
  return out;
}

void WriteOp(JsonWriter& json, const OpDef& def) {
  json.BeginObject().Key("name").String(def.name).Key("doc").String(def.doc);
  const Ports ports = ParsePorts(def.ports);
  const auto side = [&](std::string_view key, Arity arity, const std::vector<PortSpec>& specs) {
    json.Key(key).BeginObject().Key("min").Int(arity.min).Key("max");
    arity.max == kAny ? json.Null() : json.Int(arity.max);
    json.Key("ports").BeginArray();
    for (const PortSpec& port : specs) {
      json.BeginObject().Key("name").String(port.name).Key("optional").Bool(port.optional);
      json.Key("repeated").Bool(port.repeated).EndObject();
    }
    json.EndArray().EndObject();
  };
  side("inputs", def.in, ports.inputs);
  side("outputs", def.out, ports.outputs);
  json.Key("arities").String(def.arities).Key("inplace").String(def.inplace);
  json.Key("enforced").String(def.enforced).Key("args").BeginArray();
  for (const ArgSpec& arg : ParseArgs(def.args)) {
    json.BeginObject().Key("name").String(arg.name).Key("type").String(arg.type).Key("default");
    arg.fallback.empty() ? json.Null() : json.String(arg.fallback);
    json.Key("required").Bool(arg.required).EndObject();
  }
  json.EndArray().Key("gradient").BeginObject().Key("policy").String(GradientPolicyName(def.policy));
  json.Key("rule").String(def.gradient).EndObject().Key("shape").String(def.shape);
  json.Key("shape_reason")
      .String(def.shape_reason)
      .Key("cost")
      .String(def.cost)
      .Key("tier")
      .Int(def.tier)
      .Key("flags")
      .BeginArray();
  for (std::string_view flag : FlagNames(def.flags)) json.String(flag);
  json.EndArray().EndObject();
}

std::vector<const OpDef*> SearchOps(const OpSet& ops, std::string_view word) {
  const std::string wanted = Lower(word);
  std::vector<const OpDef*> found, by_doc;
  for (const OpDef* def : ops.all()) {
    if (Lower(def->name).find(wanted) != std::string::npos) {
      found.push_back(def);
    } else if (Lower(def->doc).find(wanted) != std::string::npos) {
      by_doc.push_back(def);
    }
  }
  found.insert(found.end(), by_doc.begin(), by_doc.end());
  return found;
}

}  // namespace weft
