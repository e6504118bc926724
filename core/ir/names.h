// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where names come from. NameRegistry keeps the names of nets and steps apart the way Caffe2's process-wide
// sets do, but is passed in. FreshNames makes blob names that no involved net uses. Both answer in constant
// time per name, however often one base is asked for. Not thread-safe: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/symbol_map.h"
#include "core/ir/net.h"

namespace weft {

class NameRegistry {
 public:
  /// `base`, or the first of base_1, base_2, ... that no net has. The name is taken from now on.
  std::string UniqueNet(std::string_view base) { return nets_.Take(base); }
  /// `base`, or the first of base_1, base_2, ... that no step has. Caffe2 does this for generated names only
  /// (base "step"); a name that the user gave is used as it is.
  std::string UniqueStep(std::string_view base = "step") { return steps_.Take(base); }
  /// 0, 1, 2, ... for each kind: Caffe2 numbers the optimizers of a process by their class.
  int NextInstance(std::string_view kind) { return instances_[std::string(kind)]++; }
  bool HasNet(std::string_view name) const { return nets_.Has(name); }
  /// The net is gone: its name is free again, and the next UniqueNet of that base gets it.
  void ReleaseNet(std::string_view name) { nets_.Release(name); }
  /// As after a workspace reset: every name is free.
  void Clear() { *this = NameRegistry(); }

 private:
  class Pool {
   public:
    std::string Take(std::string_view base);
    bool Has(std::string_view name) const { return used_.contains(std::string(name)); }
    void Release(std::string_view name);

   private:
    // Each taken name with the first suffix worth trying when it is asked for again.
    std::unordered_map<std::string, uint32_t> used_;
  };
  Pool nets_, steps_;
  std::unordered_map<std::string, int> instances_;  // looked up, never walked
};

class FreshNames {
 public:
  explicit FreshNames(SymbolTablePtr table, size_t expected = 0)
      : table_(std::move(table)), next_(*table_, expected, 0) {}

  /// Nobody gets these: blobs, external lists, control inputs and text arguments of `net` and of its nested
  /// nets. The net must share the table.
  void Reserve(const Net& net);
  void Reserve(Symbol name) {
    uint32_t& next = next_[name];
    if (next == 0) next = 1;
  }
  bool taken(Symbol name) const { return next_.Get(name) != 0; }
  /// `wanted`, or the first of wanted_1, wanted_2, ... that is free. The name is taken from now on.
  Symbol Make(std::string_view wanted);

 private:
  SymbolTablePtr table_;
  SymbolMap<uint32_t> next_;  // 0: free; else taken, and the first suffix worth trying
};

}  // namespace weft
