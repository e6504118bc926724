// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/nested.h"

#include <algorithm>

#include "core/base/symbol_map.h"

namespace weft {

namespace {

constexpr std::string_view kTypeNames[] = {
    "If", "AsyncIf", "While", "RecurrentNetwork", "RecurrentNetworkGradient", "Do"};
constexpr Nesting kTypeNesting[] = {Nesting::kSameWorkspace, Nesting::kSameWorkspace, Nesting::kSameWorkspace,
                                    Nesting::kRecurrent,     Nesting::kRecurrent,     Nesting::kPrivate};

class UseCollector {
 public:
  UseCollector(const SymbolTable& table, const NestingTypes& types)
      : table_(table), types_(types), seen_(table, 8, 0) {}

  // Walks the nets of one op: branches of an If do not see each other's writes, a loop sees its condition's.
  void VisitNets(const Op& op) {
    const bool loop = table_.Str(op.type) == "While";
    std::vector<Symbol> written;
    for (const char* name : {"then_net", "else_net", "cond_net", "loop_net"}) {
      const Arg* arg = FindArg(table_, op.args, name);
      if (!arg) continue;
      const NetPtr nested = arg->Load()->n;
      if (!nested) continue;
      const size_t before = written_now_.size();
      VisitNet(*nested);
      if (!loop) Forget(before, written);
    }
    for (Symbol blob : written) MarkWritten(blob);
  }

  NestedUses Take() { return std::move(uses_); }

 private:
  enum : uint8_t { kReadListed = 1, kWriteListed = 2, kWritten = 4 };

  void VisitNet(const Net& net) {
    for (const Op& op : net.ops) {
      for (Symbol blob : op.inputs) {
        uint8_t& seen = seen_[blob];
        if (!(seen & (kWritten | kReadListed))) {
          seen |= kReadListed;
          uses_.reads.push_back(blob);
        }
      }
      if (types_.Of(op.type) == Nesting::kSameWorkspace) VisitNets(op);
      for (Symbol blob : op.outputs) {
        uint8_t& seen = seen_[blob];
        if (!(seen & kWriteListed)) {
          seen |= kWriteListed;
          uses_.writes.push_back(blob);
        }
        MarkWritten(blob);
      }
    }
  }

  void MarkWritten(Symbol blob) {
    uint8_t& seen = seen_[blob];
    if (seen & kWritten) return;
    seen |= kWritten;
    written_now_.push_back(blob);
  }
  void Forget(size_t mark, std::vector<Symbol>& forgotten) {
    while (written_now_.size() > mark) {
      forgotten.push_back(written_now_.back());
      seen_[written_now_.back()] &= static_cast<uint8_t>(~kWritten);
      written_now_.pop_back();
    }
  }

  const SymbolTable& table_;
  const NestingTypes& types_;
  SymbolMap<uint8_t> seen_;
  std::vector<Symbol> written_now_;
  NestedUses uses_;
};

}  // namespace

NestingTypes::NestingTypes(const SymbolTable& table) {
  for (int i = 0; i < kTypes; ++i) {
    types_[i] = table.Find(kTypeNames[i]);
    if (types_[i]) any_ = true;
  }
}

Nesting NestingTypes::Of(Symbol type) const {
  if (!any_ || !type) return Nesting::kNone;
  for (int i = 0; i < kTypes; ++i)
    if (types_[i] == type) return kTypeNesting[i];
  return Nesting::kNone;
}

bool IsNestedNetArg(Nesting nesting, std::string_view arg_name) {
  if (nesting == Nesting::kRecurrent) return arg_name.ends_with("step_net");
  return nesting == Nesting::kSameWorkspace && (arg_name == "then_net" || arg_name == "else_net" ||
                                                arg_name == "loop_net" || arg_name == "cond_net");
}

NestedUses UsesOfNestedNets(const Net& net, const Op& op, const NestingTypes& types) {
  if (types.Of(op.type) != Nesting::kSameWorkspace) return {};
  UseCollector collector(*net.symbols, types);
  collector.VisitNets(op);
  return collector.Take();
}

}  // namespace weft
