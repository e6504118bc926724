// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/ssa.h"

#include "core/base/str.h"

namespace weft {

Ssa::Ssa(const Net& net) : ids_(*net.symbols, net.ops.size() * 2 + net.external_inputs.size(), kNoBlob) {
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

  const auto add_blob = [&](Symbol name, bool outside) {
    const BlobId blob = static_cast<BlobId>(blobs_.size());
    ids_[name] = blob;
    blobs_.push_back(name);
    latest_.push_back(kNoValue);
    starts_outside_.push_back(outside);
    if (outside) {
      latest_[blob] = static_cast<ValueId>(values_.size());
      values_.push_back({blob, 0, kNoOp, 0, kNoValue});
    }
    return blob;
  };

  for (Symbol name : net.external_inputs)
    if (ids_.Get(name) == kNoBlob) add_blob(name, true);
  num_declared_ = static_cast<BlobId>(blobs_.size());

  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    input_begin_.push_back(static_cast<uint32_t>(inputs_.size()));
    output_begin_.push_back(static_cast<uint32_t>(outputs_.size()));
    for (Symbol name : op.inputs) {
      BlobId blob = ids_.Get(name);
      if (blob == kNoBlob) blob = add_blob(name, true);
      inputs_.push_back(latest_[blob]);
    }
    for (uint32_t k = 0; k < op.outputs.size(); ++k) {
      BlobId blob = ids_.Get(op.outputs[k]);
      if (blob == kNoBlob) blob = add_blob(op.outputs[k], false);
      const ValueId previous = latest_[blob];
      const uint32_t version = previous == kNoValue ? 1 : values_[previous].version + 1;
      latest_[blob] = static_cast<ValueId>(values_.size());
      outputs_.push_back(latest_[blob]);
      values_.push_back({blob, version, static_cast<OpId>(i), k, previous});
    }
  }
  input_begin_.push_back(static_cast<uint32_t>(inputs_.size()));
  output_begin_.push_back(static_cast<uint32_t>(outputs_.size()));

  // Uses by counting sort: values are dense, so two passes over the inputs do.
  use_begin_.assign(values_.size() + 1, 0);
  for (ValueId value : inputs_) ++use_begin_[value + 1];
  for (size_t v = 0; v < values_.size(); ++v) use_begin_[v + 1] += use_begin_[v];
  uses_.resize(inputs_.size());
  std::vector<uint32_t> next(use_begin_.begin(), use_begin_.end() - 1);
  for (size_t i = 0; i < net.ops.size(); ++i)
    for (ValueId value : inputs(static_cast<OpId>(i))) uses_[next[value]++] = static_cast<OpId>(i);
}

std::string ValueName(const Net& net, const Ssa& ssa, ValueId value) {
  const Value& v = ssa.values()[value];
  return StrCat(net.Str(ssa.blobs()[v.blob]), "@", v.version);
}

}  // namespace weft
