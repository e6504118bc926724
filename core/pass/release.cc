// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/release.h"

#include <algorithm>

#include "core/base/symbol_map.h"
#include "core/pass/saved_scopes.h"
#include "core/ssa/nested.h"

namespace weft {

Net ReleaseWhenUsed(const Net& net, const ReleaseOptions& options) {
  enum : uint8_t { kMade = 1, kRead = 2, kPinned = 4 };
  SymbolMap<uint8_t> state(*net.symbols, net.ops.size(), 0);
  SymbolMap<int32_t> last(*net.symbols, net.ops.size(), -1);
  const NestingTypes nesting(*net.symbols);
  const Symbol alias = net.symbols->Find("Alias"), free_type = net.symbols->Find("Free");

  const auto pin = [&](const auto& blobs) {
    for (Symbol blob : blobs) state[blob] |= kPinned;
  };
  pin(net.external_inputs);
  pin(net.external_outputs);
  pin(options.keep);
  std::vector<Symbol> made;  // by first appearance
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const auto use = [&](Symbol blob, bool reads) {
      uint8_t& flags = state[blob];
      if (flags == 0 && !reads) made.push_back(blob);
      if (reads && !(flags & kMade)) flags |= kPinned;  // it was there before
      flags |= reads ? kRead : kMade;
      last[blob] = static_cast<int32_t>(i);
    };
    for (Symbol blob : op.inputs) use(blob, true);
    for (Symbol blob : op.control_inputs) use(blob, true);
    const Nesting kind = nesting.Of(op.type);
    if (kind == Nesting::kSameWorkspace) {
      const NestedUses nested = UsesOfNestedNets(net, op, nesting);
      for (Symbol blob : nested.reads) use(blob, true);
      for (Symbol blob : nested.writes) use(blob, false);
    }
    for (Symbol blob : op.outputs) use(blob, false);
    if (op.type == alias || op.type == free_type) pin(op.inputs);
    // Step workspaces hold on to what a recurrent operator writes; a Do's workspace is popped by its
    // gradient.
    if (kind == Nesting::kRecurrent || kind == Nesting::kPrivate) pin(op.outputs);
  }

  ForEachHeldBlob(net, [&](Symbol blob, int32_t end) { last[blob] = std::max(last.Get(blob), end); });

  std::vector<std::vector<Symbol>> ends(net.ops.size());  // by operator: blobs that it uses last
  for (Symbol blob : made)
    if (state.Get(blob) == (kMade | kRead) && (!options.may_release || options.may_release(blob)))
      ends[static_cast<size_t>(last.Get(blob))].push_back(blob);
  Net out = WithoutOps(net);
  out.ops.reserve(net.ops.size() * 2);
  const Symbol type = out.Intern("Free");
  for (size_t i = 0; i < net.ops.size(); ++i) {
    out.ops.push_back(net.ops[i]);
    for (Symbol blob : ends[i]) {
      Op& free = out.ops.emplace_back();
      free.type = type;
      free.name = out.Intern("");
      free.inputs.push_back(blob);
      free.outputs.push_back(blob);
      free.device = net.ops[i].device;
    }
  }
  return out;
}

}  // namespace weft
