// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/net.h"

#include <algorithm>

namespace weft {

namespace {

const ArgDataPtr& NoData() {
  static const ArgDataPtr none = std::make_shared<const ArgData>();
  return none;
}

// Moves symbols of one table into another, remembering each so that a name is hashed once.
class Rehomer {
 public:
  Rehomer(const SymbolTable& from, const SymbolTablePtr& to) : from_(from), to_(to), map_(from.size()) {}

  Symbol Move(Symbol symbol) {
    if (!symbol) return symbol;
    Symbol& moved = map_[symbol.id];
    if (!moved) moved = to_->Intern(from_.Str(symbol));
    return moved;
  }

  Net MoveNet(const Net& net) {
    Net out(to_);
    out.name = Move(net.name);
    out.type = Move(net.type);
    out.num_workers = net.num_workers;
    out.device = net.device;
    out.args = MoveArgs(net.args);
    out.partition_info = net.partition_info;
    out.unknown = net.unknown;
    for (Symbol s : net.external_inputs) out.external_inputs.push_back(Move(s));
    for (Symbol s : net.external_outputs) out.external_outputs.push_back(Move(s));
    out.ops.reserve(net.ops.size());
    for (const Op& op : net.ops) {
      Op& moved = out.ops.emplace_back(op);
      moved.type = Move(op.type);
      moved.name = Move(op.name);
      moved.engine = Move(op.engine);
      if (op.rare) {
        auto rare = std::make_shared<OpRest>(*op.rare);
        rare->debug_info = Move(rare->debug_info);
        rare->domain = Move(rare->domain);
        moved.rare = std::move(rare);
      }
      for (Symbol& s : moved.inputs) s = Move(s);
      for (Symbol& s : moved.outputs) s = Move(s);
      for (Symbol& s : moved.control_inputs) s = Move(s);
      moved.args = MoveArgs(op.args);
    }
    return out;
  }

 private:
  ArgList MoveArgs(const ArgList& args) {
    std::vector<Arg> moved = args.Copy();
    for (Arg& arg : moved) {
      arg.name = Move(arg.name);
      if (arg.encoded) {
        auto encoded = std::make_shared<Arg::Encoded>(*arg.encoded);
        encoded->symbols = to_;
        arg.encoded = std::move(encoded);
      } else if (arg.has & (Arg::kHasN | Arg::kHasNets)) {
        auto data = std::make_shared<ArgData>(*arg.data);
        if (data->n) data->n = std::make_shared<const Net>(MoveNet(*data->n));
        for (NetPtr& net : data->nets) net = std::make_shared<const Net>(MoveNet(*net));
        arg.data = std::move(data);
      }
    }
    return ArgList(std::move(moved));
  }

