// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The IR -> encoded bytes. Each message's fields are listed once, in Emit; a first pass adds up sizes and a
// second writes into one buffer of just that size.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/check.h"
#include "proto/codec.h"
#include "proto/fields.h"
#include "proto/wire.h"

namespace weft {

namespace {

// Adds up sizes; remembers those of messages, in the order in which they begin.
class Sizer {
 public:
  void Varint(uint32_t number, uint64_t value) {
    total_ += VarintSize(Tag(number, WireType::kVarint)) + VarintSize(value);
  }
  void Fixed32(uint32_t number, uint32_t) { total_ += VarintSize(Tag(number, WireType::kFixed32)) + 4; }
  void Bytes(uint32_t number, std::string_view bytes) {
    total_ += VarintSize(Tag(number, WireType::kLength)) + VarintSize(bytes.size()) + bytes.size();
  }
  void Raw(std::string_view fields) { total_ += fields.size(); }
  template <typename Body>
  void Message(uint32_t number, Body body) {
    const size_t index = sizes_.size();
    sizes_.push_back(0);
    const size_t before = total_;
    body(*this);
    const size_t size = total_ - before;
    sizes_[index] = size;
    total_ += VarintSize(Tag(number, WireType::kLength)) + VarintSize(size);
  }

  size_t total() const { return total_; }
  std::vector<size_t> TakeSizes() { return std::move(sizes_); }

 private:
  size_t total_ = 0;
  std::vector<size_t> sizes_;
};

class Writer {
 public:
  Writer(char* p, std::vector<size_t> sizes) : p_(p), sizes_(std::move(sizes)) {}

  void Varint(uint32_t number, uint64_t value) {
    p_ = PutVarint(p_, Tag(number, WireType::kVarint));
    p_ = PutVarint(p_, value);
  }
  void Fixed32(uint32_t number, uint32_t value) {
    p_ = PutVarint(p_, Tag(number, WireType::kFixed32));
    p_ = PutFixed32(p_, value);
  }
  void Bytes(uint32_t number, std::string_view bytes) {
    p_ = PutVarint(p_, Tag(number, WireType::kLength));
    p_ = PutVarint(p_, bytes.size());
    Raw(bytes);
  }
  void Raw(std::string_view fields) {
    if (!fields.empty()) std::memcpy(p_, fields.data(), fields.size());
    p_ += fields.size();
  }
  template <typename Body>
  void Message(uint32_t number, Body body) {
    p_ = PutVarint(p_, Tag(number, WireType::kLength));
    p_ = PutVarint(p_, sizes_[next_++]);
    body(*this);
  }
  const char* position() const { return p_; }

 private:
  char* p_;
  std::vector<size_t> sizes_;
  size_t next_ = 0;
};

template <typename... Message>
std::string Serialize(const SymbolTable& symbols, const Message&... message);

template <typename Out>
class Emitter {
 public:
  Emitter(Out& out, const SymbolTable& symbols) : out_(out), symbols_(symbols) {}

  void Emit(const Net& net, std::span<const Op> more = {}) {
    Name(net_field::kName, net.name);
    for (const std::span<const Op> ops : {std::span<const Op>(net.ops), more})
      for (const Op& op : ops) out_.Message(net_field::kOp, [&](Out&) { Emit(op); });
    Name(net_field::kType, net.type);
    Int(net_field::kNumWorkers, net.num_workers);
    Device(net_field::kDeviceOption, net.device);
    Args(net_field::kArg, net.args);
    for (const Symbol s : net.external_inputs) out_.Bytes(net_field::kExternalInput, symbols_.Str(s));
    for (const Symbol s : net.external_outputs) out_.Bytes(net_field::kExternalOutput, symbols_.Str(s));
    for (const weft::Bytes& info : net.partition_info) out_.Bytes(net_field::kPartitionInfo, info.view());
    out_.Raw(net.unknown);
  }

  void Emit(const Op& op) {
    for (const Symbol s : op.inputs) out_.Bytes(op_field::kInput, symbols_.Str(s));
    for (const Symbol s : op.outputs) out_.Bytes(op_field::kOutput, symbols_.Str(s));
    Name(op_field::kName, op.name);
    Name(op_field::kType, op.type);
    Args(op_field::kArg, op.args);
    Device(op_field::kDeviceOption, op.device);
    Name(op_field::kEngine, op.engine);
    for (const Symbol s : op.control_inputs) out_.Bytes(op_field::kControlInput, symbols_.Str(s));
    Int(op_field::kIsGradientOp, op.is_gradient_op);
    if (!op.rare) return;
    Name(op_field::kDebugInfo, op.rare->debug_info);
    Name(op_field::kDomain, op.rare->domain);
    Int(op_field::kOpVersion, op.rare->op_version);
    out_.Raw(op.rare->unknown);
  }

  void Emit(uint32_t number, const ArgList& args) {
    for (const Arg& arg : args) {
      const Bytes encoded = arg.encoded ? arg.encoded->Fetch() : Bytes();
      if (!encoded.empty() && EncodedName(encoded.view()) == symbols_.Str(arg.name)) {
        out_.Bytes(number, encoded.view());
      } else {
        out_.Message(number, [&](Out&) { Emit(arg); });
      }
    }
  }

  void Emit(const Plan& plan) {
    Name(plan_field::kName, plan.name);
    for (const Net& net : plan.networks) Nested(plan_field::kNetwork, net);
    for (const Step& step : plan.steps) out_.Message(plan_field::kExecutionStep, [&](Out&) { Emit(step); });
    out_.Raw(plan.unknown);
  }

