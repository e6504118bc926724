// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/after.h"

#include <iterator>

#include "core/base/str.h"
#include "core/ir/net_builder.h"
#include "core/ssa/clone.h"

namespace weft {

namespace {

template <typename Visit>
void ForEachName(const Gradient& gradient, Visit visit) {
  if (gradient.is_dense()) visit(gradient.dense);
  if (gradient.indices) visit(gradient.indices);
  if (gradient.values) visit(gradient.values);
}

}  // namespace

void DedupSlices(const Net& net, Backward& backward, SliceDedup how) {
  SymbolMap<int32_t> maker(*net.symbols, backward.ops.size(), -1);
  for (size_t i = 0; i < backward.ops.size(); ++i)
    for (Symbol output : backward.ops[i].outputs) maker[output] = static_cast<int32_t>(i);
  NameRegistry names;
  NetBuilder builder(names, AppendBackward(net, backward));
  const size_t first = net.ops.size() + backward.ops.size();
  const std::string_view sum = how == SliceDedup::kSum ? "UnsortedSegmentSum" : "UnsortedSegmentMean";

  for (BlobGradient& of : backward.gradients) {
    Gradient& gradient = of.gradient;
    if (!gradient.indices || !gradient.values) continue;
    const int32_t made = maker.Get(gradient.values);
    const DevicePtr device = made >= 0 ? backward.ops[static_cast<size_t>(made)].device : nullptr;
    const auto unique = builder.Add({.type = "Unique",
                                     .inputs = {gradient.indices},
                                     .outputs = 2,
                                     .engine = "SparseHash",
                                     .device = device});
    const auto values =
        builder.Add({.type = sum, .inputs = {gradient.values, unique[1]}, .outputs = 1, .device = device});
    gradient = Gradient::Sparse(unique[0], values[0]);
    backward.origin.insert(backward.origin.end(), 2, {Origin::kAccumulate, kNoOp, of.blob, of.version});
  }
  Net whole = std::move(builder).Finish();
  backward.ops.insert(backward.ops.end(),
                      std::make_move_iterator(whole.ops.begin() + static_cast<ptrdiff_t>(first)),
                      std::make_move_iterator(whole.ops.end()));
}

Net BackwardNet(const Net& net, const Backward& backward) {
  Net out(net.symbols);
  out.name = out.Intern(StrCat(net.Str(net.name), "_grad"));
  out.type = net.type;
  out.num_workers = net.num_workers;
  out.device = net.device;
  out.args = net.args;
  out.ops = backward.ops;
  UpdateExternalLists(out);
  // Gradients that the pass itself reads on the way are results all the same; what is left over is not one.
  out.external_outputs.clear();
  SymbolMap<uint8_t> written(*out.symbols, out.ops.size(), 0), listed(*out.symbols, out.ops.size(), 0);
  for (const Op& op : out.ops)
    for (Symbol output : op.outputs) written[output] = 1;
  for (const BlobGradient& of : backward.gradients)
    ForEachName(of.gradient, [&](Symbol name) {
      if (!written.Get(name) || listed.Get(name)) return;
      listed[name] = 1;
      out.external_outputs.push_back(name);
    });
  return out;
}

}  // namespace weft
