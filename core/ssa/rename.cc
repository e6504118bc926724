// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/rename.h"

#include "core/base/str.h"

namespace weft {

namespace {

std::string Unique(NameRegistry* registry, std::string name) {
  return registry ? registry->UniqueNet(name) : name;
}

// A nested net is made a Net, cloned, and written back: in Caffe2 each of the two steps takes a net name.
Result<NetPtr> RenameNested(const RenameContext& context, const Net& nested, Nesting nesting) {
  Net renamed = nested;
  std::string name(nested.Str(nested.name));
  if (context.suffix_nested) {
    name = Unique(context.registry, std::move(name));
    name = nesting == Nesting::kRecurrent ? std::string("cloned_sub_net") : StrCat(name, "_remapped");
  }
  WEFT_TRY_VOID(RenameInNet(context, renamed));
  if (context.suffix_nested) renamed.name = renamed.Intern(Unique(context.registry, std::move(name)));
  return NetPtr(std::make_shared<const Net>(std::move(renamed)));
}

constexpr std::string_view kRename = ".rename";

}  // namespace

Result<BlobMap> BlobMap::Make(const SymbolTable& table, std::span<const BlobRename> renames) {
  BlobMap map(table, renames.size());
  for (const BlobRename& rename : renames) {
    if (map.has(rename.from) && map(rename.from) != rename.to)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("blob ", table.Str(rename.from), " is given two new names: ",
                          table.Str(map(rename.from)), " and ", table.Str(rename.to)),
                   -1, std::string(table.Str(rename.from))};
    map.Set(rename.from, rename.to);
  }
  return map;
}

ArgList RenameRecurrentTexts(SymbolTable& symbols, const ArgList& old,
                             const std::function<Symbol(Symbol)>& rename) {
  const auto text_of = [&](std::string_view text) {
    const Symbol symbol = symbols.Find(text);
    return symbol ? std::string(symbols.Str(rename(symbol))) : std::string(text);
  };
  std::vector<Arg> args = old.Copy();
  bool changed = false;
  for (Arg& arg : args) {
    const std::string name(symbols.Str(arg.name));
    const bool texts = (arg.has & Arg::kHasStrings) != 0;
    const bool renaming = !texts && name.ends_with(kRename);
    if (!texts && !renaming && name != "timestep") continue;
    auto data = std::make_shared<ArgData>(*arg.Load());
    for (std::string& text : data->strings) text = text_of(text);
    if (!texts) data->s = text_of(data->s);
    if (renaming)
      arg.name = symbols.Intern(StrCat(text_of(name.substr(0, name.size() - kRename.size())), kRename));
    arg.data = std::move(data);
    arg.encoded = nullptr;
    changed = true;
  }
  return changed ? ArgList(std::move(args)) : old;
}

Result<void> RenameInOp(const RenameContext& context, Op& op) {
  context.map.Apply(op.inputs);
  context.map.Apply(op.outputs);
  context.map.Apply(op.control_inputs);
  const Nesting nesting = context.nesting.Of(op.type);
  if (nesting == Nesting::kNone || nesting == Nesting::kPrivate) return {};

  if (nesting == Nesting::kRecurrent)
    op.args = RenameRecurrentTexts(*context.symbols, op.args, [&](Symbol name) { return context.map(name); });
  std::vector<Arg> args = op.args.Copy();
  for (Arg& arg : args) {
    const std::string_view name = context.symbols->Str(arg.name);
    const bool texts = nesting == Nesting::kRecurrent && (arg.has & Arg::kHasStrings);
    if (texts || !IsNestedNetArg(nesting, name)) continue;
    auto data = std::make_shared<ArgData>(*arg.Load());
    if (!data->n)
      return Error{ErrorCode::kControlFlow, StrCat("Expected non empty net in ",
                                                   context.symbols->Str(op.type), "'s ", name, " argument")};
    WEFT_TRY(data->n, RenameNested(context, *data->n, nesting));
    arg.data = std::move(data);
    arg.encoded = nullptr;
  }
  op.args = ArgList(std::move(args));
  return {};
}

Result<void> RenameInNet(const RenameContext& context, Net& net) {
  for (size_t i = 0; i < net.ops.size(); ++i) {
    Result<void> renamed = RenameInOp(context, net.ops[i]);
    if (renamed.has_value()) continue;
    renamed.error().op = static_cast<int64_t>(i);
    return renamed;
  }
  context.map.Apply(net.external_inputs);
  context.map.Apply(net.external_outputs);
  return {};
}

}  // namespace weft
