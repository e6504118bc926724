// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/edit.h"

#include <algorithm>
#include <cstring>

#include "core/base/str.h"
#include "core/ssa/nested.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

// The op with its device replaced, in nested nets of every kind too: they run where the op runs.
void MoveToDevice(Op& op, const DevicePtr& device) {
  op.device = device;
  const auto holds_net = [](const Arg& arg) { return (arg.has & (Arg::kHasN | Arg::kHasNets)) != 0; };
  if (std::none_of(op.args.begin(), op.args.end(), holds_net)) return;
  const auto moved = [&](const NetPtr& nested) -> NetPtr {
    if (!nested) return nested;
    Net net = *nested;
    for (Op& inner : net.ops) MoveToDevice(inner, device);
    return std::make_shared<const Net>(std::move(net));
  };
  std::vector<Arg> args = op.args.Copy();
  for (Arg& arg : args) {
    if (!holds_net(arg)) continue;
    auto data = std::make_shared<ArgData>(*arg.Load());
    data->n = moved(data->n);
    for (NetPtr& nested : data->nets) nested = moved(nested);
    arg.data = std::move(data);
    arg.encoded = nullptr;
  }
  op.args = ArgList(std::move(args));
}

// FNV-1a over everything that Caffe2 would print of an op, each field behind its length.
class OpHash {
 public:
  explicit OpHash(uint32_t seed) { Number(seed); }

  uint32_t Of(const SymbolTable& table, const Op& op) {
    AddOp(table, op);
    return static_cast<uint32_t>(hash_ % UINT32_MAX);
  }

 private:
  void AddOp(const SymbolTable& table, const Op& op) {
    for (Symbol text : {op.type, op.name, op.engine}) Text(table.Str(text));
    Names(table, op.inputs);
    Names(table, op.outputs);
    Names(table, op.control_inputs);
    Text(DeviceToString(op.device));
    Number(op.args.size());
    for (const Arg& arg : op.args) AddArg(table, arg);
  }
  void AddArg(const SymbolTable& table, const Arg& arg) {
    Text(table.Str(arg.name));
    Number(arg.has);
    Number(static_cast<uint64_t>(arg.i));
    Float(arg.f);
    const ArgDataPtr data = arg.Load();
    Text(data->s);
    Number(data->floats.size());
    for (float value : data->floats) Float(value);
    Number(data->ints.size());
    for (int64_t value : data->ints) Number(static_cast<uint64_t>(value));
    Number(data->strings.size());
    for (const std::string& text : data->strings) Text(text);
    Text(data->t.view());
    if (data->n) AddNet(*data->n);
    for (const NetPtr& nested : data->nets) AddNet(*nested);
  }
  void AddNet(const Net& net) {
    Number(net.ops.size());
    for (const Op& op : net.ops) AddOp(*net.symbols, op);
  }
  void Names(const SymbolTable& table, std::span<const Symbol> names) {
    Number(names.size());
    for (Symbol name : names) Text(table.Str(name));
  }
  void Text(std::string_view text) {
    Number(text.size());
    for (char c : text) Byte(static_cast<uint8_t>(c));
  }
  void Float(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    Number(bits);
  }
  void Number(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) Byte(static_cast<uint8_t>(value >> shift));
  }
  void Byte(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ull; }

  uint64_t hash_ = 0xcbf29ce484222325ull;
};

// The op that overwrites `value`; the number of ops when none does.
OpId OverwrittenAt(const Ssa& ssa, ValueId value) {
  const Value& v = ssa.values()[value];
  for (ValueId later = ssa.latest(v.blob); later != value; later = ssa.values()[later].previous)
    if (ssa.values()[later].previous == value) return ssa.values()[later].def;
  return static_cast<OpId>(ssa.num_ops());
}

}  // namespace

