// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hashes of arguments for comparing operators whose blobs may have other names. Two arguments have the same
// hash when they hold the same, with outer blobs told apart by what they are instead of by their name. Values
// are only compared within one run.
#pragma once

#include "core/base/symbol_map.h"
#include "core/ir/net.h"
#include "core/ssa/nested.h"

namespace weft {

/// What an operator's nets and text arguments can see around them: the identity of each blob.
struct OuterBlobs {
  SymbolMap<uint64_t> identity;  // 0: not known, its name counts
  Nesting nesting;

  /// Outputs that are not known yet are told apart by their place.
  void AddOutputs(std::span<const Symbol> outputs);
};

/// `outer` is null for operators without nets.
uint64_t HashArg(const SymbolTable& table, const Arg& arg, const OuterBlobs* outer,
                 std::span<const Symbol> outputs);
/// Of all arguments, in any order.
uint64_t HashArgs(const SymbolTable& table, const ArgList& args, const OuterBlobs* outer,
                  std::span<const Symbol> outputs);

/// Of where an operator runs; `fallback` is its net's device.
uint64_t HashDevice(const DevicePtr& device, const DevicePtr& fallback);

}  // namespace weft
