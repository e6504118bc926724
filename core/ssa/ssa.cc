// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/ssa.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ssa/nested.h"
#include "core/ssa/versions.h"

namespace weft {

Ssa::Ssa(const Net& net, const SsaOptions& options)
    : ids_(*net.symbols, net.ops.size() * 2 + net.external_inputs.size(), kNoBlob) {
  size_t num_inputs = 0, num_outputs = 0;
  for (const Op& op : net.ops) {
    num_inputs += op.inputs.size();
    num_outputs += op.outputs.size();
  }
  input_begin_.reserve(net.ops.size() + 1);
  output_begin_.reserve(net.ops.size() + 1);
  inputs_.reserve(num_inputs);
  outputs_.reserve(num_outputs);
  values_.reserve(num_outputs + net.external_inputs.size());
  const size_t most_blobs =
      std::min<size_t>(net.symbols->size(), num_outputs + num_inputs + net.external_inputs.size());
  blobs_.reserve(most_blobs);
  latest_.reserve(most_blobs);

  const auto add_blob = [&](Symbol name, bool outside) {
    const BlobId blob = static_cast<BlobId>(blobs_.size());
    uint32_t version = 0;
    if (options.start && options.start->has(name)) {
      version = options.start->Get(name);
      outside = true;
    }
    ids_[name] = blob;
    blobs_.push_back(name);
    latest_.push_back(kNoValue);
    starts_outside_.push_back(outside);
    if (outside) {
      latest_[blob] = static_cast<ValueId>(values_.size());
      values_.push_back({blob, version, kNoOp, 0, kNoValue});
    }
    return blob;
  };

  for (Symbol name : net.external_inputs)
    if (ids_.Get(name) == kNoBlob) add_blob(name, true);
  num_declared_ = static_cast<BlobId>(blobs_.size());

  const auto read = [&](Symbol name) {
    BlobId blob = ids_.Get(name);
    if (blob == kNoBlob) blob = add_blob(name, true);
    inputs_.push_back(latest_[blob]);
  };
  const auto write = [&](Symbol name, OpId op, uint32_t output) {
    BlobId blob = ids_.Get(name);
    if (blob == kNoBlob) blob = add_blob(name, false);
    const ValueId previous = latest_[blob];
    if (previous != kNoValue && values_[previous].def == op) {
      // Caffe2 counts both writes of an op that names the blob twice, and knows the last version only.
      ++values_[previous].version;
      values_[previous].output = output;
    } else {
      const uint32_t version = previous == kNoValue ? 1 : values_[previous].version + 1;
      latest_[blob] = static_cast<ValueId>(values_.size());
      values_.push_back({blob, version, op, output, previous});
    }
    outputs_.push_back(latest_[blob]);
  };

  const NestingTypes nesting(*net.symbols);
  const bool enter = options.nested != NestedNets::kOpaque && nesting.any();
  const auto lists = [](const BlobList& list, Symbol name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const OpId id = static_cast<OpId>(i);
    input_begin_.push_back(static_cast<uint32_t>(inputs_.size()));
    output_begin_.push_back(static_cast<uint32_t>(outputs_.size()));
    NestedUses nested;
    if (enter && nesting.Of(op.type) == Nesting::kSameWorkspace) nested = UsesOfNestedNets(net, op, nesting);
    for (Symbol name : op.inputs) read(name);
    for (Symbol name : nested.reads)
      if (!lists(op.inputs, name)) read(name);
    for (uint32_t k = 0; k < op.outputs.size(); ++k) write(op.outputs[k], id, k);
    if (options.nested != NestedNets::kReadsAndWrites) continue;
    uint32_t k = op.outputs.size();
    for (Symbol name : nested.writes)
      if (!lists(op.outputs, name)) write(name, id, k++);
  }
  input_begin_.push_back(static_cast<uint32_t>(inputs_.size()));
  output_begin_.push_back(static_cast<uint32_t>(outputs_.size()));

  // Uses by counting sort: values are dense, so two passes over the inputs do. While they are filled in, the
  // place of a value's next use stands where the next value's uses will begin.
  use_begin_.assign(values_.size() + 2, 0);
  for (ValueId value : inputs_) ++use_begin_[value + 2];
  for (size_t v = 0; v < values_.size(); ++v) use_begin_[v + 2] += use_begin_[v + 1];
  uses_.resize(inputs_.size());
  for (size_t i = 0; i < net.ops.size(); ++i)
    for (ValueId value : inputs(static_cast<OpId>(i))) uses_[use_begin_[value + 1]++] = static_cast<OpId>(i);
}

std::string ValueName(const Net& net, const Ssa& ssa, ValueId value) {
  const Value& v = ssa.values()[value];
  return StrCat(net.Str(ssa.blobs()[v.blob]), "@", v.version);
}

}  // namespace weft
