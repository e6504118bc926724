// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/comm_cost.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "core/base/symbol_map.h"
#include "core/pass/collectives.h"

namespace weft {

namespace {

// An all-reduce in a ring of `n`: everybody sends each part twice, but for one step.
int64_t RingBytes(int64_t bytes, int64_t n) { return 2 * (n - 1) * bytes / n; }

}  // namespace

CommCost CommunicationOf(const Net& net, const ParallelOptions& options,
                         const std::function<std::optional<int64_t>(Symbol)>& bytes) {
  const internal::ReplicaScopes scopes(options);
  const int64_t shards = options.num_shards();
  CommCost cost;
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const std::string_view type = net.Str(op.type);
    CommOp moved{.op = static_cast<OpId>(i)};
    bool known = true;
    const auto size = [&](Symbol blob) {
      const std::optional<int64_t> found = bytes(blob);
      known = known && found.has_value();
      return found.value_or(0);
    };
    const auto outputs = static_cast<int64_t>(op.outputs.size());
    if (type == "NCCLAllreduce" && outputs > 1) {
      moved.local_bytes = outputs * RingBytes(size(op.outputs[0]), outputs);
      moved.local_messages = 2 * (outputs - 1);
    } else if (type == "NCCLReduce" && op.inputs.size() > 1) {
      moved.local_messages = static_cast<int64_t>(op.inputs.size()) - 1;
      moved.local_bytes = moved.local_messages * size(op.inputs[0]);
    } else if (type == "NCCLBroadcast" && outputs > 1) {
      moved.local_bytes = (outputs - 1) * size(op.outputs[0]);
      moved.local_messages = outputs - 1;
    } else if (type == "Allreduce" || type == "Broadcast") {
      const int64_t one = size(op.outputs[0]);
      const bool sum = type == "Allreduce";
      moved.network_bytes = sum ? RingBytes(one, shards) : one * (shards > 1);
      moved.network_messages = sum ? 2 * (shards - 1) : shards - 1;
      moved.local_bytes = (sum ? 2 : 1) * (outputs - 1) * one;
      moved.local_messages = (sum ? 2 : 1) * (outputs - 1);
    } else if (type == "Reduce") {
      moved.network_bytes = shards > 1 ? size(op.inputs[1]) : 0;
      moved.network_messages = shards - 1;
    } else if (type == "Allgather") {
      moved.network_bytes = (shards - 1) * size(op.inputs[1]);
      moved.network_messages = shards - 1;
    } else if (type.starts_with("Copy") || type == "Sum" || type == "Concat") {
      const int to = op.outputs.empty() ? -1 : scopes.ReplicaOf(net.Str(op.outputs[0]));
      for (Symbol blob : op.inputs) {
        if (scopes.ReplicaOf(net.Str(blob)) == to) continue;
        moved.local_bytes += size(blob);
        ++moved.local_messages;
      }
    }
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

std::function<std::optional<int64_t>(Symbol)> DenseBytes(const Net& init, const Net& net,
                                                         std::span<const ParamGradient> gradients) {
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

double SecondsOf(const CommCost& cost, const Link& local, const Link& network) {
  const auto seconds = [](int64_t messages, int64_t bytes, const Link& link) {
    return static_cast<double>(messages) * link.seconds_per_message +
           static_cast<double>(bytes) / link.bytes_per_second;
  };
  return seconds(cost.local_messages, cost.local_bytes, local) +
         seconds(cost.network_messages, cost.network_bytes, network);
}

}  // namespace weft
