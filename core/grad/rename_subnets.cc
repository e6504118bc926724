// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "core/grad/control.h"

namespace weft::internal {

Op RenameInSubnets(const Net& net, const Op& op, const std::function<Symbol(Symbol)>& rename) {
  Op out = op;
  std::vector<Arg> args = op.args.Copy();
  for (Arg& arg : args) {
    if (!(arg.has & Arg::kHasN) || net.Str(op.type) == "Do") continue;
    Net renamed = *arg.Load()->n;
    for (Symbol& name : renamed.external_inputs) name = rename(name);
    for (Symbol& name : renamed.external_outputs) name = rename(name);
    for (Op& inner : renamed.ops) {
      for (Symbol& name : inner.inputs) name = rename(name);
      for (Symbol& name : inner.outputs) name = rename(name);
      for (const Arg& inner_arg : inner.args) {
        if (!(inner_arg.has & Arg::kHasN)) continue;
        inner = RenameInSubnets(net, inner, rename);
        break;
      }
    }
    arg = MakeArg(arg.name, std::make_shared<const Net>(std::move(renamed)));
  }
  out.args = ArgList(std::move(args));
  return out;
}

}  // namespace weft::internal
