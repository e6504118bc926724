// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/comm_cost.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "core/base/symbol_map.h"
#include "core/pass/collectives.h"
#include "core/pass/live_bytes.h"
#include "core/roles/columns.h"

namespace weft {

int64_t Exchange::SentByAll() const {
  if (ranks < 2) return 0;
  switch (kind) {
    case kAllReduce:
      return 2 * (ranks - 1) * bytes;
    case kReduce:
    case kBroadcast:
      return (ranks - 1) * bytes;
    case kAllGather:
      return (ranks - 1) * ranks * bytes;
    case kSend:
      break;
  }
  return bytes;
}

int64_t Exchange::Messages() const { return (kind == kAllReduce ? 2 : 1) * (ranks - 1); }

// Sent by each rank; who is last in a chain passes nothing on. All ranks together may send more than a number
// of bytes holds.
static int64_t SentByEach(const Exchange& of) {
  if (of.ranks < 2) return 0;
  switch (of.kind) {
    case Exchange::kAllReduce:
      return 2 * of.bytes - (2 * of.bytes + of.ranks - 1) / of.ranks;
    case Exchange::kAllGather:
      return (of.ranks - 1) * of.bytes;
    case Exchange::kSend:
      return of.bytes / of.ranks;
    case Exchange::kReduce:
    case Exchange::kBroadcast:
      break;
  }
  return of.bytes;
}

CommCost CommunicationOf(const Net& net, const ParallelOptions& options, const BytesOfBlob& bytes) {
  return CommunicationOf(net, options, [&](OpId op, size_t input) {
    return bytes(net.ops[static_cast<size_t>(op)].inputs[input]);
  });
}

CommCost CommunicationOf(const Net& net, const ParallelOptions& options, const BytesOfInput& bytes) {
  const internal::ReplicaScopes scopes(options);
  const int64_t shards = options.num_shards();
  CommCost cost;
  SymbolMap<int64_t> gathered(*net.symbols, 0,
                              -1);  // what machines gather has no shape: their number is not in it
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const std::string_view type = net.Str(op.type);
    CommOp moved{.op = static_cast<OpId>(i)};
    bool known = true;
    const auto size = [&](size_t input) {
      std::optional<int64_t> found = bytes(moved.op, input);
      if (const int64_t all = gathered.Get(op.inputs[input]); all >= 0) found = all;
      known = known && found.has_value();
      return found.value_or(0);
    };
    const auto outputs = static_cast<int64_t>(op.outputs.size());
    const auto inputs = static_cast<int64_t>(op.inputs.size());
    if (type == "NCCLAllreduce" && outputs > 1) {
      moved.local = {Exchange::kAllReduce, outputs, size(0)};
    } else if (type == "NCCLReduce" && inputs > 1) {
      moved.local = {Exchange::kReduce, inputs, size(0)};
    } else if (type == "NCCLBroadcast" && outputs > 1) {
      moved.local = {Exchange::kBroadcast, outputs, size(0)};
    } else if (type == "Allreduce" || type == "Broadcast") {
      // A machine's own devices are summed, and told the sum, around what machines exchange.
      const Exchange::Kind kind = type == "Allreduce" ? Exchange::kAllReduce : Exchange::kBroadcast;
      moved.local = {kind, outputs, size(1)};
      moved.network = {kind, shards, size(1)};
    } else if (type == "Reduce") {
      moved.network = {Exchange::kReduce, shards, size(1)};
    } else if (type == "Allgather") {
      moved.network = {Exchange::kAllGather, shards, size(1)};
      if (known) gathered[op.outputs[0]] = shards * moved.network.bytes;
    } else if (type.starts_with("Copy") || type == "Sum" || type == "Concat") {
      const int to = op.outputs.empty() ? -1 : scopes.ReplicaOf(net.Str(op.outputs[0]));
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        if (scopes.ReplicaOf(net.Str(op.inputs[k])) == to) continue;
        moved.local.bytes += size(k);
        ++moved.local.ranks;
      }
    }
    moved.local_bytes = moved.local.SentByAll();
    moved.local_messages = moved.local.Messages();
    moved.network_bytes = SentByEach(moved.network);
    moved.network_messages = moved.network.Messages();
    if (moved.local_messages + moved.network_messages == 0) continue;
    if (!known) {
      ++cost.unknown;
      cost.unknown_ops.push_back(moved.op);
      continue;
    }
    cost.local_bytes += moved.local_bytes;
    cost.network_bytes += moved.network_bytes;
    cost.local_messages += moved.local_messages;
    cost.network_messages += moved.network_messages;
    cost.ops.push_back(moved);
  }
  return cost;
}

BytesOfBlob DenseBytes(const Net& init, const Net& net, std::span<const ParamGradient> gradients) {
  const SymbolTable& table = *init.symbols;
  auto sizes = std::make_shared<SymbolMap<int64_t>>(table, 4 * gradients.size(), -1);
  for (const Op& op : init.ops) {
    if (!op.inputs.empty() || op.outputs.size() != 1 || !FindArg(table, op.args, "shape")) continue;
    int64_t elements = 1;
    for (int64_t extent : ArgInts(table, op.args, "shape")) elements *= extent;
    (*sizes)[op.outputs[0]] = 4 * elements;
  }
  for (const auto& [param, gradient] : gradients)
    if (gradient.is_dense()) (*sizes)[gradient.dense] = sizes->Get(param);
  // What collectives make for themselves: one input is copied or stands for the shape, several are put
  // together.
  const Symbol makers[] = {table.Find("ConstantFill"), table.Find("FlattenToVec"), table.Find("Concat")};
  for (const Op& op : net.ops) {
    if (op.inputs.empty() || op.outputs.empty()) continue;
    if (std::find(std::begin(makers), std::end(makers), op.type) == std::end(makers)) continue;
    int64_t all = 0;
    for (Symbol blob : op.inputs) all = all < 0 || sizes->Get(blob) < 0 ? -1 : all + sizes->Get(blob);
    (*sizes)[op.outputs[0]] = all;
  }
  return [sizes](Symbol blob) -> std::optional<int64_t> {
    const int64_t size = sizes->Get(blob);
    return size < 0 ? std::optional<int64_t>() : size;
  };
}

BytesOfInput BytesByShape(const Net& net, const NetShapes& shapes, const ShapeTable& table) {
  const Ssa& ssa = shapes.ssa;
  const auto of = [&shapes, &table](ValueId value) -> std::optional<int64_t> {
    const TensorInfo& info = shapes.values[value];
    if (!info.tensor() || DataTypeSize(info.type) == 0) return {};
    auto bytes = static_cast<int64_t>(DataTypeSize(info.type));
    for (Dim dim : info.dims) {
      const int64_t extent = table.At(dim, LiveBytes::kSymbolValue);
      if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) return {};
    }
    return bytes;
  };
  auto last = std::make_shared<std::vector<ValueId>>(ssa.blobs().size(), kNoValue);  // of each blob, if known
  for (ValueId v = 0; v < shapes.values.size(); ++v)
    if (of(v)) (*last)[ssa.values()[v].blob] = v;
  return [of, last, &net, &ssa](OpId op, size_t input) -> std::optional<int64_t> {
    const ValueId value = ssa.inputs(op)[input];
    const std::optional<int64_t> bytes = of(value);
    if (bytes) return bytes;
    const BlobId base = GradientBase(net, ssa, ssa.values()[value].blob);
    return base == kNoBlob || (*last)[base] == kNoValue ? std::nullopt : of((*last)[base]);
  };
}

}  // namespace weft
