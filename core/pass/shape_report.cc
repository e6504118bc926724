// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/shape_report.h"

#include <algorithm>
#include <array>

#include "core/base/str.h"
#include "core/check/report.h"

namespace weft {

namespace {

// "1.2 M" of a count; a formula as it is.
std::string CountText(const ShapeTable& table, Dim dim) {
  if (!dim.known()) return table.SumText(dim);
  if (dim.code < 1000) return std::to_string(dim.code);
  constexpr std::string_view kUnits[] = {"k", "M", "G", "T", "P", "E"};
  double value = static_cast<double>(dim.code);
  size_t unit = 0;
  for (value /= 1000; value >= 999.95 && unit + 1 < std::size(kUnits); value /= 1000) ++unit;
  const int64_t tenths = static_cast<int64_t>(value * 10 + 0.5);
  return StrCat(tenths / 10, ".", tenths % 10, " ", kUnits[unit]);
}

std::string BytesText(const ShapeTable& table, Dim dim) {
  if (dim.known()) return FormatBytes(static_cast<uint64_t>(dim.code));
  return dim.unknown() ? "unknown" : StrCat(table.SumText(dim), " B");
}

class Printer {
 public:
  Printer(const ShapeTable& table, const EmitPiece& emit) : table_(table), emit_(emit) {}

  void Put(std::string_view text, TextClass text_class = TextClass::kPlain) { emit_({text, text_class}); }
  void Padded(std::string_view text, size_t width, TextClass text_class = TextClass::kPlain) {
    Put(text, text_class);
    if (text.size() < width) Put(std::string(width - text.size(), ' '));
  }

  // Two spaces follow, also what is wider than its column.
  void Column(std::string_view text, size_t width, TextClass text_class = TextClass::kPlain) {
    Padded(text, std::max(width, text.size()) + 2, text_class);
  }

  void Values(const Net& net, const NetShapes& shapes, const std::vector<OpCost>& costs, size_t indent) {
    const Ssa& ssa = shapes.ssa;
    size_t type_width = 0, name_width = 0, shape_width = 0;
    for (const Op& op : net.ops) type_width = std::max(type_width, net.Str(op.type).size());
    for (ValueId v = 0; v < ssa.values().size(); ++v) {
      name_width = std::max(name_width, net.Str(ssa.blobs()[ssa.values()[v].blob]).size());
      shape_width = std::max(shape_width, table_.Text(shapes.values[v]).size());
    }
    type_width = std::min<size_t>(type_width, 28);
    name_width = std::min<size_t>(name_width, 40);
    shape_width = std::min<size_t>(shape_width, 32);
    const size_t number_width = std::to_string(net.ops.size()).size();
    const std::string margin(indent, ' ');
    size_t nested = 0;
    for (ValueId v = 0; v < ssa.values().size(); ++v) {
      if (ssa.values()[v].def != kNoOp || ssa.uses(v).empty()) continue;
      Put(margin);
      Padded("", number_width + 2 + type_width + 2);
      Column(net.Str(ssa.blobs()[ssa.values()[v].blob]), name_width, TextClass::kInput);
      Put(StrCat(table_.Text(shapes.values[v]), "\n"));
    }
    for (OpId id = 0; id < static_cast<OpId>(net.ops.size()); ++id) {
      const std::span<const ValueId> outputs = ssa.outputs(id);
      for (size_t i = 0; i < std::max<size_t>(1, outputs.size()); ++i) {
        Put(margin);
        const std::string number = i == 0 ? std::to_string(id) : "";
        Padded("", number_width - number.size());
        Column(number, number.size(), TextClass::kIndex);
        Column(i == 0 ? net.Str(net.ops[static_cast<size_t>(id)].type) : "", type_width, TextClass::kType);
        if (i < outputs.size()) {
          Column(net.Str(ssa.blobs()[ssa.values()[outputs[i]].blob]), name_width, TextClass::kOutput);
          const std::string text = table_.Text(shapes.values[outputs[i]]);
          const Dim flops = costs[static_cast<size_t>(id)].flops;
          const bool says = i == 0 && flops != Dim(0) && !flops.unknown();
          says ? Column(text, shape_width) : Put(text);
          if (says) Put(StrCat(CountText(table_, flops), " flop"), TextClass::kMuted);
        }
        Put("\n");
      }
      for (; nested < shapes.nested.size() && shapes.nested[nested].op == id; ++nested) {
        const NetShapes::Nested& inner = shapes.nested[nested];
        Put(StrCat(margin, "    "));
        Put(StrCat(inner.arg, ":\n"), TextClass::kLabel);
        std::vector<OpCost> inner_costs = inner.shapes->costs;
        Values(*inner.net, *inner.shapes, inner_costs, indent + 6);
      }
    }
  }

