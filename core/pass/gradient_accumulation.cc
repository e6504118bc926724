// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/gradient_accumulation.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft::internal {

namespace {

constexpr std::string_view kAdds = "accumulate";  // the name of the operators that add

DevicePtr DeviceOf(const ModelBuilder& model, const ReplicaScopes& scopes, Symbol blob) {
  const int replica = scopes.ReplicaOf(model.net.net().Str(blob));
  return replica < 0 ? scopes.cpu : scopes.device(static_cast<size_t>(replica));
}

Symbol SumOf(NetBuilder& net, Symbol param) { return net.Suffixed(param, "_grad_sum"); }

void Clear(NetBuilder& net, Symbol like, Symbol sum, const DevicePtr& device) {
  Emit(net, {.type = "ConstantFill",
             .inputs = {like},
             .outputs = {sum},
             .device = device,
             .args = {{"value", 0.0f}}});
}

// The operators as a net of that name, with the head of another.
NetBuilder Rebuilt(NameRegistry& registry, std::string_view name, const Net& head, std::vector<Op> ops) {
  NetBuilder net(registry, name, head.symbols);
  net.EditHead([&](Net& to) {
    to.type = head.type;
    to.num_workers = head.num_workers;
    to.args = head.args;
    to.device = head.device;
  });
  for (Op& op : ops) net.Append(std::move(op));
  return net;
}

}  // namespace

Result<std::vector<ParamGradient>> MakeSums(ModelBuilder& model, const ReplicaScopes& scopes) {
  std::vector<ParamGradient> gradients = model.gradients;
  for (ParamGradient& of : model.gradients) {
    if (of.gradient.is_sparse()) {
      const std::string name(model.net.net().Str(of.param));
      return Error{ErrorCode::kUnsupported,
                   StrCat("accumulate: the gradient of ", name,
                          " is sparse, and its rows change from one iteration to the next; "
                          "expected dense gradients only"),
                   -1, name};
    }
    of.gradient = Gradient::Dense(SumOf(model.net, of.param));
    Clear(model.init, of.param, of.gradient.dense, DeviceOf(model, scopes, of.param));
  }
  return gradients;
}

void AddToSums(ModelBuilder& model, const ReplicaScopes& scopes,
               const std::vector<ParamGradient>& gradients) {
  for (const auto& [param, gradient] : gradients) {
    const Symbol sum = SumOf(model.net, param);
    Emit(model.net, {.type = "Sum",
                     .inputs = {sum, gradient.dense},
                     .outputs = {sum},
                     .device = DeviceOf(model, scopes, param),
                     .name = kAdds});
  }
}

Net TakeUpdateNet(ModelBuilder& model, const ReplicaScopes& scopes,
                  const std::vector<ParamGradient>& gradients) {
  Net whole = std::move(model.net).Finish();
  const std::string name(whole.Str(whole.name));
  model.registry.ReleaseNet(name);
  const Symbol adds = whole.symbols->Find(kAdds);
  const auto last =
      std::find_if(whole.ops.rbegin(), whole.ops.rend(), [&](const Op& op) { return op.name == adds; });
  std::vector<Op> update(std::make_move_iterator(last.base()), std::make_move_iterator(whole.ops.end()));
  whole.ops.erase(last.base(), whole.ops.end());
  model.net = Rebuilt(model.registry, name, whole, std::move(whole.ops));
  NetBuilder net = Rebuilt(model.registry, StrCat(name, "_update"), whole, std::move(update));
  for (const auto& [param, gradient] : gradients) {
    const Symbol sum = SumOf(net, param);
    Clear(net, sum, sum, DeviceOf(model, scopes, param));
  }
  return std::move(net).Finish();
}

}  // namespace weft::internal