  const SymbolTable& from_;
  const SymbolTablePtr& to_;
  std::vector<Symbol> map_;
};

Arg NewArg(Symbol name, uint16_t has, ArgData data) {
  Arg arg;
  arg.name = name;
  arg.has = has;
  arg.data = std::make_shared<const ArgData>(std::move(data));
  return arg;
}

}  // namespace

ArgDataPtr Arg::Load() const {
  if (encoded) return encoded->decode(*encoded);
  return data ? data : NoData();
}

const OpRest& Op::rest() const {
  static const OpRest none;
  return rare ? *rare : none;
}

ArgList::ArgList(std::vector<Arg> args) {
  if (!args.empty()) list_ = std::make_shared<const std::vector<Arg>>(std::move(args));
}

Net WithoutOps(const Net& net) {
  Net out(net.symbols);
  out.name = net.name;
  out.type = net.type;
  out.external_inputs = net.external_inputs;
  out.external_outputs = net.external_outputs;
  out.num_workers = net.num_workers;
  out.device = net.device;
  out.args = net.args;
  out.partition_info = net.partition_info;
  out.unknown = net.unknown;
  return out;
}

Net Rehome(const Net& net, const SymbolTablePtr& table) {
  if (net.symbols == table) return net;
  return Rehomer(*net.symbols, table).MoveNet(net);
}

const Arg* FindArg(const SymbolTable& table, const ArgList& args, std::string_view name) {
  for (const Arg& arg : args)
    if (table.Str(arg.name) == name) return &arg;
  return nullptr;
}

NetPtr FindNetArg(const Net& net, const Op& op, std::string_view name) {
  const Arg* arg = FindArg(*net.symbols, op.args, name);
  return arg ? arg->Load()->n : nullptr;
}

int64_t ArgInt(const SymbolTable& table, const ArgList& args, std::string_view name, int64_t otherwise) {
  const Arg* arg = FindArg(table, args, name);
  return arg && (arg->has & Arg::kHasI) ? arg->i : otherwise;
}

float ArgFloat(const SymbolTable& table, const ArgList& args, std::string_view name, float otherwise) {
  const Arg* arg = FindArg(table, args, name);
  return arg && (arg->has & Arg::kHasF) ? arg->f : otherwise;
}

std::string ArgString(const SymbolTable& table, const ArgList& args, std::string_view name,
                      std::string_view otherwise) {
  const Arg* arg = FindArg(table, args, name);
  return arg && (arg->has & Arg::kHasS) ? arg->Load()->s : std::string(otherwise);
}

std::vector<int64_t> ArgInts(const SymbolTable& table, const ArgList& args, std::string_view name) {
  const Arg* arg = FindArg(table, args, name);
  return arg ? arg->Load()->ints : std::vector<int64_t>();
}

std::vector<float> ArgFloats(const SymbolTable& table, const ArgList& args, std::string_view name) {
  const Arg* arg = FindArg(table, args, name);
  return arg ? arg->Load()->floats : std::vector<float>();
}

std::vector<std::string> ArgStrings(const SymbolTable& table, const ArgList& args, std::string_view name) {
  const Arg* arg = FindArg(table, args, name);
  return arg ? arg->Load()->strings : std::vector<std::string>();
}

Arg MakeArg(Symbol name, int64_t value) {
  Arg arg;
  arg.name = name;
  arg.has = Arg::kHasI;
  arg.i = value;
  return arg;
}

Arg MakeArg(Symbol name, float value) {
  Arg arg;
  arg.name = name;
  arg.has = Arg::kHasF;
  arg.f = value;
  return arg;
}

Arg MakeArg(Symbol name, std::string value) {
  ArgData data;
  data.s = std::move(value);
  return NewArg(name, Arg::kHasS, std::move(data));
}

Arg MakeArg(Symbol name, std::vector<int64_t> values) {
  ArgData data;
  const uint16_t has = values.empty() ? 0 : Arg::kHasInts;
  data.ints = std::move(values);
  return NewArg(name, has, std::move(data));
}

Arg MakeArg(Symbol name, std::vector<float> values) {
  ArgData data;
  const uint16_t has = values.empty() ? 0 : Arg::kHasFloats;
  data.floats = std::move(values);
  return NewArg(name, has, std::move(data));
}

Arg MakeArg(Symbol name, std::vector<std::string> values) {
  ArgData data;
  const uint16_t has = values.empty() ? 0 : Arg::kHasStrings;
  data.strings = std::move(values);
  return NewArg(name, has, std::move(data));
}

Arg MakeArg(Symbol name, NetPtr net) {
  ArgData data;
  data.n = std::move(net);
  return NewArg(name, Arg::kHasN, std::move(data));
}

ArgList WithArg(const ArgList& args, Arg arg) {
  std::vector<Arg> list = args.Copy();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Arg& a) { return a.name == arg.name; });
  if (found != list.end()) {
    *found = std::move(arg);
  } else {
    list.push_back(std::move(arg));
  }
  return ArgList(std::move(list));
}

ArgList WithoutArg(const ArgList& args, Symbol name) {
  std::vector<Arg> list = args.Copy();
  std::erase_if(list, [&](const Arg& a) { return a.name == name; });
  return ArgList(std::move(list));
}

