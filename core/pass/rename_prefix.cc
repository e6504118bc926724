// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/rename_prefix.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ir/scope.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

// Blobs of the net and of the nets inside it that are its own, by first appearance.
void CollectBlobs(const Net& net, const NestingTypes& nesting, SymbolMap<uint8_t>& seen,
                  std::vector<Symbol>& blobs) {
  const auto add = [&](const auto& names) {
    for (Symbol name : names)
      if (!seen.Get(name)) {
        seen[name] = 1;
        blobs.push_back(name);
      }
  };
  add(net.external_inputs);
  for (const Op& op : net.ops) {
    add(op.inputs);
    add(op.outputs);
    add(op.control_inputs);
    const Nesting kind = nesting.Of(op.type);
    if (kind != Nesting::kSameWorkspace && kind != Nesting::kRecurrent) continue;
    for (const Arg& arg : op.args) {
      if (!IsNestedNetArg(kind, net.Str(arg.name))) continue;
      const ArgDataPtr data = arg.Load();
      if (data->n) CollectBlobs(*data->n, nesting, seen, blobs);
    }
  }
  add(net.external_outputs);
}

std::vector<Symbol> BlobsOf(const Net& net) {
  SymbolMap<uint8_t> seen(*net.symbols, net.ops.size(), 0);
  std::vector<Symbol> blobs;
  CollectBlobs(net, NestingTypes(*net.symbols), seen, blobs);
  return blobs;
}

std::string CommonScopeOf(const Net& net, const std::vector<Symbol>& blobs) {
  if (blobs.empty()) return "";
  std::string_view common = ScopePart(net.Str(blobs[0]));
  for (Symbol blob : blobs) {
    const std::string_view name = net.Str(blob);
    while (!common.empty() && !name.starts_with(common))
      common = ScopePart(common.substr(0, common.size() - 1));
  }
  return std::string(common);
}

}  // namespace

std::string CommonScope(const Net& net) { return CommonScopeOf(net, BlobsOf(net)); }

Result<Net> RenamePrefix(const Net& net, const RenamePrefixOptions& options) {
  const std::vector<Symbol> blobs = BlobsOf(net);
  const std::string from = options.from ? *options.from : CommonScopeOf(net, blobs);
  if (from == options.to) return net;

  Net out = net;
  BlobMap map(*net.symbols, blobs.size());
  SymbolMap<Symbol> old_name(*net.symbols, blobs.size(), kNoSymbol);
  bool any = false;
  for (Symbol blob : blobs) {
    Symbol to = blob;
    const std::string_view name = net.Str(blob);
    const bool stays = std::find(options.keep.begin(), options.keep.end(), blob) != options.keep.end();
    if (!stays && name.starts_with(from)) {
      any = true;
      const std::string renamed = StrCat(options.to, name.substr(from.size()));
      if (renamed.empty())
        return Error{ErrorCode::kInvalidArgument, StrCat("nothing would be left of the name ", name), -1,
                     std::string(name)};
      to = out.Intern(renamed);
      map.Set(blob, to);
    }
    if (const Symbol other = old_name.Get(to))
      return Error{ErrorCode::kNameConflict,
                   StrCat("both ", net.Str(other), " and ", net.Str(blob), " would be called ", net.Str(to)),
                   -1, std::string(net.Str(blob))};
    old_name[to] = blob;
  }
  if (!any && options.from)
    return Error{ErrorCode::kNotFound, StrCat("no blob of the net begins with ", from)};
  const RenameContext context{
      .symbols = net.symbols, .map = map, .nesting = NestingTypes(*net.symbols), .suffix_nested = false};
  WEFT_TRY_VOID(RenameInNet(context, out));
  return out;
}

}  // namespace weft
