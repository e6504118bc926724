// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/describe.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ops/op_columns.h"

namespace weft {

namespace {

std::string Str(const Net& net, Symbol symbol) { return std::string(net.Str(symbol)); }

std::string PortName(const std::vector<PortSpec>& ports, size_t k) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (i == k || ports[i].repeated) return std::string(ports[i].name);
  return "";
}

Port DescribePort(NetModel& model, ValueId value) {
  const Ssa& ssa = model.ssa();
  const Value& v = ssa.values()[value];
  Port port;
  port.name = Str(model.net(), ssa.blobs()[v.blob]);
  port.label = ValueName(model.net(), ssa, value);
  port.blob = v.blob;
  port.value = value;
  port.version = v.version;
  port.param = model.params()[v.blob] != 0;
  port.writer = v.def;
  const ValueId next = model.next_version(value);
  if (next != kNoValue) port.overwritten_by = ssa.values()[next].def;
  return port;
}

// Readers in order, each once, at most kMaxListed; the count is of all.
void ListReaders(const Ssa& ssa, ValueId value, std::vector<OpId>& readers, uint32_t& count) {
  count = 0;
  OpId last = kNoOp;
  for (OpId reader : ssa.uses(value)) {
    if (reader == last) continue;
    last = reader;
    if (count++ < kMaxListed) readers.push_back(reader);
  }
}

struct FieldType {
  uint16_t bit;
  std::string_view type;
};
constexpr FieldType kFieldTypes[] = {
    {Arg::kHasI, "int"},           {Arg::kHasF, "float"},          {Arg::kHasS, "string"},
    {Arg::kHasInts, "ints"},       {Arg::kHasFloats, "floats"},    {Arg::kHasStrings, "strings"},
    {Arg::kHasN, "net"},           {Arg::kHasNets, "nets"},        {Arg::kHasT, "tensor"},
    {Arg::kHasTensors, "tensors"}, {Arg::kHasQTensors, "qtensors"}};

std::string FoundType(const Arg& arg) {
  std::string type;
  for (const FieldType& field : kFieldTypes)
    if (arg.has & field.bit) StrAppend(type, type.empty() ? "" : "+", field.type);
  return type;
}

// An empty list and an absent one are the same bytes, so a list argument without fields is of any list type.
bool Fits(const Arg& arg, std::string_view declared) {
  const std::string found = FoundType(arg);
  return found.empty() || found == declared || (declared == "bool" && found == "int");
}

// An argument that stays in the file is read when somebody looks at its op, unless that would take long.
Arg LookedAt(const Arg& arg) {
  constexpr uint64_t kMostRead = 64 << 20;
  Arg seen = arg;
  if (arg.encoded && arg.encoded->file && arg.encoded->size <= kMostRead) {
    seen.data = arg.Load();
    seen.encoded = nullptr;
  }
  return seen;
}

void DescribeArgs(NetModel& model, const Op& op, const OpDef* def, std::vector<ArgInfo>& out) {
  const SymbolTable& symbols = *model.net().symbols;
  const std::vector<ArgSpec> specs = def != nullptr ? ParseArgs(def->args) : std::vector<ArgSpec>();
  std::vector<bool> seen(specs.size(), false);
  for (const Arg& arg : op.args) {
    ArgInfo info;
    info.name = std::string(symbols.Str(arg.name));
    info.value = ArgListing(symbols, LookedAt(arg), false);
    info.type = FoundType(arg);
    for (size_t k = 0; k < specs.size(); ++k) {
      if (specs[k].name != info.name) continue;
      seen[k] = true;
      info.declared = true;
      info.required = specs[k].required;
      info.otherwise = std::string(specs[k].fallback);
      info.mismatch = !Fits(arg, specs[k].type);
      if (!info.mismatch || info.type.empty()) info.type = std::string(specs[k].type);
    }
    out.push_back(std::move(info));
  }
  for (size_t k = 0; k < specs.size(); ++k) {
    if (seen[k]) continue;
    ArgInfo info;
    info.name = std::string(specs[k].name);
    info.type = std::string(specs[k].type);
    info.otherwise = std::string(specs[k].fallback);
    info.given = false;
    info.declared = true;
    info.required = specs[k].required;
    out.push_back(std::move(info));
  }
}

}  // namespace

