// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/grad_json.h"

#include <algorithm>
#include <optional>

#include "core/pass/shape_report.h"
#include "core/ssa/ssa.h"
#include "native/cli/command.h"
#include "proto/codec.h"

namespace weft::cli {

namespace {

void WriteNames(JsonWriter& json, const Net& net, const RepairedPlan& plan) {
  json.Key("grads").BeginObject();
  for (const BlobGradient& of : plan.backward.gradients) {
    if (of.gradient.none()) continue;
    json.Key(net.Str(of.blob));
    if (of.gradient.is_dense()) {
      json.String(net.Str(of.gradient.dense));
    } else {
      json.BeginObject().Key("indices").String(net.Str(of.gradient.indices));
      json.Key("values").String(net.Str(of.gradient.values)).EndObject();
    }
  }
  json.EndObject().Key("origin").BeginArray();
  for (size_t i = 0; i < plan.backward.origin.size(); ++i) {
    const Origin& origin = plan.backward.origin[i];
    json.BeginArray().Int(i).Int(origin.kind == Origin::kRule ? origin.forward : kNoOp).EndArray();
  }
  json.EndArray();
}

void WriteValue(JsonWriter& json, const Net& net, const Ssa& ssa, ValueId id) {
  const Value& value = ssa.values()[id];
  json.Key("blob").String(net.Str(ssa.blobs()[value.blob])).Key("version").Int(value.version);
}

// Each operator that adds up contributions: of which value, and who made the parts.
void WriteSums(JsonWriter& json, const Net& whole, const Ssa& ssa, size_t first, const Backward& backward) {
  json.Key("sums").BeginArray();
  for (size_t i = 0; i < backward.origin.size(); ++i) {
    const Origin& origin = backward.origin[i];
    if (origin.kind != Origin::kAccumulate) continue;
    const OpId op = static_cast<OpId>(first + i);
    json.BeginObject().Key("op").Int(op).Key("type").String(
        whole.Str(whole.ops[static_cast<size_t>(op)].type));
    json.Key("of").String(whole.Str(origin.blob)).Key("of_version").Int(origin.version);
    const auto outputs = ssa.outputs(op);
    if (!outputs.empty()) WriteValue(json, whole, ssa, outputs[0]);
    json.Key("parts").BeginArray();
    for (ValueId input : ssa.inputs(op)) {
      const OpId maker = ssa.values()[input].def;
      json.BeginObject();
      WriteValue(json, whole, ssa, input);
      json.Key("op").Int(maker).Key("type");
      maker < 0 ? json.Null() : json.String(whole.Str(whole.ops[static_cast<size_t>(maker)].type));
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

struct Stash {
  ValueId value;
  OpId from, to;           // its writer, its last reader in the backward pass
  std::vector<OpId> for_;  // forward operators whose gradients read it
};

// Values that the forward net makes and its backward pass reads, those that are kept longest first.
void WriteStashes(JsonWriter& json, const Net& whole, const Ssa& ssa, size_t first, const Backward& backward,
                  KnownShapes* known) {
  std::vector<Stash> stashes;
  for (ValueId id = 0; id < ssa.values().size(); ++id) {
    const OpId from = ssa.values()[id].def;
    if (from < 0 || static_cast<size_t>(from) >= first) continue;
    Stash stash{id, from, kNoOp, {}};
    for (OpId reader : ssa.uses(id)) {
      if (static_cast<size_t>(reader) < first) continue;
      stash.to = std::max(stash.to, reader);
      const Origin& origin = backward.origin[static_cast<size_t>(reader) - first];
      if (origin.kind == Origin::kRule && (stash.for_.empty() || stash.for_.back() != origin.forward))
        stash.for_.push_back(origin.forward);
    }
    if (stash.to != kNoOp) stashes.push_back(std::move(stash));
  }
  std::stable_sort(stashes.begin(), stashes.end(),
                   [](const Stash& a, const Stash& b) { return a.to - a.from > b.to - b.from; });
  std::optional<NetShapes> shapes;
  if (known) shapes.emplace(InferShapes(whole, known->given, known->table));
  DimSum kept;
  size_t unsized = 0;
  json.Key("stashes").BeginArray();
  for (const Stash& stash : stashes) {
    json.BeginObject();
    WriteValue(json, whole, ssa, stash.value);
    json.Key("from").Int(stash.from).Key("to").Int(stash.to).Key("for").BeginArray();
    for (OpId op : stash.for_) json.Int(op);
    json.EndArray();
    if (shapes) {
      // Shapes number values of their own, for what nets inside operators do.
      const ValueId v = shapes->ssa.outputs(stash.from)[ssa.values()[stash.value].output];
      const Dim bytes = BytesOf(known->table, shapes->values[v]);
      json.Key("bytes");
      WriteDim(json, known->table, bytes);
      bytes.unknown() ? static_cast<void>(++unsized) : kept.Add(bytes, known->table);
    }
    json.EndObject();
  }
  json.EndArray();
  if (!shapes) return;
  json.Key("kept").BeginObject().Key("bytes");
  WriteDim(json, known->table, kept.Take(known->table));
  json.Key("unsized").Int(unsized).EndObject();
}

}  // namespace

std::string PlanJson(const Net& before, const Net& net, const RepairedPlan& plan, KnownShapes* known) {
  Net generated(net.symbols);
  generated.ops = plan.backward.ops;
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("ops").String(NetToText(generated));
  WriteNames(json, net, plan);
  const Net whole = AppendBackward(net, plan.backward);
  const Ssa ssa(whole);
  json.Key("forward").Int(net.ops.size());
  WriteSums(json, whole, ssa, net.ops.size(), plan.backward);
  WriteStashes(json, whole, ssa, net.ops.size(), plan.backward, known);
  if (plan.changed) {
    json.Key("changes").BeginArray();
    for (const std::string& change : plan.changes) json.String(change);
    json.EndArray().Key("listing").String(RepairListing(before, plan));
  }
  json.EndObject();
  return out;
}

std::string ConflictsJson(const Net& net, GradientOptions options, const Error& error) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("error").BeginObject();
  WriteError(json, error);
  json.Key("conflicts").BeginArray();
  options.collect_conflicts = true;
  Net read(net.symbols);  // what the planner numbers values of
  read.external_inputs = net.external_inputs;
  read.ops.assign(net.ops.begin() + static_cast<ptrdiff_t>(options.skip), net.ops.end());
  const Result<Backward> plan = PlanGradients(net, StandardOps(), options);
  if (plan) {
    const Ssa ssa(read);
    const VersionConflict* last = nullptr;
    for (const VersionConflict& conflict : plan->conflicts) {
      // An operator that reads a value twice needs it twice.
      if (last && last->reader == conflict.reader && last->needed == conflict.needed) continue;
      last = &conflict;
      json.BeginObject();
      WriteValue(json, read, ssa, conflict.needed);
      const OpId writer = ssa.values()[conflict.needed].def;
      json.Key("writer").Int(writer < 0 ? kNoOp : writer + static_cast<OpId>(options.skip));
      json.Key("reader").Int(conflict.reader).Key("overwriter").Int(conflict.overwriter);
      json.Key("output").Bool(conflict.is_output).EndObject();
    }
  }
  json.EndArray().EndObject().EndObject();
  return out;
}

}  // namespace weft::cli
