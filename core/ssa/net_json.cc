// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/net_json.h"

#include "core/ssa/ssa.h"

namespace weft {

namespace {

constexpr int kMostDepth = 100;

class Writer {
 public:
  Writer(JsonWriter& json, const RolesOf& roles) : json_(json), roles_(roles) {}

  void Net(const weft::Net& net, int depth) {
    Text("name", net.Str(net.name));
    Text("type", net.Str(net.type));
    Names("external_input", net, net.external_inputs);
    Names("external_output", net, net.external_outputs);
    const Ssa ssa(net);
    const std::vector<Role> roles = roles_(net);
    json_.Key("operators").BeginArray();
    for (OpId op = 0; op < static_cast<OpId>(net.ops.size()); ++op)
      Op(net, ssa, op, roles[static_cast<size_t>(op)], depth);
    json_.EndArray();
  }

 private:
  void Text(std::string_view key, std::string_view text) { json_.Key(key).String(text); }
  void TextIfAny(std::string_view key, std::string_view text) {
    if (!text.empty()) Text(key, text);
  }
  template <typename List>
  void Names(std::string_view key, const weft::Net& net, const List& names) {
    json_.Key(key).BeginArray();
    for (Symbol name : names) json_.String(net.Str(name));
    json_.EndArray();
  }
  void Values(std::string_view key, const weft::Net& net, const Ssa& ssa, std::span<const ValueId> values) {
    json_.Key(key).BeginArray();
    for (ValueId v : values) {
      const Value& value = ssa.values()[v];
      json_.BeginArray().String(net.Str(ssa.blobs()[value.blob])).Int(value.version).EndArray();
    }
    json_.EndArray();
  }

  void Op(const weft::Net& net, const Ssa& ssa, OpId id, Role role, int depth) {
    const weft::Op& op = net.ops[static_cast<size_t>(id)];
    json_.BeginObject().Key("op").Int(id);
    Text("type", net.Str(op.type));
    TextIfAny("role", RoleName(role));
    Values("inputs", net, ssa, ssa.inputs(id));
    Values("outputs", net, ssa, ssa.outputs(id));
    TextIfAny("name", net.Str(op.name));
    TextIfAny("engine", net.Str(op.engine));
    TextIfAny("device", DeviceToString(op.device));
    if (op.is_gradient_op) json_.Key("is_gradient_op").Bool(*op.is_gradient_op);
    if (!op.control_inputs.empty()) Names("control_inputs", net, op.control_inputs);
    TextIfAny("debug_info", net.Str(op.rest().debug_info));
    TextIfAny("domain", net.Str(op.rest().domain));
    if (op.rest().op_version) json_.Key("op_version").Int(*op.rest().op_version);
    if (!op.args.empty()) {
      json_.Key("args").BeginArray();
      for (const Arg& arg : op.args) Argument(net, arg, depth);
      json_.EndArray();
    }
    json_.EndObject();
  }

  template <typename List, typename Write>
  void ListIfAny(std::string_view key, bool any, const List& list, Write write) {
    if (!any) return;
    json_.Key(key).BeginArray();
    for (const auto& item : list) write(item);
    json_.EndArray();
  }

  void Argument(const weft::Net& net, const Arg& arg, int depth) {
    json_.BeginObject();
    Text("name", net.Str(arg.name));
    const auto has = [&](int bit) { return (arg.has & bit) != 0; };
    if (has(Arg::kHasF)) json_.Key("f").Float(arg.f);
    if (has(Arg::kHasI)) json_.Key("i").Int(arg.i);
    if ((arg.has & ~(Arg::kHasF | Arg::kHasI)) == 0) {
      json_.EndObject();
      return;
    }
    const ArgDataPtr data = arg.Load();
    if (has(Arg::kHasS)) Text("s", data->s);
    ListIfAny("floats", has(Arg::kHasFloats), data->floats, [&](float f) { json_.Float(f); });
    ListIfAny("ints", has(Arg::kHasInts), data->ints, [&](int64_t i) { json_.Int(i); });
    ListIfAny("strings", has(Arg::kHasStrings), data->strings,
              [&](const std::string& s) { json_.String(s); });
    const auto nested = [&](const NetPtr& inside) {
      json_.BeginObject();
      if (inside && depth < kMostDepth) Net(*inside, depth + 1);
      json_.EndObject();
    };
    if (has(Arg::kHasN)) {
      json_.Key("n");
      nested(data->n);
    }
    ListIfAny("nets", has(Arg::kHasNets), data->nets, nested);
    if (has(Arg::kHasT)) json_.Key("t_bytes").Int(data->t.size());
    json_.EndObject();
  }

  JsonWriter& json_;
  const RolesOf& roles_;
};

void WriteSteps(JsonWriter& json, const Plan& plan, const std::vector<Step>& steps, int depth) {
  json.BeginArray();
  for (const Step& step : steps) {
    json.BeginObject().Key("name").String(plan.Str(step.name)).Key("nets").BeginArray();
    for (Symbol net : step.networks) json.String(plan.Str(net));
    json.EndArray();
    const auto number = [&](std::string_view key, const auto& value) {
      if (value) json.Key(key).Int(*value);
    };
    const auto flag = [&](std::string_view key, const std::optional<bool>& value) {
      if (value) json.Key(key).Bool(*value);
    };
    const auto name = [&](std::string_view key, Symbol symbol) {
      if (symbol) json.Key(key).String(plan.Str(symbol));
    };
    number("iterations", step.num_iter);
    name("until", step.should_stop_blob);
    flag("concurrent", step.concurrent_substeps);
    number("instances", step.num_concurrent_instances);
    flag("only_once", step.only_once);
    flag("own_workspace", step.create_workspace);
    number("every_ms", step.run_every_ms);
    name("report_net", step.report_net);
    number("report_seconds", step.report_interval);
    name("criteria_net", step.criteria_network);
    json.Key("steps");
    if (depth < kMostDepth)
      WriteSteps(json, plan, step.substeps, depth + 1);
    else
      json.BeginArray().EndArray();
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void WriteNet(JsonWriter& json, const Net& net, const RolesOf& roles) { Writer(json, roles).Net(net, 0); }

void WriteSteps(JsonWriter& json, const Plan& plan, const std::vector<Step>& steps) {
  WriteSteps(json, plan, steps, 0);
}

}  // namespace weft
