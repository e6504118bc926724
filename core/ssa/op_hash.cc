// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/op_hash.h"

#include <cstring>

#include "core/base/hash.h"

namespace weft {

namespace {

uint64_t HashFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

uint64_t HashName(const SymbolTable& table, Symbol name, const OuterBlobs* outer) {
  const uint64_t known = outer ? outer->identity.Get(name) : 0;
  return known ? known : HashBytes(table.Str(name));
}

uint64_t HashText(const SymbolTable& table, const std::string& text, const OuterBlobs* outer) {
  if (outer && outer->nesting == Nesting::kRecurrent)
    if (const Symbol symbol = table.Find(text)) return HashName(table, symbol, outer);
  return HashBytes(text);
}

// A net inside an operator: its operators in any order, each by the values that it reads, and what the outer
// operator's outputs are at the end.
uint64_t HashNestedNet(const Net& net, const OuterBlobs* outer, std::span<const Symbol> outputs) {
  const SymbolTable& table = *net.symbols;
  const bool sees_outer = outer && outer->nesting != Nesting::kPrivate;
  SymbolMap<uint64_t> local(table, net.ops.size() * 2, 0);
  const auto value = [&](Symbol name) {
    if (const uint64_t made = local.Get(name)) return made;
    return HashName(table, name, sees_outer ? outer : nullptr);
  };
  const NestingTypes nesting(table);
  uint64_t total = 0;
  for (const Op& op : net.ops) {
    uint64_t hash = HashMix(HashBytes(table.Str(op.type)), HashDevice(op.device, net.device));
    hash = HashMix(hash, HashBytes(table.Str(op.engine)));
    for (Symbol name : op.inputs) hash = HashMix(hash, value(name));
    const Nesting inner = nesting.Of(op.type);
    if (inner == Nesting::kNone) {
      hash = HashMix(hash, HashArgs(table, op.args, nullptr, {}));
    } else {
      OuterBlobs seen{SymbolMap<uint64_t>(table, 16, 0), inner};
      const NestedUses uses = UsesOfNestedNets(net, op, nesting);
      for (Symbol name : op.inputs) seen.identity[name] = value(name);
      for (Symbol name : uses.reads) seen.identity[name] = value(name);
      seen.AddOutputs(op.outputs);
      hash = HashMix(hash, HashArgs(table, op.args, &seen, op.outputs));
    }
    for (uint32_t k = 0; k < op.outputs.size(); ++k) local[op.outputs[k]] = HashMix(hash, k + 1);
    total += hash;
  }
  if (sees_outer)
    for (Symbol name : outputs) total = HashMix(total, value(name));
  return total;
}

}  // namespace

void OuterBlobs::AddOutputs(std::span<const Symbol> outputs) {
  for (size_t k = 0; k < outputs.size(); ++k)
    if (!identity.Get(outputs[k])) identity[outputs[k]] = HashMix(k, 0x0d);
}

uint64_t HashArg(const SymbolTable& table, const Arg& arg, const OuterBlobs* outer,
                 std::span<const Symbol> outputs) {
  uint64_t hash = HashMix(HashBytes(table.Str(arg.name)), arg.has);
  if (arg.has & Arg::kHasF) hash = HashMix(hash, HashFloat(arg.f));
  if (arg.has & Arg::kHasI) hash = HashMix(hash, static_cast<uint64_t>(arg.i));
  if ((arg.has & ~(Arg::kHasF | Arg::kHasI)) == 0) return hash;
  const ArgDataPtr data = arg.Load();
  hash = HashMix(hash, HashText(table, data->s, outer));
  for (float value : data->floats) hash = HashMix(hash, HashFloat(value));
  for (int64_t value : data->ints) hash = HashMix(hash, static_cast<uint64_t>(value));
  for (const std::string& text : data->strings) hash = HashMix(hash, HashText(table, text, outer));
  if (data->n) hash = HashMix(hash, HashNestedNet(*data->n, outer, outputs));
  for (const NetPtr& net : data->nets) hash = HashMix(hash, HashNestedNet(*net, outer, outputs));
  hash = HashMix(hash, HashBytes(data->t.view()));
  for (const Bytes& tensor : data->tensors) hash = HashMix(hash, HashBytes(tensor.view()));
  for (const Bytes& tensor : data->qtensors) hash = HashMix(hash, HashBytes(tensor.view()));
  return HashMix(hash, HashBytes(data->unknown));
}

uint64_t HashArgs(const SymbolTable& table, const ArgList& args, const OuterBlobs* outer,
                  std::span<const Symbol> outputs) {
  uint64_t total = args.size();
  for (const Arg& arg : args) total += HashArg(table, arg, outer, outputs);
  return total;
}

uint64_t HashDevice(const DevicePtr& device, const DevicePtr& fallback) {
  const DeviceOption* at = device ? device.get() : fallback.get();
  static const DeviceOption kCpuDevice;
  if (!at) at = &kCpuDevice;
  uint64_t hash = HashMix(static_cast<uint64_t>(at->type()), static_cast<uint64_t>(at->id()));
  hash = HashMix(hash, at->random_seed ? *at->random_seed + 1ull : 0);
  hash = HashMix(hash, HashBytes(at->node_name.value_or("")));
  hash = HashMix(hash, at->numa_node_id ? static_cast<uint64_t>(*at->numa_node_id) + 2 : 0);
  for (const std::string& tag : at->extra_info) hash = HashMix(hash, HashBytes(tag));
  return hash;
}

}  // namespace weft
