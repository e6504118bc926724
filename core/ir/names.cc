// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/names.h"

#include <algorithm>
#include <charconv>

#include "core/base/str.h"

namespace weft {

std::string NameRegistry::Pool::Take(std::string_view base) {
  std::string name(base);
  const auto [known, added] = used_.try_emplace(name, 1);
  if (added) return name;
  uint32_t& next = known->second;  // references survive rehashing
  do {
    name = StrCat(base, "_", next++);
  } while (!used_.try_emplace(name, 1).second);
  return name;
}

void NameRegistry::Pool::Release(std::string_view name) {
  used_.erase(std::string(name));
  // "net_12" was made from "net": the search there must see that 12 is free again.
  const size_t cut = name.rfind('_');
  if (cut == std::string_view::npos) return;
  const auto base = used_.find(std::string(name.substr(0, cut)));
  uint32_t number = 0;
  std::from_chars(name.data() + cut + 1, name.data() + name.size(), number);
  if (base != used_.end() && number > 0) base->second = std::min(base->second, number);
}

void FreshNames::Reserve(const Net& net) {
  for (Symbol name : net.external_inputs) Reserve(name);
  for (Symbol name : net.external_outputs) Reserve(name);
  for (const Op& op : net.ops) {
    for (Symbol name : op.inputs) Reserve(name);
    for (Symbol name : op.outputs) Reserve(name);
    for (Symbol name : op.control_inputs) Reserve(name);
    for (const Arg& arg : op.args) {
      if (!(arg.has & (Arg::kHasS | Arg::kHasStrings | Arg::kHasN | Arg::kHasNets))) continue;
      const ArgDataPtr data = arg.Load();
      if (arg.has & Arg::kHasS) Reserve(table_->Intern(data->s));
      for (const std::string& text : data->strings) Reserve(table_->Intern(text));
      if (data->n) Reserve(*data->n);
      for (const NetPtr& nested : data->nets) Reserve(*nested);
    }
  }
}

Symbol FreshNames::Make(std::string_view wanted) {
  Symbol name = table_->Intern(wanted);
  if (taken(name)) {
    uint32_t next = next_.Get(name);
    Symbol suffixed;
    do {
      suffixed = table_->Intern(StrCat(wanted, "_", next++));
    } while (taken(suffixed));
    next_[name] = next;
    name = suffixed;
  }
  next_[name] = 1;
  return name;
}

}  // namespace weft