OpDetails DescribeOp(NetModel& model, OpId id, LayoutMode mode) {
  const Net& net = model.net();
  const Op& op = net.ops[id];
  const Ssa& ssa = model.ssa();
  const Roles& roles = model.roles();
  OpDetails out;
  out.op = id;
  out.type = Str(net, op.type);
  out.name = Str(net, op.name);
  out.engine = Str(net, op.engine);
  out.device = DeviceToString(op.device ? op.device : net.device);
  out.debug_info = Str(net, op.rest().debug_info);
  out.domain = Str(net, op.rest().domain);
  if (op.rest().op_version) out.op_version = StrCat(*op.rest().op_version);
  out.is_gradient_op = op.is_gradient_op;
  out.role = roles.role[id];
  const OpDef* def = model.op_def(id);
  Ports ports;
  if (def != nullptr) {
    out.known = true;
    out.doc = std::string(def->doc);
    out.gradient = GradientLines(*def, net, op);
    out.gradient_rule = std::string(def->gradient);
    ports = ParsePorts(def->ports);
  } else {
    for (std::string_view name : model.ops().Nearest(out.type)) out.nearest.emplace_back(name);
  }
  const auto is_in = [&](std::span<const ValueId> values, BlobId blob) {
    values = values.first(std::min<size_t>(values.size(), 64));
    return std::any_of(values.begin(), values.end(), [&](ValueId v) { return ssa.values()[v].blob == blob; });
  };
  const std::span<const ValueId> inputs = ssa.inputs(id), outputs = ssa.outputs(id);
  out.num_inputs = static_cast<uint32_t>(inputs.size());
  out.num_outputs = static_cast<uint32_t>(outputs.size());
  for (size_t k = 0; k < std::min<size_t>(inputs.size(), kMaxListed); ++k) {
    Port port = DescribePort(model, inputs[k]);
    port.port = PortName(ports.inputs, k);
    port.external = port.writer == kNoOp;
    port.in_place = is_in(outputs, port.blob);
    out.inputs.push_back(std::move(port));
  }
  for (size_t k = 0; k < std::min<size_t>(outputs.size(), kMaxListed); ++k) {
    Port port = DescribePort(model, outputs[k]);
    port.port = PortName(ports.outputs, k);
    port.external = model.external_outputs()[port.blob] && ssa.latest(port.blob) == outputs[k];
    port.in_place = is_in(inputs, port.blob);
    ListReaders(ssa, outputs[k], port.readers, port.num_readers);
    out.outputs.push_back(std::move(port));
  }
  for (Symbol control : op.control_inputs) out.control_inputs.push_back(Str(net, control));
  DescribeArgs(model, op, def, out.args);
  out.unknown_bytes = static_cast<uint32_t>(op.rest().unknown.size());
  if (roles.anchor[id] != id) out.forward = roles.anchor[id];
  out.served_by = model.served_by(id);
  Arrangement& arrangement = model.arrangement(mode);
  out.replicas = arrangement.ReplicasOf(id);
  out.scopes = arrangement.ScopesOf(id);
  const std::vector<Diagnostic>& findings = model.findings();
  for (size_t i = 0; i < findings.size(); ++i)
    if (findings[i].op == id && findings[i].path.empty()) out.findings.push_back(static_cast<uint32_t>(i));
  return out;
}

BlobDetails DescribeBlob(NetModel& model, BlobId blob, uint32_t first, uint32_t count) {
  const Ssa& ssa = model.ssa();
  BlobDetails out{};
  out.blob = blob;
  out.name = Str(model.net(), ssa.blobs()[blob]);
  out.external_input = ssa.declared_input(blob);
  out.external_output = model.external_outputs()[blob] != 0;
  out.param = model.params()[blob] != 0;
  for (std::string_view suffix : {"_grad", "_autogen_grad", "_grad_values"}) {
    const Symbol name = model.net().symbols->Find(StrCat(out.name, suffix));
    if (!name || ssa.FindBlob(name) == kNoBlob) continue;
    out.gradient = StrCat(out.name, suffix);
    break;
  }
  std::vector<ValueId> values;
  for (ValueId v = ssa.latest(blob); v != kNoValue; v = ssa.values()[v].previous) values.push_back(v);
  std::reverse(values.begin(), values.end());
  out.num_versions = static_cast<uint32_t>(values.size());
  for (uint64_t k = first; k < std::min<uint64_t>(values.size(), uint64_t{first} + count); ++k) {
    const ValueId v = values[k];
    BlobVersionDetails version{};
    version.value = v;
    version.version = ssa.values()[v].version;
    version.writer = ssa.values()[v].def;
    version.output = ssa.values()[v].output;
    ListReaders(ssa, v, version.readers, version.num_readers);
    version.last_reader = ssa.uses(v).empty() ? kNoOp : ssa.uses(v).back();
    out.versions.push_back(std::move(version));
  }
  return out;
}