Net AppendNet(Net net, const Net& other, const AppendNetOptions& options) {
  const Net added = Rehome(other, net.symbols);
  enum : uint8_t { kInput = 1, kMade = 2, kOutput = 4 };
  SymbolMap<uint8_t> known(*net.symbols, net.ops.size() + net.external_inputs.size(), 0);
  for (Symbol blob : net.external_inputs) known[blob] |= kInput;
  for (Symbol blob : net.external_outputs) known[blob] |= kOutput;
  for (const Op& op : net.ops)
    for (Symbol blob : op.outputs) known[blob] |= kMade;

  for (Symbol blob : added.external_inputs) {
    if (known.Get(blob) & (kInput | kMade)) continue;
    known[blob] |= kInput;
    net.external_inputs.push_back(blob);
  }
  for (Symbol blob : added.external_outputs) {
    if (known.Get(blob) & kOutput) continue;
    known[blob] |= kOutput;
    net.external_outputs.push_back(blob);
  }
  net.ops.reserve(net.ops.size() + added.ops.size());
  for (const Op& op : added.ops) {
    Op& copy = net.ops.emplace_back(op);
    if (options.device) MoveToDevice(copy, options.device);
  }
  return net;
}

Result<Net> InsertOp(Net net, const Op& op, OpId at) {
  if (at < 0 || static_cast<size_t>(at) > net.ops.size())
    return Error{
        ErrorCode::kInvalidArgument,
        StrCat("InsertOp: place ", at, " in net ", net.Str(net.name), ", which has ", net.ops.size(), " ops"),
        at};
  net.ops.insert(net.ops.begin() + at, op);
  const Ssa ssa(net, {.nested = NestedNets::kReads});
  SymbolMap<uint8_t> listed(*net.symbols, op.inputs.size() + op.outputs.size(), 0);
  for (ValueId value : ssa.inputs(at)) {
    const Value& v = ssa.values()[value];
    const Symbol name = ssa.blobs()[v.blob];
    if (v.def != kNoOp || ssa.declared_input(v.blob) || listed.Get(name)) continue;
    listed[name] = 1;
    net.external_inputs.push_back(name);
  }
  for (Symbol name : net.external_outputs) listed[name] = 2;
  for (ValueId value : ssa.outputs(at)) {
    const Symbol name = ssa.blobs()[ssa.values()[value].blob];
    if (listed.Get(name) == 2 || !ssa.uses(value).empty()) continue;
    listed[name] = 2;
    net.external_outputs.push_back(name);
  }
  return net;
}

Result<Rerouted> RerouteBlob(Net net, const RerouteOptions& options) {
  const Symbol blob = options.blob;
  const Op& producer = options.producer;
  const std::string text(net.Str(blob));
  const auto error = [&](ErrorCode code, std::string message, int64_t op = -1) {
    return Error{code, StrCat("cannot reroute ", text, ": ", message), op, text};
  };
  if (producer.outputs.empty()) return error(ErrorCode::kInvalidArgument, "the new op writes nothing");
  if (std::find(producer.inputs.begin(), producer.inputs.end(), blob) == producer.inputs.end())
    return error(ErrorCode::kInvalidArgument,
                 StrCat("the new op ", net.Str(producer.type), " is not taking in ", text));

  const Ssa ssa(net, {.nested = NestedNets::kReads});
  const BlobId id = ssa.FindBlob(blob);
  if (id == kNoBlob)
    return error(ErrorCode::kNotFound, StrCat("it is not a blob of net ", net.Str(net.name)));
  ValueId value = ssa.latest(id);
  while (options.version && value != kNoValue && ssa.values()[value].version != *options.version)
    value = ssa.values()[value].previous;
  if (value == kNoValue)
    return error(ErrorCode::kNotFound, StrCat("there is no version ", *options.version, ", the latest is ",
                                              ssa.values()[ssa.latest(id)].version));
  const std::string value_name = ValueName(net, ssa, value);

  if (ssa.FindBlob(producer.outputs[0]) != kNoBlob)
    return error(ErrorCode::kNameConflict, StrCat("the new op's first output ", net.Str(producer.outputs[0]),
                                                  " is a blob of the net already"));

  // The place: behind the makers of everything that the new op reads.
  OpId place = ssa.values()[value].def + 1;
  for (Symbol input : producer.inputs) {
    const BlobId other = ssa.FindBlob(input);
    if (other != kNoBlob && other != id) place = std::max(place, ssa.values()[ssa.latest(other)].def + 1);
  }
  const OpId overwritten = OverwrittenAt(ssa, value);
  if (overwritten < place)
    return error(ErrorCode::kVersionConflict,
                 StrCat("the new op must come after op ", place - 1, " (", net.Str(net.ops[place - 1].type),
                        "), but op ", overwritten, " (", net.Str(net.ops[overwritten].type), ") overwrites ",
                        value_name, " before that"),
                 overwritten);

  std::vector<bool> chosen(ssa.num_ops(), !options.readers);
  if (options.readers) {
    for (OpId op : *options.readers) {
      if (op < 0 || static_cast<size_t>(op) >= chosen.size())
        return error(ErrorCode::kInvalidArgument, StrCat("there is no op ", op), op);
      chosen[op] = true;
    }
  }
  BlobMap map(*net.symbols, 1);
  map.Set(blob, producer.outputs[0]);
  const NestingTypes nesting(*net.symbols);
  Rerouted out{{}, place, 0};
  OpId done = kNoOp;
  for (OpId reader : ssa.uses(value)) {
    if (reader == done || !chosen[reader]) continue;
    done = reader;
    Op& op = net.ops[reader];
    if (reader < place)
      return error(ErrorCode::kVersionConflict,
                   StrCat("op ", reader, " (", net.Str(op.type), ") reads ", value_name, " before op ",
                          place - 1, " (", net.Str(net.ops[place - 1].type), ") makes what the new op needs"),
                   reader);
    const NestedUses nested = UsesOfNestedNets(net, op, nesting);
    if (std::find(nested.writes.begin(), nested.writes.end(), blob) != nested.writes.end())
      return error(ErrorCode::kControlFlow,
                   StrCat("op ", reader, " (", net.Str(op.type), ") writes it inside its nets"), reader);
    const BlobList outputs = op.outputs;
    WEFT_TRY_VOID(
        RenameInOp({.symbols = net.symbols, .map = map, .nesting = nesting, .suffix_nested = false}, op));
    op.outputs = outputs;
    ++out.changed;
  }

  const bool latest = value == ssa.latest(id);
  for (Symbol& name : net.external_outputs)
    if (latest && name == blob) name = producer.outputs[0];
  std::vector<Symbol> listed = net.external_outputs;
  WEFT_TRY(out.net, InsertOp(std::move(net), producer, place));
  out.net.external_outputs = std::move(listed);
  return out;
}

