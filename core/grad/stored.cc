// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/stored.h"

#include <algorithm>
#include <iterator>

#include "core/base/str.h"

namespace weft {

namespace {

bool HasTag(const Op& op, std::string_view tag) {
  return op.device && std::find(op.device->extra_info.begin(), op.device->extra_info.end(), tag) !=
                          op.device->extra_info.end();
}

}  // namespace

bool IsSeed(const Net& net, const Op& op, std::string_view suffix) {
  return net.Str(op.type) == "ConstantFill" && op.inputs.size() == 1 && op.outputs.size() == 1 &&
         net.Str(op.outputs[0]) == StrCat(net.Str(op.inputs[0]), suffix);
}

bool IsGenerated(const Net& net, const Op& op) {
  return op.is_gradient_op.value_or(false) || HasTag(op, "is_auto_gen_sum_ops:1") ||
         IsSeed(net, op, "_autogen_grad");
}

Result<std::optional<StoredPass>> FindStoredPass(const Net& net) {
  const auto generated = [&](const Op& op) { return IsGenerated(net, op); };
  const auto begin = std::find_if(net.ops.begin(), net.ops.end(), generated);
  if (begin == net.ops.end()) return std::optional<StoredPass>();
  const auto end = std::find_if_not(begin, net.ops.end(), generated);
  StoredPass pass;
  pass.begin = static_cast<OpId>(begin - net.ops.begin());
  pass.end = static_cast<OpId>(end - net.ops.begin());
  const auto again = std::find_if(end, net.ops.end(), generated);
  if (again != net.ops.end())
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("The net has no one backward pass: operators ", pass.begin, " to ", pass.end - 1,
                        " are generated, and again some from ", again - net.ops.begin(), " on."),
                 static_cast<OpId>(again - net.ops.begin())};
  // A data-parallel model fills its start gradients itself, before the pass.
  for (auto op = net.ops.begin(); op != begin; ++op)
    if (IsSeed(net, *op, "_grad")) pass.losses.push_back({op->inputs[0], Gradient::Dense(op->outputs[0])});
  for (auto op = begin; op != end; ++op) {
    if (!IsSeed(net, *op, "_autogen_grad")) continue;
    pass.losses.push_back({op->inputs[0], {}});
    pass.device = op->device;
  }
  return std::optional<StoredPass>(std::move(pass));
}

Net TakeStoredPassAway(Net net, const StoredPass& pass, std::vector<Op>& tail) {
  tail.assign(std::make_move_iterator(net.ops.begin() + pass.end), std::make_move_iterator(net.ops.end()));
  net.ops.erase(net.ops.begin() + pass.begin, net.ops.end());
  return net;
}

}  // namespace weft
