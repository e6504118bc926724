// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/compact_net.h"

#include "core/base/check.h"
#include "core/base/str.h"

namespace weft::testing {

namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <typename Add>
void ForEachWord(std::string_view text, char separator, Add add) {
  for (std::string_view word : StrSplit(text, separator))
    if (!Trim(word).empty()) add(Trim(word));
}

std::string Join(const Net& net, std::span<const Symbol> names, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) StrAppend(out, i == 0 ? "" : separator, net.Str(names[i]));
  return out;
}

}  // namespace

Net CompactNet(std::string_view text, SymbolTablePtr symbols) {
  Net net(std::move(symbols));
  for (std::string_view part : StrSplit(text, ';')) {
    part = Trim(part);
    if (part.empty()) continue;
    if (part.starts_with("name ")) {
      net.name = net.Intern(Trim(part.substr(5)));
    } else if (part.starts_with("in ")) {
      ForEachWord(part.substr(3), ' ', [&](auto name) { net.external_inputs.push_back(net.Intern(name)); });
    } else if (part.starts_with("out ")) {
      ForEachWord(part.substr(4), ' ', [&](auto name) { net.external_outputs.push_back(net.Intern(name)); });
    } else {
      Op op;
      const size_t open = part.find('('), close = part.find(')');
      WEFT_CHECK(open != std::string_view::npos && close != std::string_view::npos);
      op.type = net.Intern(Trim(part.substr(0, open)));
      ForEachWord(part.substr(open + 1, close - open - 1), ',',
                  [&](auto name) { op.inputs.push_back(net.Intern(name)); });
      std::string_view rest = part.substr(close + 1);
      if (const size_t wait = rest.find('!'); wait != std::string_view::npos) {
        ForEachWord(rest.substr(wait), '!',
                    [&](auto name) { op.control_inputs.push_back(net.Intern(name)); });
        rest = rest.substr(0, wait);
      }
      if (const size_t arrow = rest.find("->"); arrow != std::string_view::npos)
        ForEachWord(rest.substr(arrow + 2), ',', [&](auto name) { op.outputs.push_back(net.Intern(name)); });
      net.ops.push_back(std::move(op));
    }
  }
  return net;
}

Op CompactOp(std::string_view text, const SymbolTablePtr& symbols) {
  const Net net = CompactNet(text, symbols);
  WEFT_CHECK(net.ops.size() == 1);
  return net.ops[0];
}

std::string ToCompact(const Net& net) {
  std::vector<std::string> parts;
  if (!net.external_inputs.empty()) parts.push_back(StrCat("in ", Join(net, net.external_inputs, " ")));
  for (const Op& op : net.ops) {
    std::string part = StrCat(net.Str(op.type), "(", Join(net, op.inputs, ", "), ")");
    if (!op.outputs.empty()) StrAppend(part, " -> ", Join(net, op.outputs, ", "));
    for (Symbol name : op.control_inputs) StrAppend(part, " !", net.Str(name));
    parts.push_back(std::move(part));
  }
  if (!net.external_outputs.empty()) parts.push_back(StrCat("out ", Join(net, net.external_outputs, " ")));
  return StrJoin(parts, "; ");
}

}  // namespace weft::testing
