// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/predict.h"

#include <algorithm>
#include <cstdio>

#include "core/base/str.h"
#include "core/pass/collectives.h"

namespace weft::cli {

Result<Counted> Count(const ParallelNets& nets, const Net& net, const ParallelOptions& options,
                      const Inputs& inputs) {
  const auto by_name = DenseBytes(nets.init, net, nets.gradients);
  if (inputs.empty()) return Counted{CommunicationOf(net, options, by_name), {}};
  const internal::ReplicaScopes scopes(options);
  ShapeTable table;
  std::vector<GivenBlob> given;
  for (const std::string& text : inputs)
    for (const Scope& scope : scopes.of) {
      WEFT_TRY(GivenBlob blob, ParseGivenBlob(scope.name.prefix + text, *net.symbols, table));
      given.push_back(std::move(blob));
    }
  const auto run = [&](const Net& before) {
    for (GivenBlob& blob : FinalShapes(InferShapes(before, given, table))) given.push_back(std::move(blob));
  };
  run(nets.init);
  if (nets.global_init) run(*nets.global_init);
  if (&net != &nets.net) run(nets.net);
  const NetShapes shapes = InferShapes(net, given, table);
  const auto by_shape = BytesByShape(net, shapes, table);
  return Counted{CommunicationOf(net, options,
                                 [&](OpId op, size_t input) {
                                   const std::optional<int64_t> bytes = by_shape(op, input);
                                   return bytes ? bytes
                                                : by_name(net.ops[static_cast<size_t>(op)].inputs[input]);
                                 }),
                 WorkOf(shapes, table)};
}

Result<std::vector<RankRow>> PredictRanks(const Planner& plan, const ParallelOptions& options,
                                          const RankRequest& request, const Inputs& inputs) {
  std::vector<RankRow> rows;
  const auto all = static_cast<int64_t>(options.devices.size());
  for (const int64_t ranks : request.ranks) {
    RankRow row{.machines = (ranks + all - 1) / all, .devices = std::min(ranks, all)};
    ParallelOptions there = options;
    there.devices.resize(static_cast<size_t>(row.devices));
    if (!there.rendezvous && row.machines > 1) there.rendezvous = Rendezvous{};
    if (there.rendezvous) {
      there.rendezvous->num_shards = static_cast<int>(row.machines);
      there.rendezvous->shard_id = 0;
    }
    const Result<ParallelNets> nets = plan(there);
    if (!nets && !request.asked) continue;
    if (!nets) return nets.error();
    const auto add = [&](const std::optional<Net>& net, double times) -> Result<void> {
      if (!net) return {};
      WEFT_TRY(const Counted counted, Count(*nets, *net, there, inputs));
      const StepTime time = PredictStep(*net, there, counted.work, counted.moved, request.hardware);
      row.time.step += times * time.step;
      row.time.compute += times * time.compute;
      row.time.communication += times * time.communication;
      row.time.hidden += times * time.hidden;
      row.time.unknown += time.unknown + counted.moved.unknown;
      return {};
    };
    WEFT_TRY(const Counted counted, Count(*nets, nets->net, there, inputs));
    row.time = PredictStep(nets->net, there, counted.work, counted.moved, request.hardware);
    row.time.unknown += counted.moved.unknown;
    for (double* part : {&row.time.step, &row.time.compute, &row.time.communication, &row.time.hidden})
      *part *= nets->accumulate;
    WEFT_TRY_VOID(add(nets->update, 1));
    WEFT_TRY_VOID(add(nets->global_update, 1.0 / static_cast<double>(request.iterations)));
    rows.push_back(row);
  }
  return rows;
}

void WriteMoved(JsonWriter& json, const Net& net, const CommCost& moved, const Hardware& hardware) {
  struct Sum {
    std::string_view type;
    int64_t ops = 0, local_bytes = 0, network_bytes = 0;
    double seconds = 0;
  };
  std::vector<Sum> sums;
  json.BeginObject().Key("local_bytes").Int(moved.local_bytes);
  json.Key("network_bytes").Int(moved.network_bytes);
  json.Key("unknown").Int(static_cast<int64_t>(moved.unknown));
  json.Key("ops").BeginArray();
  for (const CommOp& op : moved.ops) {
    const Op& of = net.ops[static_cast<size_t>(op.op)];
    const std::string_view type = net.Str(of.type);
    const double seconds = SecondsOf(op, hardware);
    json.BeginObject().Key("op").Int(op.op).Key("type").String(type);
    json.Key("blob").String(of.outputs.empty() ? "" : net.Str(of.outputs[0]));
    json.Key("local_bytes").Int(op.local_bytes).Key("network_bytes").Int(op.network_bytes);
    json.Key("seconds").Double(seconds).EndObject();
    auto sum = std::find_if(sums.begin(), sums.end(), [&](const Sum& s) { return s.type == type; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), {type});
    ++sum->ops;
    sum->local_bytes += op.local_bytes;
    sum->network_bytes += op.network_bytes;
    sum->seconds += seconds;
  }
  json.EndArray().Key("by_type").BeginArray();
  for (const Sum& sum : sums) {
    json.BeginObject().Key("type").String(sum.type).Key("ops").Int(sum.ops);
    json.Key("local_bytes").Int(sum.local_bytes).Key("network_bytes").Int(sum.network_bytes);
    json.Key("seconds").Double(sum.seconds).EndObject();
  }
  json.EndArray().EndObject();
}

namespace {

double Efficiency(const std::vector<RankRow>& rows, const RankRow& row) {
  return row.time.step > 0 ? rows[0].time.step / row.time.step : 1;
}

}  // namespace

void WriteRanks(JsonWriter& json, const std::vector<RankRow>& rows) {
  json.BeginArray();
  for (const RankRow& row : rows) {
    json.BeginObject().Key("ranks").Int(row.ranks()).Key("machines").Int(row.machines);
    json.Key("devices").Int(row.devices).Key("compute").Double(row.time.compute);
    json.Key("communication").Double(row.time.communication).Key("hidden").Double(row.time.hidden);
    json.Key("step").Double(row.time.step).Key("efficiency").Double(Efficiency(rows, row));
    json.Key("unknown").Int(static_cast<int64_t>(row.time.unknown)).EndObject();
  }
  json.EndArray();
}

void PrintRanks(Stream& out, const std::vector<RankRow>& rows) {
  const auto cell = [&](std::string text, size_t width) {
    out.Write(StrCat(std::string(text.size() < width ? width - text.size() : 1, ' '), text));
  };
  out.Write("\n  ranks  machines     compute  communication      hidden        step  efficiency\n",
            TextClass::kMuted);
  const auto milliseconds = [](double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
    return std::string(text);
  };
  size_t unknown = 0;
  for (const RankRow& row : rows) {
    cell(std::to_string(row.ranks()), 7);
    cell(std::to_string(row.machines), 10);
    cell(milliseconds(row.time.compute), 12);
    cell(milliseconds(row.time.communication), 15);
    cell(milliseconds(row.time.hidden), 12);
    cell(milliseconds(row.time.step), 12);
    char percent[16];
    std::snprintf(percent, sizeof percent, "%.1f %%", 100 * Efficiency(rows, row));
    cell(percent, 12);
    out.Write("\n");
    unknown = std::max(unknown, row.time.unknown);
  }
  if (unknown > 0)
    out.Write(StrCat("Up to ", unknown, " operators of unknown cost count as nothing.\n"), TextClass::kMuted);
}

}  // namespace weft::cli
