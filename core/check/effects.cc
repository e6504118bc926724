// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check/effects.h"

#include "core/base/str.h"

namespace weft {

namespace {

constexpr uint8_t kRead = 1;
constexpr uint8_t kWritten = 2;

NetEffects EffectsAt(const Net& net, int depth) {
  NetEffects effects;
  SymbolMap<uint8_t> seen(*net.symbols, net.ops.size() * 2, 0);
  const NestingTypes types(*net.symbols);
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    std::vector<NetEffects> nested;
    if (depth < kMaxNesting && HoldsNet(op)) {
      const Nesting nesting = types.Of(op.type);
      ForEachNestedNet(net, op, [&](const Net& inner, std::string_view) {
        nested.push_back(Visible(EffectsAt(inner, depth + 1), nesting));
      });
    }
    AddEffects(op, static_cast<OpId>(i), nested, seen, effects);
  }
  return effects;
}

}  // namespace

bool HoldsNet(const Op& op) {
  for (const Arg& arg : op.args)
    if (arg.has & (Arg::kHasN | Arg::kHasNets)) return true;
  return false;
}

void ForEachNestedNet(const Net& net, const Op& op,
                      const std::function<void(const Net& nested, std::string_view place)>& visit) {
  for (const Arg& arg : op.args) {
    if (!(arg.has & (Arg::kHasN | Arg::kHasNets))) continue;
    const ArgDataPtr data = arg.Load();
    const std::string_view name = net.Str(arg.name);
    if (data->n) visit(*data->n, name);
    for (size_t k = 0; k < data->nets.size(); ++k)
      if (data->nets[k]) visit(*data->nets[k], StrCat(name, "[", k, "]"));
  }
}

NetEffects Visible(NetEffects effects, Nesting nesting) {
  if (nesting == Nesting::kPrivate || nesting == Nesting::kRecurrent) effects.writes.clear();
  if (nesting == Nesting::kPrivate) effects.reads.clear();
  return effects;
}

void AddEffects(const Op& op, OpId id, const std::vector<NetEffects>& nested, SymbolMap<uint8_t>& seen,
                NetEffects& effects) {
  const auto read = [&](Symbol blob) {
    uint8_t& state = seen[blob];
    if (state != 0) return;
    state = kRead;
    effects.reads.push_back({blob, id});
  };
  const auto write = [&](Symbol blob) {
    uint8_t& state = seen[blob];
    if (state & kWritten) return;
    state |= kWritten;
    effects.writes.push_back({blob, id});
  };
  for (Symbol blob : op.inputs) read(blob);
  for (const NetEffects& inner : nested)
    for (const Effect& effect : inner.reads) read(effect.blob);
  for (const NetEffects& inner : nested)
    for (const Effect& effect : inner.writes) write(effect.blob);
  for (Symbol blob : op.outputs) write(blob);
}

NetEffects EffectsOf(const Net& net) { return EffectsAt(net, 0); }

}  // namespace weft