Result<Rerouted> InsertOnEdge(Net net, OpId reader, uint32_t input, const Op& op) {
  if (reader < 0 || static_cast<size_t>(reader) >= net.ops.size() || input >= net.ops[reader].inputs.size())
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("InsertOnEdge: there is no input ", input, " of an op ", reader, " in net ",
                        net.Str(net.name)),
                 reader};
  const Ssa ssa(net);
  const Value& value = ssa.values()[ssa.inputs(reader)[input]];
  const std::vector<Symbol> outputs = net.external_outputs;
  BlobList inputs = net.ops[reader].inputs;
  WEFT_TRY(Rerouted out, RerouteBlob(std::move(net), {.blob = ssa.blobs()[value.blob],
                                                      .version = value.version,
                                                      .producer = op,
                                                      .readers = std::vector<OpId>{reader}}));
  // Everybody else keeps the blob: readers outside, and the same op where it reads the blob twice.
  out.net.external_outputs = outputs;
  inputs[input] = op.outputs[0];
  out.net.ops[reader + 1].inputs = inputs;
  return out;
}

Result<Net> SetRandSeed(Net net, const RandSeedOptions& options) {
  if (options.sequence_seed && options.seed_on_op_def)
    return Error{ErrorCode::kInvalidArgument, "sequence_seed and seed_on_op_def cannot be both set to True."};
  uint32_t next = options.seed;
  for (Op& op : net.ops) {
    DeviceOption device = op.device ? *op.device : DeviceOption();
    if (options.sequence_seed) {
      device.random_seed = next++;
    } else if (options.seed_on_op_def) {
      device.random_seed = OpHash(options.seed).Of(*net.symbols, op);
    } else {
      device.random_seed = options.seed;
    }
    op.device = std::make_shared<const DeviceOption>(std::move(device));
  }
  return net;
}

Net ExposeNestedInputs(Net net) {
  const NestingTypes nesting(*net.symbols);
  if (!nesting.any()) return net;
  for (Op& op : net.ops) {
    for (Symbol blob : UsesOfNestedNets(net, op, nesting).reads)
      if (std::find(op.inputs.begin(), op.inputs.end(), blob) == op.inputs.end()) op.inputs.push_back(blob);
  }
  return net;
}

}  // namespace weft