 private:
  void Name(uint32_t number, Symbol symbol) {
    if (symbol) out_.Bytes(number, symbols_.Str(symbol));
  }
  template <typename T>
  void Int(uint32_t number, const std::optional<T>& value) {
    if (value) out_.Varint(number, static_cast<uint64_t>(static_cast<int64_t>(*value)));
  }
  // Lists are shared: one that comes again is kept encoded. Both passes see the same lists, so they keep the
  // same ones.
  void Args(uint32_t number, const ArgList& args) {
    if (args.empty()) return;
    Known& known = known_[reinterpret_cast<uintptr_t>(args.begin()) / sizeof(Arg) % kMostKnown];
    if (known.number == number && known.list.SameAs(args)) {
      if (known.encoded.empty()) known.encoded = Serialize(symbols_, number, args);
      return out_.Raw(known.encoded);
    }
    if (std::all_of(args.begin(), args.end(), IsSmall)) known = {number, args, {}};
    Emit(number, args);
  }
  static bool IsSmall(const Arg& arg) {
    return !arg.encoded &&
           !(arg.has & (Arg::kHasN | Arg::kHasNets | Arg::kHasT | Arg::kHasTensors | Arg::kHasQTensors));
  }
  void Device(uint32_t number, const DevicePtr& device) {
    if (device) out_.Message(number, [&](Out&) { Emit(*device); });
  }
  // A net with a table of its own is written with that table.
  void Nested(uint32_t number, const Net& net) {
    out_.Message(number, [&](Out&) { Emitter(out_, *net.symbols).Emit(net); });
  }

  // The name that an argument left in its file has there; an argument that was renamed since is written anew.
  static std::string_view EncodedName(std::string_view wire) {
    WireCursor cursor(wire);
    WireField f;
    return cursor.Next(f) && f.tag == Tag(arg_field::kName, WireType::kLength) ? f.bytes : std::string_view();
  }

  void Emit(const Arg& arg) {
    Name(arg_field::kName, arg.name);
    if (arg.has & Arg::kHasF) out_.Fixed32(arg_field::kF, BitsOf(arg.f));
    if (arg.has & Arg::kHasI) out_.Varint(arg_field::kI, static_cast<uint64_t>(arg.i));
    if (!arg.data && !arg.encoded) return;
    const ArgDataPtr data = arg.Load();
    if (arg.has & Arg::kHasS) out_.Bytes(arg_field::kS, data->s);
    for (const float f : data->floats) out_.Fixed32(arg_field::kFloats, BitsOf(f));
    for (const int64_t i : data->ints) out_.Varint(arg_field::kInts, static_cast<uint64_t>(i));
    for (const std::string& s : data->strings) out_.Bytes(arg_field::kStrings, s);
    if (data->n) Nested(arg_field::kN, *data->n);
    for (const NetPtr& net : data->nets) Nested(arg_field::kNets, *net);
    if (arg.has & Arg::kHasT) out_.Bytes(arg_field::kT, data->t.view());
    for (const weft::Bytes& t : data->tensors) out_.Bytes(arg_field::kTensors, t.view());
    for (const weft::Bytes& q : data->qtensors) out_.Bytes(arg_field::kQTensors, q.view());
    out_.Raw(data->unknown);
  }

  void Emit(const DeviceOption& device) {
    Int(device_field::kDeviceType, device.device_type);
    Int(device_field::kDeviceId, device.device_id);
    Int(device_field::kRandomSeed, device.random_seed);
    if (device.node_name) out_.Bytes(device_field::kNodeName, *device.node_name);
    Int(device_field::kNumaNodeId, device.numa_node_id);
    for (const std::string& info : device.extra_info) out_.Bytes(device_field::kExtraInfo, info);
    out_.Raw(device.unknown);
  }

  void Emit(const Step& step) {
    Name(step_field::kName, step.name);
    for (const Step& sub : step.substeps) out_.Message(step_field::kSubstep, [&](Out&) { Emit(sub); });
    for (const Symbol s : step.networks) out_.Bytes(step_field::kNetwork, symbols_.Str(s));
    Int(step_field::kNumIter, step.num_iter);
    Name(step_field::kCriteriaNetwork, step.criteria_network);
    Int(step_field::kConcurrentSubsteps, step.concurrent_substeps);
    Name(step_field::kReportNet, step.report_net);
    Int(step_field::kReportInterval, step.report_interval);
    Name(step_field::kShouldStopBlob, step.should_stop_blob);
    Int(step_field::kOnlyOnce, step.only_once);
    Int(step_field::kRunEveryMs, step.run_every_ms);
    Int(step_field::kCreateWorkspace, step.create_workspace);
    Int(step_field::kNumConcurrentInstances, step.num_concurrent_instances);
    out_.Raw(step.unknown);
  }

  struct Known {
    uint32_t number = 0;
    ArgList list;
    std::string encoded;  // empty until it came again
  };
  static constexpr size_t kMostKnown = 64;

  Out& out_;
  const SymbolTable& symbols_;
  Known known_[kMostKnown];
};

template <typename... Message>
std::string Serialize(const SymbolTable& symbols, const Message&... message) {
  Sizer sizer;
  Emitter<Sizer>(sizer, symbols).Emit(message...);
  std::string out(sizer.total(), '\0');
  Writer writer(out.data(), sizer.TakeSizes());
  Emitter<Writer>(writer, symbols).Emit(message...);
  WEFT_CHECK(writer.position() == out.data() + out.size());
  return out;
}

}  // namespace

std::string SerializeNet(const Net& net, std::span<const Op> more) {
  return Serialize(*net.symbols, net, more);
}
std::string SerializeOp(const SymbolTable& symbols, const Op& op) { return Serialize(symbols, op); }
std::string SerializePlan(const Plan& plan) { return Serialize(*plan.symbols, plan); }

}  // namespace weft