  void Totals(const Net& net, const NetCost& cost) {
    std::vector<std::array<std::string, 6>> rows{
        {"scope", "operators", "flop", "read", "written", "parameters"}};
    const auto add = [&](std::string_view name, const CostSum& sum) {
      const std::string ops =
          sum.unknown == 0 ? std::to_string(sum.ops) : StrCat(sum.ops, " (", sum.unknown, " not known)");
      rows.push_back({std::string(name), ops, CountText(table_, sum.cost.flops),
                      BytesText(table_, sum.cost.read), BytesText(table_, sum.cost.written),
                      CountText(table_, sum.parameters)});
    };
    if (cost.scopes.size() > 1 || (cost.scopes.size() == 1 && !cost.scopes[0].scope.empty()))
      for (const ScopeCost& scope : cost.scopes) add(scope.scope.empty() ? "(none)" : scope.scope, scope.sum);
    add("total", cost.total);
    std::array<size_t, 6> widths{};
    for (const auto& row : rows)
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    Put("\n");
    for (const auto& row : rows) {
      const TextClass text_class = &row == rows.data() ? TextClass::kHeading : TextClass::kPlain;
      Padded(row[0], widths[0], text_class);
      for (size_t i = 1; i < row.size(); ++i) {
        Padded("", 2 + widths[i] - row[i].size());
        Put(row[i], text_class);
      }
      Put("\n");
    }
    Put(StrCat("parameters ", BytesText(table_, cost.parameter_bytes)));
    if (!(cost.state_bytes == Dim(0))) Put(StrCat("; state ", BytesText(table_, cost.state_bytes)));
    if (cost.live.op != kNoOp)
      Put(StrCat("; at most ", BytesText(table_, cost.live.most), " live at once, at ",
                 OpLabel(net, cost.live.op)));
    if (cost.live.unsized > 0) Put(StrCat(", without ", cost.live.unsized, " values of unknown size"));
    Put("\n");
  }

