// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/inner_net.h"

#include <utility>

#include "core/base/str.h"
#include "core/ssa/versions.h"

namespace weft {

namespace {

ValueId FindVersion(const Ssa& ssa, Symbol blob, std::optional<uint32_t> version) {
  const BlobId id = ssa.FindBlob(blob);
  if (id == kNoBlob || !version) return kNoValue;
  ValueId v = ssa.latest(id);
  while (v != kNoValue && ssa.values()[v].version != *version) v = ssa.values()[v].previous;
  return v;
}

}  // namespace

std::unique_ptr<InnerNet> FrameNet(NetId id, OpId op, std::string label, NetModel& plain, NetModel& around,
                                   std::span<const CapturedBlob> captured) {
  const Net& net = plain.net();
  const Ssa& ssa = plain.ssa();
  auto inner = std::make_unique<InnerNet>(InnerNet{id, op, std::move(label), &plain, nullptr, {}});
  auto framed = std::make_shared<Net>(net.symbols);
  const auto port = [&](Symbol blob, Symbol outer, std::optional<uint32_t> version) {
    Op made;
    const std::string_view name = net.Str(outer);
    made.type = net.symbols->Intern(version ? StrCat(name, "@", *version) : std::string(name));
    if (blob != outer) made.name = blob;
    inner->port_values.push_back(FindVersion(around.ssa(), outer, version));
    return made;
  };
  SymbolMap<uint8_t> comes_in(*net.symbols, 16, 0);
  for (const CapturedBlob& blob : captured) {
    if (!blob.reads) continue;
    comes_in[blob.inner] = 1;
    framed->ops.push_back(port(blob.inner, blob.outer, blob.version));
    framed->ops.back().outputs.push_back(blob.inner);
  }
  for (BlobId b = 0; b < ssa.blobs().size(); ++b) {
    if (!ssa.starts_outside(b) || comes_in.Get(ssa.blobs()[b])) continue;
    framed->ops.push_back(port(ssa.blobs()[b], ssa.blobs()[b], std::nullopt));
    framed->ops.back().outputs.push_back(ssa.blobs()[b]);
  }
  NetPorts ports{static_cast<uint32_t>(framed->ops.size()), 0};
  for (const Op& op : net.ops) framed->ops.push_back(op);
  for (const CapturedBlob& blob : captured) {
    if (!blob.writes) continue;
    ++ports.out;
    framed->ops.push_back(port(blob.inner, blob.outer, blob.after));
    framed->ops.back().inputs.push_back(blob.inner);
  }
  inner->framed = std::make_unique<NetModel>(std::move(framed), plain.ops());
  inner->framed->SetPorts(ports);
  return inner;
}

void AddShownNet(InnerNet& inner, uint32_t around, NetModel& outermost, std::vector<ShownNet>& shown) {
  const ShownNet& last = shown.back();
  const ShownNet& outer = shown[around];
  ShownNet made;
  made.inner = &inner;
  made.around = around;
  made.path = StrCat(outer.path, outer.path.empty() ? "" : "/", inner.op, ".", inner.label);
  made.holder = outer.first_op + static_cast<uint32_t>(inner.op);
  NetModel& before = last.inner != nullptr ? *last.inner->plain : outermost;
  made.first_op = last.first_op + static_cast<uint32_t>(before.net().ops.size());
  made.first_value = last.first_value + static_cast<uint32_t>(before.ssa().values().size());

  const Ssa& ssa = inner.plain->ssa();
  const Ssa& framed = inner.framed->ssa();
  const uint32_t in = inner.framed->ports().in;
  made.value.resize(ssa.values().size());
  for (uint32_t v = 0; v < made.value.size(); ++v) made.value[v] = made.first_value + v;
  for (ValueId v : inner.port_values)
    made.port.push_back(v == kNoValue || outer.inner == nullptr ? v : outer.value[v]);
  made.framed.assign(framed.values().size(), kNoValue);
  for (uint32_t k = 0; k < in; ++k) {
    const Symbol name = inner.framed->net().ops[k].outputs[0];
    uint32_t number = made.port[k];
    // What the net has at its start, if it names the blob at all.
    const BlobId blob = ssa.FindBlob(name);
    if (blob != kNoBlob && ssa.starts_outside(blob)) {
      const ValueId start = FirstValue(ssa, blob);
      if (number == kNoValue) number = made.value[start];
      made.value[start] = number;
    }
    made.framed[framed.outputs(static_cast<OpId>(k))[0]] = number;
  }
  for (OpId op = 0; op < inner.num_ops(); ++op) {
    const std::span<const ValueId> from = framed.outputs(op + static_cast<OpId>(in));
    for (size_t k = 0; k < from.size(); ++k) made.framed[from[k]] = made.value[ssa.outputs(op)[k]];
  }
  shown.push_back(std::move(made));
}

}  // namespace weft
