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

std::string RenameText(const RenameContext& context, const std::string& text) {
  const Symbol symbol = context.symbols->Find(text);
  return symbol ? std::string(context.symbols->Str(context.map(symbol))) : text;
}

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

Result<void> RenameInOp(const RenameContext& context, Op& op) {
  context.map.Apply(op.inputs);
  context.map.Apply(op.outputs);
  context.map.Apply(op.control_inputs);
  const Nesting nesting = context.nesting.Of(op.type);
  if (nesting == Nesting::kNone || nesting == Nesting::kPrivate) return {};

  std::vector<Arg> args = op.args.Copy();
  for (Arg& arg : args) {
    const std::string_view name = context.symbols->Str(arg.name);
    const bool recurrent = nesting == Nesting::kRecurrent;
    const bool texts = recurrent && (arg.has & Arg::kHasStrings);
    const bool timestep = recurrent && !texts && name == "timestep";
    const bool net = !texts && !timestep && IsNestedNetArg(nesting, name);
    if (!texts && !timestep && !net) continue;
    auto data = std::make_shared<ArgData>(*arg.Load());
    if (net && !data->n)
      return Error{ErrorCode::kControlFlow, StrCat("Expected non empty net in ",
                                                   context.symbols->Str(op.type), "'s ", name, " argument")};
    if (texts) {
      for (std::string& text : data->strings) text = RenameText(context, text);
    } else if (timestep) {
      data->s = RenameText(context, data->s);
    } else {
      WEFT_TRY(data->n, RenameNested(context, *data->n, nesting));
    }
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
