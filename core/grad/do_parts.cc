// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/do_parts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/str.h"
#include "core/grad/control.h"

namespace weft::internal {

namespace {

using Names = std::vector<Symbol>;

bool Holds(const Names& names, Symbol name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// An outer blob with two inner names, first and second: from now on the net says `first` for both.
using AliasPairs = std::vector<std::pair<Symbol, Symbol>>;
NetPtr MergeAliases(const Net& net, const AliasPairs& aliases) {
  const auto rename = [&](Symbol name) {
    for (const auto& [first, second] : aliases)
      if (name == second) return first;
    return name;
  };
  Net out = net;
  for (Op& op : out.ops) {
    for (Symbol& name : op.inputs) name = rename(name);
    for (Symbol& name : op.outputs) name = rename(name);
    for (Symbol& name : op.control_inputs) name = rename(name);
    op = RenameInSubnets(net, op, rename);
  }
  for (Symbol& name : out.external_inputs) name = rename(name);
  for (Symbol& name : out.external_outputs) name = rename(name);
  return std::make_shared<const Net>(std::move(out));
}

// The inner name bound to `outer_name`, kNoSymbol for none.
Symbol InnerAmong(const Names& outer, const Names& inner, Symbol outer_name) {
  const auto at = std::find(outer.begin(), outer.end(), outer_name);
  return at == outer.end() ? kNoSymbol : inner[static_cast<size_t>(at - outer.begin())];
}

// The names of a list without repeats, in order.
Names Distinct(const Names& names) {
  Names out;
  for (Symbol name : names)
    if (!Holds(out, name)) out.push_back(name);
  return out;
}

Error Broken(std::string message) { return {ErrorCode::kControlFlow, std::move(message)}; }

}  // namespace

Symbol DoParts::InnerOf(Symbol outer_name) const { return InnerAmong(outer, inner, outer_name); }

Symbol DoParts::OuterOf(Symbol inner_name) const {
  for (size_t k = 0; k < inner.size(); ++k)
    if (inner[k] == inner_name) return outer[k];
  return kNoSymbol;
}

Result<DoParts> TakeApart(const Net& net, const Op& op, Aliases aliases) {
  SymbolTable& table = *net.symbols;
  DoParts parts;
  if (table.Str(op.type) != "Do") return Broken("Expected Do op");
  const Arg* body = FindArg(table, op.args, "net");
  parts.net = body ? body->Load()->n : nullptr;
  if (!parts.net) return Broken("No net argument found in Do op");
  const Arg* inner = FindArg(table, op.args, "inner_blobs");
  const Arg* index = FindArg(table, op.args, "outer_blobs_idx");
  if (!inner) return Broken("No inner_blobs argument found in Do op");
  if (!index) return Broken("No outer_blobs_idx argument found in Do op");
  for (const std::string& name : inner->Load()->strings) parts.inner.push_back(table.Intern(name));
  const std::vector<int64_t> indices = index->Load()->ints;
  if (parts.inner.size() != indices.size())
    return Broken(StrCat("Arguments inner_blobs and outer_blobs_idx of different length in Do op: ",
                         parts.inner.size(), " names and ", indices.size(), " indices"));
  Names sorted = parts.inner;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return Broken(StrCat("Found duplicates in inner_blobs in Do op: ", table.Str(*twice)));
  if (op.inputs.empty() || op.outputs.empty())
    return Broken("Expected at least one input and output in Do op");
  parts.workspace = op.inputs.back();
  if (op.outputs.back() != parts.workspace)
    return Broken(StrCat("Expected same input/output workspace blob: the last input is ",
                         table.Str(parts.workspace), ", the last output ", table.Str(op.outputs.back())));
  parts.inputs.assign(op.inputs.begin(), op.inputs.end() - 1);
  parts.outputs.assign(op.outputs.begin(), op.outputs.end() - 1);
  Names all = parts.inputs;
  all.insert(all.end(), parts.outputs.begin(), parts.outputs.end());
  if (aliases == Aliases::kMerge) {
    parts.inputs = Distinct(parts.inputs);
    parts.outputs = Distinct(parts.outputs);
  }
  for (const Names* list : {&parts.inputs, &parts.outputs}) {
    Names names = *list;
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end() || Holds(*list, parts.workspace))
      return Broken("Found duplicates in Do op inputs/outputs");
  }
  AliasPairs pairs;
  Names inner_names;
  for (size_t k = 0; k < indices.size(); ++k) {
    const int64_t at = indices[k];
    if (at < 0 || at >= static_cast<int64_t>(all.size()))
      return Broken(StrCat("Outer blob index is out of bounds in Do op: ", at, " of ", all.size(),
                           " inputs and outputs"));
    const Symbol outer = all[static_cast<size_t>(at)];
    if (const Symbol first = InnerAmong(parts.outer, inner_names, outer)) {
      if (aliases == Aliases::kRefuse)
        return Broken(StrCat("Reusage of outer blob name ", table.Str(outer), " in Do op"));
      pairs.push_back({first, parts.inner[k]});
      continue;
    }
    parts.outer.push_back(outer);
    inner_names.push_back(parts.inner[k]);
  }
  parts.inner = std::move(inner_names);
  if (!pairs.empty()) parts.net = MergeAliases(*parts.net, pairs);
  for (Symbol name : all)
    if (!Holds(parts.outer, name))
      return Broken(StrCat("Not all outer blob names are used in blob bindings in Do op: ", table.Str(name),
                           " is bound to no inner blob"));
  return parts;
}

}  // namespace weft::internal