std::vector<OpId> NeighboursOf(NetModel& model, OpId op, Direction direction) {
  const Ssa& ssa = model.ssa();
  std::vector<OpId> found;
  if (direction == Direction::kLeft && op > 0) found.push_back(op - 1);
  if (direction == Direction::kRight && op + 1 < static_cast<OpId>(ssa.num_ops())) found.push_back(op + 1);
  if (direction == Direction::kUp)
    for (ValueId v : ssa.inputs(op))
      if (ssa.values()[v].def != kNoOp) found.push_back(ssa.values()[v].def);
  if (direction == Direction::kDown) {
    for (ValueId v : ssa.outputs(op)) {
      found.insert(found.end(), ssa.uses(v).begin(), ssa.uses(v).end());
      if (found.size() > 4 * kMaxListed) break;
    }
  }
  // Each once, where it was first seen.
  std::vector<std::pair<OpId, size_t>> first;
  for (size_t i = 0; i < found.size(); ++i) first.emplace_back(found[i], i);
  std::sort(first.begin(), first.end());
  first.erase(std::unique(first.begin(), first.end(),
                          [](const auto& a, const auto& b) { return a.first == b.first; }),
              first.end());
  std::sort(first.begin(), first.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  found.clear();
  for (size_t i = 0; i < std::min<size_t>(first.size(), kMaxListed); ++i) found.push_back(first[i].first);
  return found;
}

std::vector<OpId> ConeOf(NetModel& model, OpId op, Direction direction, uint32_t depth) {
  const Ssa& ssa = model.ssa();
  const bool up = direction == Direction::kUp;
  std::vector<uint8_t> seen(ssa.num_ops(), 0);
  std::vector<OpId> level = {op}, next, cone;
  seen[op] = 1;
  for (uint32_t d = 0; d < depth && !level.empty(); ++d) {
    next.clear();
    const auto visit = [&](OpId other) {
      if (other == kNoOp || seen[other]) return;
      seen[other] = 1;
      next.push_back(other);
    };
    for (OpId at : level) {
      if (up) {
        for (ValueId v : ssa.inputs(at)) visit(ssa.values()[v].def);
      } else {
        for (ValueId v : ssa.outputs(at))
          for (OpId reader : ssa.uses(v)) visit(reader);
      }
    }
    cone.insert(cone.end(), next.begin(), next.end());
    level.swap(next);
  }
  std::sort(cone.begin(), cone.end());
  return cone;
}

ScopeInfo DescribeScope(Arrangement& a, ScopeId scope) {
  const ScopeRecord& record = a.tree().scopes[scope];
  ScopeInfo out;
  out.id = scope;
  out.parent = record.parent;
  out.label = record.label;
  out.depth = record.depth;
  for (ScopeId s = scope; s != kNone && s != kRootScope; s = a.tree().scopes[s].parent)
    out.path = out.path.empty() ? a.tree().scopes[s].label : StrCat(a.tree().scopes[s].label, "/", out.path);
  out.num_ops = a.num_ops(scope);
  for (ScopeChild child : record.children) ++(child.is_scope() ? out.num_scopes : out.num_direct);
  out.synthetic = record.kind == ScopeKind::kStretch;
  out.user = record.kind == ScopeKind::kUser;
  out.repeats = a.repeats(scope);
  out.repeat_of = a.repeat_of(scope);
  return out;
}

ListingLine ListOp(NetModel& model, OpId op) {
  ListingLine line;
  line.op = op;
  const PrintOptions options;
  PrintOp(model.net(), model.ssa(), op, options, [&](const Piece& piece) {
    const uint32_t begin = static_cast<uint32_t>(line.text.size());
    line.text.append(piece.text);
    line.pieces.push_back({begin, static_cast<uint32_t>(line.text.size()), piece.text_class, piece.value});
  });
  return line;
}

std::vector<ListingLine> ListHead(NetModel& model) {
  const Net& net = model.net();
  std::vector<ListingLine> lines;
  const auto add = [&](std::string_view label, std::string text) {
    ListingLine line;
    line.text = StrCat(label, text);
    const uint32_t split = static_cast<uint32_t>(label.size());
    line.pieces.push_back({0, split, TextClass::kLabel});
    line.pieces.push_back({split, static_cast<uint32_t>(line.text.size()), TextClass::kPlain});
    lines.push_back(std::move(line));
  };
  const auto names = [&](const std::vector<Symbol>& symbols) {
    std::string text;
    for (size_t k = 0; k < std::min<size_t>(symbols.size(), 8); ++k)
      StrAppend(text, k > 0 ? ", " : "", net.Str(symbols[k]));
    if (symbols.size() > 8) StrAppend(text, ", ... ", symbols.size() - 8, " more");
    return text;
  };
  add("net ", StrCat(net.Str(net.name), " (", net.ops.size(), net.ops.size() == 1 ? " op)" : " ops)"));
  add("external_input ", names(net.external_inputs));
  add("external_output ", names(net.external_outputs));
  return lines;
}

}  // namespace weft
