// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/retarget.h"

#include <algorithm>

#include "core/check/effects.h"
#include "core/ssa/nested.h"

namespace weft {

namespace {

bool StaysOnCpu(const DevicePtr& device) {
  if (!device) return false;
  const auto& info = device->extra_info;
  return std::find(info.begin(), info.end(), "device_type_override:cpu") != info.end();
}

// The operator's own device option, on the new device: seed, node and tags stay.
DevicePtr Moved(const DevicePtr& own, const DevicePtr& to) {
  DeviceOption option = *own;
  option.device_type = to ? to->device_type : std::nullopt;
  option.device_id = to ? to->device_id : std::nullopt;
  return option == DeviceOption() ? nullptr : std::make_shared<const DeviceOption>(std::move(option));
}

Net RetargetAt(const Net& net, const RetargetOptions& options, int depth) {
  Net out = net;
  out.device = options.device;
  for (Op& op : out.ops) {
    if (options.engine) op.engine = options.engine->empty() ? Symbol() : out.Intern(*options.engine);
    if (options.all_ops && op.device && !StaysOnCpu(op.device)) op.device = Moved(op.device, options.device);
    if (!HoldsNet(op) || depth == kMaxNesting) continue;
    std::vector<Arg> args = op.args.Copy();
    for (Arg& arg : args) {
      if ((arg.has & (Arg::kHasN | Arg::kHasNets)) == 0) continue;
      ArgData data = *arg.Load();
      const auto move = [&](NetPtr& inner) {
        if (inner) inner = std::make_shared<const Net>(RetargetAt(*inner, options, depth + 1));
      };
      move(data.n);
      for (NetPtr& inner : data.nets) move(inner);
      arg.data = std::make_shared<const ArgData>(std::move(data));
      arg.encoded = nullptr;
    }
    op.args = ArgList(std::move(args));
  }
  return out;
}

}  // namespace

Net Retarget(const Net& net, const RetargetOptions& options) { return RetargetAt(net, options, 0); }

}  // namespace weft