namespace {

bool SameSymbols(const SymbolTable& ta, std::span<const Symbol> a, const SymbolTable& tb,
                 std::span<const Symbol> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (ta.Str(a[i]) != tb.Str(b[i])) return false;
  return true;
}

bool SameDeviceOption(const DevicePtr& a, const DevicePtr& b) { return a == b || (a && b && *a == *b); }

bool SameRest(const SymbolTable& ta, const OpRest& a, const SymbolTable& tb, const OpRest& b) {
  return ta.Str(a.debug_info) == tb.Str(b.debug_info) && ta.Str(a.domain) == tb.Str(b.domain) &&
         a.op_version == b.op_version;
}

bool SameNetPtr(const NetPtr& a, const NetPtr& b) { return a == b || (a && b && SameNet(*a, *b)); }

}  // namespace

bool SameArg(const SymbolTable& table_a, const Arg& a, const SymbolTable& table_b, const Arg& b) {
  if (table_a.Str(a.name) != table_b.Str(b.name) || a.has != b.has) return false;
  if ((a.has & Arg::kHasF) && !(a.f == b.f || (a.f != a.f && b.f != b.f))) return false;
  if ((a.has & Arg::kHasI) && a.i != b.i) return false;
  if (a.data == b.data && a.encoded == b.encoded) return true;
  const ArgDataPtr x = a.Load();
  const ArgDataPtr y = b.Load();
  if (x->s != y->s || x->floats != y->floats || x->ints != y->ints || x->strings != y->strings ||
      !(x->t == y->t) || x->tensors != y->tensors || x->qtensors != y->qtensors || x->unknown != y->unknown ||
      x->nets.size() != y->nets.size() || !SameNetPtr(x->n, y->n)) {
    return false;
  }
  for (size_t i = 0; i < x->nets.size(); ++i)
    if (!SameNetPtr(x->nets[i], y->nets[i])) return false;
  return true;
}

bool SameArgs(const SymbolTable& table_a, const ArgList& a, const SymbolTable& table_b, const ArgList& b) {
  if (a.SameAs(b) && &table_a == &table_b) return true;
  if (a.size() != b.size()) return false;
  std::vector<bool> taken(b.size(), false);
  for (size_t i = 0; i < a.size(); ++i) {
    bool found = false;
    for (size_t k = 0; k < b.size() && !found; ++k) {
      const size_t j = (i + k) % b.size();  // the same place first: lists are usually in the same order
      if (!taken[j] && SameArg(table_a, a[i], table_b, b[j])) found = taken[j] = true;
    }
    if (!found) return false;
  }
  return true;
}

bool SameOp(const SymbolTable& table_a, const Op& a, const SymbolTable& table_b, const Op& b) {
  return SameDeviceOption(a.device, b.device) && table_a.Str(a.type) == table_b.Str(b.type) &&
         table_a.Str(a.name) == table_b.Str(b.name) && table_a.Str(a.engine) == table_b.Str(b.engine) &&
         a.is_gradient_op.value_or(false) == b.is_gradient_op.value_or(false) &&
         SameRest(table_a, a.rest(), table_b, b.rest()) &&
         SameSymbols(table_a, a.inputs, table_b, b.inputs) &&
         SameSymbols(table_a, a.outputs, table_b, b.outputs) &&
         SameSymbols(table_a, a.control_inputs, table_b, b.control_inputs) &&
         SameArgs(table_a, a.args, table_b, b.args);
}

bool SameNet(const Net& a, const Net& b) {
  const SymbolTable& ta = *a.symbols;
  const SymbolTable& tb = *b.symbols;
  if (ta.Str(a.name) != tb.Str(b.name) || ta.Str(a.type) != tb.Str(b.type) ||
      a.num_workers != b.num_workers || !SameDeviceOption(a.device, b.device) || a.unknown != b.unknown ||
      a.ops.size() != b.ops.size() || !SameArgs(ta, a.args, tb, b.args) ||
      !SameSymbols(ta, a.external_inputs, tb, b.external_inputs) ||
      !SameSymbols(ta, a.external_outputs, tb, b.external_outputs)) {
    return false;
  }
  for (size_t i = 0; i < a.ops.size(); ++i)
    if (!SameOp(ta, a.ops[i], tb, b.ops[i])) return false;
  return true;
}

}  // namespace weft
