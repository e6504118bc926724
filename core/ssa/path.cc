// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/path.h"

#include "core/base/str.h"

namespace weft {

std::vector<OpId> OpsBetween(const Ssa& ssa, std::span<const ValueId> given,
                             std::span<const ValueId> wanted) {
  std::vector<bool> is_given(ssa.values().size(), false);
  for (ValueId value : given) is_given[value] = true;
  std::vector<bool> needed(ssa.num_ops(), false);
  std::vector<ValueId> queue(wanted.begin(), wanted.end());
  while (!queue.empty()) {
    const ValueId value = queue.back();
    queue.pop_back();
    const OpId op = ssa.values()[value].def;
    if (is_given[value] || op == kNoOp || needed[op]) continue;
    needed[op] = true;
    const auto inputs = ssa.inputs(op);
    queue.insert(queue.end(), inputs.begin(), inputs.end());
  }
  std::vector<OpId> ops;
  for (size_t op = 0; op < needed.size(); ++op)
    if (needed[op]) ops.push_back(static_cast<OpId>(op));
  return ops;
}

Result<std::vector<OpId>> OpsInPath(const Net& net, const Ssa& ssa, std::span<const Symbol> inputs,
                                    std::span<const Symbol> outputs) {
  WEFT_TRY(const std::vector<ValueId> given, LatestValues(net, ssa, inputs, "input"));
  WEFT_TRY(const std::vector<ValueId> wanted, LatestValues(net, ssa, outputs, "output"));
  return OpsBetween(ssa, given, wanted);
}

Result<std::vector<ValueId>> LatestValues(const Net& net, const Ssa& ssa, std::span<const Symbol> blobs,
                                          std::string_view what) {
  std::vector<ValueId> values;
  for (Symbol name : blobs) {
    const BlobId blob = ssa.FindBlob(name);
    if (blob == kNoBlob) {
      std::vector<std::string_view> known;
      for (Symbol other : ssa.blobs()) known.push_back(net.Str(other));
      std::string message = StrCat(what, " ", net.Str(name), " is not a blob of net ", net.Str(net.name));
      const auto near = NearestNames(net.Str(name), known);
      for (size_t i = 0; i < near.size(); ++i) StrAppend(message, i == 0 ? "; did you mean " : ", ", near[i]);
      return Error{ErrorCode::kNotFound, std::move(message), -1, std::string(net.Str(name))};
    }
    values.push_back(ssa.latest(blob));
  }
  return values;
}

}  // namespace weft
