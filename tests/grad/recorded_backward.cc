// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/grad/recorded_backward.h"

#include <algorithm>
#include <map>

#include "core/base/str.h"
#include "proto/codec.h"
#include "tests/support/files.h"

namespace weft::test {

namespace {

using Json = OrderedJson;

struct Expected {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::vector<std::string> words;  // that the message must hold
};

std::string Between(const std::string& text, const std::string& before, const std::string& after) {
  const size_t begin = text.find(before);
  if (begin == std::string::npos) return "";
  const size_t from = begin + before.size();
  return text.substr(from, text.find(after, from) - from);
}

// What a recorded error says, by Caffe2's texts.
Expected ReadError(const std::string& error, bool caffe2) {
  const auto has = [&](const char* text) { return error.find(text) != std::string::npos; };
  const std::string type = Between(error, "creating gradient for [", "]");
  if (has("did not pass schema checking")) return {ErrorCode::kSchema, {type}};
  if (has("One should not call gradient")) return {ErrorCode::kNoGradient, {type, "should not call"}};
  if (has("is not implemented yet")) return {ErrorCode::kNoGradient, {type, "not implemented"}};
  if (has("GradientRegistry()->Has")) return {ErrorCode::kNoGradient, {type}};
  if (has("Gradient of output ")) {
    const std::string blob = Between(error, "Gradient of output ", " ");
    return {ErrorCode::kMissingGradient,
            {type, blob,
             has("is sparse")  ? "is sparse"
             : has("is dense") ? "is dense"
                               : "not provided"}};
  }
  if (has("Gradient name \"")) {
    return {ErrorCode::kVersionConflict,
            {Between(error, "Gradient name \"", "\""), "version " + Between(error, "to version ", " of"),
             "\"" + Between(error, " of \"", "\"") + "\"",
             "we have version " + Between(error, "we have version ", ".")}};
  }
  if (has("Gradient operator needs ")) {
    const std::string what = has("needs output") ? "output" : "input";
    const std::string blob = Between(error, "needs " + what + " \"", "\"");
    const std::string version = Between(error, "at version ", ",");
    if (caffe2)
      return {ErrorCode::kVersionConflict,
              {what, "\"" + blob + "\"", "at version " + version,
               "we have version " + Between(error, "we have version ", ".")}};
    return {ErrorCode::kVersionConflict, {what, " " + blob + "@"}};
  }
  if (has("mix of sparse and dense"))
    return {ErrorCode::kMixedGradients, {"''" + Between(error, "''", "''") + "''"}};
  if (has("same device option"))
    return {ErrorCode::kDeviceMismatch, {"''" + Between(error, "''", "''") + "''"}};
  if (has("can not be the same as the normal name")) return {ErrorCode::kNameConflict, {}};
  if (has("is orphan"))
    return {ErrorCode::kOrphanStopGradient, {"'" + Between(error, "output '", "'") + "'"}};
  if (has("not in the scope of operator"))
    return {ErrorCode::kInvalidArgument, {Between(error, "Blob name \"", "\"")}};
  return {ErrorCode::kUnsupported, {type}};  // what a rule itself refuses
}

bool IsAccumulation(const Op& op) {
  return op.device && std::find(op.device->extra_info.begin(), op.device->extra_info.end(),
                                "is_auto_gen_sum_ops:1") != op.device->extra_info.end();
}

// Caffe2 adds up the gradients of one operator's inputs in the order of a Python set.
void SortAccumulations(Net& net) {
  for (size_t i = 0; i < net.ops.size();) {
    size_t end = i;
    while (end < net.ops.size() && IsAccumulation(net.ops[end])) ++end;
    std::stable_sort(net.ops.begin() + static_cast<long>(i), net.ops.begin() + static_cast<long>(end),
                     [&](const Op& a, const Op& b) { return net.Str(a.outputs[0]) < net.Str(b.outputs[0]); });
    i = std::max(end, i + 1);
  }
}

std::string GradientText(const Net& net, const Gradient& g) {
  if (g.is_dense()) return std::string(net.Str(g.dense));
  return StrCat("(", net.Str(g.indices), ", ", net.Str(g.values), ")");
}

std::string GradientText(const Json& g) {
  if (g.is_string()) return g.get<std::string>();
  if (g.is_array()) return StrCat("(", g[0].get<std::string>(), ", ", g[1].get<std::string>(), ")");
  return StrCat("(", g["indices"].get<std::string>(), ", ", g["values"].get<std::string>(), ")");
}

// A gradient Do, If or While with its inputs, outputs and bindings sorted, in nested nets too.
void SortControl(Net& net);

void SortDo(const Net& net, Op& op) {
  const SymbolTable& table = *net.symbols;
  const std::vector<int64_t> index = ArgInts(table, op.args, "outer_blobs_idx");
  const std::vector<std::string> inner = ArgStrings(table, op.args, "inner_blobs");
  if (op.inputs.empty() || op.outputs.empty() || index.size() != inner.size()) return;
  std::vector<Symbol> outer(op.inputs.begin(), op.inputs.end() - 1);
  outer.insert(outer.end(), op.outputs.begin(), op.outputs.end() - 1);
  std::vector<std::pair<std::string, Symbol>> bindings;
  for (size_t k = 0; k < inner.size(); ++k) {
    if (index[k] < 0 || static_cast<size_t>(index[k]) >= outer.size()) return;
    bindings.push_back({inner[k], outer[static_cast<size_t>(index[k])]});
  }
  std::sort(bindings.begin(), bindings.end());
  const auto by_text = [&](Symbol a, Symbol b) { return table.Str(a) < table.Str(b); };
  std::sort(op.inputs.begin(), op.inputs.end() - 1, by_text);
  std::sort(op.outputs.begin(), op.outputs.end() - 1, by_text);
  outer.assign(op.inputs.begin(), op.inputs.end() - 1);
  outer.insert(outer.end(), op.outputs.begin(), op.outputs.end() - 1);
  std::vector<int64_t> new_index;
  std::vector<std::string> new_inner;
  for (const auto& [name, blob] : bindings) {
    new_inner.push_back(name);
    new_index.push_back(std::find(outer.begin(), outer.end(), blob) - outer.begin());
  }
  std::vector<std::string> saved = ArgStrings(table, op.args, "saved_fwd_blobs");
  std::sort(saved.begin(), saved.end());
  op.args = WithArg(op.args, MakeArg(net.symbols->Intern("inner_blobs"), new_inner));
  op.args = WithArg(op.args, MakeArg(net.symbols->Intern("outer_blobs_idx"), new_index));
  op.args = WithArg(op.args, MakeArg(net.symbols->Intern("saved_fwd_blobs"), saved));
}

void SortControl(Net& net) {
  // Zeros for what only the other branch makes come in the order of a set.
  const auto is_zero = [&](const Op& op) { return net.Str(op.type) == "ConstantFill"; };
  for (auto begin = net.ops.begin(); begin != net.ops.end();) {
    const auto end = std::find_if_not(begin, net.ops.end(), is_zero);
    std::sort(begin, end,
              [&](const Op& a, const Op& b) { return net.Str(a.outputs[0]) < net.Str(b.outputs[0]); });
    begin = end == net.ops.end() ? end : end + 1;
  }
  for (Op& op : net.ops) {
    const std::string_view type = net.Str(op.type);
    if (!op.is_gradient_op.value_or(false) || (type != "Do" && type != "If" && type != "While")) continue;
    std::vector<Arg> args = op.args.Copy();
    for (Arg& arg : args) {
      if (!(arg.has & Arg::kHasN)) continue;
      Net inner = *arg.Load()->n;
      SortControl(inner);
      arg = MakeArg(arg.name, std::make_shared<const Net>(std::move(inner)));
    }
    op.args = ArgList(std::move(args));
    if (type == "Do") {
      SortDo(net, op);
    } else {
      const auto by_text = [&](Symbol a, Symbol b) { return net.Str(a) < net.Str(b); };
      std::sort(op.inputs.begin() + 1, op.inputs.end(), by_text);
      std::sort(op.outputs.begin(), op.outputs.end(), by_text);
    }
  }
}

Gradient ReadGradient(Net& net, const Json& given) {
  const auto name = [&](const Json& text) { return net.Intern(text.get<std::string>()); };
  if (given.is_string()) return Gradient::Dense(name(given));
  if (given.is_object()) return Gradient::Sparse(name(given["indices"]), name(given["values"]));
  if (given.is_array()) return Gradient::Sparse(name(given[0]), name(given[1]));
  return {};
}

std::vector<Loss> ReadLosses(Net& net, const Json& losses) {
  std::vector<Loss> out;
  if (losses.is_array())
    for (const auto& name : losses) out.push_back({net.Intern(name.get<std::string>()), {}});
  else
    for (const auto& [name, given] : losses.items())
      out.push_back({net.Intern(name), ReadGradient(net, given)});
  return out;
}

// The device scope that was active where a row was recorded: its start gradients carry it.
DevicePtr RecordedScope(std::string_view id) {
  DeviceOption option;
  if (id == "d88e60a280b1ad64" || id == "f5820a9d06bc5d72") {
    option.device_type = 0;
    option.device_id = 0;
  } else if (id != "e9cd215e258d7fab" && id != "b9be6e1d506dce7f" && id != "32bf3820680279ec" &&
             id != "57d2c09e00f2046f") {
    return nullptr;
  }
  return std::make_shared<const DeviceOption>(option);
}

std::string CompareError(const std::string& recorded, const Result<Backward>& planned, bool caffe2) {
  if (planned) return "no error, expected " + recorded.substr(0, 200);
  const Expected expected = ReadError(recorded, caffe2);
  const Error& error = planned.error();
  if (error.code != expected.code)
    return StrCat("error ", ErrorCodeName(error.code), ": ", error.message, "\nexpected ",
                  recorded.substr(0, 200));
  for (const std::string& word : expected.words)
    if (error.message.find(word) == std::string::npos)
      return StrCat("error lacks '", word, "': ", error.message, "\nexpected ", recorded.substr(0, 200));
  return "";
}

}  // namespace

std::string CompareOps(Net& got, Net& expected) {
  for (Net* net : {&got, &expected}) {
    SortAccumulations(*net);
    SortControl(*net);
  }
  for (size_t i = 0; i < std::max(got.ops.size(), expected.ops.size()); ++i) {
    if (i >= got.ops.size())
      return StrCat("op ", i, " missing: ", OpToText(*expected.symbols, expected.ops[i]));
    if (i >= expected.ops.size())
      return StrCat("op ", i, " unexpected: ", OpToText(*got.symbols, got.ops[i]));
    if (!SameOp(*got.symbols, got.ops[i], *expected.symbols, expected.ops[i]))
      return StrCat("op ", i, " is\n", OpToText(*got.symbols, got.ops[i]), "expected\n",
                    OpToText(*expected.symbols, expected.ops[i]));
  }
  return "";
}

std::vector<RecordedBackward> ReadRecordedBackward(std::string_view file) {
  std::vector<RecordedBackward> rows;
  const std::string text = ReadFile(DataPath(StrCat("caffe2/", file, ".jsonl")));
  for (std::string_view line : StrSplit(text, '\n')) {
    if (line.empty()) continue;
    const Json json = Json::parse(line);
    RecordedBackward row;
    if (json.contains("type")) {  // gradient_rules
      const std::string type = json["type"];
      if (type != "Do" && type != "If" && type != "While" && type != "RecurrentNetwork") continue;
      row.id = json["id"];
      row.forward = "op {\n" + json["op"].get<std::string>() + "}\n";
      const Net net = *ParseNetText(row.forward);
      row.losses = Json::object();
      for (uint32_t k = 0; k < net.ops[0].outputs.size(); ++k)
        if (!json["g_output"][k].is_null())
          row.losses[std::string(net.Str(net.ops[0].outputs[k]))] = json["g_output"][k];
      row.gradients = Json::object();
      row.only_named = true;
      if (json.contains("error")) {
        row.error = json["error"];
      } else {
        row.backward = json["grad_ops"];
        for (uint32_t k = 0; k < net.ops[0].inputs.size(); ++k)
          if (k < json["g_input"].size() && !json["g_input"][k].is_null())
            row.gradients[std::string(net.Str(net.ops[0].inputs[k]))] = json["g_input"][k];
      }
    } else if (json.contains("feeds")) {  // control
      if (!json.contains("net")) continue;
      row.id = json["name"];
      row.forward = json["forward"];
      row.losses = json["ys"];
      row.gradients = json["grads"];
      Net net = *ParseNetText(json["net"].get<std::string>());
      const size_t forward_ops = ParseNetText(row.forward)->ops.size();
      net.ops.erase(net.ops.begin(), net.ops.begin() + static_cast<std::ptrdiff_t>(forward_ops));
      row.backward = NetToText(net);
    } else {
      row.id = json["id"];
      row.forward = json["forward"];
      row.losses = json["ys"];
      if (json.contains("error")) {
        row.error = json["error"];
      } else {
        row.backward = json["backward"];
        row.gradients = json["grads"];
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string CompareBackward(const RecordedBackward& row, const OpSet& ops, uint32_t faults, bool caffe2) {
  Result<Net> forward = ParseNetText(row.forward);
  if (!forward) return "forward: " + forward.error().message;
  GradientOptions options;
  options.faults = faults;
  options.scope_device = RecordedScope(row.id);
  options.losses = ReadLosses(*forward, row.losses);
  const Result<Backward> backward = PlanGradients(*forward, ops, options);
  if (!row.error.empty()) return CompareError(row.error, backward, caffe2);
  if (!backward) return "error: " + backward.error().message;
  if (backward->origin.size() != backward->ops.size()) return "origin has another length than ops";
  Net got(forward->symbols);
  got.ops = backward->ops;
  Result<Net> expected = ParseNetText(row.backward, forward->symbols);
  if (!expected) return "backward: " + expected.error().message;
  if (std::string difference = CompareOps(got, *expected); !difference.empty()) return difference;
  std::map<std::string, std::string> grads, want;
  for (const BlobGradient& g : backward->gradients)
    grads[std::string(got.Str(g.blob))] = GradientText(got, g.gradient);
  for (const auto& [name, g] : row.gradients.items())
    if (!g.is_null()) want[name] = GradientText(g);
  for (const auto& [name, g] : want)
    if (grads[name] != g) return StrCat("gradient of ", name, " is '", grads[name], "', expected '", g, "'");
  for (const auto& [name, g] : grads)
    if (!row.only_named && !want.contains(name))
      return StrCat("gradient of ", name, " is '", g, "', expected none");
  return "";
}

}  // namespace weft::test
