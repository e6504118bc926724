// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft devices: what a data-parallel net does on each device, where its replicas differ, what it moves.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "core/base/str.h"
#include "core/pass/comm_cost.h"
#include "core/roles/replicas.h"
#include "core/roles/roles.h"
#include "core/ssa/print.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/cli/workbench.h"

namespace weft::cli {

namespace {

struct Words {
  std::string file, init;
  std::vector<std::string> inputs;
  std::optional<int> shards;
};

// The first operators of two replicas that do not agree, kNoOp where one has no more.
struct Difference {
  OpId here = kNoOp, there = kNoOp;
};

struct DeviceRow {
  std::string_view name;
  size_t operators = 0, differing = 0;
  size_t by_role[kNumRoles] = {};
  size_t same_as = 0;               // the first device that does the same
  std::optional<Difference> first;  // to the first device of all
};

struct Report {
  std::vector<DeviceRow> devices;
  size_t shared = 0;  // operators of no device, or of several
  int shards = 1;
  CommCost moved;
};

std::vector<DeviceRow> CompareDevices(const Net& net, const Ssa& ssa, const Columns& columns) {
  std::vector<DeviceRow> rows(columns.names.size());
  if (rows.empty()) return rows;
  const ReplicaComparison compared = CompareReplicas(net, ssa, columns);
  const std::vector<Role> roles = FindRoles(net, ssa, StandardOps(), columns, {}).role;
  std::vector<std::vector<OpId>> ops(rows.size());
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const uint8_t column = columns.of_op[i];
    if (column == kNoColumn) continue;
    DeviceRow& row = rows[column];
    ops[column].push_back(static_cast<OpId>(i));
    ++row.operators;
    row.differing += compared.differs[i];
    ++row.by_role[static_cast<size_t>(roles[i])];
  }
  for (size_t c = 0; c < rows.size(); ++c) {
    rows[c].name = columns.names[c];
    rows[c].same_as = compared.same_as[c];
    if (rows[c].same_as == 0) continue;
    // Ops without an equal are marked; where none is, the order differs.
    const auto marked = [&](const std::vector<OpId>& list) {
      const auto at =
          std::find_if(list.begin(), list.end(), [&](OpId op) { return compared.differs[op] != 0; });
      return at == list.end() ? kNoOp : *at;
    };
    rows[c].first = Difference{marked(ops[c]), marked(ops[0])};
    if (rows[c].first->here != kNoOp || rows[c].first->there != kNoOp) continue;
    size_t k = 0;
    while (k < ops[c].size() && k < ops[0].size() && net.ops[ops[c][k]].type == net.ops[ops[0][k]].type) ++k;
    rows[c].first = Difference{k < ops[c].size() ? ops[c][k] : kNoOp, k < ops[0].size() ? ops[0][k] : kNoOp};
  }
  return rows;
}

// How many machines the common worlds are for.
int ShardsOf(const Net& net) {
  int64_t most = 1;
  for (const Op& op : net.ops)
    if (net.Str(op.type) == "CreateCommonWorld")
      most = std::max(most, ArgInt(*net.symbols, op.args, "size", 1));
  return static_cast<int>(std::min<int64_t>(most, INT32_MAX));
}

ParallelOptions OptionsOf(const Columns& columns, int shards) {
  ParallelOptions options;
  for (std::string_view name : columns.names) {
    const size_t line = name.rfind('_');
    const std::string_view kind = name.substr(0, line);
    options.device_type = kind == "cpu" ? kCpu : kind == "ideep" ? kIdeep : kCuda;
    options.devices.push_back(std::atoi(std::string(name.substr(line + 1)).c_str()));
  }
  if (shards > 1) options.rendezvous = Rendezvous{.num_shards = shards};
  return options;
}

Result<Report> MakeReport(const Main& main, const Net& net, const Words& words) {
  Report report;
  std::optional<Net> init;
  if (!words.init.empty()) {
    WEFT_TRY(const Net loaded, LoadNetOfSeveral(words.init));
    init = Rehome(loaded, net.symbols);
  }
  ShapeTable table;
  const Net* const known[] = {&net};
  WEFT_TRY(std::vector<GivenBlob> given, ParseInputs(main, words.inputs, known, *net.symbols, table));
  const Ssa ssa(net);
  const Columns columns = FindColumns(net, ssa);
  report.devices = CompareDevices(net, ssa, columns);
  report.shared = net.ops.size();
  for (const DeviceRow& row : report.devices) report.shared -= row.operators;
  report.shards = words.shards ? *words.shards : std::max(ShardsOf(net), init ? ShardsOf(*init) : 1);
  if (init)
    for (GivenBlob& blob : FinalShapes(InferShapes(*init, given, table))) given.push_back(std::move(blob));
  const NetShapes shapes = InferShapes(net, given, table);
  report.moved = CommunicationOf(net, OptionsOf(columns, report.shards), BytesByShape(net, shapes, table));
  return report;
}

// Those that move something, in the order of the net.
std::vector<CommOp> Moving(const CommCost& moved) {
  std::vector<CommOp> ops = moved.ops;
  for (OpId op : moved.unknown_ops) ops.push_back({.op = op, .local_bytes = -1, .network_bytes = -1});
  std::sort(ops.begin(), ops.end(), [](const CommOp& a, const CommOp& b) { return a.op < b.op; });
  return ops;
}

std::string_view FirstOutput(const Net& net, OpId op) {
  const BlobList& outputs = net.ops[static_cast<size_t>(op)].outputs;
  return outputs.empty() ? std::string_view() : net.Str(outputs[0]);
}

std::string Json(const Net& net, const Report& report) {
  std::string out;
  JsonWriter json(out);
  const Ssa ssa(net);
  json.BeginObject().Key("net").String(net.Str(net.name)).Key("devices").BeginArray();
  for (const DeviceRow& row : report.devices) {
    json.BeginObject().Key("name").String(row.name).Key("operators").Int(row.operators);
    for (size_t r = 0; r < kNumRoles; ++r) json.Key(kRoleNames[r]).Int(row.by_role[r]);
    json.Key("same_as").String(report.devices[row.same_as].name).Key("differing").Int(row.differing);
    json.Key("first_difference");
    if (!row.first) {
      json.Null();
    } else {
      const auto op = [&](std::string_view key, OpId id) {
        json.Key(key);
        if (id == kNoOp) {
          json.Null();
          return;
        }
        json.BeginObject().Key("op").Int(id).Key("text").String(OpListing(net, ssa, id, {})).EndObject();
      };
      json.BeginObject();
      op("here", row.first->here);
      op("there", row.first->there);
      json.EndObject();
    }
    json.EndObject();
  }
  json.EndArray().Key("shared").Int(report.shared).Key("shards").Int(report.shards);
  json.Key("moving").BeginArray();
  for (const CommOp& op : Moving(report.moved)) {
    const auto bytes = [&](std::string_view key, int64_t n) {
      json.Key(key);
      n < 0 ? json.Null() : json.Int(n);
    };
    json.BeginObject().Key("op").Int(op.op).Key("type").String(
        net.Str(net.ops[static_cast<size_t>(op.op)].type));
    json.Key("blob").String(FirstOutput(net, op.op));
    bytes("local_bytes", op.local_bytes);
    bytes("network_bytes", op.network_bytes);
    json.EndObject();
  }
  json.EndArray().Key("moved").BeginObject().Key("local_bytes").Int(report.moved.local_bytes);
  json.Key("network_bytes").Int(report.moved.network_bytes).Key("unknown").Int(report.moved.unknown);
  json.EndObject().EndObject();
  return out;
}

std::string Padded(std::string text, size_t width, bool right = false) {
  if (text.size() < width) text.insert(right ? 0 : text.size(), width - text.size(), ' ');
  return text;
}

void PrintDevices(Stream& out, const Net& net, const Report& report) {
  const Ssa ssa(net);
  out.Write(StrCat(Padded("device", 10), Padded("operators", 10, true), Padded("forward", 10, true),
                   Padded("backward", 10, true), Padded("update", 10, true), Padded("collective", 12, true),
                   "  the same as\n"),
            TextClass::kMuted);
  for (const DeviceRow& row : report.devices) {
    out.Write(Padded(std::string(row.name), 10), TextClass::kDevice);
    out.Write(Padded(std::to_string(row.operators), 10, true));
    for (size_t r = 0; r < 4; ++r) out.Write(Padded(std::to_string(row.by_role[r]), r == 3 ? 12 : 10, true));
    out.Write(StrCat("  ", report.devices[row.same_as].name, "\n"));
    if (!row.first) continue;
    const auto op = [&](OpId id) {
      return id == kNoOp ? std::string("nothing") : StrCat(id, " ", OpListing(net, ssa, id, {}));
    };
    out.Write(StrCat("  differs from ", report.devices[0].name, ", first: ", op(row.first->here),
                     "\n  there: ", op(row.first->there), "\n"),
              TextClass::kChanged);
  }
  out.Write(StrCat("operators of no device, or of several: ", report.shared, "\n\n"));
  for (const CommOp& op : Moving(report.moved)) {
    out.Write(Padded(std::to_string(op.op), 7, true), TextClass::kIndex);
    out.Write(StrCat("  ", net.Str(net.ops[static_cast<size_t>(op.op)].type), " ", FirstOutput(net, op.op)));
    const auto size = [&](std::string_view what, int64_t n) {
      if (n > 0)
        out.Write(StrCat("  ", what, " ", FormatBytes(static_cast<uint64_t>(n))), TextClass::kNumber);
    };
    size("between devices", op.local_bytes);
    size("to other machines", op.network_bytes);
    out.Write(op.local_bytes < 0 ? "  size unknown\n" : "\n");
  }
  out.Write(StrCat("\nOn each of ", report.shards, report.shards == 1 ? " machine" : " machines",
                   ", an iteration moves ", FormatBytes(static_cast<uint64_t>(report.moved.local_bytes)),
                   " between devices and sends ",
                   FormatBytes(static_cast<uint64_t>(report.moved.network_bytes)), " to others",
                   report.moved.unknown > 0
                       ? StrCat(", and what ", report.moved.unknown, " operators of unknown size move")
                       : "",
                   ".\n"));
}

int Run(Main& main, const Words& words) {
  const Result<Net> net = LoadNet(words.file);
  if (!net) return main.Fail(net.error(), words.file);
  const Result<Report> report = MakeReport(main, *net, words);
  if (!report) return main.Fail(report.error());
  if (main.json) return PrintJson(main, Json(*net, *report));
  Stream out(STDOUT_FILENO, main.color);
  PrintDevices(out, *net, *report);
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

}  // namespace

void AddDevices(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "devices",
                                    "a data-parallel net by device: operators, differences, bytes moved",
                                    [&main, words] { return Run(main, *words); });
  AddFile(*command, words->file);
  command->add_option("--init", words->init, "the net that fills the parameters: their sizes")
      ->type_name("INIT");
  AddRepeated(*command, "--input", words->inputs, "a blob's shape: gpu_0/data=32,3,224,224[:type]")
      ->type_name("BLOB=SHAPE");
  command->add_option("--shards", words->shards, "how many machines; by default what the common worlds say")
      ->check(WholeNumber())
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->type_name("N");
  AddJson(
      *command, main,
      R"({"net","devices":[{name,operators,forward,backward,update,collective,same_as,differing,)"
      R"(first_difference:{here:{op,text},there:{op,text}}}],"shared":n,"shards":n,)"
      R"("moving":[{op,type,blob,local_bytes,network_bytes}],"moved":{local_bytes,network_bytes,unknown}})");
  command->footer(
      "Devices are told by name scopes: gpu_0/, cpu_1/. Collectives count as rings; bytes are what this "
      "machine\n"
      "moves between its devices and sends to others, null (size unknown) where shapes don't say. A "
      "gradient\n"
      "counts as large as what it is of.");
}

}  // namespace weft::cli
