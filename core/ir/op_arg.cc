// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/op_arg.h"

#include <algorithm>
#include <memory>

#include "core/base/check.h"

namespace weft {

OpArg::OpArg(std::string_view name, std::initializer_list<Number> numbers) : name_(name) {
  WEFT_CHECK(numbers.size() > 0);
  if (std::any_of(numbers.begin(), numbers.end(), [](const Number& n) { return n.is_real; })) {
    std::vector<float> values;
    for (const Number& number : numbers) values.push_back(number.real);
    arg_ = MakeArg(Symbol(), std::move(values));
  } else {
    std::vector<int64_t> values;
    for (const Number& number : numbers) values.push_back(number.integer);
    arg_ = MakeArg(Symbol(), std::move(values));
  }
}

OpArg::OpArg(std::string_view name, std::vector<NetPtr> nets) : name_(name) {
  ArgData data;
  if (!nets.empty()) arg_.has = Arg::kHasNets;
  data.nets = std::move(nets);
  arg_.data = std::make_shared<const ArgData>(std::move(data));
}

Arg OpArg::In(SymbolTable& table) const {
  Arg arg = arg_;
  if (!name_.empty()) arg.name = table.Intern(name_);
  return arg;
}

ArgList OpArgs::In(SymbolTable& table) const {
  std::vector<Arg> args;
  args.reserve(list.size());
  for (const OpArg& arg : list) args.push_back(arg.In(table));
  return ArgList(std::move(args));
}

}  // namespace weft
