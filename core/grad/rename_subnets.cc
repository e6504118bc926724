// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "core/base/str.h"
#include "core/grad/control.h"
#include "core/ssa/rename.h"

namespace weft::internal {

namespace {

constexpr std::string_view kGrad = "_grad";

bool IsRecurrent(std::string_view type) {
  return type == "RecurrentNetwork" || type == "RecurrentNetworkGradient";
}

}  // namespace

Op RenameInSubnets(const Net& net, const Op& op, const std::function<Symbol(Symbol)>& rename_blob) {
  Op out = op;
  const std::string_view type = net.Str(op.type);
  std::function<Symbol(Symbol)> rename = rename_blob;
  if (IsRecurrent(type)) {
    // Its backward net and links call the gradient of X "X_grad", and that is the output they look for.
    rename = [&](Symbol name) {
      const Symbol renamed = rename_blob(name);
      const std::string_view text = net.Str(name);
      if (renamed != name || !text.ends_with(kGrad)) return renamed;
      const Symbol base = net.symbols->Find(text.substr(0, text.size() - kGrad.size()));
      if (!base || rename_blob(base) == base) return name;
      return net.symbols->Intern(StrCat(net.Str(rename_blob(base)), kGrad));
    };
    out.args = RenameRecurrentTexts(*net.symbols, op.args, rename);
  }
  std::vector<Arg> args = out.args.Copy();
  for (Arg& arg : args) {
    if (!(arg.has & Arg::kHasN) || type == "Do") continue;
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
