// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/read.h"

#include <optional>

#include "core/base/hash.h"
#include "core/base/str.h"
#include "proto/codec.h"
#include "proto/fields.h"
#include "proto/validate.h"

namespace weft::internal {

namespace {

using enum WireType;

constexpr size_t kAhead = 16;  // operators, and names, whose hashes are worked out ahead

float AsFloat(const WireField& f) { return FloatFromBits(static_cast<uint32_t>(f.value)); }
bool AsBool(const WireField& f) { return f.value != 0; }
int32_t AsInt32(const WireField& f) { return static_cast<int32_t>(f.value); }
int64_t AsInt64(const WireField& f) { return static_cast<int64_t>(f.value); }

// Which fields the argument has, without decoding it; f and i are read.
Arg ScanArg(std::string_view wire, std::optional<std::string_view>& name) {
  Arg arg;
  WireCursor cursor(wire);
  WireField f;
  while (cursor.Next(f)) {
    switch (f.tag) {
      case Tag(arg_field::kName, kLength):
        name = f.bytes;
        break;
      case Tag(arg_field::kF, kFixed32):
        arg.has |= Arg::kHasF;
        arg.f = AsFloat(f);
        break;
      case Tag(arg_field::kI, kVarint):
        arg.has |= Arg::kHasI;
        arg.i = AsInt64(f);
        break;
      case Tag(arg_field::kS, kLength):
        arg.has |= Arg::kHasS;
        break;
      case Tag(arg_field::kFloats, kFixed32):
        arg.has |= Arg::kHasFloats;
        break;
      case Tag(arg_field::kFloats, kLength):
        if (!f.bytes.empty()) arg.has |= Arg::kHasFloats;
        break;
      case Tag(arg_field::kInts, kVarint):
        arg.has |= Arg::kHasInts;
        break;
      case Tag(arg_field::kInts, kLength):
        if (!f.bytes.empty()) arg.has |= Arg::kHasInts;
        break;
      case Tag(arg_field::kStrings, kLength):
        arg.has |= Arg::kHasStrings;
        break;
      case Tag(arg_field::kN, kLength):
        arg.has |= Arg::kHasN;
        break;
      case Tag(arg_field::kNets, kLength):
        arg.has |= Arg::kHasNets;
        break;
      case Tag(arg_field::kT, kLength):
        arg.has |= Arg::kHasT;
        break;
      case Tag(arg_field::kTensors, kLength):
        arg.has |= Arg::kHasTensors;
        break;
      case Tag(arg_field::kQTensors, kLength):
        arg.has |= Arg::kHasQTensors;
        break;
      default:
        arg.has |= Arg::kHasUnknown;
    }
  }
  return arg;
}

// Arg::Encoded::decode.
ArgDataPtr DecodeArg(const Arg::Encoded& encoded) {
  const Bytes bytes = encoded.Fetch();
  return std::make_shared<const ArgData>(Reader(bytes.owner(), encoded.symbols).ReadArgData(bytes.view()));
}

void ReadPacked(std::string_view wire, std::vector<float>& out) {
  out.reserve(out.size() + wire.size() / 4);
  for (size_t i = 0; i + 4 <= wire.size(); i += 4) out.push_back(FloatFromBits(ReadFixed32(wire.data() + i)));
}

void ReadPacked(std::string_view wire, std::vector<int64_t>& out) {
  const char* p = wire.data();
  const char* const end = p + wire.size();
  uint64_t value;
  while (p != nullptr && p < end) {
    p = ReadVarint(p, end, value);
    if (p != nullptr) out.push_back(static_cast<int64_t>(value));
  }
}

constexpr uint16_t kHasBeyondNumbers = static_cast<uint16_t>(~(Arg::kHasF | Arg::kHasI));

}  // namespace

Reader::Reader(std::shared_ptr<const void> owner, SymbolTablePtr symbols)
    : owner_(std::move(owner)), symbols_(std::move(symbols)) {}

template <typename T>
T& Reader::SeenTable<T>::operator[](std::string_view wire) {
  if (entries_.size() * 2 >= slots_.size()) {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, 0);
    for (size_t e = 0; e < entries_.size(); ++e) {
      size_t i = entries_[e].hash & (slots_.size() - 1);
      while (slots_[i] != 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = static_cast<uint32_t>(e + 1);
    }
  }
  const auto hash = static_cast<uint32_t>(HashBytes(wire));
  size_t i = hash & (slots_.size() - 1);
  for (; slots_[i] != 0; i = (i + 1) & (slots_.size() - 1)) {
    Seen<T>& entry = entries_[slots_[i] - 1];
    if (entry.hash == hash && std::string_view(entry.data, entry.size) == wire) return entry.value;
  }
  entries_.push_back({wire.data(), static_cast<uint32_t>(wire.size()), hash, T()});
  slots_[i] = static_cast<uint32_t>(entries_.size());
  return entries_.back().value;
}

Arg LeaveInFile(const Arg& arg, uint16_t has, std::shared_ptr<const FileSource> file, uint64_t offset,
                uint64_t size, SymbolTablePtr symbols) {
  Arg left = arg;
  left.has = has;
  left.data = nullptr;
  left.encoded = std::make_shared<const Arg::Encoded>(
      Arg::Encoded{Bytes(), DecodeArg, std::move(symbols), std::move(file), offset, size});
  return left;
}

void Merged::Add(std::string_view wire) {
  if (!seen_) {
    first_ = wire;
  } else {
    if (!joined_) joined_ = std::make_shared<std::string>(first_);
    joined_->append(wire);
  }
  seen_ = true;
}

Bytes Reader::Keep(std::string_view wire) const {
  return wire.size() > kLargeArg ? Bytes(owner_, wire) : Bytes(std::string(wire));
}

Net Reader::ReadNet(std::string_view wire) {
  Net net(symbols_);
  size_t ops = 0, inputs = 0, outputs = 0;
  WireField f;
  for (WireCursor cursor(wire); cursor.Next(f);) {
    ops += f.tag == Tag(net_field::kOp, kLength);
    inputs += f.tag == Tag(net_field::kExternalInput, kLength);
    outputs += f.tag == Tag(net_field::kExternalOutput, kLength);
  }
  net.ops.reserve(ops);
  net.external_inputs.reserve(inputs);
  net.external_outputs.reserve(outputs);
  symbols_->Reserve(2 * (inputs + ops));  // an operator makes a blob or two; gradients may come
  std::vector<std::string_view> args;
  Merged device;
  std::vector<std::string_view> waiting;  // operators whose names are to be prepared
  std::vector<uint32_t> hashes;
  std::vector<size_t> hashes_begin;
  std::vector<std::string_view> waiting_inputs;  // external ones
  std::vector<uint32_t> input_hashes;
  const auto intern_waiting = [&] {
    symbols_->Fetch(input_hashes);
    for (size_t i = 0; i < waiting_inputs.size(); ++i)
      net.external_inputs.push_back(symbols_->Intern(waiting_inputs[i], input_hashes[i]));
    waiting_inputs.clear();
    input_hashes.clear();
  };
  const auto read_waiting = [&] {
    for (std::string_view op : waiting) {
      hashes_begin.push_back(hashes.size());
      HashNames(op, hashes);
    }
    symbols_->Fetch(hashes);
    for (size_t i = 0; i < waiting.size(); ++i)
      ReadOp(waiting[i], net.ops.emplace_back(), hashes.data() + hashes_begin[i]);
    waiting.clear();
    hashes.clear();
    hashes_begin.clear();
  };
  for (WireCursor cursor(wire); cursor.Next(f);) {
    switch (f.tag) {
      case Tag(net_field::kName, kLength):
        net.name = Intern(f.bytes);
        break;
      case Tag(net_field::kOp, kLength):
        waiting.push_back(f.bytes);
        if (waiting.size() == kAhead) read_waiting();
        break;
      case Tag(net_field::kType, kLength):
        net.type = Intern(f.bytes);
        break;
      case Tag(net_field::kNumWorkers, kVarint):
        net.num_workers = AsInt32(f);
        break;
      case Tag(net_field::kDeviceOption, kLength):
        device.Add(f.bytes);
        break;
      case Tag(net_field::kArg, kLength):
        args.push_back(f.bytes);
        break;
      case Tag(net_field::kExternalInput, kLength):
        waiting_inputs.push_back(f.bytes);
        input_hashes.push_back(SymbolTable::Hash(f.bytes));
        if (waiting_inputs.size() == kAhead) intern_waiting();
        break;
      case Tag(net_field::kExternalOutput, kLength):
        net.external_outputs.push_back(Intern(f.bytes));
        break;
      case Tag(net_field::kPartitionInfo, kLength):
        net.partition_info.push_back(Keep(f.bytes));
        break;
      default:
        net.unknown.append(f.whole);
    }
  }
  read_waiting();
  intern_waiting();
  if (device) net.device = ReadDevice(device);
  net.args = ReadArgs(args);
  return net;
}

void Reader::HashNames(std::string_view op, std::vector<uint32_t>& hashes) const {
  WireField f;
  for (WireCursor cursor(op); cursor.Next(f);) {
    if (f.tag == Tag(op_field::kInput, kLength) || f.tag == Tag(op_field::kOutput, kLength))
      hashes.push_back(SymbolTable::Hash(f.bytes));
    else if (f.number() > op_field::kOutput)
      return;  // as protobuf writes it, blob names come first
  }
}

void Reader::ReadOp(std::string_view wire, Op& op, const uint32_t* hashes) {
  // A nested net's operators come here while an argument of this one is being read, so the list is taken.
  std::vector<std::string_view> args = std::move(arg_views_);
  args.clear();
  bool adjacent = true;
  const char* args_begin = nullptr;
  const char* args_end = nullptr;
  std::shared_ptr<OpRest> rare;
  const auto rest = [&]() -> OpRest& {
    if (!rare) rare = std::make_shared<OpRest>();
    return *rare;
  };
  Merged device;
  WireField f;
  for (WireCursor cursor(wire); cursor.Next(f);) {
    if (f.number() > op_field::kOutput) hashes = nullptr;  // HashNames stopped here
    switch (f.tag) {
      case Tag(op_field::kInput, kLength):
        op.inputs.push_back(hashes ? symbols_->Intern(f.bytes, *hashes++) : Intern(f.bytes));
        break;
      case Tag(op_field::kOutput, kLength):
        op.outputs.push_back(hashes ? symbols_->Intern(f.bytes, *hashes++) : Intern(f.bytes));
        break;
      case Tag(op_field::kName, kLength):
        op.name = Intern(f.bytes);
        break;
      case Tag(op_field::kType, kLength):
        op.type = Intern(f.bytes);
        break;
      case Tag(op_field::kArg, kLength):
        if (args.empty()) {
          args_begin = f.whole.data();
        } else if (f.whole.data() != args_end) {
          adjacent = false;
        }
        args_end = f.whole.data() + f.whole.size();
        args.push_back(f.bytes);
        break;
      case Tag(op_field::kDeviceOption, kLength):
        device.Add(f.bytes);
        break;
      case Tag(op_field::kEngine, kLength):
        op.engine = Intern(f.bytes);
        break;
      case Tag(op_field::kControlInput, kLength):
        op.control_inputs.push_back(Intern(f.bytes));
        break;
      case Tag(op_field::kIsGradientOp, kVarint):
        op.is_gradient_op = AsBool(f);
        break;
      case Tag(op_field::kDebugInfo, kLength):
        rest().debug_info = Intern(f.bytes);
        break;
      case Tag(op_field::kDomain, kLength):
        rest().domain = Intern(f.bytes);
        break;
      case Tag(op_field::kOpVersion, kVarint):
        rest().op_version = AsInt64(f);
        break;
      default:
        rest().unknown.append(f.whole);
    }
  }
  op.rare = std::move(rare);
  if (device) op.device = ReadDevice(device);
  if (!args.empty()) {
    op.args = adjacent ? ReadArgsShared({args_begin, static_cast<size_t>(args_end - args_begin)}, args)
                       : ReadArgs(args);
  }
  arg_views_ = std::move(args);
}

ArgList Reader::ReadArgsShared(std::string_view range, std::span<const std::string_view> args) {
  if (range.size() > kLargeArg) return ReadArgs(args);  // hardly ever twice
  ArgList list = args_seen_[range];
  if (list.empty()) {
    list = ReadArgs(args);  // may fill the table with what nested nets hold
    args_seen_[range] = list;
  }
  return list;
}

ArgList Reader::ReadArgs(std::span<const std::string_view> args) {
  std::vector<Arg> list;
  list.reserve(args.size());
  for (const std::string_view arg : args) list.push_back(ReadArg(arg));
  return ArgList(std::move(list));
}

Arg Reader::ReadArg(std::string_view wire) {
  std::optional<std::string_view> name;
  Arg arg = ScanArg(wire, name);
  if (name) arg.name = Intern(*name);
  if (wire.size() <= kLargeArg || (arg.has & (Arg::kHasN | Arg::kHasNets))) {
    if (arg.has & kHasBeyondNumbers) arg.data = std::make_shared<const ArgData>(ReadArgData(wire));
  } else {
    arg.encoded =
        std::make_shared<const Arg::Encoded>(Arg::Encoded{Bytes(owner_, wire), DecodeArg, symbols_});
  }
  return arg;
}

ArgData Reader::ReadArgData(std::string_view wire) {
  ArgData data;
  Merged net, tensor;
  WireField f;
  for (WireCursor cursor(wire); cursor.Next(f);) {
    switch (f.tag) {
      case Tag(arg_field::kName, kLength):
      case Tag(arg_field::kF, kFixed32):
      case Tag(arg_field::kI, kVarint):
        break;
      case Tag(arg_field::kS, kLength):
        data.s = f.bytes;
        break;
      case Tag(arg_field::kFloats, kFixed32):
        data.floats.push_back(AsFloat(f));
        break;
      case Tag(arg_field::kFloats, kLength):
        ReadPacked(f.bytes, data.floats);
        break;
      case Tag(arg_field::kInts, kVarint):
        data.ints.push_back(AsInt64(f));
        break;
      case Tag(arg_field::kInts, kLength):
        ReadPacked(f.bytes, data.ints);
        break;
      case Tag(arg_field::kStrings, kLength):
        data.strings.emplace_back(f.bytes);
        break;
      case Tag(arg_field::kN, kLength):
        net.Add(f.bytes);
        break;
      case Tag(arg_field::kNets, kLength):
        data.nets.push_back(std::make_shared<const Net>(ReadNet(f.bytes)));
        break;
      case Tag(arg_field::kT, kLength):
        tensor.Add(f.bytes);
        break;
      case Tag(arg_field::kTensors, kLength):
        data.tensors.push_back(Keep(f.bytes));
        break;
      case Tag(arg_field::kQTensors, kLength):
        data.qtensors.push_back(Keep(f.bytes));
        break;
      default:
        data.unknown.append(f.whole);
    }
  }
  if (net.joined()) {
    data.n = std::make_shared<const Net>(Reader(net.owner(), symbols_).ReadNet(net.wire()));
  } else if (net) {
    data.n = std::make_shared<const Net>(ReadNet(net.wire()));
  }
  if (tensor) data.t = tensor.joined() ? Bytes(std::string(tensor.wire())) : Keep(tensor.wire());
  return data;
}

DevicePtr Reader::ReadDevice(const Merged& merged) {
  DevicePtr made;
  DevicePtr& shared = merged.joined() ? made : devices_seen_[merged.wire()];
  if (shared) return shared;
  DeviceOption device;
  WireField f;
  for (WireCursor cursor(merged.wire()); cursor.Next(f);) {
    switch (f.tag) {
      case Tag(device_field::kDeviceType, kVarint):
        device.device_type = AsInt32(f);
        break;
      case Tag(device_field::kDeviceId, kVarint):
        device.device_id = AsInt32(f);
        break;
      case Tag(device_field::kRandomSeed, kVarint):
        device.random_seed = static_cast<uint32_t>(f.value);
        break;
      case Tag(device_field::kNodeName, kLength):
        device.node_name = std::string(f.bytes);
        break;
      case Tag(device_field::kNumaNodeId, kVarint):
        device.numa_node_id = AsInt32(f);
        break;
      case Tag(device_field::kExtraInfo, kLength):
        device.extra_info.emplace_back(f.bytes);
        break;
      default:
        device.unknown.append(f.whole);
    }
  }
  return shared = std::make_shared<const DeviceOption>(std::move(device));
}

void Reader::ReadStep(std::string_view wire, Step& step) {
  WireField f;
  for (WireCursor cursor(wire); cursor.Next(f);) {
    switch (f.tag) {
      case Tag(step_field::kName, kLength):
        step.name = Intern(f.bytes);
        break;
      case Tag(step_field::kSubstep, kLength):
        ReadStep(f.bytes, step.substeps.emplace_back());
        break;
      case Tag(step_field::kNetwork, kLength):
        step.networks.push_back(Intern(f.bytes));
        break;
      case Tag(step_field::kNumIter, kVarint):
        step.num_iter = AsInt64(f);
        break;
      case Tag(step_field::kCriteriaNetwork, kLength):
        step.criteria_network = Intern(f.bytes);
        break;
      case Tag(step_field::kConcurrentSubsteps, kVarint):
        step.concurrent_substeps = AsBool(f);
        break;
      case Tag(step_field::kReportNet, kLength):
        step.report_net = Intern(f.bytes);
        break;
      case Tag(step_field::kReportInterval, kVarint):
        step.report_interval = AsInt32(f);
        break;
      case Tag(step_field::kShouldStopBlob, kLength):
        step.should_stop_blob = Intern(f.bytes);
        break;
      case Tag(step_field::kOnlyOnce, kVarint):
        step.only_once = AsBool(f);
        break;
      case Tag(step_field::kRunEveryMs, kVarint):
        step.run_every_ms = AsInt64(f);
        break;
      case Tag(step_field::kCreateWorkspace, kVarint):
        step.create_workspace = AsBool(f);
        break;
      case Tag(step_field::kNumConcurrentInstances, kVarint):
        step.num_concurrent_instances = AsInt32(f);
        break;
      default:
        step.unknown.append(f.whole);
    }
  }
}

Plan Reader::ReadPlan(std::string_view wire) {
  Plan plan;
  plan.symbols = symbols_;
  WireField f;
  for (WireCursor cursor(wire); cursor.Next(f);) {
    switch (f.tag) {
      case Tag(plan_field::kName, kLength):
        plan.name = Intern(f.bytes);
        break;
      case Tag(plan_field::kNetwork, kLength):
        plan.networks.push_back(ReadNet(f.bytes));
        break;
      case Tag(plan_field::kExecutionStep, kLength):
        ReadStep(f.bytes, plan.steps.emplace_back());
        break;
      default:
        plan.unknown.append(f.whole);
    }
  }
  return plan;
}

}  // namespace weft::internal

namespace weft {

namespace {

SymbolTablePtr OrNew(SymbolTablePtr symbols) { return symbols ? symbols : std::make_shared<SymbolTable>(); }

}  // namespace

Result<Net> ParseNet(const Bytes& bytes, SymbolTablePtr symbols) {
  WEFT_TRY_VOID(Validate(MessageId::kNetDef, bytes.view()));
  return internal::Reader(bytes.owner(), OrNew(std::move(symbols))).ReadNet(bytes.view());
}

Result<Op> ParseOp(const Bytes& bytes, const SymbolTablePtr& symbols) {
  WEFT_TRY_VOID(Validate(MessageId::kOperatorDef, bytes.view()));
  Op op;
  internal::Reader(bytes.owner(), symbols).ReadOp(bytes.view(), op);
  return op;
}

Result<Plan> ParsePlan(const Bytes& bytes, SymbolTablePtr symbols) {
  WEFT_TRY_VOID(Validate(MessageId::kPlanDef, bytes.view()));
  return internal::Reader(bytes.owner(), OrNew(std::move(symbols))).ReadPlan(bytes.view());
}

}  // namespace weft