 private:
  const ShapeTable& table_;
  const EmitPiece& emit_;
};

void WriteCost(JsonWriter& json, const ShapeTable& table, const OpCost& cost) {
  json.Key("flops");
  WriteDim(json, table, cost.flops);
  json.Key("read");
  WriteDim(json, table, cost.read);
  json.Key("written");
  WriteDim(json, table, cost.written);
}

void WriteCost(JsonWriter& json, const ShapeTable& table, const OpCost& cost, Dim parameters) {
  WriteCost(json, table, cost);
  json.Key("parameters");
  WriteDim(json, table, parameters);
}

void WriteInfo(JsonWriter& json, ShapeTable& table, const TensorInfo& info) {
  json.Key("kind").String(info.kind == TensorInfo::kUnknown  ? "unknown"
                          : info.kind == TensorInfo::kObject ? "object"
                                                             : "tensor");
  json.Key("type");
  info.type == DataType::kUndefined ? json.Null() : json.String(DataTypeName(info.type));
  json.Key("shape");
  if (info.tensor()) {
    json.BeginArray();
    for (const Dim dim : info.dims) {
      if (table.DependsOnData(dim)) {
        json.String("?");
      } else {
        WriteDim(json, table, dim);
      }
    }
    json.EndArray();
  } else if (info.kind == TensorInfo::kDataRank) {
    json.String("?");
  } else {
    json.Null();
  }
  json.Key("bytes");
  WriteDim(json, table, BytesOf(table, info));
}

// `lives`: by value, none for nets inside operators.
void WriteBlobs(JsonWriter& json, const Net& net, const NetShapes& shapes, ShapeTable& table,
                std::span<const LiveBytes::Life> lives, const std::string& path) {
  const Ssa& ssa = shapes.ssa;
  for (ValueId v = 0; v < ssa.values().size(); ++v) {
    const Value& value = ssa.values()[v];
    json.BeginObject().Key("name").String(net.Str(ssa.blobs()[value.blob])).Key("version").Int(value.version);
    json.Key("op");
    value.def == kNoOp ? json.Null() : json.Int(value.def);
    json.Key("net").String(path);
    WriteInfo(json, table, shapes.values[v]);
    if (v < lives.size() && lives[v].first <= lives[v].last)
      json.Key("live").BeginArray().Int(lives[v].first).Int(lives[v].last).EndArray();
    json.EndObject();
  }
  for (const NetShapes::Nested& nested : shapes.nested)
    WriteBlobs(json, *nested.net, *nested.shapes, table, {},
               StrCat(path, path.empty() ? "" : "/", nested.op, ".", nested.arg));
}

// Those of each net inside an operator, one run of it.
void WriteNestedCosts(JsonWriter& json, const NetShapes& shapes, ShapeTable& table, const std::string& path) {
  for (const NetShapes::Nested& nested : shapes.nested) {
    const std::string inside = StrCat(path, path.empty() ? "" : "/", nested.op, ".", nested.arg);
    const std::vector<OpCost> costs = OpCosts(*nested.shapes, table);
    json.BeginObject().Key("net").String(inside).Key("operators").BeginArray();
    for (size_t i = 0; i < costs.size(); ++i) {
      json.BeginObject().Key("op").Int(i).Key("type").String(nested.net->Str(nested.net->ops[i].type));
      WriteCost(json, table, costs[i]);
      json.EndObject();
    }
    json.EndArray().EndObject();
    WriteNestedCosts(json, *nested.shapes, table, inside);
  }
}

}  // namespace

void WriteDim(JsonWriter& json, const ShapeTable& table, Dim dim) {
  if (dim.known()) {
    json.Int(dim.code);
  } else if (dim.unknown()) {
    json.Null();
  } else {
    json.String(table.SumText(dim));
  }
}

void PrintShapes(const Net& net, const NetShapes& shapes, const NetCost& cost, const ShapeTable& table,
                 const EmitPiece& emit) {
  Printer printer(table, emit);
  printer.Values(net, shapes, cost.ops, 0);
  printer.Totals(net, cost);
}

std::string ShapesListing(const Net& net, const NetShapes& shapes, const NetCost& cost,
                          const ShapeTable& table) {
  std::string out;
  PrintShapes(net, shapes, cost, table, [&](const Piece& piece) { out += piece.text; });
  return out;
}

void WriteShapes(JsonWriter& json, const Net& net, const NetShapes& shapes, const NetCost& cost,
                 ShapeTable& table) {
  json.Key("net").String(net.Str(net.name)).Key("whole").Bool(shapes.whole()).Key("blobs").BeginArray();
  WriteBlobs(json, net, shapes, table, cost.live.lives, "");
  json.EndArray().Key("operators").BeginArray();
  for (size_t i = 0; i < net.ops.size(); ++i) {
    json.BeginObject().Key("op").Int(i).Key("type").String(net.Str(net.ops[i].type));
    WriteCost(json, table, cost.ops[i], cost.parameters[i]);
    json.EndObject();
  }
  json.EndArray().Key("nested").BeginArray();
  WriteNestedCosts(json, shapes, table, "");
  json.EndArray().Key("scopes").BeginArray();
  for (const ScopeCost& scope : cost.scopes) {
    json.BeginObject().Key("scope").String(scope.scope).Key("operators").Int(scope.sum.ops);
    json.Key("unknown").Int(scope.sum.unknown);
    WriteCost(json, table, scope.sum.cost, scope.sum.parameters);
    json.EndObject();
  }
  json.EndArray().Key("total").BeginObject().Key("operators").Int(cost.total.ops);
  json.Key("unknown").Int(cost.total.unknown);
  WriteCost(json, table, cost.total.cost, cost.total.parameters);
  json.Key("parameter_bytes");
  WriteDim(json, table, cost.parameter_bytes);
  json.Key("state");
  WriteDim(json, table, cost.state);
  json.Key("state_bytes");
  WriteDim(json, table, cost.state_bytes);
  json.EndObject().Key("live").BeginArray();
  for (const int64_t bytes : cost.live.at) json.Int(bytes);
  json.EndArray().Key("peak").BeginObject().Key("bytes");
  WriteDim(json, table, cost.live.most);
  json.Key("op");
  cost.live.op == kNoOp ? json.Null() : json.Int(cost.live.op);
  json.Key("unsized").Int(cost.live.unsized);
  json.EndObject().Key("missing_inputs").BeginArray();
  for (const Symbol blob : shapes.missing_inputs) json.String(net.Str(blob));
  json.EndArray().Key("silent_operators").BeginArray();
  for (const SilentOp& op : shapes.silent_ops) {
    json.BeginObject().Key("op").Int(op.op).Key("type").String(net.Str(op.type)).Key("net").String(op.path);
    json.Key("reason").String(op.reason).EndObject();
  }
  json.EndArray().Key("findings").BeginArray();
  for (const Diagnostic& finding : shapes.findings) WriteFinding(json, finding, "");
  json.EndArray();
}

}  // namespace weft
